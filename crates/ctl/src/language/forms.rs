//! The commands and their help.

use super::{Arguments, cells, dump, others, profiles, replication, tables, trace};
use crate::plan::Plan;
use control::{Problem, names};

/// A command.
pub struct Form {
    /// The word that a line with it begins with.
    pub name: &'static str,
    /// Its syntax.
    pub usage: &'static [&'static str],
    /// A short description.
    pub summary: &'static str,
    /// A longer description, with examples.
    pub details: &'static str,
    /// Whether it uses names of the program.
    pub needs_program: bool,
    pub(super) parse: fn(&Arguments<'_>) -> Result<Plan, Problem>,
}

/// The command of this name.
pub fn find(given: &str) -> Result<&'static Form, Problem> {
    if let Some(form) = FORMS.iter().find(|form| form.name == given || given == "exit" && form.name == "quit") {
        return Ok(form);
    }
    let known: Vec<&str> = FORMS.iter().map(|form| form.name).collect();
    Err(Problem::new(format!("there is no command {given}"))
        .with_help(format!("commands are {}; help shows all", names::listed(given, &known))))
}

/// All commands, in the order in which help shows them.
pub const FORMS: [Form; 29] = [
    Form {
        name: "list",
        usage: &["list [tables|actions|profiles|counters|meters|registers|value-sets|digests|packets]"],
        summary: "what the program has",
        details: "Without a word after it, how many there are of each.",
        needs_program: true,
        parse: others::list,
    },
    Form {
        name: "show",
        usage: &["show TABLE [KEY...] [priority N]"],
        summary: "entries of a table",
        details: "With keys, in order or as NAME=KEY, only the entries with exactly these matches.\n\
            Examples:\n  show ipv4_lpm\n  show ipv4_lpm 10.0.1.0/24\n  show acl dstPort=80..90",
        needs_program: true,
        parse: tables::show,
    },
    Form {
        name: "add",
        usage: &["add TABLE KEY... do ACTION [ARG...] [priority N] [timeout TIME] [metadata HEX]"],
        summary: "add an entry",
        details: "Keys and arguments are given in order or as NAME=VALUE; keys that are left out match anything if the others are\n\
            named. A key is VALUE, VALUE/PREFIX, VALUE&&&MASK, LOW..HIGH or *, depending on its match kind. Of two entries\n\
            that match, the one with the greater priority wins. => may replace do.\n\
            A table with an action profile takes do member N, do group N, or a group of the entry's own:\n\
            do one-of ACTION ARG... [weight N] [watch PORT] | ACTION ...\n\
            Examples:\n  add ipv4_lpm 10.0.1.0/24 do ipv4_forward 08:00:00:00:01:11 1\n  \
            add acl srcAddr=10.0.0.0/8 proto=6 do drop priority 10",
        needs_program: true,
        parse: tables::add,
    },
    Form {
        name: "modify",
        usage: &["modify TABLE KEY... do ACTION [ARG...] [priority N] [timeout TIME] [metadata HEX]"],
        summary: "change what an entry does",
        details: "The entry is identified by its complete key, and its priority if it has one.\n\
            Example:\n  modify ipv4_lpm 10.0.1.0/24 do ipv4_forward 08:00:00:00:01:11 2",
        needs_program: true,
        parse: tables::modify,
    },
    Form {
        name: "delete",
        usage: &["delete TABLE KEY... [priority N]"],
        summary: "delete an entry",
        details: "Example:\n  delete ipv4_lpm 10.0.1.0/24",
        needs_program: true,
        parse: tables::delete,
    },
    Form {
        name: "clear",
        usage: &["clear TABLE"],
        summary: "delete all entries of a table",
        details: "The default action stays as it is.",
        needs_program: true,
        parse: tables::clear,
    },
    Form {
        name: "default",
        usage: &["default TABLE", "default TABLE do ACTION [ARG...] [metadata HEX]", "default TABLE reset"],
        summary: "what a table does on a miss",
        details: "reset restores the program's own default action.\nExample:\n  default ipv4_lpm do drop",
        needs_program: true,
        parse: tables::default,
    },
    Form {
        name: "counters",
        usage: &[
            "counters [NAME [INDEX]]",
            "counters NAME [INDEX] set PACKETS BYTES | reset",
            "counters NAME KEY... [priority N] [set PACKETS BYTES | reset]",
            "counters NAME default [set PACKETS BYTES | reset]",
        ],
        summary: "read or set counters",
        details: "The cells of an array have an index; without one, the command applies to all. A direct counter, which may be named by\n\
            its table, has the keys of the table's entries. `default` is that of the default action, which counts misses.\n\
            Examples:\n  counters rx 1\n  counters rx reset\n  counters ipv4_lpm 10.0.1.0/24",
        needs_program: true,
        parse: cells::counters,
    },
    Form {
        name: "meters",
        usage: &[
            "meters [NAME [INDEX]]",
            "meters NAME [INDEX] set CIR CBURST PIR PBURST | reset",
            "meters NAME KEY... [priority N] [set CIR CBURST PIR PBURST | reset]",
            "meters NAME default [set CIR CBURST PIR PBURST | reset]",
        ],
        summary: "read or set meters",
        details: "Rates are bytes or packets per second, as the meter counts; bursts are bytes or packets. After reset every packet\n\
            is green. `default` is that of the default action, which meters misses while it has rates.\nExample:\n  meters police 3 set 125000 1500 250000 3000",
        needs_program: true,
        parse: cells::meters,
    },
    Form {
        name: "registers",
        usage: &["registers [NAME [INDEX]]", "registers NAME [INDEX] = VALUE...", "registers NAME [INDEX] reset"],
        summary: "read or set registers",
        details: "Without an index, the command applies to all cells. A register of structs takes a value for each field, in order or as\n\
            NAME=VALUE; NAME=invalid makes a header invalid.\nExamples:\n  registers flows\n  registers flows 3 = 0xff\n  registers flows = 0",
        needs_program: true,
        parse: cells::registers,
    },
    Form {
        name: "members",
        usage: &[
            "members [PROFILE [MEMBER]]",
            "members add|modify PROFILE MEMBER do ACTION [ARG...]",
            "members delete PROFILE MEMBER",
            "members clear [PROFILE]",
        ],
        summary: "members of action profiles",
        details: "A profile may be named by its table. Members have numbers that you choose.\n\
            Example:\n  members add hops 1 do set_port 3",
        needs_program: true,
        parse: profiles::members,
    },
    Form {
        name: "groups",
        usage: &[
            "groups [PROFILE [GROUP]]",
            "groups add|modify PROFILE GROUP MEMBER[*WEIGHT][@PORT]... [max N]",
            "groups delete PROFILE GROUP",
            "groups clear [PROFILE]",
        ],
        summary: "groups of action profiles",
        details: "A member with @PORT cannot be chosen while that port is down.\nExample:\n  groups add hops 1 1*2 2@3 max 8",
        needs_program: true,
        parse: profiles::groups,
    },
    Form {
        name: "multicast",
        usage: &[
            "multicast [GROUP]",
            "multicast add|modify GROUP PORT[:INSTANCE][/BACKUP]... [metadata HEX]",
            "multicast delete GROUP",
            "multicast clear",
        ],
        summary: "multicast groups",
        details: "The instance is the egress_rid of a copy. A backup is PORT[:INSTANCE], too: while the port before it has no \
                  link, the first backup with a link is used.\nExample:\n  multicast add 1 1 2 3:7/4:7",
        needs_program: false,
        parse: replication::multicast,
    },
    Form {
        name: "mirror",
        usage: &[
            "mirror [SESSION]",
            "mirror add|modify SESSION PORT[:INSTANCE][/BACKUP]... [class N] [bytes N]",
            "mirror delete SESSION",
            "mirror clear",
        ],
        summary: "clone sessions",
        details: "bytes truncates the copies to this length.\nExample:\n  mirror add 5 3 bytes 128",
        needs_program: false,
        parse: replication::mirror,
    },
    Form {
        name: "value-sets",
        usage: &["value-sets [NAME]", "value-sets add|delete NAME KEY...", "value-sets clear NAME"],
        summary: "value sets of parsers",
        details: "Example:\n  value-sets add tunnels 0x6558",
        needs_program: true,
        parse: others::value_sets,
    },
    Form {
        name: "digests",
        usage: &[
            "digests [NAME]",
            "digests NAME on [timeout TIME] [size N] [ack TIME]",
            "digests NAME off",
            "digests clear",
        ],
        summary: "which digests the switch sends",
        details: "timeout is the longest time that a message waits for others, size the most messages in a list, ack the time for\n\
            which a message is not repeated. watch shows digests.\nExample:\n  digests mac_learn on timeout 10ms size 100",
        needs_program: true,
        parse: others::digests,
    },
    Form {
        name: "packet-out",
        usage: &["packet-out HEX [FIELD=VALUE...]"],
        summary: "send a packet through the switch",
        details: "The fields are those of the header packet_out (list packets).\n\
            Example:\n  packet-out ffffffffffff0800000001110800 egress_port=1",
        needs_program: true,
        parse: others::packet_out,
    },
    Form {
        name: "watch",
        usage: &["watch [packets] [digests] [timeouts] [mastership]"],
        summary: "show messages of the switch, until Ctrl-C",
        details: "A line for each packet for the controller, digest, entry whose idle timeout has passed, and change of the primary\n\
            controller; with --json, a line of JSON. Digests are shown one by one, including those that no controller has\n\
            turned on. Controllers are not affected: they can write and get the same messages meanwhile.",
        needs_program: true,
        parse: others::watch,
    },
    Form {
        name: "trace",
        usage: &["trace [N] [port PORT]... [FIELD=VALUE]... [bytes OFFSET:HEX]..."],
        summary: "show the journey of the next packets",
        details: "The next N packets (1) that come in by one of these ports and have all of these fields and bytes. Each is\n\
            traced by the interpreter with the tables and registers that the switch has at that time, while the switch\n\
            forwards it as usual. A field is one of a header, and its value may be VALUE, VALUE/PREFIX or VALUE&&&MASK.\n\
            The conditions may be written as options: --port PORT, --field FIELD=VALUE, --bytes OFFSET:HEX, --count N.\n\
            Examples:\n  trace\n  trace 3 port 1\n  trace port 1 hdr.ipv4.dstAddr=10.0.1.0/24\n  trace bytes 12:0806",
        needs_program: false,
        parse: trace::trace,
    },
    Form {
        name: "dump",
        usage: &["dump [with-data] [TABLE...]"],
        summary: "the state that was written, as commands that restore it",
        details: "The commands bring a switch with the same program to the same state: they begin by deleting its present state, so\n\
            it is best to run them as one batch, with --atomic. Counters and registers are only included with with-data.\n\
            Examples:\n  wirespeed ctl dump > saved.txt; wirespeed ctl --atomic --file saved.txt\n  dump ipv4_lpm",
        needs_program: true,
        parse: dump::dump,
    },
    Form {
        name: "load",
        usage: &["load PROGRAM.p4 [reconcile|verify|save]"],
        summary: "give the switch a program",
        details: "It runs at once, with empty tables; with reconcile, it keeps the state that both programs share. verify only\n\
            compiles, save keeps the program until commit: writes in between apply from its first packet on.",
        needs_program: false,
        parse: others::load,
    },
    Form {
        name: "commit",
        usage: &["commit"],
        summary: "run the program that was saved",
        details: "",
        needs_program: false,
        parse: |it| others::plain(it, Plan::Commit),
    },
    Form {
        name: "status",
        usage: &["status"],
        summary: "the switch, its program and who is primary",
        details: "",
        needs_program: false,
        parse: |it| others::plain(it, Plan::Status),
    },
    Form {
        name: "workers",
        usage: &["workers [NUMBER|auto]"],
        summary: "the threads that process packets, and their number",
        details: "The number changes at once, while traffic flows: no packet is lost or reordered. With auto, it follows the load.\n\
            Examples:\n  workers\n  workers 2\n  workers auto",
        needs_program: false,
        parse: others::workers,
    },
    Form {
        name: "timers",
        usage: &["timers", "timers PORT PERIOD [PACKET...]", "timers PORT stop"],
        summary: "ports on which the switch generates packets periodically",
        details: "A port without another driver gets a timer, or its timer another period, at once. With each tick the packets\n\
            arrive, which are written in hexadecimal; if none are given, those that it had, initially one of 60 zero bytes.\n\
            Ticks that come too late are skipped and counted as missed.\n\
            Examples:\n  timers\n  timers 9 50ms\n  timers 9 1s ffffffffffff0200000000010800\n  timers 9 stop",
        needs_program: false,
        parse: others::timers,
    },
    Form {
        name: "sizes",
        usage: &["sizes"],
        summary: "entries, capacity and memory of each table",
        details: "Bytes are those that lookups use: entries with their arguments, and the index. The switch has two copies of\n\
            them, one for packets and one for changes.",
        needs_program: false,
        parse: |it| others::plain(it, Plan::Sizes),
    },
    Form {
        name: "help",
        usage: &["help [COMMAND]"],
        summary: "this list, or details of a command",
        details: "",
        needs_program: false,
        parse: others::help,
    },
    Form {
        name: "quit",
        usage: &["quit"],
        summary: "end (also exit, Ctrl-D)",
        details: "",
        needs_program: false,
        parse: |it| others::plain(it, Plan::Quit),
    },
    Form {
        name: "simple",
        usage: &["simple COMMAND..."],
        summary: "a command of simple_switch_CLI",
        details: "Example:\n  simple table_dump ipv4_lpm",
        needs_program: false,
        parse: others::simple,
    },
];
