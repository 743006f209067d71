//! Errors as gRPC represents them.
//!
//! A request that fails as a whole has a status with a code and a message. If only some of its parts failed, the code
//! is `UNKNOWN`, and the details (`grpc-status-details-bin`) contain a `p4.v1.Error` for each part, in order.
//!
//! Details are sent in a header, whose size clients limit: to 8 KiB by default. Larger details are shortened step by
//! step: messages are truncated, then omitted, then the type name is written in its shortest form, which is enough
//! for some 320 parts. With more parts only those that failed are included, each with its number in its message, as
//! many as fit: first those that caused the failure, then those that failed because of others. In any case the
//! message of the status has the number of failed parts and names the first ones.

use control::api::{Code as FaultCode, Fault};
use p4runtime_proto::google::rpc;
use p4runtime_proto::p4::v1;
use p4runtime_proto::wire::Wire as _;
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

/// The maximum size of the headers with the message and the details together.
const HEADERS_BYTES_MAX: usize = 7_600;

/// The maximum size of the message of a status.
const MESSAGE_BYTES_MAX: usize = 1_000;

/// The maximum size of a message in details that would otherwise be too large.
const CUT_BYTES_MAX: usize = 90;

/// The same for parts that caused a failure, if all of them fit.
const REASON_BYTES_MAX: usize = 400;

/// The most failed parts that the message names.
const NAMED_MAX: usize = 3;

/// How many of the first parts have individual outcomes, and how many of those that caused failures, and of later
/// parts that failed because of others. A response cannot contain more.
const KEPT_MAX: usize = 400;

/// The type of details, and its shortest form: the part before the last slash says where the type is declared.
const TYPE_URL: &str = "type.googleapis.com/p4.v1.Error";
const SHORT_TYPE_URL: &str = "/p4.v1.Error";

/// The outcomes of the parts of a request, as far as a response can contain them: they may be many.
#[derive(Debug, Default)]
pub(crate) struct Outcomes {
    parts: usize,
    failed: usize,
    /// The first parts.
    first: Vec<Result<(), Fault>>,
    /// Later parts that failed because of others, with their positions.
    later: Vec<(usize, Fault)>,
    /// Parts that failed by themselves.
    reasons: Vec<(usize, Fault)>,
}

impl Outcomes {
    /// Adds the outcome of the next part.
    pub fn push(&mut self, outcome: Result<(), Fault>) {
        let position = self.parts;
        self.parts += 1;
        self.failed += usize::from(outcome.is_err());
        if let Some(fault) = outcome.as_ref().err().filter(|fault| is_reason(fault))
            && self.reasons.len() < KEPT_MAX
        {
            self.reasons.push((position, fault.clone()));
        }
        match outcome {
            outcome if self.first.len() < KEPT_MAX => self.first.push(outcome),
            Err(fault) if !is_reason(&fault) && self.later.len() < KEPT_MAX => self.later.push((position, fault)),
            _ => {}
        }
    }

    /// The parts that have succeeded so far have failed after all, for this reason.
    pub fn fail_all(&mut self, fault: &Fault) {
        self.failed = self.parts;
        for (position, outcome) in self.first.iter_mut().enumerate() {
            if outcome.is_ok() {
                *outcome = Err(fault.clone());
                self.reasons.push((position, fault.clone()));
            }
        }
        self.reasons.sort_by_key(|(position, _)| *position);
        self.reasons.truncate(KEPT_MAX);
    }

    /// How many parts there were.
    pub fn parts(&self) -> usize {
        self.parts
    }

    /// How many failed.
    pub fn failed(&self) -> usize {
        self.failed
    }

    /// The status of the request: an error if a part failed. `part` is the noun for a part.
    pub fn into_result(self, part: &str) -> Result<(), Status> {
        if self.failed == 0 {
            return Ok(());
        }
        let message = self.message(part);
        let bytes = self.details(part, &message).map(|status| status.to_bytes()).unwrap_or_default();
        Err(Status::with_details(Code::Unknown, message, bytes.into()))
    }

    fn message(&self, part: &str) -> String {
        let mut message = format!("{} of {} {part}s failed", self.failed, self.parts);
        for (index, fault) in self.reasons.iter().take(NAMED_MAX) {
            message.push_str(&format!("; {part} {index}: {}", fault.message));
        }
        if self.reasons.len() > NAMED_MAX {
            message.push_str("; ...");
        }
        shortened(&message, MESSAGE_BYTES_MAX)
    }

