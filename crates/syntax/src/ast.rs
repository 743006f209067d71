//! The syntax tree of P4_16.
//!
//! The parser builds it, `sema` reads it, `printer` writes it back as P4 text and `dump` as an outline without source
//! ranges. Every node has the source range that it was read from. The tree records the text without interpretation:
//! names are unresolved (except that the grammar needs to distinguish types from other names), widths are expressions,
//! and parentheses are absent because the shape of the tree replaces them. The height of expressions, types and
//! statements is limited to `base::limits::NESTING_MAX` each, so code that walks a tree may recurse.
//!
//! Long because it is one grammar: definitions without logic, for reference.

use base::Span;
use num_bigint::BigInt;
use std::rc::Rc;

/// The text of an identifier, shared by all its occurrences.
pub type Name = Rc<str>;

/// A name and its source range.
#[derive(Clone)]
pub struct Ident {
    /// The text.
    pub name: Name,
    /// Its source range.
    pub span: Span,
}

impl Ident {
    /// The text.
    pub fn as_str(&self) -> &str {
        &self.name
    }
}

/// A name, or a name of the outermost scope, written with a leading dot.
#[derive(Clone)]
pub struct Path {
    /// Whether a dot stands before the name.
    pub is_global: bool,
    /// The name.
    pub name: Ident,
    /// The source range of the whole construct.
    pub span: Span,
}

/// A whole program after preprocessing.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// The declarations of the outermost scope, in order.
    pub declarations: Vec<Declaration>,
}

// ---------------------------------------------------------------------------------------------------- annotations

/// `@name`, `@name(...)`, `@name[...]` or `@pragma name ...`.
#[derive(Clone, Debug)]
pub struct Annotation {
    /// The name after the `@` (or after `@pragma`).
    pub name: Ident,
    /// What follows the name.
    pub body: AnnotationBody,
    /// Whether it was written as `@pragma name ...`, which extends to the end of the line.
    pub is_pragma: bool,
    /// The source range, from the `@` to the end of the body.
    pub span: Span,
}

/// The body of an annotation.
#[derive(Clone, Debug)]
pub enum AnnotationBody {
    /// Nothing.
    Empty,
    /// `(...)`: any tokens with balanced brackets. Each reader of the annotation interprets them.
    Unstructured {
        /// The tokens between the parentheses.
        tokens: Vec<AnnotationToken>,
        /// The same tokens parsed as a list of expressions, if they are one. `@field_list(1, 2)` and similar
        /// annotations need it.
        expressions: Option<Vec<Expr>>,
    },
    /// `[a, b]`: expressions. Empty brackets are an empty list.
    Expressions(Vec<Expr>),
    /// `[k = v, ...]`: named expressions.
    KeyValues(Vec<KeyValue>),
}

/// One token of an unstructured annotation.
#[derive(Clone, Debug)]
pub struct AnnotationToken {
    /// Its kind.
    pub kind: AnnotationTokenKind,
    /// A string's content with its escapes resolved; any other token as written.
    pub text: Name,
    /// Its source range.
    pub span: Span,
}

/// The kind of an annotation's token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnnotationTokenKind {
    /// An identifier or keyword.
    Word,
    /// An integer literal.
    Integer,
    /// A string literal.
    String,
    /// Any operator or bracket.
    Punctuation,
}

impl Annotation {
    /// The string of `@name("text")`, also where it is written `@name["text"]`.
    pub fn single_string(&self) -> Option<&str> {
        match &self.body {
            AnnotationBody::Unstructured { tokens, .. } => match tokens.as_slice() {
                [token] if token.kind == AnnotationTokenKind::String => Some(&token.text),
                _ => None,
            },
            AnnotationBody::Expressions(list) => match list.as_slice() {
                [Expr { kind: ExprKind::String(text), .. }] => Some(text),
                _ => None,
            },
            _ => None,
        }
    }

