//! The C code between us and a plug-in: the prototypes that it must implement, and functions that call them.
//!
//! What enters: a program. What leaves: C text. It is written as text and not through `ctree`: prototypes and casts of
//! function pointers occur nowhere else.
//!
//! Values are passed as words: `ceil(width / 64)` words each, lowest first. The functions of the adapter convert them
//! to the types of the prototypes and back. The adapter of function `n` is
//!
//! ```c
//! void ws_extern_n(ws_target *target, void **objects, uint32_t instance, const uint64_t *in, uint64_t *out);
//! ```

use base::OrderedSet;
use ir::{ExternDirection, ExternFunction, ExternFunctionKind, ExternParam, ExternType, Program, Type};
use std::fmt::Write as _;

/// Keywords of C and C++ that are names in P4.
const C_KEYWORDS: [&str; 30] = [
    "auto", "break", "case", "char", "continue", "do", "double", "extern", "float", "for", "goto", "inline", "long",
    "register", "restrict", "short", "signed", "sizeof", "static", "struct", "typedef", "union", "unsigned",
    "volatile", "while", "class", "new", "delete", "this", "template",
];

/// The header with all prototypes that a plug-in of the program must implement.
pub fn header(program: &Program) -> String {
    let mut text = String::from(
        "/* What a plug-in for this program must implement. Made by wirespeed; see docs/plug-ins.md. */\n\
         #ifndef WIRESPEED_PLUG_IN_H\n#define WIRESPEED_PLUG_IN_H\n\n\
         #include <stdbool.h>\n#include <stdint.h>\n\n\
         #ifdef __cplusplus\nextern \"C\" {\n#endif\n\n",
    );
    let mut known = OrderedSet::new();
    for function in &program.extern_functions {
        if known.insert(&function.symbol) {
            let _ = writeln!(text, "{}", prototype(function));
        }
    }
    text + "\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n"
}

/// A function's prototype, with the widths of its values as comments where their types do not show them.
pub fn prototype(function: &ExternFunction) -> String {
    let params: Vec<String> = object(function).into_iter().chain(function.params.iter().map(declared)).collect();
    let params = if params.is_empty() { "void".to_owned() } else { params.join(", ") };
    let result = result_type(function);
    let space = if result.ends_with('*') { "" } else { " " };
    format!("{result}{space}{}({params});", symbol(function))
}

/// The object of a method.
fn object(function: &ExternFunction) -> Option<String> {
    (function.kind == ExternFunctionKind::Method).then(|| "void *object".to_owned())
}

/// A parameter with its name.
fn declared(param: &ExternParam) -> String {
    let name = c_name(&param.name);
    let ty = param_type(param);
    let space = if ty.ends_with('*') { "" } else { " " };
    let note = match param.ty {
        ExternType::Value(value) => note(value),
        ExternType::Text(_) | ExternType::Object(_) => String::new(),
    };
    format!("{ty}{space}{name}{note}")
}

/// The width of a value, as a comment, if its C type does not show it.
fn note(ty: Type) -> String {
    match ty {
        Type::Bool | Type::Bit(8 | 16 | 32 | 64) | Type::Int(8 | 16 | 32 | 64) => String::new(),
        Type::Bit(width) => format!(" /* bit<{width}> */"),
        Type::Int(width) => format!(" /* int<{width}> */"),
    }
}

fn param_type(param: &ExternParam) -> String {
    let ty = match &param.ty {
        ExternType::Value(ty) => *ty,
        ExternType::Text(_) => return "const char *".to_owned(),
        ExternType::Object(_) => return "void *".to_owned(),
    };
    match (value_type(ty), param.direction) {
        (Some(value), ExternDirection::In) => value.to_owned(),
        (Some(value), _) => format!("{value} *"),
        (None, ExternDirection::In) => "const uint8_t *".to_owned(),
        (None, _) => "uint8_t *".to_owned(),
    }
}

fn result_type(function: &ExternFunction) -> &'static str {
    match (function.kind, function.result) {
        (ExternFunctionKind::Constructor, _) => "void *",
        (_, Some(result)) => value_type(result).unwrap_or("uint64_t"),
        (_, None) => "void",
    }
}

/// The smallest C type that holds a value; none if there is none.
fn value_type(ty: Type) -> Option<&'static str> {
    Some(match (ty, ty.width()) {
        (Type::Bool, _) => "bool",
        (Type::Bit(_), ..=8) => "uint8_t",
        (Type::Bit(_), ..=16) => "uint16_t",
        (Type::Bit(_), ..=32) => "uint32_t",
        (Type::Bit(_), ..=64) => "uint64_t",
        (Type::Int(_), ..=8) => "int8_t",
        (Type::Int(_), ..=16) => "int16_t",
        (Type::Int(_), ..=32) => "int32_t",
        (Type::Int(_), ..=64) => "int64_t",
        _ => return None,
    })
}

/// A P4 name as a C identifier.
fn c_name(name: &str) -> String {
    let plain: String = name.chars().map(|it| if it.is_ascii_alphanumeric() { it } else { '_' }).collect();
    if C_KEYWORDS.contains(&plain.as_str()) { plain + "_" } else { plain }
}

/// The name of a function in the plug-in.
pub(super) fn symbol(function: &ExternFunction) -> String {
    c_name(&function.symbol)
}

/// The text that every adapter begins with.
const PRELUDE: &str = "\
/* Made by wirespeed from a P4 program's extern functions; changes will be lost. */
#include \"wirespeed.h\"
#include <stdbool.h>

typedef void ws_target(void);

