//! The reference interpreter: the meaning of the IR
