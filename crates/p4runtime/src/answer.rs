//! Sends the response to a read request.
//!
//! What enters: entities, from a thread that may block, while nothing is written. What leaves: the same as messages
//! of a stream, once all of them are collected and writes continue: the response shows one state, however long it is
//! and however slow its client. Entities wait in encoded form. The memory for this is limited for all responses
//! together, and each connection has a share; a longer response is refused. No thread waits for a client that does
//! not read; after a timeout its response ends with an error, so that no client takes a part of a response for the
//! whole. The timeout is short while there is little memory for others.

use crate::connections::Client;
use crate::shares::Pool;
use crate::tasks;
use p4runtime_proto::encoded;
use p4runtime_proto::p4::v1;
use prost::Message as _;
use prost::bytes::Bytes;
use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tokio::sync::mpsc;
use tokio_stream::Stream;
use tokio_stream::wrappers::ReceiverStream;
use tonic::Status;

/// The most entities and bytes of a message of a response: clients accept 4 MiB by default.
const ENTITIES_MAX: usize = 512;
const MESSAGE_BYTES_MAX: usize = 1 << 20;

/// The most messages that wait for the client, beside those that are collected.
const MESSAGES_MAX: usize = 4;

/// The most bytes of all responses that wait for their clients: some million entries of tables.
const POOL_BYTES: usize = 512 << 20;

/// The longest time for collecting a response. A million entries take a second or two; a million queries may take
/// longer.
pub(crate) const COLLECTING_TIME_MAX: Duration = Duration::from_secs(20);

/// How long a response waits for a client that does not read it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReadTimeouts {
    /// While there is memory for others.
    pub usual: Duration,
    /// While there is little, unless it is for a primary controller.
    pub scarce: Duration,
}

pub(crate) const READ_TIMEOUTS: ReadTimeouts =
    ReadTimeouts { usual: Duration::from_secs(120), scarce: Duration::from_secs(5) };

/// Bytes of them that are reserved for primary controllers.
const RESERVED_BYTES: usize = 64 << 20;

/// Memory for all responses.
#[derive(Debug)]
pub(crate) struct AnswerPool(Pool);

impl Default for AnswerPool {
    fn default() -> Self {
        AnswerPool(Pool::new(POOL_BYTES, RESERVED_BYTES))
    }
}

/// The connection whose memory a response uses.
#[derive(Clone)]
pub(crate) struct Holder {
    pub pool: Arc<AnswerPool>,
    pub client: Client,
}

/// A waiting message, and its reservation in the pool.
struct Waiting {
    message: encoded::ReadResponse,
    bytes: usize,
    holder: Holder,
}

impl Waiting {
    /// None if there is not enough memory for it.
    fn new(message: encoded::ReadResponse, bytes: usize, holder: &Holder) -> Option<Waiting> {
        let is_taken = holder.pool.0.take(&holder.client.shares().answers, holder.client.is_primary(), bytes);
        is_taken.then(|| Waiting { message, bytes, holder: holder.clone() })
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.holder.pool.0.give_back(&self.holder.client.shares().answers, self.bytes);
    }
}

/// Collects the entities of a response: stored while nothing may be written, then sent.
pub(crate) struct AnswerWriter {
    sender: mpsc::Sender<Result<encoded::ReadResponse, Status>>,
    holder: Holder,
    collected: VecDeque<Waiting>,
    /// The entities of the next message, concatenated, and where each ends.
    bytes: Vec<u8>,
    ends: Vec<usize>,
    began: Instant,
    /// The time limit for collecting the response.
    collecting_time_max: Duration,
    /// The time limits for a message to be read.
    timeouts: ReadTimeouts,
    /// Why there is no response.
    refusal: Option<Status>,
    /// How long the client has read nothing, if its response has ended for that.
    timed_out: Arc<OnceLock<Duration>>,
}

impl AnswerWriter {
    /// A writer, and the stream that the client reads.
    pub fn new(holder: Holder, collecting_time_max: Duration, timeouts: ReadTimeouts) -> (AnswerWriter, Messages) {
        let (sender, receiver) = mpsc::channel(MESSAGES_MAX);
        let timed_out = Arc::default();
        let messages = Messages { receiver: ReceiverStream::new(receiver), timed_out: Arc::clone(&timed_out) };
        let writer = AnswerWriter {
            sender,
            holder,
            collected: VecDeque::new(),
            bytes: Vec::new(),
            ends: Vec::new(),
            began: Instant::now(),
            collecting_time_max,
            timeouts,
            refusal: None,
            timed_out,
        };
        (writer, messages)
    }

