//! The syntax tree of P4_14.
//!
//! The parser builds it, the translation reads it. Names are unresolved and everything carries its place. Words that
//! are keywords in one place are names in another, so the tree knows names only.
//!
//! Definitions without logic, in which one looks up a name.

use base::Span;
use num_bigint::BigInt;
use std::collections::BTreeSet;
pub use syntax::ast::{BinaryOperator, Ident, Name, UnaryOperator};

/// A whole program after preprocessing, its declarations sorted by kind and in their order within a kind.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// `header_type`
    pub header_types: Vec<HeaderType>,
    /// `header` and `metadata`
    pub instances: Vec<Instance>,
    /// `field_list`
    pub field_lists: Vec<FieldList>,
    /// `field_list_calculation`
    pub calculations: Vec<Calculation>,
    /// `calculated_field`
    pub calculated_fields: Vec<CalculatedField>,
    /// `parser_value_set`
    pub value_sets: Vec<ValueSet>,
    /// `parser`
    pub states: Vec<State>,
    /// `parser_exception`
    pub exceptions: Vec<Exception>,
    /// `counter`, `meter` and `register`
    pub arrays: Vec<Array>,
    /// `action`
    pub actions: Vec<Action>,
    /// `action_profile`
    pub profiles: Vec<Profile>,
    /// `action_selector`
    pub selectors: Vec<Selector>,
    /// `table`
    pub tables: Vec<Table>,
    /// `control`
    pub controls: Vec<Control>,
    /// `extern_type`
    pub extern_types: Vec<ExternType>,
    /// `extern`
    pub externs: Vec<ExternInstance>,
    /// Every word that occurs.
    pub words: BTreeSet<Name>,
    /// Where the program ends.
    pub end: Span,
}

/// `@pragma name operand ...`, a line before a declaration.
#[derive(Clone, Debug)]
pub struct Pragma {
    /// The name.
    pub name: Ident,
    /// The operands in order.
    pub operands: Vec<PragmaOperand>,
    /// All of it.
    pub span: Span,
}

/// An operand of a pragma.
#[derive(Clone, Debug)]
pub enum PragmaOperand {
    /// A number.
    Number(BigInt),
    /// A string or anything else, as written: `"text"`, `name`, `ipv4.ttl`.
    Text(Name),
}

/// `header_type name { fields { ... } length : ...; max_length : ...; }`
#[derive(Clone, Debug)]
pub struct HeaderType {
    /// The name.
    pub name: Ident,
    /// The fields in order.
    pub fields: Vec<Field>,
    /// The length in bytes.
    pub length: Option<Expr>,
    /// The greatest length in bytes.
    pub max_length: Option<Expr>,
    /// The pragmas before it.
    pub pragmas: Vec<Pragma>,
}

/// `name : width (signed, saturating);`
#[derive(Clone, Debug)]
pub struct Field {
    /// The name.
    pub name: Ident,
    /// The width in bits; `None` for `*`.
    pub width: Option<Expr>,
    /// `signed`
    pub is_signed: bool,
    /// `saturating`
    pub is_saturating: bool,
}

/// `header type name;`, `header type name[size];` or `metadata type name { field : value; }`
#[derive(Clone, Debug)]
pub struct Instance {
    /// Whether it is metadata.
    pub is_metadata: bool,
    /// The header type.
    pub type_name: Ident,
    /// The name.
    pub name: Ident,
    /// The number of elements of a stack.
    pub size: Option<Expr>,
    /// The first values of metadata.
    pub values: Vec<(Ident, Expr)>,
}

/// `field_list name { ... }`
#[derive(Clone, Debug)]
pub struct FieldList {
    /// The name.
    pub name: Ident,
    /// The entries: fields, headers, numbers, other lists, and `payload`.
    pub entries: Vec<Expr>,
}

/// `field_list_calculation name { ... }`
#[derive(Clone, Debug)]
pub struct Calculation {
    /// The name.
    pub name: Ident,
    /// The field lists.
    pub inputs: Vec<Ident>,
    /// The algorithm; of several the first counts.
    pub algorithms: Vec<Ident>,
    /// The number of bits.
    pub output_width: Option<Expr>,
}

/// `calculated_field field { ... }`
#[derive(Clone, Debug)]
pub struct CalculatedField {
    /// The field.
    pub field: Expr,
    /// What is verified and updated.
    pub uses: Vec<CalculationUse>,
}

/// `verify calculation if (condition);`
#[derive(Clone, Debug)]
pub struct CalculationUse {
    /// `update`, not `verify`.
    pub is_update: bool,
    /// The calculation.
    pub calculation: Ident,
    /// The condition.
    pub condition: Option<Expr>,
}

/// `parser_value_set name;`
#[derive(Clone, Debug)]
pub struct ValueSet {
    /// The name.
    pub name: Ident,
    /// How many values it may have.
    pub size: Option<Expr>,
    /// The pragmas before it.
    pub pragmas: Vec<Pragma>,
}

