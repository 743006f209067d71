//! Why an update or a query was refused.

use std::fmt;
use switch::{Closed, ReplicationError};
use tables::{Problem, TableError};

/// The kind of a refusal, named as in gRPC's canonical codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// The request is not valid for this program.
    InvalidArgument,
    /// What it refers to does not exist.
    NotFound,
    /// What it creates exists already.
    AlreadyExists,
    /// The program or the switch forbids it.
    PermissionDenied,
    /// There is no room.
    ResourceExhausted,
    /// It would be valid in another state of the switch.
    FailedPrecondition,
    /// Undone, or not tried, because another update of its batch was refused.
    Aborted,
    /// A cell outside its array.
    OutOfRange,
    /// Known, but not implemented here.
    Unimplemented,
    /// It exceeded its time limit.
    DeadlineExceeded,
    /// The switch is shutting down.
    Unavailable,
}

/// A refusal: its kind, and a message that says what was requested, what is wrong and what would be valid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The kind.
    pub code: Code,
    /// The message for users.
    pub message: String,
}

impl Fault {
    /// A refusal of this kind.
    pub fn new(code: Code, message: impl Into<String>) -> Fault {
        Fault { code, message: message.into() }
    }

    /// A request that is not valid for this program.
    pub fn invalid(message: impl Into<String>) -> Fault {
        Fault::new(Code::InvalidArgument, message)
    }
}

impl std::error::Error for Fault {}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl From<TableError> for Fault {
    fn from(error: TableError) -> Fault {
        let code = match &error.problem {
            Problem::Duplicate { .. } => Code::AlreadyExists,
            Problem::Full { .. } | Problem::ProfileFull { .. } | Problem::TooManyChoices { .. } => {
                Code::ResourceExhausted
            }
            Problem::ConstEntries
            | Problem::ConstEntry { .. }
            | Problem::ConstDefault
            | Problem::DefaultOnly { .. }
            | Problem::TableOnly { .. } => Code::PermissionDenied,
            Problem::UnknownHandle { .. } | Problem::UnknownMember { .. } | Problem::UnknownGroup { .. } => {
                Code::NotFound
            }
            Problem::MemberInUse { .. } | Problem::GroupInUse { .. } | Problem::MemberInGroup { .. } => {
                Code::FailedPrecondition
            }
            _ => Code::InvalidArgument,
        };
        Fault::new(code, error.to_string())
    }
}

impl From<ReplicationError> for Fault {
    fn from(error: ReplicationError) -> Fault {
        let code = match error {
            ReplicationError::NoGroup(_) | ReplicationError::NoSession(_) => Code::NotFound,
            ReplicationError::TooMany(_) => Code::ResourceExhausted,
            _ => Code::InvalidArgument,
        };
        Fault::new(code, error.to_string())
    }
}

impl From<Closed> for Fault {
    fn from(_: Closed) -> Fault {
        Fault::new(Code::Unavailable, "the switch is shutting down and accepts no more requests")
    }
}
