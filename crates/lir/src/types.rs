//! The types of variables and conversions.

/// A type.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Type {
    /// A number of 8 bits.
    U8,
    /// A number of 16 bits.
    U16,
    /// A number of 32 bits.
    U32,
    /// A number of 64 bits.
    U64,
    /// Sixteen bytes that are copied at once.
    Sixteen,
    /// A pointer to bytes.
    Bytes,
    /// The same to bytes that are only read.
    ConstBytes,
    /// A pointer to words of 64 bits.
    Words,
    /// A pointer to a table's entry.
    Entry,
    /// A pointer to anything.
    Pointer,
    /// The same to what is only read.
    ConstPointer,
    /// A pointer to a packet's context.
    Context,
    /// The same to one that is only read.
    ConstContext,
    /// Bytes joined in registers.
    Short,
    /// Bits joined in a buffer.
    Joined,
    /// The place and size of a header that is emitted.
    Segment,
    /// Copies of emitted headers.
    Staged,
}

/// All types with their names in text.
const NAMES: [(Type, &str); 17] = [
    (Type::U8, "u8"),
    (Type::U16, "u16"),
    (Type::U32, "u32"),
    (Type::U64, "u64"),
    (Type::Sixteen, "sixteen"),
    (Type::Bytes, "bytes_ptr"),
    (Type::ConstBytes, "const_bytes_ptr"),
    (Type::Words, "words_ptr"),
    (Type::Entry, "entry_ptr"),
    (Type::Pointer, "any_ptr"),
    (Type::ConstPointer, "const_any_ptr"),
    (Type::Context, "context_ptr"),
    (Type::ConstContext, "const_context_ptr"),
    (Type::Short, "short_bytes"),
    (Type::Joined, "joined_bits"),
    (Type::Segment, "segment"),
    (Type::Staged, "staged_headers"),
];

impl Type {
    /// Its name in text.
    pub fn name(self) -> &'static str {
        NAMES.iter().find(|(ty, _)| *ty == self).map_or("", |(_, name)| *name)
    }

    /// The type with this name.
    pub fn of_name(name: &str) -> Option<Type> {
        NAMES.iter().find(|(_, of_type)| *of_type == name).map(|(ty, _)| *ty)
    }
}

/// What a declaration declares.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Variable {
    /// A variable.
    Changes,
    /// A variable that keeps its value.
    Constant,
    /// A constant of the program, one for all packets.
    Static,
}

impl Variable {
    /// Its keyword in text.
    pub fn keyword(self) -> &'static str {
        match self {
            Variable::Changes => "var",
            Variable::Constant => "const",
            Variable::Static => "static",
        }
    }
}
