//! A long write as others see it: they see all of it or nothing.

use crate::support;

use p4runtime_proto::p4::config::v1::P4Info;
use p4runtime_proto::p4::v1;
use p4runtime_proto::p4::v1::p4_runtime_client::P4RuntimeClient;
use p4runtime_proto::p4::v1::set_forwarding_pipeline_config_request::Action;
use std::sync::OnceLock;
use std::time::{Duration, Instant};
use support::{Controller, Device, ROUTER, entity, program, routes};
use tokio::task::JoinHandle;
use tonic::{Code, Status};

/// Far more than are carried out at once.
const COUNT: u32 = 40_000;

/// A router with room for all routes.
fn large() -> String {
    ROUTER.replace("size = 4096;", "size = 65536;")
}

/// Its P4Info, made once.
fn info() -> &'static P4Info {
    static INFO: OnceLock<P4Info> = OnceLock::new();
    INFO.get_or_init(|| program(&large()).info)
}

/// A long write of a primary controller.
fn begin(mut controller: Controller) -> JoinHandle<(Result<(), Status>, Controller)> {
    let updates = routes(info(), COUNT);
    tokio::spawn(async move { (controller.write(updates).await, controller) })
}

async fn count(controller: &mut Controller) -> usize {
    controller.read(&[entity(info(), "table_entry { table_id: $route }")]).await.unwrap().len()
}

