//! The typed tree.
//!
//! It has the structure of the source (generic declarations stay generic, blocks are not instantiated), but everything
//! is resolved: names are indices, implicit casts are explicit, omitted arguments are `None` or their default value,
//! literals have the type that their context determines.

use base::{IndexVec, OrderedMap, OrderedSet, Span, entity_id};
use num_bigint::BigInt;
use std::rc::Rc;
use syntax::WarningLevel;
use syntax::ast::{self, Annotation, Direction};

entity_id! {
    /// A struct, header or header union.
    pub struct StructId = "struct";
    /// An enum.
    pub struct EnumId = "enum";
    /// A type declared with `type`.
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
    /// The constants and instances of the outermost scope, in order.
    pub top: Vec<Local>,
    /// The instance called `main`, if there is one.
    pub main: Option<InstanceId>,
    /// The variables, parameters and constants that the program refers to. A constant of which only the value was used
    /// leaves no other trace.
    pub named_vars: OrderedSet<VarId>,
    /// The levels that `@diagnostic("group", "level")` sets for groups of warnings.
    pub warning_levels: OrderedMap<Rc<str>, WarningLevel>,
    /// The instances of generic structs in the program, with the place of the first: an argument precedes the instance
    /// that contains it.
    pub generic_structs: OrderedMap<(StructId, Vec<Type>), InstancePlace>,
    /// The values of expressions in structured annotations: numbers, strings and booleans. The key is the source range
    /// and the text, because everything from a macro has the source range of the macro's use.
    pub annotation_values: OrderedMap<(Span, String), Expr>,
    /// The variables of which only the size was used (`v.minSizeInBits()`, `v.size`); the size is a number in the tree.
    pub sized_vars: OrderedSet<VarId>,
}

/// The order of instances of generic structs in the text: by the end and the beginning of the source range, and for
/// those from one use of a macro by the tokens of its body.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct InstancePlace {
    hi: u32,
    lo: u32,
    last: u32,
    first: u32,
    /// How many other instances were known before.
    known: usize,
}

impl InstancePlace {
    pub(crate) fn new(span: Span, known: usize) -> InstancePlace {
        let Span { lo, hi, origin } = span;
        InstancePlace { hi, lo, last: origin.last, first: origin.first, known }
    }
}

impl Program {
    /// The value of an expression in a structured annotation, if it is known.
    pub fn annotation_value(&self, written: &ast::Expr) -> Option<&Expr> {
        self.annotation_values.get(&annotation_place(written))
    }

    /// The actions that controls declare, each with its control.
    pub fn actions_of_controls(&self) -> OrderedMap<ActionId, ControlId> {
        let actions = self.controls.iter_enumerated().flat_map(|(control, declaration)| {
            let action = move |local: &Local| match local {
                Local::Action(action) => Some((*action, control)),
                _ => None,
            };
            declaration.locals.iter().filter_map(action)
        });
        actions.collect()
    }
}

/// The source range of an annotation's expression, and its text.
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
    /// A type declared with `type`.
    NewType(NewTypeId),
    /// A header stack (also of unions), or an array of another type.
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
    /// The result of a table's `apply()`: a struct with `hit`, `miss`, `action_run`.
    ApplyResult(TableId),
    /// The type of `action_run`: the actions of the table.
    ActionEnum(TableId),
    /// An action, as a value of a table's property or of an abstract method.
    Action,
    /// `value_set<T>`
    ValueSet(Box<Type>),
    /// A set of values: the type of masks, ranges and keysets.
    Set(Box<Type>),
    /// A type parameter, inside a generic declaration only.
    Param(TypeParamId),
    /// The type after an error; it is compatible with every type, so that one mistake causes one message.
    Unknown,
}

/// A type parameter.
#[derive(Debug)]
#[allow(missing_docs, reason = "the names are self-explanatory")]
pub struct TypeParam {
    pub name: Rc<str>,
    pub span: Span,
}

