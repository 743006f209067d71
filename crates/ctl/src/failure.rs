//! Errors between a command and the switch.

use control::Problem;
use p4runtime_proto::google::rpc;
use p4runtime_proto::p4::v1;
use p4runtime_proto::wire::Wire as _;
use std::error::Error as _;
use std::fmt;
use tonic::{Code, Status};

/// Why a command failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The command is wrong, or the switch refused it. There is one problem for each refused update.
    Refused(Vec<Problem>),
    /// The switch cannot be reached.
    Connection(Problem),
}

impl From<Problem> for Failure {
    fn from(problem: Problem) -> Failure {
        Failure::Refused(vec![problem])
    }
}

impl From<Status> for Failure {
    fn from(status: Status) -> Failure {
        // A status that the switch itself sends, for example because of a full disk, has no source on this side.
        if status.code() == Code::Unavailable && status.source().is_some() {
            return Failure::Connection(Problem::new(format!("the switch cannot be reached: {}", status.message())));
        }
        let parts = parts(&status);
        if !parts.is_empty() {
            return Failure::Refused(parts);
        }
        let message = match status.message() {
            "" => format!("the switch refused it: {}", code_name(status.code() as i32)),
            message => message.to_owned(),
        };
        Problem::new(message).into()
    }
}

/// What became of each update, from the details of a status; none if it has no details.
fn errors(status: &Status) -> Vec<v1::Error> {
    let Ok(details) = rpc::Status::from_bytes(status.details().to_vec().into()) else { return Vec::new() };
    details.details.iter().filter_map(|any| v1::Error::from_bytes(any.value.clone().into()).ok()).collect()
}

/// The refused updates of a write with `count` updates, by index. `None` if the status does not describe each update.
pub(crate) fn refused_updates(status: &Status, count: usize) -> Option<Vec<(usize, RefusedUpdate)>> {
    let errors = errors(status);
    let problem = |error: v1::Error| RefusedUpdate {
        code: Code::from_i32(error.canonical_code),
        problem: Problem::new(message(&error)),
    };
    let refused = |(index, error): (usize, v1::Error)| (error.canonical_code != 0).then(|| (index, problem(error)));
    (errors.len() == count).then(|| errors.into_iter().enumerate().filter_map(refused).collect())
}

/// Why the switch refused an update.
#[derive(Clone, Debug)]
pub struct RefusedUpdate {
    /// The canonical code.
    pub code: Code,
    /// The reason.
    pub problem: Problem,
}

/// The refused updates, from the details of a status. If the details are empty, the status' message describes the
/// error.
fn parts(status: &Status) -> Vec<Problem> {
    let errors = errors(status);
    let is_one = errors.len() == 1;
    let failed: Vec<(usize, v1::Error)> =
        errors.into_iter().enumerate().filter(|(_, error)| error.canonical_code != 0).collect();
    let problem = |(index, error): &(usize, v1::Error)| {
        let message = message(error);
        Problem::new(if is_one { message } else { format!("update {index}: {message}") })
    };
    match failed.iter().all(|(_, error)| error.message.is_empty()) {
        true => Vec::new(),
        false => failed.iter().map(problem).collect(),
    }
}

/// What an error says of an update.
fn message(error: &v1::Error) -> String {
    match error.message.as_str() {
        "" => code_name(error.canonical_code).to_owned(),
        message => message.to_owned(),
    }
}

/// The name of a canonical gRPC code.
fn code_name(code: i32) -> &'static str {
    Code::from_i32(code).description()
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Connection(problem) => write!(f, "{problem}"),
            Failure::Refused(problems) => {
                for (position, problem) in problems.iter().enumerate() {
                    let line_break = if position > 0 { "\n" } else { "" };
                    write!(f, "{line_break}{problem}")?;
                }
                Ok(())
            }
        }
    }
}

impl std::error::Error for Failure {}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    fn refused(messages: &[(i32, &str)]) -> Status {
        let any = |(code, message): &(i32, &str)| {
            let error = v1::Error { canonical_code: *code, message: (*message).to_owned(), ..v1::Error::default() };
            prost_types::Any { type_url: "type.googleapis.com/p4.v1.Error".to_owned(), value: error.to_bytes() }
        };
        let details = messages.iter().map(any).collect();
        let details = rpc::Status { code: 2, message: String::new(), details };
        Status::with_details(Code::Unknown, "1 of 2 updates failed", details.to_bytes().into())
    }

    #[test]
    fn each_update_that_failed_is_a_problem() {
        let failure = Failure::from(refused(&[(0, ""), (5, "no such entry"), (6, "")]));
        expect![[r#"
            update 1: no such entry
            update 2: Some entity that we attempted to create already exists"#]]
        .assert_eq(&failure.to_string());
        expect!["no such entry"].assert_eq(&Failure::from(refused(&[(5, "no such entry")])).to_string());
    }

    #[test]
    fn without_details_the_message_describes_the_error() {
        expect!["1 of 2 updates failed"].assert_eq(&Failure::from(refused(&[(0, ""), (5, "")])).to_string());
        expect!["not primary"].assert_eq(&Failure::from(Status::permission_denied("not primary")).to_string());
        expect!["carried out, but the disk is full"]
            .assert_eq(&Failure::from(Status::unavailable("carried out, but the disk is full")).to_string());
        let closed = tonic::ConnectError(std::io::Error::from(std::io::ErrorKind::ConnectionRefused).into());
        assert!(matches!(Failure::from(Status::from_error(closed.into())), Failure::Connection(_)));
    }
}