    /// Whether to continue: there is memory and time for it, and the client still waits.
    pub fn goes_on(&mut self) -> bool {
        if self.refusal.is_none() && self.began.elapsed() > self.collecting_time_max {
            let seconds = self.collecting_time_max.as_secs();
            self.refuse(format!("the answer takes more than {seconds} seconds"));
        }
        self.refusal.is_none() && !self.sender.is_closed()
    }

    /// Forgets what was collected: it is collected anew, with as much time.
    pub fn begin_anew(&mut self) {
        self.collected.clear();
        self.bytes.clear();
        self.ends.clear();
        self.began = Instant::now();
        self.refusal = None;
    }

    /// Adds an entity.
    pub fn push(&mut self, entity: &v1::Entity) {
        let length = entity.encoded_len();
        if self.ends.len() >= ENTITIES_MAX || self.bytes.len() + length > MESSAGE_BYTES_MAX {
            self.end_message();
        }
        self.bytes.reserve(length);
        entity.encode_raw(&mut self.bytes);
        self.ends.push(self.bytes.len());
    }

    /// Moves the collected entities into a message.
    fn end_message(&mut self) {
        let mut bytes = std::mem::take(&mut self.bytes);
        bytes.shrink_to_fit();
        let whole = Bytes::from(bytes);
        let mut start = 0;
        let slice = |end| whole.slice(std::mem::replace(&mut start, end)..end);
        let entities: Vec<Bytes> = self.ends.drain(..).map(slice).collect();
        if entities.is_empty() || self.refusal.is_some() {
            return;
        }
        let taken = whole.len() + entities.len() * size_of::<Bytes>();
        match Waiting::new(encoded::ReadResponse { entities }, taken, &self.holder) {
            Some(waiting) => self.collected.push_back(waiting),
            None => {
                let mebibytes = POOL_BYTES >> 20;
                self.refuse(format!("the answers that wait for clients take more than {mebibytes} MiB together"));
            }
        }
    }

    fn refuse(&mut self, why: String) {
        self.collected.clear();
        self.refusal = Some(Status::resource_exhausted(format!("{why}: ask for less at once, or try again later")));
    }

    /// Sends what was collected, and ends the response, with an error if there is one. `kept` is dropped then.
    pub fn finish(mut self, failure: Option<Status>, kept: impl Send + 'static) {
        self.end_message();
        let end = self.refusal.take().or(failure);
        // No thread waits for the client.
        tasks::spawn(async move {
            let _kept = kept;
            while let Some(mut waiting) = self.collected.pop_front() {
                if !self.send(Ok(std::mem::take(&mut waiting.message))).await {
                    return;
                }
            }
            if let Some(status) = end {
                self.send(Err(status)).await;
            }
        });
    }

    /// False once the client is gone.
    async fn send(&self, answer: Result<encoded::ReadResponse, Status>) -> bool {
        let began = Instant::now();
        let step = self.timeouts.usual.min(self.timeouts.scarce);
        loop {
            match tokio::time::timeout(step, self.sender.reserve()).await {
                Ok(Ok(place)) => {
                    place.send(answer);
                    return true;
                }
                Ok(Err(_)) => return false,
                Err(_) if began.elapsed() >= self.timeouts.usual || self.is_in_the_way() => {
                    let _ = self.timed_out.set(began.elapsed());
                    return false;
                }
                Err(_) => {}
            }
        }
    }

    /// Whether others need the memory of a response that is not read.
    fn is_in_the_way(&self) -> bool {
        self.holder.pool.0.is_scarce() && !self.holder.client.is_primary()
    }
}

/// The messages of a response, for its client.
pub(crate) struct Messages {
    receiver: ReceiverStream<Result<encoded::ReadResponse, Status>>,
    timed_out: Arc<OnceLock<Duration>>,
}

