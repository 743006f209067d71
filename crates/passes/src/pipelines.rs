//! The pipelines: which passes run, in which order.

use crate::{Pass, chains, dead_code, dead_stores, inline, propagate, simplify, unread, unrequested, unroll, validity};

/// The standard pipeline. The first round removes the temporaries of lowering; the second uses the constants and
/// decided branches that this uncovers, and the names that elements of stacks get between the two.
pub const STANDARD: &[Pass] = &[
    inline::PASS,
    simplify::PASS,
    propagate::PASS,
    validity::PASS,
    simplify::PASS,
    dead_code::PASS,
    dead_stores::PASS,
    chains::PASS,
    unroll::PASS,
    propagate::PASS,
    validity::PASS,
    unrequested::PASS,
    simplify::PASS,
    dead_code::PASS,
    dead_stores::PASS,
    unread::PASS,
];

/// All passes, for `--passes` and for tests.
pub const ALL: &[Pass] = &[
    inline::PASS,
    simplify::PASS,
    propagate::PASS,
    validity::PASS,
    dead_code::PASS,
    dead_stores::PASS,
    chains::PASS,
    unroll::PASS,
    unread::PASS,
    unrequested::PASS,
];
