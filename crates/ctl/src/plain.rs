//! A connection to a switch without TLS: plain HTTP/2.
//!
//! What enters: gRPC requests. What leaves: their responses. A request is sent in one piece, as far as its data is
//! available, so that the switch wakes up only once for it. A general HTTP client, which serves many connections with
//! queues and a task for each body, sends two pieces and takes longer. This matters to a client that reads a few
//! entries at a time and waits for each response.

use http_body::{Body as _, Frame};
use std::error::Error;
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::net::TcpStream;
use tonic::Status;
use tonic::body::Body;
use tonic::codegen::http::{self, Uri, uri};
use tonic::codegen::{BoxFuture, Bytes};

/// The flow-control window, per stream and per connection. Long reads need not wait for each of their parts.
const WINDOW_BYTES: u32 = 4 << 20;

/// A connection. Clones share it.
#[derive(Clone)]
pub(crate) struct Plain {
    requests: h2::client::SendRequest<Bytes>,
    authority: uri::Authority,
}

impl Plain {
    /// Connects to `HOST:PORT`.
    pub async fn connect(address: &str, timeout: Duration) -> io::Result<Plain> {
        let authority = address.parse().map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
        let connecting = async {
            let stream = TcpStream::connect(address).await?;
            // Small requests must not be delayed.
            stream.set_nodelay(true)?;
            let mut settings = h2::client::Builder::new();
            settings.enable_push(false).initial_window_size(WINDOW_BYTES).initial_connection_window_size(WINDOW_BYTES);
            let (requests, connection) = settings.handshake(stream).await.map_err(io::Error::other)?;
            tokio::spawn(async move {
                // All pending requests receive the connection's error.
                let _ended = connection.await;
            });
            Ok(Plain { requests, authority })
        };
        let late = |_| Err(io::Error::new(io::ErrorKind::TimedOut, "deadline has elapsed"));
        tokio::time::timeout(timeout, connecting).await.unwrap_or_else(late)
    }

    /// Sends a request.
    pub fn call(&self, request: http::Request<Body>) -> BoxFuture<http::Response<Body>, Box<dyn Error + Send + Sync>> {
        let (requests, authority) = (self.requests.clone(), self.authority.clone());
        Box::pin(async move {
            ask(requests, authority, request).await.map_err(|error| Box::new(connection_error(error)).into())
        })
    }
}

async fn ask(
    requests: h2::client::SendRequest<Bytes>,
    authority: uri::Authority,
    request: http::Request<Body>,
) -> Result<http::Response<Body>, h2::Error> {
    let (mut head, body) = request.into_parts();
    let mut address = uri::Parts::default();
    (address.scheme, address.authority) = (Some(uri::Scheme::HTTP), Some(authority));
    address.path_and_query = head.uri.into_parts().path_and_query;
    // The parts come from valid addresses, so they cannot fail to form one.
    head.uri = Uri::from_parts(address).unwrap_or_default();
    head.version = http::Version::HTTP_2;
    let mut requests = requests.ready().await?;
    let (answer, sending) = requests.send_request(http::Request::from_parts(head, ()), false)?;
    let mut outgoing = Outgoing { body, sending, next: None };
    // The available part of the body is sent together with the header.
    let is_sent = poll_fn(|context| Poll::Ready(Pin::new(&mut outgoing).poll(context).is_ready())).await;
    if !is_sent {
        tokio::spawn(outgoing);
    }
    let answer = answer.await?;
    Ok(answer.map(|stream| Body::new(Incoming { stream, has_all_data: false })))
}

/// The status for a connection that has failed. Its source shows that the status does not come from the switch.
fn connection_error(error: h2::Error) -> Status {
    let mut status = Status::unavailable(error.to_string());
    status.set_source(Arc::new(error));
    status
}

/// The body of a request being sent. The future completes when everything is handed over or the switch resets the
/// stream.
struct Outgoing {
    body: Body,
    sending: h2::SendStream<Bytes>,
    /// The next piece. It is kept until it is known whether it is the last one, which carries the end of the stream.
    next: Option<Bytes>,
}

impl Future for Outgoing {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let this = self.get_mut();
        loop {
            match Pin::new(&mut this.body).poll_frame(context) {
                Poll::Ready(Some(Ok(frame))) => {
                    let Ok(data) = frame.into_data() else { continue };
                    if let Some(before) = this.next.replace(data)
                        && this.sending.send_data(before, false).is_err()
                    {
                        return Poll::Ready(());
                    }
                }
                Poll::Ready(Some(Err(_))) => {
                    this.sending.send_reset(h2::Reason::CANCEL);
                    return Poll::Ready(());
                }
                Poll::Ready(None) => {
                    // If this fails, the pending response reports the error.
                    let _gone = this.sending.send_data(this.next.take().unwrap_or_default(), true);
                    return Poll::Ready(());
                }
                Poll::Pending => break,
            }
        }
        if let Some(data) = this.next.take()
            && this.sending.send_data(data, false).is_err()
        {
            return Poll::Ready(());
        }
        // The switch may refuse the rest.
        this.sending.poll_reset(context).map(|_| ())
    }
}

/// The body of a response.
struct Incoming {
    stream: h2::RecvStream,
    has_all_data: bool,
}

impl http_body::Body for Incoming {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        if !self.has_all_data {
            if let Some(data) = ready!(self.stream.poll_data(context)) {
                let freed = data.and_then(|data| {
                    self.stream.flow_control().release_capacity(data.len())?;
                    Ok(Frame::data(data))
                });
                return Poll::Ready(Some(freed.map_err(connection_error)));
            }
            self.has_all_data = true;
        }
        let trailers = ready!(self.stream.poll_trailers(context));
        Poll::Ready(trailers.map_err(connection_error).transpose().map(|trailers| trailers.map(Frame::trailers)))
    }
}
