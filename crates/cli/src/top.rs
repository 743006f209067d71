//! `wirespeed top`: a live view of a running switch.
//!
//! What enters: the metrics address of a switch, keys. What leaves: a view in the terminal that is redrawn each
//! interval; or lines of text or of JSON, for scripts. However the command ends, the terminal is restored.
//!
//! * [`samples`]: the metrics of the switch.
//! * [`report`]: the changes between two samplings.

mod report;
mod samples;

use crate::Exit;
use crate::args::TopArguments;
use crate::terminal::{self, say};
use crate::trace::tap;
use crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use crossterm::style::{Attribute, Print, SetAttribute};
use crossterm::terminal::{Clear, ClearType, EnterAlternateScreen, LeaveAlternateScreen};
use crossterm::{cursor, event, execute, queue};
use ctl::Tls;
use report::Report;
use samples::{Samples, fetch};
use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP};
use signal_hook::{flag, low_level};
use std::io::{self, IsTerminal as _, Write};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

/// How long to wait for keys before checking signals.
const KEY_INTERVAL: Duration = Duration::from_millis(100);

/// Shows a switch.
pub fn top(arguments: &TopArguments) -> Result<Exit, Exit> {
    let tls = arguments.tls.settings()?;
    let mut looks = Looks::new(arguments.address);
    if arguments.once || arguments.json || !io::stdout().is_terminal() {
        return lines(&mut looks, arguments);
    }
    let signals = Caught::new().map_err(|error| system_error(format!("cannot catch signals: {error}")))?;
    let screen = Screen::open().map_err(|error| system_error(format!("cannot use the terminal: {error}")))?;
    let viewed = View::new(arguments, tls).run(&mut looks, &signals);
    drop(screen);
    viewed.map_err(|error| system_error(format!("cannot use the terminal: {error}")))?;
    Ok(Exit::Success)
}

fn system_error(error: impl std::fmt::Display) -> Exit {
    terminal::error(error);
    Exit::System
}

/// Signals that have arrived.
#[derive(Default)]
struct Caught {
    /// The command must end.
    ended: Arc<AtomicBool>,
    /// It must be suspended.
    suspended: Arc<AtomicBool>,
    /// It was resumed, perhaps on a terminal that others have used.
    continued: Arc<AtomicBool>,
}

impl Caught {
    fn new() -> io::Result<Caught> {
        let caught = Caught::default();
        for signal in [SIGTERM, SIGHUP, SIGINT, SIGQUIT] {
            flag::register(signal, Arc::clone(&caught.ended))?;
        }
        flag::register(SIGTSTP, Arc::clone(&caught.suspended))?;
        flag::register(SIGCONT, Arc::clone(&caught.continued))?;
        Ok(caught)
    }
}

/// Reads the metrics of a switch periodically.
struct Looks {
    address: SocketAddr,
    last: Option<(Instant, Samples)>,
}

impl Looks {
    fn new(address: SocketAddr) -> Looks {
        Looks { address, last: None }
    }

    /// Reads the metrics, and returns the changes since the last call; `None` the first time.
    fn next(&mut self) -> Result<Option<Report>, String> {
        let now = fetch(self.address).inspect_err(|_| self.last = None)?;
        let at = Instant::now();
        let report = self
            .last
            .as_ref()
            .map(|(before_at, before)| Report::between(before, &now, (at - *before_at).as_secs_f64()));
        self.last = Some((at, now));
        Ok(report)
    }
}

/// Reports for scripts.
fn lines(looks: &mut Looks, arguments: &TopArguments) -> Result<Exit, Exit> {
    loop {
        let report = looks.next().map_err(system_error)?;
        if let Some(report) = report {
            if arguments.json {
                say!("{}", report.json());
            } else {
                report.lines().iter().for_each(|line| say!("{}", line.strip_prefix('#').unwrap_or(line).trim_end()));
            }
            if arguments.once {
                return Ok(Exit::Success);
            }
            if !arguments.json {
                say!();
            }
        }
        std::thread::sleep(arguments.interval.0);
    }
}

/// The terminal while the command uses it: dropping this restores it.
struct Screen;

