//! The declarations of the outermost scope, and the rules that they share with those of inner scopes.

use super::types::TypeNames;
use super::{Failed, Meaning, Parsed, Parser, is_name};
use crate::ast::{
    ActionDeclaration, ApplyType, Declaration, DeclarationKind, Direction, EnumDeclaration, EnumMember, ExternMember,
    ExternMemberKind, ExternObject, FunctionDeclaration, FunctionPrototype, Ident, Name, Parameter, Program,
    StructDeclaration, StructField, StructKind, Type, Typedef, TypedefTarget,
};
use crate::codes;
use crate::diag::Diagnostic;
use crate::token::{Keyword, TokenKind};
use base::Span;

impl Parser<'_> {
    /// The whole program.
    pub(super) fn program(&mut self) -> Program {
        let mut declarations = Vec::new();
        while !self.at(TokenKind::EndOfFile) {
            if self.take(TokenKind::Semicolon) {
                continue;
            }
            if self.take_forward_declaration() {
                continue;
            }
            let start = self.next;
            match self.outer_declaration() {
                Ok(declaration) => declarations.push(declaration),
                Err(Failed) => {
                    self.recover(start);
                    // A closing brace without an opening one, or a declaration that cannot begin here.
                    if self.next == start || self.at(TokenKind::RightBrace) {
                        self.bump();
                    }
                    // Further closing braces have the same cause.
                    while self.take(TokenKind::RightBrace) {}
                }
            }
        }
        Program { declarations }
    }

    /// `extern name;` only declares that the name is a type.
    fn take_forward_declaration(&mut self) -> bool {
        let is_one = self.at_keyword(Keyword::Extern)
            && is_name(&self.peek_at(1))
            && self.peek_at(2).kind == TokenKind::Semicolon;
        if is_one {
            self.scopes.declare(self.peek_at(1).symbol, Meaning::Type);
            self.next += 3;
        }
        is_one
    }

    fn outer_declaration(&mut self) -> Parsed<Declaration> {
        let annotations = self.annotations()?;
        self.refuse_p4_14()?;
        let token = self.peek();
        let start = token.span;
        let opens_braces = self.peek_at(1).kind == TokenKind::LeftBrace;
        let kind = match token.keyword() {
            Some(Keyword::Const) => self.constant()?,
            Some(Keyword::Extern) => self.extern_declaration()?,
            Some(Keyword::Action) => self.action()?,
            Some(Keyword::Parser) => self.parser()?,
            Some(Keyword::Control) => self.control()?,
            Some(Keyword::Package) => self.package()?,
            Some(Keyword::Struct | Keyword::Header | Keyword::HeaderUnion) => self.struct_declaration()?,
            Some(Keyword::Enum) => self.enum_declaration()?,
            Some(Keyword::Typedef) => self.typedef()?,
            Some(Keyword::Type) if self.peek_at(1).kind != TokenKind::LeftParen => self.typedef()?,
            Some(Keyword::Error) if opens_braces => {
                self.bump();
                DeclarationKind::Error(self.identifier_list()?)
            }
            Some(Keyword::MatchKind) if opens_braces => {
                self.bump();
                DeclarationKind::MatchKind(self.identifier_list()?)
            }
            _ => self.function_or_instance()?,
        };
        Ok(Declaration { annotations, kind, span: self.span_from(start) })
    }

    /// Reports a declaration that only P4_14 has, and skips its block.
    fn refuse_p4_14(&mut self) -> Parsed<()> {
        let token = self.peek();
        let text = token.text(&self.names);
        let is_p4_14 = match &*text {
            "header_type"
            | "field_list"
            | "field_list_calculation"
            | "calculated_field"
            | "parser_value_set"
            | "parser_exception"
            | "blackbox"
            | "blackbox_type"
            | "extern_type" => true,
            "action_profile" | "action_selector" | "counter" | "meter" | "register" | "parser" | "control" => {
                self.peek_at(2).kind == TokenKind::LeftBrace
            }
            _ => false,
        };
        if !is_p4_14 || !is_name(&self.peek_at(1)) {
            return Ok(());
        }
        let message = format!("`{text} {}` is a declaration of P4_14", self.peek_at(1).text(&self.names));
        let diagnostic = Diagnostic::error(codes::UNEXPECTED_TOKEN, token.span, message)
            .label("this program is read as P4_16")
            .help("if the program is P4_14, choose the language with `--std p4-14`");
        self.report(diagnostic);
        self.skip_block();
        Err(Failed)
    }

    /// Skips the tokens up to the end of the next block in braces.
    fn skip_block(&mut self) {
        let mut open_braces = 0_u32;
        while !self.at(TokenKind::EndOfFile) {
            match self.bump().kind {
                TokenKind::LeftBrace => open_braces += 1,
                TokenKind::RightBrace if open_braces <= 1 => return,
                TokenKind::RightBrace => open_braces -= 1,
                _ => {}
            }
        }
    }

    /// `T name(...) { ... }` or `T(...) name;`
    fn function_or_instance(&mut self) -> Parsed<DeclarationKind> {
        let token = self.peek();
        if !self.at_function_or_instance() {
            let is_inner = matches!(
                token.keyword(),
                Some(
                    Keyword::Table
                        | Keyword::State
                        | Keyword::Apply
                        | Keyword::If
                        | Keyword::For
                        | Keyword::Switch
                        | Keyword::Return
                        | Keyword::Exit
                        | Keyword::Transition
                        | Keyword::ValueSet
                )
            );
            if is_inner {
                let text = token.text(&self.names);
                return self.misplaced(token.span, &format!("`{text}` cannot stand outside of a parser or control"));
            }
            return self.unexpected("a declaration");
        }
        let type_ref = self.type_ref()?;
        if self.at(TokenKind::LeftParen) {
            return self.instantiation(type_ref);
        }
        let after_name = self.peek_at(1).kind;
        if is_name(&self.peek()) && matches!(after_name, TokenKind::Semicolon | TokenKind::Equal) {
            let diagnostic = Diagnostic::error(
                codes::MISPLACED_DECLARATION,
                self.peek().span,
                "a variable cannot be declared outside of all parsers, controls and functions",
            )
            .help("make it a constant with `const`, or declare it where it is used");
            self.report(diagnostic);
            let kind = self.variable(type_ref)?;
            self.expect_semicolon()?;
            return Ok(kind);
        }
        self.function(type_ref)
    }

    /// Whether a type comes next that can begin a function or an instance, rather than a misplaced `state` or `apply`.
    fn at_function_or_instance(&self) -> bool {
        let token = self.peek();
        let begins_type = match token.keyword() {
            Some(keyword) => {
                super::is_name_keyword(keyword)
                    || matches!(
                        keyword,
                        Keyword::Bool
                            | Keyword::Bit
                            | Keyword::Int
                            | Keyword::Varbit
                            | Keyword::String
                            | Keyword::Tuple
                            | Keyword::Void
                            | Keyword::Error
                            | Keyword::MatchKind
                    )
            }
            None => token.kind == TokenKind::Word || token.kind == TokenKind::Dot,
        };
        let is_misplaced = matches!(token.keyword(), Some(Keyword::State | Keyword::Apply))
            && matches!(self.peek_at(1).kind, TokenKind::LeftBrace | TokenKind::Word);
        begins_type && !is_misplaced
    }

    /// `name<T>(parameters) { ... }` after the result type.
    pub(super) fn function(&mut self, return_type: Type) -> Parsed<DeclarationKind> {
        let symbol = self.peek().symbol;
        let function = self.scoped(|this| {
            let prototype = this.prototype(return_type)?;
            let body = this.block()?;
            Ok(FunctionDeclaration { prototype, body })
        })?;
        self.scopes.declare(symbol, Meaning::Object);
        Ok(DeclarationKind::Function(function))
    }

    /// `name<T>(parameters)`; type parameters and parameters are declared in the current scope.
    fn prototype(&mut self, return_type: Type) -> Parsed<FunctionPrototype> {
        let name = self.name()?;
        let type_parameters = self.type_parameters()?;
        let parameters = self.parameters()?;
        Ok(FunctionPrototype { return_type, name, type_parameters, parameters })
    }

    /// `(parameters)`, declared in the current scope.
    pub(super) fn parameters(&mut self) -> Parsed<Vec<Parameter>> {
        let open = self.expect(TokenKind::LeftParen)?.span;
        let parameters = self.separated(TokenKind::RightParen, false, Self::parameter)?;
        self.expect_close(TokenKind::RightParen, open)?;
        Ok(parameters)
    }

    fn parameter(&mut self) -> Parsed<Parameter> {
        let annotations = self.annotations()?;
        let token = self.peek();
        let direction = match token.keyword() {
            Some(Keyword::In) => Direction::In,
            Some(Keyword::Out) => Direction::Out,
            Some(Keyword::Inout) => Direction::InOut,
            _ => Direction::None,
        };
        if direction != Direction::None {
            self.bump();
        }
        let type_ref = self.type_ref()?;
        let name = self.declared_name(Meaning::Object)?;
        let default = if self.take(TokenKind::Equal) { Some(self.expression()?) } else { None };
        Ok(Parameter { annotations, direction, type_ref, name, default, span: self.span_from(token.span) })
    }

    /// `action name(...) { ... }`
    pub(super) fn action(&mut self) -> Parsed<DeclarationKind> {
        self.expect_keyword(Keyword::Action)?;
        let name = self.declared_name(Meaning::Object)?;
        let (parameters, body) = self.scoped(|this| Ok((this.parameters()?, this.block()?)))?;
        Ok(DeclarationKind::Action(ActionDeclaration { name, parameters, body }))
    }

    /// `name<T>(parameters)` of a parser, control or package. The name is declared in the enclosing scope, the
    /// parameters in the current scope, which the caller opened.
    pub(super) fn apply_type(&mut self, name: Ident) -> Parsed<ApplyType> {
        let type_parameters = self.type_parameters()?;
        let parameters = self.parameters()?;
        Ok(ApplyType { name, type_parameters, parameters })
    }

    fn package(&mut self) -> Parsed<DeclarationKind> {
        self.bump();
        let name = self.declared_name(Meaning::Type)?;
        let signature = self.scoped(|this| this.apply_type(name))?;
        self.expect_semicolon()?;
        Ok(DeclarationKind::Package(signature))
    }

    /// `struct`, `header` or `header_union`
    fn struct_declaration(&mut self) -> Parsed<DeclarationKind> {
        let kind = match self.bump().keyword() {
            Some(Keyword::Struct) => StructKind::Struct,
            Some(Keyword::Header) => StructKind::Header,
            _ => StructKind::HeaderUnion,
        };
        let name = self.declared_name(Meaning::Type)?;
        let (type_parameters, fields) = self.scoped(|this| {
            let type_parameters = this.type_parameters()?;
            let (fields, _) = this.braced(Self::struct_field)?;
            Ok((type_parameters, fields))
        })?;
        Ok(DeclarationKind::Struct(StructDeclaration { kind, name, type_parameters, fields }))
    }

    fn struct_field(&mut self) -> Parsed<StructField> {
        let annotations = self.annotations()?;
        let start = self.peek().span;
        let type_ref = self.type_ref()?;
        let name = self.name()?;
        let type_ref = self.sizes_behind_name(type_ref)?;
        let span = self.span_from(start);
        self.expect_semicolon()?;
        Ok(StructField { annotations, type_ref, name, span })
    }

    fn enum_declaration(&mut self) -> Parsed<DeclarationKind> {
        self.bump();
        let is_plain = is_name(&self.peek()) && self.peek_at(1).kind == TokenKind::LeftBrace;
        let representation = if is_plain { None } else { Some(self.type_ref()?) };
        let name = self.declared_name(Meaning::Type)?;
        let members = self.member_list(|this| {
            // The grammar does not allow annotations here, but they do no harm; they are dropped.
            this.annotations()?;
            let name = this.name()?;
            let value = if this.take(TokenKind::Equal) { Some(this.expression()?) } else { None };
            Ok(EnumMember { name, value })
        })?;
        Ok(DeclarationKind::Enum(EnumDeclaration { name, representation, members }))
    }

    /// `{ a, b }` with at least one name.
    fn identifier_list(&mut self) -> Parsed<Vec<Ident>> {
        self.member_list(Self::name)
    }

    fn member_list<T>(&mut self, element: impl FnMut(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        let open = self.expect(TokenKind::LeftBrace)?.span;
        if self.at(TokenKind::RightBrace) {
            return self.unexpected("a name");
        }
        let members = self.separated(TokenKind::RightBrace, true, element)?;
        self.expect_close(TokenKind::RightBrace, open)?;
        Ok(members)
    }

    /// `typedef T name;` or `type T name;`
    fn typedef(&mut self) -> Parsed<DeclarationKind> {
        let is_new_type = self.bump().keyword() == Some(Keyword::Type);
        let annotations = self.annotations()?;
        let start = self.peek().span;
        let declared = match self.peek().keyword() {
            Some(Keyword::Struct | Keyword::Header | Keyword::HeaderUnion) => Some(self.struct_declaration()?),
            Some(Keyword::Enum) => Some(self.enum_declaration()?),
            _ => None,
        };
        let target = match declared {
            Some(kind) => {
                let declaration = Declaration { annotations, kind, span: self.span_from(start) };
                TypedefTarget::Declaration(Box::new(declaration))
            }
            None => {
                self.refuse_annotations(&annotations)?;
                TypedefTarget::Type(self.type_ref()?)
            }
        };
        let name = self.declared_name(Meaning::Type)?;
        self.expect_semicolon()?;
        Ok(DeclarationKind::Typedef(Typedef { is_new_type, target, name }))
    }

    /// An extern object or function.
    fn extern_declaration(&mut self) -> Parsed<DeclarationKind> {
        self.bump();
        if !self.at_extern_object() {
            let symbol = self.function_name_symbol();
            let return_type = self.type_ref()?;
            let prototype = self.scoped(|this| this.prototype(return_type))?;
            if let Some(symbol) = symbol {
                self.scopes.declare(symbol, Meaning::Object);
            }
            self.expect_semicolon()?;
            return Ok(DeclarationKind::ExternFunction(prototype));
        }
        let name = self.declared_name(Meaning::Type)?;
        let (type_parameters, members) = self.scoped(|this| {
            let type_parameters = this.type_parameters()?;
            let own_name = name.name.clone();
            let (members, _) = this.braced(|this| this.extern_member(&own_name))?;
            Ok((type_parameters, members))
        })?;
        Ok(DeclarationKind::ExternObject(ExternObject { name, type_parameters, members }))
    }

    /// The symbol of the function's name after its result type.
    fn function_name_symbol(&self) -> Option<crate::token::Symbol> {
        let name = self.skip_type(self.next, TypeNames::Any)?;
        is_name(&self.token(name)).then(|| self.token(name).symbol)
    }

    /// Whether `name {` or `name<T> {` comes next.
    fn at_extern_object(&self) -> bool {
        if !is_name(&self.peek()) {
            return false;
        }
        let end = match self.peek_at(1).kind {
            TokenKind::Less => self.skip_type_arguments(self.next + 1, TypeNames::Any),
            _ => Some(self.next + 1),
        };
        end.is_some_and(|end| self.token(end).kind == TokenKind::LeftBrace)
    }

    fn extern_member(&mut self, own_name: &Name) -> Parsed<ExternMember> {
        let annotations = self.annotations()?;
        let start = self.peek().span;
        let is_own_name = self.at(TokenKind::Word) && self.names.text(self.peek().symbol) == own_name;
        let kind = if is_own_name && self.peek_at(1).kind == TokenKind::LeftParen {
            let name = self.name()?;
            ExternMemberKind::Constructor { name, parameters: self.scoped(Self::parameters)? }
        } else {
            let is_abstract = self.take_keyword(Keyword::Abstract);
            let return_type = self.type_ref()?;
            if self.at(TokenKind::LeftParen) {
                return self.wrong_constructor(return_type.span, own_name);
            }
            let prototype = self.scoped(|this| this.prototype(return_type))?;
            ExternMemberKind::Method { is_abstract, prototype }
        };
        let span = self.span_from(start);
        self.expect_semicolon()?;
        Ok(ExternMember { annotations, kind, span })
    }

    fn wrong_constructor<T>(&mut self, span: Span, own_name: &Name) -> Parsed<T> {
        let message = format!("a method has a type and a name, and the constructor is called `{own_name}`");
        self.report(Diagnostic::error(codes::UNEXPECTED_TOKEN, span, message));
        Err(Failed)
    }
}
