//! The sending side without losses: slow start (RFC 5681, RFC 6928), windows, small segments, idle times, and timeouts
//! (RFC 6298).

use crate::support::script::check;
use base::Time;
use expect_test::expect;
use tcp::Config;

/// No probes: what is left are timeouts.
fn without_rack(config: &mut Config) {
    config.rack = false;
}

#[test]
fn slow_start_doubles_the_window() {
    check(
        |config| config.initial_window_segments = 2,
        expect![[r#"

            0.1 established <mss 1000,sackOK>
            0.1 write 100000
            0.1 > . 1:1001 ack 1
            0.1 > . 1001:2001 ack 1
            0.2 < . 1:1 ack 2001
            0.2 > . 2001:3001 ack 1
            0.2 > . 3001:4001 ack 1
            0.2 > . 4001:5001 ack 1
            0.2 > . 5001:6001 ack 1
            0.2 ? cwnd=4 ssthresh=max
            0.3 < . 1:1 ack 4001
            0.3 > . 6001:7001 ack 1
            0.3 > . 7001:8001 ack 1
            0.3 > . 8001:9001 ack 1
            0.3 > . 9001:10001 ack 1
            0.3 < . 1:1 ack 6001
            0.3 > . 10001:11001 ack 1
            0.3 > . 11001:12001 ack 1
            0.3 > . 12001:13001 ack 1
            0.3 > . 13001:14001 ack 1
            0.3 ? cwnd=8 flight=8
        "#]],
    );
}

#[test]
fn an_application_that_limits_itself_does_not_grow_the_window() {
    check(
        |_| {},
        expect![[r#"

            0.1 established <mss 1000,sackOK>
            0.1 write 2000
            0.1 > . 1:1001 ack 1
            0.1 > P. 1001:2001 ack 1
            0.2 < . 1:1 ack 2001
            0.2 ? cwnd=10
            0.2 write 6000
            0.2 > . 2001:3001 ack 1
            0.2 > . 3001:4001 ack 1
            0.2 > . 4001:5001 ack 1
            0.2 > . 5001:6001 ack 1
            0.2 > . 6001:7001 ack 1
            0.2 > P. 7001:8001 ack 1
            0.3 < . 1:1 ack 8001
            # More than half of the window was used.
            0.3 ? cwnd=16
        "#]],
    );
}

#[test]
fn the_window_of_the_peer_is_respected() {
    check(
        |_| {},
        expect![[r#"

            0.1 established <mss 1000,sackOK> win 2500
            0.1 write 5000
            0.1 > . 1:1001 ack 1
            0.1 > . 1001:2001 ack 1
            0.1 > . 2001:2501 ack 1
            # Full segments, then what is left of the window.
            0.2 < . 1:1 ack 1001 win 2500
            0.2 > . 2501:3501 ack 1
            # It shrinks: nothing is sent until it opens.
            0.21 < . 1:1 ack 2001 win 400
            0.22 < . 1:1 ack 2501 win 400
            0.3 < . 1:1 ack 2901 win 400
        "#]],
    );
}

#[test]
fn an_older_window_does_not_replace_a_newer_one() {
    check(
        |_| {},
        expect![[r#"

            0.1 established <mss 1000,sackOK> win 3000
            0.1 write 1000
            0.1 > P. 1:1001 ack 1
            0.2 < . 101:201 ack 1001 win 5000
            0.2 > . 1001:1001 ack 1 <sack 101:201>
            0.2 < . 1:101 ack 1001 win 1
            0.2 > . 1001:1001 ack 201
            0.2 ? window=5000
            0.3 < . 201:201 ack 1001 win 7
            0.3 ? window=7
        "#]],
    );
}

#[test]
fn a_closed_window_is_probed_ever_more_slowly() {
    check(
        |_| {},
        expect![[r#"

            0.1 established <mss 1000,sackOK>
            0.1 write 1000
            0.1 > P. 1:1001 ack 1
            0.2 < . 1:1 ack 1001 win 0
            0.2 write 2000
            0.5 > . 1000:1000 ack 1
            1.1 > . 1000:1000 ack 1
            2 wait
            2 < . 1:1 ack 1001 win 0
            2.3 > . 1000:1000 ack 1
            3 wait
            3 < . 1:1 ack 1001 win 5000
            3 > . 1001:2001 ack 1
            3 > P. 2001:3001 ack 1
            3.1 < . 1:1 ack 3001 win 5000
            10 wait
        "#]],
    );
}

#[test]
fn a_peer_that_does_not_answer_probes_is_given_up() {
    check(
        |config| config.retries = 2,
        expect![[r#"

            0.1 established <mss 1000,sackOK> win 0
            0.1 write 1000
            0.4 > . 0:0 ack 1
            1 > . 0:0 ack 1
            2.2 * TimedOut
            9 wait
        "#]],
    );
}

#[test]
fn a_window_that_opens_while_a_probe_is_due_needs_none() {
    check(
        |_| {},
        expect![[r#"

            0.1 established <mss 1000,sackOK> win 0
            0.1 write 1000
            0.3 < . 1:1 ack 1 win 1000
            0.3 > P. 1:1001 ack 1
            0.6 > P. 1:1001 ack 1
            0.9 > P. 1:1001 ack 1
            1 < . 1:1 ack 1001 win 1000
            5 wait
        "#]],
    );
}

/// Minshall's variant, as in Linux.
#[test]
fn a_small_segment_waits_for_another_small_one() {
    check(
        |_| {},
        expect![[r#"

            0.1 established <mss 1000,sackOK>
            0.1 write 2500
            0.1 > . 1:1001 ack 1
            0.1 > . 1001:2001 ack 1
            0.1 > P. 2001:2501 ack 1
            0.1 write 300
            0.1 write 300
            0.2 < . 1:1 ack 2501
            0.2 > P. 2501:3101 ack 1
        "#]],
    );
    check(
        |config| config.nagle = false,
        expect![[r#"

            0.1 established <mss 1000,sackOK>
            0.1 write 2500
            0.1 > . 1:1001 ack 1
            0.1 > . 1001:2001 ack 1
            0.1 > P. 2001:2501 ack 1
            0.1 write 300
            0.1 > P. 2501:2801 ack 1
            0.1 write 300
            0.1 > P. 2801:3101 ack 1
        "#]],
    );
}

#[test]
fn the_send_buffer_limits_what_is_taken() {
    check(
        |config| config.send_buffer_bytes = 1500,
        expect![[r#"

            0.1 established <mss 1000,sackOK>
            0.1 write 9000
            0.1 > . 1:1001 ack 1
            0.1 > P. 1001:1501 ack 1
            0.2 < . 1:1 ack 1501
            0.2 write 9000
            0.2 > . 1501:2501 ack 1
            0.2 > P. 2501:3001 ack 1
        "#]],
    );
}

#[test]
fn after_idle_time_the_window_falls() {
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
            0.2 < . 1:1 ack 10001
            0.2 write 20000
            0.2 > . 10001:11001 ack 1
            0.2 > . 11001:12001 ack 1
            0.2 > . 12001:13001 ack 1
            0.2 > . 13001:14001 ack 1
            0.2 > . 14001:15001 ack 1
            0.2 > . 15001:16001 ack 1
            0.2 > . 16001:17001 ack 1
            0.2 > . 17001:18001 ack 1
            0.2 > . 18001:19001 ack 1
            0.2 > . 19001:20001 ack 1
            0.2 > . 20001:21001 ack 1
            0.2 > . 21001:22001 ack 1
            0.2 > . 22001:23001 ack 1
            0.2 > . 23001:24001 ack 1
            0.2 > . 24001:25001 ack 1
            0.2 > . 25001:26001 ack 1
            0.2 > . 26001:27001 ack 1
            0.2 > . 27001:28001 ack 1
            0.2 > . 28001:29001 ack 1
            0.2 > P. 29001:30001 ack 1
            0.3 < . 1:1 ack 30001
            0.3 ? cwnd=40 rto=0.3
            # Two timeouts, so it is halved twice.
            0.95 write 40000
            0.95 > . 30001:31001 ack 1
            0.95 > . 31001:32001 ack 1
            0.95 > . 32001:33001 ack 1
            0.95 > . 33001:34001 ack 1
            0.95 > . 34001:35001 ack 1
            0.95 > . 35001:36001 ack 1
            0.95 > . 36001:37001 ack 1
            0.95 > . 37001:38001 ack 1
            0.95 > . 38001:39001 ack 1
            0.95 > . 39001:40001 ack 1
            0.95 ? cwnd=10 ssthresh=max
        "#]],
    );
    check(
        |config| config.slow_start_after_idle = false,
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
            0.2 < . 1:1 ack 10001
            5 write 1000
            5 > P. 10001:11001 ack 1
            5 ? cwnd=20
        "#]],
    );
}

/// RFC 6298, section 2, with a granularity of 0 and a floor of 1 s, as the RFC recommends.
#[test]
fn the_timeout_follows_the_measurements() {
    check(
        |config| {
            config.rack = false;
            config.min_rto = Time::from_ms(100);
            config.min_rto_variance = Time::ZERO;
        },
        expect![[r#"

            # (2.2): RTTVAR is half of the first measurement, RTO three times it.
            0.1 established <mss 1000,sackOK>
            0.1 ? srtt=0.1 rttvar=0.05 rto=0.3
            0.1 write 1000
            0.1 > P. 1:1001 ack 1
            0.28 < . 1:1 ack 1001
            # (2.3): RTTVAR = 3/4 * 50 + 1/4 * |100 - 180| = 57.5, SRTT = 7/8 * 100 + 1/8 * 180 = 110 ms.
            0.28 ? srtt=0.11 rttvar=0.0575 rto=0.34
        "#]],
    );
    check(
        |config| {
            config.min_rto = Time::from_s(1);
            config.min_rto_variance = Time::ZERO;
        },
        expect![[r#"

            0.1 established <mss 1000,sackOK>
            0.1 ? rto=1
        "#]],
    );
}

#[test]
fn timeouts_back_off_until_a_segment_that_was_sent_once_is_acknowledged() {
    check(
        without_rack,
        expect![[r#"

            0.1 established <mss 1000,sackOK>
            0.1 write 3000
            0.1 > . 1:1001 ack 1
            0.1 > . 1001:2001 ack 1
            0.1 > P. 2001:3001 ack 1
            0.4 > . 1:1001 ack 1
            1 > . 1:1001 ack 1
            1.5 ? rto=1.2 cwnd=1 ssthresh=2 timeouts=2
            # Karn: this may answer the first copy. The timeout stays.
            1.6 < . 1:1 ack 1001
            1.6 > . 1001:2001 ack 1
            1.6 > P. 2001:3001 ack 1
            1.6 ? rto=1.2 srtt=0.1
            1.7 < . 1:1 ack 3001
            1.7 write 1000
            1.7 > P. 3001:4001 ack 1
            1.8 < . 1:1 ack 4001
            1.8 ? rto=0.3 srtt=0.1
        "#]],
    );
}

#[test]
fn time_stamps_measure_what_was_retransmitted() {
    check(
        |config| {
            config.rack = false;
            config.timestamps = true;
        },
        expect![[r#"

            0.1 established <mss 1012,sackOK,ts 0:0>
            0.1 write 988
            0.1 > P. 1:989 ack 1 <ts 100:0>
            0.4 > P. 1:989 ack 1 <ts 400:0>
            1 > P. 1:989 ack 1 <ts 1000:0>
            1 < . 1:1 ack 989 <ts 1:400>
            1 ? srtt=0.1625
        "#]],
    );
}

#[test]
fn the_timer_begins_anew_with_each_acknowledgment() {
    check(
        without_rack,
        expect![[r#"

            0.1 established <mss 1000,sackOK>
            0.1 write 3000
            0.1 > . 1:1001 ack 1
            0.1 > . 1001:2001 ack 1
            0.1 > P. 2001:3001 ack 1
            0.35 < . 1:1 ack 1001
            0.6 < . 1:1 ack 2001
            # SRTT has grown; 0.6 s and RTO.
            0.6 ? rto=0.772656
            1.372656 > P. 2001:3001 ack 1
            1.4 wait
        "#]],
    );
}

#[test]
fn after_a_timeout_everything_is_sent_again_from_a_window_of_one() {
    check(
        without_rack,
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
            0.4 > . 1:1001 ack 1
            0.5 ? cwnd=1 ssthresh=5 flight=1 phase=TimeoutRecovery
            0.5 < . 1:1 ack 1001
            0.5 > . 1001:2001 ack 1
            0.5 > . 2001:3001 ack 1
            0.5 ? cwnd=2
            0.6 < . 1:1 ack 3001
            0.6 > . 3001:4001 ack 1
            0.6 > . 4001:5001 ack 1
            0.6 > . 5001:6001 ack 1
            0.6 > . 6001:7001 ack 1
            0.6 ? cwnd=4
            0.7 < . 1:1 ack 7001
            0.7 > . 7001:8001 ack 1
            0.7 > . 8001:9001 ack 1
            0.7 > . 9001:10001 ack 1
            0.7 > . 10001:11001 ack 1
            0.7 > . 11001:12001 ack 1
            0.7 ? cwnd=5 ssthresh=5
            0.8 < . 1:1 ack 10001
            0.8 > . 12001:13001 ack 1
            0.8 > . 13001:14001 ack 1
            0.8 > . 14001:15001 ack 1
            0.8 > . 15001:16001 ack 1
            0.8 ? phase=Open
        "#]],
    );
}

#[test]
fn a_window_that_shrank_holds_back_retransmissions_but_the_first() {
    check(
        without_rack,
        expect![[r#"

            0.1 established <mss 1000,sackOK>
            0.1 write 3000
            0.1 > . 1:1001 ack 1
            0.1 > . 1001:2001 ack 1
            0.1 > P. 2001:3001 ack 1
            0.2 < . 1:1 ack 1001 win 0
            0.5 > . 1001:2001 ack 1
            1.1 > . 1001:2001 ack 1
            2.3 > . 1001:2001 ack 1
            3 wait
            3 < . 1:1 ack 2001 win 0
            3 > P. 2001:3001 ack 1
            4 < . 1:1 ack 2001 win 5000
            4 < . 1:1 ack 3001 win 5000
        "#]],
    );
}