    fn details(&self, part: &str, message: &str) -> Option<rpc::Status> {
        // Base 64 adds a third.
        let room = HEADERS_BYTES_MAX.saturating_sub(header_bytes(message)) / 4 * 3;
        if self.parts == self.first.len() {
            let forms = [(usize::MAX, TYPE_URL), (CUT_BYTES_MAX, TYPE_URL), (0, TYPE_URL), (0, SHORT_TYPE_URL)];
            for (length, type_url) in forms {
                let all = self.first.iter().map(|it| any(it.as_ref().err(), String::new(), length, type_url));
                let status_message = if length == usize::MAX { message } else { "" };
                let (status, is_whole) = filled(status_message, all, room);
                if is_whole {
                    return Some(status);
                }
            }
        }
        let detail =
            |(index, fault): (usize, &Fault), length| any(Some(fault), format!("{part} {index}: "), length, TYPE_URL);
        let reasons = |length| self.reasons.iter().map(move |(index, fault)| detail((*index, fault), length));
        let has_room = filled("", reasons(REASON_BYTES_MAX), room).1;
        let first = self.first.iter().enumerate().filter_map(|(index, outcome)| Some((index, outcome.as_ref().err()?)));
        let others =
            first.filter(|(_, fault)| !is_reason(fault)).chain(self.later.iter().map(|(index, it)| (*index, it)));
        let others = others.map(|other| detail(other, CUT_BYTES_MAX));
        Some(filled("", reasons(if has_room { REASON_BYTES_MAX } else { CUT_BYTES_MAX }).chain(others), room).0)
    }
}

/// Whether a part failed by itself, and not because of others.
fn is_reason(fault: &Fault) -> bool {
    fault.code != FaultCode::Aborted
}

/// A status with as many details as fit, and whether these are all.
fn filled(message: &str, details: impl Iterator<Item = prost_types::Any>, room: usize) -> (rpc::Status, bool) {
    let mut status = rpc::Status { code: Code::Unknown as i32, message: message.to_owned(), details: Vec::new() };
    let mut bytes = status.encoded_len();
    for any in details {
        // With its tag and its length.
        let length = any.encoded_len();
        bytes += length + 1 + prost::length_delimiter_len(length);
        if bytes > room {
            return (status, false);
        }
        status.details.push(any);
    }
    (status, true)
}

/// One of the details: of a part that failed, or of one that did not.
fn any(fault: Option<&Fault>, what: String, message_bytes_max: usize, type_url: &str) -> prost_types::Any {
    let error = fault.map_or_else(v1::Error::default, |fault| v1::Error {
        canonical_code: code(fault.code) as i32,
        message: if message_bytes_max == 0 { what } else { shortened(&(what + &fault.message), message_bytes_max) },
        ..v1::Error::default()
    });
    prost_types::Any { type_url: type_url.to_owned(), value: error.to_bytes() }
}

/// The length of a message in a header, in which most characters that are neither letters nor digits take three
/// bytes.
fn header_bytes(message: &str) -> usize {
    message.bytes().map(|byte| if byte.is_ascii_alphanumeric() || b"-_.:;,/".contains(&byte) { 1 } else { 3 }).sum()
}