/// `parser name { ... }`
#[derive(Clone, Debug)]
pub struct State {
    /// The name.
    pub name: Ident,
    /// What it does.
    pub statements: Vec<StateStatement>,
    /// Where it goes; `None` if nothing says so.
    pub end: Option<StateEnd>,
    /// Whether `@pragma packet_entry` stands before it.
    pub is_entry: bool,
}

/// A statement of a parser state.
#[derive(Clone, Debug)]
pub enum StateStatement {
    /// `extract(header);`
    Extract(Expr),
    /// `set_metadata(field, value);`
    Set(Expr, Expr),
    /// `field = value;`
    Assign(Expr, Expr),
    /// `object.method(arguments);`
    Call(Call),
}

/// How a parser state ends.
#[derive(Clone, Debug)]
pub enum StateEnd {
    /// `return name;` or `parse_error name;`
    Go(Target),
    /// `return select(keys) { ... }`
    Select {
        /// The keys, which are joined.
        keys: Vec<Expr>,
        /// The cases in order.
        cases: Vec<SelectCase>,
        /// All of it.
        span: Span,
    },
}

/// Where a parser state goes.
#[derive(Clone, Debug)]
pub struct Target {
    /// Whether it is `parse_error`.
    pub is_error: bool,
    /// A state, a control or an exception.
    pub name: Ident,
}

/// `values : target;`
#[derive(Clone, Debug)]
pub struct SelectCase {
    /// Any of these.
    pub values: Vec<SelectValue>,
    /// Where it goes.
    pub target: Target,
    /// All of it.
    pub span: Span,
}

/// A value of a `select` case.
#[derive(Clone, Debug)]
pub enum SelectValue {
    /// `default`
    Default(Span),
    /// A number, a number with a mask, or a value set's name.
    Value(Expr, Option<Expr>),
    /// `(a, b mask c)`: a value for each key.
    Tuple(Vec<(Expr, Option<Expr>)>, Span),
}

/// `parser_exception name { ... }`
#[derive(Clone, Debug)]
pub struct Exception {
    /// The name.
    pub name: Ident,
    /// The metadata that it sets.
    pub sets: Vec<(Expr, Expr)>,
    /// The control that goes on; `None` for `parser_drop`.
    pub control: Option<Ident>,
}

/// Which kind of stateful memory an [`Array`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArrayKind {
    /// `counter`
    Counter,
    /// `meter`
    Meter,
    /// `register`
    Register,
}

/// `counter`, `meter` or `register`.
#[derive(Clone, Debug)]
pub struct Array {
    /// Which of them.
    pub kind: ArrayKind,
    /// The name.
    pub name: Ident,
    /// What is counted or measured.
    pub unit: Option<Ident>,
    /// `direct : table;`
    pub direct: Option<Ident>,
    /// `static : table;`
    pub bound: Option<Ident>,
    /// The number of cells.
    pub instance_count: Option<Expr>,
    /// Where a direct meter leaves its colour.
    pub result: Option<Expr>,
    /// The width of a register's cells.
    pub width: Option<Expr>,
    /// The header type that a register's cells look like.
    pub layout: Option<Ident>,
    /// Whether a register's cells are signed.
    pub is_signed: bool,
    /// `min_width`: the bits that a counter must have at least.
    pub min_width: Option<Expr>,
    /// The pragmas before it.
    pub pragmas: Vec<Pragma>,
}

/// `action name(parameters) { ... }`
#[derive(Clone, Debug)]
pub struct Action {
    /// The name.
    pub name: Ident,
    /// The parameters.
    pub parameters: Vec<Parameter>,
    /// What it does.
    pub body: Vec<Call>,
    /// The pragmas before it.
    pub pragmas: Vec<Pragma>,
}

/// A parameter of an action.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// The name.
    pub name: Ident,
    /// Its width and sign, if they are written: `bit<8> name`.
    pub shape: Option<(Expr, bool)>,
}

/// `name(arguments);` or `object.method(arguments);`
#[derive(Clone, Debug)]
pub struct Call {
    /// The object whose method is called.
    pub object: Option<Ident>,
    /// The primitive, action or method.
    pub name: Ident,
    /// The arguments.
    pub arguments: Vec<Expr>,
    /// All of it.
    pub span: Span,
}

/// `action_profile name { ... }`
#[derive(Clone, Debug)]
pub struct Profile {
    /// The name.
    pub name: Ident,
    /// The actions.
    pub actions: Vec<Ident>,
    /// How many members there may be.
    pub size: Option<Expr>,
    /// The selector that chooses among them.
    pub selector: Option<Ident>,
    /// The pragmas before it.
    pub pragmas: Vec<Pragma>,
}

/// `action_selector name { ... }`
#[derive(Clone, Debug)]
pub struct Selector {
    /// The name.
    pub name: Ident,
    /// The calculation whose result chooses.
    pub key: Option<Ident>,
    /// `selection_mode`
    pub mode: Option<Ident>,
    /// `selection_type`
    pub kind: Option<Ident>,
}