impl Screen {
    fn open() -> io::Result<Screen> {
        crossterm::terminal::enable_raw_mode()?;
        // From here on everything is undone on drop, even if the rest fails.
        let screen = Screen;
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            restore();
            before(panic);
        }));
        execute!(io::stdout(), EnterAlternateScreen, cursor::Hide)?;
        Ok(screen)
    }

    /// Takes the terminal again, whatever its settings are now.
    fn take_again() -> io::Result<()> {
        // The previous settings are discarded and read again.
        crossterm::terminal::disable_raw_mode()?;
        crossterm::terminal::enable_raw_mode()?;
        execute!(io::stdout(), EnterAlternateScreen, cursor::Hide, Clear(ClearType::All))
    }
}

/// Stops the process until it is resumed. Meanwhile the terminal has its previous settings.
fn suspend() -> io::Result<()> {
    restore();
    low_level::emulate_default_handler(SIGTSTP)?;
    Screen::take_again()
}

impl Drop for Screen {
    fn drop(&mut self) {
        restore();
    }
}

fn restore() {
    // A terminal that is gone needs no more.
    let _gone = execute!(io::stdout(), cursor::Show, LeaveAlternateScreen);
    let _gone = crossterm::terminal::disable_raw_mode();
}

/// The state of the view.
struct View {
    address: SocketAddr,
    /// The TLS settings for tracing packets.
    tls: Option<Tls>,
    interval: Duration,
    report: Option<Report>,
    /// Why there is no new report.
    trouble: Option<String>,
    is_paused: bool,
    /// A packet's journey, which is shown instead of the report.
    trace: Option<Trace>,
    /// The number of lines scrolled off at the top.
    scrolled: usize,
}

/// The journey of a packet.
enum Trace {
    /// The packet has not arrived yet.
    Awaited(Receiver<Result<Vec<String>, String>>),
    /// Its lines, or the error.
    Shown(Vec<String>),
}

impl Trace {
    /// Waits for the next packet of a switch, in a separate thread.
    fn begin(report: Option<&Report>, tls: Option<Tls>) -> Trace {
        let Some(address) = report.and_then(Report::controllers).map(str::to_owned) else {
            return Trace::Shown(vec![
                "packets are traced over --p4runtime, which the switch does not have".to_owned(),
            ]);
        };
        let (sender, lines) = mpsc::channel();
        // The receiver is gone if the view has ended or shows the report again.
        std::thread::spawn(move || sender.send(tap::next_packet(&address, tls)));
        Trace::Awaited(lines)
    }

    /// Takes the lines, if they are available.
    fn look(&mut self) -> bool {
        let Trace::Awaited(awaited) = self else { return false };
        let lines = match awaited.try_recv() {
            Ok(Ok(lines)) => lines,
            Ok(Err(trouble)) => vec![format!("no packet is traced: {trouble}")],
            Err(mpsc::TryRecvError::Empty) => return false,
            Err(mpsc::TryRecvError::Disconnected) => vec!["no packet is traced: the thread has ended".to_owned()],
        };
        *self = Trace::Shown(lines);
        true
    }

    fn lines(&self) -> Vec<String> {
        match self {
            Trace::Awaited(_) => vec!["waiting for a packet ...".to_owned()],
            Trace::Shown(lines) => lines.clone(),
        }
    }
}

/// The action of a key.
#[derive(PartialEq, Eq, Debug)]
enum Wish {
    End,
    Draw,
    Suspend,
    Nothing,
}

impl View {
    fn new(arguments: &TopArguments, tls: Option<Tls>) -> View {
        let (address, interval) = (arguments.address, arguments.interval.0);
        View { address, tls, interval, report: None, trouble: None, is_paused: false, trace: None, scrolled: 0 }
    }

    fn run(&mut self, looks: &mut Looks, signals: &Caught) -> io::Result<()> {
        let mut next = Instant::now();
        loop {
            if Instant::now() >= next {
                next = Instant::now() + self.interval;
                if !self.is_paused {
                    match looks.next() {
                        Ok(report) => {
                            self.trouble = None;
                            self.report = report.or(self.report.take());
                        }
                        Err(trouble) => self.trouble = Some(trouble),
                    }
                }
                self.draw()?;
            }
            if self.trace.as_mut().is_some_and(Trace::look) {
                self.draw()?;
            }
            let wait = next.saturating_duration_since(Instant::now()).min(KEY_INTERVAL);
            if event::poll(wait)? {
                match self.take(&event::read()?) {
                    Wish::End => return Ok(()),
                    Wish::Draw => self.draw()?,
                    Wish::Suspend => signals.suspended.store(true, Ordering::Release),
                    Wish::Nothing => {}
                }
            }
            if signals.ended.load(Ordering::Acquire) {
                return Ok(());
            }
            if signals.suspended.swap(false, Ordering::AcqRel) {
                suspend()?;
                signals.continued.store(false, Ordering::Release);
                self.draw()?;
            } else if signals.continued.swap(false, Ordering::AcqRel) {
                Screen::take_again()?;
                self.draw()?;
            }
        }
    }

