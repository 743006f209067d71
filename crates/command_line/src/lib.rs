//! What the commands share that speak to people: `wirespeed`, and those of applications.
//!
//! What enters: messages, results, events of all crates (`tracing`). What leaves: lines on standard output and standard
//! error, in the form that the user has chosen.
//!
//! * [`terminal`]: messages, results, progress, colours. [`logging`]: the log of a running switch.
//! * [`Exit`]: how a command ends.
//! * [`tls`]: the options of TLS connections. [`pem`]: their files.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "this is the crate that speaks to the terminal")]

pub mod logging;
pub mod pem;
pub mod terminal;
pub mod tls;

/// How the command ended, as its exit status.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Exit {
    /// Everything went well.
    Success = 0,
    /// The program, the entries or another input is wrong; errors have been shown.
    BadInput = 1,
    /// The arguments are invalid (the number that clap uses, too).
    Usage = 2,
    /// The system refused something: a port, a file, a compiler.
    System = 3,
    /// A bug of ours; the work on other inputs continued.
    Internal = 4,
}
