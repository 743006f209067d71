//! Idle entries are reported to the primary controller.

use crate::support;

use expect_test::expect;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use support::{Controller, Device, ROUTE, ROUTER, program, update};

#[tokio::test]
async fn idle_entries_are_reported_while_they_are_idle() {
    let text = ROUTER.replace("size = 4096;", "size = 4096; support_timeout = true;");
    let device = Device::start(Some(&text));
    let mut controller = Controller::connect(&device, 1).await;
    let route = ROUTE.replacen("action {", "metadata: \"mine\" idle_timeout_ns: 50000000 action {", 1);
    let info = program(&text).info;
    controller.write(vec![update(&info, &route)]).await.unwrap();
    let text = controller.next().await;
    let text = text.replace(&info.tables[0].preamble.as_ref().unwrap().id.to_string(), "route");
    let lines: String = text.lines().filter(|line| !line.contains("timestamp")).map(|it| format!("{it}\n")).collect();
    expect![[r#"
        idle_timeout_notification {
          table_entry {
            table_id: route
            match {
              field_id: 1
              lpm {
                value: "\n\000\000\000"
                prefix_len: 8
              }
            }
            idle_timeout_ns: 50000000
            metadata: "mine"
          }
        }
    "#]]
    .assert_eq(&lines);
    // It still is.
    assert!(controller.next().await.starts_with("idle_timeout_notification"));
}

#[tokio::test]
async fn a_switch_that_answers_late_does_not_put_off_reports() {
    let text = ROUTER.replace("size = 4096;", "size = 4096; support_timeout = true;");
    let device = Device::start(Some(&text));
    let mut controller = Controller::connect(&device, 1).await;
    let route = ROUTE.replacen("action {", "idle_timeout_ns: 50000000 action {", 1);
    controller.write(vec![update(&program(&text).info, &route)]).await.unwrap();
    let is_over = Arc::new(AtomicBool::new(false));
    let busy = [(), ()].map(|()| {
        let (queue, is_over) = (device.command_queue(), Arc::clone(&is_over));
        thread::spawn(move || {
            while !is_over.load(Ordering::Relaxed) {
                queue.ask(|_| thread::sleep(Duration::from_millis(20))).unwrap();
            }
        })
    });
    let begin = Instant::now();
    for _ in 0..10 {
        assert!(controller.next().await.starts_with("idle_timeout_notification"));
    }
    let took = begin.elapsed();
    is_over.store(true, Ordering::Relaxed);
    busy.into_iter().for_each(|it| it.join().unwrap());
    assert!(took < Duration::from_secs(3), "ten reports in {took:?}");
}
