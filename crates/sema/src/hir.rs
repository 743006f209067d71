//! The typed tree.
//!
//! Still shaped like the source (generic declarations stay generic, blocks are not instantiated), but nothing is
//! left to resolve: names are indices, implicit casts are explicit, omitted arguments are `None` or their default
//! value, literals have the type that their context gives them.

use base::{IndexVec, Span, entity_id};
use num_bigint::BigInt;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use syntax::WarningLevel;
use syntax::ast::{self, Annotation, Direction};

entity_id! {
    /// A struct, header or header union.
    pub struct StructId = "struct";
    /// An enum.
    pub struct EnumId = "enum";
    /// A type made by `type`.
    pub struct NewTypeId = "newtype";
    /// An extern object type.
    pub struct ExternId = "extern";
    /// A function, or an extern function.
    pub struct FunctionId = "function";
    /// An action.
    pub struct ActionId = "action";
    /// A table.
    pub struct TableId = "table";
    /// A parser.
    pub struct ParserId = "parser";
    /// A control.
    pub struct ControlId = "control";
    /// A parser type, control type or package.
    pub struct ApplyTypeId = "applytype";
    /// An instance of an extern, parser, control or package.
    pub struct InstanceId = "instance";
    /// A parser value set.
    pub struct ValueSetId = "valueset";
    /// A variable, parameter or constant.
    pub struct VarId = "var";
    /// A type parameter.
    pub struct TypeParamId = "tparam";
}

/// A whole program.
#[derive(Debug, Default)]
#[allow(missing_docs, reason = "one map per kind of entity above")]
pub struct Program {
    pub structs: IndexVec<StructId, Struct>,
    pub enums: IndexVec<EnumId, Enum>,
    pub new_types: IndexVec<NewTypeId, NewType>,
    pub externs: IndexVec<ExternId, Extern>,
    pub functions: IndexVec<FunctionId, Function>,
    pub actions: IndexVec<ActionId, Action>,
    pub tables: IndexVec<TableId, Table>,
    pub parsers: IndexVec<ParserId, Parser>,
    pub controls: IndexVec<ControlId, Control>,
    pub apply_types: IndexVec<ApplyTypeId, ApplyType>,
    pub instances: IndexVec<InstanceId, Instance>,
    pub value_sets: IndexVec<ValueSetId, ValueSet>,
    pub vars: IndexVec<VarId, Var>,
    pub type_params: IndexVec<TypeParamId, TypeParam>,
    /// All errors in the order of declaration.
    pub errors: Vec<Rc<str>>,
    /// All match kinds in the order of declaration.
    pub match_kinds: Vec<Rc<str>>,
    /// The declarations of the outermost scope that make something: constants and instances, in order.
    pub top: Vec<Local>,
    /// The instance called `main`, if there is one.
    pub main: Option<InstanceId>,
    /// The variables, parameters and constants that the program names anywhere. A constant of which only the value was
    /// needed leaves no other trace.
    pub named_vars: BTreeSet<VarId>,
    /// What `@diagnostic("group", "level")` makes of groups of warnings in this program.
    pub warning_levels: BTreeMap<Rc<str>, WarningLevel>,
    /// The instances of generic structs that the program writes, by the end and the beginning of the place: an argument
    /// goes before what it is an argument of.
    pub generic_structs: BTreeMap<(u32, u32), (StructId, Vec<Type>)>,
    /// What the expressions in structured annotations are: numbers, strings and truth values, by where they stand and
    /// how they are written, since all that comes from a macro stands where the macro is used.
    pub annotation_values: BTreeMap<(Span, String), Expr>,
    /// Those of which only the size was needed somewhere (`v.minSizeInBits()`, `v.size`); it stands there as a number.
    pub sized_vars: BTreeSet<VarId>,
}

impl Program {
    /// What an expression in a structured annotation is, if that is known.
    pub fn annotation_value(&self, written: &ast::Expr) -> Option<&Expr> {
        self.annotation_values.get(&annotation_place(written))
    }
}

/// Where an expression of an annotation stands, and how it is written.
pub(crate) fn annotation_place(written: &ast::Expr) -> (Span, String) {
    (written.span, format!("{written:?}"))
}