impl Stream for Messages {
    type Item = Result<encoded::ReadResponse, Status>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let next = Pin::new(&mut self.receiver).poll_next(context);
        if let Poll::Ready(None) = next
            && let Some(timed_out) = std::mem::take(&mut self.timed_out).get()
        {
            let seconds = timed_out.as_secs();
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

    /// An entity of some 200 bytes.
    fn entity() -> v1::Entity {
        let entry = v1::TableEntry { table_id: 7, metadata: vec![9; 200], ..v1::TableEntry::default() };
        v1::Entity { entity: Some(v1::entity::Entity::TableEntry(entry)) }
    }

    fn holder(pool: &Arc<AnswerPool>) -> Holder {
        Holder { pool: Arc::clone(pool), client: Client::default() }
    }

    /// What a client gets of a response with this number of entities and these time limits, if it reads after this
    /// time.
    async fn read(
        pool: &Arc<AnswerPool>,
        count: usize,
        collecting_time_max: Duration,
        usual: Duration,
        delay: Duration,
    ) -> (usize, Option<(Code, String)>) {
        let (mut answer, mut messages) = AnswerWriter::new(holder(pool), collecting_time_max, timeouts(usual));
        let writer = tokio::task::spawn_blocking(move || {
            for _ in 0..count {
                if answer.goes_on() {
                    answer.push(&entity());
                }
            }
            answer.finish(None, ());
        });
        tokio::time::sleep(delay).await;
        let (mut whole, mut failure) = (0, None);
        while let Some(message) = messages.next().await {
            match message {
                Ok(message) => {
                    let sent = v1::ReadResponse::decode(message.encode_to_vec().as_slice()).unwrap().entities;
                    assert!(sent.len() <= ENTITIES_MAX && sent.iter().all(|it| *it == entity()));
                    whole += sent.len();
                }
                Err(status) => failure = Some((status.code(), status.message().to_owned())),
            }
        }
        writer.await.unwrap();
        (whole, failure)
    }

    const MINUTE: Duration = Duration::from_secs(60);

    fn timeouts(usual: Duration) -> ReadTimeouts {
        ReadTimeouts { usual, scarce: Duration::from_millis(100) }
    }

    #[tokio::test]
    async fn a_part_of_an_answer_is_not_taken_for_the_whole() {
        let pool = Arc::default();
        assert_eq!(read(&pool, 100_000, MINUTE, MINUTE, Duration::ZERO).await, (100_000, None));
        let slow = read(&pool, 100_000, MINUTE, Duration::from_millis(100), Duration::from_secs(2)).await;
        assert!(slow.0 < 100_000, "{}", slow.0);
        assert_eq!(slow.1.unwrap().0, Code::DeadlineExceeded);
        assert_eq!(pool.0.left(), POOL_BYTES);
    }

    #[tokio::test]
    async fn who_does_not_read_gives_way_where_memory_is_scarce() {
        let pool: Arc<AnswerPool> = Arc::default();
        let two_seconds = Duration::from_secs(2);
        assert_eq!(read(&pool, 100_000, MINUTE, MINUTE, two_seconds).await, (100_000, None), "there is enough");
        let (others, taken) = (crate::shares::Share::default(), POOL_BYTES - RESERVED_BYTES - (40 << 20));
        assert!(pool.0.take(&others, true, taken));
        let (whole, failure) = read(&pool, 100_000, MINUTE, MINUTE, two_seconds).await;
        assert!(whole < 100_000, "{whole}");
        assert_eq!(failure.unwrap().0, Code::DeadlineExceeded);
        assert_eq!(read(&pool, 100_000, MINUTE, MINUTE, Duration::ZERO).await, (100_000, None), "who reads gets all");
        pool.0.give_back(&others, taken);
        assert_eq!(pool.0.left(), POOL_BYTES);
    }

    #[tokio::test]
    async fn what_there_is_no_room_or_time_for_is_refused_as_a_whole() {
        let pool = Arc::new(AnswerPool(Pool::new(1 << 20, 0)));
        let expected = "the answers that wait for clients take more than 512 MiB together: ask for less at once, or \
                        try again later";
        let refused = Some((Code::ResourceExhausted, expected.to_owned()));
        assert_eq!(read(&pool, 100_000, MINUTE, MINUTE, Duration::ZERO).await, (0, refused));
        assert_eq!(read(&pool, 1000, MINUTE, MINUTE, Duration::ZERO).await, (1000, None));
        let (got, refusal) = read(&pool, 1000, Duration::ZERO, MINUTE, Duration::ZERO).await;
        assert_eq!((got, refusal.unwrap().0), (0, Code::ResourceExhausted));
        assert_eq!(pool.0.left(), 1 << 20);
    }

    #[tokio::test]
    async fn nothing_is_collected_for_a_client_that_has_gone() {
        let (mut answer, messages) = AnswerWriter::new(holder(&Arc::default()), MINUTE, timeouts(MINUTE));
        assert!(answer.goes_on());
        drop(messages);
        assert!(!answer.goes_on());
    }
}
