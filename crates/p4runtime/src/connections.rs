//! Connections, whose number is limited.
//!
//! What enters: a listening socket. What leaves: connections. When there are too many, the oldest connection without
//! a request is closed, or else the oldest without a stream, which may be one that does not read its response; a
//! controller with an open stream is never disconnected for another client. Clients that cannot connect for lack of
//! TLS, or of a valid certificate, are reported in the log.

use crate::shares::Shares;
use crate::tasks;
use base::OrderedMap;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tonic::codegen::http::Extensions;
use tonic::transport::server::{Connected, TlsConnectInfo};

/// The most clients at a time.
const CONNECTIONS_MAX: usize = 512;

/// The minimum interval between reports of clients that could not connect.
const REPORT_INTERVAL: Duration = Duration::from_secs(1);

/// The connected clients, in the order of their arrival.
struct Clients {
    present: Mutex<OrderedMap<u64, Client>>,
    /// Whether they must use TLS.
    with_tls: bool,
    /// The time of the last report.
    last_report: Mutex<Option<Instant>>,
}

impl Clients {
    fn lock(&self) -> MutexGuard<'_, OrderedMap<u64, Client>> {
        // Each change is one insertion or removal.
        self.present.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reports a client that could not connect, unless another was reported just before.
    fn report(&self, line: &str) {
        let mut last_report = self.last_report.lock().unwrap_or_else(PoisonError::into_inner);
        if last_report.is_none_or(|at| at.elapsed() >= REPORT_INTERVAL) {
            *last_report = Some(Instant::now());
            tracing::warn!("{line}");
        }
    }

    /// Admits one more client. False if all clients are busy.
    fn make_room(&self) -> bool {
        let mut clients = self.lock();
        if clients.len() < CONNECTIONS_MAX {
            return true;
        }
        let oldest = |count: fn(&Presence) -> &AtomicUsize| {
            clients.iter().find(|(_, client)| count(&client.0).load(Ordering::Relaxed) == 0).map(|(&id, _)| id)
        };
        let dispensable = oldest(|presence| &presence.visits).or_else(|| oldest(|presence| &presence.streams));
        match dispensable.and_then(|id| clients.remove(&id)) {
            Some(client) => {
                client.send_away();
                true
            }
            None => false,
        }
    }
}

/// A connected client.
#[derive(Clone, Debug, Default)]
pub(crate) struct Client(Arc<Presence>);

#[derive(Debug, Default)]
struct Presence {
    /// Requests whose response is not complete.
    visits: AtomicUsize,
    /// Those of them that are streams of controllers.
    streams: AtomicUsize,
    /// Whether one of its streams belongs to a primary controller.
    is_primary: AtomicBool,
    shares: Shares,
    must_go: AtomicBool,
    /// The task that reads from the connection.
    reader: Mutex<Option<Waker>>,
}

impl Client {
    /// As long as this exists, the client counts as busy.
    pub fn visit(&self, is_stream: bool) -> Visit {
        self.0.visits.fetch_add(1, Ordering::Relaxed);
        self.0.streams.fetch_add(usize::from(is_stream), Ordering::Relaxed);
        Visit { client: self.clone(), is_stream }
    }

    /// The connection's share of common resources.
    pub fn shares(&self) -> &Shares {
        &self.0.shares
    }

    /// Whether a primary controller uses the connection.
    pub fn is_primary(&self) -> bool {
        self.0.is_primary.load(Ordering::Relaxed)
    }

    /// Sets whether a primary controller uses the connection.
    pub fn set_primary(&self, is_primary: bool) {
        self.0.is_primary.store(is_primary, Ordering::Relaxed);
    }

    fn reader(&self) -> MutexGuard<'_, Option<Waker>> {
        self.0.reader.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn send_away(&self) {
        self.0.must_go.store(true, Ordering::Release);
        if let Some(waker) = self.reader().take() {
            waker.wake();
        }
    }
}

/// A request of a client.
#[derive(Debug)]
pub(crate) struct Visit {
    client: Client,
    is_stream: bool,
}

