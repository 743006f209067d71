//! The receiving side: acknowledgments (RFC 5681, section 4.2), SACK (RFC 2018), duplicates (RFC 2883), windows (RFC
//! 9293, section 3.8.6), old segments (RFC 7323, section 5) and blind attacks (RFC 5961).

use crate::support::script::check;
use base::Time;
use expect_test::expect;

#[test]
fn every_second_full_segment_is_acknowledged() {
    check(
        |_| {},
        expect![[r#"

            0.1 established <mss 1000,sackOK>
            0.2 < . 1:1001 ack 1
            0.21 < . 1001:2001 ack 1
            0.21 > . 1:1 ack 2001
            0.3 < . 2001:3001 ack 1
            # The timer of the third.
            0.34 > . 1:1 ack 3001
            0.4 wait
        "#]],
    );
}

#[test]
fn small_segments_wait_until_they_are_more_than_one_full_one() {
    check(
        |config| config.delayed_ack = Time::from_ms(500),
        expect![[r#"

            0.1 established <mss 1000,sackOK>
            0.2 < . 1:1001 ack 1
            0.2 < . 1001:1101 ack 1
            0.2 > . 1:1 ack 1101
            0.3 < . 1101:1201 ack 1
            0.3 < . 1201:1301 ack 1
            0.3 < . 1301:1401 ack 1
            0.8 > . 1:1 ack 1401 win 59700
            1 wait
        "#]],
    );
}

#[test]
fn the_first_acknowledgments_and_those_after_a_loss_are_quick() {
    check(
        |config| config.quick_acks = 2,
        expect![[r#"

            0.1 established <mss 1000,sackOK>
            0.2 < . 1:101 ack 1
            0.2 > . 1:1 ack 101
            0.2 < . 101:201 ack 1
            0.2 > . 1:1 ack 201
            0.2 < . 201:301 ack 1
            0.24 > . 1:1 ack 301
            0.3 < . 401:501 ack 1
            0.3 > . 1:1 ack 301 <sack 401:501>
            0.4 < . 301:401 ack 1
            0.4 > . 1:1 ack 501
            0.5 < . 501:601 ack 1
            0.5 > . 1:1 ack 601
            0.6 < . 601:701 ack 1
            0.64 > . 1:1 ack 701
            0.7 < . 701:801 ack 1
        "#]],
    );
}

#[test]
fn acknowledgments_travel_with_data() {
    check(
        |_| {},
        expect![[r#"

            0.1 established <mss 1000,sackOK>
            0.2 < . 1:1001 ack 1
            0.21 write 100
            0.21 > P. 1:101 ack 1001
            0.3 wait
        "#]],
    );
}

/// RFC 2018, section 6: the left window edge is 5000 there; the segments have 500 bytes.
#[test]
fn blocks_as_in_rfc_2018() {
    // Case 2: the first segment of eight is lost.
    check(
        |_| {},
        expect![[r#"

            0.1 established <mss 1000,sackOK>
            0.2 < . 501:1001 ack 1
            0.2 > . 1:1 ack 1 <sack 501:1001>
            0.2 < . 1001:1501 ack 1
            0.2 > . 1:1 ack 1 <sack 501:1501>
            0.2 < . 1501:2001 ack 1
            0.2 > . 1:1 ack 1 <sack 501:2001>
            0.2 < . 2001:2501 ack 1
            0.2 > . 1:1 ack 1 <sack 501:2501>
            0.2 < . 2501:3001 ack 1
            0.2 > . 1:1 ack 1 <sack 501:3001>
            0.2 < . 3001:3501 ack 1
            0.2 > . 1:1 ack 1 <sack 501:3501>
            0.2 < . 3501:4001 ack 1
            0.2 > . 1:1 ack 1 <sack 501:4001>
            0.3 < . 1:501 ack 1
            0.3 > . 1:1 ack 4001
        "#]],
    );
    // Case 3: the second, fourth, sixth and eighth are lost; then the fourth arrives out of order, then the second.
    check(
        |_| {},
        expect![[r#"

            0.1 established <mss 1000,sackOK>
            0.2 < . 1:501 ack 1
            0.2 < . 1001:1501 ack 1
            0.2 > . 1:1 ack 501 <sack 1001:1501>
            0.2 < . 2001:2501 ack 1
            0.2 > . 1:1 ack 501 <sack 2001:2501 1001:1501>
            0.2 < . 3001:3501 ack 1
            0.2 > . 1:1 ack 501 <sack 3001:3501 2001:2501 1001:1501>
            0.3 < . 1501:2001 ack 1
            0.3 > . 1:1 ack 501 <sack 1001:2501 3001:3501>
            0.3 < . 501:1001 ack 1
            0.3 > . 1:1 ack 2501 <sack 3001:3501>
        "#]],
    );
}

#[test]
fn at_most_four_blocks_are_reported_the_last_changed_first() {
    check(
        |_| {},
        expect![[r#"

            0.1 established <mss 1000,sackOK>
            0.2 < . 1001:1501 ack 1
            0.2 > . 1:1 ack 1 <sack 1001:1501>
            0.2 < . 2001:2501 ack 1
            0.2 > . 1:1 ack 1 <sack 2001:2501 1001:1501>
            0.2 < . 3001:3501 ack 1
            0.2 > . 1:1 ack 1 <sack 3001:3501 2001:2501 1001:1501>
            0.2 < . 4001:4501 ack 1
            0.2 > . 1:1 ack 1 <sack 4001:4501 3001:3501 2001:2501 1001:1501>
            0.2 < . 5001:5501 ack 1
            0.2 > . 1:1 ack 1 <sack 5001:5501 4001:4501 3001:3501 2001:2501>
            0.2 < . 1501:1601 ack 1
            0.2 > . 1:1 ack 1 <sack 1001:1601 5001:5501 4001:4501 3001:3501>
        "#]],
    );
    // With time stamps there is space for three.
    check(
        |config| config.timestamps = true,
        expect![[r#"

            0.1 established <mss 1000,sackOK,ts 100:0>
            0.2 < . 1001:1501 ack 1 <ts 200:100>
            0.2 > . 1:1 ack 1 <ts 200:100,sack 1001:1501>
            0.2 < . 2001:2501 ack 1 <ts 200:100>
            0.2 > . 1:1 ack 1 <ts 200:100,sack 2001:2501 1001:1501>
            0.2 < . 3001:3501 ack 1 <ts 200:100>
            0.2 > . 1:1 ack 1 <ts 200:100,sack 3001:3501 2001:2501 1001:1501>
            0.2 < . 4001:4501 ack 1 <ts 200:100>
            0.2 > . 1:1 ack 1 <ts 200:100,sack 4001:4501 3001:3501 2001:2501>
        "#]],
    );
}

/// RFC 2883, section 4.
#[test]
fn duplicates_are_reported_once() {
    check(
        |_| {},
        expect![[r#"

            0.1 established <mss 1000,sackOK>
            0.2 < . 1:501 ack 1
            0.2 < . 501:1001 ack 1
            0.2 > . 1:1 ack 1001
            # 4.1.1: a full duplicate.
            0.3 < . 1:501 ack 1
            0.3 > . 1:1 ack 1001 <sack 1:501>
            # 4.1.3: a duplicate while something is missing.
            0.4 < . 1501:2001 ack 1
            0.4 > . 1:1 ack 1001 <sack 1501:2001>
            0.5 < . 501:1001 ack 1
            0.5 > . 1:1 ack 1001 <sack 501:1001 1501:2001>
            # 4.2.1: a duplicate of what is out of order; a block for it, then the block that contains it.
            0.6 < . 2001:2501 ack 1
            0.6 > . 1:1 ack 1001 <sack 1501:2501>
            0.7 < . 1501:2001 ack 1
            0.7 > . 1:1 ack 1001 <sack 1501:2001 1501:2501>
            # 4.2.3: partly repeated.
            0.8 < . 501:1501 ack 1
            0.8 > . 1:1 ack 2501 <sack 501:1001>
            0.9 < . 2501:3001 ack 1
            0.94 > . 1:1 ack 3001 win 59500
            1 wait
        "#]],
    );
}

#[test]
fn too_many_pieces_are_as_if_they_had_not_arrived() {
    check(
        |config| config.ranges = 2,
        expect![[r#"

            0.1 established <mss 1000,sackOK>
            0.2 < . 1001:1501 ack 1
            0.2 > . 1:1 ack 1 <sack 1001:1501>
            0.2 < . 2001:2501 ack 1
            0.2 > . 1:1 ack 1 <sack 2001:2501 1001:1501>
            0.2 < . 3001:3501 ack 1
            0.2 > . 1:1 ack 1 <sack 2001:2501 1001:1501>
            0.2 < . 1:1001 ack 1
            0.2 > . 1:1 ack 1501 <sack 2001:2501>
            0.2 < . 1501:2001 ack 1
            0.2 > . 1:1 ack 2501
            0.2 ? received=2500
        "#]],
    );
}

#[test]
fn a_window_closes_and_opens_again() {
    check(
        |config| config.receive_buffer_bytes = 4000,
        expect![[r#"

            0.1 established <mss 1000,sackOK>
            0.1 manual
            0.2 < . 1:1001 ack 1
            0.2 < . 1001:2001 ack 1
            0.2 > . 1:1 ack 2001 win 2000
            0.2 < . 2001:3001 ack 1
            0.2 < . 3001:4001 ack 1
            0.2 > . 1:1 ack 4001 win 0
            # Nothing fits any more. A probe is answered.
            0.3 < . 4001:5001 ack 1
            0.3 > . 1:1 ack 4001
            0.4 < . 4000:4000 ack 1
            0.4 > . 1:1 ack 4001
            0.4 ? received=4000 readable=4000
            # A small window would lead to small segments: no update is sent until a segment fits.
            0.5 read 999
            0.6 read 1
            0.6 > . 1:1 ack 4001 win 1000
            0.7 < . 4001:5001 ack 1
            0.74 > . 1:1 ack 5001 win 0
            0.8 read 4000
            0.8 > . 1:1 ack 5001 win 4000
        "#]],
    );
}

#[test]
fn scaled_windows_are_rounded_but_not_taken_back() {
    check(
        |config| {
            config.window_scaling = true;
            config.receive_buffer_bytes = 1_000_000;
        },
        expect![[r#"

            0.1 established <mss 1000,sackOK,wscale 0>
            0.1 manual
            0.2 < . 1:1001 ack 1
            0.2 < . 1001:2001 ack 1
            0.2 > . 1:1 ack 2001 win 62375
            0.2 < . 2001:2004 ack 1
            0.24 > . 1:1 ack 2004
            0.3 < . 2004:3001 ack 1
            0.3 < . 3001:4001 ack 1
            0.3 > . 1:1 ack 4001 win 62251
        "#]],
    );
}

#[test]
fn segments_outside_of_the_window_are_answered_and_dropped() {
    check(
        |config| config.receive_buffer_bytes = 5000,
        expect![[r#"

            0.1 established <mss 1000,sackOK>
            0.2 < . 5002:6002 ack 1
            0.2 > . 1:1 ack 1
            0.2 < . -999:1 ack 1
            0.2 > . 1:1 ack 1
            # The part within the window is taken.
            0.3 < . 4501:5501 ack 1
            0.3 > . 1:1 ack 1 <sack 4501:5001>
            0.4 < . -499:501 ack 1
            0.4 > . 1:1 ack 501 win 4500 <sack 4501:5001>
            0.5 ? received=500
            # Without payload at the end of the window: the acknowledgment counts.
            0.5 write 1000
            0.5 > . 1:989 ack 501 <sack 4501:5001>
            0.5 > P. 989:1001 ack 501 <sack 4501:5001>
            0.6 < . 5001:5001 ack 1001
            0.6 ? acked=1000
        "#]],
    );
}

#[test]
fn old_time_stamps_are_dropped() {
    check(
        |config| config.timestamps = true,
        expect![[r#"

            0.1 established <mss 1000,sackOK,ts 1000:0>
            0.2 < . 1:501 ack 1 <ts 1100:0>
            0.24 > . 1:1 ack 501 <ts 240:1100>
            0.3 < . 501:1001 ack 1 <ts 1099:0>
            0.3 > . 1:1 ack 501 <ts 300:1100>
            0.3 ? paws=1 received=500
            # A segment that arrives before one that is missing does not change what is echoed (RFC 7323, section 4.3, example C).
            0.4 < . 1001:1501 ack 1 <ts 1300:0>
            0.4 > . 1:1 ack 501 <ts 400:1100,sack 1001:1501>
            0.5 < . 501:1001 ack 1 <ts 1200:0>
            0.5 > . 1:1 ack 1501 <ts 500:1200>
            0.6 < . 1501:2001 ack 1 <ts 1400:0>
            0.64 > . 1:1 ack 2001 <ts 640:1400>
            0.7 wait
            # The acknowledgment was lost: its repetition echoes the repeated segment.
            0.75 < . 1501:2001 ack 1 <ts 1700:0>
            0.75 > . 1:1 ack 2001 <ts 750:1700,sack 1501:2001>
            # A reset needs no time stamp.
            0.8 < R 2001:2001
            0.8 * Reset
        "#]],
    );
    // After 24 days of silence, the recent time stamp is not valid any more.
    check(
        |config| config.timestamps = true,
        expect![[r#"

            0.1 established <mss 1000,sackOK,ts 3000000000:0>
            0.2 < . 1:501 ack 1 <ts 3000000000:0>
            0.24 > . 1:1 ack 501 <ts 240:3000000000>
            2160000 < . 501:1001 ack 1 <ts 865032704:0>
            2160000.04 > . 1:1 ack 1001 <ts 2160000040:865032704>
            2160001 ? paws=0 received=1000
        "#]],
    );
}

/// RFC 5961.
#[test]
fn resets_and_syns_must_be_exact() {
    check(
        |_| {},
        expect![[r#"

            0.1 established <mss 1000,sackOK>
            # Outside of the window: silence. Within: a challenge.
            0.2 < R 60001:60001
            0.2 < R 0:0
            0.2 < R 2:2
            0.2 > . 1:1 ack 1
            0.2 < S 1:2
            0.2 > . 1:1 ack 1
            0.2 < S 99999:100000
            0.2 > . 1:1 ack 1
            0.2 ? challenges=3 state=Established
            0.3 < R 1:1
            0.3 * Reset
        "#]],
    );
}

/// RFC 5961, section 5.
#[test]
fn acknowledgments_must_be_plausible() {
    check(
        |_| {},
        expect![[r#"

            0.1 established <mss 1000,sackOK> win 5000
            0.1 write 100
            0.1 > P. 1:101 ack 1
            0.2 < . 1:501 ack 102
            0.2 > . 101:101 ack 1
            0.2 < . 1:501 ack -5000
            0.2 > . 101:101 ack 1
            0.2 ? received=0 acked=0
            # An old acknowledgment may carry data.
            0.3 < . 1:501 ack 0
            0.3 ? received=500 acked=0
        "#]],
    );
}

#[test]
fn challenges_are_few() {
    check(
        |_| {},
        expect![[r#"

            0.1 established <mss 1000,sackOK>
            0.2 < R 2:2
            0.2 > . 1:1 ack 1
            0.2 < R 2:2
            0.2 > . 1:1 ack 1
            0.2 < R 2:2
            0.2 > . 1:1 ack 1
            0.2 < R 2:2
            0.2 > . 1:1 ack 1
            0.2 < R 2:2
            0.2 > . 1:1 ack 1
            0.2 < R 2:2
            0.2 > . 1:1 ack 1
            0.2 < R 2:2
            0.2 > . 1:1 ack 1
            0.2 < R 2:2
            0.2 > . 1:1 ack 1
            0.2 < R 2:2
            0.2 > . 1:1 ack 1
            0.2 < R 2:2
            0.2 > . 1:1 ack 1
            0.2 < R 2:2
            5.2 < R 2:2
            5.2 > . 1:1 ack 1
        "#]],
    );
}

#[test]
fn segments_without_an_acknowledgment_are_dropped() {
    check(
        |_| {},
        expect![[r#"

            0.1 established <mss 1000,sackOK>
            0.2 < P 1:501
            0.2 ? received=0
        "#]],
    );
}