/// A message of at most this many bytes, truncated between two characters.
fn shortened(message: &str, bytes_max: usize) -> String {
    if message.len() <= bytes_max {
        return message.to_owned();
    }
    let end = (0..=bytes_max).rev().find(|&end| message.is_char_boundary(end)).unwrap_or(0);
    format!("{}...", &message[..end])
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn check(outcomes: &[Result<(), Fault>], expect: Expect) {
        let mut text = String::new();
        let mut all = Outcomes::default();
        outcomes.iter().cloned().for_each(|outcome| all.push(outcome));
        if let Err(status) = all.into_result("update") {
            assert!(header_bytes(status.message()) + status.details().len().div_ceil(3) * 4 <= HEADERS_BYTES_MAX);
            let details = rpc::Status::decode(status.details()).unwrap();
            text = format!("{:?}: {}\n", status.code(), status.message());
            for any in details.details.iter().take(4) {
                assert!(any.type_url.ends_with("/p4.v1.Error"));
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
    fn a_batch_of_some_hundred_has_all_its_outcomes() {
        let outcomes: Vec<_> = (0..320).map(|index| if index == 2 { refused("no entry") } else { Ok(()) }).collect();
        check(
            &outcomes,
            expect![[r#"
            Unknown: 1 of 320 updates failed; update 2: no entry
            0 
            0 
            5 
            0 
            320 details"#]],
        );
    }

    #[test]
    fn each_of_128_parts_has_its_outcome_even_if_all_have_failed() {
        let mut all = Outcomes::default();
        (0..128).for_each(|_| all.push(refused(&"a long reason ".repeat(100))));
        let status = all.into_result("update").unwrap_err();
        assert_eq!(rpc::Status::decode(status.details()).unwrap().details.len(), 128);
    }

    #[test]
    fn of_a_large_batch_those_that_failed_are_reported() {
        let outcomes: Vec<_> =
            (0..100_000).map(|index| if index % 30_000 == 7 { refused("no entry") } else { Ok(()) }).collect();
        check(
            &outcomes,
            expect![[r#"
            Unknown: 4 of 100000 updates failed; update 7: no entry; update 30007: no entry; update 60007: no entry; ...
            5 update 7: no entry
            5 update 30007: no entry
            5 update 60007: no entry
            5 update 90007: no entry
            4 details"#]],
        );
    }

    #[test]
    fn the_reason_is_reported_first() {
        let not_tried = || Err(Fault::new(FaultCode::Aborted, "not tried: update 1500 of the batch was refused"));
        let outcomes: Vec<_> =
            (0..2000).map(|index| if index == 1500 { refused(&"no entry ".repeat(20)) } else { not_tried() }).collect();
        check(
            &outcomes,
            expect![[r#"
            Unknown: 2000 of 2000 updates failed; update 1500: no entry no entry no entry no entry no entry no entry no entry no entry no entry no entry no entry no entry no entry no entry no entry no entry no entry no entry no entry no entry 
            5 update 1500: no entry no entry no entry no entry no entry no entry no entry no entry no entry no entry no entry no entry no entry no entry no entry no entry no entry no entry no entry no entry 
            10 update 0: not tried: update 1500 of the batch was refused
            10 update 1: not tried: update 1500 of the batch was refused
            10 update 2: not tried: update 1500 of the batch was refused
            53 details"#]],
        );
    }

    #[test]
    fn what_could_not_be_stored_has_failed_altogether() {
        let mut all = Outcomes::default();
        [Ok(()), refused("no entry"), Ok(())].into_iter().for_each(|outcome| all.push(outcome));
        all.fail_all(&Fault::new(FaultCode::Unavailable, "the disk is full"));
        let status = all.into_result("update").unwrap_err();
        expect!["3 of 3 updates failed; update 0: the disk is full; update 1: no entry; update 2: the disk is full"]
            .assert_eq(status.message());
    }

    #[test]
    fn details_that_clients_would_not_take_are_shortened() {
        check(
            &vec![refused(&"a long story ".repeat(20)); 30],
            expect![[r#"
                Unknown: 30 of 30 updates failed; update 0: a long story a long story a long story a long story a long story a long story a long story a long story a long story a long story a long story a long story a long story a long story a long story a long story a long story a long story a long story a long story ; update 1: a long story a long story a long story a long story a long story a long story a long story a long story a long story a long story a long story a long story a long story a long story a long story a long story a long story a long story a long story a long story ; update 2: a long story a long story a long story a long story a long story a long story a long story a long story a long story a long story a long story a long story a long story a long story a long story a long story a long story a long story a long story a long story ; ...
                5 a long story a long story a long story a long story a long story a long story a long story...
                5 a long story a long story a long story a long story a long story a long story a long story...
                5 a long story a long story a long story a long story a long story a long story a long story...
                5 a long story a long story a long story a long story a long story a long story a long story...
                30 details"#]],
        );
        check(
            &vec![refused("no entry"); 10_000],
            expect![[r#"
                Unknown: 10000 of 10000 updates failed; update 0: no entry; update 1: no entry; update 2: no entry; ...
                5 update 0: no entry
                5 update 1: no entry
                5 update 2: no entry
                5 update 3: no entry
                93 details"#]],
        );
    }
}