impl Drop for Visit {
    fn drop(&mut self) {
        self.client.0.visits.fetch_sub(1, Ordering::Relaxed);
        self.client.0.streams.fetch_sub(usize::from(self.is_stream), Ordering::Relaxed);
    }
}

/// The client of the request. A request that did not arrive over a connection comes from this process.
pub(crate) fn client_of(extensions: &Extensions) -> Client {
    let over_tls = || extensions.get::<TlsConnectInfo<Client>>().map(TlsConnectInfo::get_ref);
    extensions.get::<Client>().or_else(over_tls).cloned().unwrap_or_default()
}

/// The first byte of a client that uses TLS, and of one that uses HTTP/2 without TLS.
const TLS_BYTE: u8 = 0x16;
const PLAIN_BYTE: u8 = b'P';

/// A connection, which is counted as long as it exists.
pub(crate) struct Connection {
    stream: TcpStream,
    id: u64,
    client: Client,
    clients: Arc<Clients>,
    peer: SocketAddr,
    /// The first byte that was received.
    first: Option<u8>,
    /// Whether requests can be received: with TLS, the handshake is complete.
    is_open: AtomicBool,
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.clients.lock().remove(&self.id);
        let (peer, is_open) = (self.peer, *self.is_open.get_mut());
        tracing::debug!(client = %peer, "a client has disconnected");
        match (self.clients.with_tls, self.first) {
            (false, Some(TLS_BYTE)) => self.clients.report(&format!(
                "the client at {peer} uses TLS, for which this switch has no certificate (--p4runtime-cert)"
            )),
            (true, Some(PLAIN_BYTE)) => {
                self.clients.report(&format!("the client at {peer} does not use TLS, which this switch requires"));
            }
            (true, Some(TLS_BYTE)) if !is_open && !self.client.0.must_go.load(Ordering::Relaxed) => {
                self.clients.report(&format!(
                    "no TLS with the client at {peer}: it does not trust this switch's certificate, or has none of its \
                     own that this switch trusts (--p4runtime-ca) and that is valid today"
                ));
            }
            _ => {}
        }
    }
}

/// The connections that a socket accepts.
pub(crate) fn incoming(
    listener: TcpListener,
    with_tls: bool,
) -> impl tokio_stream::Stream<Item = io::Result<Connection>> {
    let (sender, receiver) = tokio::sync::mpsc::channel(1);
    let clients = Arc::new(Clients { present: Mutex::default(), with_tls, last_report: Mutex::default() });
    tasks::spawn(async move {
        for id in 0.. {
            let accepted = match listener.accept().await {
                // If there are too many it is closed at once.
                Ok(_) if !clients.make_room() => continue,
                Ok((stream, peer)) => {
                    tracing::debug!(client = %peer, "a client has connected");
                    // Small responses are not delayed.
                    let _without = stream.set_nodelay(true);
                    let client = Client::default();
                    clients.lock().insert(id, client.clone());
                    let (clients, is_open) = (Arc::clone(&clients), AtomicBool::new(false));
                    Ok(Connection { stream, id, client, clients, peer, first: None, is_open })
                }
                Err(error) => {
                    // Perhaps out of descriptors, which may be temporary.
                    tokio::time::sleep(Duration::from_millis(100)).await;
                    Err(error)
                }
            };
            if sender.send(accepted).await.is_err() {
                break;
            }
        }
    });
    tokio_stream::wrappers::ReceiverStream::new(receiver)
}

impl Connected for Connection {
    type ConnectInfo = Client;

    fn connect_info(&self) -> Client {
        self.is_open.store(true, Ordering::Relaxed);
        self.client.clone()
    }
}

impl AsyncRead for Connection {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(cx, buf);
        if self.first.is_none() {
            self.first = buf.filled().get(before).copied();
        }
        if read.is_pending() {
            *self.client.reader() = Some(cx.waker().clone());
        }
        // Checked after the waker is registered, so that no request to disconnect is missed.
        match self.client.0.must_go.load(Ordering::Acquire) {
            true => Poll::Ready(Err(io::ErrorKind::ConnectionAborted.into())),
            false => read,
        }
    }
}

impl AsyncWrite for Connection {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}
