//! The intermediate representation: types, text form, verifier
