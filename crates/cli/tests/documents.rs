//! README and guides: every command in them is run, and its output is compared with the page.
//!
//! A page is read into blocks ([`page`]), and those become one shell script ([`script`]) that runs in a folder with
//! `apps`, `docs`, `tests` and `include`, in a network namespace of its own with the interfaces `eth0` to `eth3`. A
//! block that needs a tool which is not installed is skipped, visibly.
//!
//! The words after the language of a fenced block:
//!
//! * `sh`: the commands run one after the other, and each succeeds.
//! * `sh switch`: the same, but `wirespeed run` continues in the background until the next one, as in a terminal of
//!   its own.
//! * `sh switch beside`: the running switches continue as well, and so does `wirespeed zipline learn`.
//! * `sh needs=NAME`: only where that program or Python package is installed. Blocks with `ping` need that program.
//! * `command_line`: `$ COMMAND`, then the input at its prompt (`NAME> LINE`) and its output.
//! * `python`: runs with the switch of the block before it; `python fragment` is a part of a program and is not run.
//! * `file=NAME`, in any language: the reader writes this file.
//! * `rust`: a test of the crate whose page this is, and not run here.
//! * `output`: the output of the block before. Numbers may differ; a line `...` stands for any lines.

mod page;
mod script;
use page::{Block, Kind};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use testkit::netns::Network;

/// The time limit for all commands of a page, in seconds.
const PAGE_SECONDS_MAX: u32 = 400;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().to_owned()
}

/// Runs the commands of a page.
fn follow(page: &str) {
    if let Err(reason) = Network::new(&["unshare", "script"]) {
        testkit::skip(reason);
        return;
    }
    let text = std::fs::read_to_string(root().join(page)).unwrap();
    let blocks = page::blocks(&text).unwrap_or_else(|problem| panic!("{page}: {problem}"));
    let (present, absent): (Vec<Block>, Vec<Block>) = blocks.into_iter().partition(|block| block.missing().is_none());
    for block in &absent {
        testkit::skip(format!("needs {}, for {page}:{}", block.missing().unwrap(), block.line));
    }
    let folder = tempfile::tempdir().unwrap();
    let script = script::write(page, &present);
    prepare(folder.path(), &script);
    let output = Command::new("timeout")
        .args(["--kill-after=10", &PAGE_SECONDS_MAX.to_string(), "unshare", "-n", "-m", "bash", "page.sh"])
        .current_dir(folder.path())
        .env("XDG_CACHE_HOME", Path::new(env!("CARGO_TARGET_TMPDIR")).join("documents-cache"))
        .output()
        .unwrap();
    let shown = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{page}: {}\n{shown}", output.status);
    check_outputs(page, &present, folder.path());
}

/// The folder in which the commands of a page run.
fn prepare(folder: &Path, script: &str) {
    for name in ["docs", "examples", "tests", "include", "README.md"] {
        std::os::unix::fs::symlink(root().join(name), folder.join(name)).unwrap();
    }
    let copied = Command::new("cp").arg("-r").arg(root().join("apps")).arg(folder).status().unwrap();
    assert!(copied.success());
    std::fs::create_dir_all(folder.join("target/release")).unwrap();
    std::fs::create_dir_all(folder.join("bin")).unwrap();
    for link in ["bin/wirespeed", "target/release/wirespeed"] {
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_wirespeed"), folder.join(link)).unwrap();
    }
    let sudo = folder.join("bin/sudo");
    std::fs::write(&sudo, "#!/bin/sh\nexec \"$@\"\n").unwrap();
    std::fs::set_permissions(&sudo, std::fs::Permissions::from_mode(0o755)).unwrap();
    std::fs::write(folder.join("page.sh"), script).unwrap();
}