/// A type.
#[derive(Clone, PartialEq, Eq, Debug, PartialOrd, Ord)]
pub enum Type {
    /// No value.
    Void,
    /// `bool`
    Bool,
    /// `int`: any integer, at compile time only.
    Integer,
    /// `bit<w>`
    Bit(u32),
    /// `int<w>`
    Int(u32),
    /// `varbit<max>`
    Varbit(u32),
    /// `string`, at compile time only.
    String,
    /// `error`
    Error,
    /// `match_kind`
    MatchKind,
    /// A struct, header or header union with its type arguments.
    Struct(StructId, Vec<Type>),
    /// An enum.
    Enum(EnumId),
    /// A type made by `type`.
    NewType(NewTypeId),
    /// A header stack (also of unions), or an array of any other type.
    Array(Box<Type>, u32),
    /// `tuple<...>`
    Tuple(Vec<Type>),
    /// `list<T>`
    List(Box<Type>),
    /// An extern object.
    Extern(ExternId, Vec<Type>),
    /// A parser (as the type of instances).
    Parser(ParserId, Vec<Type>),
    /// A control (as the type of instances).
    Control(ControlId, Vec<Type>),
    /// A parser type, control type or package.
    Apply(ApplyTypeId, Vec<Type>),
    /// A table.
    Table(TableId),
    /// What a table's `apply()` gives: a struct with `hit`, `miss`, `action_run`.
    ApplyResult(TableId),
    /// The type of `action_run`: the actions of the table.
    ActionEnum(TableId),
    /// An action, as a value of a table's property or of an abstract method.
    Action,
    /// `value_set<T>`
    ValueSet(Box<Type>),
    /// A set of values: what masks, ranges and keysets are.
    Set(Box<Type>),
    /// A type parameter, inside a generic declaration only.
    Param(TypeParamId),
    /// The type of what had an error; agrees with everything, so that one mistake gives one message.
    Unknown,
}

/// A type parameter.
#[derive(Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub struct TypeParam {
    pub name: Rc<str>,
    pub span: Span,
}

/// A struct, header or header union.
#[derive(Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Struct {
    pub kind: ast::StructKind,
    pub name: Rc<str>,
    pub type_params: Vec<TypeParamId>,
    pub fields: Vec<Field>,
    pub annotations: Vec<Annotation>,
    pub span: Span,
}

/// A field of a struct, header or header union.
#[derive(Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Field {
    pub name: Rc<str>,
    pub ty: Type,
    pub annotations: Vec<Annotation>,
    pub span: Span,
}

/// An enum.
#[derive(Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Enum {
    pub name: Rc<str>,
    /// The type of the values, for an enum that has one: `Bit`, `Int` or a new type of them.
    pub representation: Option<Type>,
    /// Names and values; without a representation the values are 0, 1, 2, ...
    pub members: Vec<(Rc<str>, BigInt)>,
    pub annotations: Vec<Annotation>,
    pub span: Span,
}

/// A type made by `type`.
#[derive(Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub struct NewType {
    pub name: Rc<str>,
    pub target: Type,
    pub annotations: Vec<Annotation>,
    pub span: Span,
}

/// An extern object type.
#[derive(Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Extern {
    pub name: Rc<str>,
    pub type_params: Vec<TypeParamId>,
    pub constructors: Vec<Vec<VarId>>,
    pub methods: Vec<Method>,
    pub annotations: Vec<Annotation>,
    pub span: Span,
}

/// A method of an extern object.
#[derive(Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Method {
    pub name: Rc<str>,
    pub is_abstract: bool,
    pub type_params: Vec<TypeParamId>,
    pub params: Vec<VarId>,
    pub return_type: Type,
    pub annotations: Vec<Annotation>,
    pub span: Span,
}

/// A function, or an extern function.
#[derive(Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Function {
    pub name: Rc<str>,
    pub type_params: Vec<TypeParamId>,
    pub params: Vec<VarId>,
    pub return_type: Type,
    /// `None` for an extern function.
    pub body: Option<Block>,
    pub annotations: Vec<Annotation>,
    pub span: Span,
}

/// An action.
#[derive(Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Action {
    pub name: Rc<str>,
    /// Parameters with direction first, then those without, which a table's entries give.
    pub params: Vec<VarId>,
    pub body: Block,
    pub annotations: Vec<Annotation>,
    pub span: Span,
}

