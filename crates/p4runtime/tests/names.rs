//! Names that stand for values: what gets a number, what gives it back, and that no two are one.

mod support;

use p4runtime_proto::p4::config::v1::P4Info;
use p4runtime_proto::p4::v1::{self, write_request::Atomicity};
use support::{Controller, Device, ROUTER, entity, program, shown, status, update};

/// Numbers of four bits, but for those of the two ports.
const ROOM: usize = 14;

/// The router with a table whose key is a name.
fn text() -> String {
    ROUTER
        .replace(
            "struct meta_t { bit<32> address; }",
            "@p4runtime_translation(\"names\", string) type bit<4> name_t;
            struct meta_t { bit<32> address; name_t name; }",
        )
        .replace(
            "register<bit<32>>(8) last;",
            "register<bit<32>>(8) last; action seen() { }
            table known { key = { m.name: exact; } actions = { seen; } default_action = seen(); }",
        )
        .replace("route.apply();", "route.apply(); known.apply();")
}

fn entry(name: &str, rest: &str) -> String {
    format!("table_entry {{ table_id: $known match {{ field_id: 1 exact {{ value: \"{name}\" }} }} {rest} }}")
}

fn change(info: &P4Info, kind: &str, name: &str) -> v1::Update {
    let rest = if kind == "DELETE" { "" } else { "action { action { action_id: $seen } }" };
    update(info, &format!("type: {kind} entity {{ {} }}", entry(name, rest)))
}

async fn written(controller: &mut Controller, info: &P4Info, kind: &str, name: &str) -> String {
    match controller.write(vec![change(info, kind, name)]).await {
        Ok(()) => "done\n".to_owned(),
        Err(refused) => status(&refused),
    }
}

/// Inserts names until there is no number left. Returns how many there were.
async fn fill(controller: &mut Controller, info: &P4Info, prefix: &str) -> usize {
    for count in 0..=ROOM {
        let outcome = written(controller, info, "INSERT", &format!("{prefix}{count}")).await;
        if outcome != "done\n" {
            assert!(outcome.contains("ResourceExhausted"), "{outcome}");
            return count;
        }
    }
    panic!("there are more names than numbers");
}

#[tokio::test]
async fn only_what_is_there_has_numbers() {
    let text = text();
    let device = Device::start(Some(&text));
    let info = program(&text).info;
    let mut controller = Controller::connect(&device, 1).await;
    for count in 0..2 * ROOM {
        let name = format!("looked for {count}");
        assert_eq!(controller.read(&[entity(&info, &entry(&name, ""))]).await.unwrap(), []);
        for kind in ["DELETE", "MODIFY"] {
            let refused = written(&mut controller, &info, kind, &name).await;
            assert!(refused.contains("NotFound") && refused.contains(&name), "{refused}");
        }
        let wrong = format!("type: INSERT entity {{ {} }}", entry(&name, "priority: 1"));
        controller.write(vec![update(&info, &wrong)]).await.unwrap_err();
        let batch = vec![change(&info, "INSERT", &name), change(&info, "INSERT", &name)];
        controller.write_with(batch, Atomicity::RollbackOnError).await.unwrap_err();
    }
    let room = fill(&mut controller, &info, "a").await;
    assert_eq!(room, ROOM);
    let all = controller.read(&[entity(&info, "table_entry { table_id: $known }")]).await.unwrap();
    assert_eq!(all.len(), room);
    for count in 0..room {
        assert_eq!(written(&mut controller, &info, "DELETE", &format!("a{count}")).await, "done\n");
    }
    assert_eq!(fill(&mut controller, &info, "b").await, room, "numbers are used again");
}

#[tokio::test]
async fn a_name_and_a_number_are_not_the_same() {
    let text = text();
    let device = Device::start(Some(&text));
    let info = program(&text).info;
    let mut controller = Controller::connect(&device, 1).await;
    for name in ["13", "blue", "12", "11", "10"] {
        assert_eq!(written(&mut controller, &info, "INSERT", name).await, "done\n", "{name}");
    }
    let all = controller.read(&[entity(&info, "table_entry { table_id: $known }")]).await.unwrap();
    let all = shown(&info, &all);
    for name in ["13", "blue", "12", "11", "10"] {
        assert_eq!(all.matches(&format!("\"{name}\"")).count(), 1, "{name}: {all}");
        let one = controller.read(&[entity(&info, &entry(name, ""))]).await.unwrap();
        assert_eq!(one.len(), 1, "{name}");
        assert_eq!(written(&mut controller, &info, "DELETE", name).await, "done\n", "{name}");
    }
}
