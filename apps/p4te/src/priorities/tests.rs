//! Algorithm 3 step by step: the groups of figure 3, and that no packet ever finds no port.

use super::*;
use expect_test::expect;

fn prefix() -> Prefix {
    Prefix::new("fd00::".parse().unwrap(), 16)
}

fn queue(port: u32, depth: u32) -> Report {
    Report { port, has_queue_event: true, has_utilisation_event: false, depth, colour: 0 }
}

fn colour(port: u32, colour: u8) -> Report {
    Report { port, has_queue_event: false, has_utilisation_event: true, depth: 0, colour }
}

/// What a switch would have.
#[derive(Default)]
struct Tables {
    groups: Vec<(&'static str, u32, Vec<u32>)>,
    routes: Vec<(&'static str, u32)>,
}

impl Tables {
    fn carry_out(&mut self, orders: &[Order]) {
        for order in orders {
            match order {
                Order::Group { table, group, ports, is_new } => {
                    let known = self.groups.iter().position(|it| (it.0, it.1) == (*table, *group));
                    assert_eq!(known.is_none(), *is_new, "{order:?}");
                    known.into_iter().for_each(|at| drop(self.groups.remove(at)));
                    self.groups.push((table, *group, ports.clone()));
                }
                Order::Route { table, group, is_new, .. } => {
                    let known = self.routes.iter().position(|it| *it == (*table, *group));
                    assert_eq!(known.is_none(), *is_new, "{order:?}");
                    match known {
                        Some(at) => drop(self.routes.remove(at)),
                        None => self.routes.push((table, *group)),
                    }
                }
                _ => {}
            }
            // The entry with the greatest priority is that of the first group.
            for table in ["up_by_queue", "up_by_utilisation"] {
                let routes = self.routes.iter().filter(|it| it.0 == table);
                let Some((_, first)) = routes.min() else { continue };
                let group = self.groups.iter().find(|it| (it.0, it.1) == (table, *first)).unwrap();
                assert!(!group.2.is_empty(), "{table}: an entry of a group without ports hides all others");
            }
        }
    }
}

#[test]
fn ports_move_as_in_figure_3() {
    let settings = Settings { delta: 10, ..Settings::default() };
    let mut priorities = Priorities::new(settings, vec![prefix()], &[3, 4]);
    priorities.report(&queue(3, 25));
    priorities.report(&queue(4, 25));
    assert_eq!([3, 4].map(|port| priorities.group(Metric::Queue, port)), [Some(2), Some(2)]);
    let orders = priorities.report(&queue(3, 40));
    expect![[r#"
        Group { table: "up_by_queue", group: 4, ports: [3], is_new: false }
        Route { table: "up_by_queue", key: Masked(336294682933583715844663186250927177728, 16), priority: 1, group: 4, is_new: true }
        Group { table: "up_by_queue", group: 3, ports: [4], is_new: false }
    "#]]
    .assert_eq(&orders.iter().map(|order| format!("{order:?}\n")).collect::<String>());
    let orders = priorities.report(&queue(4, 20));
    expect![[r#"
        Group { table: "up_by_queue", group: 2, ports: [4], is_new: false }
        Route { table: "up_by_queue", key: Masked(336294682933583715844663186250927177728, 16), priority: 3, group: 2, is_new: true }
        Route { table: "up_by_queue", key: Masked(336294682933583715844663186250927177728, 16), priority: 2, group: 3, is_new: false }
        Group { table: "up_by_queue", group: 3, ports: [], is_new: false }
    "#]]
    .assert_eq(&orders.iter().map(|order| format!("{order:?}\n")).collect::<String>());
    assert_eq!([3, 4].map(|port| priorities.group(Metric::Queue, port)), [Some(3), Some(1)]);
    // The same range again is nothing new, and what is no upward port has no group.
    assert_eq!(priorities.report(&queue(3, 77)), []);
    assert_eq!(priorities.report(&queue(9, 40)), []);
}

#[test]
fn colours_are_groups() {
    let mut priorities = Priorities::new(Settings::default(), vec![prefix()], &[5, 6]);
    priorities.report(&colour(5, 2));
    assert_eq!(priorities.group(Metric::Utilisation, 5), Some(2));
    assert_eq!(priorities.group(Metric::Utilisation, 6), Some(0));
    assert_eq!(priorities.group(Metric::Queue, 5), Some(0));
    // With queues alone both classes go by them.
    let queues = Settings { measures: Measures::QueueOnly, ..Settings::default() };
    let mut priorities = Priorities::new(queues, vec![prefix()], &[5]);
    assert_eq!(priorities.report(&colour(5, 2)), []);
    priorities.report(&queue(5, 8));
    assert_eq!([Metric::Queue, Metric::Utilisation].map(|it| priorities.group(it, 5)), [Some(3), Some(2)]);
}

#[test]
fn no_order_leaves_a_packet_without_a_port() {
    let ports = [5, 6, 7, 8];
    let mut priorities = Priorities::new(Settings::default(), vec![prefix()], &ports);
    let mut tables = Tables::default();
    tables.carry_out(&priorities.orders());
    // A sequence of reports that visits all groups, with failures of links between.
    let mut state = 1_u32;
    for step in 0..2_000 {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let (port, value) = (ports[(state >> 16) as usize % 4], state >> 24);
        let orders = match step % 7 {
            0 if port != 5 => priorities.fail(port),
            1 => priorities.recover(port),
            2 | 3 => priorities.report(&colour(port, (value % 3) as u8)),
            _ => priorities.report(&queue(port, value % 12)),
        };
        tables.carry_out(&orders);
        for metric in [Metric::Queue, Metric::Utilisation] {
            assert!(priorities.group(metric, 5).is_some());
        }
    }
    // A switch that has lost its tables gets the same.
    let mut again = Tables::default();
    again.carry_out(&priorities.orders());
    let sorted = |mut tables: Tables| {
        tables.groups.sort();
        tables.routes.sort();
        (tables.groups, tables.routes)
    };
    assert_eq!(sorted(again), sorted(tables));
}

#[test]
fn a_destination_that_a_port_does_not_lead_to_has_groups_without_it() {
    let mut priorities = Priorities::new(Settings::default(), vec![prefix()], &[3, 4]);
    let mut tables = Tables::default();
    tables.carry_out(&priorities.orders());
    let leaf = Prefix::new("fd00:2::".parse().unwrap(), 32);
    let orders = priorities.avoid(vec![leaf], &[3]);
    let priority = |order: &Order| match order {
        Order::Route { key: Match::Masked(address, 32), priority, .. } => {
            (*address == leaf.address).then_some(*priority)
        }
        _ => None,
    };
    assert!(
        orders.iter().filter_map(priority).all(|priority| priority > 4),
        "before all other destinations: {orders:?}"
    );
    tables.carry_out(&orders);
    // Port 4 alone leads there, however long its queue is; port 3 never comes back.
    tables.carry_out(&priorities.report(&queue(4, 9)));
    tables.carry_out(&priorities.report(&queue(3, 5)));
    tables.carry_out(&priorities.report(&colour(3, 1)));
    let of_leaf: Vec<&Vec<u32>> = tables.groups.iter().filter(|it| it.1 > 8).map(|it| &it.2).collect();
    assert!(of_leaf.iter().all(|ports| !ports.contains(&3)) && of_leaf.iter().any(|ports| ports.contains(&4)));
}
