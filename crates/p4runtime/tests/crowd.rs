//! How long a small read and a primary's write take while many clients request much and read nothing of it, or cancel
//! and repeat. Only measured:
//!
//! ```sh
//! CLIENTS=100 ROUTES=100000 cargo test --release -p p4runtime --test it crowd -- --ignored --nocapture
//! ```
#![allow(clippy::print_stdout, reason = "figures for those who run it for them")]

use crate::support;

use p4runtime_proto::p4::config::v1::P4Info;
use p4runtime_proto::p4::v1;
use p4runtime_proto::p4::v1::p4_runtime_client::P4RuntimeClient;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use support::{Controller, Device, ROUTER, entity, mebibytes, program, routes};
use tonic::transport::Endpoint;

fn number(variable: &str, usual: u32) -> u32 {
    std::env::var(variable).map_or(usual, |text| text.parse().unwrap())
}

/// A client whose library buffers little.
async fn client(device: &Device) -> P4RuntimeClient<tonic::transport::Channel> {
    let endpoint = Endpoint::from_shared(format!("http://{}", device.address())).unwrap();
    let endpoint = endpoint.initial_stream_window_size(1 << 16).initial_connection_window_size(1 << 16);
    P4RuntimeClient::new(endpoint.connect().await.unwrap())
}

/// Durations of something that was done again and again.
#[derive(Default)]
struct Durations(Vec<Duration>);

impl Durations {
    fn shown(&mut self) -> String {
        self.0.sort();
        let (median, worst) = (self.0[self.0.len() / 2], self.0[self.0.len() - 1]);
        format!("{:.1?} median, {:.1?} worst of {}", median, worst, self.0.len())
    }
}

async fn measure(what: &str, info: &P4Info, [primary, other]: [&mut Controller; 2], count: u32) {
    let small = [entity(info, "table_entry { table_id: $route is_default_action: true }")];
    let mut update = routes(info, count).split_off(count as usize - 1);
    update[0].r#type = v1::update::Type::Modify as i32;
    let (mut reads, mut of_others, mut writes) = (Durations::default(), Durations::default(), Durations::default());
    let began = Instant::now();
    while began.elapsed() < Duration::from_secs(10) {
        let start = Instant::now();
        primary.read(&small).await.unwrap();
        reads.0.push(start.elapsed());
        let start = Instant::now();
        other.read(&small).await.unwrap();
        of_others.0.push(start.elapsed());
        let start = Instant::now();
        primary.write(update.clone()).await.unwrap();
        writes.0.push(start.elapsed());
    }
    println!("{what}, memory {} MiB, at most {} MiB", mebibytes("VmRSS"), mebibytes("VmHWM"));
    println!("  primary's small read   {}", reads.shown());
    println!("  another's small read   {}", of_others.shown());
    println!("  primary's write        {}", writes.shown());
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "takes a minute, and asserts nothing"]
async fn clients_that_do_not_read() {
    let (clients, count) = (number("CLIENTS", 100), number("ROUTES", 100_000));
    let text = ROUTER.replace("size = 4096;", "size = 131072;").replace(
        "register<bit<32>>(8) last;",
        &format!("register<bit<32>>(8) last; counter({count}, CounterType.packets) rx;"),
    );
    let device = Device::start(Some(&text));
    let info = program(&text).info;
    let mut primary = Controller::connect(&device, 2).await;
    let mut other = Controller::silent(&device, 1).await;
    primary.write(routes(&info, count)).await.unwrap();
    measure("no other client", &info, [&mut primary, &mut other], count).await;

    let request = |text: &str| {
        let entities = vec![entity(&info, text)];
        v1::ReadRequest { device_id: 1, entities, ..Default::default() }
    };
    let (routes, counters) = (request("table_entry { table_id: $route }"), request("counter_entry { }"));
    let mut unread = Vec::new();
    for number in 0..clients {
        let mut client = client(&device).await;
        let request = if number % 4 == 3 { counters.clone() } else { routes.clone() };
        unread.push(tokio::spawn(async move {
            // The messages of the answer are not requested.
            let _answer = client.read(request).await;
            std::future::pending::<()>().await;
        }));
    }
    measure(&format!("{clients} clients that do not read"), &info, [&mut primary, &mut other], count).await;

    let (stop, cancelled) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
    for number in 0..clients / 4 {
        let mut client = client(&device).await;
        let request = if number % 2 == 1 { counters.clone() } else { routes.clone() };
        let (stop, cancelled) = (Arc::clone(&stop), Arc::clone(&cancelled));
        unread.push(tokio::spawn(async move {
            while !stop.load(Ordering::Relaxed) {
                let timeout = Duration::from_millis(5 + u64::from(number));
                let _gone = tokio::time::timeout(timeout, client.read(request.clone())).await;
                cancelled.fetch_add(1, Ordering::Relaxed);
            }
        }));
    }
    measure("and a quarter as many that cancel and repeat", &info, [&mut primary, &mut other], count).await;
    stop.store(true, Ordering::Relaxed);
    println!("{} requests were cancelled", cancelled.load(Ordering::Relaxed));
    unread.iter().for_each(tokio::task::JoinHandle::abort);
}
