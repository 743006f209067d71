//! Losses: fast recovery without SACK (RFC 6582), with SACK (RFC 6675), by time (RFC 8985), proportional rate reduction
//! (RFC 6937), and recoveries that were unnecessary (RFC 3522, RFC 3708).

use crate::support::script::check;
use expect_test::expect;
use tcp::Config;

/// RFC 6582 to the letter.
fn newreno(config: &mut Config) {
    config.sack = false;
    config.prr = false;
}

/// RFC 6675 to the letter.
fn by_sacks(config: &mut Config) {
    config.rack = false;
    config.prr = false;
}

#[test]
fn three_duplicates_cause_a_fast_retransmit() {
    check(
        newreno,
        expect![[r#"

            0.1 established <mss 1000>
            0.1 write 20000
            0.1 > . 1:1001 ack 1
            0.1 > . 1001:2001 ack 1
            0.1 > . 2001:3001 ack 1
            0.1 > . 3001:4001 ack 1
            0.1 > . 4001:5001 ack 1
            0.1 > . 5001:6001 ack 1
            0.1 > . 6001:7001 ack 1
            0.1 > . 7001:8001 ack 1
            0.1 > . 8001:9001 ack 1
            0.1 > . 9001:10001 ack 1
            # The first is lost. Limited transmit (RFC 3042): each of the first two duplicates lets a new segment leave.
            0.2 < . 1:1 ack 1
            0.2 > . 10001:11001 ack 1
            0.21 < . 1:1 ack 1
            0.21 > . 11001:12001 ack 1
            0.22 < . 1:1 ack 1
            0.22 > . 1:1001 ack 1
            0.22 ? cwnd=5 ssthresh=5 phase=FastRecovery fast=1
            # The window is inflated by each duplicate: new data leaves as soon as less than five are in flight.
            0.23 < . 1:1 ack 1
            0.24 < . 1:1 ack 1
            0.25 < . 1:1 ack 1
            0.26 < . 1:1 ack 1
            0.27 < . 1:1 ack 1
            0.27 > . 12001:13001 ack 1
            0.28 < . 1:1 ack 1
            0.28 > . 13001:14001 ack 1
            0.29 < . 1:1 ack 1
            0.29 > . 14001:15001 ack 1
            0.3 < . 1:1 ack 1
            0.3 > . 15001:16001 ack 1
            # A full acknowledgment.
            0.32 < . 1:1 ack 12001
            0.32 > . 16001:17001 ack 1
            0.32 ? cwnd=5 ssthresh=5 phase=Open
        "#]],
    );
}

#[test]
fn a_partial_acknowledgment_uncovers_the_next_hole() {
    check(
        newreno,
        expect![[r#"

            0.1 established <mss 1000>
            0.1 write 10000
            0.1 > . 1:1001 ack 1
            0.1 > . 1001:2001 ack 1
            0.1 > . 2001:3001 ack 1
            0.1 > . 3001:4001 ack 1
            0.1 > . 4001:5001 ack 1
            0.1 > . 5001:6001 ack 1
            0.1 > . 6001:7001 ack 1
            0.1 > . 7001:8001 ack 1
            0.1 > . 8001:9001 ack 1
            0.1 > P. 9001:10001 ack 1
            # The first and the fourth are lost.
            0.2 < . 1:1 ack 1
            0.2 < . 1:1 ack 1
            0.2 < . 1:1 ack 1
            0.2 > . 1:1001 ack 1
            0.2 < . 1:1 ack 1
            0.2 < . 1:1 ack 1
            0.2 < . 1:1 ack 1
            0.2 < . 1:1 ack 1
            0.2 < . 1:1 ack 1
            0.3 < . 1:1 ack 3001
            0.3 > . 3001:4001 ack 1
            0.3 ? phase=FastRecovery fast=2
            0.4 < . 1:1 ack 10001
            0.4 ? phase=Open
        "#]],
    );
}

#[test]
fn duplicates_of_old_retransmissions_start_no_second_recovery() {
    check(
        |config| {
            newreno(config);
            config.rack = false;
        },
        expect![[r#"

            0.1 established <mss 1000>
            0.1 write 5000
            0.1 > . 1:1001 ack 1
            0.1 > . 1001:2001 ack 1
            0.1 > . 2001:3001 ack 1
            0.1 > . 3001:4001 ack 1
            0.1 > P. 4001:5001 ack 1
            # A timeout: everything is sent again, and what had arrived causes duplicates.
            0.4 > . 1:1001 ack 1
            0.5 < . 1:1 ack 1001
            0.5 > . 1001:2001 ack 1
            0.5 > . 2001:3001 ack 1
            0.6 < . 1:1 ack 5001
            0.6 write 5000
            0.6 > . 5001:6001 ack 1
            0.6 > . 6001:7001 ack 1
            0.6 > . 7001:8001 ack 1
            0.7 < . 1:1 ack 5001
            0.7 > . 8001:9001 ack 1
            0.7 < . 1:1 ack 5001
            0.7 > P. 9001:10001 ack 1
            0.7 < . 1:1 ack 5001
            0.7 ? fast=0 phase=Open
        "#]],
    );
}

#[test]
fn window_updates_are_not_duplicates() {
    check(
        newreno,
        expect![[r#"

            0.1 established <mss 1000>
            0.1 write 5000
            0.1 > . 1:1001 ack 1
            0.1 > . 1001:2001 ack 1
            0.1 > . 2001:3001 ack 1
            0.1 > . 3001:4001 ack 1
            0.1 > P. 4001:5001 ack 1
            0.2 < . 1:1 ack 1 win 50001
            0.2 < . 1:1 ack 1 win 50002
            0.2 < . 1:1 ack 1 win 50003
            0.2 < . 1:1 ack 1 win 50004
            0.2 < . 1:101 ack 1
            0.2 < . 101:201 ack 1
            0.2 > . 5001:5001 ack 201
            0.2 ? fast=0
        "#]],
    );
}

/// RFC 6675, section 5.
#[test]
fn sacks_show_what_is_lost() {
    check(
        by_sacks,
        expect![[r#"

            0.1 established <mss 1000,sackOK>
            0.1 write 20000
            0.1 > . 1:1001 ack 1
            0.1 > . 1001:2001 ack 1
            0.1 > . 2001:3001 ack 1
            0.1 > . 3001:4001 ack 1
            0.1 > . 4001:5001 ack 1
            0.1 > . 5001:6001 ack 1
            0.1 > . 6001:7001 ack 1
            0.1 > . 7001:8001 ack 1
            0.1 > . 8001:9001 ack 1
            0.1 > . 9001:10001 ack 1
            # The first and the fifth are lost.
            0.2 < . 1:1 ack 1 <sack 1001:2001>
            0.2 > . 10001:11001 ack 1
            0.2 < . 1:1 ack 1 <sack 1001:3001>
            0.2 > . 11001:12001 ack 1
            # More than two segments above the first: it is lost.
            0.2 < . 1:1 ack 1 <sack 1001:4001>
            0.2 > . 1:1001 ack 1
            0.2 ? cwnd=5 ssthresh=5 flight=9 phase=FastRecovery
            0.21 < . 1:1 ack 1 <sack 5001:6001 1001:4001>
            0.21 < . 1:1 ack 1 <sack 5001:7001 1001:4001>
            0.21 < . 1:1 ack 1 <sack 5001:8001 1001:4001>
            0.21 < . 1:1 ack 1 <sack 5001:9001 1001:4001>
            0.21 > . 4001:5001 ack 1
            0.21 < . 1:1 ack 1 <sack 5001:10001 1001:4001>
            0.21 > . 12001:13001 ack 1
            0.22 < . 1:1 ack 1 <sack 5001:11001 1001:4001>
            0.22 > . 13001:14001 ack 1
            0.3 < . 1:1 ack 4001 <sack 5001:11001>
            0.3 > . 14001:15001 ack 1
            0.31 < . 1:1 ack 13001
            0.31 > . 15001:16001 ack 1
            0.31 > . 16001:17001 ack 1
            0.31 > . 17001:18001 ack 1
            0.31 ? cwnd=5 phase=Open fast=2
        "#]],
    );
}

#[test]
fn three_small_ranges_show_a_loss() {
    check(
        |config| {
            by_sacks(config);
            config.nagle = false;
        },
        expect![[r#"

            0.1 established <mss 1000,sackOK>
            0.1 write 10
            0.1 > P. 1:11 ack 1
            0.1 write 10
            0.1 > P. 11:21 ack 1
            0.1 write 10
            0.1 > P. 21:31 ack 1
            0.1 write 10
            0.1 > P. 31:41 ack 1
            0.1 write 10
            0.1 > P. 41:51 ack 1
            0.1 write 10
            0.1 > P. 51:61 ack 1
            0.2 < . 1:1 ack 1 <sack 11:21>
            0.2 < . 1:1 ack 1 <sack 31:41 11:21>
            0.2 < . 1:1 ack 1 <sack 51:61 31:41 11:21>
            0.2 > . 1:11 ack 1
            0.2 > . 21:31 ack 1
            0.2 > . 41:51 ack 1
            0.2 ? phase=FastRecovery
        "#]],
    );
}

#[test]
fn with_nothing_else_to_send_what_may_be_lost_is_sent() {
    check(
        by_sacks,
        expect![[r#"

            0.1 established <mss 1000,sackOK>
            0.1 write 8000
            0.1 > . 1:1001 ack 1
            0.1 > . 1001:2001 ack 1
            0.1 > . 2001:3001 ack 1
            0.1 > . 3001:4001 ack 1
            0.1 > . 4001:5001 ack 1
            0.1 > . 5001:6001 ack 1
            0.1 > . 6001:7001 ack 1
            0.1 > P. 7001:8001 ack 1
            # The first and the sixth; the seventh alone does not show that the sixth is lost (NextSeg, rule 3).
            0.2 < . 1:1 ack 1 <sack 1001:5001>
            0.2 > . 1:1001 ack 1
            0.2 < . 1:1 ack 1 <sack 6001:7001 1001:5001>
            0.2 > . 5001:6001 ack 1
            0.2 ? flight=3 fast=2
        "#]],
    );
}

#[test]
fn a_receiver_may_discard_what_it_reported() {
    check(
        by_sacks,
        expect![[r#"

            0.1 established <mss 1000,sackOK>
            0.1 write 5000
            0.1 > . 1:1001 ack 1
            0.1 > . 1001:2001 ack 1
            0.1 > . 2001:3001 ack 1
            0.1 > . 3001:4001 ack 1
            0.1 > P. 4001:5001 ack 1
            0.2 < . 1:1 ack 1 <sack 1001:5001>
            0.2 > . 1:1001 ack 1
            # The hole is filled, but the rest is gone.
            0.3 < . 1:1 ack 1001
            0.3 ? flight=0
            0.6 > . 1001:2001 ack 1
            1 wait
            1 < . 1:1 ack 2001
            1 > . 2001:3001 ack 1
            1 > . 3001:4001 ack 1
            1 < . 1:1 ack 4001
            1 > P. 4001:5001 ack 1
            1 < . 1:1 ack 5001
            1 ? acked=5000
        "#]],
    );
}

#[test]
fn hostile_blocks_are_ignored() {
    check(
        |_| {},
        expect![[r#"

            0.1 established <mss 1000,sackOK>
            0.1 write 5000
            0.1 > . 1:1001 ack 1
            0.1 > . 1001:2001 ack 1
            0.1 > . 2001:3001 ack 1
            0.1 > . 3001:4001 ack 1
            0.1 > P. 4001:5001 ack 1
            0.2 < . 1:1 ack 1 <sack 4001:9001>
            0.2 < . 1:1 ack 1 <sack 3001:2001>
            0.2 < . 1:1 ack 1 <sack 2001:2001>
            0.2 < . 1:1 ack 1001 <sack 501:1501>
            0.2 < . 1:1 ack 1001 <sack -99:2000000000>
            0.2 ? flight=4 acked=1000
        "#]],
    );
}

/// RFC 6937, figure 2, with a window of 10: new segments leave before half of the window has drained.
#[test]
fn proportional_rate_reduction_spreads_what_is_sent() {
    check(
        |config| config.rack = false,
        expect![[r#"

            0.1 established <mss 1000,sackOK>
            0.1 write 40000
            0.1 > . 1:1001 ack 1
            0.1 > . 1001:2001 ack 1
            0.1 > . 2001:3001 ack 1
            0.1 > . 3001:4001 ack 1
            0.1 > . 4001:5001 ack 1
            0.1 > . 5001:6001 ack 1
            0.1 > . 6001:7001 ack 1
            0.1 > . 7001:8001 ack 1
            0.1 > . 8001:9001 ack 1
            0.1 > . 9001:10001 ack 1
            0.2 < . 1:1 ack 1 <sack 1001:2001>
            0.2 > . 10001:11001 ack 1
            0.2 < . 1:1 ack 1 <sack 1001:3001>
            0.2 > . 11001:12001 ack 1
            0.2 < . 1:1 ack 1 <sack 1001:4001>
            0.2 > . 1:1001 ack 1
            0.2 ? ssthresh=5
            0.21 < . 1:1 ack 1 <sack 1001:5001>
            0.22 < . 1:1 ack 1 <sack 1001:6001>
            0.23 < . 1:1 ack 1 <sack 1001:7001>
            0.24 < . 1:1 ack 1 <sack 1001:8001>
            0.25 < . 1:1 ack 1 <sack 1001:9001>
            0.25 > . 12001:13001 ack 1
            0.26 < . 1:1 ack 1 <sack 1001:10001>
            0.26 > . 13001:14001 ack 1
            0.3 < . 1:1 ack 11001
            0.3 > . 14001:15001 ack 1
            0.3 > . 15001:16001 ack 1
            0.31 < . 1:1 ack 12001
            0.31 > . 16001:17001 ack 1
            0.31 ? cwnd=5
        "#]],
    );
}

/// RFC 8985, section 3.3's example: three segments, of which the first or the last is lost.
#[test]
fn rack_finds_a_loss_among_three() {
    check(
        |_| {},
        expect![[r#"

            0.1 established <mss 1000,sackOK>
            0.1 write 3000
            0.1 > . 1:1001 ack 1
            0.1 > . 1001:2001 ack 1
            0.1 > P. 2001:3001 ack 1
            # P1 is lost, P2 and P3 arrive: two duplicates would not be enough. RACK waits for a quarter of the round trip.
            0.2 < . 1:1 ack 1 <sack 1001:2001>
            0.2 < . 1:1 ack 1 <sack 1001:3001>
            0.22 ? phase=Open
            0.225 > . 1:1001 ack 1
            0.3 ? phase=FastRecovery fast=1
            0.325 < . 1:1 ack 3001
        "#]],
    );
    check(
        |_| {},
        expect![[r#"

            0.1 established <mss 1000,sackOK>
            0.1 write 3000
            0.1 > . 1:1001 ack 1
            0.1 > . 1001:2001 ack 1
            0.1 > P. 2001:3001 ack 1
            0.2 < . 1:1 ack 2001
            # P3 is lost. It is probed when the timeout would end, as that is before two round trips and a delayed acknowledgment.
            0.5 > P. 2001:3001 ack 1
            0.6 wait
            0.7 < . 1:1 ack 3001
            0.7 ? phase=Open probes=1 timeouts=0
        "#]],
    );
}

/// RFC 8985, section 9.1's point: a lost retransmission is found without a timeout.
#[test]
fn rack_finds_a_lost_retransmission() {
    check(
        |_| {},
        expect![[r#"

            0.1 established <mss 1000,sackOK>
            0.1 write 20000
            0.1 > . 1:1001 ack 1
            0.1 > . 1001:2001 ack 1
            0.1 > . 2001:3001 ack 1
            0.1 > . 3001:4001 ack 1
            0.1 > . 4001:5001 ack 1
            0.1 > . 5001:6001 ack 1
            0.1 > . 6001:7001 ack 1
            0.1 > . 7001:8001 ack 1
            0.1 > . 8001:9001 ack 1
            0.1 > . 9001:10001 ack 1
            0.2 < . 1:1 ack 1 <sack 1001:4001>
            0.2 > . 1:1001 ack 1
            0.2 < . 1:1 ack 1 <sack 1001:10001>
            0.2 > . 10001:11001 ack 1
            0.2 > . 11001:12001 ack 1
            0.2 > . 12001:13001 ack 1
            0.2 > . 13001:14001 ack 1
            # The retransmission is lost, too. What was sent after it arrives.
            0.3 < . 1:1 ack 1 <sack 1001:11001>
            0.3 > . 1:1001 ack 1
            0.3 > . 14001:15001 ack 1
            0.31 < . 1:1 ack 1 <sack 1001:12001>
            0.31 > . 15001:16001 ack 1
            0.4 ? fast=2 timeouts=0
            0.45 < . 1:1 ack 15001
            0.45 > . 16001:17001 ack 1
            0.45 > . 17001:18001 ack 1
            0.45 > . 18001:19001 ack 1
            0.45 > P. 19001:20001 ack 1
        "#]],
    );
}

#[test]
fn rack_tolerates_reordering_once_it_has_seen_it() {
    check(
        |_| {},
        expect![[r#"

            0.1 established <mss 1000,sackOK>
            0.1 write 20000
            0.1 > . 1:1001 ack 1
            0.1 > . 1001:2001 ack 1
            0.1 > . 2001:3001 ack 1
            0.1 > . 3001:4001 ack 1
            0.1 > . 4001:5001 ack 1
            0.1 > . 5001:6001 ack 1
            0.1 > . 6001:7001 ack 1
            0.1 > . 7001:8001 ack 1
            0.1 > . 8001:9001 ack 1
            0.1 > . 9001:10001 ack 1
            # The first is late: that is reordering.
            0.2 < . 1:1 ack 1 <sack 1001:3001>
            0.2 > . 10001:11001 ack 1
            0.2 > . 11001:12001 ack 1
            0.21 < . 1:1 ack 3001
            0.21 > . 12001:13001 ack 1
            0.21 > . 13001:14001 ack 1
            # Now even four above the hole do not show a loss at once, but after min_RTT / 4.
            0.22 < . 1:1 ack 3001 <sack 4001:8001>
            0.22 > . 14001:15001 ack 1
            0.22 > . 15001:16001 ack 1
            0.22 > . 16001:17001 ack 1
            0.22 > . 17001:18001 ack 1
            0.22 ? phase=Open
            0.245 > . 3001:4001 ack 1
            0.3 ? phase=FastRecovery fast=1
        "#]],
    );
}

#[test]
fn many_losses_that_a_timer_finds_cause_no_burst() {
    check(
        |_| {},
        expect![[r#"

            0.1 established <mss 1000,sackOK>
            0.1 write 30000
            0.1 > . 1:1001 ack 1
            0.1 > . 1001:2001 ack 1
            0.1 > . 2001:3001 ack 1
            0.1 > . 3001:4001 ack 1
            0.1 > . 4001:5001 ack 1
            0.1 > . 5001:6001 ack 1
            0.1 > . 6001:7001 ack 1
            0.1 > . 7001:8001 ack 1
            0.1 > . 8001:9001 ack 1
            0.1 > . 9001:10001 ack 1
            # Eight segments are lost. Two above them are too few to decide at once.
            0.2 < . 1:1 ack 1 <sack 8001:10001>
            0.2 > . 10001:11001 ack 1
            0.2 > . 11001:12001 ack 1
            0.225 > . 1:1001 ack 1
            0.24 ? cwnd=3 ssthresh=5 flight=3
            0.3 < . 1:1 ack 1 <sack 8001:12001>
            0.3 > . 1001:2001 ack 1
            0.3 > . 2001:3001 ack 1
            0.33 < . 1:1 ack 1001 <sack 8001:12001>
            0.33 > . 3001:4001 ack 1
            0.33 > . 4001:5001 ack 1
            0.4 ? timeouts=0
        "#]],
    );
}

#[test]
fn duplicate_reports_widen_the_reordering_window() {
    check(
        |config| config.undo = false,
        expect![[r#"

            0.1 established <mss 1000,sackOK>
            0.1 write 10000
            0.1 > . 1:1001 ack 1
            0.1 > . 1001:2001 ack 1
            0.1 > . 2001:3001 ack 1
            0.1 > . 3001:4001 ack 1
            0.1 > . 4001:5001 ack 1
            0.1 > . 5001:6001 ack 1
            0.1 > . 6001:7001 ack 1
            0.1 > . 7001:8001 ack 1
            0.1 > . 8001:9001 ack 1
            0.1 > P. 9001:10001 ack 1
            # The second is late and sent again in vain.
            0.2 < . 1:1 ack 1001 <sack 2001:6001>
            0.2 > . 1001:2001 ack 1
            0.23 < . 1:1 ack 6001
            0.3 < . 1:1 ack 10001 <sack 1001:2001>
            0.3 write 10000
            0.3 > . 10001:11001 ack 1
            0.3 > . 11001:12001 ack 1
            0.3 > . 12001:13001 ack 1
            0.3 > . 13001:14001 ack 1
            0.3 > . 14001:15001 ack 1
            # The window is half of a round trip now.
            0.4 < . 1:1 ack 10001 <sack 11001:12001>
            0.4 > . 15001:16001 ack 1
            0.44 ? fast=1
            0.45 > . 10001:11001 ack 1
            0.46 ? fast=2
        "#]],
    );
}

/// RFC 8985, section 7.
#[test]
fn a_probe_that_repaired_a_loss_reduces_the_window() {
    check(
        |_| {},
        expect![[r#"

            0.1 established <mss 1000,sackOK>
            0.1 write 10000
            0.1 > . 1:1001 ack 1
            0.1 > . 1001:2001 ack 1
            0.1 > . 2001:3001 ack 1
            0.1 > . 3001:4001 ack 1
            0.1 > . 4001:5001 ack 1
            0.1 > . 5001:6001 ack 1
            0.1 > . 6001:7001 ack 1
            0.1 > . 7001:8001 ack 1
            0.1 > . 8001:9001 ack 1
            0.1 > P. 9001:10001 ack 1
            0.2 < . 1:1 ack 9001
            0.2 ? cwnd=19
            0.5 > P. 9001:10001 ack 1
            0.6 wait
            0.7 < . 1:1 ack 10001
            # This may answer the original.
            0.7 ? cwnd=20 probes=1
            0.7 write 1000
            0.7 > P. 10001:11001 ack 1
            0.8 < . 1:1 ack 11001
            # It answered the probe: no duplicate was reported, so the original was lost.
            0.8 ? cwnd=10 ssthresh=10
        "#]],
    );
    check(
        |_| {},
        expect![[r#"

            0.1 established <mss 1000,sackOK>
            0.1 write 10000
            0.1 > . 1:1001 ack 1
            0.1 > . 1001:2001 ack 1
            0.1 > . 2001:3001 ack 1
            0.1 > . 3001:4001 ack 1
            0.1 > . 4001:5001 ack 1
            0.1 > . 5001:6001 ack 1
            0.1 > . 6001:7001 ack 1
            0.1 > . 7001:8001 ack 1
            0.1 > . 8001:9001 ack 1
            0.1 > P. 9001:10001 ack 1
            0.2 < . 1:1 ack 9001
            0.5 > P. 9001:10001 ack 1
            0.6 wait
            0.61 < . 1:1 ack 10001
            0.7 < . 1:1 ack 10001 <sack 9001:10001>
            0.7 write 1000
            0.7 > P. 10001:11001 ack 1
            0.8 < . 1:1 ack 11001
            # Both arrived.
            0.8 ? cwnd=20 ssthresh=max
        "#]],
    );
}

/// RFC 8985, section 7: the answer to a probe shows that what was sent before it is lost. Its echo is that of the last
/// segment that arrived in order (RFC 7323, section 4.3), so it does not show which copy of the probed segment arrived.
#[test]
fn the_answer_to_a_probe_uncovers_a_lost_tail_with_time_stamps_too() {
    check(
        |config| config.timestamps = true,
        expect![[r#"

            0.1 established <mss 1000,sackOK,ts 700:0>
            0.1 write 3952
            0.1 > . 1:989 ack 1 <ts 100:700>
            0.1 > . 989:1977 ack 1 <ts 100:700>
            0.1 > . 1977:2965 ack 1 <ts 100:700>
            0.1 > P. 2965:3953 ack 1 <ts 100:700>
            0.2 < . 1:1 ack 989 <ts 800:100>
            0.4 > P. 2965:3953 ack 1 <ts 400:800>
            0.4 wait
            0.5 < . 1:1 ack 989 <ts 1100:100,sack 2965:3953>
            0.5 > . 989:1977 ack 1 <ts 500:1100>
            0.5 ? phase=FastRecovery fast=1 timeouts=0
        "#]],
    );
    // A round trip shorter than the tick of time stamps, which alone measured it: it does not seem too short.
    check(
        |config| config.timestamps = true,
        expect![[r#"

            0 connect
            0 > S 0:1 win 60000 <mss 1000,sackOK,ts 0:0>
            1 > S 0:1 <mss 1000,sackOK,ts 1000:0>
            1.0002 < S. 0:1 ack 1 <mss 1000,sackOK,ts 700:1000>
            1.0002 * Established
            1.0002 > . 1:1 ack 1 <ts 1000:700>
            1.0002 write 1976
            1.0002 > . 1:989 ack 1 <ts 1000:700>
            1.0002 > P. 989:1977 ack 1 <ts 1000:700>
            1.0022 > P. 989:1977 ack 1 <ts 1002:700>
            1.0024 < . 1:1 ack 1 <ts 702:1000,sack 989:1977>
            1.0024 > . 1:989 ack 1 <ts 1002:702>
            1.0024 ? phase=FastRecovery fast=1 timeouts=0
        "#]],
    );
}

#[test]
fn a_probe_prefers_new_data() {
    check(
        |config| config.initial_window_segments = 2,
        expect![[r#"

            0.1 established <mss 1000,sackOK>
            0.1 write 5000
            0.1 > . 1:1001 ack 1
            0.1 > . 1001:2001 ack 1
            0.3 > . 2001:3001 ack 1
            0.3 wait
            # Then the timeout counts.
            0.6 > . 1:1001 ack 1
            0.7 wait
        "#]],
    );
}

#[test]
fn a_timeout_with_rack_spares_what_was_just_sent() {
    check(
        |_| {},
        expect![[r#"

            0.1 established <mss 1000,sackOK>
            0.1 write 3000
            0.1 > . 1:1001 ack 1
            0.1 > . 1001:2001 ack 1
            0.1 > P. 2001:3001 ack 1
            0.3 > P. 2001:3001 ack 1
            0.3 wait
            0.59 write 1000
            0.59 > P. 3001:4001 ack 1
            # The probe has restarted the timer.
            0.6 > . 1:1001 ack 1
            0.65 ? timeouts=1 flight=2 cwnd=2
        "#]],
    );
}

/// RFC 3522: the echo is older than the retransmission.
#[test]
fn time_stamps_show_an_unnecessary_recovery() {
    check(
        |config| config.timestamps = true,
        expect![[r#"

            0.1 established <mss 1012,sackOK,ts 0:0>
            0.1 write 9880
            0.1 > . 1:989 ack 1 <ts 100:0>
            0.1 > . 989:1977 ack 1 <ts 100:0>
            0.1 > . 1977:2965 ack 1 <ts 100:0>
            0.1 > . 2965:3953 ack 1 <ts 100:0>
            0.1 > . 3953:4941 ack 1 <ts 100:0>
            0.1 > . 4941:5929 ack 1 <ts 100:0>
            0.1 > . 5929:6917 ack 1 <ts 100:0>
            0.1 > . 6917:7905 ack 1 <ts 100:0>
            0.1 > . 7905:8893 ack 1 <ts 100:0>
            0.1 > P. 8893:9881 ack 1 <ts 100:0>
            0.2 < . 1:1 ack 1 <ts 1:100,sack 989:3953>
            0.2 > . 1:989 ack 1 <ts 200:1>
            0.2 ? phase=FastRecovery
            0.21 < . 1:1 ack 3953 <ts 2:100>
            0.21 ? phase=Open spurious=1 cwnd=11 ssthresh=max
        "#]],
    );
}

#[test]
fn time_stamps_show_an_unnecessary_timeout() {
    check(
        |config| {
            config.timestamps = true;
            config.rack = false;
        },
        expect![[r#"

            0.1 established <mss 1012,sackOK,ts 0:0>
            0.1 write 9880
            0.1 > . 1:989 ack 1 <ts 100:0>
            0.1 > . 989:1977 ack 1 <ts 100:0>
            0.1 > . 1977:2965 ack 1 <ts 100:0>
            0.1 > . 2965:3953 ack 1 <ts 100:0>
            0.1 > . 3953:4941 ack 1 <ts 100:0>
            0.1 > . 4941:5929 ack 1 <ts 100:0>
            0.1 > . 5929:6917 ack 1 <ts 100:0>
            0.1 > . 6917:7905 ack 1 <ts 100:0>
            0.1 > . 7905:8893 ack 1 <ts 100:0>
            0.1 > P. 8893:9881 ack 1 <ts 100:0>
            # The network stalls for half a second.
            0.4 > . 1:989 ack 1 <ts 400:0>
            0.5 ? timeouts=1 cwnd=1
            0.5 < . 1:1 ack 1977 <ts 1:100>
            0.5 ? phase=Open spurious=1 cwnd=12 ssthresh=max
        "#]],
    );
}

/// RFC 3708: everything that was retransmitted arrived twice.
#[test]
fn duplicate_reports_show_an_unnecessary_recovery() {
    check(
        |_| {},
        expect![[r#"

            0.1 established <mss 1000,sackOK>
            0.1 write 10000
            0.1 > . 1:1001 ack 1
            0.1 > . 1001:2001 ack 1
            0.1 > . 2001:3001 ack 1
            0.1 > . 3001:4001 ack 1
            0.1 > . 4001:5001 ack 1
            0.1 > . 5001:6001 ack 1
            0.1 > . 6001:7001 ack 1
            0.1 > . 7001:8001 ack 1
            0.1 > . 8001:9001 ack 1
            0.1 > P. 9001:10001 ack 1
            0.2 < . 1:1 ack 1 <sack 1001:4001>
            0.2 > . 1:1001 ack 1
            0.21 < . 1:1 ack 10001
            0.21 ? cwnd=5
            0.3 < . 1:1 ack 10001 <sack 1:1001>
            0.3 ? spurious=1 cwnd=10 ssthresh=max
        "#]],
    );
}
