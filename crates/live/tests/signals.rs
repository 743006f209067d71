//! The effect of SIGINT on a process: the first stops it cleanly, one that follows at once belongs to it, a later one
//! ends it.
#![allow(clippy::print_stdout, reason = "the child process reports to its parent how far it is")]

use live::StopFlag;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

#[test]
fn the_second_signal_ends_the_process() {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "signals::never_finishes_after_the_first_signal", "--ignored", "--nocapture"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let process = child.id().to_string();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    let kill = || assert!(Command::new("kill").args(["-INT", &process]).status().unwrap().success());
    // The child's test harness may print to the same line.
    let mut said = |word: &str| assert!(lines.any(|line| line.ends_with(word)), "the child ended before it was {word}");
    said("ready");
    kill();
    kill();
    said("stopping");
    thread::sleep(Duration::from_millis(800));
    assert_eq!(child.try_wait().unwrap(), None);
    kill();
    assert_eq!(child.wait().unwrap().code(), Some(130));
}

#[test]
#[ignore = "run by the other test in a process of its own"]
fn never_finishes_after_the_first_signal() {
    let flag = StopFlag::on_signals().unwrap();
    let deadline = Instant::now() + Duration::from_secs(20);
    println!("ready");
    while !flag.stopped() && Instant::now() < deadline {
        thread::sleep(Duration::from_millis(1));
    }
    println!("stopping");
    while Instant::now() < deadline {
        thread::sleep(Duration::from_millis(1));
    }
}
