//! Closing in all orders (RFC 9293, section 3.6), and ends that are not in order.

use crate::support::script::check;
use expect_test::expect;

#[test]
fn this_side_closes_first() {
    check(
        |_| {},
        expect![[r#"

            0.1 established <mss 1000,sackOK>
            0.1 write 1500
            0.1 > . 1:1001 ack 1
            0.1 > P. 1001:1501 ack 1
            0.1 close
            0.1 > F. 1501:1502 ack 1
            0.1 ? state=FinWait1
            0.2 < . 1:1 ack 1502
            0.2 ? state=FinWait2
            # The peer may still send.
            0.3 < . 1:501 ack 1502
            0.34 > . 1502:1502 ack 501
            0.4 < F. 501:502 ack 1502
            0.4 * PeerFinished
            0.4 > . 1502:1502 ack 502 win 59999
            0.4 ? state=TimeWait
            # A repeated FIN is acknowledged again, and the time begins anew.
            30 < F. 501:502 ack 1502
            30 > . 1502:1502 ack 502 <sack 501:502>
            89 ? state=TimeWait
            90 * Closed
            90 ? state=Closed
        "#]],
    );
}

#[test]
fn the_peer_closes_first() {
    check(
        |_| {},
        expect![[r#"

            0.1 established <mss 1000,sackOK>
            0.2 < F. 1:101 ack 1
            0.2 * PeerFinished
            0.2 > . 1:1 ack 101
            0.2 ? state=CloseWait received=99
            0.3 write 500
            0.3 > P. 1:501 ack 101
            0.3 close
            0.3 > F. 501:502 ack 101
            0.3 ? state=LastAck
            0.4 < . 101:101 ack 502
            0.4 * Closed
            0.4 ? state=Closed
        "#]],
    );
}

#[test]
fn both_close_at_the_same_time() {
    check(
        |_| {},
        expect![[r#"

            0.1 established <mss 1000,sackOK>
            0.1 close
            0.1 > F. 1:2 ack 1
            0.15 < F. 1:2 ack 1
            0.15 * PeerFinished
            0.15 > . 2:2 ack 2
            0.15 ? state=Closing
            0.2 < . 2:2 ack 2
            0.2 ? state=TimeWait
            60.2 * Closed
            60.2 wait
        "#]],
    );
}

#[test]
fn a_fin_acknowledges_a_fin() {
    check(
        |_| {},
        expect![[r#"

            0.1 established <mss 1000,sackOK>
            0.1 close
            0.1 > F. 1:2 ack 1
            0.2 < F. 1:2 ack 2
            0.2 * PeerFinished
            0.2 > . 2:2 ack 2
            0.2 ? state=TimeWait
        "#]],
    );
}

#[test]
fn a_fin_is_repeated_until_it_is_acknowledged() {
    check(
        |config| config.retries = 2,
        expect![[r#"

            0.1 established <mss 1000,sackOK>
            0.1 write 100
            0.1 > P. 1:101 ack 1
            0.1 close
            0.1 > F. 101:102 ack 1
            0.3 > FP. 1:102 ack 1
            0.6 > FP. 1:102 ack 1
            1.2 > FP. 1:102 ack 1
            2.4 * TimedOut
            5 wait
        "#]],
    );
}

#[test]
fn a_fin_waits_for_the_data_before_it() {
    check(
        |_| {},
        expect![[r#"

            0.1 established <mss 1000,sackOK>
            0.2 < F. 501:1002 ack 1
            0.2 > . 1:1 ack 1 <sack 501:1002>
            0.2 ? state=Established
            0.3 < . 1:501 ack 1
            0.3 * PeerFinished
            0.3 > . 1:1 ack 1002
            0.3 ? state=CloseWait received=1000
        "#]],
    );
}

#[test]
fn nothing_follows_a_fin() {
    check(
        |_| {},
        expect![[r#"

            0.1 established <mss 1000,sackOK>
            0.2 < . 601:701 ack 1
            0.2 > . 1:1 ack 1 <sack 601:701>
            0.2 < F. 501:502 ack 1
            0.2 > . 1:1 ack 1 <sack 501:502 601:701>
            0.2 < . 502:801 ack 1
            0.2 > . 1:1 ack 1 <sack 501:502 601:701>
            0.3 < . 1:501 ack 1
            0.3 * PeerFinished
            0.3 > . 1:1 ack 502
            0.3 ? state=CloseWait received=500
            0.4 < . 502:602 ack 1
            0.4 > . 1:1 ack 502
            0.4 ? received=500
        "#]],
    );
}

#[test]
fn a_fin_needs_no_space_in_the_window() {
    check(
        |_| {},
        expect![[r#"

            0.1 established <mss 1000,sackOK> win 1000
            0.1 write 1000
            0.1 > P. 1:1001 ack 1
            0.2 < . 1:1 ack 1001 win 0
            0.2 close
            0.2 > F. 1001:1002 ack 1
            0.3 < . 1:1 ack 1002
            0.3 ? state=FinWait2
        "#]],
    );
    check(
        |config| config.receive_buffer_bytes = 1000,
        expect![[r#"

            0.1 established <mss 1000,sackOK>
            0.1 manual
            0.2 < . 1:1001 ack 1
            0.24 > . 1:1 ack 1001 win 0
            0.3 < F. 1001:1002 ack 1
            0.3 * PeerFinished
            0.3 > . 1:1 ack 1002
            0.3 ? state=CloseWait readable=1000
        "#]],
    );
}

#[test]
fn an_abort_resets_the_peer() {
    check(
        |_| {},
        expect![[r#"

            0.1 established <mss 1000,sackOK>
            0.1 write 1500
            0.1 > . 1:1001 ack 1
            0.1 > P. 1001:1501 ack 1
            0.1 abort
            0.1 * Closed
            0.1 > R. 1501:1501 ack 1
            0.1 ? state=Closed
            0.2 write 10
            1 wait
        "#]],
    );
}

#[test]
fn a_reset_ends_the_connection() {
    check(
        |_| {},
        expect![[r#"

            0.1 established <mss 1000,sackOK>
            0.1 write 1500
            0.1 > . 1:1001 ack 1
            0.1 > P. 1001:1501 ack 1
            0.2 < R. 1:1 ack 1
            0.2 * Reset
            0.2 ? state=Closed
            1 wait
        "#]],
    );
}

#[test]
fn a_peer_that_never_answers_is_given_up() {
    check(
        |config| config.retries = 3,
        expect![[r#"

            0.1 established <mss 1000>
            0.1 write 100
            0.1 > P. 1:101 ack 1
            0.4 > P. 1:101 ack 1
            1 > P. 1:101 ack 1
            2.2 > P. 1:101 ack 1
            4.6 * TimedOut
            10 ? state=Closed
        "#]],
    );
}
