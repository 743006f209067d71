//! Sweeps of `wirespeed sim`: tables, interruptions, parts, refusals.

use expect_test::expect;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

const STAR: &str = r#"
duration = "3ms"

[topology]
kind = "star"
hosts = 3
rate = "1Gbps"
delay = "5us"

[links]
queue_packets = 20

[[workloads]]
from = ["h1", "h2"]
to = "h3"
load = 0.4
bytes = 20_000

[sweep]
seeds = "1..3"
workloads.0.load = [0.2, 0.6]
"#;

fn folder() -> TempDir {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("star.toml"), STAR).unwrap();
    folder
}

/// The scenario without its sweep.
fn plain() -> &'static str {
    STAR.split("[sweep]").next().unwrap()
}

fn command(folder: &TempDir, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_wirespeed"));
    command.arg("sim").args(arguments).current_dir(folder.path());
    command
}

/// What a command prints that succeeds.
fn sim(folder: &TempDir, arguments: &[&str]) -> String {
    let output = command(folder, arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The message of a command that fails.
fn refusal(folder: &TempDir, arguments: &[&str]) -> String {
    let Output { status, stderr, .. } = command(folder, arguments).output().unwrap();
    assert!(!status.success());
    String::from_utf8(stderr).unwrap()
}

fn read(folder: &TempDir, path: &str) -> String {
    let path = folder.path().join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The files of a sweep.
fn results(folder: &TempDir, name: &str) -> [String; 3] {
    ["runs.jsonl", "sweep.csv", "sweep.json"].map(|file| read(folder, &format!("{name}/{file}")))
}

#[test]
fn a_sweep_gives_the_same_bytes_with_any_number_of_jobs_and_threads() {
    let folder = folder();
    let said = sim(&folder, &["star.toml", "--output", "one", "--jobs", "1"]);
    assert!(said.ends_with("6 runs of 2 combinations: one/sweep.csv\n"), "{said}");
    sim(&folder, &["star.toml", "--output", "two", "--jobs", "3", "--threads", "2"]);
    let one = results(&folder, "one");
    assert_eq!(results(&folder, "two"), one);
    let [runs, csv, json] = &one;
    assert_eq!(runs.lines().count(), 6);
    let table: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
    let column = |name: &str| {
        let index = table[0].iter().position(|it| *it == name).unwrap();
        [table[1][index], table[2][index]]
    };
    assert_eq!((column("workloads.0.load"), column("runs")), (["0.2", "0.6"], ["3", "3"]));
    // 0.4 and 1.2 Gb/s for a link of 1 Gb/s: the more, the slower.
    let number = |name: &str| column(name).map(|cell| cell.parse::<f64>().unwrap());
    let [light, heavy] = number("slowdown.all.mean");
    let ([light_half, heavy_half], [light_load, heavy_load]) =
        (number("slowdown.all.mean_ci95"), number("goodput_bits_per_s"));
    assert!(light >= 1.0 && heavy > light && light_half > 0.0 && heavy_half > 0.0, "{light} {heavy}");
    assert!(heavy_load > 1.5 * light_load, "{light_load} {heavy_load}");
    // The table again, from the lines.
    let parsed: serde_json::Value = serde_json::from_str(json).unwrap();
    let lines: Vec<serde_json::Value> = runs.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let metric = |line: &serde_json::Value| line["metrics"]["slowdown.all.mean"].as_f64().unwrap();
    let mean = lines[..3].iter().map(metric).sum::<f64>() / 3.0;
    let found = parsed[0]["metrics"]["slowdown.all.mean"]["mean"].as_f64().unwrap();
    assert!((found - mean).abs() < 1e-9 && (light - mean).abs() < 1e-9);
}

#[test]
fn an_interrupted_sweep_loses_nothing_that_was_written() {
    let folder = folder();
    let long = ["star.toml", "--set", "duration=15ms", "--jobs", "1", "--seeds", "1..4"];
    sim(&folder, &[&long[..], &["-o", "whole"]].concat());
    let mut child = command(&folder, &[&long[..], &["-o", "cut"]].concat()).spawn().unwrap();
    let began = Instant::now();
    let lines = || fs::read_to_string(folder.path().join("cut/runs.jsonl")).unwrap_or_default();
    while lines().lines().count() < 2 {
        assert!(began.elapsed() < Duration::from_secs(60), "no run is written");
        thread::sleep(Duration::from_millis(2));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let kept = lines();
    let whole = kept.rfind('\n').unwrap() + 1;
    let count = kept[..whole].lines().count();
    // As if the machine had stopped while a line was written.
    fs::write(folder.path().join("cut/runs.jsonl"), kept[..whole].to_owned() + "{\"combination\":{\"wor").unwrap();
    let said = sim(&folder, &[&long[..], &["-o", "cut"]].concat());
    assert!(said.contains(&format!("{} runs in", 8 - count)), "{said}");
    assert!(said.contains(&format!(", {count} were there already\n")) || count == 8, "{said}");
    assert_eq!(results(&folder, "cut"), results(&folder, "whole"));
}

#[test]
fn parts_make_the_same_table_as_the_whole() {
    let folder = folder();
    sim(&folder, &["star.toml", "-o", "whole"]);
    for (shard, output) in [("1/3", "a"), ("2/3", "a"), ("3/3", "b")] {
        let said = sim(&folder, &["star.toml", "--shard", shard, "-o", output]);
        assert!(said.contains(&format!("wirespeed sim merge {output}")), "{said}");
    }
    let said = sim(&folder, &["merge", "a", "b", "--output", "merged"]);
    assert_eq!(said, "6 runs of 2 combinations: merged/sweep.csv\n");
    assert_eq!(read(&folder, "merged/sweep.csv"), read(&folder, "whole/sweep.csv"));
    assert_eq!(read(&folder, "merged/sweep.json"), read(&folder, "whole/sweep.json"));
    // Runs that are there twice count once.
    sim(&folder, &["merge", "a", "b", "whole", "--output", "twice"]);
    assert_eq!(read(&folder, "twice/sweep.csv"), read(&folder, "whole/sweep.csv"));
}

#[test]
fn more_seeds_and_values_continue_a_sweep_and_runs_can_keep_their_results() {
    let folder = folder();
    sim(&folder, &["star.toml", "-o", "sweep"]);
    let said = sim(&folder, &["star.toml", "-o", "sweep", "--seeds", "1..4", "--keep"]);
    assert!(said.starts_with("2 runs in ") && said.contains(", 6 were there already\n8 runs of"), "{said}");
    let runs = fs::read_dir(folder.path().join("sweep/runs")).unwrap();
    let mut names: Vec<String> = runs.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    assert_eq!(names, ["workloads.0.load=0.2,seed=4", "workloads.0.load=0.6,seed=4"]);
    fs::write(folder.path().join("plain.toml"), plain()).unwrap();
    sim(&folder, &["plain.toml", "-o", "single", "--set", "workloads.0.load=0.2", "--seed", "4"]);
    let flows = read(&folder, "sweep/runs/workloads.0.load=0.2,seed=4/flows.csv");
    assert!(flows.lines().count() > 3);
    assert_eq!(read(&folder, "single/flows.csv"), flows);
}

#[test]
fn what_does_not_belong_together_is_refused() {
    let folder = folder();
    sim(&folder, &["star.toml", "-o", "sweep", "--seeds", "1..1"]);
    let mut said = refusal(&folder, &["star.toml", "-o", "sweep", "--set", "duration=1ms"]);
    fs::write(folder.path().join("plain.toml"), plain()).unwrap();
    said += &refusal(&folder, &["plain.toml", "--shard", "1/2"]);
    said += &refusal(&folder, &["plain.toml", "--sweep", "links.los=1,2", "-o", "new"]);
    said += &refusal(&folder, &["plain.toml", "--sweep", "links.loss", "-o", "new"]);
    said += &refusal(&folder, &["star.toml", "--seeds", "x", "-o", "new"]);
    said += &refusal(&folder, &["star.toml", "--pcap", "all", "-o", "new"]);
    sim(&folder, &["star.toml", "-o", "other", "--seeds", "1..1", "--set", "duration=1ms"]);
    said += &refusal(&folder, &["merge", "sweep", "other"]);
    fs::create_dir(folder.path().join("empty")).unwrap();
    said += &refusal(&folder, &["merge", "empty"]);
    let lines = read(&folder, "other/runs.jsonl");
    fs::write(folder.path().join("other/runs.jsonl"), format!("{lines}nonsense\n{lines}")).unwrap();
    said += &refusal(&folder, &["merge", "other"]);
    let other = fs::File::open(folder.path().join("sweep/runs.jsonl")).unwrap();
    other.lock().unwrap();
    said += &refusal(&folder, &["star.toml", "-o", "sweep"]);
    expect![[r#"
        error: sweep/runs.jsonl has runs of a scenario that was different, or of different programs or files: give another folder with --output, or remove it
        error: `--shard` is for sweeps: add --seeds, --sweep, or a table [sweep] to the scenario, and no --check
        error: --set links.los=1: unknown field `los`, expected one of `rate`, `delay`, `overhead`, `queue_packets`, `queue_bytes`, `ecn_packets`, `ecn_bytes`, `mtu`, `loss`, `corruption`, `duplication`, `jitter`, `reordering`, `reordering_delay`, `down`
        error: --sweep links.loss: write KEY=VALUE,VALUE, as in links.loss=0,0.01
        error: --seeds x: `x` is not a seed: write how many, as in 20, or which, as in 1..20 or 3,5,8
        error: `--pcap` is for a single run, and this is a sweep
        error: the runs are of different scenarios: merge those of one only
        error: empty has no runs: a sweep writes runs.jsonl into its --output
        error: other/runs.jsonl:3: this is not a run: remove the line
        error: sweep/runs.jsonl: another process writes it: wait for its end, or give another folder with --output
    "#]]
    .assert_eq(&said);
    assert!(!Path::new(&folder.path().join("new")).exists());
    let bad = refusal(&folder, &["star.toml", "--shard", "3/2"]);
    assert!(bad.contains("`3/2` is not a shard: write I/N with I from 1 to N, as in 2/8"), "{bad}");
}

#[test]
fn missing_parts_are_reported() {
    let folder = folder();
    for shard in ["1/4", "3/4"] {
        sim(&folder, &["star.toml", "--shard", shard, "-o", "parts"]);
    }
    let merged = command(&folder, &["merge", "parts"]).output().unwrap();
    let said = String::from_utf8(merged.stderr).unwrap();
    assert!(merged.status.success(), "{said}");
    assert_eq!(said, "warning: parts of the sweep are missing, of which the table has nothing: 2/4, 4/4\n");
}

#[test]
fn a_run_that_is_interrupted_leaves_no_summary_of_an_earlier_one() {
    let folder = folder();
    fs::write(folder.path().join("plain.toml"), plain()).unwrap();
    sim(&folder, &["plain.toml", "--trace", "0"]);
    let results = folder.path().join("plain-results");
    assert!(results.join("summary.json").exists() && results.join("trace.txt").exists());
    sim(&folder, &["plain.toml"]);
    assert!(results.join("summary.json").exists() && !results.join("trace.txt").exists());
    let long = ["plain.toml", "--set", "duration=1000s", "--set", "workloads.0.bytes=20_000_000"];
    let mut long = command(&folder, &long).spawn().unwrap();
    let began = Instant::now();
    while results.join("summary.json").exists() && began.elapsed() < Duration::from_secs(20) {
        thread::sleep(Duration::from_millis(10));
    }
    long.kill().unwrap();
    long.wait().unwrap();
    assert!(!results.join("summary.json").exists() && results.join("flows.csv").exists());
}
