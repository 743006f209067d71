//! Parses the text of an STF file into commands.

use crate::lexer::{Token, tokens, without_comment};
use crate::script::{
    Call, Command, CounterCell, CounterCheck, Extent, Number, Pattern, Radix, Relation, Script, StfError, Value,
};
use std::sync::Arc;

/// The most errors that are reported for one file.
const ERRORS_MAX: usize = 100;

/// Parses `text`, the contents of the file that users call `file`: the commands, or all errors.
pub fn parse(file: &str, text: &str) -> Result<Script, Vec<StfError>> {
    let file: Arc<str> = file.into();
    let mut commands = Vec::new();
    let mut errors = Vec::new();
    for (index, line) in text.strip_prefix('\u{feff}').unwrap_or(text).lines().enumerate() {
        let number = u32::try_from(index + 1).unwrap_or(u32::MAX);
        match command(line) {
            Ok(Some(command)) => commands.push((number, command)),
            Ok(None) => {}
            Err(message) if errors.len() < ERRORS_MAX => {
                errors.push(StfError { file: Arc::clone(&file), line: number, message });
            }
            Err(_) => {}
        }
    }
    if errors.is_empty() { Ok(Script { file, commands }) } else { Err(errors) }
}

/// The command of a line; `None` if the line is empty.
fn command(line: &str) -> Result<Option<Command>, String> {
    let line = line.trim();
    let word_end = line.find(|it: char| it.is_whitespace() || it == '#').unwrap_or(line.len());
    let (word, rest) = (line[..word_end].to_ascii_lowercase(), &line[word_end..]);
    let data = |what: &str| match rest.contains('#') {
        true => Err(format!("a comment cannot follow {what}; give it a line of its own")),
        false => Ok(rest.split_whitespace().collect::<Vec<_>>()),
    };
    match word.as_str() {
        "" => return Ok(None),
        "packet" => return packet(&data("the bytes of `packet`")?).map(Some),
        "expect" => return expect(&data("the bytes of `expect`")?).map(Some),
        _ => {}
    }
    // The original format has some of the commands of the switch's command line; here all of them are allowed.
    if control::cli_text::command_names().any(|name| name == word) {
        return Ok(Some(Command::Control(format!("{word}{}", without_comment(rest).trim_end()))));
    }
    let mut tokens = Tokens { tokens: tokens(without_comment(rest))?, next: 0 };
    let command = match word.as_str() {
        "add" => add(&mut tokens)?,
        "setdefault" => Command::SetDefault { table: tokens.qualified_name("a table")?, call: call(&mut tokens)? },
        "check_counter" => check_counter(&mut tokens)?,
        "wait" => Command::Wait,
        "no_packet" => Command::NoPacket,
        "remove" => match tokens.take() {
            Some(Token::Name(name)) if name.eq_ignore_ascii_case("all") => Command::RemoveAll,
            other => return Err(expected("`all`", other.as_ref())),
        },
        _ => return Err(unknown_command(&word)),
    };
    match tokens.take() {
        None => Ok(Some(command)),
        other => Err(expected("the end of the line", other.as_ref())),
    }
}

fn unknown_command(word: &str) -> String {
    let own = ["add", "setdefault", "packet", "expect", "no_packet", "check_counter", "wait", "remove all"];
    format!(
        "there is no command {word}\n  help: the commands are {}, and those of the switch's command line, such as \
         mirroring_add or register_write",
        own.join(", ")
    )
}

fn expected(what: &str, found: Option<&Token>) -> String {
    match found {
        Some(token) => format!("expected {what}, found `{}`", token.describe()),
        None => format!("expected {what}, but the line ends"),
    }
}

fn port(words: &[&str], command: &str) -> Result<u32, String> {
    let word = words.first().ok_or_else(|| format!("`{command}` takes a port and hexadecimal digits"))?;
    word.parse().map_err(|_| format!("{word} is not a valid port: ports are decimal numbers"))
}

fn packet(words: &[&str]) -> Result<Command, String> {
    let port = port(words, "packet")?;
    let digits: Vec<char> = words[1..].concat().chars().collect();
    if digits.len() % 2 == 1 {
        return Err(format!("a packet is whole bytes; these are {} hexadecimal digits", digits.len()));
    }
    let value = |digit: char| {
        digit.to_digit(16).ok_or_else(|| format!("`{}` is not a hexadecimal digit", digit.escape_default()))
    };
    let byte = |pair: &[char]| Ok((value(pair[0])? * 16 + value(pair[1])?) as u8);
    let bytes = digits.chunks(2).map(byte).collect::<Result<Vec<u8>, String>>()?;
    Ok(Command::Packet { port, bytes })
}

fn expect(words: &[&str]) -> Result<Command, String> {
    let port = port(words, "expect")?;
    let text = words[1..].concat().to_ascii_lowercase();
    let digits = text.strip_suffix('$').unwrap_or(&text);
    if let Some(wrong) = digits.chars().find(|it| !it.is_ascii_hexdigit() && *it != '*') {
        let wrong = wrong.escape_default();
        return Err(format!("`{wrong}` is not a hexadecimal digit; `*` stands for any, `$` for the end of the packet"));
    }
    let is_exact = text.ends_with('$');
    let pattern = (!text.is_empty()).then(|| Pattern { digits: digits.to_owned(), is_exact });
    Ok(Command::Expect { port, pattern })
}

