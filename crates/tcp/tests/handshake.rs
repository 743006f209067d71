//! Opening: SYNs and what they negotiate (RFC 9293, sections 3.5 and 3.10.7; RFC 7323; RFC 6298, (5.7)).

use crate::support::script::check;
use base::Time;
use expect_test::expect;
use tcp::Config;

/// The settings of Linux, but for the size of segments and the congestion control.
fn as_linux(config: &mut Config) {
    let linux = Config::default();
    *config = Config { timestamps: true, window_scaling: true, quick_acks: linux.quick_acks, ..*config };
    config.receive_buffer_bytes = linux.receive_buffer_bytes;
}

#[test]
fn the_active_side_offers_everything() {
    check(
        as_linux,
        expect![[r#"

            0 connect
            0 > S 0:1 win 65535 <mss 1000,sackOK,ts 0:0,wscale 6>
            0.1 < S. 0:1 ack 1 win 28960 <mss 1460,sackOK,ts 700:0,wscale 7>
            0.1 * Established
            0.1 > . 1:1 ack 1 win 49152 <ts 100:700>
            0.1 ? mss=988 window=28960 srtt=0.1 rto=0.3 cwnd=10
            0.1 write 1000
            0.1 > . 1:989 ack 1 <ts 100:700>
            0.1 > P. 989:1001 ack 1 <ts 100:700>
            # From here on, windows are scaled.
            0.2 < . 1:1 ack 1001 win 100 <ts 800:100>
            0.2 ? window=12800
        "#]],
    );
}

#[test]
fn the_passive_side_answers_with_what_it_got() {
    check(
        as_linux,
        expect![[r#"

            0 listen
            0 < S 0:1 win 1000 <mss 900,sackOK,ts 700:0,wscale 20>
            0 > S. 0:1 ack 1 win 65535 <mss 1000,sackOK,ts 0:700,wscale 6>
            0.1 < . 1:1 ack 1 win 1 <ts 800:0>
            0.1 * Established
            # The shift of 20 is taken for 14.
            0.1 ? mss=888 window=16384 state=Established
        "#]],
    );
    check(
        as_linux,
        expect![[r#"

            0 listen
            0 < S 0:1 win 1000
            0 > S. 0:1 ack 1 win 65535 <mss 1000>
            0.1 < . 1:1 ack 1 win 2000
            0.1 * Established
            0.1 ? mss=536 window=2000 state=Established
        "#]],
    );
}

#[test]
fn options_that_are_off_are_not_offered_and_not_accepted() {
    check(
        |config| config.sack = false,
        expect![[r#"

            0 connect
            0 > S 0:1 win 60000 <mss 1000>
            0.1 < S. 0:1 ack 1 win 100 <mss 20,sackOK,ts 700:0,wscale 7>
            0.1 * Established
            0.1 > . 1:1 ack 1
            # An MSS of 20 would be a flood of headers.
            0.1 ? mss=48 window=100
            # Without SACK, there are no blocks.
            0.2 < . 1001:2001 ack 1
            0.2 > . 1:1 ack 1
        "#]],
    );
}

#[test]
fn a_syn_is_repeated_ever_more_slowly() {
    check(
        |config| config.syn_retries = 3,
        expect![[r#"

            0 connect
            0 > S 0:1 win 60000 <mss 1000,sackOK>
            1 > S 0:1 <mss 1000,sackOK>
            3 > S 0:1 <mss 1000,sackOK>
            7 > S 0:1 <mss 1000,sackOK>
            15 * TimedOut
            20 ? state=Closed
            # (5.7): the timeout begins anew at 3 s, and RFC 5681, section 3.1: after two losses, the window is one segment.
        "#]],
    );
    check(
        |_| {},
        expect![[r#"

            0 connect
            0 > S 0:1 win 60000 <mss 1000,sackOK>
            1 > S 0:1 <mss 1000,sackOK>
            3 > S 0:1 <mss 1000,sackOK>
            3.5 < S. 0:1 ack 1 <mss 1000,sackOK>
            3.5 * Established
            3.5 > . 1:1 ack 1
            3.5 ? cwnd=1 rto=3 srtt=none
            3.5 write 5000
            3.5 > . 1:1001 ack 1
            4.5 > . 1001:2001 ack 1
            7 wait
        "#]],
    );
}

#[test]
fn a_syn_that_timed_out_once_keeps_the_initial_window() {
    check(
        |_| {},
        expect![[r#"

            0 connect
            0 > S 0:1 win 60000 <mss 1000,sackOK>
            1 > S 0:1 <mss 1000,sackOK>
            1.5 < S. 0:1 ack 1 <mss 1000,sackOK>
            1.5 * Established
            1.5 > . 1:1 ack 1
            1.5 ? cwnd=10 rto=3
        "#]],
    );
}

/// RFC 6298, section 3: time stamps show which SYN was answered, so the handshake measures a round trip nevertheless.
/// As in Linux, (5.7) is for handshakes that measure none.
#[test]
fn time_stamps_measure_the_round_trip_of_a_repeated_syn() {
    check(
        |config| config.timestamps = true,
        expect![[r#"

            0 connect
            0 > S 0:1 win 60000 <mss 1000,sackOK,ts 0:0>
            1 > S 0:1 <mss 1000,sackOK,ts 1000:0>
            1.5 < S. 0:1 ack 1 <mss 1000,sackOK,ts 700:1000>
            1.5 * Established
            1.5 > . 1:1 ack 1 <ts 1500:700>
            1.5 ? cwnd=10 srtt=0.5 rto=1.5
        "#]],
    );
    // The first SYN was answered late.
    check(
        |config| config.timestamps = true,
        expect![[r#"

            0 connect
            0 > S 0:1 win 60000 <mss 1000,sackOK,ts 0:0>
            1 > S 0:1 <mss 1000,sackOK,ts 1000:0>
            1.5 < S. 0:1 ack 1 <mss 1000,sackOK,ts 700:0>
            1.5 * Established
            1.5 > . 1:1 ack 1 <ts 1500:700>
            1.5 ? cwnd=10 srtt=1.5 rto=4.5
        "#]],
    );
    check(
        |config| config.timestamps = true,
        expect![[r#"

            0 listen
            0 < S 0:1 <mss 1000,sackOK,ts 700:0>
            0 > S. 0:1 ack 1 win 60000 <mss 1000,sackOK,ts 0:700>
            1 > S. 0:1 ack 1 <mss 1000,sackOK,ts 1000:700>
            1.1 < . 1:1 ack 1 <ts 1800:1000>
            1.1 * Established
            1.1 ? cwnd=10 srtt=0.1 rto=0.3
        "#]],
    );
}

#[test]
fn a_syn_ack_is_repeated() {
    check(
        |config| config.syn_retries = 1,
        expect![[r#"

            0 listen
            0 < S 0:1 <mss 1000,sackOK>
            0 > S. 0:1 ack 1 win 60000 <mss 1000,sackOK>
            # A repeated SYN is answered at once.
            0.5 < S 0:1 <mss 1000,sackOK>
            0.5 > S. 0:1 ack 1 <mss 1000,sackOK>
            1 > S. 0:1 ack 1 <mss 1000,sackOK>
            3 * TimedOut
            10 wait
        "#]],
    );
}

#[test]
fn both_sides_open_at_the_same_time() {
    check(
        |_| {},
        expect![[r#"

            0 connect
            0 > S 0:1 win 60000 <mss 1000,sackOK>
            0.1 < S 0:1 <mss 1000,sackOK>
            0.1 > S. 0:1 ack 1 <mss 1000,sackOK>
            0.1 ? state=SynReceived
            0.2 < S. 0:1 ack 1 <mss 1000,sackOK>
            0.2 * Established
            0.2 ? state=Established
            0.2 write 500
            0.2 > P. 1:501 ack 1
        "#]],
    );
    check(
        |_| {},
        expect![[r#"

            0 connect
            0 > S 0:1 win 60000 <mss 1000,sackOK>
            0.1 < S 0:1 <mss 1000,sackOK>
            0.1 > S. 0:1 ack 1 <mss 1000,sackOK>
            # The peer needs no second SYN.
            0.2 < . 1:1 ack 1
            0.2 * Established
            0.2 ? state=Established
        "#]],
    );
}

#[test]
fn windows_of_syns_are_never_scaled() {
    check(
        |config| config.window_scaling = true,
        expect![[r#"

            0 connect
            0 > S 0:1 win 60000 <mss 1000,sackOK,wscale 0>
            0.1 < S 0:1 win 900 <mss 1000,wscale 7>
            0.1 > S. 0:1 ack 1 <mss 1000,wscale 0>
            0.1 ? window=900
            0.2 < S. 0:1 ack 1 win 1000 <mss 1000,wscale 7>
            0.2 * Established
            0.2 ? window=1000
            0.3 < . 1:1 ack 1 win 1000
            0.3 ? window=128000
        "#]],
    );
}

#[test]
fn acknowledgments_of_something_else_are_reset() {
    check(
        |_| {},
        expect![[r#"

            0 connect
            0 > S 0:1 win 60000 <mss 1000,sackOK>
            0.1 < S. 0:1 ack 2 <mss 1000>
            0.1 > R 2:2
            0.1 < . 5:5 ack 0
            0.1 > R 0:0
            # A reset must acknowledge the SYN.
            0.2 < R 0:0
            0.2 < R. 0:0 ack 7
            0.2 ? state=SynSent
            0.3 < R. 0:0 ack 1
            0.3 * Reset
        "#]],
    );
    check(
        |_| {},
        expect![[r#"

            0 listen
            0 < R 0:0
            0 < . 5:10 ack 77
            0 > R 77:77
            0 ? state=Listen
            0.1 < S 0:1 <mss 1000>
            0.1 > S. 0:1 ack 1 win 60000 <mss 1000>
            0.2 < . 1:1 ack 2
            0.2 > R 2:2
            0.2 ? state=SynReceived
            0.3 < R 1:1
            0.3 * Reset
        "#]],
    );
}

#[test]
fn data_before_the_handshake_ends_leaves_after_it() {
    check(
        |_| {},
        expect![[r#"

            0 connect
            0 > S 0:1 win 60000 <mss 1000,sackOK>
            0 write 1500
            0 close
            0 * Closed
            0 ? state=Closed
        "#]],
    );
    check(
        |_| {},
        expect![[r#"

            0 listen
            0 write 1500
            0 < S 0:1 <mss 1000,sackOK>
            0 > S. 0:1 ack 1 win 60000 <mss 1000,sackOK>
            0.05 close
            0.1 < . 1:1 ack 1
            0.1 * Established
            0.1 > . 1:1001 ack 1
            0.1 > FP. 1001:1502 ack 1
            0.1 ? state=FinWait1
        "#]],
    );
}

#[test]
fn a_closed_endpoint_answers_with_resets() {
    check(
        |_| {},
        expect![[r#"

            0 listen
            0 close
            0 * Closed
            0.1 < S 5:6
            0.1 > R. 0:0 ack 6
            0.1 < . 5:10 ack 77
            0.1 > R 77:77
            0.1 < R. 5:5 ack 77
        "#]],
    );
}

#[test]
fn the_initial_timeout_can_be_set() {
    check(
        |config| config.initial_rto = Time::from_ms(250),
        expect![[r#"

            0 connect
            0 > S 0:1 win 60000 <mss 1000,sackOK>
            0.25 > S 0:1 <mss 1000,sackOK>
            0.75 > S 0:1 <mss 1000,sackOK>
            1 wait
        "#]],
    );
}
