//! What gets in between the parts of a long write.

mod support;

use p4runtime_proto::p4::config::v1::P4Info;
use p4runtime_proto::p4::v1;
use p4runtime_proto::p4::v1::set_forwarding_pipeline_config_request::Action;
use std::sync::OnceLock;
use support::{Controller, Device, ROUTER, entity, program, routes, status};
use tokio::task::JoinHandle;
use tonic::{Code, Status};

/// More than are carried out at once, by far.
const COUNT: u32 = 40_000;

/// A router with room for all routes.
fn large() -> String {
    ROUTER.replace("size = 4096;", "size = 65536;")
}

/// What it shows to controllers, made once.
fn info() -> &'static P4Info {
    static INFO: OnceLock<P4Info> = OnceLock::new();
    INFO.get_or_init(|| program(&large()).info)
}

/// A long write of a controller that is primary.
fn begin(mut controller: Controller) -> JoinHandle<(Result<(), Status>, Controller)> {
    let updates = routes(info(), COUNT);
    tokio::spawn(async move { (controller.write(updates).await, controller) })
}

async fn count(controller: &mut Controller) -> usize {
    controller.read(&[entity(info(), "table_entry { table_id: $route }")]).await.unwrap().len()
}

/// Reads until some are there: fewer than all, as the write goes on.
async fn some_are_there(controller: &mut Controller) {
    loop {
        match count(controller).await {
            0 => tokio::task::yield_now().await,
            found => return assert!(found < COUNT as usize, "nobody can read while a controller writes"),
        }
    }
}

#[tokio::test]
async fn reads_get_in_between() {
    let device = Device::start(Some(&large()));
    let first = Controller::connect(&device, 1).await;
    let mut second = Controller::silent(&device, 7).await;
    let writing = begin(first);
    some_are_there(&mut second).await;
    // So does who may not write and is told so.
    assert_eq!(second.write(Vec::new()).await.unwrap_err().code(), Code::PermissionDenied);
    assert!(!writing.is_finished());
    writing.await.unwrap().0.unwrap();
    assert_eq!(count(&mut second).await, COUNT as usize);
}

/// The numbers at the start of the message of a failed write, and the message of the first update that failed.
fn failed(outcome: Result<(), Status>) -> (usize, String) {
    let refused = outcome.expect_err("it was interrupted");
    let message = refused.message().to_owned();
    let number = message.split(' ').next().and_then(|number| number.parse().ok());
    let first = message.split("; ").nth(1).and_then(|first| first.split_once(": ")).map(|(_, why)| why.to_owned());
    (number.unwrap_or_else(|| panic!("{}", status(&refused))), first.unwrap_or(message))
}

#[tokio::test]
async fn who_is_primary_no_more_writes_no_more() {
    let device = Device::start(Some(&large()));
    let writing = begin(Controller::connect(&device, 1).await);
    let mut second = Controller::silent(&device, 2).await;
    some_are_there(&mut second).await;
    second.bid(2).await;
    assert!(second.next().await.contains("you are the primary controller"));
    // From here on, nothing comes of what the other had begun.
    let found = count(&mut second).await;
    let (outcome, _first) = writing.await.unwrap();
    let (refused, why) = failed(outcome);
    let expected = "not tried: election id 1 is not that of the primary of the default role: its primary controller has \
                    election id 2";
    assert_eq!((refused + found, why.as_str()), (COUNT as usize, expected));
    assert_eq!(count(&mut second).await, found);
}

#[tokio::test]
async fn what_was_begun_is_not_for_another_program() {
    let device = Device::start(Some(&large()));
    let writing = begin(Controller::connect(&device, 1).await);
    let mut other = Controller::silent(&device, 1).await;
    other.bid_for_role(v1::Role { name: "programs".to_owned(), ..Default::default() }).await;
    some_are_there(&mut other).await;
    other.set_config(Action::VerifyAndCommit, Some(&large())).await.unwrap();
    assert_eq!(count(&mut other).await, 0);
    let (outcome, _first) = writing.await.unwrap();
    let (_, why) = failed(outcome);
    assert!(why.starts_with("not tried: another program has been set meanwhile"), "{why}");
    assert_eq!(count(&mut other).await, 0);
}

/// A controller that does not wait for answers finds its requests carried out in their order all the same.
#[tokio::test]
async fn requests_of_a_role_keep_their_order() {
    let device = Device::start(Some(&large()));
    let first = Controller::connect(&device, 1).await;
    let mut second = Controller::silent(&device, 1).await;
    let mut client = first.client.clone();
    let writing = begin(first);
    some_are_there(&mut second).await;
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
