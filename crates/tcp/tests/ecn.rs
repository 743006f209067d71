//! ECN (RFC 3168) and DCTCP (RFC 8257).

use crate::support::script::check;
use expect_test::expect;
use tcp::{Config, Congestion};

fn classic(config: &mut Config) {
    config.ecn = true;
    config.prr = false;
}

fn dctcp(config: &mut Config) {
    config.congestion = Congestion::Dctcp;
    config.prr = false;
}

#[test]
fn both_sides_must_agree() {
    check(
        classic,
        expect![[r#"

            0 connect
            0 > SEW 0:1 win 60000 <mss 1000,sackOK>
            0.1 < SE. 0:1 ack 1 <mss 1000,sackOK>
            0.1 * Established
            0.1 > . 1:1 ack 1
            0.1 write 1000
            0.1 > P. 1:1001 ack 1 ect0
        "#]],
    );
    // A peer that reflects the flags does not know them.
    check(
        classic,
        expect![[r#"

            0 connect
            0 > SEW 0:1 win 60000 <mss 1000,sackOK>
            0.1 < SEW. 0:1 ack 1 <mss 1000,sackOK>
            0.1 * Established
            0.1 > . 1:1 ack 1
            0.1 write 1000
            0.1 > P. 1:1001 ack 1
        "#]],
    );
    check(
        classic,
        expect![[r#"

            0 listen
            0 < SEW 0:1 <mss 1000,sackOK>
            0 > SE. 0:1 ack 1 win 60000 <mss 1000,sackOK>
            0.1 < . 1:1 ack 1
            0.1 * Established
            0.1 write 1000
            0.1 > P. 1:1001 ack 1 ect0
        "#]],
    );
    check(
        |_| {},
        expect![[r#"

            0 listen
            0 < SEW 0:1 <mss 1000,sackOK>
            0 > S. 0:1 ack 1 win 60000 <mss 1000,sackOK>
            0.1 < . 1:1 ack 1
            0.1 * Established
            0.1 write 1000
            0.1 > P. 1:1001 ack 1
        "#]],
    );
    // A SYN that is not answered is repeated without ECN.
    check(
        classic,
        expect![[r#"

            0 connect
            0 > SEW 0:1 win 60000 <mss 1000,sackOK>
            1 > S 0:1 <mss 1000,sackOK>
            1.1 < SE. 0:1 ack 1 <mss 1000,sackOK>
            1.1 * Established
            1.1 > . 1:1 ack 1
            1.1 write 1000
            1.1 > P. 1:1001 ack 1
        "#]],
    );
}

#[test]
fn a_mark_is_echoed_until_the_sender_has_reacted() {
    check(
        classic,
        expect![[r#"

            0 listen
            0 < SEW 0:1 <mss 1000,sackOK>
            0 > SE. 0:1 ack 1 win 60000 <mss 1000,sackOK>
            0.1 < . 1:1 ack 1
            0.1 * Established
            0.2 < . 1:1001 ack 1 ce
            0.2 < . 1001:2001 ack 1 ect0
            0.2 > E. 1:1 ack 2001
            0.3 < . 2001:3001 ack 1 ect0
            0.3 < . 3001:4001 ack 1 ect0
            0.3 > E. 1:1 ack 4001
            0.4 < W. 4001:5001 ack 1 ect0
            0.4 < . 5001:6001 ack 1 ect0
            0.4 > . 1:1 ack 6001
            # A segment may echo a mark and be marked itself.
            0.5 < W. 6001:7001 ack 1 ce
            0.5 < . 7001:8001 ack 1 ect0
            0.5 > E. 1:1 ack 8001
        "#]],
    );
}

#[test]
fn the_window_falls_once_per_round_trip() {
    check(
        classic,
        expect![[r#"

            0 connect
            0 > SEW 0:1 win 60000 <mss 1000,sackOK>
            0.1 < SE. 0:1 ack 1 <mss 1000,sackOK>
            0.1 * Established
            0.1 > . 1:1 ack 1
            0.1 write 30000
            0.1 > . 1:1001 ack 1 ect0
            0.1 > . 1001:2001 ack 1 ect0
            0.1 > . 2001:3001 ack 1 ect0
            0.1 > . 3001:4001 ack 1 ect0
            0.1 > . 4001:5001 ack 1 ect0
            0.1 > . 5001:6001 ack 1 ect0
            0.1 > . 6001:7001 ack 1 ect0
            0.1 > . 7001:8001 ack 1 ect0
            0.1 > . 8001:9001 ack 1 ect0
            0.1 > . 9001:10001 ack 1 ect0
            0.2 < E. 1:1 ack 2001
            0.2 ? cwnd=5 ssthresh=5 phase=Reduction reductions=1
            0.2 < E. 1:1 ack 4001
            0.2 < E. 1:1 ack 6001
            0.2 > W. 10001:11001 ack 1 ect0
            # The first new segment carries CWR. Retransmissions are not ECT.
            0.21 < E. 1:1 ack 8001
            0.21 > . 11001:12001 ack 1 ect0
            0.21 > . 12001:13001 ack 1 ect0
            # The mark of the last segment that was outstanding at the reduction does not count.
            0.22 < E. 1:1 ack 10001
            0.22 > . 13001:14001 ack 1 ect0
            0.22 > . 14001:15001 ack 1 ect0
            0.22 ? phase=Open cwnd=5 reductions=1
            0.3 < E. 1:1 ack 11001
            0.3 ? reductions=2 cwnd=2.5
        "#]],
    );
}

#[test]
fn the_tail_is_probed_while_the_window_falls() {
    check(
        classic,
        expect![[r#"

            0 connect
            0 > SEW 0:1 win 60000 <mss 1000,sackOK>
            0.1 < SE. 0:1 ack 1 <mss 1000,sackOK>
            0.1 * Established
            0.1 > . 1:1 ack 1
            0.1 write 6000
            0.1 > . 1:1001 ack 1 ect0
            0.1 > . 1001:2001 ack 1 ect0
            0.1 > . 2001:3001 ack 1 ect0
            0.1 > . 3001:4001 ack 1 ect0
            0.1 > . 4001:5001 ack 1 ect0
            0.1 > P. 5001:6001 ack 1 ect0
            0.2 < E. 1:1 ack 4001
            0.2 ? phase=Reduction
            0.4 > P. 5001:6001 ack 1
            0.5 ? probes=1 timeouts=0
        "#]],
    );
}

#[test]
fn retransmissions_and_bare_acknowledgments_are_not_ect() {
    check(
        classic,
        expect![[r#"

            0 connect
            0 > SEW 0:1 win 60000 <mss 1000,sackOK>
            0.1 < SE. 0:1 ack 1 <mss 1000,sackOK>
            0.1 * Established
            0.1 > . 1:1 ack 1
            0.1 write 5000
            0.1 > . 1:1001 ack 1 ect0
            0.1 > . 1001:2001 ack 1 ect0
            0.1 > . 2001:3001 ack 1 ect0
            0.1 > . 3001:4001 ack 1 ect0
            0.1 > P. 4001:5001 ack 1 ect0
            0.2 < . 1:1 ack 1 <sack 1001:4001>
            0.2 > . 1:1001 ack 1
            0.3 < . 1:1001 ack 5001
            0.34 > . 5001:5001 ack 1001
            0.4 wait
        "#]],
    );
}

/// RFC 8257, section 3.2: two segments per acknowledgment, and one at once when the mark changes.
#[test]
fn the_receiver_of_dctcp_acknowledges_changes_at_once() {
    check(
        dctcp,
        expect![[r#"

            0 listen
            0 < SEW 0:1 <mss 1000,sackOK>
            0 > SE. 0:1 ack 1 win 60000 <mss 1000,sackOK>
            0.1 < . 1:1 ack 1
            0.1 * Established
            0.2 < . 1:1001 ack 1 ect0
            0.2 < . 1001:2001 ack 1 ect0
            0.2 > . 1:1 ack 2001 ect0
            # Marked from here on: what came before is acknowledged without ECE.
            0.3 < . 2001:3001 ack 1 ect0
            0.3 < . 3001:4001 ack 1 ce
            0.3 > . 1:1 ack 3001 win 59000 ect0
            0.3 > E. 1:1 ack 4001 win 60000 ect0
            0.3 < . 4001:5001 ack 1 ce
            0.34 > E. 1:1 ack 5001 ect0
            0.4 < . 5001:6001 ack 1 ce
            # No mark: what came before is acknowledged with ECE.
            0.4 < . 6001:7001 ack 1 ect0
            0.4 > E. 1:1 ack 6001 win 59000 ect0
            0.4 > . 1:1 ack 7001 win 60000 ect0
            0.4 < . 7001:8001 ack 1 ect0
            # No acknowledgment is pending before.
            0.44 > . 1:1 ack 8001 ect0
            0.5 < . 8001:9001 ack 1 ce
            0.5 > E. 1:1 ack 9001 ect0
            1 wait
        "#]],
    );
}

/// RFC 8257, section 3.3, with g = 1/16.
#[test]
fn the_window_of_dctcp_falls_by_the_fraction_of_marks() {
    check(
        dctcp,
        expect![[r#"

            0 connect
            0 > SEW 0:1 win 60000 <mss 1000,sackOK>
            0.1 < SE. 0:1 ack 1 <mss 1000,sackOK>
            0.1 * Established
            0.1 > . 1:1 ack 1 ect0
            0.1 ? alpha=1.0000
            0.1 write 100000
            0.1 > . 1:1001 ack 1 ect0
            0.1 > . 1001:2001 ack 1 ect0
            0.1 > . 2001:3001 ack 1 ect0
            0.1 > . 3001:4001 ack 1 ect0
            0.1 > . 4001:5001 ack 1 ect0
            0.1 > . 5001:6001 ack 1 ect0
            0.1 > . 6001:7001 ack 1 ect0
            0.1 > . 7001:8001 ack 1 ect0
            0.1 > . 8001:9001 ack 1 ect0
            0.1 > . 9001:10001 ack 1 ect0
            # The first acknowledgment ends the first observation window, which has no marks: 15/16.
            0.2 < . 1:1 ack 2001
            0.2 > . 10001:11001 ack 1 ect0
            0.2 > . 11001:12001 ack 1 ect0
            0.2 > . 12001:13001 ack 1 ect0
            0.2 > . 13001:14001 ack 1 ect0
            0.2 ? alpha=0.9375 cwnd=12
            # Of the second, 2 of 10 segments are marked.
            0.2 < E. 1:1 ack 4001
            0.2 ? cwnd=6.375
            0.21 < . 1:1 ack 6001
            0.22 < . 1:1 ack 8001
            0.23 < . 1:1 ack 10001
            0.23 > W. 14001:15001 ack 1 ect0
            0.23 > . 15001:16001 ack 1 ect0
            0.3 < . 1:1 ack 12001
            0.3 > . 16001:17001 ack 1 ect0
            0.3 > . 17001:18001 ack 1 ect0
            0.3 < . 1:1 ack 14001
            0.3 > . 18001:19001 ack 1 ect0
            0.3 > . 19001:20001 ack 1 ect0
            # 15/16 * 15/16 + 1/16 * 2/10.
            0.3 ? alpha=0.8914 phase=Open
        "#]],
    );
}

#[test]
fn a_loss_halves_the_window_of_dctcp() {
    check(
        dctcp,
        expect![[r#"

            0 connect
            0 > SEW 0:1 win 60000 <mss 1000,sackOK>
            0.1 < SE. 0:1 ack 1 <mss 1000,sackOK>
            0.1 * Established
            0.1 > . 1:1 ack 1 ect0
            0.1 write 20000
            0.1 > . 1:1001 ack 1 ect0
            0.1 > . 1001:2001 ack 1 ect0
            0.1 > . 2001:3001 ack 1 ect0
            0.1 > . 3001:4001 ack 1 ect0
            0.1 > . 4001:5001 ack 1 ect0
            0.1 > . 5001:6001 ack 1 ect0
            0.1 > . 6001:7001 ack 1 ect0
            0.1 > . 7001:8001 ack 1 ect0
            0.1 > . 8001:9001 ack 1 ect0
            0.1 > . 9001:10001 ack 1 ect0
            0.2 < . 1:1 ack 1001
            0.2 > . 10001:11001 ack 1 ect0
            0.2 > . 11001:12001 ack 1 ect0
            0.2 < . 1:1 ack 1001 <sack 2001:6001>
            0.2 > . 1001:2001 ack 1 ect0
            0.2 ? ssthresh=5.5 phase=FastRecovery
        "#]],
    );
}