/// A struct, header or header union.
#[derive(Debug)]
#[allow(missing_docs, reason = "the names are self-explanatory")]
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
#[allow(missing_docs, reason = "the names are self-explanatory")]
pub struct Field {
    pub name: Rc<str>,
    pub ty: Type,
    pub annotations: Vec<Annotation>,
    pub span: Span,
}

/// An enum.
#[derive(Debug)]
#[allow(missing_docs, reason = "the names are self-explanatory")]
pub struct Enum {
    pub name: Rc<str>,
    /// The type of the values, for an enum with a representation: `Bit`, `Int` or a new type of them.
    pub representation: Option<Type>,
    /// Names and values; without a representation the values are 0, 1, 2, ...
    pub members: Vec<(Rc<str>, BigInt)>,
    pub annotations: Vec<Annotation>,
    pub span: Span,
}

/// A type declared with `type`.
#[derive(Debug)]
#[allow(missing_docs, reason = "the names are self-explanatory")]
pub struct NewType {
    pub name: Rc<str>,
    pub target: Type,
    pub annotations: Vec<Annotation>,
    pub span: Span,
}

/// An extern object type.
#[derive(Debug)]
#[allow(missing_docs, reason = "the names are self-explanatory")]
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
#[allow(missing_docs, reason = "the names are self-explanatory")]
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
#[allow(missing_docs, reason = "the names are self-explanatory")]
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
#[allow(missing_docs, reason = "the names are self-explanatory")]
pub struct Action {
    pub name: Rc<str>,
    /// Parameters with direction first, then those without, for which the control plane supplies the arguments.
    pub params: Vec<VarId>,
    pub body: Block,
    pub annotations: Vec<Annotation>,
    pub span: Span,
}

/// A parser.
#[derive(Debug)]
#[allow(missing_docs, reason = "the names are self-explanatory")]
pub struct Parser {
    pub name: Rc<str>,
    pub type_params: Vec<TypeParamId>,
    pub params: Vec<VarId>,
    pub constructor_params: Vec<VarId>,
    pub locals: Vec<Local>,
    pub states: Vec<ParserState>,
    pub annotations: Vec<Annotation>,
    pub span: Span,
}

/// A state.
#[derive(Debug)]
#[allow(missing_docs, reason = "the names are self-explanatory")]
pub struct ParserState {
    pub name: Rc<str>,
    pub body: Vec<Stmt>,
    pub transition: Transition,
    /// Whether the program has a transition here; without one, the state rejects the packet.
    pub has_transition: bool,
    pub annotations: Vec<Annotation>,
    pub span: Span,
}

/// The transition of a state.
#[derive(Debug)]
#[allow(missing_docs, reason = "the names are self-explanatory")]
pub enum Transition {
    Direct(Target),
    Select { keys: Vec<Expr>, cases: Vec<SelectCase>, span: Span },
}

/// The target of a transition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are self-explanatory")]
pub enum Target {
    /// The state at this position in [`Parser::states`].
    State(usize),
    Accept,
    Reject,
}

/// One case of a select.
#[derive(Debug)]
#[allow(missing_docs, reason = "the names are self-explanatory")]
pub struct SelectCase {
    pub keyset: Keyset,
    pub target: Target,
    pub span: Span,
}

/// The values that keys must match.
#[derive(Debug)]
pub enum Keyset {
    /// One element for each key.
    Keys(Vec<KeyElement>),
    /// All keys together, in this value set. (A value set for one key is represented like this too if the select has
    /// one key.)
    ValueSet(ValueSetId),
    /// All values: a single `default` or `_`.
    Default,
}

/// A set of values of one key; the expressions have the key's type.
#[derive(Debug)]
#[allow(missing_docs, reason = "the names are self-explanatory")]
pub enum KeyElement {
    Any,
    Value(Expr),
    Mask(Expr, Expr),
    Range(Expr, Expr),
    ValueSet(ValueSetId),
}

