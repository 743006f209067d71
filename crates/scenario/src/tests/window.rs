//! What counts as measured: of datagrams what arrives in the window, and what does not. Windows of receivers.

use super::{column, read, run};

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
    // A packet is queued for 8 ms in the full queue, so that most of what arrives was sent in the warm-up.
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

/// The goodput of a flow over TCP on a path with a round trip of 40 ms, with more keys.
fn goodput(hosts: &str, flow: &str) -> f64 {
    let text = format!(
        "duration = \"2s\"\nwarmup = \"1s\"\n\
         [topology]\nkind = \"star\"\nhosts = 2\nrate = \"1Gbps\"\ndelay = \"10ms\"\n\
         [hosts]\n{hosts}\n[[flows]]\nkind = \"tcp\"\nfrom = \"h1\"\nto = \"h2\"\n{flow}\n"
    );
    column(&run(&text, 1), "flows.csv", "goodput_bits_per_s")[0].parse().unwrap()
}

#[test]
fn receive_windows_and_segments_are_as_large_as_a_scenario_sets_them() {
    // A window in a round trip.
    let near = |goodput: f64, window: f64| (goodput * 0.04 / 8.0 / window - 1.0).abs() < 0.02;
    let default = goodput("", "");
    assert!(near(default, f64::from(3 << 20)), "{default}");
    let (of_hosts, of_flow) =
        (goodput("receive_window = 500_000", ""), goodput("receive_window = 500_000", "receive_window = 1_000_000"));
    assert!(near(of_hosts, 500e3) && near(of_flow, 1e6), "{of_hosts} {of_flow}");
    // More than a sender's buffer holds by default: full segments fill the line, 1,448 bytes of 1,538.
    let large = goodput("", "receive_window = 20_000_000");
    assert!((large / 1e9 - 1_448.0 / 1_538.0).abs() < 0.01, "{large}");
    let small = goodput("", "receive_window = 20_000_000\nmss = 512");
    assert!((small / 1e9 - 500.0 / 590.0).abs() < 0.01, "{small}");
}

#[test]
fn windows_and_segments_that_could_not_be_are_refused() {
    let shown = |flow: &str| {
        let text = "duration = \"1ms\"\n[topology]\nkind = \"star\"\nhosts = 2\n[[flows]]\nkind = \"tcp\"\n";
        let faults = read(&format!("{text}from = \"h1\"\nto = \"h2\"\n{flow}\n"), &[]).unwrap_err();
        faults.iter().map(|fault| format!("{fault}\n")).collect::<String>()
    };
    assert_eq!(shown("receive_window = 10"), "9:18: a receive window has 1024 to 1073741824 bytes\n");
    let message = "an MSS is 88 bytes to the MTU of the hosts without 40 or 60 bytes of headers";
    assert_eq!(shown("mss = 1461"), format!("9:7: {message}, here 1460\n"));
}