/// The tokens of a line, and the position in them.
struct Tokens {
    tokens: Vec<Token>,
    next: usize,
}

impl Tokens {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.next)
    }

    fn take(&mut self) -> Option<Token> {
        let token = self.tokens.get(self.next).cloned();
        self.next += 1;
        token
    }

    /// Consumes the next token if it is this character.
    fn take_sign(&mut self, sign: char) -> bool {
        let is_next = self.peek() == Some(&Token::Sign(sign));
        self.next += usize::from(is_next);
        is_next
    }

    fn sign(&mut self, sign: char) -> Result<(), String> {
        if self.take_sign(sign) { Ok(()) } else { Err(expected(&format!("`{sign}`"), self.peek())) }
    }

    fn name(&mut self, what: &str) -> Result<String, String> {
        match self.take() {
            Some(Token::Name(name)) => Ok(name),
            other => Err(expected(&format!("the name of {what}"), other.as_ref())),
        }
    }

    /// A name with dots and indices.
    fn qualified_name(&mut self, what: &str) -> Result<String, String> {
        let mut name = self.name(what)?;
        loop {
            if self.take_sign('.') {
                name = format!("{name}.{}", self.name(what)?);
            } else if self.take_sign('[') {
                name = format!("{name}[{}]", self.decimal("an index")?);
                self.sign(']')?;
            } else {
                return Ok(name);
            }
        }
    }

    fn number(&mut self, what: &str) -> Result<Number, String> {
        match self.take() {
            Some(Token::Number(number)) => Ok(number),
            other => Err(expected(what, other.as_ref())),
        }
    }

    /// What may follow a key's value.
    fn extent(&mut self) -> Result<Extent, String> {
        let (what, extent): (&str, fn(Number) -> Extent) = match self.peek() {
            Some(Token::Sign('/')) => ("the length of a prefix", Extent::Prefix),
            Some(Token::Arrow) => ("the last value of a range", Extent::UpTo),
            Some(Token::Mask) => ("a mask", Extent::Mask),
            _ => return Ok(Extent::Alone),
        };
        self.next += 1;
        self.number(what).map(extent)
    }

    fn decimal(&mut self, what: &str) -> Result<u64, String> {
        let number = self.number(what)?;
        let value = (number.radix == Radix::Decimal).then(|| number.digits.parse().ok()).flatten();
        value.ok_or_else(|| format!("{number} is not {what}: a decimal number below 2^64"))
    }
}

fn add(tokens: &mut Tokens) -> Result<Command, String> {
    let table = tokens.qualified_name("a table")?;
    let mut priority = None;
    if matches!(tokens.peek(), Some(Token::Number(_))) {
        let number = tokens.decimal("a priority")?;
        priority = Some(i32::try_from(number).map_err(|_| format!("priority {number} is too great"))?);
    }
    let mut keys = Vec::new();
    loop {
        let name = tokens.qualified_name(if keys.is_empty() { "a key" } else { "a key or an action" })?;
        if !tokens.take_sign(':') {
            if keys.is_empty() {
                return Err(format!("expected `:` and a value after the key {name}: an entry names at least one key"));
            }
            let call = arguments(name, tokens)?;
            let id = if tokens.take_sign('=') { Some(tokens.name("the entry")?) } else { None };
            return Ok(Command::Add { table, priority, keys, call, id });
        }
        let number = tokens.number("a value")?;
        let extent = tokens.extent()?;
        keys.push((name, Value { number, extent }));
    }
}

fn call(tokens: &mut Tokens) -> Result<Call, String> {
    let action = tokens.qualified_name("an action")?;
    arguments(action, tokens)
}

fn arguments(action: String, tokens: &mut Tokens) -> Result<Call, String> {
    tokens.sign('(')?;
    let mut arguments = Vec::new();
    while !tokens.take_sign(')') {
        if !arguments.is_empty() {
            tokens.sign(',')?;
        }
        let name = tokens.name("a parameter")?;
        tokens.sign(':')?;
        arguments.push((name, tokens.number("a value")?));
    }
    Ok(Call { action, arguments })
}

fn check_counter(tokens: &mut Tokens) -> Result<Command, String> {
    let counter = tokens.qualified_name("a counter")?;
    tokens.sign('(')?;
    let cell = match tokens.peek() {
        Some(Token::Name(name)) => {
            let name = name.strip_prefix('$').unwrap_or(name).to_owned();
            tokens.next += 1;
            CounterCell::Entry(name)
        }
        _ => CounterCell::Index(tokens.decimal("an index")?),
    };
    tokens.sign(')')?;
    let mut check = CounterCheck { is_bytes: false, relation: Relation::Equal, number: 0 };
    let unit = match tokens.take() {
        None => return Ok(Command::CheckCounter { counter, cell, check }),
        Some(Token::Name(name)) => name.to_ascii_lowercase(),
        other => return Err(expected("`packets` or `bytes`", other.as_ref())),
    };
    check.is_bytes = match unit.as_str() {
        "packets" => false,
        "bytes" => true,
        _ => return Err(format!("expected `packets` or `bytes`, found `{unit}`")),
    };
    check.relation = match tokens.take() {
        Some(Token::Relation(relation)) => relation,
        other => return Err(expected("one of ==, !=, <, <=, >, >=", other.as_ref())),
    };
    check.number = tokens.decimal("a count")?;
    Ok(Command::CheckCounter { counter, cell, check })
}
