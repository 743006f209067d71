//! The syntax tree of P4_14.
//!
//! The parser builds it, the translation reads it. Names are unresolved, and every node has its source range. P4_14's
//! keywords depend on context, so the tree contains names only.
//!
//! This file contains definitions without logic, for reference.

use base::{OrderedSet, Span};
use num_bigint::BigInt;
pub use syntax::ast::{BinaryOperator, Ident, Name, UnaryOperator};

/// A whole program after preprocessing, its declarations grouped by kind and in source order within a kind.
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
    pub states: Vec<ParserState>,
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
    /// All words that occur in the program.
    pub words: OrderedSet<Name>,
    /// The end of the program.
    pub end: Span,
}

/// `@pragma name operand ...`, a line before a declaration.
#[derive(Clone, Debug)]
pub struct Pragma {
    /// The name.
    pub name: Ident,
    /// The operands in order.
    pub operands: Vec<PragmaOperand>,
    /// The source range.
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
    /// The maximum length in bytes.
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
    /// The initial values of metadata.
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
    /// The algorithm; if there are several, the first.
    pub algorithms: Vec<Ident>,
    /// The output width in bits.
    pub output_width: Option<Expr>,
}

/// `calculated_field field { ... }`
#[derive(Clone, Debug)]
pub struct CalculatedField {
    /// The field.
    pub field: Expr,
    /// The verifications and updates.
    pub uses: Vec<CalculationUse>,
}

/// `verify calculation if (condition);`
#[derive(Clone, Debug)]
pub struct CalculationUse {
    /// Whether it is `update`, not `verify`.
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
    /// The maximum number of values.
    pub size: Option<Expr>,
    /// The pragmas before it.
    pub pragmas: Vec<Pragma>,
}

/// `parser name { ... }`
#[derive(Clone, Debug)]
pub struct ParserState {
    /// The name.
    pub name: Ident,
    /// The statements.
    pub statements: Vec<StateStatement>,
    /// The transition; `None` if there is none.
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
        /// The keys, which are concatenated.
        keys: Vec<Expr>,
        /// The cases in order.
        cases: Vec<SelectCase>,
        /// The source range.
        span: Span,
    },
}

/// The target of a transition.
#[derive(Clone, Debug)]
pub struct Target {
    /// Whether it is `parse_error`.
    pub is_error: bool,
    /// The name of a state, a control or an exception.
    pub name: Ident,
}

/// `values : target;`
#[derive(Clone, Debug)]
pub struct SelectCase {
    /// The values, any of which matches.
    pub values: Vec<SelectValue>,
    /// The target.
    pub target: Target,
    /// The source range.
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
    /// The statements that set metadata.
    pub sets: Vec<(Expr, Expr)>,
    /// The control that follows; `None` for `parser_drop`.
    pub control: Option<Ident>,
}

/// The kinds of stateful memory.
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
    /// The kind.
    pub kind: ArrayKind,
    /// The name.
    pub name: Ident,
    /// Its unit: packets, bytes or both.
    pub unit: Option<Ident>,
    /// `direct : table;`
    pub direct: Option<Ident>,
    /// `static : table;`
    pub bound: Option<Ident>,
    /// The number of cells.
    pub instance_count: Option<Expr>,
    /// The field that receives a direct meter's colour.
    pub result: Option<Expr>,
    /// The width of a register's cells.
    pub width: Option<Expr>,
    /// The header type that is the layout of a register's cells.
    pub layout: Option<Ident>,
    /// Whether a register's cells are signed.
    pub is_signed: bool,
    /// `min_width`: the minimum width of a counter in bits.
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
    /// The calls.
    pub body: Vec<Call>,
    /// The pragmas before it.
    pub pragmas: Vec<Pragma>,
}

/// A parameter of an action.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// The name.
    pub name: Ident,
    /// Its width and sign, if declared: `bit<8> name`.
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
    /// The source range.
    pub span: Span,
}

