//! Reads units.

use super::lex::{Token, tokens};
use super::print::arrival;
use super::{ASSIGNMENTS, BINARY, CHAINS, ENV, UNARY};
use crate::{Arrival, Entry, Expr, Found, Node, Stage, StatePart, Stmt, Type, Unit, Var, Variable};
use base::index::Id as _;
use base::{OrderedMap, OrderedSet};
use ir::{HeaderId, LabelId, TableId, VarId};

/// Why a text is not that of a unit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReadError {
    /// The line, from 1.
    pub line: usize,
    /// What was expected there.
    pub expected: String,
}

impl std::fmt::Display for ReadError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "line {}: expected {}", self.line, self.expected)
    }
}

impl std::error::Error for ReadError {}

type Result<T> = std::result::Result<T, ReadError>;

/// How deep statements and expressions may nest.
const NESTING_MAX: u32 = 100;

/// The unit that a text describes. It is not verified.
pub fn read(text: &str) -> Result<Unit> {
    let tokens = tokens(text).map_err(|line| ReadError { line, expected: "a word, a number or a sign".into() })?;
    let mut reader = Reader { tokens, at: 0, names: OrderedMap::new(), depth: 0 };
    reader.unit()
}

struct Reader {
    tokens: Vec<(Token, usize)>,
    at: usize,
    /// The state of each name.
    names: OrderedMap<String, StatePart>,
    depth: u32,
}

