//! The codes of this crate's diagnostics: one for each kind of fault, never reused for another.
//!
//! `E09..` are errors and `W09..` warnings about P4_14 programs. What the preprocessor and the lexer find has their own
//! codes. The test `tests/codes.rs` shows each of them, and that the examples here are wrong and right as they say.

macro_rules! codes {
    ($($(#[doc = $doc:literal])+ $name:ident = $code:literal;)*) => {
        $($(#[doc = $doc])+ pub const $name: &str = $code;)*

        /// Every code of this crate.
        pub const ALL: &[&str] = &[$($name,)*];
    };
}

codes! {
    /// Something else is expected here.
    ///
    /// The grammar of P4_14 is that of the specification 1.0.5, with the types before names that 1.1 has. What follows
    /// the place that is shown is read again from the next declaration on.
    ///
    /// ```p4,wrong
    /// header_type vlan_t { fields { vid 12; } }
    /// ```
    ///
    /// ```p4
    /// header_type vlan_t { fields { vid : 12; } }
    /// ```
    UNEXPECTED_TOKEN = "E0901";
    /// A number that is none.
    ///
    /// Numbers are decimal, `0x...` or `0b...`, with `_` between digits, and with a width before an apostrophe if need
    /// be.
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
    /// Blocks, parentheses, and actions, controls and field lists that use each other may be about a thousand
    /// levels deep; `else if` in a row are no levels, of these there may be 4096. No program that people write comes
    /// near; one that a generator wrote can be flattened.
    NESTING_LIMIT = "E0903";
    /// A name is declared twice.
    ///
    /// Each kind of declaration has its own names: a header may be called as its type or as metadata, two headers may
    /// not be called the same.
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
    /// A name means nothing here.
    ///
    /// Declarations may stand in any order, so it is not declared at all, or misspelt.
    ///
    /// ```p4,wrong
    /// table t { actions { nopp; } }
    /// ```
    ///
    /// ```p4
    /// table t { actions { nop; } }
    /// ```
    UNKNOWN_NAME = "E0905";
    /// A name means something else than what is needed here.
    ///
    /// For example a table is applied that is an action, or a whole stack of headers stands where one header is needed.
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
    /// An extern type that lacks an attribute is reported so, too.
    ///
    /// ```p4,wrong
    /// table t { reads { h.x : exact; } actions { nop; } }
    /// ```
    ///
    /// ```p4
    /// table t { reads { h.a : exact; } actions { nop; } }
    /// ```
    UNKNOWN_FIELD = "E0907";
    /// A number is needed whose value is known when the program is compiled.
    ///
    /// Widths, sizes, indexes of stacks, masks, arguments of default actions.
    ///
    /// ```p4,wrong
    /// header h_t stack[h.a];
    /// ```
    ///
    /// ```p4
    /// header h_t stack[4];
    /// ```
    NOT_CONSTANT = "E0908";
    /// A number is too small or too large for its place.
    ///
    /// ```p4,wrong
    /// header_type z_t { fields { a : 0; } }
    /// ```
    ///
    /// ```p4
    /// header_type z_t { fields { a : 1; } }
    /// ```
    OUT_OF_RANGE = "E0909";
    /// A header with a field of variable length does not say its length, has two such fields, or is metadata.
    ///
    /// The header's `length` in bytes, computed from the fields before the one of variable length, says how long that
    /// one is. It cannot be computed with.
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
    /// An argument is not what the primitive takes.
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
    /// There is no primitive and no action of this name.
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
    /// Actions, controls or field lists use each other without end.
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
    /// A truth value stands where a number is needed, or a number where a truth value is needed.
    ///
    /// A condition compares, asks for the validity of a header, or joins such with `and`, `or` and `not`.
    ///
    /// ```p4,wrong
    /// control sub { if (h.a) { } }
    /// ```
    ///
    /// ```p4
    /// control sub { if (h.a != 0) { } }
    /// ```
    WRONG_VALUE = "E0916";
    /// `latest` without a header that was extracted.
    ///
    /// `latest` is the header that the parser extracted last, in the same state or before it. On all ways to a state it
    /// must be the same one.
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
    /// A parser state does not say where it goes.
    ///
    /// ```p4,wrong
    /// parser p { extract(h); }
    /// ```
    ///
    /// ```p4
    /// parser p { extract(h); return ingress; }
    /// ```
    NO_RETURN = "E0919";
    /// Packet headers and metadata are confused.
    ///
    /// Metadata is not extracted, added or removed, and `set_metadata` writes to nothing else; only metadata has first
    /// values.
    ///
    /// ```p4,wrong
    /// parser p { extract(m); return ingress; }
    /// ```
    ///
    /// ```p4
    /// parser p { extract(h); return ingress; }
    /// ```
    HEADER_OR_METADATA = "E0920";
    /// A match kind that does not exist, or that does not fit what is matched.
    ///
    /// The kinds are `exact`, `ternary`, `lpm`, `range`, `valid` and `index`, which is exact here. The validity of a
    /// header has no prefix and no range.
    ///
    /// ```p4,wrong
    /// table t { reads { h.a : fuzzy; } actions { nop; } }
    /// ```
    ///
    /// ```p4
    /// table t { reads { h.a : ternary; } actions { nop; } }
    /// ```
    MATCH_KIND = "E0921";
    /// An algorithm that does not exist.
    ///
    /// The algorithms are `csum16`, `crc16`, `crc32`, `crcCCITT`, `xor16`, `identity`, `random`, `crc16_custom` and
    /// `crc32_custom`, also with `_` behind `crc`.
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
    /// A counter, meter, register or selector lacks what it needs, or has what excludes each other.
    ///
    /// Counters and meters say their `type`; what does not belong to a table says its `instance_count`; a selector has
    /// a `selection_key`.
    ///
    /// ```p4,wrong
    /// counter c { type : packets; }
    /// ```
    ///
    /// ```p4
    /// counter c { type : packets; instance_count : 16; }
    /// ```
    INVALID_ARRAY = "E0923";
    /// What follows a table names an action that the table does not have.
    ///
    /// `hit` and `miss` do not go together with names of actions, either.
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
    /// A part that may be there once is there again.
    ///
    /// ```p4,wrong
    /// table t { actions { nop; } size : 1; size : 2; }
    /// ```
    ///
    /// ```p4
    /// table t { actions { nop; } size : 2; }
    /// ```
    REPEATED_PART = "E0926";
    /// `next` or `last` of a stack where it has no meaning.
    ///
    /// `next` is known in parser states only. `last` is known in actions, conditions and keys, too: the valid element
    /// with the greatest index, for stacks of at most 64 elements.
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
    /// A value set is used with keys of several widths.
    ///
    /// Declare one value set for each width.
    VALUE_SET_WIDTH = "E0929";
    /// The control flow grows too large when the controls that it calls are put in their places.
    ///
    /// Controls and actions stand in the result as often as they are called. Apply a table in one place instead.
    PROGRAM_TOO_LARGE = "E0930";
    /// A `length` without a field of variable length.
    ///
    /// The length of such a header is the sum of its widths, whatever is written.
    LENGTH_IGNORED = "W0901";
    /// Something has no effect on this switch.
    ///
    /// It is left out, and the program means what it would mean without it.
    NO_EFFECT = "W0902";
    /// A packet header that no parser state extracts is never sent.
    ///
    /// The parser says where headers stand in a packet, for those that are added, too. A state that extracts the header
    /// at its place is enough, even if no packet reaches it.
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
    /// The width of a parameter or of a register's cells cannot be told.
    ///
    /// A parameter has the greatest width of what it is used as; one that is not used gets 32 bits, and so does a
    /// register without `width` and `layout`.
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
    /// It runs on a miss, as the program says, but entries cannot have it. Most likely it was forgotten in the list.
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
    /// Which of two entries is the better one is defined for one prefix only. All but the first of these keys are
    /// `ternary`: their entries have masks, and all entries of the table have priorities.
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