/* The bytes of a wide value, most significant first. */
WS_UNUSED static void ws_to_bytes(uint8_t *bytes, const uint64_t *words, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        bytes[count - 1 - i] = (uint8_t)(words[i / 8] >> (8 * (i % 8)));
}

/* The words of a wide value; bits above its width are cut off. */
WS_UNUSED static void ws_from_bytes(uint64_t *words, const uint8_t *bytes, uint32_t count, uint32_t width)
{
    for (uint32_t i = 0; i < (width + 63) / 64; i++)
        words[i] = 0;
    for (uint32_t i = 0; i < count; i++)
        words[i / 8] |= (uint64_t)bytes[count - 1 - i] << (8 * (i % 8));
    if (width % 64 != 0)
        words[width / 64] &= (UINT64_C(1) << (width % 64)) - 1;
}

/* A two's complement value of this width. */
WS_UNUSED static int64_t ws_signed(uint64_t word, uint32_t width)
{
    return (int64_t)(word << (64 - width)) >> (64 - width);
}
";

/// The C text of the adapter.
pub(super) fn adapter(program: &Program) -> String {
    let mut text = PRELUDE.to_owned();
    for (number, function) in program.extern_functions.iter().enumerate() {
        function_adapter(number, function, &mut text);
    }
    text
}

/// The parts of one function's adapter.
#[derive(Default)]
struct Parts {
    before: String,
    arguments: Vec<String>,
    after: String,
    in_words: u32,
    out_words: u32,
}

fn function_adapter(number: usize, function: &ExternFunction, text: &mut String) {
    let mut parts = Parts::default();
    if function.kind == ExternFunctionKind::Method {
        parts.arguments.push("objects[instance]".to_owned());
    }
    for (position, param) in function.params.iter().enumerate() {
        match &param.ty {
            ExternType::Value(ty) => parts.value(position, *ty, param.direction),
            ExternType::Text(text) => parts.arguments.push(c_string(text)),
            ExternType::Object(instance) => {
                parts.arguments.push(format!("objects[{}]", base::index::Id::index(*instance)));
            }
        }
    }
    let types: Vec<String> = object(function)
        .map(|_| "void *".to_owned())
        .into_iter()
        .chain(function.params.iter().map(param_type))
        .collect();
    let types = if types.is_empty() { "void".to_owned() } else { types.join(", ") };
    let call = format!("(({} (*)({types}))target)({})", result_type(function), parts.arguments.join(", "));
    let call = match (function.kind, function.result) {
        (ExternFunctionKind::Constructor, _) => format!("    objects[instance] = {call};\n"),
        (_, None) => format!("    {call};\n"),
        (_, Some(ty)) => {
            let out_words = parts.out_words;
            parts.after += &format!("    out[{out_words}] = {};\n", word("result", ty));
            format!("    {} result = {call};\n", result_type(function))
        }
    };
    let _ = write!(
        text,
        "\nWS_EXPORT void ws_extern_{number}(ws_target *target, void **objects, uint32_t instance, const uint64_t *in, \
         uint64_t *out)\n{{\n    (void)objects, (void)instance, (void)in, (void)out;\n{}{call}{}}}\n",
        parts.before, parts.after
    );
}

impl Parts {
    /// A parameter that is a value.
    fn value(&mut self, position: usize, ty: Type, direction: ExternDirection) {
        let (width, words) = (ty.width(), ty.width().div_ceil(64));
        let (name, bytes) = (format!("a{position}"), width.div_ceil(8));
        let goes_in = direction != ExternDirection::Out;
        let comes_out = direction != ExternDirection::In;
        let (in_word, out_word) = (self.in_words, self.out_words);
        match value_type(ty) {
            Some(c_type) => {
                let value = match (goes_in, ty) {
                    (false, _) => "0".to_owned(),
                    (true, Type::Bool) => format!("in[{in_word}] != 0"),
                    (true, Type::Bit(_)) => format!("({c_type})in[{in_word}]"),
                    (true, Type::Int(width)) => format!("({c_type})ws_signed(in[{in_word}], {width})"),
                };
                self.before += &format!("    {c_type} {name} = {value};\n");
                self.arguments.push(if comes_out { format!("&{name}") } else { name.clone() });
                if comes_out {
                    self.after += &format!("    out[{out_word}] = {};\n", word(&name, ty));
                }
            }
            None => {
                self.before += &format!("    uint8_t {name}[{bytes}] = {{0}};\n");
                if goes_in {
                    self.before += &format!("    ws_to_bytes({name}, in + {in_word}, {bytes});\n");
                }
                self.arguments.push(name.clone());
                if comes_out {
                    self.after += &format!("    ws_from_bytes(out + {out_word}, {name}, {bytes}, {width});\n");
                }
            }
        }
        self.in_words += if goes_in { words } else { 0 };
        self.out_words += if comes_out { words } else { 0 };
    }
}

/// A C value as a word; bits above its width are cut off.
fn word(name: &str, ty: Type) -> String {
    match ty {
        Type::Bool => format!("{name} ? 1 : 0"),
        Type::Bit(64) | Type::Int(64) => format!("(uint64_t){name}"),
        Type::Bit(width) | Type::Int(width) => format!("(uint64_t){name} & {:#x}u", (1u64 << width) - 1),
    }
}

/// A C string constant.
fn c_string(text: &str) -> String {
    let mut quoted = String::from("\"");
    for byte in text.bytes() {
        match byte {
            b' ' | b'!' | b'#'..=b'>' | b'@'..=b'[' | b']'..=b'~' => quoted.push(char::from(byte)),
            _ => _ = write!(quoted, "\\{byte:03o}"),
        }
    }
    quoted.push('"');
    quoted
}