    /// The expressions of `@name(a, b)` or `@name[a, b]`; `None` if there is no body or another one.
    pub fn expressions(&self) -> Option<&[Expr]> {
        match &self.body {
            AnnotationBody::Unstructured { expressions, .. } => expressions.as_deref(),
            AnnotationBody::Expressions(list) => Some(list),
            _ => None,
        }
    }
}

/// `key = value`.
#[derive(Clone, Debug)]
pub struct KeyValue {
    /// The key.
    pub key: Ident,
    /// The value.
    pub value: Expr,
    /// The source range of the whole construct.
    pub span: Span,
}

// --------------------------------------------------------------------------------------------------- declarations

/// A declaration in any scope: of the program, a parser, a control, a block or an instance initializer.
#[derive(Clone, Debug)]
pub struct Declaration {
    /// The annotations before it.
    pub annotations: Vec<Annotation>,
    /// The declaration itself.
    pub kind: DeclarationKind,
    /// The source range, from the first token after the annotations to the last.
    pub span: Span,
}

/// The kinds of declaration.
#[derive(Clone, Debug)]
pub enum DeclarationKind {
    /// `const T name = value;`
    Constant(Constant),
    /// `T name;` or `T name = value;`
    Variable(Variable),
    /// `T(arguments) name;`, possibly with `= { ... }`.
    Instantiation(Instantiation),
    /// `struct`, `header` or `header_union`.
    Struct(StructDeclaration),
    /// `typedef T name;` or `type T name;`
    Typedef(Typedef),
    /// `enum`, with or without a representation.
    Enum(EnumDeclaration),
    /// `error { ... }`
    Error(Vec<Ident>),
    /// `match_kind { ... }`
    MatchKind(Vec<Ident>),
    /// `extern name { ... }`
    ExternObject(ExternObject),
    /// `extern T name(...);`
    ExternFunction(FunctionPrototype),
    /// `action name(...) { ... }`
    Action(ActionDeclaration),
    /// `T name(...) { ... }`
    Function(FunctionDeclaration),
    /// `parser name<...>(...);`
    ParserType(ApplyType),
    /// `parser name(...)(...) { ... }`
    Parser(ParserDeclaration),
    /// `control name<...>(...);`
    ControlType(ApplyType),
    /// `control name(...)(...) { ... }`
    Control(ControlDeclaration),
    /// `package name<...>(...);`
    Package(ApplyType),
    /// `table name { ... }`
    Table(Table),
    /// `value_set<T>(size) name;`
    ValueSet(ValueSet),
}

impl Declaration {
    /// The declared name; `None` for `error` and `match_kind`, which extend an existing set.
    pub fn name(&self) -> Option<&Ident> {
        Some(match &self.kind {
            DeclarationKind::Constant(it) => &it.name,
            DeclarationKind::Variable(it) => &it.name,
            DeclarationKind::Instantiation(it) => &it.name,
            DeclarationKind::Struct(it) => &it.name,
            DeclarationKind::Typedef(it) => &it.name,
            DeclarationKind::Enum(it) => &it.name,
            DeclarationKind::Error(_) | DeclarationKind::MatchKind(_) => return None,
            DeclarationKind::ExternObject(it) => &it.name,
            DeclarationKind::ExternFunction(it) => &it.name,
            DeclarationKind::Action(it) => &it.name,
            DeclarationKind::Function(it) => &it.prototype.name,
            DeclarationKind::ParserType(it) | DeclarationKind::ControlType(it) | DeclarationKind::Package(it) => {
                &it.name
            }
            DeclarationKind::Parser(it) => &it.signature.name,
            DeclarationKind::Control(it) => &it.signature.name,
            DeclarationKind::Table(it) => &it.name,
            DeclarationKind::ValueSet(it) => &it.name,
        })
    }
}

/// `const T name = value;`
#[derive(Clone, Debug)]
pub struct Constant {
    /// The type.
    pub type_ref: Type,
    /// The name.
    pub name: Ident,
    /// The value.
    pub value: Expr,
}

