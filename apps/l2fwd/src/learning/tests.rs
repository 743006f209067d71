//! What the switch reports, and the commands that follow.

use super::*;
use expect_test::{Expect, expect};

fn learning(of_port_max: usize) -> Learning {
    let settings = Settings { age: Duration::from_secs(300), addresses_max: 10, of_port_max, is_verbose: true };
    Learning::new(settings, Vlans::none(&[1, 2, 3]))
}

fn fields(values: &[(&str, u128)]) -> Fields {
    Fields::new(values.iter().map(|(name, value)| ((*name).to_owned(), *value)))
}

fn report(learning: &mut Learning, mac: u128, port: u128, expected: Expect) {
    let mut orders = Orders::new();
    let sent = fields(&[("source", mac), ("vlan", 1), ("port", port)]);
    learning.digest(Duration::ZERO, "learn_t", &sent, &mut orders);
    expected.assert_eq(&orders.take_text());
}

fn known_source(mac: u128, port: u128) -> Entry {
    let keys = [("hdr.ethernet.source", mac), ("meta.vlan", 1), ("standard_metadata.ingress_port", port)];
    Entry { table: "SwitchIngress.source_known".into(), keys: fields(&keys), has_timeout: true, ..Entry::default() }
}

fn known_destination(mac: u128, port: u128, metadata: &[u8]) -> Entry {
    Entry {
        table: "SwitchIngress.destination".into(),
        keys: fields(&[("hdr.ethernet.destination", mac), ("meta.vlan", 1)]),
        arguments: fields(&[("port", port)]),
        metadata: metadata.to_vec(),
        ..Entry::default()
    }
}

#[test]
fn an_address_is_learned_moves_and_is_forgotten() {
    let mut learning = learning(5);
    let first = expect![[r#"
        add source_known 02:00:00:00:00:0a 1 1 do NoAction timeout 300000ms
        add destination 02:00:00:00:00:0a 1 do forward 1 metadata 01
        note: 02:00:00:00:00:0a 1 is at port 1
    "#]];
    report(&mut learning, 0x0200_0000_000a, 1, first);
    let moved = expect![[r#"
        add source_known 02:00:00:00:00:0a 1 2 do NoAction timeout 300000ms
        add destination 02:00:00:00:00:0a 1 do forward 2 metadata 01
        delete source_known 02:00:00:00:00:0a 1 1
        note: 02:00:00:00:00:0a 1 has moved from port 1 to port 2
    "#]];
    report(&mut learning, 0x0200_0000_000a, 2, moved);
    // The entry of the port where it was is idle first.
    let mut orders = Orders::new();
    learning.idle(Duration::ZERO, &known_source(0x0200_0000_000a, 1), &mut orders);
    assert_eq!((orders.take_text().as_str(), learning.len()), ("", 1));
    learning.idle(Duration::ZERO, &known_source(0x0200_0000_000a, 2), &mut orders);
    expect![[r#"
        delete destination 02:00:00:00:00:0a 1
        delete source_known 02:00:00:00:00:0a 1 2
        note: 02:00:00:00:00:0a 1 is forgotten: no frame for 300 s
    "#]]
    .assert_eq(&orders.take_text());
    assert!(learning.is_empty());
}

#[test]
fn made_up_addresses_fill_neither_a_port_nor_the_tables() {
    let mut learning = learning(2);
    for mac in 1..=2 {
        let mut orders = Orders::new();
        learning.digest(Duration::ZERO, "learn_t", &fields(&[("source", mac), ("vlan", 1), ("port", 1)]), &mut orders);
    }
    let expected = expect![[r#"
        note: port 1 has 2 addresses: further ones are not learned, and their frames are flooded
    "#]];
    report(&mut learning, 3, 1, expected);
    report(&mut learning, 4, 1, expect![""]);
    assert_eq!(learning.len(), 2);
    // An address cannot be taken away to a full port.
    report(
        &mut learning,
        5,
        2,
        expect![[r#"
        add source_known 00:00:00:00:00:05 1 2 do NoAction timeout 300000ms
        add destination 00:00:00:00:00:05 1 do forward 2 metadata 01
        note: 00:00:00:00:00:05 1 is at port 2
    "#]],
    );
    report(&mut learning, 5, 1, expect![""]);
    for mac in 10..1000 {
        let mut orders = Orders::new();
        let sent = fields(&[("source", mac), ("vlan", 1), ("port", mac)]);
        learning.digest(Duration::ZERO, "learn_t", &sent, &mut orders);
    }
    assert_eq!(learning.len(), 10);
}

#[test]
fn a_controller_goes_on_with_what_a_switch_has() {
    let mut learning = learning(5);
    let entries = [
        known_source(0xa, 1),
        known_destination(0xa, 1, LEARNED),
        // The controller before ended between two writes.
        known_destination(0xb, 2, LEARNED),
        known_source(0xc, 3),
        known_destination(0xc, 2, LEARNED),
        // The operator's.
        known_destination(0xd, 2, &[]),
        known_source(0xd, 1),
    ];
    let mut orders = Orders::new();
    learning.joined(Duration::ZERO, &entries, &mut orders).unwrap();
    expect![[r#"
        multicast add 1 1 2 3
        default classify do transparent
        delete destination 00:00:00:00:00:0b 1
        delete destination 00:00:00:00:00:0c 1
        delete source_known 00:00:00:00:00:0c 1 3
        digests learn_t on timeout 10ms size 100 ack 1s
        default source_known do learn
    "#]]
    .assert_eq(&orders.take_text());
    assert_eq!(learning.len(), 1);
    report(&mut learning, 0xd, 1, expect![""]);
}
