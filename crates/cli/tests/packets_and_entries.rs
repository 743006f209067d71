//! `wirespeed gen`: files, reports and errors. What is generated is tested where it is made.

use expect_test::{Expect, expect};
use std::path::Path;
use std::process::Command;

/// Runs the command in a folder and shows its output and the files that it made.
fn check(arguments: &[&str], expected: Expect) {
    let folder = tempfile::tempdir().unwrap();
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../apps/l3fwd/l3fwd.p4");
    std::fs::copy(program, folder.path().join("l3fwd.p4")).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_wirespeed"));
    let output = command.arg("gen").args(arguments).current_dir(folder.path()).output().unwrap();
    let mut shown = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    let mut files: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap()).collect();
    files.sort_by_key(|entry| entry.file_name());
    for file in files {
        shown += &format!("{} {}\n", file.file_name().display(), file.metadata().unwrap().len());
    }
    expected.assert_eq(&shown);
}

#[test]
fn fewer_entries_than_requested_are_reported() {
    check(
        &["l3fwd.p4", "--flows", "2", "--entries", "2000", "--count", "1", "--path", "parse_arp"],
        expect![[r#"
            l3fwd.txt: 1 024 entries
            l3fwd.1.pcap: 1 packets for port 1

            tables                            entries       lookups          hits
            RouterIngress.local_address         1 024             2             2

            2 of 4 states of the parser are reached; --coverage shows which, and why
            warning: no table has 2 000 entries: RouterIngress.local_address has 1 024: the program gives it a size of 1 024
            l3fwd.1.pcap 100
            l3fwd.p4 6181
            l3fwd.txt 95944
        "#]],
    );
}

#[test]
fn files_and_a_report_are_written() {
    check(
        &["l3fwd.p4", "--flows", "8", "--count", "10", "--bytes", "100"],
        expect![[r#"
        l3fwd.txt: 15 entries
        l3fwd.1.pcap: 10 packets for port 1

        tables                            entries       lookups          hits
        RouterIngress.local_address             7             2             2
        RouterIngress.route                     8             2             2

        4 of 4 states of the parser are reached
        l3fwd.1.pcap 1184
        l3fwd.p4 6181
        l3fwd.txt 1527
    "#]],
    );
    check(
        &["l3fwd.p4", "--flows", "2", "--coverage", "--output", "a", "--path", "parse_arp"],
        expect![[r#"
        a.txt: 2 entries

        tables                            entries       lookups          hits
        RouterIngress.local_address             2             2             2

        2 of 4 states of the parser are reached
          start
          parse_arp
          parse_ipv4: not reached: no packet of this traffic goes there
          parse_ipv4_options: not reached: no packet of this traffic goes there

        kinds of packets, by the states that they go through
          start parse_arp
        a.txt 188
        l3fwd.p4 6181
    "#]],
    );
    check(
        &["l3fwd.p4", "--flows", "2", "--json", "--in-port", "7", "--no-entries", "route"],
        expect![[r#"
        {"captures":[{"file":"l3fwd.7.pcap","packets":20,"port":7}],"entries":{"entries":2,"file":"l3fwd.txt"},"kinds":["start","start parse_ipv4","start parse_arp","start parse_ipv4 parse_ipv4_options"],"states":[{"state":"start","why_not":null},{"state":"parse_arp","why_not":null},{"state":"parse_ipv4","why_not":null},{"state":"parse_ipv4_options","why_not":null}],"tables":[{"entries":2,"hits":1,"lookups":1,"table":"RouterIngress.local_address"},{"entries":0,"hits":0,"lookups":1,"table":"RouterIngress.route"}]}
        l3fwd.7.pcap 1544
        l3fwd.p4 6181
        l3fwd.txt 187
    "#]],
    );
}

#[test]
fn errors_name_what_is_wrong() {
    check(
        &["l3fwb"],
        expect![[r#"
        error: `l3fwb` is neither a program nor a use case: l2fwd, l3fwd, l3fwd6, dcg, dcg-in, dcg-out, bng, bng-up, bng-down
        l3fwd.p4 6181
    "#]],
    );
    check(
        &["l3fwd.p4", "--path", "parse_ipx"],
        expect![[r#"
        error: no path through the parser has all of the states parse_ipx
        l3fwd.p4 6181
    "#]],
    );
    check(
        &["l3fwd.p4", "--field", "ttl"],
        expect![[r#"
        error: --field: `ttl`: a field is NAME=EXPRESSION
        l3fwd.p4 6181
    "#]],
    );
    check(
        &["l3fwd.p4", "--flows", "0"],
        expect![[r#"
        error: flows: 1 to 16777216
        l3fwd.p4 6181
    "#]],
    );
    check(
        &["l3fwd.p4", "--settings", "none"],
        expect![[r#"
        error: cannot read none: No such file or directory (os error 2)
        l3fwd.p4 6181
    "#]],
    );
    check(
        &["l3fwd.p4", "--output", "no/such/folder"],
        expect![[r#"
        error: cannot write no/such/folder.txt: No such file or directory (os error 2)
        l3fwd.p4 6181
    "#]],
    );
}
