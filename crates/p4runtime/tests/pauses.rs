//! How long packets wait while a controller changes large arrays, and how much memory that takes. Only measured:
//!
//! ```sh
//! CELLS=64000000 cargo test --release -p p4runtime --test it pauses -- --ignored --nocapture
//! ```
//!
//! `WRITES=1000` has packets write that many cells at random each millisecond.
#![allow(clippy::print_stdout, reason = "figures for those who run it for them")]

use crate::support;

use base::Bits;
use p4runtime_proto::p4::v1::set_forwarding_pipeline_config_request::Action;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use support::{Controller, Device, ROUTER, mebibytes, program, update};
use switch::Switch;

/// The router with a register of `cells` cells.
fn with_cells(cells: u64, of: &str) -> String {
    let declared = format!("register<bit<32>>(8) last; register<{of}>({cells}) large;");
    let used = "large.read(x, (bit<32>)h.byte.value); large.write((bit<32>)h.byte.value, x + 1);";
    ROUTER.replace("register<bit<32>>(8) last;", &declared).replace(
        "    apply {\n        if (h.from",
        &format!("    apply {{\n        {of} x; {used}\n        if (h.from"),
    )
}

/// The longest time that packets waited, until it is over. `writes` cells of the large register are written at random
/// each millisecond.
fn watch_and_write(device: &Device, is_over: &Arc<AtomicBool>, writes: u64) -> JoinHandle<Duration> {
    let (command_queue, is_over) = (device.command_queue(), Arc::clone(is_over));
    std::thread::spawn(move || {
        let (mut rng, mut longest) = (base::Rng::new(1), Duration::ZERO);
        while !is_over.load(Ordering::Relaxed) {
            let numbers: Vec<u64> = (0..writes / 5).map(|_| rng.next_u64()).collect();
            let asked = Instant::now();
            let write = move |switch: &mut Switch| {
                let large = switch.externs_mut().registers.iter_mut().max_by_key(|it| it.size);
                if let Some(large) = large {
                    let value = Bits::from_u64(large.width_bits, 9);
                    let written = numbers.iter().filter(|number| large.write(*number % large.size, &value)).count();
                    assert_eq!(written, numbers.len());
                }
            };
            command_queue.ask(write).unwrap();
            longest = longest.max(asked.elapsed());
            std::thread::sleep(Duration::from_micros(200));
        }
        longest
    })
}

#[tokio::test]
#[ignore = "takes gigabytes, and asserts nothing"]
async fn large_registers() {
    let cells: u64 = std::env::var("CELLS").map_or(1_000_000, |cells| cells.parse().unwrap());
    let text = with_cells(cells, "bit<64>");
    let info = program(&text).info;
    let device = Device::start(Some(&text));
    let mut controller = Controller::connect(&device, 1).await;
    let writes: u64 = std::env::var("WRITES").map_or(0, |writes| writes.parse().unwrap());
    println!("{cells} cells, {} MiB, {writes} cells written each millisecond", (cells * 8) >> 20);
    let steps = [
        ("write of all cells", None),
        ("another", None),
        (
            "reconciliation, the same register",
            Some(text.replace("state payload", "state load").replace("payload;", "load;")),
        ),
        ("reconciliation, a wider type", Some(with_cells(cells, "bit<96>"))),
        ("reconciliation, a narrower type", Some(with_cells(cells, "bit<33>"))),
        ("reconciliation, more cells", Some(with_cells(cells + 1000, "bit<33>"))),
    ];
    for (value, (what, text)) in steps.into_iter().enumerate() {
        let is_over = Arc::new(AtomicBool::new(false));
        let watching = watch_and_write(&device, &is_over, writes);
        // The highest figure begins anew.
        let _unless_forbidden = std::fs::write("/proc/self/clear_refs", "5");
        let began = Instant::now();
        match text {
            None => {
                let all = format!(
                    "type: MODIFY entity {{ register_entry {{ register_id: $large data {{ bitstring: \"\\00{}\" }} }} }}",
                    value + 1
                );
                controller.write(vec![update(&info, &all)]).await.unwrap();
            }
            Some(text) => drop(controller.set_config(Action::ReconcileAndCommit, Some(&text)).await.unwrap()),
        }
        let took = began.elapsed();
        is_over.store(true, Ordering::Relaxed);
        let longest = watching.join().unwrap();
        println!(
            "{what}: {took:.1?}, packets waited {longest:.1?} at most, memory {} MiB, at most {} MiB",
            mebibytes("VmRSS"),
            mebibytes("VmHWM")
        );
    }
}