/// A control.
#[derive(Debug)]
#[allow(missing_docs, reason = "the names are self-explanatory")]
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
    /// A variable with its initial value; `None` leaves it uninitialised (zero here; headers invalid).
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
#[allow(missing_docs, reason = "the names are self-explanatory")]
pub struct ApplyType {
    pub kind: ApplyTypeKind,
    pub name: Rc<str>,
    pub type_params: Vec<TypeParamId>,
    pub params: Vec<VarId>,
    pub annotations: Vec<Annotation>,
    pub span: Span,
}

/// The three kinds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "the names are self-explanatory")]
pub enum ApplyTypeKind {
    Parser,
    Control,
    Package,
}

/// An instance of an extern, parser, control or package.
#[derive(Debug)]
#[allow(missing_docs, reason = "the names are self-explanatory")]
pub struct Instance {
    pub name: Rc<str>,
    /// `Extern`, `Parser`, `Control` or `Apply` (a package), with all type arguments.
    pub ty: Type,
    /// The constructor's index (of an extern).
    pub constructor: usize,
    /// In the order of the constructor's parameters; `None` for an omitted optional one. Compile-time values,
    /// [`ExprKind::Construct`], or [`ExprKind::Instance`].
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
#[allow(missing_docs, reason = "the names are self-explanatory")]
pub struct ValueSet {
    pub name: Rc<str>,
    pub element: Type,
    pub size: Expr,
    pub annotations: Vec<Annotation>,
    pub span: Span,
}

/// A variable, parameter or constant.
#[derive(Debug)]
#[allow(missing_docs, reason = "the names are self-explanatory")]
pub struct Var {
    pub name: Rc<str>,
    pub ty: Type,
    pub kind: VarKind,
    pub annotations: Vec<Annotation>,
    pub span: Span,
}

/// The kinds of variable.
#[derive(Debug)]
#[allow(missing_docs, reason = "the names are self-explanatory")]
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
#[allow(missing_docs, reason = "the names are self-explanatory")]
pub struct Table {
    pub name: Rc<str>,
    pub keys: Vec<TableKey>,
    pub actions: Vec<TableAction>,
    pub entries: Vec<Entry>,
    /// `const entries`
    pub const_entries: bool,
    pub default_action: Option<ActionRef>,
    pub const_default: bool,
    /// PSA's `psa_empty_group_action`: runs for an entry whose group has no members.
    pub empty_group_action: Option<ActionRef>,
    pub size: Option<Expr>,
    /// All other properties: name, value, whether `const`.
    pub properties: Vec<Property>,
    pub annotations: Vec<Annotation>,
    pub span: Span,
}

/// Another property of a table, such as `implementation`, `counters`, `meters`.
#[derive(Debug)]
#[allow(missing_docs, reason = "the names are self-explanatory")]
pub struct Property {
    pub name: Rc<str>,
    pub value: Expr,
    pub is_const: bool,
    pub annotations: Vec<Annotation>,
    pub span: Span,
}

/// A key of a table.
#[derive(Debug)]
#[allow(missing_docs, reason = "the names are self-explanatory")]
pub struct TableKey {
    pub expr: Expr,
    /// Position in [`Program::match_kinds`].
    pub match_kind: usize,
    /// The control-plane name: that of the `@name` annotation, or the source text without white space.
    pub name: Rc<str>,
    pub annotations: Vec<Annotation>,
    pub span: Span,
}

/// An action in a table's list.
#[derive(Debug)]
#[allow(missing_docs, reason = "the names are self-explanatory")]
pub struct TableAction {
    pub action: ActionRef,
    pub annotations: Vec<Annotation>,
}

/// An action with arguments: one for each parameter of the action, `None` where the control plane (or a later use)
/// supplies it. In a default action or an entry all parameters without direction have values.
#[derive(Debug)]
#[allow(missing_docs, reason = "the names are self-explanatory")]
pub struct ActionRef {
    pub action: ActionId,
    /// Position in the table's list of actions.
    pub position: usize,
    pub args: Vec<Option<Expr>>,
    pub span: Span,
}

/// An entry of a table.
#[derive(Debug)]
#[allow(missing_docs, reason = "the names are self-explanatory")]
pub struct Entry {
    pub is_const: bool,
    pub priority: Option<Expr>,
    /// One element for each key (a single `default` or `_` is expanded).
    pub keys: Vec<KeyElement>,
    pub action: ActionRef,
    pub annotations: Vec<Annotation>,
    pub span: Span,
}

/// `{ ... }`
#[derive(Debug, Default)]
#[allow(missing_docs, reason = "the names are self-explanatory")]
pub struct Block {
    pub stmts: Vec<Stmt>,
    pub annotations: Vec<Annotation>,
    pub span: Span,
}

/// A statement.
#[derive(Debug)]
#[allow(missing_docs, reason = "the names are self-explanatory")]
pub struct Stmt {
    pub kind: StmtKind,
    pub span: Span,
}

/// The kinds of statement.
#[derive(Debug)]
#[allow(missing_docs, reason = "the names are self-explanatory")]
pub enum StmtKind {
    Block(Block),
    /// A constant, variable or instance.
    Local(Local),
    /// The value has the target's type. `target op= value` has become `target = target op value`; the indices of the
    /// target are evaluated once, in variables declared before.
    Assign {
        target: Expr,
        value: Expr,
    },
    /// The value is discarded. The expression is a `Call`.
    Call(Expr),
    If {
        condition: Expr,
        then_body: Block,
        else_body: Block,
    },
    /// Fall-through is resolved: each case has all labels that lead to its body.
    SwitchValue {
        subject: Expr,
        cases: Vec<SwitchValueCase>,
        default: Option<Block>,
    },
    /// `switch (t.apply().action_run)`: the labels are positions in the table's list of actions; the one behind it is
    /// `NoAction`, where that is the default and not listed. `table` is the call of `apply`.
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
#[allow(missing_docs, reason = "the names are self-explanatory")]
pub struct SwitchValueCase {
    pub labels: Vec<Expr>,
    pub body: Block,
}

/// The collection of a `for ... in`.
#[derive(Debug)]
#[allow(missing_docs, reason = "the names are self-explanatory")]
pub enum Collection {
    Items(Expr),
    /// Both bounds are included.
    Range(Expr, Expr),
}

/// An expression.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "the names are self-explanatory")]
pub struct Expr {
    pub kind: ExprKind,
    pub ty: Type,
    pub span: Span,
}

/// The kinds of expression.
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
    /// A table, as the object of `t.apply()`.
    Table(TableId),
    /// `this`, in an implementation of an abstract method.
    This,
    /// An instance that is created in place, as an argument of a constructor, or of a table's property: `Ck(...)`. `ty`
    /// is its type.
    Construct {
        /// The constructor's index.
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
    /// A prefix operator.
    Unary(ast::UnaryOperator, Box<Expr>),
    /// An infix operator. The operands have the same type except for shifts and `++`; `==` and `!=` compare any type.
    Binary(ast::BinaryOperator, Box<Expr>, Box<Expr>),
    /// `condition ? a : b`
    Conditional(Box<Expr>, Box<Expr>, Box<Expr>),
    /// A cast to `ty`, explicit or implicit. This includes conversions between a new type or enum and its
    /// representation, and between a struct and a list.
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
    /// An expression with an error.
    Poisoned,
}

/// A call.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "the names are self-explanatory")]
pub struct Call {
    pub callee: Callee,
    /// The type arguments of the function or method, including inferred ones.
    pub type_args: Vec<Type>,
    /// In the order of the parameters. An omitted argument has its default value if there is one. `None`: `_`, or an
    /// omitted optional argument.
    pub args: Vec<Option<Expr>>,
    /// The parameter positions of the written arguments, in source order, because named arguments allow any order.
    pub order: Vec<usize>,
}

/// The target of a call.
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
    /// A built-in method of headers, unions and stacks.
    Builtin(Builtin, Box<Expr>),
}

/// Built-in methods. (`minSizeInBits` and related methods have been replaced with constants.)
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "the methods' names")]
pub enum Builtin {
    IsValid,
    SetValid,
    SetInvalid,
    PushFront,
    PopFront,
}
