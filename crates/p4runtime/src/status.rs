//! Failures as gRPC carries them.
//!
//! A request that fails as a whole has a status with a code and a message. One of which some parts failed has the code
//! `UNKNOWN`, and in its details (`grpc-status-details-bin`) a `p4.v1.Error` for each part, in their order.
//!
//! Details travel in a header, whose size clients limit: to 8 KiB if they do not ask for more. Details that would be
//! larger lose their messages, and if that does not help all of them are left out; a client that got nothing but a
//! broken connection would know less. The message of the status names the first parts that failed in any case.

use control::api::{Code as FaultCode, Fault};
use p4runtime_proto::google::rpc;
use p4runtime_proto::p4::v1;
use prost::Message;
use tonic::{Code, Status};

/// The code of gRPC for a refusal.
pub(crate) fn code(code: FaultCode) -> Code {
    match code {
        FaultCode::InvalidArgument => Code::InvalidArgument,
        FaultCode::NotFound => Code::NotFound,
        FaultCode::AlreadyExists => Code::AlreadyExists,
        FaultCode::PermissionDenied => Code::PermissionDenied,
        FaultCode::ResourceExhausted => Code::ResourceExhausted,
        FaultCode::FailedPrecondition => Code::FailedPrecondition,
        FaultCode::Aborted => Code::Aborted,
        FaultCode::OutOfRange => Code::OutOfRange,
        FaultCode::Unimplemented => Code::Unimplemented,
        FaultCode::DeadlineExceeded => Code::DeadlineExceeded,
        FaultCode::Unavailable => Code::Unavailable,
    }
}

/// The status of a request that was refused as a whole.
pub(crate) fn of(fault: Fault) -> Status {
    Status::new(code(fault.code), fault.message)
}

/// The most bytes of all details together. In base 64 they are a third more.
const DETAILS_BYTES_MAX: usize = 5_500;

/// The most bytes of the message of a status.
const MESSAGE_BYTES_MAX: usize = 1_000;

/// Parts that failed which the message names at most.
const NAMED_MAX: usize = 3;

/// The status of a request with these outcomes: an error if one of them is. `part` is what they are outcomes of.
pub(crate) fn of_all(part: &str, outcomes: &[Result<(), Fault>]) -> Result<(), Status> {
    let failed = || outcomes.iter().enumerate().filter_map(|(index, outcome)| Some((index, outcome.as_ref().err()?)));
    let count = failed().count();
    if count == 0 {
        return Ok(());
    }
    let mut message = format!("{count} of {} {part}s failed", outcomes.len());
    for (position, (index, fault)) in failed().filter(|(_, fault)| fault.code != FaultCode::Aborted).enumerate() {
        if position == NAMED_MAX {
            message.push_str("; ...");
            break;
        }
        message.push_str(&format!("; {part} {index}: {}", fault.message));
    }
    shorten(&mut message);
    let status = details(outcomes, &message);
    let bytes = status.map(|status| status.encode_to_vec()).unwrap_or_default();
    Err(Status::with_details(Code::Unknown, message, bytes.into()))
}

/// Cuts a message, between two characters.
fn shorten(message: &mut String) {
    if message.len() > MESSAGE_BYTES_MAX {
        let end = (0..=MESSAGE_BYTES_MAX).rev().find(|&end| message.is_char_boundary(end)).unwrap_or(0);
        message.truncate(end);
        message.push_str("...");
    }
}

fn details(outcomes: &[Result<(), Fault>], message: &str) -> Option<rpc::Status> {
    for with_messages in [true, false] {
        let mut status = rpc::Status { code: Code::Unknown as i32, message: message.to_owned(), details: Vec::new() };
        if !with_messages {
            status.message.clear();
        }
        let mut bytes = status.encoded_len();
        for outcome in outcomes {
            let error = match outcome {
                Ok(()) => v1::Error::default(),
                Err(fault) => error(fault, with_messages),
            };
            let any = prost_types::Any { type_url: TYPE_URL.to_owned(), value: error.encode_to_vec() };
            bytes += any.encoded_len() + 2;
            if bytes > DETAILS_BYTES_MAX {
                break;
            }
            status.details.push(any);
        }
        if status.details.len() == outcomes.len() {
            return Some(status);
        }
    }
    None
}

const TYPE_URL: &str = "type.googleapis.com/p4.v1.Error";

fn error(fault: &Fault, with_message: bool) -> v1::Error {
    let message = if with_message { fault.message.clone() } else { String::new() };
    v1::Error { canonical_code: code(fault.code) as i32, message, ..v1::Error::default() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn check(outcomes: &[Result<(), Fault>], expect: Expect) {
        let mut text = String::new();
        if let Err(status) = of_all("update", outcomes) {
            let details = rpc::Status::decode(status.details()).unwrap();
            text = format!("{:?}: {}\n", status.code(), status.message());
            for any in details.details.iter().take(4) {
                let error = v1::Error::decode(any.value.as_slice()).unwrap();
                text.push_str(&format!("{} {}\n", error.canonical_code, error.message));
            }
            text.push_str(&format!("{} details", details.details.len()));
        }
        expect.assert_eq(&text);
    }

    fn refused(message: &str) -> Result<(), Fault> {
        Err(Fault::new(FaultCode::NotFound, message))
    }

    #[test]
    fn every_outcome_has_its_place() {
        check(&[Ok(()), Ok(())], expect![""]);
        check(
            &[Ok(()), refused("no entry"), Ok(())],
            expect![[r#"
                Unknown: 1 of 3 updates failed; update 1: no entry
                0 
                5 no entry
                0 
                3 details"#]],
        );
    }

    #[test]
    fn details_that_clients_would_not_take_are_shortened() {
        check(
            &vec![refused(&"a long story ".repeat(20)); 30],
            expect![[r#"
                Unknown: 30 of 30 updates failed; update 0: a long story a long story a long story a long story a long story a long story a long story a long story a long story a long story a long story a long story a long story a long story a long story a long story a long story a long story a long story a long story ; update 1: a long story a long story a long story a long story a long story a long story a long story a long story a long story a long story a long story a long story a long story a long story a long story a long story a long story a long story a long story a long story ; update 2: a long story a long story a long story a long story a long story a long story a long story a long story a long story a long story a long story a long story a long story a long story a long story a long story a long story a long story a long story a long story ; ...
                5 
                5 
                5 
                5 
                30 details"#]],
        );
        check(
            &vec![refused("no entry"); 10_000],
            expect![[r#"
                Unknown: 10000 of 10000 updates failed; update 0: no entry; update 1: no entry; update 2: no entry; ...
                0 details"#]],
        );
    }
}