    fn take(&mut self, event: &Event) -> Wish {
        let key = match event {
            Event::Resize(..) => return Wish::Draw,
            Event::Key(KeyEvent { code, modifiers, kind: KeyEventKind::Press, .. }) => (*code, *modifiers),
            _ => return Wish::Nothing,
        };
        match key {
            // Crossterm reports the key of SIGQUIT as the digit with the same code.
            (KeyCode::Char('c' | 'd' | '4' | '\\'), KeyModifiers::CONTROL) | (KeyCode::Char('q') | KeyCode::Esc, _) => {
                return Wish::End;
            }
            (KeyCode::Char('z'), KeyModifiers::CONTROL) => return Wish::Suspend,
            (KeyCode::Char('t'), _) => {
                self.scrolled = 0;
                self.trace = Some(Trace::begin(self.report.as_ref(), self.tls.clone()));
            }
            (KeyCode::Char('r'), _) => {
                self.scrolled = 0;
                self.trace = None;
            }
            (KeyCode::Char('p' | ' '), _) => self.is_paused = !self.is_paused,
            (KeyCode::Char('+'), _) => self.interval = (self.interval * 2).min(Duration::from_secs(60)),
            (KeyCode::Char('-'), _) => self.interval = (self.interval / 2).max(Duration::from_millis(250)),
            (KeyCode::Down | KeyCode::Char('j'), _) => self.scrolled += 1,
            (KeyCode::Up | KeyCode::Char('k'), _) => self.scrolled = self.scrolled.saturating_sub(1),
            (KeyCode::PageDown, _) => self.scrolled += 10,
            (KeyCode::PageUp, _) => self.scrolled = self.scrolled.saturating_sub(10),
            (KeyCode::Home, _) => self.scrolled = 0,
            _ => return Wish::Nothing,
        }
        Wish::Draw
    }

    /// The lines of a screen of this size; those that begin with `#` are headings.
    fn screen(&mut self, columns: usize, rows: usize) -> Vec<String> {
        let version = self.report.as_ref().map_or("", Report::version);
        let seconds = self.interval.as_secs_f64();
        let state = if self.is_paused { "  PAUSED" } else { "" };
        let program = self.report.as_ref().map_or("", Report::program);
        let program = if program.is_empty() { String::new() } else { format!(" runs {program}") };
        let mut lines = vec![format!("#wirespeed {version} at {}{program}, every {seconds} s{state}", self.address)];
        if let Some(trouble) = &self.trouble {
            lines.extend(wrapped(&format!("{trouble}; trying again"), columns));
        }
        lines.push(String::new());
        let body = match (&self.trace, &self.report) {
            (Some(trace), _) => trace.lines(),
            (None, Some(report)) => report.lines(),
            (None, None) if self.trouble.is_none() => vec!["measuring ...".to_owned()],
            (None, None) => Vec::new(),
        };
        let room = rows.saturating_sub(lines.len() + 1).max(1);
        self.scrolled = self.scrolled.min(body.len().saturating_sub(room));
        let more = body.len().saturating_sub(self.scrolled + room);
        lines.extend(body.into_iter().skip(self.scrolled).take(room));
        lines.resize(rows.saturating_sub(1), String::new());
        let hidden = if more > 0 { format!("; {more} more lines below") } else { String::new() };
        let keys = match self.trace {
            None => "q quits, p pauses, t traces, + and - change the interval, arrows scroll",
            Some(_) => "q quits, t traces another packet, r shows rates again, arrows scroll",
        };
        lines.push(format!("{keys}{hidden}"));
        lines.truncate(rows);
        lines
            .into_iter()
            .map(|line| line.chars().take(columns + usize::from(line.starts_with('#'))).collect())
            .collect()
    }

