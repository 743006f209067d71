//! How long packets wait while a controller changes large arrays, and how much memory that takes. Only measured:
//!
//! ```sh
//! CELLS=64000000 cargo test --release -p p4runtime --test pauses -- --ignored --nocapture
//! ```
#![allow(clippy::print_stdout, reason = "figures for whoever asks for them")]

use crate::support;

use p4runtime_proto::p4::v1::set_forwarding_pipeline_config_request::Action;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;
use support::{Controller, Device, ROUTER, program, update};

/// The router with a register of so many cells.
fn with_cells(cells: u64, of: &str) -> String {
    let declared = format!("register<bit<32>>(8) last; register<{of}>({cells}) large;");
    let used = "large.read(x, (bit<32>)h.byte.value); large.write((bit<32>)h.byte.value, x + 1);";
    ROUTER.replace("register<bit<32>>(8) last;", &declared).replace(
        "    apply {\n        if (h.from",
        &format!("    apply {{\n        {of} x; {used}\n        if (h.from"),
    )
}

/// A figure of this process in MiB, from `/proc/self/status`.
fn mebibytes(figure: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(figure)).unwrap();
    line.trim_start_matches(':').trim().trim_end_matches(" kB").parse::<u64>().unwrap() >> 10
}

#[tokio::test]
#[ignore = "takes gigabytes, and asserts nothing"]
async fn large_registers() {
    let cells: u64 = std::env::var("CELLS").map_or(1_000_000, |cells| cells.parse().unwrap());
    let text = with_cells(cells, "bit<64>");
    let info = program(&text).info;
    let device = Device::start(Some(&text));
    let mut controller = Controller::connect(&device, 1).await;
    println!("{cells} cells, {} MiB", (cells * 8) >> 20);
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
        let watching = device.watch(&is_over);
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