/// Compares the output of blocks with that on the page.
fn check_outputs(page: &str, blocks: &[Block], folder: &Path) {
    for (number, block) in blocks.iter().enumerate() {
        let expected = match (&block.kind, blocks.get(number + 1)) {
            (Kind::Console, _) => block.shown_lines(),
            (Kind::Commands(_), Some(next)) if next.kind == Kind::Output => next.text.clone(),
            _ => continue,
        };
        let printed = std::fs::read_to_string(folder.join(script::output_name(number))).unwrap();
        let printed = page::PROMPTS.iter().fold(printed, |text, prompt| text.replace(prompt, ""));
        if let Err(line) = page::matches(&expected, &printed) {
            panic!("{page}:{}: the page shows `{line}`, but the commands print\n{printed}", block.line);
        }
    }
}

macro_rules! pages {
    ($($name:ident: $path:literal,)*) => {
        const PAGES: &[&str] = &[$($path),*];
        $(#[test] fn $name() { follow($path); })*
    };
}

pages! {
    readme: "README.md",
    testing: "docs/testing.md",
    bench: "docs/guide/bench.md",
    generator: "docs/guide/gen.md",
    coming_from_bmv2: "docs/guide/coming-from-bmv2.md",
    ctl: "docs/guide/ctl.md",
    extensions: "docs/guide/extensions.md",
    files: "docs/guide/files.md",
    library: "docs/guide/library.md",
    links: "docs/guide/links.md",
    logs: "docs/guide/logs.md",
    metrics: "docs/guide/metrics.md",
    net: "docs/guide/net.md",
    p4runtime: "docs/guide/p4runtime.md",
    plan: "docs/guide/plan.md",
    ports: "docs/guide/ports.md",
    sim: "docs/guide/sim.md",
    state: "docs/guide/state.md",
    top: "docs/guide/top.md",
    trace: "docs/guide/trace.md",
    workers: "docs/guide/workers.md",
    plug_ins: "docs/plug-ins.md",
    contributing: "CONTRIBUTING.md",
    applications: "apps/README.md",
    aggregation: "apps/aggregation/README.md",
    gateway: "apps/aggregation/gateway/README.md",
    zipline: "apps/zipline/README.md",
    l2fwd: "apps/l2fwd/README.md",
    l3fwd: "apps/l3fwd/README.md",
    dcg: "apps/dcg/README.md",
    bng: "apps/bng/README.md",
    p4te: "apps/p4te/README.md",
    te: "apps/te/README.md",
    sim_dumbbell: "examples/sim/dumbbell/README.md",
    sim_incast: "examples/sim/incast-ecn/README.md",
    sim_leaf_spine: "examples/sim/leaf-spine/README.md",
    sim_learning_switch: "examples/sim/learning-switch/README.md",
    sim_link_failure: "examples/sim/link-failure/README.md",
    sim_p4te: "examples/sim/p4te/README.md",
}

/// The pages in a folder and in those below it.
fn pages_below(folder: &str) -> Vec<String> {
    let entries = std::fs::read_dir(root().join(folder)).unwrap().map(Result::unwrap);
    let paths = entries.map(|entry| (format!("{folder}/{}", entry.file_name().display()), entry.path().is_dir()));
    paths
        .flat_map(|(path, is_folder)| if is_folder { pages_below(&path) } else { vec![path] })
        .filter(|path| path.ends_with(".md"))
        .collect()
}

#[test]
fn every_guide_is_followed() {
    for path in ["docs/guide", "apps", "examples"].into_iter().flat_map(pages_below) {
        assert!(PAGES.contains(&path.as_str()), "{path} is followed by no test");
    }
}

#[test]
fn outputs_are_compared_line_by_line() {
    assert_eq!(page::matches("a 1\n...\nd", "a 22\nb\nc\nd\n"), Ok(()));
    assert_eq!(page::matches("a 1,000\nb", "a 2\nb\nc"), Err("(the end)".to_owned()));
    assert_eq!(page::matches("a\nc", "a\nb\n"), Err("c".to_owned()));
}
