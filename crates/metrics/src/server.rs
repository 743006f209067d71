//! A server for whoever asks how the switch is.
//!
//! What enters: requests of HTTP/1.1. What leaves: answers, after each of which the connection is closed. Each client
//! has a thread, as long as they are few, and a moment to say what it wants: clients that say nothing do not hold up
//! others.

use crate::exposition::CONTENT_TYPE;
use crate::sources::Sources;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How long a client may take to ask, and then to take the answer.
const PATIENCE: Duration = Duration::from_millis(500);

/// The most bytes of a request.
const REQUEST_BYTES_MAX: usize = 8192;

/// The most clients at a time. Whoever comes then is turned away.
const CLIENTS_MAX: usize = 64;

/// A server in a thread of its own. It ends when it is dropped.
pub struct Server {
    address: SocketAddr,
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// An address that was taken, before there is something to tell.
pub struct Bound(TcpListener);

impl Bound {
    /// Takes an address. Port 0 is any that is free.
    pub fn at(address: SocketAddr) -> io::Result<Bound> {
        TcpListener::bind(address).map(Bound)
    }

    /// Starts the server.
    pub fn serve(self, sources: Sources) -> io::Result<Server> {
        let Bound(listener) = self;
        let address = listener.local_addr()?;
        let is_over = Arc::new(AtomicBool::new(false));
        let ends = Arc::clone(&is_over);
        let (sources, clients) = (Arc::new(sources), Arc::new(AtomicUsize::new(0)));
        let thread = std::thread::Builder::new().name("metrics".to_owned()).spawn(move || {
            for stream in listener.incoming() {
                if ends.load(Ordering::Acquire) {
                    return;
                }
                match stream {
                    Ok(stream) => attend(stream, &sources, &clients),
                    // Out of descriptors, say: a moment later there may be some.
                    Err(_) => std::thread::sleep(PATIENCE),
                }
            }
        })?;
        Ok(Server { address, is_over, thread: Some(thread) })
    }
}

impl Server {
    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Release);
        // Wakes the thread. An address that means all of them is not one to connect to on every system.
        let mut address = self.address;
        if address.ip().is_unspecified() {
            address.set_ip(if address.is_ipv4() { [127, 0, 0, 1].into() } else { [0, 0, 0, 0, 0, 0, 0, 1].into() });
        }
        let woken = TcpStream::connect_timeout(&address, PATIENCE);
        if let (Ok(_), Some(thread)) = (woken, self.thread.take()) {
            let _ended = thread.join();
        }
    }
}

/// Answers a client in a thread of its own, if there are not too many.
fn attend(stream: TcpStream, sources: &Arc<Sources>, clients: &Arc<AtomicUsize>) {
    if clients.fetch_add(1, Ordering::AcqRel) >= CLIENTS_MAX {
        clients.fetch_sub(1, Ordering::AcqRel);
        return;
    }
    let (sources, here) = (Arc::clone(sources), Arc::clone(clients));
    let begun = std::thread::Builder::new().name("metrics client".to_owned()).spawn(move || {
        // Who does not listen to the answer misses it.
        drop(serve(stream, &sources));
        here.fetch_sub(1, Ordering::AcqRel);
    });
    if begun.is_err() {
        clients.fetch_sub(1, Ordering::AcqRel);
    }
}

fn serve(mut stream: TcpStream, sources: &Sources) -> io::Result<()> {
    stream.set_write_timeout(Some(PATIENCE))?;
    let Some(head) = request(&mut stream)? else {
        return answer(&mut stream, "400 Bad Request", "text/plain", "this is no request of HTTP\n", true);
    };
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

/// The first line of a request; none if it is none, or comes too slowly. The rest of its head is read and left alone.
fn request(stream: &mut TcpStream) -> io::Result<Option<String>> {
    let deadline = Instant::now() + PATIENCE;
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
    stream.write_all(head.as_bytes())?;
    if with_body {
        stream.write_all(body.as_bytes())?;
    }
    stream.shutdown(std::net::Shutdown::Write)
}
