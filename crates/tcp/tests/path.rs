//! The MTU of the path (RFC 1191, RFC 8201): reports about segments that were too long.

use crate::support::script::check;
use expect_test::expect;

#[test]
fn what_is_under_way_is_sent_again_in_shorter_segments_without_a_smaller_window() {
    check(
        |_| {},
        expect![[r#"

            0.1 established <mss 1000,sackOK>
            0.1 write 3000
            0.1 > . 1:1001 ack 1
            0.1 > . 1001:2001 ack 1
            0.1 > P. 2001:3001 ack 1
            0.1 too_big 1 500
            0.1 > . 1:501 ack 1
            0.1 > . 501:1001 ack 1
            0.1 > . 1001:1501 ack 1
            0.1 > . 1501:2001 ack 1
            0.1 > . 2001:2501 ack 1
            0.1 > P. 2501:3001 ack 1
            0.1 ? cwnd=20 ssthresh=max phase=PathRecovery
            0.2 < . 1:1 ack 3001
            0.2 ? phase=Open ssthresh=max
            0.2 write 600
            0.2 > . 3001:3501 ack 1
            0.2 > P. 3501:3601 ack 1
        "#]],
    );
}

#[test]
fn what_has_arrived_is_not_sent_again() {
    check(
        |_| {},
        expect![[r#"

            0.1 established <mss 1000,sackOK>
            0.1 write 3000
            0.1 > . 1:1001 ack 1
            0.1 > . 1001:2001 ack 1
            0.1 > P. 2001:3001 ack 1
            0.2 < . 1:1 ack 1 <sack 2001:3001>
            0.2 too_big 1001 800
            0.2 > . 1:801 ack 1
            0.2 > . 801:1601 ack 1
            0.2 > . 1601:2001 ack 1
        "#]],
    );
}

#[test]
fn without_sack_duplicates_of_the_time_before_say_nothing() {
    check(
        |_| {},
        expect![[r#"

            0.1 established <mss 1000>
            0.1 write 4000
            0.1 > . 1:1001 ack 1
            0.1 > . 1001:2001 ack 1
            0.1 > . 2001:3001 ack 1
            0.1 > P. 3001:4001 ack 1
            0.1 too_big 1 700
            0.1 > . 1:701 ack 1
            0.1 > . 701:1401 ack 1
            0.1 > . 1401:2101 ack 1
            0.1 > . 2101:2801 ack 1
            0.1 > . 2801:3501 ack 1
            0.1 > P. 3501:4001 ack 1
            0.2 < . 1:1 ack 1
            0.2 < . 1:1 ack 1
            0.2 < . 1:1 ack 1
            0.2 < . 1:1 ack 1
            0.3 < . 1:1 ack 4001
            0.3 ? phase=Open ssthresh=max
        "#]],
    );
}

#[test]
fn reports_about_nothing_that_is_outstanding_are_not_believed() {
    check(
        |_| {},
        expect![[r#"

            0.1 established <mss 1000,sackOK>
            0.1 write 2000
            0.1 > . 1:1001 ack 1
            0.1 > P. 1001:2001 ack 1
            0.2 < . 1:1 ack 1001
            0.2 too_big 1 500
            0.2 too_big 2001 500
            0.2 too_big 4000000000 500
            # Nor are those that would make segments longer.
            0.2 too_big 1001 1400
            0.2 write 2000
            0.2 > . 2001:3001 ack 1
            0.2 > P. 3001:4001 ack 1
        "#]],
    );
}

#[test]
fn segments_do_not_get_absurdly_short() {
    check(
        |_| {},
        expect![[r#"

            0.1 established <mss 1000,sackOK>
            0.1 write 100
            0.1 > P. 1:101 ack 1
            0.1 too_big 1 0
            0.1 > . 1:49 ack 1
            0.1 > . 49:97 ack 1
            0.1 > P. 97:101 ack 1
        "#]],
    );
}
