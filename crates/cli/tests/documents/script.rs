//! The blocks of a page as one script of `bash`. What enters: [`Block`]s. What leaves: a script that stops at the first
//! command that fails, says where, and leaves what each block printed in a file of its own.

use crate::page::{Block, Kind};
use std::fmt::Write as _;

/// Where a block's output is left.
pub fn output_name(number: usize) -> String {
    format!("block-{number}.out")
}

/// What surrounds the commands of a page: interfaces, and functions in the place of what a test cannot or must not do.
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
where=start switch= number=0
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

# The page's own commands build the command and install it; here it is there already.
cargo() {
    case "$*" in
        "run --release -- "*) shift 3; command wirespeed "$@" ;;
        "build --release"*|"install --path crates/cli"*|"test --workspace"*) ;;
        *) echo "cargo $*: this command is not known to the tests of pages"; return 1 ;;
    esac
}
sudo() { "$@"; }
stop() {
    [ -n "$switch" ] || return 0
    local it=$switch
    switch=
    kill -INT "$it" 2>/dev/null || true
    wait "$it"
}
# A switch goes on while the page goes on, until it says that it runs.
start() {
    stop
    number=$((number + 1))
    local log="$page_folder/switch-$number.log"
    : > "$log"
    command "$@" 2> >(tee "$log" >&2) > "$log.out" < /dev/null &
    switch=$!
    for _ in $(seq 600); do
        if grep -qE '\.p4 on [0-9]+=|^no program|P4Runtime at ' "$log"; then return 0; fi
        kill -0 "$switch" 2>/dev/null || { echo "the switch has ended"; return 1; }
        sleep 0.1
    done
    echo "the switch has not started"
    return 1
}
"#;

/// In blocks for a switch, the command that does not end goes on in the background.
const IN_BACKGROUND: &str = r#"wirespeed() { case "$1" in run) start wirespeed "$@" ;; *) command wirespeed "$@" ;; esac; }
simple_switch_grpc() { start simple_switch_grpc "$@"; }
"#;

/// The script of a page.
pub fn write(page: &str, blocks: &[Block]) -> String {
    let mut script = PROLOGUE.to_owned();
    for (number, block) in blocks.iter().enumerate() {
        let place = format!("{page}:{}", block.line);
        let _ = writeln!(script, "where={place}");
        let body = match block.kind {
            Kind::Output => continue,
            Kind::Commands { switch: false } => format!("unset -f wirespeed simple_switch_grpc\n{}", block.text),
            Kind::Commands { switch: true } => {
                let text = block.text.replace("target/release/wirespeed ", "wirespeed ");
                format!("{IN_BACKGROUND}{text}")
            }
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