/// A parser.
#[derive(Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Parser {
    pub name: Rc<str>,
    pub type_params: Vec<TypeParamId>,
    pub params: Vec<VarId>,
    pub constructor_params: Vec<VarId>,
    pub locals: Vec<Local>,
    pub states: Vec<State>,
    pub annotations: Vec<Annotation>,
    pub span: Span,
}

/// A state.
#[derive(Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub struct State {
    pub name: Rc<str>,
    pub body: Vec<Stmt>,
    pub transition: Transition,
    pub annotations: Vec<Annotation>,
    pub span: Span,
}

/// What follows a state.
#[derive(Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Transition {
    Direct(Target),
    Select { keys: Vec<Expr>, cases: Vec<SelectCase>, span: Span },
}

/// Where a parser goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Target {
    /// The state at this position in [`Parser::states`].
    State(usize),
    Accept,
    Reject,
}

/// One case of a select.
#[derive(Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub struct SelectCase {
    pub keyset: Keyset,
    pub target: Target,
    pub span: Span,
}

/// What keys must match.
#[derive(Debug)]
pub enum Keyset {
    /// One element for each key.
    Keys(Vec<KeyElement>),
    /// All keys together, in this value set. (A value set for one key alone stands here too if the select has one
    /// key.)
    ValueSet(ValueSetId),
    /// Everything: a single `default` or `_`.
    Default,
}

/// A set of values of one key; the expressions have the key's type.
#[derive(Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub enum KeyElement {
    Any,
    Value(Expr),
    Mask(Expr, Expr),
    Range(Expr, Expr),
    ValueSet(ValueSetId),
}

/// A control.
#[derive(Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Control {
    pub name: Rc<str>,
    pub type_params: Vec<TypeParamId>,
    pub params: Vec<VarId>,
    pub constructor_params: Vec<VarId>,
    pub locals: Vec<Local>,
    pub body: Block,
    pub annotations: Vec<Annotation>,
    pub span: Span,
}

/// A declaration inside a parser, control, block or at the top, in order.
#[derive(Debug)]
pub enum Local {
    /// A variable with its first value; `None` leaves it uninitialised (zero here; headers invalid).
    Var(VarId, Option<Expr>),
    /// A constant. Its value may depend on constructor parameters.
    Const(VarId, Expr),
    /// An instance.
    Instance(InstanceId),
    /// An action.
    Action(ActionId),
    /// A table.
    Table(TableId),
    /// A value set.
    ValueSet(ValueSetId),
}

/// A parser type, control type or package.
#[derive(Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub struct ApplyType {
    pub kind: ApplyTypeKind,
    pub name: Rc<str>,
    pub type_params: Vec<TypeParamId>,
    pub params: Vec<VarId>,
    pub annotations: Vec<Annotation>,
    pub span: Span,
}

/// Which of the three.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub enum ApplyTypeKind {
    Parser,
    Control,
    Package,
}

/// An instance of an extern, parser, control or package.
#[derive(Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Instance {
    pub name: Rc<str>,
    /// `Extern`, `Parser`, `Control` or `Apply` (a package), with all type arguments.
    pub ty: Type,
    /// Which constructor (of an extern).
    pub constructor: usize,
    /// In the order of the constructor's parameters; `None` for an optional one left out. Compile-time values,
    /// or [`ExprKind::Construct`], or [`ExprKind::Instance`].
    pub args: Vec<Option<Expr>>,
    /// Implementations of abstract methods, by the method's position in the extern, and the initializer's own
    /// instances.
    pub methods: Vec<(usize, FunctionId)>,
    pub locals: Vec<Local>,
    pub annotations: Vec<Annotation>,
    pub span: Span,
}

/// A parser value set.
#[derive(Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub struct ValueSet {
    pub name: Rc<str>,
    pub element: Type,
    pub size: Expr,
    pub annotations: Vec<Annotation>,
    pub span: Span,
}

/// A variable, parameter or constant.
#[derive(Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Var {
    pub name: Rc<str>,
    pub ty: Type,
    pub kind: VarKind,
    pub annotations: Vec<Annotation>,
    pub span: Span,
}

/// What a variable is.
#[derive(Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub enum VarKind {
    Variable,
    Constant,
    /// `is_optional`: marked `@optional`.
    Parameter {
        direction: Direction,
        default: Option<Expr>,
        is_optional: bool,
    },
    ConstructorParameter {
        default: Option<Expr>,
        is_optional: bool,
    },
    /// The variable of a `for (T x in ...)` loop.
    Loop,
}

