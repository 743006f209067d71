//! How the answer to a read request gets to its client.
//!
//! What enters: messages, from a thread that may wait, while nothing is written; and later, when writes go on. What
//! leaves: the same, as a stream. A client that does not read is not waited for: its answer ends with a failure, so
//! that nobody takes a part of an answer for the whole.

use p4runtime_proto::p4::v1;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tokio::sync::{OwnedMutexGuard, mpsc};
use tokio_stream::Stream;
use tokio_stream::wrappers::ReceiverStream;
use tonic::Status;

/// Messages that wait for the client at most, beside those that are collected.
const MESSAGES_MAX: usize = 4;

/// Messages of an answer that are collected while writes wait, so that the answer shows one state. A longer answer
/// shows tables as they change.
const COLLECTED_MAX: usize = 128;

/// How long writes wait for an answer at most. It shows more than one state if that is not enough, as when a million
/// things are asked for at once.
const COLLECTING_TIME_MAX: Duration = Duration::from_secs(1);

/// How long an answer waits for a client that does not read it.
pub(crate) const READER_PATIENCE: Duration = Duration::from_secs(120);

/// Where the messages of an answer go: kept while nothing may be written, then sent one by one.
pub(crate) struct AnswerWriter {
    sender: mpsc::Sender<Result<v1::ReadResponse, Status>>,
    collected: Vec<v1::ReadResponse>,
    turn: Option<OwnedMutexGuard<()>>,
    /// When it got its turn.
    began: Instant,
    /// How long a message waits for the client.
    patience: Duration,
    is_gone: bool,
    /// Whether the client was not waited for any longer.
    is_cut: Arc<AtomicBool>,
}

impl AnswerWriter {
    /// A writer that has its turn, and what the client reads.
    pub fn new(turn: OwnedMutexGuard<()>, patience: Duration) -> (AnswerWriter, Messages) {
        let (sender, receiver) = mpsc::channel(MESSAGES_MAX);
        let is_cut = Arc::new(AtomicBool::new(false));
        let messages = Messages { receiver: ReceiverStream::new(receiver), patience, is_cut: Arc::clone(&is_cut) };
        let (turn, began) = (Some(turn), Instant::now());
        (AnswerWriter { sender, collected: Vec::new(), turn, began, patience, is_gone: false, is_cut }, messages)
    }

    /// Whether nobody waits for more.
    pub fn is_gone(&self) -> bool {
        self.is_gone
    }

    /// False once nobody wants more.
    pub fn push(&mut self, entities: Vec<v1::Entity>) -> bool {
        let answer = v1::ReadResponse { entities };
        self.give_way();
        if self.turn.is_some() && self.collected.len() < COLLECTED_MAX {
            self.collected.push(answer);
            return true;
        }
        self.let_go();
        self.send(Ok(answer))
    }

    /// Lets writes go on if they have waited for too long.
    pub fn give_way(&mut self) {
        if self.turn.is_some() && self.began.elapsed() > COLLECTING_TIME_MAX {
            self.let_go();
        }
    }

    /// Lets writes go on and sends what was collected.
    fn let_go(&mut self) {
        self.turn = None;
        for answer in std::mem::take(&mut self.collected) {
            self.send(Ok(answer));
        }
    }

    fn send(&mut self, answer: Result<v1::ReadResponse, Status>) -> bool {
        if !self.is_gone {
            let sending = tokio::time::timeout(self.patience, self.sender.send(answer));
            let sent = tokio::runtime::Handle::current().block_on(sending);
            self.is_gone = !matches!(sent, Ok(Ok(())));
            self.is_cut.store(sent.is_err(), Ordering::Release);
        }
        !self.is_gone
    }

    /// Ends the answer, with a failure if there is one.
    pub fn finish(mut self, failure: Option<Status>) {
        self.let_go();
        if let Some(status) = failure {
            self.send(Err(status));
        }
    }
}

/// The messages of an answer, for its client.
pub(crate) struct Messages {
    receiver: ReceiverStream<Result<v1::ReadResponse, Status>>,
    patience: Duration,
    is_cut: Arc<AtomicBool>,
}

impl Stream for Messages {
    type Item = Result<v1::ReadResponse, Status>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let next = Pin::new(&mut self.receiver).poll_next(context);
        if let Poll::Ready(None) = next
            && self.is_cut.swap(false, Ordering::Acquire)
        {
            let seconds = self.patience.as_secs();
            let message = format!("nothing of the answer was read for {seconds} seconds: the rest of it is missing");
            return Poll::Ready(Some(Err(Status::deadline_exceeded(message))));
        }
        next
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio_stream::StreamExt as _;
    use tonic::Code;

    /// What a client gets of an answer of so many messages that waits so long for it and that it reads after this time.
    async fn read(count: usize, patience: Duration, delay: Duration) -> (usize, Option<Code>) {
        let turn = Arc::new(tokio::sync::Mutex::new(())).lock_owned().await;
        let (mut answer, mut messages) = AnswerWriter::new(turn, patience);
        let writer = tokio::task::spawn_blocking(move || {
            let _all = (0..count).all(|_| answer.push(Vec::new()));
            answer.finish(None);
        });
        tokio::time::sleep(delay).await;
        let (mut whole, mut failure) = (0, None);
        while let Some(message) = messages.next().await {
            match message {
                Ok(_) => whole += 1,
                Err(status) => failure = Some(status.code()),
            }
        }
        writer.await.unwrap();
        (whole, failure)
    }

    #[tokio::test]
    async fn a_part_of_an_answer_is_not_taken_for_the_whole() {
        assert_eq!(read(300, Duration::from_secs(60), Duration::ZERO).await, (300, None));
        let (got, failure) = read(300, Duration::from_millis(100), Duration::from_secs(2)).await;
        assert!(got < 300, "{got}");
        assert_eq!(failure, Some(Code::DeadlineExceeded));
    }
}