impl Reader {
    fn error<T>(&self, expected: impl Into<String>) -> Result<T> {
        let line = self.tokens.get(self.at).or(self.tokens.last()).map_or(1, |(_, line)| *line);
        Err(ReadError { line, expected: expected.into() })
    }

    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at).map(|(token, _)| token)
    }

    fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(), Some(Token::Word(it)) if it == word)
    }

    fn is_sign(&self, sign: &str) -> bool {
        matches!(self.peek(), Some(Token::Sign(it)) if *it == sign)
    }

    /// Skips a word if it comes next.
    fn word_if(&mut self, word: &str) -> bool {
        let is_next = self.is_word(word);
        self.at += usize::from(is_next);
        is_next
    }

    fn sign_if(&mut self, sign: &str) -> bool {
        let is_next = self.is_sign(sign);
        self.at += usize::from(is_next);
        is_next
    }

    fn sign(&mut self, sign: &str) -> Result<()> {
        if self.sign_if(sign) { Ok(()) } else { self.error(format!("`{sign}`")) }
    }

    fn any_word(&mut self) -> Result<String> {
        let Some(Token::Word(word)) = self.peek() else { return self.error("a name") };
        let word = word.clone();
        self.at += 1;
        Ok(word)
    }

    fn keyword(&mut self, word: &str) -> Result<()> {
        if self.word_if(word) { Ok(()) } else { self.error(format!("`{word}`")) }
    }

    fn number(&mut self) -> Result<u32> {
        let Some(&Token::Int(number)) = self.peek() else { return self.error("a number") };
        self.at += 1;
        Ok(number)
    }

    fn line(&mut self) -> Result<()> {
        if self.peek() != Some(&Token::Line) {
            return self.error("the end of the line");
        }
        self.blank();
        Ok(())
    }

    /// Skips ends of lines.
    fn blank(&mut self) {
        while self.peek() == Some(&Token::Line) {
            self.at += 1;
        }
    }

    /// Runs `inside` one level deeper.
    fn deeper<T>(&mut self, inside: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.depth >= NESTING_MAX {
            return self.error(format!("at most {NESTING_MAX} levels"));
        }
        self.depth += 1;
        let result = inside(self);
        self.depth -= 1;
        result
    }

    fn unit(&mut self) -> Result<Unit> {
        let mut unit = Unit::default();
        self.blank();
        self.keyword("unit")?;
        unit.name = self.any_word()?;
        self.line()?;
        let mut places = Vec::new();
        loop {
            let state = if self.word_if("var") {
                let name = self.any_word()?;
                let id: VarId = self.numbered(&name, "v")?;
                let width_bits = self.number()?;
                unit.vars.insert(id, Var { name: name.clone(), width_bits });
                self.names.insert(name, StatePart::Var(id));
                StatePart::Var(id)
            } else if self.word_if("header") {
                let name = self.any_word()?;
                let id: HeaderId = self.numbered(&name, "h")?;
                unit.headers.insert(id, name.clone());
                self.names.insert(name, StatePart::Header(id));
                StatePart::Header(id)
            } else if self.word_if("state") {
                self.state()?
            } else {
                break;
            };
            if self.word_if("at") {
                // The place may mention state that is declared later.
                places.push((state, self.at));
                while self.peek().is_some_and(|token| *token != Token::Line) {
                    self.at += 1;
                }
            }
            self.line()?;
        }
        let after = self.at;
        for (state, at) in places {
            self.at = at;
            unit.saved.insert(state, self.expr()?);
            self.line()?;
        }
        self.at = after;
        if self.word_if("live_out") {
            unit.live_out = self.states()?;
            self.line()?;
        }
        if self.word_if("before") {
            unit.before = self.body()?;
            self.line()?;
        }
        while self.is_word("stage") {
            unit.stages.push(self.stage()?);
        }
        if self.peek().is_some() { self.error("`stage` or the end") } else { Ok(unit) }
    }

    /// The index in a name such as `v12_port`.
    fn numbered<I: base::index::Id>(&self, name: &str, prefix: &str) -> Result<I> {
        let digits = name.strip_prefix(prefix).map(|rest| rest.split('_').next().unwrap_or(rest));
        match digits.and_then(|digits| digits.parse().ok()) {
            Some(index) => Ok(I::from_index(index)),
            None => self.error(format!("a name that begins with `{prefix}` and a number")),
        }
    }

    fn states(&mut self) -> Result<OrderedSet<StatePart>> {
        let mut states = OrderedSet::new();
        while matches!(self.peek(), Some(Token::Word(_))) {
            states.insert(self.state()?);
        }
        Ok(states)
    }

    fn state(&mut self) -> Result<StatePart> {
        let name = self.any_word()?;
        match self.state_of(&name) {
            Some(state) => Ok(state),
            None => {
                self.at -= 1;
                self.error("state")
            }
        }
    }

    fn state_of(&self, name: &str) -> Option<StatePart> {
        let after = |prefix| name.strip_prefix(prefix).and_then(|number: &str| number.parse::<u32>().ok());
        let steps = || name.strip_prefix("steps_l").and_then(|number| number.parse().ok()).map(LabelId::from_index);
        match name {
            "payload" => Some(StatePart::Payload),
            "parsed" => Some(StatePart::Parsed),
            _ => (self.names.get(name).copied())
                .or_else(|| after("valid").map(StatePart::Valid))
                .or_else(|| after("sum").map(StatePart::Sum))
                .or_else(|| steps().map(StatePart::Steps)),
        }
    }

    fn stage(&mut self) -> Result<Stage> {
        self.keyword("stage")?;
        self.keyword("by")?;
        let mut stage = Stage { arrival: self.arrival()?, ..Stage::default() };
        stage.ends_all = self.word_if("ends");
        if self.word_if("spills") {
            stage.spills = self.states()?;
        }
        self.sign("{")?;
        self.line()?;
        while !self.sign_if("}") {
            if self.word_if("entry") {
                stage.entries.push(self.entry()?);
            } else if self.word_if("before") {
                stage.before = self.body()?;
            } else if self.word_if("after") {
                stage.after = self.body()?;
            } else {
                stage.nodes.push(self.node()?);
            }
            self.line()?;
        }
        self.line()?;
        Ok(stage)
    }

    fn arrival(&mut self) -> Result<Arrival> {
        let mut word = self.any_word()?;
        if self.sign_if("-") {
            word = format!("{word}-{}", self.any_word()?);
        }
        let all = [Arrival::Burst, Arrival::Masks, Arrival::List, Arrival::WholeBurst];
        match all.into_iter().find(|it| arrival(*it) == word) {
            Some(arrival) => Ok(arrival),
            None => self.error("`burst`, `masks`, `list` or `whole-burst`"),
        }
    }

    fn entry(&mut self) -> Result<Entry> {
        let node = self.number()? as usize;
        let mut values = OrderedMap::new();
        self.sign("{")?;
        self.line()?;
        while !self.sign_if("}") {
            let state = self.state()?;
            self.sign("=")?;
            values.insert(state, self.expr()?);
            self.line()?;
        }
        Ok(Entry { node, values })
    }

    fn node(&mut self) -> Result<Node> {
        self.keyword("node")?;
        let id = self.number()? as usize;
        if !self.word_if("found") {
            return Ok(Node { id, found: None, body: self.body()? });
        }
        let table = self.any_word()?;
        let table: TableId = self.numbered(&table, "table")?;
        let is_packed = self.word_if("packed");
        let body = self.body()?;
        self.line()?;
        self.keyword("lookup")?;
        let lookup = self.body()?;
        Ok(Node { id, found: Some(Found { table, is_packed, lookup }), body })
    }

    /// Statements in braces; the end of the last line is left.
    fn body(&mut self) -> Result<Vec<Stmt>> {
        self.deeper(|reader| {
            reader.sign("{")?;
            reader.line()?;
            let mut body = Vec::new();
            while !reader.sign_if("}") {
                body.push(reader.stmt()?);
                reader.line()?;
            }
            Ok(body)
        })
    }

    fn stmt(&mut self) -> Result<Stmt> {
        if let Some(Token::Comment(text)) = self.peek() {
            let stmt = Stmt::Comment(text.clone());
            self.at += 1;
            return Ok(stmt);
        }
        let Some(Token::Word(word)) = self.peek().cloned() else { return self.assignment() };
        let after = self.at;
        self.at += 1;
        match word.as_str() {
            "var" => self.declaration(Variable::Changes),
            "const" => self.declaration(Variable::Constant),
            "static" => self.declaration(Variable::Static),
            "do" => Ok(Stmt::Eval(self.expr()?)),
            "if" => self.if_stmt(),
            "switch" => self.switch(),
            "loop" => Ok(Stmt::Loop(self.body()?)),
            "block" => Ok(Stmt::Block(self.body()?)),
            "goto" => Ok(Stmt::Goto(self.any_word()?)),
            "label" => Ok(Stmt::Label(self.any_word()?)),
            "go" => Ok(Stmt::Go(self.number()? as usize)),
            "pass" => Ok(Stmt::Pass(self.number()? as usize)),
            "look_up" => {
                let node = self.number()? as usize;
                let row = if self.word_if("row") { Some(self.any_word()?) } else { None };
                Ok(Stmt::LookUp { node, row, key: self.body()? })
            }
            "end" if !self.is_assignment() => Ok(Stmt::End(self.expr()?)),
            "punt" => Ok(Stmt::Punt(self.expr()?)),
            "leave" => Ok(Stmt::Leave),
            _ => {
                self.at = after;
                self.assignment()
            }
        }
    }

    fn is_assignment(&self) -> bool {
        ASSIGNMENTS.iter().any(|sign| self.is_sign(sign))
    }

    fn assignment(&mut self) -> Result<Stmt> {
        let place = self.expr()?;
        let Some(op) = ASSIGNMENTS.into_iter().find(|sign| self.is_sign(sign)) else {
            return self.error("a statement");
        };
        self.at += 1;
        Ok(Stmt::Assign(place, op, self.expr()?))
    }

    fn declaration(&mut self, variable: Variable) -> Result<Stmt> {
        let ty = self.any_word()?;
        let Some(ty) = Type::of_name(&ty) else { return self.error("a type") };
        let name = self.any_word()?;
        let mut length = None;
        if self.sign_if("[") {
            length = Some(self.number()?);
            self.sign("]")?;
        }
        let value = if self.sign_if("=") { Some(self.expr()?) } else { None };
        Ok(Stmt::Declare { variable, ty, name, length, value })
    }

    fn if_stmt(&mut self) -> Result<Stmt> {
        let (condition, yes) = (self.expr()?, self.body()?);
        let no = if self.word_if("else") { self.body()? } else { Vec::new() };
        Ok(Stmt::If(condition, yes, no))
    }

    fn switch(&mut self) -> Result<Stmt> {
        let value = self.expr()?;
        self.sign("{")?;
        self.line()?;
        let mut cases = Vec::new();
        while self.word_if("case") {
            let mut values = vec![self.expr()?];
            while self.sign_if(",") {
                values.push(self.expr()?);
            }
            cases.push((values, self.body()?));
            self.line()?;
        }
        self.keyword("default")?;
        let default = self.body()?;
        self.line()?;
        self.sign("}")?;
        Ok(Stmt::Switch { value, cases, default })
    }

    fn expr(&mut self) -> Result<Expr> {
        self.deeper(Self::operation)
    }

    fn operation(&mut self) -> Result<Expr> {
        let first = self.operand()?;
        if self.sign_if("?") {
            let yes = self.operand()?;
            self.sign(":")?;
            let no = self.operand()?;
            return Ok(Expr::Conditional(Box::new(first), Box::new(yes), Box::new(no)));
        }
        let Some(op) = BINARY.into_iter().find(|sign| self.is_sign(sign)) else { return Ok(first) };
        let mut value = first;
        while self.sign_if(op) {
            value = Expr::Binary(op, Box::new(value), Box::new(self.operand()?));
            if !CHAINS.contains(&op) {
                break;
            }
        }
        Ok(value)
    }

    fn operand(&mut self) -> Result<Expr> {
        if let Some(op) = UNARY.into_iter().find(|sign| self.is_sign(sign)) {
            self.at += 1;
            let inner = self.deeper(Self::operand)?;
            return Ok(Expr::Unary(op, Box::new(inner)));
        }
        let mut value = self.primary()?;
        loop {
            if self.sign_if("->") {
                value = Expr::Arrow(Box::new(value), self.any_word()?);
            } else if self.sign_if(".") {
                value = Expr::Dot(Box::new(value), self.any_word()?);
            } else if self.sign_if("[") {
                value = Expr::Index(Box::new(value), Box::new(self.expr()?));
                self.sign("]")?;
            } else if self.sign_if("(") {
                value = Expr::Call(Box::new(value), self.items(")")?);
            } else {
                return Ok(value);
            }
        }
    }

    fn primary(&mut self) -> Result<Expr> {
        match self.peek().cloned() {
            Some(Token::Int(number)) => {
                self.at += 1;
                Ok(Expr::Int(number))
            }
            Some(Token::Long(number)) => {
                self.at += 1;
                Ok(Expr::Long(number))
            }
            Some(Token::Sign("(")) => {
                self.at += 1;
                let value = self.expr()?;
                self.sign(")")?;
                Ok(value)
            }
            Some(Token::Sign("{")) => {
                self.at += 1;
                Ok(Expr::List(self.items("}")?))
            }
            Some(Token::Word(word)) => {
                self.at += 1;
                self.named(&word)
            }
            _ => self.error("a value"),
        }
    }

    /// The value that begins with a word.
    fn named(&mut self, word: &str) -> Result<Expr> {
        if word == "env" && self.sign_if(".") {
            let array = self.any_word()?;
            let Some((array, _)) = ENV.into_iter().find(|(_, name)| *name == array) else {
                return self.error("an array of the environment");
            };
            self.sign("[")?;
            let number = self.number()?;
            self.sign("]")?;
            return Ok(Expr::Env(array, number));
        }
        if word == "saved" && self.sign_if("(") {
            let state = self.state()?;
            self.sign(")")?;
            return Ok(Expr::Saved(state));
        }
        if let Some(ty) = Type::of_name(word).filter(|_| self.is_sign("(")) {
            self.sign("(")?;
            let inner = self.expr()?;
            self.sign(")")?;
            return Ok(Expr::Cast(ty, Box::new(inner)));
        }
        Ok(self.state_of(word).map_or_else(|| Expr::Name(word.to_owned()), Expr::State))
    }

    /// Values up to a sign.
    fn items(&mut self, end: &str) -> Result<Vec<Expr>> {
        let mut items = Vec::new();
        while !self.sign_if(end) {
            if !items.is_empty() {
                self.sign(",")?;
            }
            items.push(self.expr()?);
        }
        Ok(items)
    }
}
