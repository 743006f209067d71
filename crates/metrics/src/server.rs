//! The HTTP server of metrics.
//!
//! What enters: HTTP/1.1 requests. What leaves: responses, after each of which the connection is closed. Each client
//! has a thread and a short time to send its request. When there are too many clients, the server closes the oldest
//! connection that has not sent a request or, if there is none, the oldest connection. Clients that send nothing, or
//! do not read, therefore cannot keep others out.

use crate::exposition::CONTENT_TYPE;
use crate::sources::Sources;
use base::OrderedMap;
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How long a client may take to send its request, and then to read the response.
const CLIENT_TIMEOUT: Duration = Duration::from_millis(500);

/// The most bytes of a request.
const REQUEST_BYTES_MAX: usize = 8192;

/// The most clients at a time.
const CLIENTS_MAX: usize = 64;

/// The most threads. There may be more than clients: the threads of closed connections are about to end, but may
/// still be collecting values. A client that connects while there are this many waits for a moment and is then
/// refused.
const THREADS_MAX: usize = 2 * CLIENTS_MAX;

/// A server in a thread of its own. It stops when it is dropped.
pub struct Server {
    address: SocketAddr,
    is_stopped: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// An address that is bound before the switch exists.
pub struct Bound(TcpListener);

impl Bound {
    /// Binds an address. Port 0 means any free port.
    pub fn at(address: SocketAddr) -> io::Result<Bound> {
        TcpListener::bind(address).map(Bound)
    }

    /// Starts the server.
    pub fn serve(self, sources: Sources) -> io::Result<Server> {
        let Bound(listener) = self;
        let address = listener.local_addr()?;
        let is_stopped = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&is_stopped);
        let (sources, clients) = (Arc::new(sources), Arc::<Clients>::default());
        let thread = std::thread::Builder::new().name("metrics".to_owned()).spawn(move || {
            for stream in listener.incoming() {
                if stopped.load(Ordering::Acquire) {
                    return;
                }
                match stream {
                    Ok(stream) => start_client(stream, &sources, &clients),
                    // For example, the process has no free descriptors; there may be some a moment later.
                    Err(_) => std::thread::sleep(CLIENT_TIMEOUT),
                }
            }
        })?;
        Ok(Server { address, is_stopped, thread: Some(thread) })
    }
}

impl Server {
    /// The address on which the server listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.is_stopped.store(true, Ordering::Release);
        // Wakes the thread by a connection. On some systems one cannot connect to an unspecified address.
        let mut address = self.address;
        if address.ip().is_unspecified() {
            address.set_ip(if address.is_ipv4() { [127, 0, 0, 1].into() } else { [0, 0, 0, 0, 0, 0, 0, 1].into() });
        }
        let woken = TcpStream::connect_timeout(&address, CLIENT_TIMEOUT);
        if let (Ok(_), Some(thread)) = (woken, self.thread.take()) {
            let _ended = thread.join();
        }
    }
}

/// The connected clients.
#[derive(Default)]
struct Clients {
    present: Mutex<Present>,
    threads: AtomicUsize,
}

#[derive(Default)]
struct Present {
    /// In the order of their arrival.
    clients: OrderedMap<u64, Client>,
    last: u64,
}

/// A connected client: a second handle of the connection, and whether it has sent a request.
struct Client {
    stream: TcpStream,
    has_asked: bool,
}

impl Clients {
    fn lock(&self) -> MutexGuard<'_, Present> {
        // Each change is a single insertion or removal, so a panic cannot leave the map inconsistent.
        self.present.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a client, and closes another connection if there are too many. Returns the client's number.
    fn admit(&self, stream: TcpStream) -> u64 {
        let mut present = self.lock();
        if present.clients.len() >= CLIENTS_MAX {
            let silent = present.clients.iter().find(|(_, client)| !client.has_asked);
            let first = silent.or_else(|| present.clients.iter().next()).map(|(&id, _)| id);
            let victim = first.and_then(|id| present.clients.remove(&id));
            // Its thread cannot read or write any more, and ends.
            let _shut_down = victim.map(|client| client.stream.shutdown(Shutdown::Both));
        }
        present.last += 1;
        let id = present.last;
        present.clients.insert(id, Client { stream, has_asked: false });
        id
    }

