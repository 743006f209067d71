//! The integration tests of `lower`, one program so that they are linked once.

mod copies;
mod hostile;
mod language;
mod metadata_headers;
mod own_externs;
mod parsers;
mod routines;
mod support;
mod tables;
mod v1model;