/// `action_profile name { ... }`
#[derive(Clone, Debug)]
pub struct Profile {
    /// The name.
    pub name: Ident,
    /// The actions.
    pub actions: Vec<Ident>,
    /// The maximum number of members.
    pub size: Option<Expr>,
    /// The selector that chooses a member.
    pub selector: Option<Ident>,
    /// The pragmas before it.
    pub pragmas: Vec<Pragma>,
}

/// `action_selector name { ... }`
#[derive(Clone, Debug)]
pub struct Selector {
    /// The name.
    pub name: Ident,
    /// The calculation whose result selects a member.
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
    /// The keys.
    pub keys: Vec<Key>,
    /// The actions; `None` if the table does not list them.
    pub actions: Option<Vec<Ident>>,
    /// The action profile, in place of actions.
    pub profile: Option<Ident>,
    /// The default action, with arguments if parentheses are written.
    pub default_action: Option<(Ident, Option<Vec<Expr>>)>,
    /// Whether it is `const`, so that controllers cannot change it.
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
    /// The mask.
    pub mask: Option<Expr>,
    /// The match kind.
    pub kind: Ident,
    /// The source range.
    pub span: Span,
}

/// `control name { ... }`
#[derive(Clone, Debug)]
pub struct Control {
    /// The name.
    pub name: Ident,
    /// The statements.
    pub body: Vec<Statement>,
}

/// A statement of a control.
#[derive(Clone, Debug)]
pub struct Statement {
    /// Its kind.
    pub kind: StatementKind,
    /// Its source range.
    pub span: Span,
}

/// The kinds of statement.
#[derive(Clone, Debug)]
pub enum StatementKind {
    /// `apply(table);` or `apply(table) { ... }`
    Apply {
        /// The table.
        table: Ident,
        /// The blocks that follow, by result or action.
        cases: Vec<ApplyCase>,
    },
    /// `name();`
    Control(Ident),
    /// `object.method(arguments);`
    Call(Call),
    /// `return;`: continues after the control's call.
    Return,
    /// `if (condition) { ... } else { ... }`
    If {
        /// The condition.
        condition: Expr,
        /// The block for true.
        then_body: Vec<Statement>,
        /// The block for false.
        else_body: Vec<Statement>,
    },
}

/// `label { ... }` after `apply(table)`.
#[derive(Clone, Debug)]
pub struct ApplyCase {
    /// `hit`, `miss`, `default`, or an action.
    pub labels: Vec<Ident>,
    /// The block for this label.
    pub body: Vec<Statement>,
}

/// `extern_type name { ... }`
#[derive(Clone, Debug)]
pub struct ExternType {
    /// The name.
    pub name: Ident,
    /// The attributes that its instances may set.
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
    /// Its width and sign; `None` for a parameter that is not a number.
    pub shape: Option<(Expr, bool)>,
}

/// `extern type name { ... }`
#[derive(Clone, Debug)]
pub struct ExternInstance {
    /// The type.
    pub type_name: Ident,
    /// The name.
    pub name: Ident,
    /// The attributes that it sets.
    pub attributes: Vec<Ident>,
}

/// An expression.
#[derive(Clone, Debug)]
pub struct Expr {
    /// Its kind.
    pub kind: ExprKind,
    /// Its source range.
    pub span: Span,
}

/// The forms of an expression.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// A number, with its width if one is written.
    Integer(BigInt, Option<u32>),
    /// `true`, `false`
    Bool(bool),
    /// A name. This includes `latest`, `payload`, `next` and `last` where they have a special meaning.
    Name(Name),
    /// `base.member`
    Member(Box<Expr>, Ident),
    /// `base[index]`
    Index(Box<Expr>, Box<Expr>),
    /// `valid(header)`
    Valid(Box<Expr>),
    /// `current(offset, width)`
    Current(Box<Expr>, Box<Expr>),
    /// `min(a, b)` or `max(a, b)`.
    MinMax {
        /// Whether it is `min`.
        is_minimum: bool,
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
    /// A prefix operator.
    Unary(UnaryOperator, Box<Expr>),
    /// An infix operator.
    Binary(BinaryOperator, Box<Expr>, Box<Expr>),
}