/// A table.
#[derive(Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Table {
    pub name: Rc<str>,
    pub keys: Vec<TableKey>,
    pub actions: Vec<TableAction>,
    pub entries: Vec<Entry>,
    /// `const entries`
    pub const_entries: bool,
    pub default_action: Option<ActionRef>,
    pub const_default: bool,
    /// PSA's `psa_empty_group_action`: what runs for an entry whose group of members is empty.
    pub empty_group_action: Option<ActionRef>,
    pub size: Option<Expr>,
    /// All other properties: name, value, whether `const`.
    pub properties: Vec<Property>,
    pub annotations: Vec<Annotation>,
    pub span: Span,
}

/// Another property of a table, such as `implementation`, `counters`, `meters`.
#[derive(Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Property {
    pub name: Rc<str>,
    pub value: Expr,
    pub is_const: bool,
    pub annotations: Vec<Annotation>,
    pub span: Span,
}

/// A key of a table.
#[derive(Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub struct TableKey {
    pub expr: Expr,
    /// Position in [`Program::match_kinds`].
    pub match_kind: usize,
    /// The control-plane name: the `@name` annotation's, or the source text without white space.
    pub name: Rc<str>,
    pub annotations: Vec<Annotation>,
    pub span: Span,
}

/// An action in a table's list.
#[derive(Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub struct TableAction {
    pub action: ActionRef,
    pub annotations: Vec<Annotation>,
}

/// An action with arguments: one per parameter of the action, `None` where the control plane (or nobody yet) gives
/// it. In a default action or an entry all parameters without direction have values.
#[derive(Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub struct ActionRef {
    pub action: ActionId,
    /// Position in the table's list of actions.
    pub position: usize,
    pub args: Vec<Option<Expr>>,
    pub span: Span,
}

/// An entry of a table.
#[derive(Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Entry {
    pub is_const: bool,
    pub priority: Option<Expr>,
    /// One element for each key (a single `default` or `_` is spread out).
    pub keys: Vec<KeyElement>,
    pub action: ActionRef,
    pub annotations: Vec<Annotation>,
    pub span: Span,
}

/// `{ ... }`
#[derive(Debug, Default)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Block {
    pub stmts: Vec<Stmt>,
    pub annotations: Vec<Annotation>,
    pub span: Span,
}

/// A statement.
#[derive(Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Stmt {
    pub kind: StmtKind,
    pub span: Span,
}

/// The kinds of statement.
#[derive(Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub enum StmtKind {
    Block(Block),
    /// A constant, variable or instance.
    Local(Local),
    /// The value has the target's type. `target op= value` has become `target = target op value`; calls in the target's
    /// indices, which happen once, stand before it.
    Assign {
        target: Expr,
        value: Expr,
    },
    /// The value is thrown away. The expression is a `Call`.
    Call(Expr),
    If {
        condition: Expr,
        then_body: Block,
        else_body: Block,
    },
    /// Falling through is resolved: each case has all labels that lead to its body.
    SwitchValue {
        subject: Expr,
        cases: Vec<SwitchValueCase>,
        default: Option<Block>,
    },
    /// `switch (t.apply().action_run)`: the labels are positions in the table's list of actions; `table` is the
    /// call of `apply`.
    SwitchAction {
        table: Expr,
        cases: Vec<(Vec<usize>, Block)>,
        default: Option<Block>,
    },
    For {
        init: Vec<Stmt>,
        condition: Expr,
        update: Vec<Stmt>,
        body: Block,
    },
    /// `collection` is an array, a list, or two bounds.
    ForIn {
        var: VarId,
        collection: Collection,
        body: Block,
    },
    Break,
    Continue,
    Return(Option<Expr>),
    Exit,
}

/// A case of a switch on a value.
#[derive(Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub struct SwitchValueCase {
    pub labels: Vec<Expr>,
    pub body: Block,
}

/// What a `for ... in` goes over.
#[derive(Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Collection {
    Items(Expr),
    /// Both included.
    Range(Expr, Expr),
}

/// An expression.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Expr {
    pub kind: ExprKind,
    pub ty: Type,
    pub span: Span,
}

