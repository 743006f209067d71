//! Why an update or a query was refused.

use std::fmt;
use switch::{Closed, ReplicationError};
use tables::{Problem, TableError};

/// The kind of a refusal, named as in gRPC's canonical codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// The request means nothing for this program.
    InvalidArgument,
    /// What it speaks of is not there.
    NotFound,
    /// What it makes is there already.
    AlreadyExists,
    /// The program or the switch forbids it.
    PermissionDenied,
    /// There is no room.
    ResourceExhausted,
    /// It would be right in another state of the switch.
    FailedPrecondition,
    /// Taken back, or not tried, because another update of its batch was refused.
    Aborted,
    /// A cell outside its array.
    OutOfRange,
    /// Known, and not done here.
    Unimplemented,
    /// It took longer than it may.
    DeadlineExceeded,
    /// The switch is ending.
    Unavailable,
}

/// A refusal: what kind, and in words what was asked, what is wrong and what would be right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The kind.
    pub code: Code,
    /// For people.
    pub message: String,
}

impl Fault {
    /// A refusal of this kind.
    pub fn new(code: Code, message: impl Into<String>) -> Fault {
        Fault { code, message: message.into() }
    }

    /// A request that means nothing for this program.
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
            ReplicationError::GroupExists(_) => Code::AlreadyExists,
            ReplicationError::NoGroup(_) | ReplicationError::NoNode(_) | ReplicationError::NoSession(_) => {
                Code::NotFound
            }
            ReplicationError::TooMany(_) => Code::ResourceExhausted,
            _ => Code::InvalidArgument,
        };
        Fault::new(code, error.to_string())
    }
}

impl From<Closed> for Fault {
    fn from(_: Closed) -> Fault {
        Fault::new(Code::Unavailable, "the switch is ending: it takes no more requests")
    }
}
