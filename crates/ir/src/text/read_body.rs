//! The reader of the text form: statements, places and expressions.
//!
//! The text does not repeat the types of expressions: they follow from the types of variables, fields and constants.
//! Where a type does not follow (operands of different types), the left operand's is taken, and the verifier reports
//! it.

use super::lex::TokenKind;
use super::read::{Reader, Result};
use super::{BINARY_OPERATORS, DROP_REASONS, HASHES};
use crate::*;
use base::Bits;
use base::limits::WIDTH_BITS_MAX;

/// The most slices of slices.
const SLICES_MAX: u32 = 16;

impl Reader<'_> {
    /// Statements in braces.
    pub fn body(&mut self) -> Result<Body> {
        self.nested(|reader| {
            reader.sign("{")?;
            let mut body = Vec::new();
            while !reader.take_sign("}") {
                body.push(reader.stmt()?);
            }
            Ok(body)
        })
    }

    pub fn stmt(&mut self) -> Result<Stmt> {
        let TokenKind::Word(word) = *self.peek() else { return self.expected("a statement") };
        match word {
            "if" | "switch" | "block" | "loop" => {
                self.bump();
                self.compound(word)
            }
            _ => {
                let kind = self.simple(word)?;
                Ok(Stmt { kind, span: self.span()? })
            }
        }
    }

    fn compound(&mut self, word: &str) -> Result<Stmt> {
        match word {
            "if" => {
                let cond = self.expr()?;
                let span = self.span()?;
                let then_body = self.body()?;
                let else_body = if self.take_word("else") { self.body()? } else { Vec::new() };
                Ok(Stmt { kind: StmtKind::If { cond, then_body, else_body }, span })
            }
            "switch" => {
                let value = self.expr()?;
                let span = self.span()?;
                let (cases, default) = self.cases()?;
                Ok(Stmt { kind: StmtKind::Switch { value, cases, default }, span })
            }
            "block" => {
                let label = self.id("l")?;
                let span = self.span()?;
                Ok(Stmt { kind: StmtKind::Block { label, body: self.body()? }, span })
            }
            _ => {
                let label = self.id("l")?;
                let span = self.span()?;
                Ok(Stmt { kind: StmtKind::Loop { label, body: self.body()? }, span })
            }
        }
    }

    fn cases(&mut self) -> Result<(Vec<SwitchCase>, Body)> {
        self.sign("{")?;
        let mut cases = Vec::new();
        while self.take_word("case") {
            let mut values: Vec<Bits> = vec![self.constant()?.1];
            while self.take_sign(",") {
                values.push(self.constant()?.1);
            }
            cases.push(SwitchCase { values, body: self.body()? });
        }
        self.word("default")?;
        let default = self.body()?;
        self.sign("}")?;
        Ok((cases, default))
    }

    /// A statement without a body; `word` is its first word, not yet taken.
    fn simple(&mut self, word: &str) -> Result<StmtKind> {
        if self.peek_id::<VarId>("v").is_some() || self.at_header() {
            let dst = self.place()?;
            self.sign("=")?;
            return Ok(StmtKind::Assign { dst, src: self.expr()? });
        }
        self.bump();
        Ok(match word {
            "set_valid" => StmtKind::SetValid(self.header()?),
            "set_invalid" => StmtKind::SetInvalid(self.header()?),
            "copy" => {
                let dst = self.header()?;
                self.sign("=")?;
                StmtKind::CopyHeader { dst, src: self.header()? }
            }
            "copy_varbit" => {
                let dst = self.field()?;
                self.sign("=")?;
                let src = self.field()?;
                StmtKind::CopyVarbit { dst: (dst.0, dst.1), src: (src.0, src.1) }
            }
            "set_varbit" => {
                let (header, field, _) = self.field()?;
                self.sign("=")?;
                let length_bits = self.expr()?;
                self.word("of")?;
                StmtKind::SetVarbit { dst: (header, field), length_bits, value: self.expr()? }
            }
            "push_front" => StmtKind::PushFront { stack: self.stack_id()?, count: self.number()? },
            "pop_front" => StmtKind::PopFront { stack: self.stack_id()?, count: self.number()? },
            "leave" => StmtKind::Leave(self.id("l")?),
            "apply" => self.apply()?,
            "count_lookup" => self.count_lookup()?,
            "extract" => {
                let dst = self.header()?;
                let varbit_bits = if self.take_word("varbit") { Some(self.expr()?) } else { None };
                StmtKind::Extract { dst, varbit_bits }
            }
            "advance" => StmtKind::Advance { bits: self.expr()? },
            "restart_timer" => StmtKind::SetTimer { profile: None },
            "set_timer" => StmtKind::SetTimer { profile: Some(self.expr()?) },
            "verify" => {
                let cond = self.expr()?;
                self.word("error")?;
                StmtKind::Verify { cond, error: self.expr()? }
            }
            "emit" => StmtKind::Emit(self.header()?),
            "digest" => StmtKind::Digest { digest: self.id("digest")?, values: self.list("(", ")", Self::expr)? },
            "log" => StmtKind::Log { message: self.text()?, args: self.list("(", ")", Self::expr)? },
            "send" => {
                let port = self.expr()?;
                let limit = if self.take_word("limit") { Some(self.expr()?) } else { None };
                StmtKind::Send { port, limit }
            }
            "enqueue" => {
                let port = self.expr()?;
                self.word("priority")?;
                let priority = self.expr()?;
                let keeps = if self.take_word("keeps") { Some(self.id("flist")?) } else { None };
                StmtKind::Enqueue { port, priority, keeps }
            }
            "drop" => StmtKind::Drop(self.choice(&DROP_REASONS, "where packets are dropped")?),
            "punt" => StmtKind::Punt(self.number()?),
            "assert" => StmtKind::Assert { cond: self.expr()?, text: self.text()? },
            "write" => {
                let (register, index) = (self.id("register")?, self.index()?);
                self.sign("=")?;
                StmtKind::RegisterWrite { register, index, value: self.expr()? }
            }
            "call" => match self.peek_id::<RoutineId>("routine") {
                Some(_) => StmtKind::Call(self.id("routine")?),
                None => self.extern_call()?,
            },
            "count" => StmtKind::Count { counter: self.id("counter")?, index: self.index()? },
            "lookahead" | "read" | "execute" | "execute_direct" | "hash" | "random" | "add_entry" => {
                let dst = self.place()?;
                self.sign("=")?;
                self.with_result(word, dst)?
            }
            _ => {
                self.unbump();
                return self.expected("a statement");
            }
        })
    }

    /// A table's application, after the first word.
    fn apply(&mut self) -> Result<StmtKind> {
        let table = self.id("table")?;
        let hit = if self.take_word("hit") { Some(self.var_id()?) } else { None };
        let action = if self.take_word("action") { Some(self.var_id()?) } else { None };
        Ok(StmtKind::ApplyTable { table, hit, action })
    }

    /// A count of a lookup, after the first word.
    fn count_lookup(&mut self) -> Result<StmtKind> {
        let table = self.id("table")?;
        self.word("hit")?;
        let hit = self.expr()?;
        self.word("entry")?;
        Ok(StmtKind::CountLookup { table, hit, entry: self.expr()? })
    }

    /// A call of an extern function or method, after the first word.
    fn extern_call(&mut self) -> Result<StmtKind> {
        let has_result = self.peek_id::<ExternFunctionId>("xfunction").is_none();
        let dst = if has_result { Some(self.place()?) } else { None };
        if has_result {
            self.sign("=")?;
        }
        let function = self.id("xfunction")?;
        let instance = if self.take_word("of") { Some(self.id("xinstance")?) } else { None };
        Ok(StmtKind::CallExtern { dst, function, instance, inputs: self.list("(", ")", Self::expr)? })
    }

    /// A statement that writes its result to `dst`, from the `=` on.
    fn with_result(&mut self, word: &str, dst: Place) -> Result<StmtKind> {
        Ok(match word {
            "lookahead" => {
                let offset_bits = self.number()?;
                let checked = self.take_word("checked");
                if !checked {
                    self.word("unchecked")?;
                }
                StmtKind::Lookahead { dst, offset_bits, checked }
            }
            "read" => StmtKind::RegisterRead { dst, register: self.id("register")?, index: self.index()? },
            "execute" => {
                let (meter, index) = (self.id("meter")?, self.index()?);
                StmtKind::ExecuteMeter { dst, meter, index, before: self.colour_before()? }
            }
            "execute_direct" => {
                let meter = self.id("dmeter")?;
                StmtKind::ExecuteDirectMeter { dst, meter, before: self.colour_before()? }
            }
            "add_entry" => {
                let table = self.id("table")?;
                let keys = self.list("(", ")", Self::expr)?;
                let (action, args) = (self.number()?, self.list("(", ")", Self::expr)?);
                self.word("timer")?;
                StmtKind::AddEntry { dst, table, keys, action, args, profile: self.expr()? }
            }
            "hash" => {
                let algorithm = self.algorithm()?;
                let inputs = self.list("(", ")", Self::hash_input)?;
                StmtKind::Hash { dst, algorithm, inputs, payload: self.take_word("payload") }
            }
            _ => {
                let low = self.expr()?;
                self.sign("..")?;
                StmtKind::Random { dst, low, high: self.expr()? }
            }
        })
    }

    pub fn algorithm(&mut self) -> Result<HashAlgorithm> {
        match self.peek_id::<CalculationId>("calculation") {
            Some(_) => Ok(HashAlgorithm::Custom(self.id("calculation")?)),
            None if self.take_word("continue") => Ok(HashAlgorithm::Continued(self.id("calculation")?)),
            None if self.take_word("remainder") => {
                Ok(HashAlgorithm::Remainder { width_bits: self.number()?, polynomial: self.number()? })
            }
            None => self.choice(&HASHES, "a hash function"),
        }
    }

    pub fn hash_input(&mut self) -> Result<HashInput> {
        let value = if self.take_word("varbit") {
            let header = self.header()?;
            self.sign(".")?;
            HashValue::Varbit(header, self.number()?)
        } else {
            HashValue::Expr(self.expr()?)
        };
        let guard = if self.take_word("if") { Some(self.header()?) } else { None };
        Ok(HashInput { guard, value })
    }

    /// The colour that a packet has before a meter: green unless it is given.
    fn colour_before(&mut self) -> Result<Expr> {
        if self.take_word("after") { self.expr() } else { Ok(Expr::bit(2, 0)) }
    }

    fn index(&mut self) -> Result<Expr> {
        self.sign("[")?;
        let index = self.expr()?;
        self.sign("]")?;
        Ok(index)
    }

    fn var_id(&mut self) -> Result<VarId> {
        self.known("v", |program, id| program.vars.get(id).is_some())
    }

    fn stack_id(&mut self) -> Result<StackId> {
        self.known("stack", |program, id| program.stacks.get(id).is_some())
    }

    fn at_header(&self) -> bool {
        self.peek_id::<HeaderId>("h").is_some() || self.peek_id::<StackId>("stack").is_some()
    }

    fn header(&mut self) -> Result<HeaderRef> {
        if self.peek_id::<HeaderId>("h").is_some() {
            return self.header_id().map(HeaderRef::Fixed);
        }
        if self.peek_id::<StackId>("stack").is_none() {
            return self.expected("a header");
        }
        let stack = self.stack_id()?;
        if self.take_sign("[") {
            let index = Box::new(self.expr()?);
            self.sign("]")?;
            return Ok(HeaderRef::Element { stack, index });
        }
        self.sign(".")?;
        if self.take_word("next") {
            Ok(HeaderRef::Next(stack))
        } else {
            self.word("last")?;
            Ok(HeaderRef::Last(stack))
        }
    }

    fn field_in_parentheses(&mut self) -> Result<(HeaderRef, u32, Type)> {
        self.sign("(")?;
        let field = self.field()?;
        self.sign(")")?;
        Ok(field)
    }

    /// A header's field and its type; a varbit field, which the verifier rejects, reads as `bit` of its greatest width.
    fn field(&mut self) -> Result<(HeaderRef, u32, Type)> {
        let header = self.header()?;
        self.sign(".")?;
        let field: u32 = self.number()?;
        let ty = match self.program.header_type(&header).fields.get(field as usize).map(|field| field.ty) {
            Some(FieldType::Fixed(ty)) => ty,
            Some(FieldType::Varbit(max)) => Type::Bit(max),
            None => return self.error(format!("the header has no field {field}")),
        };
        Ok((header, field, ty))
    }

    pub fn place(&mut self) -> Result<Place> {
        let mut place = if self.at_header() {
            let (header, field, _) = self.field()?;
            Place::Field(header, field)
        } else {
            Place::Var(self.var_id()?)
        };
        let mut slices = 0;
        while self.take_sign("[") {
            let (high, low) = self.slice()?;
            place = Place::Slice { base: Box::new(place), high, low };
            slices += 1;
            if slices > SLICES_MAX {
                return self.error(format!("more than {SLICES_MAX} slices of one another"));
            }
        }
        Ok(place)
    }

    /// The rest of `[high:low]`.
    fn slice(&mut self) -> Result<(u32, u32)> {
        let high: u32 = self.number()?;
        self.sign(":")?;
        let low: u32 = self.number()?;
        self.sign("]")?;
        if low > high || high >= WIDTH_BITS_MAX { self.error("a slice that no value has") } else { Ok((high, low)) }
    }

    pub fn expr(&mut self) -> Result<Expr> {
        self.nested(|reader| {
            let mut expr = reader.primary()?;
            let mut slices = 0;
            while reader.take_sign("[") {
                let (high, low) = reader.slice()?;
                slices += 1;
                if slices > SLICES_MAX {
                    return reader.error(format!("more than {SLICES_MAX} slices of one another"));
                }
                let base = Box::new(expr);
                expr = Expr { kind: ExprKind::Slice { base, high, low }, ty: Type::Bit(high - low + 1) };
            }
            Ok(expr)
        })
    }

    fn primary(&mut self) -> Result<Expr> {
        match *self.peek() {
            TokenKind::Number(_) => {
                let (ty, value) = self.constant()?;
                Ok(Expr { kind: ExprKind::Const(value), ty })
            }
            TokenKind::Sign("(") => {
                self.bump();
                let expr = self.parenthesised()?;
                self.sign(")")?;
                Ok(expr)
            }
            TokenKind::Sign("-") => self.unary(UnaryOp::Neg),
            TokenKind::Sign("~") => self.unary(UnaryOp::BitNot),
            TokenKind::Sign("!") => self.unary(UnaryOp::Not),
            TokenKind::Word(_) => self.named(),
            _ => self.expected("an expression"),
        }
    }

    fn unary(&mut self, op: UnaryOp) -> Result<Expr> {
        self.bump();
        Ok(Expr::unary(op, self.expr()?))
    }

    fn parenthesised(&mut self) -> Result<Expr> {
        let left = self.expr()?;
        if self.take_sign("?") {
            let yes = self.expr()?;
            self.sign(":")?;
            let no = self.expr()?;
            let ty = yes.ty;
            return Ok(Expr { kind: ExprKind::Mux(Box::new(left), Box::new(yes), Box::new(no)), ty });
        }
        if self.take_sign("++") {
            let right = self.expr()?;
            let width = left.ty.width().saturating_add(right.ty.width());
            let ty = if left.ty.is_signed() { Type::Int(width) } else { Type::Bit(width) };
            return Ok(Expr { kind: ExprKind::Concat(Box::new(left), Box::new(right)), ty });
        }
        let TokenKind::Sign(sign) = *self.peek() else { return self.expected("an operator") };
        match super::value_of(&BINARY_OPERATORS, sign) {
            Some(op) => {
                self.bump();
                Ok(Expr::binary(op, left, self.expr()?))
            }
            // Parentheses around an operand of a slice.
            None => Ok(left),
        }
    }

    fn named(&mut self) -> Result<Expr> {
        if self.peek_id::<VarId>("v").is_some() {
            let var = self.var_id()?;
            return Ok(Expr { kind: ExprKind::Var(var), ty: self.program.vars[var].ty });
        }
        if self.at_header() {
            let (header, field, ty) = self.field()?;
            return Ok(Expr { kind: ExprKind::Field(header, field), ty });
        }
        if self.take_word("true") {
            return Ok(Expr::bool(true));
        }
        if self.take_word("false") {
            return Ok(Expr::bool(false));
        }
        if self.take_word("packet_length") {
            return Ok(Expr { kind: ExprKind::PacketLength, ty: Type::Bit(32) });
        }
        if self.take_word("varbit_length") {
            let (header, field, _) = self.field_in_parentheses()?;
            return Ok(Expr { kind: ExprKind::VarbitLength(header, field), ty: Type::Bit(32) });
        }
        if self.take_word("varbit_bits") {
            let (header, field, ty) = self.field_in_parentheses()?;
            return Ok(Expr { kind: ExprKind::VarbitBits(header, field), ty });
        }
        if self.take_word("varbit_equal") {
            self.sign("(")?;
            let left = self.field()?;
            self.sign(",")?;
            let right = self.field()?;
            self.sign(")")?;
            return Ok(Expr { kind: ExprKind::VarbitEqual((left.0, left.1), (right.0, right.1)), ty: Type::Bool });
        }
        if self.take_word("valid") {
            self.sign("(")?;
            let header = self.header()?;
            self.sign(")")?;
            return Ok(Expr { kind: ExprKind::IsValid(header), ty: Type::Bool });
        }
        match self.take_ty()? {
            Some(ty) => {
                self.sign("(")?;
                let operand = Box::new(self.expr()?);
                self.sign(")")?;
                Ok(Expr { kind: ExprKind::Cast(operand), ty })
            }
            None => self.expected("an expression"),
        }
    }
}
