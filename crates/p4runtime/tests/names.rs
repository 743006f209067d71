//! Names of values: when a name gets a number, when the number is freed, and that no two names share one.

use crate::support;

use control::api::Notes;
use p4runtime::ErrorText;
use p4runtime_proto::p4::config::v1::P4Info;
use p4runtime_proto::p4::v1::set_forwarding_pipeline_config_request::Action;
use p4runtime_proto::p4::v1::{self, write_request::Atomicity};
use std::sync::Arc;
use support::{Controller, Device, ROUTE, ROUTER, entity, program, shown, status, update};

/// Numbers of four bits: also those of the two ports, which are none of this type.
const ROOM: usize = 16;

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

/// When no number is left, those are found in time that the same request frees.
#[tokio::test]
async fn names_follow_others_in_one_request() {
    let text = text();
    let device = Device::start(Some(&text));
    let info = program(&text).info;
    let mut controller = Controller::connect(&device, 1).await;
    assert_eq!(fill(&mut controller, &info, "a").await, ROOM);
    let pairs = |first: usize, to: &str| -> Vec<v1::Update> {
        let pair =
            |count| [change(&info, "DELETE", &format!("a{count}")), change(&info, "INSERT", &format!("{to}{count}"))];
        (first..first + 3).flat_map(pair).collect()
    };
    controller.write(pairs(0, "b")).await.unwrap();
    // An atomic write frees nothing before it is complete.
    let refused = controller.write_with(pairs(3, "b"), Atomicity::DataplaneAtomic).await.unwrap_err();
    assert!(status(&refused).contains("there is no number left"), "{}", status(&refused));
    let all = controller.read(&[entity(&info, "table_entry { table_id: $known }")]).await.unwrap();
    let all = shown(&info, &all);
    assert_eq!((all.matches("\"a").count(), all.matches("\"b").count()), (ROOM - 3, 3), "{all}");
}

/// Mappings in the program itself, as in SONiC's programs; types without a name share nothing.
#[tokio::test]
async fn a_program_declares_what_some_names_stand_for() {
    let text = text().replace(
        "@p4runtime_translation(\"names\", string) type bit<4> name_t;",
        "@p4runtime_translation(\"\", string) @p4runtime_translation_mappings({ {\"\", 0}, {\"top\", 0xD}, })
        type bit<4> name_t;
        @p4runtime_translation(\"\", string) type bit<10> other_t;",
    );
    let text = text
        .replace("name_t name; }", "name_t name; other_t other; }")
        .replace("action seen() { }", "action seen(other_t other) { m.other = other; }")
        .replace("default_action = seen();", "default_action = seen((other_t)0);");
    let device = Device::start(Some(&text));
    let info = program(&text).info;
    let mut controller = Controller::connect(&device, 1).await;
    let insert = |name: &str| {
        let action = "action { action { action_id: $seen params { param_id: 1 value: \"top\" } } }";
        update(&info, &format!("type: INSERT entity {{ {} }}", entry(name, action)))
    };
    for name in ["", "top", "13", "0", "blue"] {
        controller.write(vec![insert(name)]).await.unwrap_or_else(|refused| panic!("{name}: {}", status(&refused)));
        let one = controller.read(&[entity(&info, &entry(name, ""))]).await.unwrap();
        assert_eq!(one.len(), 1, "{name}");
        let shown = shown(&info, &one);
        // What is empty is left out of the text.
        let is_shown = shown.contains(&format!("value: \"{name}\"")) || name.is_empty() && shown.contains("exact {\n");
        assert!(is_shown && shown.contains("value: \"top\""), "{name}: {shown}");
    }
    // The empty name is what the packets' 0 is, and no other type has it.
    let values = device.keys_of("known");
    assert!(values.contains(&0) && values.contains(&13) && values.len() == 5, "{values:?}");
    let wrong = "action { action { action_id: $seen params { param_id: 1 value: \"\" } } }";
    let wrong = update(&info, &format!("type: MODIFY entity {{ {} }}", entry("", wrong)));
    let refused = status(&controller.write(vec![wrong]).await.unwrap_err());
    assert!(refused.contains("a name has 1 to 256 bytes, not 0"), "{refused}");
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

/// Once an update has named a port all are shown by name, also after another program.
#[tokio::test]
async fn ports_keep_the_form_in_which_they_were_written() {
    let text = ROUTER
        .replace("struct learn_t", "@p4runtime_translation(\"ports\", string) type bit<9> port_t; struct learn_t")
        .replace("struct meta_t {", "struct meta_t { port_t port;")
        .replace(
            "action forward(bit<9> port) { s.egress_spec = port; }",
            "action forward(port_t port) { m.port = port; }",
        );
    let device = Device::start(Some(&text));
    let info = program(&text).info;
    let mut controller = Controller::connect(&device, 1).await;
    let route = |address: &str, port: &str| {
        let named = ROUTE.replace("\\002", port).replace("\\n\\000", address);
        update(&info, &named)
    };
    controller.write(vec![route("\\n\\000", "eth1")]).await.unwrap();
    controller.write(vec![route("\\013\\000", "2")]).await.unwrap();
    let everything = entity(&info, "table_entry { table_id: $route }");
    let before = shown(&info, &controller.read(std::slice::from_ref(&everything)).await.unwrap());
    assert!(before.contains("\"eth1\"") && before.contains("\"eth2\""), "{before}");
    controller.set_config(Action::ReconcileAndCommit, Some(&text)).await.unwrap();
    let after = shown(&info, &controller.read(&[everything]).await.unwrap());
    assert_eq!(after, before);
}

/// State of an earlier run that cannot be restored is reported before there are controllers.
#[test]
fn what_was_stored_is_reported_with_names() {
    let made = program(&text());
    let notes = Notes::from([(r#"["name","names","blue"]"#.to_owned(), serde_json::json!([4, "0a"]))]);
    let words = ErrorText::of(&made.info, &Arc::new(made.program), &notes).unwrap();
    let message = words.with_names("table I.known: there is no entry with m.name = 0xa");
    assert_eq!(message, "table I.known: there is no entry with m.name = `blue`");
    let other = "table I.route: there is no entry with m.address = 0xa000000/8";
    assert_eq!(words.with_names(other), other);
    let made = program(ROUTER);
    assert!(ErrorText::of(&made.info, &Arc::new(made.program), &notes).is_none(), "it has no names");
}
