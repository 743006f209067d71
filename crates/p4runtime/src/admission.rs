//! Limits on requests: their total memory, and the time in which they must arrive.
//!
//! What enters: requests as they arrive over connections. What leaves: the same, to the services, or refusals. The
//! bytes of a request, as they arrive, and the memory of the decoded message, before it is decoded, are reserved in
//! one pool for all clients, and released when the request has been answered. A request that does not fit is refused
//! at once and may be tried again. A request that announces much and sends little reserves no more than it has sent.

use crate::connections::{Client, Visit, client_of};
use crate::memory;
use crate::server::REQUEST_BYTES_MAX;
use crate::shares;
use crate::tasks::blocking;
use http_body::Frame;
use p4runtime_proto::codec::{BUDGET, Budget};
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::Sleep;
use tonic::Status;
use tonic::body::Body;
use tonic::codegen::{BoxFuture, Bytes, Service, http};

/// Bytes of all requests together, received and decoded.
const POOL_BYTES: usize = 2 << 30;

/// Bytes of them that are reserved for primary controllers.
const RESERVED_BYTES: usize = 256 << 20;

/// The maximum size of a decoded message.
const DECODED_BYTES_MAX: usize = 512 << 20;

/// Requests that have used more than this together leave gaps in the heap that are worth returning to the system.
const LARGE_BYTES: usize = 16 << 20;

/// How long after the end of a large request memory is returned, so that others that end soon are included. While
/// requests keep arriving, memory is returned once per this time.
const TRIM_DELAY: Duration = Duration::from_secs(1);

/// The maximum size of a message on a stream: a packet and its metadata.
const STREAM_MESSAGE_BYTES_MAX: usize = 128 << 10;

/// The timeout for the arrival of a request.
const ARRIVAL_TIME_MAX: Duration = Duration::from_secs(120);

/// The only request with a stream of messages.
const STREAM_PATH: &str = "/p4.v1.P4Runtime/StreamChannel";

/// The prefix of each message: a flag, and the length in four bytes.
const HEADER_BYTES: usize = 5;

/// Memory for all requests.
#[derive(Debug)]
pub(crate) struct Pool {
    memory: shares::Pool,
    /// The memory of requests that have ended since memory was last returned to the system.
    ended_bytes: AtomicUsize,
    /// Whether there is enough of it to be worth the time.
    is_worth: Notify,
}

impl Default for Pool {
    fn default() -> Self {
        let memory = shares::Pool::new(POOL_BYTES, RESERVED_BYTES);
        Pool { memory, ended_bytes: AtomicUsize::new(0), is_worth: Notify::new() }
    }
}

/// Returns memory to the system after large requests, and after many small ones, as long as the server runs.
pub(crate) async fn tidy(pool: Arc<Pool>) {
    loop {
        pool.is_worth.notified().await;
        tokio::time::sleep(TRIM_DELAY).await;
        pool.ended_bytes.store(0, Ordering::Relaxed);
        // If the thread cannot be started, memory stays in the process.
        let _trimmed = blocking(memory::give_back).await;
    }
}

/// A reservation of memory for a request. It is released when the last clone is dropped.
#[derive(Debug)]
struct Reservation {
    pool: Arc<Pool>,
    client: Client,
    held: AtomicUsize,
}

impl Reservation {
    fn give_back(&self, bytes: usize) {
        self.held.fetch_sub(bytes, Ordering::Relaxed);
        self.pool.memory.give_back(&self.client.shares().requests, bytes);
    }
}

impl Budget for Reservation {
    fn take(&self, bytes: usize) -> Result<(), Status> {
        if bytes > DECODED_BYTES_MAX {
            return Err(Status::resource_exhausted(format!(
                "the request takes {} MiB when it is decoded, which is more than the switch has for it: send less at once",
                bytes >> 20
            )));
        }
        let (share, is_primary) = (&self.client.shares().requests, self.client.is_primary());
        if !self.pool.memory.take(share, is_primary, bytes) {
            return Err(Status::resource_exhausted(
                "the requests of all clients take too much memory together: send less at once, or try again later",
            ));
        }
        self.held.fetch_add(bytes, Ordering::Relaxed);
        Ok(())
    }
}

/// Memory for the messages of a stream. There is one message at a time, which is dropped before the next one arrives.
struct OfStream(Arc<Reservation>);

