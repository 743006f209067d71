//! The codes of this crate's diagnostics: one for each kind of error, never reused for another.
//!
//! `E09..` are errors and `W09..` warnings about P4_14 programs. The preprocessor and the lexer have codes of their
//! own. `tests/codes.rs` shows each code, and checks that the wrong examples here are rejected and the right ones
//! accepted.

macro_rules! codes {
    ($($(#[doc = $doc:literal])+ $name:ident = $code:literal;)*) => {
        $($(#[doc = $doc])+ pub const $name: &str = $code;)*

        /// Every code of this crate.
        pub const ALL: &[&str] = &[$($name,)*];
    };
}

codes! {
    /// Unexpected text.
    ///
    /// The grammar is that of P4_14's specification 1.0.5, with the types before names of version 1.1. Parsing
    /// continues with the next declaration.
    ///
    /// ```p4,wrong
    /// header_type vlan_t { fields { vid 12; } }
    /// ```
    ///
    /// ```p4
    /// header_type vlan_t { fields { vid : 12; } }
    /// ```
    UNEXPECTED_TOKEN = "E0901";
    /// An invalid number.
    ///
    /// Numbers are decimal, `0x...` or `0b...`, with optional `_` between digits. A width and an apostrophe may precede
    /// them.
    ///
    /// ```p4,wrong
    /// field_list f { 8'0b12; }
    /// ```
    ///
    /// ```p4
    /// field_list f { 8'0b10; }
    /// ```
    INVALID_NUMBER = "E0902";
    /// The program is nested too deeply.
    ///
    /// Blocks, parentheses, and actions, controls and field lists that use each other may be nested about a thousand
    /// levels deep. An `else if` does not add a level, but a chain may have at most 4096 of them. Programs written by
    /// hand do not come near these limits; generated programs can be flattened.
    NESTING_LIMIT = "E0903";
    /// A name is declared twice.
    ///
    /// Each kind of declaration has its own name space: a header may have the same name as its type or as metadata, but
    /// two headers may not have the same name.
    ///
    /// ```p4,wrong
    /// header h_t twice;
    /// header h_t twice;
    /// ```
    ///
    /// ```p4
    /// header h_t one;
    /// header h_t other;
    /// ```
    DUPLICATE_NAME = "E0904";
    /// An unknown name.
    ///
    /// Declarations may come in any order, so the name is not declared at all, or misspelt.
    ///
    /// ```p4,wrong
    /// table t { actions { nopp; } }
    /// ```
    ///
    /// ```p4
    /// table t { actions { nop; } }
    /// ```
    UNKNOWN_NAME = "E0905";
    /// A name of the wrong kind.
    ///
    /// For example, an action is applied like a table, or a whole header stack is used as a header.
    ///
    /// ```p4,wrong
    /// control sub { apply(nop); }
    /// ```
    ///
    /// ```p4
    /// table t { actions { nop; } }
    /// control sub { apply(t); }
    /// ```
    WRONG_KIND = "E0906";
    /// A header type has no such field.
    ///
    /// An extern type without this attribute is reported with the same code.
    ///
    /// ```p4,wrong
    /// table t { reads { h.x : exact; } actions { nop; } }
    /// ```
    ///
    /// ```p4
    /// table t { reads { h.a : exact; } actions { nop; } }
    /// ```
    UNKNOWN_FIELD = "E0907";
    /// A constant number is required.
    ///
    /// This applies to widths, sizes, indices of stacks, masks, and arguments of default actions.
    ///
    /// ```p4,wrong
    /// header h_t stack[h.a];
    /// ```
    ///
    /// ```p4
    /// header h_t stack[4];
    /// ```
    NOT_CONSTANT = "E0908";
    /// A number that is too small or too large.
    ///
    /// ```p4,wrong
    /// header_type z_t { fields { a : 0; } }
    /// ```
    ///
    /// ```p4
    /// header_type z_t { fields { a : 1; } }
    /// ```
    OUT_OF_RANGE = "E0909";
    /// A header with a field of variable length that lacks `length`, has two such fields, or is metadata.
    ///
    /// The header's `length` in bytes is computed from the fields before the one of variable length, and determines the
    /// length of that field. The field cannot be an operand.
    ///
    /// ```p4,wrong
    /// header_type o_t { fields { len : 8; data : *; more : *; } length : len; }
    /// ```
    ///
    /// ```p4
    /// header_type o_t { fields { len : 8; data : *; } length : len; max_length : 40; }
    /// ```
    VARIABLE_LENGTH = "E0910";
    /// A primitive, action or method is called with the wrong number of arguments.
    ///
    /// ```p4,wrong
    /// action a() { modify_field(h.a); }
    /// table t { actions { a; } }
    /// ```
    ///
    /// ```p4
    /// action a() { modify_field(h.a, 1); }
    /// table t { actions { a; } }
    /// ```
    ARGUMENT_COUNT = "E0912";
    /// An argument that the primitive does not accept.
    ///
    /// ```p4,wrong
    /// action a() { push(h, 1); }
    /// table t { actions { a; } }
    /// ```
    ///
    /// ```p4
    /// action a() { push(s, 1); }
    /// table t { actions { a; } }
    /// ```
    WRONG_ARGUMENT = "E0913";
    /// An unknown primitive or action.
    ///
    /// ```p4,wrong
    /// action a() { set_field(h.a, 1); }
    /// table t { actions { a; } }
    /// ```
    ///
    /// ```p4
    /// action a() { modify_field(h.a, 1); }
    /// table t { actions { a; } }
    /// ```
    UNKNOWN_ACTION = "E0914";
    /// Actions, controls or field lists use each other recursively.
    ///
    /// ```p4,wrong
    /// control one { two(); }
    /// control two { one(); }
    /// ```
    ///
    /// ```p4
    /// control one { two(); }
    /// control two { }
    /// ```
    RECURSION = "E0915";
    /// A boolean where a number is required, or a number where a boolean is required.
    ///
    /// A condition is a comparison, a validity test, or a combination of such with `and`, `or` and `not`.
    ///
    /// ```p4,wrong
    /// control sub { if (h.a) { } }
    /// ```
    ///
    /// ```p4
    /// control sub { if (h.a != 0) { } }
    /// ```
    WRONG_VALUE = "E0916";
    /// `latest` without an extracted header.
    ///
    /// `latest` is the header that the parser extracted last, in the same state or before it. It must be the same
    /// header on all paths to a state.
    ///
    /// ```p4,wrong
    /// parser p { return select(latest.a) { default : ingress; } }
    /// ```
    ///
    /// ```p4
    /// parser p { extract(h); return select(latest.a) { default : ingress; } }
    /// ```
    LATEST_WITHOUT_EXTRACT = "E0917";
    /// The program has no parser state `start`.
    NO_START_STATE = "E0918";
    /// A parser state without a transition.
    ///
    /// ```p4,wrong
    /// parser p { extract(h); }
    /// ```
    ///
    /// ```p4
    /// parser p { extract(h); return ingress; }
    /// ```
    NO_RETURN = "E0919";
    /// A packet header in place of metadata, or metadata in place of a packet header.
    ///
    /// Metadata cannot be extracted, added or removed, and only metadata can be written by `set_metadata` or have
    /// initial values.
    ///
    /// ```p4,wrong
    /// parser p { extract(m); return ingress; }
    /// ```
    ///
    /// ```p4
    /// parser p { extract(h); return ingress; }
    /// ```
    HEADER_OR_METADATA = "E0920";
    /// An unknown match kind, or one that does not fit the key.
    ///
    /// The kinds are `exact`, `ternary`, `lpm`, `range`, `valid` and `index`, which is treated as `exact`. The validity
    /// of a header cannot be matched with `lpm` or `range`.
    ///
    /// ```p4,wrong
    /// table t { reads { h.a : fuzzy; } actions { nop; } }
    /// ```
    ///
    /// ```p4
    /// table t { reads { h.a : ternary; } actions { nop; } }
    /// ```
    MATCH_KIND = "E0921";
    /// An unknown algorithm.
    ///
    /// The algorithms are `csum16`, `crc16`, `crc32`, `crcCCITT`, `xor16`, `identity`, `random`, `crc16_custom` and
    /// `crc32_custom`, also with `_` after `crc`.
    ///
    /// ```p4,wrong
    /// field_list f { h.a; }
    /// field_list_calculation c { input { f; } algorithm : md5; output_width : 16; }
    /// ```
    ///
    /// ```p4
    /// field_list f { h.a; }
    /// field_list_calculation c { input { f; } algorithm : crc16; output_width : 16; }
    /// ```
    UNKNOWN_ALGORITHM = "E0922";
    /// A counter, meter, register or selector with missing or contradictory properties.
    ///
    /// Counters and meters require `type`; an array that does not belong to a table requires `instance_count`; a
    /// selector requires `selection_key`.
    ///
    /// ```p4,wrong
    /// counter c { type : packets; }
    /// ```
    ///
    /// ```p4
    /// counter c { type : packets; instance_count : 16; }
    /// ```
    INVALID_ARRAY = "E0923";
    /// A block after `apply` is labelled with an action that the table does not have.
    ///
    /// `hit` and `miss` cannot be combined with names of actions, either.
    ///
    /// ```p4,wrong
    /// action other() { }
    /// table t { actions { nop; } }
    /// control sub { apply(t) { other { } } }
    /// ```
    ///
    /// ```p4
    /// action other() { }
    /// table t { actions { nop; other; } }
    /// control sub { apply(t) { other { } } }
    /// ```
    TABLE_ACTIONS = "E0925";
    /// A part that may occur only once is repeated.
    ///
    /// ```p4,wrong
    /// table t { actions { nop; } size : 1; size : 2; }
    /// ```
    ///
    /// ```p4
    /// table t { actions { nop; } size : 2; }
    /// ```
    REPEATED_PART = "E0926";
    /// `next` or `last` of a stack where it is undefined.
    ///
    /// `next` is only defined in parser states. `last` is also defined in actions, conditions and keys: it is the valid
    /// element with the greatest index, for stacks of at most 64 elements.
    ///
    /// ```p4,wrong
    /// action a() { modify_field(s[next].a, 1); }
    /// table t { actions { a; } }
    /// ```
    ///
    /// ```p4
    /// action a() { modify_field(s[last].a, 1); }
    /// table t { actions { a; } }
    /// ```
    UNSUPPORTED = "E0927";
    /// A value set is used with keys of different widths.
    ///
    /// Declare one value set for each width.
    VALUE_SET_WIDTH = "E0929";
    /// The control flow becomes too large when called controls are inlined.
    ///
    /// The translation contains a copy of a control or action for each call. Apply a table in one place instead.
    PROGRAM_TOO_LARGE = "E0930";
    /// A `length` without a field of variable length.
    ///
    /// The length of such a header is the sum of its fields' widths, whatever `length` is.
    LENGTH_IGNORED = "W0901";
    /// A construct without an effect on this switch.
    ///
    /// It is left out; the program behaves as without it.
    NO_EFFECT = "W0902";
    /// A packet header that no parser state extracts is never sent.
    ///
    /// The parser determines the position of every header in a packet, including those that actions add. It is enough
    /// if a state extracts the header at its position, even if no packet reaches that state.
    ///
    /// ```p4,wrong
    /// header h_t tag;
    /// action a() { add_header(tag); }
    /// table t { actions { a; } }
    /// ```
    ///
    /// ```p4
    /// header h_t tag;
    /// parser p { extract(h); extract(tag); return ingress; }
    /// action a() { add_header(tag); }
    /// table t { actions { a; } }
    /// ```
    NEVER_SENT = "W0903";
    /// The width of a parameter or of a register's cells is unknown.
    ///
    /// A parameter has the greatest width among its uses. An unused parameter gets 32 bits, and so does a register
    /// without `width` and `layout`.
    ///
    /// ```p4,wrong
    /// action a(p) { }
    /// table t { actions { a; } }
    /// ```
    ///
    /// ```p4
    /// action a(p) { modify_field(h.a, p); }
    /// table t { actions { a; } }
    /// ```
    WIDTH_ASSUMED = "W0904";
    /// The default action is not among the actions of the table.
    ///
    /// It runs on a miss, as declared, but entries cannot use it. Most likely it is missing in the list.
    ///
    /// ```p4,wrong
    /// action other() { }
    /// table t { reads { h.a : exact; } actions { nop; } default_action : other(); }
    /// ```
    ///
    /// ```p4
    /// action other() { }
    /// table t { reads { h.a : exact; } actions { nop; other; } default_action : other(); }
    /// ```
    DEFAULT_ONLY = "W0905";
    /// A table has several keys of kind `lpm`.
    ///
    /// Longest-prefix match is defined for one prefix only. All but the first of these keys become `ternary`: their
    /// entries have masks, and all entries of the table have priorities.
    ///
    /// ```p4,wrong
    /// table t { reads { h.a : lpm; h.b : lpm; } actions { nop; } }
    /// ```
    ///
    /// ```p4
    /// table t { reads { h.a : lpm; h.b : ternary; } actions { nop; } }
    /// ```
    SECOND_PREFIX = "W0906";
}
