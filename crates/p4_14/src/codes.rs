//! The codes of this crate's diagnostics: one for each kind of fault, never reused for another.
//!
//! `E09..` are errors and `W09..` warnings about P4_14 programs. What the preprocessor and the lexer find has their own
//! codes. The test `tests/codes.rs` shows each of them.

macro_rules! codes {
    ($($(#[doc = $doc:literal])+ $name:ident = $code:literal;)*) => {
        $($(#[doc = $doc])+ pub const $name: &str = $code;)*

        /// Every code of this crate.
        pub const ALL: &[&str] = &[$($name,)*];
    };
}

codes! {
    /// Something else is expected here.
    UNEXPECTED_TOKEN = "E0901";
    /// A number that is none.
    INVALID_NUMBER = "E0902";
    /// The program is nested too deeply.
    NESTING_LIMIT = "E0903";
    /// A name is declared twice.
    DUPLICATE_NAME = "E0904";
    /// A name means nothing here.
    UNKNOWN_NAME = "E0905";
    /// A name means something else than what is needed here.
    WRONG_KIND = "E0906";
    /// A header type has no such field.
    UNKNOWN_FIELD = "E0907";
    /// A number is needed whose value is known when the program is compiled.
    NOT_CONSTANT = "E0908";
    /// A number is too small or too large for its place.
    OUT_OF_RANGE = "E0909";
    /// A header with a field of variable length does not say its length, has two such fields, or is metadata.
    VARIABLE_LENGTH = "E0910";
    /// A primitive, action or method is called with the wrong number of arguments.
    ARGUMENT_COUNT = "E0912";
    /// An argument is not what the primitive takes.
    WRONG_ARGUMENT = "E0913";
    /// There is no primitive and no action of this name.
    UNKNOWN_ACTION = "E0914";
    /// Actions, controls or field lists use each other without end.
    RECURSION = "E0915";
    /// A truth value stands where a number is needed, or a number where a truth value is needed.
    WRONG_VALUE = "E0916";
    /// `latest` without a header that was extracted.
    LATEST_WITHOUT_EXTRACT = "E0917";
    /// The program has no parser state `start`.
    NO_START_STATE = "E0918";
    /// A parser state does not say where it goes.
    NO_RETURN = "E0919";
    /// Packet headers and metadata are confused.
    HEADER_OR_METADATA = "E0920";
    /// A match kind that does not exist, or that does not fit what is matched.
    MATCH_KIND = "E0921";
    /// An algorithm that does not exist.
    UNKNOWN_ALGORITHM = "E0922";
    /// A counter, meter or register lacks what it needs, or has what excludes each other.
    INVALID_ARRAY = "E0923";
    /// A table has no actions, or names an action that its parts do not have.
    TABLE_ACTIONS = "E0925";
    /// A part that may be there once is there again.
    REPEATED_PART = "E0926";
    /// A construct that has no meaning on this switch.
    UNSUPPORTED = "E0927";
    /// A value set is used with keys of several widths.
    VALUE_SET_WIDTH = "E0929";
    /// The control flow grows too large when the controls that it calls are put in their places.
    PROGRAM_TOO_LARGE = "E0930";
    /// A `length` without a field of variable length.
    LENGTH_IGNORED = "W0901";
    /// Something has no effect on this switch.
    NO_EFFECT = "W0902";
    /// A packet header that no parser state extracts is never sent.
    NEVER_SENT = "W0903";
    /// The width of a parameter cannot be told from its uses.
    WIDTH_ASSUMED = "W0904";
}