/// `T name;` or `T name = value;`
#[derive(Clone, Debug)]
pub struct Variable {
    /// The type.
    pub type_ref: Type,
    /// The name.
    pub name: Ident,
    /// The initial value, if given.
    pub value: Option<Expr>,
}

/// `T(arguments) name;`
#[derive(Clone, Debug)]
pub struct Instantiation {
    /// The type: a parser, control, package or extern object, possibly with type arguments.
    pub type_ref: Type,
    /// The constructor's arguments.
    pub arguments: Vec<Argument>,
    /// The instance's name.
    pub name: Ident,
    /// `= { ... }`: functions that implement abstract methods, and instances that they use.
    pub initializer: Option<Vec<Declaration>>,
}

/// Which kind of record a [`StructDeclaration`] declares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StructKind {
    /// `struct`
    Struct,
    /// `header`
    Header,
    /// `header_union`
    HeaderUnion,
}

/// `struct`, `header` or `header_union`.
#[derive(Clone, Debug)]
pub struct StructDeclaration {
    /// The kind of record.
    pub kind: StructKind,
    /// The name.
    pub name: Ident,
    /// `<T, ...>`
    pub type_parameters: Vec<Ident>,
    /// The fields in order.
    pub fields: Vec<StructField>,
}

/// `T name;` in a struct, header or header union.
#[derive(Clone, Debug)]
pub struct StructField {
    /// The annotations before it.
    pub annotations: Vec<Annotation>,
    /// The type.
    pub type_ref: Type,
    /// The name.
    pub name: Ident,
    /// The source range of the whole construct.
    pub span: Span,
}

/// `typedef T name;` (another name for the same type) or `type T name;` (a new type).
#[derive(Clone, Debug)]
pub struct Typedef {
    /// Whether it creates a new type.
    pub is_new_type: bool,
    /// The type that the name stands for.
    pub target: TypedefTarget,
    /// The name.
    pub name: Ident,
}

/// What a typedef names.
#[derive(Clone, Debug)]
pub enum TypedefTarget {
    /// A type.
    Type(Type),
    /// A struct, header, header union or enum that is declared in the same declaration: `typedef struct S { ... } T;`
    Declaration(Box<Declaration>),
}

/// `enum name { ... }` or `enum T name { a = 1, ... }`
#[derive(Clone, Debug)]
pub struct EnumDeclaration {
    /// The name.
    pub name: Ident,
    /// The type of the members' values, if the enum has one.
    pub representation: Option<Type>,
    /// The members in order.
    pub members: Vec<EnumMember>,
}

/// A member of an enum.
#[derive(Clone, Debug)]
pub struct EnumMember {
    /// The name.
    pub name: Ident,
    /// The value, in an enum with a representation.
    pub value: Option<Expr>,
}

/// `extern name<...> { ... }`
#[derive(Clone, Debug)]
pub struct ExternObject {
    /// The name.
    pub name: Ident,
    /// `<T, ...>`
    pub type_parameters: Vec<Ident>,
    /// Constructors and methods in order.
    pub members: Vec<ExternMember>,
}

/// A constructor or method of an extern object.
#[derive(Clone, Debug)]
pub struct ExternMember {
    /// The annotations before it.
    pub annotations: Vec<Annotation>,
    /// Its kind.
    pub kind: ExternMemberKind,
    /// The source range of the whole construct.
    pub span: Span,
}

/// The kinds of member of an extern object.
#[derive(Clone, Debug)]
pub enum ExternMemberKind {
    /// `name(...);` with the name of the extern.
    Constructor {
        /// The name, which is the extern's.
        name: Ident,
        /// The parameters.
        parameters: Vec<Parameter>,
    },
    /// `T name<...>(...);`
    Method {
        /// Whether it is `abstract`, so the user implements it.
        is_abstract: bool,
        /// The signature.
        prototype: FunctionPrototype,
    },
}