    fn draw(&mut self) -> io::Result<()> {
        let (columns, rows) = match crossterm::terminal::size()? {
            // A terminal that does not report its size, as at the end of a serial line.
            (0, _) | (_, 0) => (80, 24),
            size => size,
        };
        let mut out = io::stdout().lock();
        for (row, line) in self.screen(columns.into(), rows.into()).iter().enumerate() {
            queue!(out, cursor::MoveTo(0, row as u16))?;
            match line.strip_prefix('#') {
                Some(heading) => {
                    let (on, off) = (SetAttribute(Attribute::Bold), SetAttribute(Attribute::Reset));
                    queue!(out, on, Print(heading), off)?;
                }
                None => queue!(out, Print(line))?,
            }
            queue!(out, Clear(ClearType::UntilNewLine))?;
        }
        out.flush()
    }
}

/// The words of a text in lines of at most this width, unless a word is longer.
fn wrapped(text: &str, columns: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= columns => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    fn view() -> View {
        let samples =
            Samples::parse("wirespeed_build_info{version=\"1\"} 1\nwirespeed_table_entries{table=\"I.t\"} 3\n");
        let report = Some(Report::between(&samples, &samples, 1.0));
        let (address, interval) = ("127.0.0.1:9090".parse().unwrap(), Duration::from_secs(1));
        View { address, tls: None, interval, report, trouble: None, is_paused: false, trace: None, scrolled: 0 }
    }

    #[test]
    fn a_screen_is_never_larger_than_the_terminal() {
        for (columns, rows) in [(80, 24), (30, 6), (5, 2), (1, 1), (0, 0)] {
            let mut view = view();
            view.scrolled = 1000;
            let screen = view.screen(columns, rows);
            assert_eq!(screen.len(), rows);
            assert!(screen.iter().all(|line| line.trim_start_matches('#').chars().count() <= columns), "{screen:?}");
        }
        expect![[r#"
            #wirespeed 1 at 127.0.0.1:9090, every 1 s
            no answer; trying again

            worker    [....................]   0 %
            pipeline  received 0/s (0)  sent 0/s (0)
            q quits, p pauses, t traces, + and - cha
        "#]]
        .assert_eq(&{
            let mut view = view();
            view.trouble = Some("no answer".to_owned());
            view.screen(40, 6).iter().map(|line| format!("{line}\n")).collect::<String>()
        });
    }

    #[test]
    fn why_there_is_no_report_can_be_read_on_narrow_terminals() {
        assert_eq!(wrapped("no answer yet; trying again", 14), ["no answer yet;", "trying again"]);
        assert_eq!(wrapped("incomprehensibilities", 5), ["incomprehensibilities"]);
    }

    #[test]
    fn a_trace_takes_the_place_of_rates_until_they_are_wanted_again() {
        let mut view = view();
        let press =
            |view: &mut View, key| view.take(&Event::Key(KeyEvent::new(KeyCode::Char(key), KeyModifiers::NONE)));
        assert_eq!(press(&mut view, 't'), Wish::Draw);
        assert_eq!(view.screen(80, 5)[2], "packets are traced over --p4runtime, which the switch does not have");
        let (sender, lines) = mpsc::channel();
        view.trace = Some(Trace::Awaited(lines));
        assert!(!view.trace.as_mut().unwrap().look());
        assert_eq!(view.screen(80, 5)[2], "waiting for a packet ...");
        sender.send(Ok(vec!["packet 1".to_owned()])).unwrap();
        assert!(view.trace.as_mut().unwrap().look());
        assert_eq!(view.screen(80, 5)[2], "packet 1");
        assert_eq!(press(&mut view, 'r'), Wish::Draw);
        assert!(view.screen(80, 5)[2].starts_with("worker"));
    }

    #[test]
    fn keys() {
        let mut view = view();
        let mut press = |code, modifiers| view.take(&Event::Key(KeyEvent::new(code, modifiers)));
        assert_eq!(press(KeyCode::Char('q'), KeyModifiers::NONE), Wish::End);
        assert_eq!(press(KeyCode::Char('c'), KeyModifiers::CONTROL), Wish::End);
        assert_eq!(press(KeyCode::Char('c'), KeyModifiers::NONE), Wish::Nothing);
        assert_eq!(press(KeyCode::Char('z'), KeyModifiers::CONTROL), Wish::Suspend);
        assert_eq!(press(KeyCode::Char('p'), KeyModifiers::NONE), Wish::Draw);
        assert_eq!(press(KeyCode::Char('+'), KeyModifiers::SHIFT), Wish::Draw);
        assert!(view.is_paused);
        assert_eq!(view.interval, Duration::from_secs(2));
    }
}
