//! The blocks of a page as one script of `bash`. What enters: [`Block`]s. What leaves: a script that stops at the
//! first command that fails, reports where, and writes the output of each block to a file of its own.

use super::page::{Block, Kind, Terminals};
use std::fmt::Write as _;

/// The file for a block's output.
pub fn output_name(number: usize) -> String {
    format!("block-{number}.out")
}

/// The script around the commands of a page: interfaces, and functions that replace what a test cannot or must not
/// do.
const PROLOGUE: &str = r#"
set -eu -o pipefail
page_folder=$PWD
export PATH="$PWD/bin:$PATH" LC_ALL=C TERM=dumb HOME="$PWD"
mount -t tmpfs tmpfs /run
mkdir -p /run/netns
ip link set lo up
for number in 0 1 2 3; do
    ip link add "eth$number" type veth peer name "wire$number"
    ip link set "eth$number" up
    ip link set "wire$number" up
done
where=start switches= number=0
exec 3>&1
finish() {
    local status=$?
    if [ "$status" -eq 0 ]; then stop || status=$?; fi
    if [ "$status" -ne 0 ]; then
        echo "a command of $where failed with status $status"
        tail -n +1 "$page_folder"/block-*.out "$page_folder"/switch-*.log 2>/dev/null
    fi >&3
    kill $(jobs -p) 2>/dev/null || true
    exit "$status"
}
trap finish EXIT

# What a page adds to the package `p4` it adds to a copy.
if p4=$(python3 -c 'import p4.v1; print(p4.__path__[0])' 2>/dev/null); then
    mkdir python
    cp -r "$p4" python
    export PYTHONPATH="$PWD/python"
fi

# The page's own commands build the command and install it; here it is there already.
cargo() {
    case "$*" in
        "run --release -- "*) shift 3; command wirespeed "$@" ;;
        "build --release"*|"test --workspace"*) ;;
        # What a chore is given is looked at by the tests of `xtask`.
        "xtask "*) ;;
        *) echo "cargo $*: this command is not known to the tests of pages"; return 1 ;;
    esac
}
install() {
    case "$*" in
        "wirespeed /usr/local/bin/") ;;
        *) command install "$@" ;;
    esac
}
sudo() { "$@"; }
stop() {
    local it ended=0
    for it in $switches; do
        kill -INT "$it" 2>/dev/null || true
        wait "$it" || ended=$?
    done
    switches=
    return "$ended"
}
# A switch runs on while the page continues, as soon as it reports that it runs.
start() {
    number=$((number + 1))
    local log="$page_folder/switch-$number.log" it
    : > "$log"
    command "$@" 2> >(tee "$log" >&2) > "$log.out" < /dev/null &
    it=$!
    switches="$switches $it"
    for _ in $(seq 600); do
        if grep -qE '\.p4 on [0-9]+=|^no program|P4Runtime at |^note: the (en|de)coder at ' "$log" "$log.out"; then return 0; fi
        kill -0 "$it" 2>/dev/null || { echo "the switch has ended"; return 1; }
        sleep 0.1
    done
    echo "the switch has not started"
    return 1
}
"#;

/// In blocks for a switch, the commands that do not end run in the background.
const IN_BACKGROUND: &str = r#"wirespeed() {
    case "$1 ${2-}" in "run "*|"zipline learn") start wirespeed "$@" ;; *) command wirespeed "$@" ;; esac
}
simple_switch_grpc() { start simple_switch_grpc "$@"; }
"#;

/// Those of the previous blocks end when the first of a block begins.
const ONE_AFTER_THE_OTHER: &str = r#"wirespeed() {
    case "$1" in run) stop; start wirespeed "$@" ;; *) command wirespeed "$@" ;; esac
}
simple_switch_grpc() { stop; start simple_switch_grpc "$@"; }
"#;

/// The script of a page.
pub fn write(page: &str, blocks: &[Block]) -> String {
    let mut script = PROLOGUE.to_owned();
    for (number, block) in blocks.iter().enumerate() {
        let place = format!("{page}:{}", block.line);
        let _ = writeln!(script, "where={place}");
        let body = match &block.kind {
            Kind::Output => continue,
            Kind::Commands(Terminals::One) => format!("unset -f wirespeed simple_switch_grpc\n{}", block.text),
            Kind::Commands(terminals) => {
                let functions = if *terminals == Terminals::Beside { IN_BACKGROUND } else { ONE_AFTER_THE_OTHER };
                let text = block.text.replace("target/release/wirespeed ", "wirespeed ");
                format!("{functions}{text}")
            }
            Kind::File(name) => format!("cat > {} <<'END_OF_FILE'\n{}END_OF_FILE\n", quoted(name), block.text),
            Kind::Console => session(block),
            Kind::Python => format!("python3 - <<'END_OF_PYTHON'\n{}END_OF_PYTHON\n", block.text),
        };
        let _ = writeln!(script, "{{ {body}}} > \"$page_folder/{}\" 2>&1", output_name(number));
    }
    script
}

/// A session at a prompt, on a terminal.
fn session(block: &Block) -> String {
    let typed: String = block.typed_lines().map(|line| line.to_owned() + "\n").collect();
    format!(
        "script -qefc {} /dev/null <<'END_OF_SESSION' | tr -d '\\r'\n{typed}END_OF_SESSION\n",
        quoted(block.command())
    )
}

fn quoted(command: &str) -> String {
    format!("'{}'", command.replace('\'', r"'\''"))
}