/// The signature of a function or method.
#[derive(Clone, Debug)]
pub struct FunctionPrototype {
    /// The type of the result, possibly `void`.
    pub return_type: Type,
    /// The name.
    pub name: Ident,
    /// `<T, ...>`
    pub type_parameters: Vec<Ident>,
    /// The parameters.
    pub parameters: Vec<Parameter>,
}

/// A function with its body.
#[derive(Clone, Debug)]
pub struct FunctionDeclaration {
    /// The signature.
    pub prototype: FunctionPrototype,
    /// The body.
    pub body: Block,
}

/// `action name(...) { ... }`
#[derive(Clone, Debug)]
pub struct ActionDeclaration {
    /// The name.
    pub name: Ident,
    /// The parameters.
    pub parameters: Vec<Parameter>,
    /// The body.
    pub body: Block,
}

/// The type of a parser, control or package: `name<T, ...>(parameters)`.
#[derive(Clone, Debug)]
pub struct ApplyType {
    /// The name.
    pub name: Ident,
    /// `<T, ...>`
    pub type_parameters: Vec<Ident>,
    /// The parameters of `apply` (of the constructor, for a package).
    pub parameters: Vec<Parameter>,
}

/// `parser name(...)(...) { ... }`
#[derive(Clone, Debug)]
pub struct ParserDeclaration {
    /// Name, type parameters, `apply` parameters.
    pub signature: ApplyType,
    /// The parameters of the constructor.
    pub constructor_parameters: Vec<Parameter>,
    /// Constants, variables, instances and value sets.
    pub locals: Vec<Declaration>,
    /// The states in order.
    pub states: Vec<ParserState>,
}

/// `state name { ... }`
#[derive(Clone, Debug)]
pub struct ParserState {
    /// The annotations before it.
    pub annotations: Vec<Annotation>,
    /// The name.
    pub name: Ident,
    /// The statements before the transition.
    pub statements: Vec<Statement>,
    /// The transition; a state without one goes to `reject`.
    pub transition: Option<Transition>,
    /// The source range of the whole construct.
    pub span: Span,
}

/// `transition ...;`
#[derive(Clone, Debug)]
pub struct Transition {
    /// The target.
    pub kind: TransitionKind,
    /// The source range of the whole construct.
    pub span: Span,
}

/// The target of a transition.
#[derive(Clone, Debug)]
pub enum TransitionKind {
    /// One state.
    Direct(Ident),
    /// `select (keys) { cases }`
    Select {
        /// The expressions that are matched.
        keys: Vec<Expr>,
        /// The cases in order.
        cases: Vec<SelectCase>,
    },
}

/// `keyset: state;`
#[derive(Clone, Debug)]
pub struct SelectCase {
    /// The values that the keys must match.
    pub keyset: Keyset,
    /// The next state.
    pub next: Ident,
    /// The source range of the whole construct.
    pub span: Span,
}

/// The values that keys must match: one element for each key. A single `default` or `_` stands for all keys. An element
/// is an expression, or has one of the kinds [`ExprKind::Mask`], [`ExprKind::Range`], [`ExprKind::Default`] and
/// [`ExprKind::DontCare`].
#[derive(Clone, Debug)]
pub struct Keyset {
    /// The elements in order.
    pub elements: Vec<Expr>,
    /// The source range, parentheses included.
    pub span: Span,
}

/// `control name(...)(...) { ... }`
#[derive(Clone, Debug)]
pub struct ControlDeclaration {
    /// Name, type parameters, `apply` parameters.
    pub signature: ApplyType,
    /// The parameters of the constructor.
    pub constructor_parameters: Vec<Parameter>,
    /// Constants, variables, instances, actions and tables.
    pub locals: Vec<Declaration>,
    /// `apply { ... }`
    pub body: Block,
}

/// `table name { ... }`
#[derive(Clone, Debug)]
pub struct Table {
    /// The name.
    pub name: Ident,
    /// The properties in order.
    pub properties: Vec<TableProperty>,
}