/// The forms of an expression.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// `true`, `false`
    Bool(bool),
    /// A number of type `Integer`, `Bit` or `Int` (in range of the type; a two's complement one may be negative).
    Int(BigInt),
    /// A string.
    String(Rc<str>),
    /// A member of `error`, by position in [`Program::errors`].
    Error(usize),
    /// A member of `match_kind`.
    MatchKind(usize),
    /// A member of the enum in `ty`, by position.
    EnumMember(usize),
    /// A variable, parameter or constant (also a constructor parameter that holds an instance).
    Var(VarId),
    /// An extern, parser or control instance.
    Instance(InstanceId),
    /// A table, where an object stands (`t.apply()`).
    Table(TableId),
    /// `this`, in an implementation of an abstract method.
    This,
    /// An instance made on the spot, as an argument of a constructor, or of a table's property: `Ck(...)`. `ty` is
    /// the type.
    Construct {
        /// Which constructor.
        constructor: usize,
        /// In the order of its parameters.
        args: Vec<Option<Expr>>,
    },
    /// A field of a struct, header or header union, by position.
    Field(Box<Expr>, usize),
    /// `array[index]`
    Index(Box<Expr>, Box<Expr>),
    /// An element of a tuple.
    TupleIndex(Box<Expr>, usize),
    /// `stack.next`
    StackNext(Box<Expr>),
    /// `stack.last`
    StackLast(Box<Expr>),
    /// `stack.lastIndex`
    StackLastIndex(Box<Expr>),
    /// `e[high:low]`
    Slice(Box<Expr>, u32, u32),
    /// `e[low +: width]` whose `low` is not constant.
    IndexedSlice {
        /// The value.
        base: Box<Expr>,
        /// The lowest bit.
        low: Box<Expr>,
        /// The number of bits.
        width: u32,
    },
    /// One operand.
    Unary(ast::UnaryOperator, Box<Expr>),
    /// Two operands. They have the same type but for shifts and `++`; `==` and `!=` compare any type.
    Binary(ast::BinaryOperator, Box<Expr>, Box<Expr>),
    /// `condition ? a : b`
    Conditional(Box<Expr>, Box<Expr>, Box<Expr>),
    /// To `ty`, written or implied. Also between a new type or enum and its representation, and between a struct
    /// and a list.
    Cast(Box<Expr>),
    /// All fields or elements in order, of the struct, header, tuple, array or list `ty`. `None`: the default value
    /// (`...`).
    Aggregate(Vec<Option<Expr>>),
    /// The default value of `ty` (`...`).
    Default,
    /// `{#}`
    Invalid,
    /// A call.
    Call(Box<Call>),
    /// `t.apply().hit`; the operand is the call of `apply`.
    Hit(Box<Expr>),
    /// `t.apply().miss`
    Miss(Box<Expr>),
    /// `v &&& m`, outside keysets.
    Mask(Box<Expr>, Box<Expr>),
    /// `a .. b`, outside keysets.
    Range(Box<Expr>, Box<Expr>),
    /// What had an error.
    Poisoned,
}

/// A call.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Call {
    pub callee: Callee,
    /// The type arguments of the function or method, all of them, inferred ones too.
    pub type_args: Vec<Type>,
    /// In the order of the parameters; omitted ones have their default value if there is one. `None`: `_`, or an
    /// optional one left out.
    pub args: Vec<Option<Expr>>,
    /// The positions of the arguments that are written, in the order in which they are: names allow any.
    pub order: Vec<usize>,
}

/// What is called.
#[derive(Clone, Debug)]
pub enum Callee {
    /// A function, or an extern function.
    Function(FunctionId),
    /// An action, from a control or another action.
    Action(ActionId),
    /// A method of an extern, by position in [`Extern::methods`]. The object's type has the extern's type arguments.
    Method(Box<Expr>, usize),
    /// `apply` of a parser or control instance.
    Apply(Box<Expr>),
    /// `apply` of a table.
    ApplyTable(Box<Expr>),
    /// A method that the language gives to headers, unions and stacks.
    Builtin(Builtin, Box<Expr>),
}

/// Methods that the language gives. (`minSizeInBits` and its like are constants already.)
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "the methods' names")]
pub enum Builtin {
    IsValid,
    SetValid,
    SetInvalid,
    PushFront,
    PopFront,
}