/// `table name { ... }`
#[derive(Clone, Debug)]
pub struct Table {
    /// The name.
    pub name: Ident,
    /// What is looked up.
    pub keys: Vec<Key>,
    /// The actions; `None` if the table does not say them.
    pub actions: Option<Vec<Ident>>,
    /// The action profile instead of actions.
    pub profile: Option<Ident>,
    /// The default action, with arguments if parentheses are written.
    pub default_action: Option<(Ident, Option<Vec<Expr>>)>,
    /// Whether it is `const`: controllers cannot change it.
    pub is_default_const: bool,
    /// `size`
    pub size: Option<Expr>,
    /// `min_size`
    pub min_size: Option<Expr>,
    /// `max_size`
    pub max_size: Option<Expr>,
    /// `support_timeout`
    pub support_timeout: bool,
    /// The pragmas before it.
    pub pragmas: Vec<Pragma>,
}

/// `field mask number : kind;`
#[derive(Clone, Debug)]
pub struct Key {
    /// A field, a header, or `valid(header)`.
    pub expression: Expr,
    /// The bits that count.
    pub mask: Option<Expr>,
    /// How it is matched.
    pub kind: Ident,
    /// All of it.
    pub span: Span,
}

/// `control name { ... }`
#[derive(Clone, Debug)]
pub struct Control {
    /// The name.
    pub name: Ident,
    /// What it does.
    pub body: Vec<Statement>,
}

/// A statement of a control.
#[derive(Clone, Debug)]
pub struct Statement {
    /// What it does.
    pub kind: StatementKind,
    /// Where it stands.
    pub span: Span,
}

/// The kinds of statement.
#[derive(Clone, Debug)]
pub enum StatementKind {
    /// `apply(table);` or `apply(table) { ... }`
    Apply {
        /// The table.
        table: Ident,
        /// What follows, by what happened.
        cases: Vec<ApplyCase>,
    },
    /// `name();`
    Control(Ident),
    /// `object.method(arguments);`
    Call(Call),
    /// `return;`: the control goes on where it was called.
    Return,
    /// `if (condition) { ... } else { ... }`
    If {
        /// The condition.
        condition: Expr,
        /// What runs if it holds.
        then_body: Vec<Statement>,
        /// What runs if not.
        else_body: Vec<Statement>,
    },
}

/// `label { ... }` behind `apply(table)`.
#[derive(Clone, Debug)]
pub struct ApplyCase {
    /// `hit`, `miss`, `default`, or an action.
    pub labels: Vec<Ident>,
    /// What runs then.
    pub body: Vec<Statement>,
}

/// `extern_type name { ... }`
#[derive(Clone, Debug)]
pub struct ExternType {
    /// The name.
    pub name: Ident,
    /// The attributes that its instances may give.
    pub attributes: Vec<Ident>,
    /// The methods.
    pub methods: Vec<ExternMethod>,
}

/// `method name(parameters);`
#[derive(Clone, Debug)]
pub struct ExternMethod {
    /// The name.
    pub name: Ident,
    /// The parameters.
    pub parameters: Vec<ExternParameter>,
}

/// `optional out bit<32> name`
#[derive(Clone, Debug)]
pub struct ExternParameter {
    /// The name.
    pub name: Ident,
    /// Whether it may be left out.
    pub is_optional: bool,
    /// Whether it is `out` or `inout`.
    pub is_written: bool,
    /// Its width and sign; `None` for what is no number.
    pub shape: Option<(Expr, bool)>,
}

/// `extern type name { ... }`
#[derive(Clone, Debug)]
pub struct ExternInstance {
    /// The type.
    pub type_name: Ident,
    /// The name.
    pub name: Ident,
    /// The attributes that it gives.
    pub attributes: Vec<Ident>,
}

/// An expression.
#[derive(Clone, Debug)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Where it stands.
    pub span: Span,
}

/// The forms of an expression.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// A number, with its width if one is written.
    Integer(BigInt, Option<u32>),
    /// `true`, `false`
    Bool(bool),
    /// A name: `latest`, `payload`, `next` and `last` too, where they have a meaning.
    Name(Name),
    /// `base.member`
    Member(Box<Expr>, Ident),
    /// `base[index]`
    Index(Box<Expr>, Box<Expr>),
    /// `valid(header)`
    Valid(Box<Expr>),
    /// `current(offset, width)`
    Current(Box<Expr>, Box<Expr>),
    /// `min(a, b)`, or `max(a, b)` if it is not the least.
    Extreme {
        /// Whether it is `min`.
        is_least: bool,
        /// The first operand.
        left: Box<Expr>,
        /// The second operand.
        right: Box<Expr>,
    },
    /// `(bit<width>) operand` or `(int<width>) operand`
    Cast {
        /// The width.
        width: Box<Expr>,
        /// Whether it is `int`.
        is_signed: bool,
        /// The value.
        operand: Box<Expr>,
    },
    /// An operator before its operand.
    Unary(UnaryOperator, Box<Expr>),
    /// An operator between its operands.
    Binary(BinaryOperator, Box<Expr>, Box<Expr>),
}