/// A property of a table.
#[derive(Clone, Debug)]
pub struct TableProperty {
    /// The annotations before it.
    pub annotations: Vec<Annotation>,
    /// Whether `const` stands before it.
    pub is_const: bool,
    /// Its kind and value.
    pub kind: TablePropertyKind,
    /// The source range of the whole construct.
    pub span: Span,
}

/// The kinds of table property.
#[derive(Clone, Debug)]
pub enum TablePropertyKind {
    /// `key = { ... }`
    Key(Vec<KeyElement>),
    /// `actions = { ... }`
    Actions(Vec<ActionListElement>),
    /// `entries = { ... }`
    Entries(Vec<Entry>),
    /// `default_action = ...;`: a name or a call.
    DefaultAction(Expr),
    /// `size = ...;`
    Size(Expr),
    /// Any other `name = value;`
    Other {
        /// The name.
        name: Ident,
        /// The value.
        value: Expr,
    },
}

/// `expression : match_kind;`
#[derive(Clone, Debug)]
pub struct KeyElement {
    /// The expression that is looked up.
    pub expression: Expr,
    /// The match kind.
    pub match_kind: Ident,
    /// The annotations after it.
    pub annotations: Vec<Annotation>,
    /// The source range of the whole construct.
    pub span: Span,
}

/// An action in a table's list.
#[derive(Clone, Debug)]
pub struct ActionListElement {
    /// The annotations before it.
    pub annotations: Vec<Annotation>,
    /// The action.
    pub action: ActionRef,
}

/// An action by name, with arguments or without.
#[derive(Clone, Debug)]
pub struct ActionRef {
    /// The action.
    pub path: Path,
    /// The arguments, if parentheses are written.
    pub arguments: Option<Vec<Argument>>,
    /// The source range of the whole construct.
    pub span: Span,
}

/// `priority = p: keyset: action;`
#[derive(Clone, Debug)]
pub struct Entry {
    /// Whether `const` stands before it.
    pub is_const: bool,
    /// The priority, if given.
    pub priority: Option<Expr>,
    /// The values that the keys must match.
    pub keyset: Keyset,
    /// The action to run.
    pub action: ActionRef,
    /// The annotations after it.
    pub annotations: Vec<Annotation>,
    /// The source range of the whole construct.
    pub span: Span,
}

/// `value_set<T>(size) name;`
#[derive(Clone, Debug)]
pub struct ValueSet {
    /// The type of the members.
    pub element_type: Type,
    /// The maximum number of members.
    pub size: Expr,
    /// The name.
    pub name: Ident,
}

/// The direction of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// No direction.
    None,
    /// `in`
    In,
    /// `out`
    Out,
    /// `inout`
    InOut,
}

/// A parameter.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// The annotations before it.
    pub annotations: Vec<Annotation>,
    /// The direction.
    pub direction: Direction,
    /// The type.
    pub type_ref: Type,
    /// The name.
    pub name: Ident,
    /// The default value, if given.
    pub default: Option<Expr>,
    /// The source range of the whole construct.
    pub span: Span,
}

// ---------------------------------------------------------------------------------------------------------- types

/// A type as written.
#[derive(Clone)]
pub struct Type {
    /// Its kind.
    pub kind: TypeKind,
    /// Its source range.
    pub span: Span,
}

/// The forms of a type.
#[derive(Clone, Debug)]
pub enum TypeKind {
    /// `bool`
    Bool,
    /// `error`
    Error,
    /// `match_kind`
    MatchKind,
    /// `string`
    String,
    /// `void`
    Void,
    /// `int`: an integer of any size.
    Integer,
    /// `bit<w>`; `bit` alone (which is `bit<1>`) has no width.
    Bit(Option<Box<Expr>>),
    /// `int<w>`
    Int(Box<Expr>),
    /// `varbit<w>`
    Varbit(Box<Expr>),
    /// A named type.
    Named(Path),
    /// `name<arguments>`
    Specialized {
        /// The generic type.
        base: Path,
        /// The type arguments.
        arguments: Vec<Type>,
    },
    /// `element[size]`
    Array {
        /// The type of the elements.
        element: Box<Type>,
        /// The number of elements.
        size: Box<Expr>,
    },
    /// `tuple<...>`
    Tuple(Vec<Type>),
    /// `list<T>`
    List(Box<Type>),
    /// `_` as a type argument: to be inferred.
    DontCare,
}

