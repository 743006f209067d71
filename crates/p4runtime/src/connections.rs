//! Connections, of which there is a bounded number.
//!
//! What enters: a socket that is listened at. What leaves: connections. When there are too many, the oldest of those
//! without a request has to go, or else the oldest without a stream, which may be one that does not read its answer; a
//! controller with an open stream is never sent away for another client. Whoever does
//! not get through for want of TLS, or of the right certificate, is told of to those who run the switch.

use crate::shares::Shares;
use std::collections::BTreeMap;
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

/// Clients that may be connected at once.
const CONNECTIONS_MAX: usize = 512;

/// How often something is told of clients that did not get through.
const TOLD_INTERVAL: Duration = Duration::from_secs(1);

/// Those who are connected, in the order in which they came.
struct Guests {
    present: Mutex<BTreeMap<u64, Guest>>,
    /// Whether they must use TLS.
    with_tls: bool,
    /// When something was told last.
    told: Mutex<Option<Instant>>,
}

impl Guests {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<u64, Guest>> {
        // Each change is one insertion or removal.
        self.present.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells of a client that did not get through, unless another was told of just now.
    fn tell(&self, line: &str) {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if told.is_none_or(|at| at.elapsed() >= TOLD_INTERVAL) {
            *told = Some(Instant::now());
            tracing::warn!("{line}");
        }
    }

    /// Lets one more in. False if all who are there are at work.
    fn make_room(&self) -> bool {
        let mut guests = self.lock();
        if guests.len() < CONNECTIONS_MAX {
            return true;
        }
        let oldest = |count: fn(&Presence) -> &AtomicUsize| {
            guests.iter().find(|(_, guest)| count(&guest.0).load(Ordering::Relaxed) == 0).map(|(&id, _)| id)
        };
        let dispensable = oldest(|presence| &presence.visits).or_else(|| oldest(|presence| &presence.streams));
        match dispensable.and_then(|id| guests.remove(&id)) {
            Some(guest) => {
                guest.send_away();
                true
            }
            None => false,
        }
    }
}

/// One who is connected.
#[derive(Clone, Debug, Default)]
pub(crate) struct Guest(Arc<Presence>);

#[derive(Debug, Default)]
struct Presence {
    /// Requests that are not answered to their end.
    visits: AtomicUsize,
    /// Those of them that are streams of controllers.
    streams: AtomicUsize,
    /// Whether one of its streams is that of a primary controller.
    is_primary: AtomicBool,
    shares: Shares,
    must_go: AtomicBool,
    /// Who reads from the connection.
    reader: Mutex<Option<Waker>>,
}

impl Guest {
    /// While this is kept, the guest is at work.
    pub fn visit(&self, is_stream: bool) -> Visit {
        self.0.visits.fetch_add(1, Ordering::Relaxed);
        self.0.streams.fetch_add(usize::from(is_stream), Ordering::Relaxed);
        Visit { guest: self.clone(), is_stream }
    }

    /// What the connection has of what all have together.
    pub fn shares(&self) -> &Shares {
        &self.0.shares
    }

    /// Whether a primary controller uses the connection.
    pub fn is_primary(&self) -> bool {
        self.0.is_primary.load(Ordering::Relaxed)
    }

    /// Says whether one does.
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

/// A request of a guest.
#[derive(Debug)]
pub(crate) struct Visit {
    guest: Guest,
    is_stream: bool,
}

impl Drop for Visit {
    fn drop(&mut self) {
        self.guest.0.visits.fetch_sub(1, Ordering::Relaxed);
        self.guest.0.streams.fetch_sub(usize::from(self.is_stream), Ordering::Relaxed);
    }
}

/// Whose request it is. One that did not come over a connection is from this process.
pub(crate) fn guest_of(extensions: &Extensions) -> Guest {
    let over_tls = || extensions.get::<TlsConnectInfo<Guest>>().map(TlsConnectInfo::get_ref);
    extensions.get::<Guest>().or_else(over_tls).cloned().unwrap_or_default()
}

/// What a client begins with if it speaks TLS, and if it speaks HTTP/2 without.
const TLS_BYTE: u8 = 0x16;
const PLAIN_BYTE: u8 = b'P';

/// A connection that counts as one while it lasts.
pub(crate) struct Connection {
    stream: TcpStream,
    id: u64,
    guest: Guest,
    guests: Arc<Guests>,
    peer: SocketAddr,
    /// The first byte that came.
    first: Option<u8>,
    /// Requests may come: if TLS is wanted, it was agreed upon.
    is_open: AtomicBool,
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.guests.lock().remove(&self.id);
        let (peer, is_open) = (self.peer, *self.is_open.get_mut());
        tracing::debug!(client = %peer, "a client has disconnected");
        match (self.guests.with_tls, self.first) {
            (false, Some(TLS_BYTE)) => self.guests.tell(&format!(
                "the client at {peer} wants TLS, for which this switch has no certificate (--p4runtime-cert)"
            )),
            (true, Some(PLAIN_BYTE)) => {
                self.guests.tell(&format!("the client at {peer} does not speak TLS, which this switch asks for"));
            }
            (true, Some(TLS_BYTE)) if !is_open && !self.guest.0.must_go.load(Ordering::Relaxed) => {
                self.guests.tell(&format!(
                    "no TLS with the client at {peer}: it does not trust this switch's certificate, or has none of its \
                     own that this switch trusts (--p4runtime-ca) and that is valid today"
                ));
            }
            _ => {}
        }
    }
}

/// The connections that come in at a socket.
pub(crate) fn incoming(
    listener: TcpListener,
    with_tls: bool,
) -> impl tokio_stream::Stream<Item = io::Result<Connection>> {
    let (sender, receiver) = tokio::sync::mpsc::channel(1);
    let guests = Arc::new(Guests { present: Mutex::default(), with_tls, told: Mutex::default() });
    tokio::spawn(async move {
        for id in 0.. {
            let accepted = match listener.accept().await {
                // Without room it is closed at once.
                Ok(_) if !guests.make_room() => continue,
                Ok((stream, peer)) => {
                    tracing::debug!(client = %peer, "a client has connected");
                    // Small answers are not kept back.
                    let _without = stream.set_nodelay(true);
                    let guest = Guest::default();
                    guests.lock().insert(id, guest.clone());
                    let (guests, is_open) = (Arc::clone(&guests), AtomicBool::new(false));
                    Ok(Connection { stream, id, guest, guests, peer, first: None, is_open })
                }
                Err(error) => {
                    // Out of descriptors, perhaps: it may pass.
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
    type ConnectInfo = Guest;

    fn connect_info(&self) -> Guest {
        self.is_open.store(true, Ordering::Relaxed);
        self.guest.clone()
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
            *self.guest.reader() = Some(cx.waker().clone());
        }
        // Looked at after the waker is there, so that no sending away is missed.
        match self.guest.0.must_go.load(Ordering::Acquire) {
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
