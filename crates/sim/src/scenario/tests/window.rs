//! What counts as measured: of datagrams what arrives in the window, and what does not.

use super::{column, run};

/// One flow of datagrams between two hosts, with more keys.
fn flow(rate: &str, links: &str) -> String {
    format!(
        "duration = \"20ms\"\nwarmup = \"10ms\"\n\
         [topology]\nkind = \"star\"\nhosts = 2\nrate = \"10Gbps\"\n{links}\n\
         [[flows]]\nkind = \"udp\"\nfrom = \"h1\"\nto = \"h2\"\nsize = 1000\nrate = \"{rate}\"\n"
    )
}

#[test]
fn goodput_is_what_arrives_in_the_window_whenever_it_was_sent() {
    // A packet waits 8 ms in the full queue, so that most of what arrives was sent in the warm-up.
    let files = run(&flow("2Gbps", "[link.\"s1>h2\"]\nrate = \"1Gbps\"\nqueue_packets = 1000"), 1);
    let goodput: f64 = column(&files, "flows.csv", "goodput_bits_per_s")[0].parse().unwrap();
    // 1,000 bytes of 1,066 on the line.
    assert!((goodput / 1e9 - 1_000.0 / 1_066.0).abs() < 0.002, "{goodput}");
}

#[test]
fn losses_at_the_end_are_missing() {
    let counts = |links: &str| {
        let files = run(&flow("100Mbps", links), 1);
        ["sent", "received", "missing"].map(|name| column(&files, "flows.csv", name)[0].parse::<u64>().unwrap())
    };
    assert_eq!(counts("[link.\"h2-s1\"]\ndown = [[\"5ms\", \"30ms\"]]"), [125, 0, 125]);
    let [sent, received, missing] = counts("[link.\"h2-s1\"]\ndown = [[\"15ms\", \"30ms\"]]");
    assert!((62..=63).contains(&received), "{received}");
    assert_eq!(missing, sent - received);
    assert_eq!(counts("")[2], 0);
}