// ----------------------------------------------------------------------------------------------------- statements

/// `{ ... }`
#[derive(Clone, Debug)]
pub struct Block {
    /// The annotations before the brace.
    pub annotations: Vec<Annotation>,
    /// The statements in order.
    pub statements: Vec<Statement>,
    /// The source range, from brace to brace.
    pub span: Span,
}

/// A statement.
#[derive(Clone)]
pub struct Statement {
    /// Its kind.
    pub kind: StatementKind,
    /// Its source range.
    pub span: Span,
}

/// The kinds of statement.
#[derive(Clone, Debug)]
pub enum StatementKind {
    /// `;`
    Empty,
    /// `{ ... }`
    Block(Block),
    /// A constant, a variable or an instance.
    Declaration(Box<Declaration>),
    /// `target = value;` or, with an operator, `target += value;`
    Assignment {
        /// The target.
        target: Expr,
        /// The operator before the `=`.
        operator: Option<BinaryOperator>,
        /// The assigned value.
        value: Expr,
    },
    /// A call of a function, method, action or `apply`: the expression is an [`ExprKind::Call`].
    Call(Expr),
    /// `T.apply(...);`: creates an unnamed instance of a parser or control and applies it.
    DirectApplication {
        /// The parser or control.
        type_ref: Type,
        /// The arguments of `apply`.
        arguments: Vec<Argument>,
    },
    /// `if (condition) ... else ...`
    If {
        /// The condition.
        condition: Expr,
        /// The statement for true.
        then_branch: Box<Statement>,
        /// The statement for false.
        else_branch: Option<Box<Statement>>,
    },
    /// `switch (subject) { ... }`
    Switch {
        /// The expression that selects a case.
        subject: Expr,
        /// The cases in order.
        cases: Vec<SwitchCase>,
    },
    /// `for (init; condition; update) ...`
    For(Box<ForLoop>),
    /// `for (T name in collection) ...`
    ForIn(Box<ForInLoop>),
    /// `break;`
    Break,
    /// `continue;`
    Continue,
    /// `return;` or `return value;`
    Return(Option<Expr>),
    /// `exit;`
    Exit,
}

/// `label: { ... }`, or `label:` that falls through to the next.
#[derive(Clone, Debug)]
pub struct SwitchCase {
    /// An expression, or [`ExprKind::Default`].
    pub label: Expr,
    /// The statements; `None` falls through.
    pub body: Option<Block>,
    /// The source range of the whole construct.
    pub span: Span,
}

/// `for (init; condition; update) body`
#[derive(Clone, Debug)]
pub struct ForLoop {
    /// The annotations before it.
    pub annotations: Vec<Annotation>,
    /// Declarations, assignments and calls that run once before the loop.
    pub init: Vec<Statement>,
    /// The condition, which is tested before each iteration.
    pub condition: Expr,
    /// Assignments and calls that run after each iteration.
    pub update: Vec<Statement>,
    /// The body.
    pub body: Statement,
}

/// `for (T name in collection) body`
#[derive(Clone, Debug)]
pub struct ForInLoop {
    /// The annotations before it.
    pub annotations: Vec<Annotation>,
    /// The type of the loop's variable.
    pub type_ref: Type,
    /// The loop's variable.
    pub name: Ident,
    /// A list, array or stack, or an [`ExprKind::Range`].
    pub collection: Expr,
    /// The body.
    pub body: Statement,
}

