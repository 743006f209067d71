//! The workers of a switch, for people and for programs.

use crate::grid::grid;
use p4runtime_proto::wirespeed::v1::{WorkerLoad, WorkersResponse};
use serde_json::{Value as Json, json};

/// How many there are, why, and a row for each.
pub fn workers_text(workers: &WorkersResponse) -> String {
    let WorkersResponse { now, max, is_auto, remark, loads, code } = workers;
    let why = if *is_auto { ", as the load requires" } else { "" };
    let mut text = format!("{now} of at most {max}{why}\n");
    if !remark.is_empty() {
        text += &format!("not in parallel: {remark}\n");
    }
    if !code.is_empty() {
        text += &format!("specialised code: {code}\n");
    }
    let header = ["worker", "packets", "busy"].map(str::to_owned).to_vec();
    let row = |(worker, load): (usize, &WorkerLoad)| {
        let all_ns = load.busy_ns.saturating_add(load.waited_ns).max(1);
        let percent = load.busy_ns as f64 * 100.0 / all_ns as f64;
        vec![worker.to_string(), load.packets.to_string(), format!("{percent:.1} %")]
    };
    text + &grid(std::iter::once(header).chain(loads.iter().enumerate().map(row)).collect())
}

/// The same as an object.
pub fn workers_json(workers: &WorkersResponse) -> Json {
    let WorkersResponse { now, max, is_auto, remark, loads, code } = workers;
    let load = |(worker, load): (usize, &WorkerLoad)| {
        let seconds = |ns: u64| ns as f64 / 1e9;
        let (busy_s, waiting_s) = (seconds(load.busy_ns), seconds(load.waited_ns));
        json!({"worker": worker, "packets": load.packets, "busy_seconds": busy_s, "waiting_seconds": waiting_s})
    };
    json!({
        "workers": now,
        "max": max,
        "auto": is_auto,
        "remark": remark,
        "code": code,
        "loads": loads.iter().enumerate().map(load).collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    #[test]
    fn workers_are_shown_with_their_work() {
        let load = |packets, busy_ns| WorkerLoad { packets, busy_ns, waited_ns: 1_000_000_000 };
        let loads = vec![load(12, 1_000_000_000), load(3456, 0)];
        let remark = "packets must take turns at register I.r".to_owned();
        let code = "I.acl is empty, I.route has 1 entry".to_owned();
        let mut workers = WorkersResponse { now: 2, max: 4, is_auto: true, remark, loads, code };
        expect![[r#"
            2 of at most 4, as the load requires
            not in parallel: packets must take turns at register I.r
            specialised code: I.acl is empty, I.route has 1 entry
            worker  packets  busy
            0       12       50.0 %
            1       3456     0.0 %"#]]
        .assert_eq(&workers_text(&workers));
        workers.loads.truncate(1);
        expect![[
            r#"{"auto":true,"code":"I.acl is empty, I.route has 1 entry","loads":[{"busy_seconds":1.0,"packets":12,"waiting_seconds":1.0,"worker":0}],"max":4,"remark":"packets must take turns at register I.r","workers":2}"#
        ]]
        .assert_eq(&workers_json(&workers).to_string());
    }
}