impl Budget for OfStream {
    fn take(&self, bytes: usize) -> Result<(), Status> {
        self.0.take(bytes)?;
        self.0.give_back(bytes);
        Ok(())
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        let held = *self.held.get_mut();
        self.pool.memory.give_back(&self.client.shares().requests, held);
        if self.pool.ended_bytes.fetch_add(held, Ordering::Relaxed).saturating_add(held) >= LARGE_BYTES {
            self.pool.is_worth.notify_one();
        }
    }
}

/// A service whose requests are counted.
#[derive(Clone, Debug)]
pub(crate) struct Admission<S> {
    service: S,
    pool: Arc<Pool>,
}

impl<S> Admission<S> {
    /// Requests for the service reserve memory in the pool.
    pub fn new(service: S, pool: Arc<Pool>) -> Admission<S> {
        Admission { service, pool }
    }
}

impl<S> Service<http::Request<Body>> for Admission<S>
where
    S: Service<http::Request<Body>, Response = http::Response<Body>, Error = Infallible>,
    S::Future: Send + 'static,
{
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = BoxFuture<http::Response<Body>, Infallible>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.service.poll_ready(context)
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let client = client_of(request.extensions());
        let is_stream = request.uri().path() == STREAM_PATH;
        let visit = client.visit(is_stream);
        let reservation = Arc::new(Reservation { pool: Arc::clone(&self.pool), client, held: AtomicUsize::new(0) });
        let counted = Arc::clone(&reservation);
        let request = request.map(|body| Body::new(Incoming::new(body, counted, is_stream)));
        let answering = self.service.call(request);
        let budget: Arc<dyn Budget> = if is_stream { Arc::new(OfStream(reservation)) } else { reservation };
        Box::pin(async move {
            let answer = BUDGET.scope(budget, answering).await?;
            Ok(answer.map(|body| Body::new(Answer { body, _visit: visit })))
        })
    }
}

/// A response. Until its end, its client counts as busy.
struct Answer {
    body: Body,
    _visit: Visit,
}

impl http_body::Body for Answer {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }
}

/// An incoming request.
struct Incoming {
    body: Body,
    reservation: Arc<Reservation>,
    /// None for a stream, which may last.
    deadline: Option<Pin<Box<Sleep>>>,
    headers: Headers,
}

/// Finds the messages in the incoming bytes.
#[derive(Debug, Default)]
struct Headers {
    is_stream: bool,
    /// The bytes of the next prefix that have arrived.
    header: Vec<u8>,
    /// Bytes of the current message that are still to come.
    to_come: usize,
    /// The length of the current message.
    length: usize,
    messages: u64,
}

impl Incoming {
    fn new(body: Body, reservation: Arc<Reservation>, is_stream: bool) -> Incoming {
        let deadline = (!is_stream).then(|| Box::pin(tokio::time::sleep(ARRIVAL_TIME_MAX)));
        Incoming { body, reservation, deadline, headers: Headers { is_stream, ..Headers::default() } }
    }
}

impl Headers {
    /// Reserves memory for the bytes of messages, and on a stream releases it for those that end.
    fn pass(&mut self, mut bytes: &[u8], reservation: &Reservation) -> Result<(), Status> {
        while !bytes.is_empty() {
            if self.to_come == 0 {
                let (part, rest) = bytes.split_at(bytes.len().min(HEADER_BYTES - self.header.len()));
                self.header.extend_from_slice(part);
                bytes = rest;
                if self.header.len() == HEADER_BYTES {
                    self.begin()?;
                }
                continue;
            }
            let taken = bytes.len().min(self.to_come);
            reservation.take(taken)?;
            bytes = &bytes[taken..];
            self.to_come -= taken;
            if self.to_come == 0 && self.is_stream {
                reservation.give_back(self.length);
            }
        }
        Ok(())
    }

    fn begin(&mut self) -> Result<(), Status> {
        let length = self.header[1..].iter().fold(0, |length, &byte| length << 8 | usize::from(byte));
        self.header.clear();
        self.messages += 1;
        if self.is_stream && length > STREAM_MESSAGE_BYTES_MAX {
            return Err(Status::resource_exhausted(format!(
                "a message of the stream has {length} bytes: the maximum is {STREAM_MESSAGE_BYTES_MAX}"
            )));
        }
        if !self.is_stream && length > REQUEST_BYTES_MAX {
            return Err(Status::resource_exhausted(format!(
                "the request has {length} bytes: the maximum is {REQUEST_BYTES_MAX}; send it in several"
            )));
        }
        if !self.is_stream && self.messages > 1 {
            return Err(Status::invalid_argument("such a request is one message, and more have come"));
        }
        (self.to_come, self.length) = (length, length);
        Ok(())
    }
}