// ---------------------------------------------------------------------------------------------------- expressions

/// An expression.
#[derive(Clone)]
pub struct Expr {
    /// Its kind.
    pub kind: ExprKind,
    /// Its source range, including parentheses around it.
    pub span: Span,
}

/// The forms of an expression.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// `true`, `false`
    Bool(bool),
    /// An integer literal.
    Integer(IntegerLiteral),
    /// A string literal's content, its escapes resolved.
    String(Name),
    /// A name that does not refer to a type.
    Name(Path),
    /// A type in the position of an expression: before a member (`Suit.Clubs`, `error.NoError`), or called as a
    /// constructor (`register<bit<32>>(16)`).
    Type(Box<Type>),
    /// `this`
    This,
    /// `_`: an argument or a key that matches anything.
    DontCare,
    /// `default` in a keyset or as the label of a switch.
    Default,
    /// `...`: the default value, alone or at the end of a list.
    Dots,
    /// `{ a, b }`; a last element [`ExprKind::Dots`] stands for defaults.
    List(Vec<Expr>),
    /// `{ x = a, y = b }`
    Struct {
        /// The fields in order.
        fields: Vec<KeyValue>,
        /// Whether `...` at the end gives the other fields their defaults.
        has_dots: bool,
    },
    /// `{#}`: an invalid header or header union.
    Invalid,
    /// `base.member`
    Member {
        /// The expression whose member is selected.
        base: Box<Expr>,
        /// The member.
        member: Ident,
    },
    /// `base[index]`
    Index {
        /// The array, stack or tuple.
        base: Box<Expr>,
        /// The position.
        index: Box<Expr>,
    },
    /// `base[high:low]`
    Slice {
        /// The value.
        base: Box<Expr>,
        /// The highest bit.
        high: Box<Expr>,
        /// The lowest bit.
        low: Box<Expr>,
    },
    /// `base[low +: width]`
    IndexedSlice {
        /// The value.
        base: Box<Expr>,
        /// The lowest bit, which need not be constant.
        low: Box<Expr>,
        /// The number of bits.
        width: Box<Expr>,
    },
    /// A prefix operator.
    Unary {
        /// The operator.
        operator: UnaryOperator,
        /// The operand.
        operand: Box<Expr>,
    },
    /// An infix operator.
    Binary {
        /// The operator.
        operator: BinaryOperator,
        /// The left operand.
        left: Box<Expr>,
        /// The right operand.
        right: Box<Expr>,
    },
    /// `condition ? a : b`
    Conditional {
        /// The condition.
        condition: Box<Expr>,
        /// The value for true.
        then_value: Box<Expr>,
        /// The value for false.
        else_value: Box<Expr>,
    },
    /// `(T) operand`
    Cast {
        /// The type.
        type_ref: Box<Type>,
        /// The operand.
        operand: Box<Expr>,
    },
    /// `callee<types>(arguments)`. A constructor's type arguments are in its [`ExprKind::Type`].
    Call {
        /// A name, a member, or a type whose constructor is called.
        callee: Box<Expr>,
        /// `<types>`, if written.
        type_arguments: Vec<Type>,
        /// The arguments.
        arguments: Vec<Argument>,
    },
    /// `value &&& mask`, in keysets.
    Mask {
        /// The value.
        value: Box<Expr>,
        /// The mask.
        mask: Box<Expr>,
    },
    /// `low .. high`, both included, in keysets and loops.
    Range {
        /// The lowest value.
        low: Box<Expr>,
        /// The highest value.
        high: Box<Expr>,
    },
}

/// An argument of a call.
#[derive(Clone, Debug)]
pub struct Argument {
    /// The parameter's name, for a named argument.
    pub name: Option<Ident>,
    /// The value, possibly [`ExprKind::DontCare`].
    pub value: Expr,
    /// The source range of the whole construct.
    pub span: Span,
}

