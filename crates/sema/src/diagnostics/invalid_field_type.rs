//! `E0303`: a field or element of an invalid type.
//!
//! A header contains numbers, booleans, enums with a representation, and structs of these. A header union contains
//! headers. Structs and tuples contain any value that exists at run time. Tables, parsers, controls and extern objects
//! cannot be contained in a type.
//!
//! ```p4,wrong
//! struct S { bit<8> x; }
//! header H { tuple<bit<8>> t; }
//! ```
//!
//! ```p4
//! struct S { bit<8> x; }
//! header H { S s; }
//! ```
//!
//! Specification: P4 data types, Type nesting rules.

use base::Span;
use syntax::diag::Diagnostic;

/// `owner` has its article.
pub(crate) fn invalid_field_type(span: Span, owner: &str, found: &str) -> Diagnostic {
    Diagnostic::error("E0303", span, format!("{owner} cannot contain a value of type {found}"))
        .label(format!("not allowed in {owner}"))
}

#[cfg(test)]
mod tests {
    use crate::testing::check_errors;
    use expect_test::expect;

    #[test]
    fn headers_unions_structs() {
        check_errors(
            "
            extern X { X(); }
            struct S { bit<8> a; }
            header H { int n; string s; S ok; error e; X x; tuple<bit<8>> t; }
            header_union U { bit<8> a; }
            struct T { int n; X x; void v; list<bit<8>> l; }
            typedef tuple<X> Y;",
            expect![[r#"
                t.p4:4:24: error[E0303]: a header cannot contain a value of type int
                  `int`: not allowed in a header
                t.p4:4:31: error[E0303]: a header cannot contain a value of type string
                  `string`: not allowed in a header
                t.p4:4:47: error[E0303]: a header cannot contain a value of type error
                  `error`: not allowed in a header
                t.p4:4:56: error[E0303]: a header cannot contain a value of type X
                  `X`: not allowed in a header
                t.p4:4:61: error[E0303]: a header cannot contain a value of type tuple<bit<8>>
                  `tuple<bit<8>>`: not allowed in a header
                t.p4:5:30: error[E0303]: a header union cannot contain a value of type bit<8>
                  `bit<8>`: not allowed in a header union
                t.p4:6:24: error[E0303]: a struct cannot contain a value of type int
                  `int`: not allowed in a struct
                t.p4:6:31: error[E0303]: a struct cannot contain a value of type X
                  `X`: not allowed in a struct
                t.p4:6:36: error[E0303]: a struct cannot contain a value of type void
                  `void`: not allowed in a struct
                t.p4:6:44: error[E0303]: a struct cannot contain a value of type list<bit<8>>
                  `list<bit<8>>`: not allowed in a struct
                t.p4:7:27: error[E0303]: a tuple cannot contain a value of type X
                  `X`: not allowed in a tuple
            "#]],
        );
    }
}
