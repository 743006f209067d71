//! Commands on a terminal: input that is typed ahead or pasted is used, and however a command ends or is stopped, it
//! restores the terminal.

use crate::support;

use nix::pty::openpty;
use nix::sys::signal::{Signal, kill};
use nix::sys::termios::{LocalFlags, tcgetattr};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use support::{Switch, wirespeed};

/// The time limit for anything in a test.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A terminal with a command on it.
struct Terminal {
    keyboard: File,
    child: Child,
    shown: Arc<Mutex<Vec<u8>>>,
    /// How much of its output was examined.
    seen: usize,
}

impl Terminal {
    fn start(command: &mut Command) -> Terminal {
        let pair = openpty(None, None).unwrap();
        let end = || pair.slave.try_clone().unwrap();
        command.env("TERM", "xterm").stdin(end()).stdout(end()).stderr(end());
        let child = command.spawn().unwrap();
        let keyboard = File::from(pair.master);
        let mut screen = keyboard.try_clone().unwrap();
        let shown: Arc<Mutex<Vec<u8>>> = Arc::default();
        let sink = Arc::clone(&shown);
        // One end of the command's side stays open here: its settings are read when the command has ended.
        std::mem::forget(pair.slave);
        std::thread::spawn(move || {
            let mut part = [0; 4096];
            while let Ok(length @ 1..) = screen.read(&mut part) {
                sink.lock().unwrap().extend_from_slice(&part[..length]);
            }
        });
        Terminal { keyboard, child, shown, seen: 0 }
    }

    fn type_in(&mut self, text: &str) {
        self.keyboard.write_all(text.as_bytes()).unwrap();
    }

    /// Waits until this is shown, after everything that was waited for before.
    fn wait_for(&mut self, text: &str) {
        let start = Instant::now();
        loop {
            let shown = String::from_utf8_lossy(&self.shown.lock().unwrap()[self.seen..]).into_owned();
            if let Some(position) = shown.find(text) {
                self.seen += position + text.len();
                return;
            }
            assert!(start.elapsed() < TIMEOUT, "{text:?} is not shown: {shown:?}");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Whether the terminal is in raw mode without echo.
    fn is_raw(&self) -> bool {
        let flags = tcgetattr(&self.keyboard).unwrap().local_flags;
        assert_eq!(flags.contains(LocalFlags::ICANON), flags.contains(LocalFlags::ECHO));
        !flags.contains(LocalFlags::ICANON)
    }

    /// Changes the size of the terminal, and notifies its processes.
    fn resize(&self, columns: u16, rows: u16) {
        let mut stty = Command::new("stty");
        stty.args(["rows", &rows.to_string(), "cols", &columns.to_string()]).stdin(self.keyboard.try_clone().unwrap());
        assert!(stty.status().unwrap().success());
        self.signal(Signal::SIGWINCH);
    }

    fn signal(&self, signal: Signal) {
        kill(self.process(), signal).unwrap();
    }

    fn process(&self) -> Pid {
        Pid::from_raw(self.child.id().cast_signed())
    }

    /// Waits for the next change of the process.
    fn changed(&self) -> WaitStatus {
        waitpid(self.process(), Some(WaitPidFlag::WUNTRACED)).unwrap()
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ended = self.child.kill();
        let _waited = self.child.wait();
    }
}

#[test]
fn signals_at_a_prompt_give_the_terminal_back() {
    let switch = Switch::start();
    for (arguments, prompt) in [(&[] as &[&str], "wirespeed> "), (&["--simple-switch-cli"], "RuntimeCmd: ")] {
        for signal in [Signal::SIGTERM, Signal::SIGHUP, Signal::SIGQUIT] {
            let mut terminal = Terminal::start(switch.ctl().args(arguments));
            terminal.wait_for(prompt);
            assert!(terminal.is_raw());
            terminal.signal(signal);
            // Whether there is a core file depends on the machine.
            let changed = terminal.changed();
            assert!(matches!(changed, WaitStatus::Signaled(_, by, _) if by == signal), "{changed:?}");
            assert!(!terminal.is_raw());
            // The marking of pasted text is off.
            terminal.wait_for("\x1b[?2004l");
        }
    }
}

#[test]
fn what_is_typed_ahead_is_carried_out() {
    let switch = Switch::start();
    let mut terminal = Terminal::start(&mut switch.ctl());
    // Before a prompt, at one, and while a command runs.
    terminal.type_in("list counters\nlist registers\n");
    terminal.wait_for("MyIngress.rx");
    terminal.wait_for("MyIngress.flows");
    let many: String = (0..50).map(|number| format!("registers flows 1 = {number}\rregisters flows 1\r")).collect();
    terminal.type_in(&many);
    (1..50).for_each(|number| terminal.wait_for(&format!("1      {number}\r\n")));
    // Several lines from a clipboard, as terminals mark them.
    terminal.type_in("\x1b[200~list digests\nregisters flows 2 = 9\nregisters flows 2\x1b[201~\r");
    terminal.wait_for("learn_t");
    terminal.wait_for("2      9\r\n");
    terminal.type_in("quit\r");
    assert_eq!(terminal.changed(), WaitStatus::Exited(terminal.process(), 0));
    assert!(!terminal.is_raw());
}

/// Answers requests with this, until the test ends.
fn serve(listener: TcpListener, text: &'static str) {
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let _asked = stream.read(&mut [0; 4096]);
            let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", text.len());
            let _gone = stream.write_all((head + text).as_bytes());
        }
    });
}