/// An integer literal: its value, and how it was written.
#[derive(Clone, PartialEq, Eq)]
pub struct IntegerLiteral {
    /// The number before it is truncated to its width.
    pub value: BigInt,
    /// `8w` or `8s`: the width. Without one the literal is an `int`.
    pub width: Option<u32>,
    /// Whether the width is followed by `s`.
    pub is_signed: bool,
    /// The base in which it was written.
    pub base: Base,
}

/// The base of an integer literal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base {
    /// `0b`
    Binary,
    /// `0o`
    Octal,
    /// No prefix, or `0d`.
    Decimal,
    /// `0x`
    Hexadecimal,
}

/// A prefix operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnaryOperator {
    /// `!`
    Not,
    /// `~`
    Complement,
    /// `-`
    Negate,
    /// `+`
    Plus,
}

impl UnaryOperator {
    /// The operator's text.
    pub fn as_str(self) -> &'static str {
        match self {
            UnaryOperator::Not => "!",
            UnaryOperator::Complement => "~",
            UnaryOperator::Negate => "-",
            UnaryOperator::Plus => "+",
        }
    }
}

/// An infix operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BinaryOperator {
    /// `*`
    Multiply,
    /// `/`
    Divide,
    /// `%`
    Modulo,
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `|+|`
    SaturatingAdd,
    /// `|-|`
    SaturatingSubtract,
    /// `++`
    Concatenate,
    /// `<<`
    ShiftLeft,
    /// `>>`
    ShiftRight,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
    /// `&`
    BitAnd,
    /// `^`
    BitXor,
    /// `|`
    BitOr,
    /// `&&`
    And,
    /// `||`
    Or,
}

impl BinaryOperator {
    /// The operator's text.
    pub fn as_str(self) -> &'static str {
        match self {
            BinaryOperator::Multiply => "*",
            BinaryOperator::Divide => "/",
            BinaryOperator::Modulo => "%",
            BinaryOperator::Add => "+",
            BinaryOperator::Subtract => "-",
            BinaryOperator::SaturatingAdd => "|+|",
            BinaryOperator::SaturatingSubtract => "|-|",
            BinaryOperator::Concatenate => "++",
            BinaryOperator::ShiftLeft => "<<",
            BinaryOperator::ShiftRight => ">>",
            BinaryOperator::Less => "<",
            BinaryOperator::LessOrEqual => "<=",
            BinaryOperator::Greater => ">",
            BinaryOperator::GreaterOrEqual => ">=",
            BinaryOperator::Equal => "==",
            BinaryOperator::NotEqual => "!=",
            BinaryOperator::BitAnd => "&",
            BinaryOperator::BitXor => "^",
            BinaryOperator::BitOr => "|",
            BinaryOperator::And => "&&",
            BinaryOperator::Or => "||",
        }
    }
}

// ------------------------------------------------------------------------------------------------- as debug text

macro_rules! debug_as_field {
    ($($node:ident.$field:ident),*) => {$(
        impl std::fmt::Debug for $node {
            /// Prints only the kind: the wrapper and the source range would hide the structure of a printed tree.
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.$field.fmt(f)
            }
        }
    )*};
}

debug_as_field!(Type.kind, Statement.kind, Expr.kind);

impl std::fmt::Debug for Path {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}{}", if self.is_global { "." } else { "" }, self.name.name)
    }
}

impl std::fmt::Debug for Ident {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.name)
    }
}

impl std::fmt::Display for IntegerLiteral {
    /// The literal in P4: width, base and digits.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some(width) = self.width {
            write!(f, "{width}{}", if self.is_signed { 's' } else { 'w' })?;
        }
        match self.base {
            Base::Binary => write!(f, "0b{:b}", self.value),
            Base::Octal => write!(f, "0o{:o}", self.value),
            Base::Decimal => write!(f, "{}", self.value),
            Base::Hexadecimal => write!(f, "0x{:x}", self.value),
        }
    }
}

impl std::fmt::Debug for IntegerLiteral {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{self}")
    }
}
