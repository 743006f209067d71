//! Algorithm 1 step by step: reports of queues by Δ, and of colours.

use crate::frames::Segment;
use crate::switches::{Leaf, WAYS, frames, reports};
use p4te::Settings;

#[test]
fn a_queue_is_reported_when_it_has_changed_by_delta() {
    for way in WAYS {
        let mut leaf = Leaf::new(way, &Settings::default(), 1_000_000);
        leaf.slow(1, 100);
        // Six packets for host 1 at once. The first leaves nothing behind, the others 4, 3, 2, 1 and 0.
        let frame = Segment { from: (2, 1), to: (1, 1), ..Segment::data(true) }.frame();
        let mut sent = Vec::new();
        for _ in 0..6 {
            sent.extend(leaf.pass(5, &frame, 0));
        }
        sent.extend(leaf.wait(100_000));
        assert_eq!(frames(&sent).len(), 6, "{}", way.describe());
        let depths: Vec<(u32, u32)> = reports(&sent).iter().map(|report| (report.port, report.depth)).collect();
        assert_eq!(depths, [(1, 4), (1, 2), (1, 0)], "{}", way.describe());
        assert!(reports(&sent).iter().all(|it| it.has_queue_event && !it.has_utilisation_event));
        // Packets that leave the queue as it was are not reported.
        let sent = [leaf.pass(5, &frame, 50_000), leaf.pass(5, &frame, 50_000)].concat();
        assert_eq!((frames(&sent).len(), reports(&sent)), (2, Vec::new()));
    }
}

#[test]
fn colours_are_reported_when_they_change_and_ingress_knows_them() {
    for way in WAYS {
        // 100 packets a second: yellow above 75, red above 95, bursts of 5.
        let settings = Settings::default();
        let mut leaf = Leaf::new(way, &settings, 100);
        let frame = Segment { from: (2, 1), to: (1, 1), ..Segment::data(false) }.frame();
        // All at once: five are within both bursts, the others within none.
        let mut colours = Vec::new();
        for _ in 0..8 {
            let sent = leaf.pass(5, &frame, 0);
            colours.extend(reports(&sent).iter().map(|it| (it.port, it.colour, it.has_utilisation_event)));
        }
        assert_eq!(colours, [(1, 2, true)], "{}", way.describe());
        assert_eq!(register(&mut leaf, "port_utilisations", 1), 2);
        // After a pause it is green again.
        leaf.wait(1_000_000);
        let sent = leaf.pass(5, &frame, 0);
        assert_eq!(reports(&sent).iter().map(|it| it.colour).collect::<Vec<_>>(), [0]);
        assert_eq!(register(&mut leaf, "port_utilisations", 1), 0);
        // 87 packets a second are yellow in the end: more than 75, less than 95.
        let mut colours = Vec::new();
        for _ in 0..300 {
            colours.extend(reports(&leaf.pass(5, &frame, 11_500)).iter().map(|it| it.colour));
        }
        assert_eq!(colours.first(), Some(&1), "{}", way.describe());
        assert!(colours.iter().all(|it| *it < 2), "{colours:?}");
    }
}

/// A cell of a register.
pub fn register(leaf: &mut Leaf, name: &str, index: usize) -> u64 {
    let program = leaf.switch.program().clone();
    let found = program.registers.iter_enumerated().find(|(_, it)| it.name.ends_with(name));
    let (id, _) = found.unwrap_or_else(|| panic!("no register {name}"));
    leaf.switch.externs_mut().registers[id].read(index as u64).map_or(0, |it| it.low_u64())
}