/// Waits until packets find some: fewer than all, unless the machine is busy meanwhile.
async fn some_are_there(device: &Device) {
    while device.entries() == 0 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

#[tokio::test]
async fn a_read_is_before_a_write_or_after_it() {
    let device = Device::start(Some(&large()));
    let first = Controller::connect(&device, 1).await;
    let mut second = Controller::silent(&device, 7).await;
    assert_eq!(count(&mut second).await, 0);
    let writing = begin(first);
    some_are_there(&device).await;
    // A client that may not write gets the error at once.
    assert_eq!(second.write(Vec::new()).await.unwrap_err().code(), Code::PermissionDenied);
    assert_eq!(count(&mut second).await, COUNT as usize);
    writing.await.unwrap().0.unwrap();
}

/// However long the response is: this one is longer than what is sent at once, and is read while it is written.
#[tokio::test]
async fn a_long_answer_shows_one_state() {
    let device = Device::start(Some(&large()));
    let mut first = Controller::connect(&device, 1).await;
    first.write(routes(info(), COUNT)).await.unwrap();
    let request =
        v1::ReadRequest { device_id: 1, entities: vec![entity(info(), "table_entry { }"); 3], ..Default::default() };
    let mut answer = first.client.clone().read(request).await.unwrap().into_inner();
    let mut read = answer.message().await.unwrap().unwrap().entities.len();
    // The write does not wait for a client that does not read its response.
    let mut gone = routes(info(), COUNT);
    gone.iter_mut().for_each(|update| update.r#type = v1::update::Type::Delete as i32);
    first.write(gone).await.unwrap();
    while let Some(part) = answer.message().await.unwrap() {
        read += part.entities.len();
    }
    assert_eq!(read, 3 * COUNT as usize);
    assert_eq!(count(&mut first).await, 0);
}

/// The counters of a long response are collected in pieces if writes come all the time: none waits for all of them.
#[tokio::test]
async fn writes_go_first_between_the_pieces_of_a_response() {
    let device =
        Device::start(Some(&large().replace(
            "register<bit<32>>(8) last;",
            "register<bit<32>>(8) last; counter(300000, CounterType.packets) rx;",
        )));
    let mut primary = Controller::connect(&device, 1).await;
    let mut reader = Controller::silent(&device, 7).await;
    let reading = tokio::spawn(async move {
        let all = v1::CounterEntry::default();
        let all = v1::Entity { entity: Some(v1::entity::Entity::CounterEntry(all)) };
        reader.read(&[all]).await.unwrap().len()
    });
    let (mut written, mut update) = (0, routes(info(), 1));
    while !reading.is_finished() {
        primary.write(update.clone()).await.unwrap();
        let kinds = [v1::update::Type::Delete, v1::update::Type::Insert];
        update[0].r#type = kinds[written % 2] as i32;
        written += 1;
    }
    assert_eq!(reading.await.unwrap(), 300_000);
    // Three would interrupt attempts, and one would wait for the last.
    assert!(written > 12, "{written} writes while a response was collected");
}

/// Those that write cells, too, come before or after the whole response.
#[tokio::test]
async fn a_long_response_shows_the_cells_of_one_state() {
    let text = large()
        .replace("register<bit<32>>(8) last;", "register<bit<32>>(8) last; counter(60000, CounterType.packets) rx;");
    let info = program(&text).info;
    let device = Device::start(Some(&text));
    let mut primary = Controller::connect(&device, 1).await;
    let mut reader = Controller::silent(&device, 7).await;
    let of = info.clone();
    let reading = tokio::spawn(async move {
        let all = [entity(&of, "counter_entry { counter_id: $rx }")];
        let mut responses = Vec::new();
        for _ in 0..4 {
            responses.push(reader.read(&all).await.unwrap());
        }
        responses
    });
    let mut packets = 0;
    while !reading.is_finished() {
        packets += 1;
        let all =
            format!("type: MODIFY entity {{ counter_entry {{ counter_id: $rx data {{ packet_count: {packets} }} }} }}");
        primary.write(vec![support::update(&info, &all)]).await.unwrap();
    }
    for response in reading.await.unwrap() {
        let packets = |it: &v1::Entity| match &it.entity {
            Some(v1::entity::Entity::CounterEntry(it)) => it.data.as_ref().map(|data| data.packet_count),
            other => panic!("{other:?}"),
        };
        let first = packets(&response[0]);
        assert!(response.len() == 60_000 && response.iter().all(|it| packets(it) == first), "{first:?}");
    }
}

#[tokio::test]
async fn who_becomes_primary_finds_what_was_begun_ended() {
    let device = Device::start(Some(&large()));
    let writing = begin(Controller::connect(&device, 1).await);
    let mut second = Controller::silent(&device, 2).await;
    some_are_there(&device).await;
    second.bid(2).await;
    assert!(second.next().await.contains("you are the primary controller"));
    // From here on, the other's requests have no effect.
    assert_eq!(device.entries(), COUNT as usize);
    let (outcome, mut first) = writing.await.unwrap();
    outcome.unwrap();
    assert_eq!(first.write(routes(info(), 1)).await.unwrap_err().code(), Code::PermissionDenied);
}

#[tokio::test]
async fn what_others_write_comes_before_or_after() {
    let device = Device::start(Some(&large()));
    let first = Controller::connect(&device, 1).await;
    let mut other = Controller::silent(&device, 1).await;
    other.bid_for_role(v1::Role { name: "routes".to_owned(), ..Default::default() }).await;
    let writing = begin(first);
    some_are_there(&device).await;
    let mut last = routes(info(), COUNT).split_off(COUNT as usize - 1);
    last[0].r#type = v1::update::Type::Delete as i32;
    other.write(last).await.unwrap();
    assert_eq!(device.entries(), COUNT as usize - 1);
    writing.await.unwrap().0.unwrap();
}

#[tokio::test]
async fn a_program_comes_before_a_write_or_after_it() {
    let device = Device::start(Some(&large()));
    let first = Controller::connect(&device, 1).await;
    let mut other = Controller::silent(&device, 1).await;
    other.bid_for_role(v1::Role { name: "programs".to_owned(), ..Default::default() }).await;
    let writing = begin(first);
    some_are_there(&device).await;
    other.set_config(Action::VerifyAndCommit, Some(&large())).await.unwrap();
    assert_eq!(count(&mut other).await, 0);
    writing.await.unwrap().0.unwrap();
    assert_eq!(count(&mut other).await, 0);
}

/// A client that disconnects during its write leaves all of it behind, and no client waits.
#[tokio::test]
async fn a_write_whose_client_has_gone_is_there_as_a_whole() {
    let device = Device::start(Some(&large()));
    let writing = begin(Controller::connect(&device, 1).await);
    let mut second = Controller::silent(&device, 7).await;
    some_are_there(&device).await;
    writing.abort();
    assert_eq!(count(&mut second).await, COUNT as usize);
}

/// The requests of a controller that does not wait for responses are still carried out in order.
#[tokio::test]
async fn requests_of_a_role_keep_their_order() {
    let device = Device::start(Some(&large()));
    let first = Controller::connect(&device, 1).await;
    let mut second = Controller::silent(&device, 1).await;
    let mut client = first.client.clone();
    let writing = begin(first);
    some_are_there(&device).await;
    let mut last = routes(info(), COUNT).pop().unwrap();
    last.r#type = v1::update::Type::Delete as i32;
    let election_id = Some(v1::Uint128 { high: 0, low: 1 });
    client
        .write(v1::WriteRequest { device_id: 1, election_id, updates: vec![last], ..Default::default() })
        .await
        .unwrap();
    writing.await.unwrap().0.unwrap();
    assert_eq!(count(&mut second).await, COUNT as usize - 1);
}

/// The requests of clients that do not read the responses.
async fn hold_on(device: &Device, count: usize, wanted: &str) -> Vec<Box<dyn std::any::Any>> {
    let mut held: Vec<Box<dyn std::any::Any>> = Vec::new();
    for _ in 0..count {
        let address = format!("http://{}", device.address());
        let mut client = P4RuntimeClient::connect(address).await.unwrap();
        let request = v1::ReadRequest { device_id: 1, entities: vec![entity(info(), wanted)], ..Default::default() };
        held.push(Box::new(tokio::spawn(async move {
            let _answer = client.read(request).await;
            std::future::pending::<()>().await;
        })));
    }
    held
}

/// Neither a write nor a short read waits for long responses of others, whether these are read or not.
#[tokio::test]
async fn no_client_waits_for_those_that_read_everything() {
    let device = Device::start(Some(&large()));
    let mut first = Controller::connect(&device, 1).await;
    let mut routes = routes(info(), COUNT);
    let mut last = vec![routes.pop().unwrap()];
    first.write(routes).await.unwrap();
    let mut second = Controller::silent(&device, 7).await;
    let _held = hold_on(&device, 60, "table_entry { }").await;
    tokio::time::sleep(Duration::from_millis(50)).await;
    let began = Instant::now();
    first.write(last.clone()).await.unwrap();
    let written = began.elapsed();
    let key =
        r#"table_entry { table_id: $route match { field_id: 1 lpm { value: "\n\000\000\000" prefix_len: 32 } } }"#;
    second.read(&[entity(info(), key)]).await.unwrap();
    let read = began.elapsed() - written;
    last[0].r#type = v1::update::Type::Delete as i32;
    first.write(last).await.unwrap();
    assert!(began.elapsed() < Duration::from_secs(3), "{written:?}, {read:?}, {:?}", began.elapsed());
}

/// What only the switch knows is read while nothing is written, and again if a write was in the way.
#[tokio::test]
async fn a_long_read_of_cells_ends_while_others_write() {
    const CELLS: usize = 20_000;
    let text = ROUTER.replace("(8) last", &format!("({CELLS}) last"));
    let info = program(&text).info;
    let device = Device::start(Some(&text));
    let mut first = Controller::connect(&device, 1).await;
    let mut second = Controller::silent(&device, 7).await;
    let reading = tokio::spawn(async move {
        let wanted = [entity(&info, "register_entry { register_id: $last }"), entity(&info, "table_entry { }")];
        second.read(&wanted).await.unwrap().len()
    });
    let mut update = routes(self::info(), 1);
    let mut rounds = 0;
    while !reading.is_finished() {
        update[0].r#type = v1::update::Type::Insert as i32;
        first.write(update.clone()).await.unwrap();
        update[0].r#type = v1::update::Type::Delete as i32;
        first.write(update.clone()).await.unwrap();
        rounds += 1;
    }
    let found = reading.await.unwrap();
    assert!(found == CELLS || found == CELLS + 1, "{found} of {CELLS} after {rounds} rounds");
}