#[test]
fn top_gives_the_terminal_back_and_takes_it_again() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    for signal in [Signal::SIGQUIT, Signal::SIGTERM] {
        let mut terminal = Terminal::start(wirespeed().args(["top", &address.to_string()]));
        terminal.wait_for("no switch serves metrics");
        assert!(terminal.is_raw());
        for how in ["signal", "key"] {
            match how {
                "signal" => terminal.signal(Signal::SIGTSTP),
                _ => terminal.type_in("\x1a"),
            }
            assert_eq!(terminal.changed(), WaitStatus::Stopped(terminal.process(), Signal::SIGSTOP));
            assert!(!terminal.is_raw());
            terminal.wait_for("\x1b[?1049l");
            terminal.signal(Signal::SIGCONT);
            terminal.wait_for("\x1b[?1049h");
            terminal.wait_for("no switch serves metrics");
            assert!(terminal.is_raw());
        }
        // Without a notification: a shell may have changed the settings in between.
        terminal.signal(Signal::SIGSTOP);
        assert_eq!(terminal.changed(), WaitStatus::Stopped(terminal.process(), Signal::SIGSTOP));
        terminal.signal(Signal::SIGCONT);
        terminal.wait_for("\x1b[?1049h");
        terminal.signal(signal);
        assert_eq!(terminal.changed(), WaitStatus::Exited(terminal.process(), 0));
        assert!(!terminal.is_raw());
    }
}

#[test]
fn top_fills_the_terminal_as_it_is_now() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    serve(listener, "wirespeed_build_info{version=\"9.8.7\"} 1\n");
    // One check, at the start: later output is for the new size.
    let mut terminal = Terminal::start(wirespeed().args(["top", &address.to_string(), "--interval", "60"]));
    terminal.wait_for("measuring");
    for (columns, rows) in [(200, 50), (20, 5), (1, 1), (0, 0), (400, 3)] {
        terminal.resize(columns, rows);
        let (columns, rows) = if rows == 0 { (80, 24) } else { (columns, rows) };
        // The last line describes the keys, as far as there is room.
        let help = "q quits, p pauses, t traces, + and - change the interval, arrows scroll";
        let shown = &help[..help.len().min(columns.into())];
        terminal.wait_for(&format!("\x1b[{rows};1H{shown}\x1b[K"));
    }
    terminal.type_in("q");
    assert_eq!(terminal.changed(), WaitStatus::Exited(terminal.process(), 0));
    assert!(!terminal.is_raw());
}

#[test]
fn top_waits_for_a_switch_that_comes_back() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let mut terminal = Terminal::start(wirespeed().args(["top", &address.to_string()]));
    terminal.wait_for("no switch serves metrics");
    serve(TcpListener::bind(address).unwrap(), "wirespeed_build_info{version=\"9.8.7\"} 1\n");
    terminal.wait_for("wirespeed 9.8.7");
    terminal.type_in("q");
    assert_eq!(terminal.changed(), WaitStatus::Exited(terminal.process(), 0));
}

#[test]
fn top_traces_packets_of_a_switch_that_wants_certificates() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../p4runtime/tests/tls");
    let [ca, own, key, server, server_key] =
        ["ca.pem", "client.pem", "client.key", "server.pem", "server.key"].map(|name| folder.join(name));
    let [ca, own, key, server, server_key] = [&ca, &own, &key, &server, &server_key].map(|path| path.to_str().unwrap());
    let wanted = ["--p4runtime-cert", server, "--p4runtime-key", server_key, "--p4runtime-ca", ca];
    let ports = ["--port", "1=null", "--port", "9=timer:24000s", "--quiet"];
    let switch = Switch::start_with(&[&ports[..], &wanted].concat());
    let shown = ["--ca", ca, "--cert", own, "--key", key];
    let packet = "0000000000020000000000010800000000000000000000000000010203040a000107";
    let timers = switch.ctl().args(shown).args(["timers", "9", "10ms", packet]).output().unwrap();
    assert!(timers.status.success(), "{}", String::from_utf8_lossy(&timers.stderr));
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let version = "wirespeed_build_info{version=\"9.8.7\"} 1\n";
    let metrics = format!("{version}wirespeed_p4runtime_info{{address=\"{}\"}} 1\n", switch.address);
    serve(listener, metrics.leak());
    for (options, output) in [(&shown[..0], "no packet is traced"), (&shown[..], "packet 1: 34 bytes on port 9")] {
        let mut terminal = Terminal::start(wirespeed().args(["top", &address, "--interval", "0.1"]).args(options));
        terminal.wait_for("pipeline");
        terminal.type_in("t");
        terminal.wait_for(output);
        terminal.type_in("q");
        assert_eq!(terminal.changed(), WaitStatus::Exited(terminal.process(), 0));
    }
}