impl http_body::Body for Incoming {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let this = &mut *self;
        let frame = match Pin::new(&mut this.body).poll_frame(context) {
            Poll::Ready(frame) => frame,
            Poll::Pending => {
                let is_late = this.deadline.as_mut().is_some_and(|it| it.as_mut().poll(context).is_ready());
                if !is_late {
                    return Poll::Pending;
                }
                this.deadline = None;
                let seconds = ARRIVAL_TIME_MAX.as_secs();
                let status = Status::deadline_exceeded(format!("the request did not arrive within {seconds} seconds"));
                return Poll::Ready(Some(Err(status)));
            }
        };
        if let Some(Ok(frame)) = &frame
            && let Some(data) = frame.data_ref()
            && let Err(refusal) = this.headers.pass(data, &this.reservation)
        {
            return Poll::Ready(Some(Err(refusal)));
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A request of a client with a connection of its own.
    fn of(pool: Arc<Pool>) -> Reservation {
        Reservation { pool, client: Client::default(), held: AtomicUsize::new(0) }
    }

    fn reservation() -> (Arc<Pool>, Reservation) {
        let pool = Arc::new(Pool::default());
        (Arc::clone(&pool), of(pool))
    }

    fn held(reservation: &Reservation) -> usize {
        reservation.held.load(Ordering::Relaxed)
    }

    #[test]
    fn what_is_taken_goes_back() {
        let (pool, first) = reservation();
        first.take(1000).unwrap();
        assert_eq!(pool.memory.left(), POOL_BYTES - 1000);
        let second = of(Arc::clone(&pool));
        let taken = (0..).take_while(|_| second.take(DECODED_BYTES_MAX).is_ok()).count();
        assert_eq!(taken, 2, "one connection does not get all of it");
        let refused = second.take(DECODED_BYTES_MAX).unwrap_err();
        assert!(refused.message().contains("all clients"), "{refused}");
        of(Arc::clone(&pool)).take(64 << 20).unwrap();
        drop((first, second));
        assert_eq!(pool.memory.left(), POOL_BYTES);
    }

    #[test]
    fn a_stream_may_be_long() {
        let (pool, reservation) = reservation();
        let of_stream = OfStream(Arc::new(reservation));
        for _ in 0..=POOL_BYTES / DECODED_BYTES_MAX {
            of_stream.take(DECODED_BYTES_MAX).unwrap();
        }
        assert_eq!(pool.memory.left(), POOL_BYTES);
    }

    #[test]
    fn messages_are_found_however_they_are_cut() {
        let bytes: Vec<u8> = [&[0, 0, 0, 0, 3, 1, 2, 3][..], &[0, 0, 0, 1, 0], &[7; 256]].concat();
        for cut in 1..bytes.len() {
            let (_pool, reservation) = reservation();
            let mut headers = Headers { is_stream: true, ..Headers::default() };
            for part in bytes.chunks(cut) {
                headers.pass(part, &reservation).unwrap();
            }
            assert_eq!((headers.messages, headers.to_come, held(&reservation)), (2, 0, 0));
        }
    }

    #[test]
    fn a_message_is_paid_for_as_it_comes() {
        let (_pool, reservation) = reservation();
        let mut headers = Headers::default();
        headers.pass(&[0, 0, 16, 0, 0, 1], &reservation).unwrap();
        assert_eq!(held(&reservation), 1);
        headers.pass(&[7; 1000], &reservation).unwrap();
        assert_eq!(held(&reservation), 1001);
    }

    #[test]
    fn long_messages_and_second_ones_are_refused() {
        let (_pool, reservation) = reservation();
        let mut stream = Headers { is_stream: true, ..Headers::default() };
        let refusal = stream.pass(&[0, 0, 2, 0, 1], &reservation).unwrap_err();
        assert_eq!(refusal.message(), "a message of the stream has 131073 bytes: the maximum is 131072");
        let mut unary = Headers::default();
        let refusal = unary.pass(&[0, 0, 0, 0, 0, 0, 0, 0, 0, 0], &reservation).unwrap_err();
        assert_eq!(refusal.code(), tonic::Code::InvalidArgument);
    }
}
