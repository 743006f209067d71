//! `wirespeed ctl` with a running switch.

use crate::support;

use expect_test::expect;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::Stdio;
use std::time::Duration;
use support::{ROUTER, Switch, wirespeed};

#[test]
fn a_switch_is_asked_and_changed() {
    let switch = Switch::start();
    switch.check(
        &[
            &["add", "ipv4_lpm", "10.0.1.0/24", "do", "forward", "08:00:00:00:01:11", "1"],
            &["add", "ipv4_lpm", "dstAddr=10.0.2.0/24", "do", "forward", "port=2", "dstAddr=2"],
            &["add", "ipv4_lpm", "10.0.1.0/24", "do", "drop"],
            &["add", "acl", "10.0.0.0&&&0xff000000", "0x800..0x806", "do", "drop", "priority", "10"],
            &["show", "ipv4_lpm"],
            &["--json", "show", "acl"],
            &["modify", "ipv4_lpm", "10.0.2.0/24", "do", "drop"],
            &["show", "ipv4_lpm", "10.0.2.0/24"],
            &["delete", "ipv4_lpm", "10.0.1.0/24"],
            &["delete", "ipv4_lpm", "10.0.1.0/24"],
            &["default", "ipv4_lpm", "do", "forward", "1", "3"],
            &["default", "ipv4_lpm"],
            &["dump"],
            &["clear", "acl"],
            &["show", "acl"],
            &["show", "lpm"],
        ],
        expect![[r#"
            error: table MyIngress.ipv4_lpm: there is already an entry with h.ipv4.dstAddr = 0xa000100/24: modify it, or delete it first
            status 1
            MyIngress.ipv4_lpm: 2 entries
            h.ipv4.dstAddr  action
            10.0.1.0/24     forward dstAddr=08:00:00:00:01:11 port=1
            10.0.2.0/24     forward dstAddr=00:00:00:00:00:02 port=2
            default         drop
            {"action":"drop","arguments":{},"match":{"h.ethernet.etherType":"0x800..0x806","h.ipv4.srcAddr":"0xa000000&&&0xff000000"},"priority":10,"table":"MyIngress.acl"}
            {"action":"NoAction","arguments":{},"default":true,"table":"MyIngress.acl"}
            MyIngress.ipv4_lpm: 1 entry
            h.ipv4.dstAddr  action
            10.0.2.0/24     drop
            error: table MyIngress.ipv4_lpm: there is no entry with h.ipv4.dstAddr = 0xa000100/24
            status 1
            MyIngress.ipv4_lpm: the default action is forward dstAddr=00:00:00:00:00:01 port=3
            clear MyIngress.ipv4_lpm
            default MyIngress.ipv4_lpm reset
            clear MyIngress.acl
            default MyIngress.acl reset
            multicast clear
            mirror clear
            digests clear
            default MyIngress.ipv4_lpm do forward dstAddr=00:00:00:00:00:01 port=3
            add MyIngress.ipv4_lpm 10.0.2.0/24 do drop
            add MyIngress.acl 0xa000000&&&0xff000000 0x800..0x806 priority 10 do drop
            MyIngress.acl: 0 entries
            h.ipv4.srcAddr  action
            default         NoAction
            error: there is no table lpm
              help: the program has the tables MyIngress.acl, MyIngress.ipv4_lpm
            status 1
        "#]],
    );
}

#[test]
fn cells_and_copies() {
    let switch = Switch::start();
    switch.check(
        &[
            &["counters", "rx", "1", "set", "5", "640"],
            &["counters", "rx"],
            &["counters", "rx", "reset"],
            &["counters", "rx", "1"],
            &["registers", "flows", "3", "=", "0xff"],
            &["registers", "flows"],
            &["--json", "registers", "flows", "3"],
            &["multicast", "add", "1", "1", "2:7"],
            &["multicast"],
            &["mirror", "add", "5", "3"],
            &["mirror"],
            &["digests", "learn_t", "on"],
            &["digests"],
        ],
        expect![[r#"
            MyIngress.rx: 4 cells, 3 of them 0
            index  packets  bytes
            1      5        640
            MyIngress.rx: 1 cell
            index  packets  bytes
            1      0        0
            MyIngress.flows: 4 cells, 3 of them 0
            index  value
            3      255
            {"index":3,"register":"MyIngress.flows","value":"255"}
            1 multicast group
            group  copies
            1      1 2:7
            1 clone session
            session  copies
            5        3
            1 digest
            digest   timeout  size  ack
            learn_t  0ns      1     0ns
        "#]],
    );
}

#[test]
fn lines_of_standard_input_and_files() {
    let switch = Switch::start();
    let lines = "# two routes\nadd ipv4_lpm 1.0.0.0/8 do drop\nadd ipv4_lpm 1.0.0.0/8 do drop\nadd ipv4_lpm 2.0.0.0/8 do drop\n";
    switch.check_lines(
        &[],
        lines,
        expect![[r#"
        error: table MyIngress.ipv4_lpm: there is already an entry with h.ipv4.dstAddr = 0x1000000/8: modify it, or delete it first
        status 1
    "#]],
    );
    switch.check_lines(
        &["--keep-going"],
        lines,
        expect![[r#"
        error: table MyIngress.ipv4_lpm: there is already an entry with h.ipv4.dstAddr = 0x1000000/8: modify it, or delete it first
        error: table MyIngress.ipv4_lpm: there is already an entry with h.ipv4.dstAddr = 0x1000000/8: modify it, or delete it first
        status 1
    "#]],
    );
    switch.check_lines(
        &[],
        "show ipv4_lpm\nclear ipv4_lpm\nshow ipv4_lpm\nquit\nnonsense",
        expect![[r#"
        MyIngress.ipv4_lpm: 2 entries
        h.ipv4.dstAddr  action
        1.0.0.0/8       drop
        2.0.0.0/8       drop
        default         drop
        MyIngress.ipv4_lpm: 0 entries
        h.ipv4.dstAddr  action
        default         drop
    "#]],
    );
    // All or nothing.
    let file = switch.write("lines.txt", lines);
    let file = file.to_str().unwrap();
    switch.check(
        &[&["--atomic", "--file", file], &["show", "ipv4_lpm"], &["--file", "no/such/file"]],
        expect![[r#"
        error: FOLDER/lines.txt: update 0: taken back: update 1 of the batch was refused
        update 1: table MyIngress.ipv4_lpm: there is already an entry with h.ipv4.dstAddr = 0x1000000/8: modify it, or delete it first
        update 2: not tried: update 1 of the batch was refused
        status 1
        MyIngress.ipv4_lpm: 0 entries
        h.ipv4.dstAddr  action
        default         drop
        error: cannot read no/such/file: No such file or directory (os error 2)
        status 1
    "#]],
    );
}

#[test]
fn commands_of_simple_switch_cli() {
    let switch = Switch::start();
    let lines = "table_add ipv4_lpm forward 10.0.1.0/24 => 08:00:00:00:01:11 1\ntable_add ipv4_lpm drop 10.0.1.0/24 =>\n\
                 table_dump ipv4_lpm\nregister_write flows 0 7\nregister_read flows 0\nmc_mgrp_create 1\nmc_node_create 7 1 2\n\
                 mc_node_associate 1 0\ntable_delete ipv4_lpm 0\n";
    switch.check_lines(&["--simple-switch-cli"], lines, expect![[r#"
        Adding entry to lpm match table MyIngress.ipv4_lpm
        match key:           LPM-0a:00:01:00/24
        action:              MyIngress.forward
        runtime data:        08:00:00:00:01:11	00:01
        Entry has been added with handle 0
        Error: table `MyIngress.ipv4_lpm`: there is already an entry with this key, of handle 0: modify it, or delete it first
        ==========
        TABLE ENTRIES
        **********
        Dumping entry 0x0
        Match key:
        * h.ipv4.dstAddr      : LPM       0a000100/24
        Action entry: MyIngress.forward - 080000000111, 0001
        ==========
        Dumping default entry
        Action entry: MyIngress.drop - 
        ==========
        MyIngress.flows[0]=  7
        Creating multicast group 1
        Creating node with rid 7 , port map 110 and lag map 
        node was created with handle 0
        Associating node 0 to multicast group 1
        Deleting entry 0 from MyIngress.ipv4_lpm
        status 1
    "#]]);
    // P4Runtime sees the changes by the other service.
    switch.check(
        &[&["multicast"], &["registers", "flows", "0"], &["simple", "table_num_entries", "ipv4_lpm"]],
        expect![[r#"
            1 multicast group
            group  copies
            1      1:7 2:7
            MyIngress.flows: 1 cell
            index  value
            0      7
            0
        "#]],
    );
}

/// The tool's priorities in P4Runtime's form: from 1, the greater wins.
#[test]
fn entries_of_simple_switch_cli_are_changed_by_controllers() {
    let switch = Switch::start();
    let lines = "table_add acl drop 10.0.0.0&&&0xff000000 0x800->0x806 => 10\n\
                 table_add acl NoAction 10.1.0.0&&&0xffff0000 0x800->0x806 => 0\n\
                 table_add acl drop 10.2.0.0&&&0xffff0000 0x800->0x806 => 2147483647\ntable_dump_entry acl 0\n";
    switch.check_lines(
        &["--simple-switch-cli"],
        lines,
        expect![[r#"
        Adding entry to range match table MyIngress.acl
        match key:           TERNARY-0a:00:00:00 &&& ff:00:00:00	RANGE-08:00 -> 08:06
        action:              MyIngress.drop
        runtime data:        
        Entry has been added with handle 0
        Adding entry to range match table MyIngress.acl
        match key:           TERNARY-0a:01:00:00 &&& ff:ff:00:00	RANGE-08:00 -> 08:06
        action:              NoAction
        runtime data:        
        Entry has been added with handle 1
        Error: 2147483647 is not a valid priority
          help: it is a number from 0 to 2147483646
        Dumping entry 0x0
        Match key:
        * h.ipv4.srcAddr      : TERNARY   0a000000 &&& ff000000
        * h.ethernet.etherType: RANGE     0800 -> 0806
        Priority: 10
        Action entry: MyIngress.drop - 
        status 1
    "#]],
    );
    let first = ["acl", "10.0.0.0&&&0xff000000", "0x800..0x806", "priority", "2147483637"];
    let modify = [&["modify"], &first[..3], &["do", "NoAction"], &first[3..]].concat();
    switch.check(
        &[
            &["show", "acl"],
            &modify,
            &["dump", "acl"],
            &[&["delete"], &first[..]].concat(),
            &["clear", "acl"],
            &["show", "acl"],
        ],
        expect![[r#"
            MyIngress.acl: 2 entries
            h.ipv4.srcAddr          h.ethernet.etherType  priority    action
            0xa000000&&&0xff000000  0x800..0x806          2147483637  drop
            0xa010000&&&0xffff0000  0x800..0x806          2147483647  NoAction
            default                                                   NoAction
            clear MyIngress.acl
            default MyIngress.acl reset
            add MyIngress.acl 0xa000000&&&0xff000000 0x800..0x806 priority 2147483637 do NoAction
            add MyIngress.acl 0xa010000&&&0xffff0000 0x800..0x806 priority 2147483647 do NoAction
            MyIngress.acl: 0 entries
            h.ipv4.srcAddr  action
            default         NoAction
        "#]],
    );
}

#[test]
fn a_saved_program_is_written_to_before_it_runs() {
    let switch = Switch::start();
    let path = switch.write("other.p4", &ROUTER.replace("ipv4_lpm", "routes"));
    switch.check(
        &[
            &["add", "ipv4_lpm", "10.0.1.0/24", "do", "drop"],
            &["load", path.to_str().unwrap(), "save"],
            &["add", "routes", "10.0.2.0/24", "do", "drop"],
            &["add", "ipv4_lpm", "10.0.3.0/24", "do", "drop"],
            &["commit"],
            &["show", "routes"],
        ],
        expect![[r#"
            error: there is no table ipv4_lpm
              help: the program has the tables MyIngress.acl, MyIngress.routes
            status 1
            MyIngress.routes: 1 entry
            h.ipv4.dstAddr  action
            10.0.2.0/24     drop
            default         drop
        "#]],
    );
}

#[test]
fn a_program_that_is_loaded_has_macros_and_folders_of_its_own() {
    let switch = Switch::start();
    let path = switch.write("other.p4", &ROUTER.replace("size = 16;", "size = SIZE; \n#include <more.p4>\n"));
    switch.write("more.p4", "support_timeout = true;");
    let folder = path.parent().unwrap().to_str().unwrap();
    switch.check(
        &[
            &["-I", folder, "-D", "SIZE=2", "load", path.to_str().unwrap()],
            &["add", "ipv4_lpm", "10.0.1.0/24", "do", "drop", "timeout", "5s"],
        ],
        // All of this is valid.
        expect![[""]],
    );
}

#[test]
fn another_program_with_and_without_the_state_of_the_first() {
    let switch = Switch::start();
    let other = ROUTER.replace("size = 16;", "size = 32;");
    let path = switch.write("other.p4", &other);
    let path = path.to_str().unwrap();
    let wrong = switch.write("wrong.p4", "control c() { apply { undeclared(); } }\n");
    switch.check(
        &[
            &["add", "ipv4_lpm", "10.0.1.0/24", "do", "drop"],
            &["load", path, "reconcile"],
            &["show", "ipv4_lpm"],
            &["load", path],
            &["show", "ipv4_lpm"],
            &["load", wrong.to_str().unwrap()],
            &["status"],
        ],
        expect![[r#"
            MyIngress.ipv4_lpm: 1 entry
            h.ipv4.dstAddr  action
            10.0.1.0/24     drop
            default         drop
            MyIngress.ipv4_lpm: 0 entries
            h.ipv4.dstAddr  action
            default         drop
            error[E0201]: `undeclared` is not declared
             --> FOLDER/wrong.p4:1:23
              |
            1 | control c() { apply { undeclared(); } }
              |                       ^^^^^^^^^^ unknown name
              |
              = note: there is no `main` in this file: if it is a part of a program, check the file that includes it

            1 error
            error: FOLDER/wrong.p4 is not given to the switch
            status 1
            address    ADDRESS
            device     1
            P4Runtime  1.5.0
            program    other.p4 (v1model, set by a controller)
            tables     MyIngress.ipv4_lpm, MyIngress.acl
            primary    none (the highest election id so far is 1)
        "#]],
    );
}

#[test]
fn who_is_primary_decides() {
    let switch = Switch::start();
    // A controller that stays primary: it has written, and waits for more lines.
    let mut controller = switch.ctl();
    controller.args(["--election-id", "7"]).stdin(Stdio::piped()).stdout(Stdio::null());
    let mut controller = controller.spawn().unwrap();
    controller.stdin.as_mut().unwrap().write_all(b"clear acl\n").unwrap();
    // It has bid as soon as a bid of ours is refused.
    let add: &[&str] = &["add", "ipv4_lpm", "10.0.1.0/24", "do", "drop"];
    for _ in 0..500 {
        let output = switch.ctl().arg("status").output().unwrap();
        if String::from_utf8_lossy(&output.stdout).contains("election id 7") {
            break;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    switch.check(
        &[
            add,
            &["show", "ipv4_lpm"],
            &["--as-primary", "add", "ipv4_lpm", "10.0.1.0/24", "do", "drop"],
            &["--election-id", "5", "delete", "ipv4_lpm", "10.0.1.0/24"],
            &["--election-id", "9", "delete", "ipv4_lpm", "10.0.1.0/24"],
        ],
        expect![[r#"
            error: a controller with election id 7 is primary, and only the primary may write
              help: --as-primary writes with its election id; --election-id 8 replaces it, and it must bid higher to return
            status 1
            MyIngress.ipv4_lpm: 0 entries
            h.ipv4.dstAddr  action
            default         drop
            error: a controller with election id 7 is primary, and only the primary may write
              help: --as-primary writes with its election id; --election-id 8 replaces it, and it must bid higher to return
            status 1
        "#]],
    );
    drop(controller.stdin.take());
    assert!(controller.wait().unwrap().success());
}

/// Ports have the names that were given with their numbers, in any order.
#[test]
fn ports_are_named_in_any_order() {
    let switch = Switch::start_with(&["--port", "20=null", "--port", "3=timer:10s"]);
    switch.check(
        &[&["simple", "show_ports"]],
        expect![[r#"
              port #       iface name       status  extra info
            ==================================================
                3          timer:10s          UP
                20            null            UP
        "#]],
    );
}

/// A watcher sees digests without a subscriber, and bids, and does not keep others from either.
#[test]
fn a_watcher_displaces_no_controller() {
    let switch = Switch::start();
    let mut watch = switch.ctl();
    let mut watch = watch.args(["watch", "digests", "mastership"]).stdout(Stdio::piped()).spawn().unwrap();
    let (seen, lines) = std::sync::mpsc::channel();
    let stdout = BufReader::new(watch.stdout.take().unwrap());
    std::thread::spawn(move || stdout.lines().map_while(Result::ok).try_for_each(|line| seen.send(line)));
    let packet = format!("ffffffffffff0800000001110800{}", "00".repeat(20));
    let mut output = Vec::new();
    for _ in 0..100 {
        // It does not report when it begins: packets are sent until it shows one, and the bid of their sender.
        let sent = switch.ctl().args(["packet-out", &packet, "egress_port=1"]).output().unwrap();
        assert!(sent.status.success(), "{sent:?}");
        output.extend(lines.recv_timeout(Duration::from_millis(100)));
        let has = |text: &str| output.iter().any(|line| line.contains(text));
        if has("digest") && has("id 1 is primary") {
            break;
        }
    }
    while let Ok(line) = lines.recv_timeout(Duration::from_millis(500)) {
        output.push(line);
    }
    output.sort();
    output.dedup();
    expect![[r#"
        digest learn_t: address=281470815961088 port=510
        mastership: no controller is primary; the highest so far had election id 1
        mastership: the controller with election id 1 is primary
    "#]]
    .assert_eq(&(output.join("\n") + "\n"));
    watch.kill().unwrap();
    watch.wait().unwrap();
    switch.check(
        &[&["digests"]],
        expect![[r#"
        none
    "#]],
    );
}

#[test]
fn a_switch_that_is_not_there() {
    let output = wirespeed().args(["ctl", "--address", "127.0.0.1:1", "show", "t"]).output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(text.starts_with("error: the switch at 127.0.0.1:1 cannot be reached: "), "{text}");
    // Help needs no connection.
    let output = wirespeed().args(["ctl", "help", "show"]).output().unwrap();
    assert!(output.status.success() && output.stdout.starts_with(b"show TABLE"), "{output:?}");
}

#[test]
fn tables_tell_their_memory() {
    let switch = Switch::start();
    let sizes = || {
        let output = switch.ctl().args(["--json", "sizes"]).output().unwrap();
        serde_json::from_slice::<serde_json::Value>(&output.stdout).unwrap()
    };
    let acl = |sizes: serde_json::Value| {
        let tables = sizes.as_array().unwrap().clone();
        tables.into_iter().find(|table| table["table"] == "MyIngress.acl").unwrap()
    };
    let empty = acl(sizes());
    assert_eq!((&empty["entries"], &empty["entry_bytes"]), (&0.into(), &serde_json::Value::Null));
    let add = ["add", "acl", "10.0.0.0&&&0xff000000", "0x800..0x806", "do", "drop", "priority", "10"];
    switch.check(&[&add], expect![[""]]);
    let full = acl(sizes());
    assert_eq!((&full["entries"], full["entry_bytes"].as_f64()), (&1.into(), full["bytes"].as_f64()));
    assert!(full["bytes"].as_u64() > empty["bytes"].as_u64(), "{empty} {full}");
    switch.check(
        &[&["help", "sizes"]],
        expect![[r#"
            sizes
            entries, capacity and memory of each table.
            Bytes are those that lookups use: entries with their arguments, and the index. The switch has two copies of
            them, one for packets and one for changes.
        "#]],
    );
}

#[test]
fn workers_come_and_go() {
    let switch = Switch::start();
    let output = |arguments: &[&str]| {
        let output = switch.ctl().args(["--json", "workers"]).args(arguments).output().unwrap();
        serde_json::from_slice::<serde_json::Value>(&output.stdout).unwrap()
    };
    let first = output(&[]);
    assert_eq!((&first["workers"], &first["max"], &first["auto"]), (&1.into(), &64.into(), &false.into()));
    for (wanted, now) in [("2", 2), ("3", 3), ("1", 1)] {
        let output = output(&[wanted]);
        assert_eq!((&output["workers"], output["loads"].as_array().unwrap().len()), (&now.into(), now));
    }
    assert_eq!(output(&["2"])["remark"], "the interpreter takes one packet at a time");
    assert_eq!(output(&["auto"])["auto"], true);
    switch.check(
        &[&["workers", "0"], &["workers", "65"], &["workers", "few"], &["workers", "--help"]],
        expect![[r#"
            error: 0 is not a valid number of workers
              help: it is a number from 1 on, or auto
            status 1
            error: 65 workers are more than the 64 that there can be
            status 1
            error: few is not a valid number of workers
              help: it is a number from 1 on, or auto
            status 1
            workers [NUMBER|auto]
            the threads that process packets, and their number.
            The number changes at once, while traffic flows: no packet is lost or reordered. With auto, it follows the load.
            Examples:
              workers
              workers 2
              workers auto
        "#]],
    );
}

#[test]
fn timers_go_on_after_a_kill() {
    let state = tempfile::tempdir().unwrap();
    let folder = state.path().to_str().unwrap();
    let options = ["--port", "1=null", "--port", "9=timer:24000s", "--quiet", "--state", folder];
    let timers = |switch: &Switch, change: &[&str]| {
        let output = switch.ctl().args(["--json", "timers"]).args(change).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice::<serde_json::Value>(&output.stdout).unwrap()
    };
    let mut switch = Switch::start_with(&options);
    timers(&switch, &["9", "23h"]);
    timers(&switch, &["10", "1ms", "ffffffffffff0200000000010800", "ffffffffffff0200000000010806"]);
    switch.process.kill().unwrap();
    switch.process.wait().unwrap();
    let switch = Switch::start_with(&options);
    let started = std::time::Instant::now();
    let shown = loop {
        let shown = timers(&switch, &[]);
        if shown[1]["ticks"].as_u64() != Some(0) || started.elapsed() > Duration::from_secs(30) {
            break shown;
        }
    };
    let of = |timer: &serde_json::Value| ["port", "period_ns", "packets"].map(|name| timer[name].as_u64().unwrap());
    assert_eq!(of(&shown[0]), [9, 82_800_000_000_000, 1]);
    assert_eq!(of(&shown[1]), [10, 1_000_000, 2]);
    assert!(shown[1]["ticks"].as_u64() > Some(0), "it ticks: {shown}");
}

#[test]
fn timers_beside_captures_are_said_not_to_follow_the_clock() {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("empty.pcap");
    // The header of a capture without packets.
    let header = [0xa1b2_c3d4_u32, 0x0004_0002, 0, 0, 65_535, 1].map(u32::to_le_bytes);
    std::fs::write(&input, header.concat()).unwrap();
    let switch = Switch::start_with(&["--port", &format!("1=pcap:{},/dev/null", input.display()), "--quiet"]);
    switch.check(&[&["timers"], &["timers", "9", "50ms"], &["--json", "timers"]], expect![[r#"
        no port has a timer
        port  period  packets  bytes  ticks  missed
        9     50ms    1        60     0      0
        note: time is that of the packets in captures, not of the clock: a timer ticks between them, and after the last one as often as its port says (once if it says nothing)
        [{"bytes":60,"missed":0,"packets":1,"period_ns":50000000,"port":9,"ticks":0}]
        note: time is that of the packets in captures, not of the clock: a timer ticks between them, and after the last one as often as its port says (once if it says nothing)
    "#]]);
}

#[test]
fn timers_are_added_changed_and_stopped() {
    let switch = Switch::start_with(&["--port", "1=null", "--port", "9=timer:24000s", "--quiet"]);
    let ticks = || {
        let output = switch.ctl().args(["--json", "timers"]).output().unwrap();
        let timers: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        timers[0]["ticks"].as_u64().unwrap()
    };
    switch.check(
        &[
            &["timers"],
            &["timers", "9", "23h", "0x00000000000000000000000008000a0b", "ffffffffffff0000000000000806"],
            &["timers", "10", "20min"],
            &["timers", "9", "stop"],
            &["timers", "1", "50ms"],
            &["timers", "600", "50ms"],
            &["timers", "11", "stop"],
            &["timers", "9", "25h"],
            &["timers", "9", "50ms", "0102"],
            &["timers", "9"],
            &["timers", "9", "often"],
            &["timers", "9", "0s"],
            &["timers", "9", "1s", "abc"],
        ],
        expect![[r#"
            port  period  packets  bytes  ticks  missed
            9     400min  1        60     0      0
            port  period  packets  bytes  ticks  missed
            9     23h     2        30     0      0
            port  period  packets  bytes  ticks  missed
            9     23h     2        30     0      0
            10    20min   1        60     0      0
            port  period   packets  bytes  ticks  missed
            9     stopped  2        30     0      0
            10    20min    1        60     0      0
            error: something else is behind port 1; a timer needs a port of its own
            status 1
            error: there can be no port 600
            status 1
            error: port 11 has no timer
            status 1
            error: a timer's period is from 1us to 24h
            status 1
            error: a packet of 2 bytes cannot arrive: it has 14 to 65535 of them
            status 1
            error: timers needs a period or stop
              help: timers
                    timers PORT PERIOD [PACKET...]
                    timers PORT stop
            status 1
            error: often is not a valid time
              help: a time is a number with a unit: 10s, 500ms, 5min
            status 1
            error: a timer's period is from 1us to 24h
              help: timers
                    timers PORT PERIOD [PACKET...]
                    timers PORT stop
            status 1
            error: the packet has half a byte: there is an odd number of hexadecimal digits
            status 1
        "#]],
    );
    assert!(switch.ctl().args(["timers", "8", "1ms"]).output().unwrap().status.success());
    // It is the first by its number.
    let start = std::time::Instant::now();
    while ticks() < 3 {
        assert!(start.elapsed() < Duration::from_secs(60), "it does not tick");
    }
}

#[test]
fn a_switch_that_stays_at_one_worker_reports_why() {
    // With only null ports, time advances, and workers can be added.
    let switch = Switch::start_with(&["--port", "1=null", "--quiet"]);
    switch.check(
        &[&["workers", "2"]],
        expect![[r#"
        2 of at most 64
        not in parallel: the interpreter takes one packet at a time
        worker  packets  busy
        0       0        0.0 %
        1       0        0.0 %
    "#]],
    );
    let switch = Switch::start_with(&["--port", "1=null", "--port", "2=pcap:,/dev/null", "--json"]);
    switch.check(
        &[&["workers", "2"], &["workers"], &["workers", "1"]],
        expect![[r#"
            error: there is 1 worker, not 2: captures are processed by one worker, in the order of the stamps of their frames
            status 1
            1 of at most 64
            not in parallel: captures are processed by one worker, in the order of the stamps of their frames
            worker  packets  busy
            0       0        0.0 %
            1 of at most 64
            not in parallel: captures are processed by one worker, in the order of the stamps of their frames
            worker  packets  busy
            0       0        0.0 %
        "#]],
    );
}

#[test]
fn no_word_is_too_long_for_a_message() {
    let switch = Switch::start();
    let long = "n".repeat(100_000);
    let cut = format!("{}... (100000 characters)", &long[..60]);
    for (command, expected) in [
        (vec![long.as_str()], format!("error: there is no command {cut}\n")),
        (vec!["show", &long], format!("error: there is no table {cut}\n")),
        (vec!["registers", "flows", "1", "=", &long], format!("error: {cut} is not a ")),
    ] {
        let output = switch.ctl().args(&command).stdin(Stdio::null()).output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(text.starts_with(&expected), "{text}");
    }
}