    fn has_asked(&self, id: u64) {
        self.lock().clients.get_mut(&id).into_iter().for_each(|client| client.has_asked = true);
    }

    fn leave(&self, id: u64) {
        self.lock().clients.remove(&id);
        self.threads.fetch_sub(1, Ordering::AcqRel);
    }
}

/// Serves a client in a thread of its own.
fn start_client(stream: TcpStream, sources: &Arc<Sources>, clients: &Arc<Clients>) {
    let Ok(second) = stream.try_clone() else { return };
    // Only this thread starts client threads, so the number cannot grow after the check.
    let arrived = Instant::now();
    while clients.threads.load(Ordering::Acquire) >= THREADS_MAX {
        if arrived.elapsed() >= CLIENT_TIMEOUT {
            return;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    clients.threads.fetch_add(1, Ordering::AcqRel);
    let id = clients.admit(second);
    let (sources, here) = (Arc::clone(sources), Arc::clone(clients));
    let started = std::thread::Builder::new().name("metrics client".to_owned()).spawn(move || {
        // If the client has closed the connection, the response is lost.
        drop(serve(stream, &sources, &|| here.has_asked(id)));
        here.leave(id);
    });
    if started.is_err() {
        clients.leave(id);
    }
}

fn serve(mut stream: TcpStream, sources: &Sources, has_asked: &dyn Fn()) -> io::Result<()> {
    let Some(head) = request(&mut stream)? else {
        return answer(&mut stream, "400 Bad Request", "text/plain", "this is not an HTTP request\n", true);
    };
    has_asked();
    let mut words = head.split_ascii_whitespace();
    let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let path = target.split('?').next().unwrap_or_default();
    let with_body = method != "HEAD";
    if !matches!(method, "GET" | "HEAD") {
        return answer(&mut stream, "405 Method Not Allowed", "text/plain", "only GET and HEAD\n", with_body);
    }
    match path {
        "/metrics" => match sources.collect() {
            Some(text) => answer(&mut stream, "200 OK", CONTENT_TYPE, &text, with_body),
            None => answer(&mut stream, UNAVAILABLE, "text/plain", "the switch does not answer\n", with_body),
        },
        "/healthz" if sources.is_alive() => answer(&mut stream, "200 OK", "text/plain", "ok\n", with_body),
        "/healthz" => answer(&mut stream, UNAVAILABLE, "text/plain", "the switch does not answer\n", with_body),
        _ => answer(&mut stream, "404 Not Found", "text/plain", "there are /metrics and /healthz\n", with_body),
    }
}

const UNAVAILABLE: &str = "503 Service Unavailable";

/// The first line of a request; `None` if it is malformed or arrives too slowly. The rest of the head is read and
/// ignored.
fn request(stream: &mut TcpStream) -> io::Result<Option<String>> {
    let deadline = Instant::now() + CLIENT_TIMEOUT;
    let mut bytes = Vec::new();
    let mut piece = [0; 1024];
    while !bytes.windows(4).any(|it| it == b"\r\n\r\n") {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() || bytes.len() > REQUEST_BYTES_MAX {
            return Ok(None);
        }
        stream.set_read_timeout(Some(left))?;
        match stream.read(&mut piece) {
            Ok(0) => return Ok(None),
            Ok(count) => bytes.extend_from_slice(&piece[..count]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return Ok(None),
        }
    }
    let line = bytes.split(|&byte| byte == b'\r').next().unwrap_or_default();
    let line = String::from_utf8_lossy(line).into_owned();
    Ok(line.contains(" HTTP/1.").then_some(line))
}

fn answer(stream: &mut TcpStream, status: &str, kind: &str, body: &str, with_body: bool) -> io::Result<()> {
    let length = body.len();
    let head =
        format!("HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n");
    let body = if with_body { body } else { "" };
    // The deadline is for the whole response, so that a client that reads a little now and then does not stay
    // forever.
    let deadline = Instant::now() + CLIENT_TIMEOUT;
    for mut part in [head.as_bytes(), body.as_bytes()] {
        while !part.is_empty() {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(io::ErrorKind::TimedOut.into());
            }
            stream.set_write_timeout(Some(left))?;
            match stream.write(part) {
                Ok(count) => part = &part[count..],
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
    stream.shutdown(Shutdown::Write)
}
