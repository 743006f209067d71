//! The reader of the text form: declarations, tables, blocks. Statements and expressions are in `read_body`.

use super::lex::{Token, TokenKind, tokens};
use super::{DIRECTIONS, EXTERN_KINDS, ParseError, UNITS, match_kinds, value_of};
use crate::*;
use base::index::Id;
use base::limits::{LOWERED_NESTING_MAX, WIDTH_BITS_MAX};
use base::{Bits, FieldMatch, IndexVec, MatchKind, Span};
use num_bigint::BigInt;

/// Reads a program.
pub fn parse(text: &str) -> Result<Program> {
    let program = Program::new(&v1model::ARCHITECTURE);
    let mut reader = Reader { tokens: tokens(text)?, position: 0, nesting: 0, program };
    reader.program()?;
    Ok(reader.program)
}

pub(super) type Result<T> = std::result::Result<T, ParseError>;

pub(super) struct Reader<'t> {
    tokens: Vec<Token<'t>>,
    position: usize,
    nesting: u32,
    pub program: Program,
}

impl<'t> Reader<'t> {
    // --- tokens

    pub fn peek(&self) -> &TokenKind<'t> {
        &self.tokens[self.position].kind
    }

    /// Steps over a token; never over the last.
    pub fn bump(&mut self) {
        self.position = (self.position + 1).min(self.tokens.len() - 1);
    }

    /// Back to the token before.
    pub fn unbump(&mut self) {
        self.position = self.position.saturating_sub(1);
    }

    pub fn error<T>(&self, message: impl Into<String>) -> Result<T> {
        let Token { line, column, .. } = self.tokens[self.position];
        Err(ParseError { line, column, message: message.into() })
    }

    pub fn expected<T>(&self, what: &str) -> Result<T> {
        let found = match self.peek() {
            TokenKind::Word(word) | TokenKind::Number(word) => format!("'{word}'"),
            TokenKind::Text(_) => "a text".into(),
            TokenKind::Sign(sign) => format!("'{sign}'"),
            TokenKind::End => "the end".into(),
        };
        self.error(format!("expected {what}, found {found}"))
    }

    pub fn take_sign(&mut self, sign: &str) -> bool {
        let found = matches!(self.peek(), TokenKind::Sign(found) if *found == sign);
        if found {
            self.bump();
        }
        found
    }

    pub fn sign(&mut self, sign: &str) -> Result<()> {
        if self.take_sign(sign) { Ok(()) } else { self.expected(&format!("'{sign}'")) }
    }

    pub fn take_word(&mut self, word: &str) -> bool {
        let found = matches!(self.peek(), TokenKind::Word(found) if *found == word);
        if found {
            self.bump();
        }
        found
    }

    pub fn word(&mut self, word: &str) -> Result<()> {
        if self.take_word(word) { Ok(()) } else { self.expected(&format!("'{word}'")) }
    }

    /// A word from a table of words.
    pub fn choice<T: Copy>(&mut self, table: &[(&'static str, T)], what: &str) -> Result<T> {
        match self.peek() {
            TokenKind::Word(word) => match value_of(table, word) {
                Some(value) => {
                    self.bump();
                    Ok(value)
                }
                None => self.expected(what),
            },
            _ => self.expected(what),
        }
    }

    pub fn text(&mut self) -> Result<String> {
        match self.peek() {
            TokenKind::Text(text) => {
                let text = text.clone();
                self.bump();
                Ok(text)
            }
            _ => self.expected("a text in quotes"),
        }
    }

    pub fn number<T: std::str::FromStr>(&mut self) -> Result<T> {
        match self.peek() {
            TokenKind::Number(digits) => match digits.parse() {
                Ok(number) => {
                    self.bump();
                    Ok(number)
                }
                Err(_) => self.error(format!("'{digits}' is not a number that fits here")),
            },
            _ => self.expected("a number"),
        }
    }

    /// The number of an entity whose kind is written `prefix`.
    pub fn id<I: Id>(&mut self, prefix: &str) -> Result<I> {
        match self.peek_id(prefix) {
            Some(id) => {
                self.bump();
                Ok(id)
            }
            None => self.expected(&format!("'{prefix}' and its number")),
        }
    }

    pub fn peek_id<I: Id>(&self, prefix: &str) -> Option<I> {
        let TokenKind::Word(word) = self.peek() else { return None };
        let digits = word.strip_prefix(prefix)?;
        let plain = digits.bytes().all(|byte| byte.is_ascii_digit()) && (digits == "0" || !digits.starts_with('0'));
        let number: u32 = if plain { digits.parse().ok()? } else { return None };
        Some(I::from_index(number as usize))
    }

    /// The number of an entity that must be declared before, because types follow from it.
    pub fn known<I: Id + std::fmt::Display>(&mut self, prefix: &str, known: fn(&Program, I) -> bool) -> Result<I> {
        match self.peek_id(prefix) {
            Some(id) if !known(&self.program, id) => self.error(format!("{id} is not declared")),
            _ => self.id(prefix),
        }
    }

    pub fn header_id(&mut self) -> Result<HeaderId> {
        self.known("h", |program, id| program.headers.get(id).is_some())
    }

    /// Items between signs, separated by commas.
    pub fn list<T>(&mut self, open: &str, close: &str, item: impl Fn(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        self.sign(open)?;
        let mut items = Vec::new();
        while !self.take_sign(close) {
            if !items.is_empty() {
                self.sign(",")?;
            }
            items.push(item(self)?);
        }
        Ok(items)
    }

    pub fn span(&mut self) -> Result<Span> {
        if !self.take_sign("@") {
            return Ok(Span::NONE);
        }
        let lo = self.number()?;
        self.sign("..")?;
        let hi = self.number()?;
        if lo > hi { self.error("a source range that runs backwards") } else { Ok(Span::new(lo, hi)) }
    }

    /// Runs `inner` one level deeper.
    pub fn nested<T>(&mut self, inner: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.nesting >= LOWERED_NESTING_MAX {
            return self.error(format!("nested more than {LOWERED_NESTING_MAX} deep"));
        }
        self.nesting += 1;
        let result = inner(self);
        self.nesting -= 1;
        result
    }

    // --- types and constants

    /// A width between angle brackets.
    fn width(&mut self) -> Result<u32> {
        self.sign("<")?;
        let width = self.number()?;
        if width > WIDTH_BITS_MAX {
            return self.error(format!("a width of {width} bits; the most is {WIDTH_BITS_MAX}"));
        }
        self.sign(">")?;
        Ok(width)
    }

    /// A type, if there is one here.
    pub fn take_ty(&mut self) -> Result<Option<Type>> {
        Ok(if self.take_word("bool") {
            Some(Type::Bool)
        } else if self.take_word("bit") {
            Some(Type::Bit(self.width()?))
        } else if self.take_word("int") {
            Some(Type::Int(self.width()?))
        } else {
            None
        })
    }

    fn ty(&mut self) -> Result<Type> {
        match self.take_ty()? {
            Some(ty) => Ok(ty),
            None => self.expected("a type"),
        }
    }

    /// `8w0xff` or `8s0xff`.
    pub fn constant(&mut self) -> Result<(Type, Bits)> {
        let TokenKind::Number(text) = *self.peek() else { return self.expected("a constant") };
        let parsed = text.find(['w', 's']).and_then(|position| {
            let width: u32 = text[..position].parse().ok().filter(|width| *width <= WIDTH_BITS_MAX)?;
            let digits = text[position + 1..].strip_prefix("0x")?;
            // Digits are checked here, as the number parser takes signs and underscores too.
            let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
            let long = digits.len() > WIDTH_BITS_MAX as usize / 4 + 1;
            let value = (plain && !long).then(|| BigInt::parse_bytes(digits.as_bytes(), 16)).flatten()?;
            let ty = if text.as_bytes()[position] == b'w' { Type::Bit(width) } else { Type::Int(width) };
            (value.bits() <= u64::from(width)).then(|| (ty, Bits::from_bigint(width, &value)))
        });
        match parsed {
            Some(constant) => {
                self.bump();
                Ok(constant)
            }
            None => self.error(format!("'{text}' is not a constant such as 8w0xff whose value fits its width")),
        }
    }

    /// A constant's bits alone.
    fn bits(&mut self) -> Result<Bits> {
        Ok(self.constant()?.1)
    }

    // --- declarations

    fn program(&mut self) -> Result<()> {
        self.word("program")?;
        let architectures = architecture::ALL.map(|it| (it.name, it));
        self.program.architecture = self.choice(&architectures, "an architecture")?;
        if self.take_word("drop_port") {
            self.program.drop_port = self.number()?;
        }
        if self.take_word("host_ports") {
            self.program.host_ports = self.list("(", ")", Self::port_range)?;
        }
        self.word("errors")?;
        while let TokenKind::Text(name) = self.peek() {
            let name = name.clone();
            self.program.errors.push(name);
            self.bump();
        }
        self.word("labels")?;
        self.program.labels = self.number()?;
        while *self.peek() != TokenKind::End {
            self.declaration()?;
        }
        Ok(())
    }

    /// Steps over the number of the entity that is declared, which must be the next of its kind.
    fn declared<I: Id + std::fmt::Display>(&mut self, prefix: &str, next: I) -> Result<bool> {
        match self.peek_id::<I>(prefix) {
            None => Ok(false),
            Some(id) if id == next => {
                self.bump();
                Ok(true)
            }
            Some(id) => self.error(format!("{id} is declared out of order: {next} is next")),
        }
    }

    fn declaration(&mut self) -> Result<()> {
        if self.declared("v", self.program.vars.next_id())? {
            return self.var();
        }
        if self.declared("ht", self.program.header_types.next_id())? {
            return self.header_type();
        }
        if self.declared("h", self.program.headers.next_id())? {
            return self.header_instance();
        }
        if self.declared("stack", self.program.stacks.next_id())? {
            return self.stack();
        }
        if self.declared("routine", self.program.routines.next_id())? {
            return self.routine();
        }
        if self.declared("action", self.program.actions.next_id())? {
            return self.action();
        }
        if self.declared("table", self.program.tables.next_id())? {
            return self.table();
        }
        if self.declared("block", self.program.blocks.next_id())? {
            return self.block();
        }
        if self.declared("point", self.program.decisions.next_id())? {
            let decisions = self.body()?;
            self.program.decisions.push(decisions);
            return Ok(());
        }
        self.extern_instance()
    }

    fn var(&mut self) -> Result<()> {
        let (name, ty) = (self.text()?, self.ty()?);
        let kind = if self.take_word("intrinsic") {
            VarKind::Intrinsic(self.number()?)
        } else if self.take_word("metadata") {
            VarKind::Metadata
        } else {
            self.word("local")?;
            VarKind::Local
        };
        self.program.vars.push(Var { name, ty, kind });
        Ok(())
    }

    fn header_type(&mut self) -> Result<()> {
        let name = self.text()?;
        self.sign("{")?;
        let mut fields = Vec::new();
        while !self.take_sign("}") {
            let name = self.text()?;
            let ty =
                if self.take_word("varbit") { FieldType::Varbit(self.width()?) } else { FieldType::Fixed(self.ty()?) };
            fields.push(HeaderField { name, ty });
        }
        self.program.header_types.push(HeaderType { name, fields });
        Ok(())
    }

    fn header_instance(&mut self) -> Result<()> {
        let name = self.text()?;
        let ty = self.known("ht", |program, id| program.header_types.get(id).is_some())?;
        let metadata = self.take_word("metadata");
        if !metadata {
            self.word("local")?;
        }
        self.program.headers.push(Header { name, ty, metadata });
        Ok(())
    }

    fn stack(&mut self) -> Result<()> {
        let name = self.text()?;
        let elements = self.list("[", "]", Self::header_id)?;
        if elements.is_empty() {
            return self.error("a stack without elements");
        }
        self.word("next")?;
        let next = self.id("v")?;
        self.program.stacks.push(Stack { name, elements, next });
        Ok(())
    }

    fn extern_instance(&mut self) -> Result<()> {
        if self.declared("register", self.program.registers.next_id())? {
            let (name, ty) = (self.text()?, self.ty()?);
            let size = self.size()?;
            let initial = if self.take_word("initial") { self.bits()? } else { Bits::zero(ty.width()) };
            let is_start_number = self.take_word("start_number");
            let parts_bits = match self.take_word("parts") {
                true => self.list("[", "]", Self::number)?,
                false => vec![ty.width()],
            };
            self.program.registers.push(Register { name, ty, parts_bits, size, initial, is_start_number });
        } else if self.declared("counter", self.program.counters.next_id())? {
            let (name, unit, size) = (self.text()?, self.unit()?, self.size()?);
            self.program.counters.push(Counter { name, unit, size });
        } else if self.declared("meter", self.program.meters.next_id())? {
            let (name, unit, size) = (self.text()?, self.unit()?, self.size()?);
            self.program.meters.push(Meter { name, unit, size });
        } else if self.declared("dcounter", self.program.direct_counters.next_id())? {
            let (name, unit) = (self.text()?, self.unit()?);
            self.program.direct_counters.push(DirectCounter { name, unit });
        } else if self.declared("dmeter", self.program.direct_meters.next_id())? {
            let (name, unit) = (self.text()?, self.unit()?);
            self.program.direct_meters.push(DirectMeter { name, unit });
        } else if self.declared("digest", self.program.digests.next_id())? {
            let name = self.text()?;
            self.word("receiver")?;
            let receiver = self.number()?;
            let fields = self.list("(", ")", |reader| Ok((reader.text()?, reader.ty()?)))?;
            self.program.digests.push(Digest { name, receiver, fields });
        } else if self.declared("vset", self.program.value_sets.next_id())? {
            let (name, size) = (self.text()?, self.size()?);
            let keys = self.list("(", ")", |reader| {
                Ok((reader.text()?, reader.number()?, reader.choice(&match_kinds(), "a match kind")?))
            })?;
            self.program.value_sets.push(ValueSet { name, keys, size });
        } else if self.declared("flist", self.program.field_lists.next_id())? {
            self.word("number")?;
            let number = self.number()?;
            let vars = self.list("[", "]", |reader| reader.id("v"))?;
            let span = self.span()?;
            self.program.field_lists.push(FieldList { number, vars, span });
        } else if self.declared("calculation", self.program.calculations.next_id())? {
            let name = self.text()?;
            self.word("crc")?;
            let width_bits = self.number()?;
            self.program.calculations.push(Calculation { name, width_bits });
        } else if self.declared("profile", self.program.action_profiles.next_id())? {
            let (name, size) = (self.text()?, self.size()?);
            let selector = if self.take_word("selector") { Some(self.algorithm()?) } else { None };
            self.program.action_profiles.push(ActionProfile { name, size, selector });
        } else if self.declared("xfunction", self.program.extern_functions.next_id())? {
            self.extern_function()?;
        } else if self.declared("xinstance", self.program.extern_instances.next_id())? {
            let (name, constructor) = (self.text()?, self.id("xfunction")?);
            let args = self.list("(", ")", Self::bits)?;
            self.program.extern_instances.push(ExternInstance { name, constructor, args });
        } else {
            return self.expected("a declaration");
        }
        Ok(())
    }

    fn extern_function(&mut self) -> Result<()> {
        let symbol = self.text()?;
        let kind = self.choice(&EXTERN_KINDS, "'function', 'constructor' or 'method'")?;
        let is_pure = self.take_word("pure");
        let params = self.list("(", ")", Self::extern_param)?;
        let result = if self.take_word("returns") { Some(self.ty()?) } else { None };
        let span = self.span()?;
        self.program.extern_functions.push(ExternFunction { symbol, kind, params, result, is_pure, span });
        Ok(())
    }

    fn extern_param(&mut self) -> Result<ExternParam> {
        let direction = self.choice(&DIRECTIONS, "'in', 'out' or 'inout'")?;
        let name = self.text()?;
        let ty = if self.take_word("text") {
            ExternType::Text(self.text()?)
        } else if self.peek_id::<ExternInstanceId>("xinstance").is_some() {
            ExternType::Object(self.id("xinstance")?)
        } else {
            ExternType::Value(self.ty()?)
        };
        Ok(ExternParam { name, direction, ty })
    }

    fn size(&mut self) -> Result<u64> {
        self.word("size")?;
        self.number()
    }

    fn unit(&mut self) -> Result<Unit> {
        self.choice(&UNITS, "'packets', 'bytes' or 'packets_and_bytes'")
    }

    fn routine(&mut self) -> Result<()> {
        let name = self.text()?;
        let span = self.span()?;
        let body = self.body()?;
        self.program.routines.push(Routine { name, body, span });
        Ok(())
    }

    fn action(&mut self) -> Result<()> {
        let name = self.text()?;
        let params = self.list("(", ")", |reader| reader.id("v"))?;
        let empty_params = match self.take_word("empty") {
            true => {
                self.list("(", ")", |reader| Ok(EmptyParam { position: reader.number()?, name: reader.text()? }))?
            }
            false => Vec::new(),
        };
        let span = self.span()?;
        let body = self.body()?;
        self.program.actions.push(Action { name, params, empty_params, body, span });
        Ok(())
    }

    fn port_range(&mut self) -> Result<(u32, u32)> {
        let first = self.number()?;
        self.sign("..")?;
        Ok((first, self.number()?))
    }

    // --- tables

    fn table(&mut self) -> Result<()> {
        let name = self.text()?;
        let size = self.size()?;
        let mut table = Table {
            name,
            keys: Vec::new(),
            actions: Vec::new(),
            entries: Vec::new(),
            const_entries: false,
            default_action: ActionCall { action: 0, args: Vec::new() },
            const_default: false,
            size,
            direct_counters: Vec::new(),
            direct_meter: None,
            implementation: None,
            support_timeout: false,
            expires: false,
            adds_on_miss: false,
            span: self.span()?,
        };
        self.sign("{")?;
        let mut has_default = false;
        while !self.take_sign("}") {
            if self.take_word("const") {
                table.const_default = true;
                self.word("default")?;
                table.default_action = self.call()?;
                has_default = true;
            } else if self.take_word("default") {
                table.default_action = self.call()?;
                has_default = true;
            } else {
                self.table_line(&mut table)?;
            }
        }
        if !has_default {
            return self.error("a table without a default action");
        }
        self.program.tables.push(table);
        Ok(())
    }

    fn table_line(&mut self, table: &mut Table) -> Result<()> {
        if self.take_word("key") {
            let name = self.text()?;
            let kind = self.choice(&match_kinds(), "a match kind")?;
            let expr = self.expr()?;
            table.keys.push(Key { name, expr, kind });
        } else if self.take_word("action") {
            let action = self.id("action")?;
            let table_only = self.take_word("table_only");
            let default_only = self.take_word("default_only");
            table.actions.push(TableAction { action, table_only, default_only });
        } else if self.take_word("entry") {
            let is_const = self.take_word("const");
            let key = self.list("(", ")", Self::entry_key)?;
            self.word("priority")?;
            let minus = self.take_sign("-");
            let magnitude: i64 = self.number()?;
            let Ok(priority) = i32::try_from(if minus { -magnitude } else { magnitude }) else {
                return self.error("a priority that does not fit 32 bits");
            };
            let (call, span) = (self.call()?, self.span()?);
            table.entries.push(Entry { key, priority, is_const, call, span });
        } else if self.take_word("const_entries") {
            table.const_entries = true;
        } else if self.take_word("support_timeout") {
            table.support_timeout = true;
        } else if self.take_word("expires") {
            table.expires = true;
        } else if self.take_word("adds_on_miss") {
            table.adds_on_miss = true;
        } else if self.take_word("direct_counter") {
            table.direct_counters.push(self.id("dcounter")?);
        } else if self.take_word("direct_meter") {
            let meter = self.id("dmeter")?;
            let place = if self.take_word("into") { Some(self.place()?) } else { None };
            table.direct_meter = Some((meter, place));
        } else if self.take_word("implementation") {
            let profile = self.id("profile")?;
            let inputs = self.list("(", ")", Self::hash_input)?;
            table.implementation = Some(Implementation { profile, inputs });
        } else {
            return self.expected("a line of a table");
        }
        Ok(())
    }

    fn call(&mut self) -> Result<ActionCall> {
        Ok(ActionCall { action: self.number()?, args: self.list("(", ")", Self::bits)? })
    }

    fn entry_key(&mut self) -> Result<FieldMatch> {
        Ok(match self.choice(&match_kinds(), "a match kind")? {
            MatchKind::Exact => FieldMatch::Exact(self.bits()?),
            MatchKind::Lpm => {
                let value = self.bits()?;
                self.sign("/")?;
                FieldMatch::Lpm { value, prefix_len: self.number()? }
            }
            MatchKind::Ternary => {
                let value = self.bits()?;
                self.sign("&&&")?;
                FieldMatch::Ternary { value, mask: self.bits()? }
            }
            MatchKind::Range => {
                let low = self.bits()?;
                self.sign("..")?;
                FieldMatch::Range { low, high: self.bits()? }
            }
            MatchKind::Optional if self.take_word("any") => FieldMatch::Optional(None),
            MatchKind::Optional => FieldMatch::Optional(Some(self.bits()?)),
        })
    }

    // --- blocks

    fn block(&mut self) -> Result<()> {
        let name = self.text()?;
        let block = if self.take_word("parser") {
            self.word("start")?;
            let start = self.id("state")?;
            self.word("error")?;
            let error = self.id("v")?;
            let exit = self.exit()?;
            self.sign("{")?;
            let mut states = IndexVec::new();
            while !self.take_sign("}") {
                if !self.declared("state", states.next_id())? {
                    return self.expected("a state");
                }
                let state = self.state()?;
                states.push(state);
            }
            Block { name, kind: BlockKind::Parser { start, states, error }, exit }
        } else {
            self.word("control")?;
            let exit = self.exit()?;
            Block { name, kind: BlockKind::Control { body: self.body()? }, exit }
        };
        self.program.blocks.push(block);
        Ok(())
    }

    fn exit(&mut self) -> Result<Option<LabelId>> {
        if self.take_word("exit") { self.id("l").map(Some) } else { Ok(None) }
    }

    fn state(&mut self) -> Result<ParserState> {
        let (name, span) = (self.text()?, self.span()?);
        self.sign("{")?;
        let mut body = Vec::new();
        let transition = loop {
            if self.take_word("goto") {
                break Transition::Goto(self.target()?);
            }
            if self.take_word("select") {
                break self.select()?;
            }
            body.push(self.stmt()?);
        };
        self.sign("}")?;
        Ok(ParserState { name, body, transition, span })
    }

    fn select(&mut self) -> Result<Transition> {
        let keys = self.list("(", ")", Self::expr)?;
        self.sign("{")?;
        let mut cases = Vec::new();
        while !self.take_sign("}") {
            self.word("case")?;
            let sets = self.list("(", ")", Self::key_set)?;
            self.sign(":")?;
            let (target, span) = (self.target()?, self.span()?);
            cases.push(SelectCase { sets, target, span });
        }
        Ok(Transition::Select { keys, cases })
    }

    fn target(&mut self) -> Result<Target> {
        if self.take_word("accept") {
            Ok(Target::Accept)
        } else if self.take_word("reject") {
            Ok(Target::Reject)
        } else {
            self.id("state").map(Target::State)
        }
    }

    fn key_set(&mut self) -> Result<KeySet> {
        if self.take_word("any") {
            return Ok(KeySet::Any);
        }
        if let Some(set) = self.peek_id("vset") {
            self.bump();
            return Ok(KeySet::ValueSet(set));
        }
        let first = self.expr()?;
        Ok(if self.take_sign("&&&") {
            KeySet::Mask(first, self.expr()?)
        } else if self.take_sign("..") {
            KeySet::Range(first, self.expr()?)
        } else {
            KeySet::Value(first)
        })
    }
}
