//! The timers of ports, for people and for programs.

use crate::grid::grid;
use crate::language::duration_text;
use p4runtime_proto::wirespeed::v1::{PortTimer, TimersResponse};
use serde_json::{Value as Json, json};

/// A row for each timer.
pub fn timers_text(timers: &TimersResponse) -> String {
    if timers.timers.is_empty() {
        return "no port has a timer".to_owned();
    }
    let header = ["port", "period", "packets", "bytes", "ticks", "missed"].map(str::to_owned).to_vec();
    let row = |timer: &PortTimer| {
        let PortTimer { port, period_ns, packets, bytes, ticks, missed } = timer;
        let period = match period_ns {
            0 => "stopped".to_owned(),
            period_ns => duration_text(i64::try_from(*period_ns).unwrap_or(i64::MAX)),
        };
        let numbers = [u64::from(*packets), *bytes, *ticks, *missed].map(|number| number.to_string());
        [vec![port.to_string(), period], numbers.to_vec()].concat()
    };
    grid(std::iter::once(header).chain(timers.timers.iter().map(row)).collect())
}

/// The same as a list of objects. A timer that is stopped has the period 0.
pub fn timers_json(timers: &TimersResponse) -> Json {
    let object = |timer: &PortTimer| {
        let PortTimer { port, period_ns, packets, bytes, ticks, missed } = timer;
        json!({
            "port": port, "period_ns": period_ns, "packets": packets, "bytes": bytes, "ticks": ticks, "missed": missed,
        })
    };
    timers.timers.iter().map(object).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    #[test]
    fn timers_are_shown_with_their_packets() {
        let timer = |port, period_ns, missed| PortTimer { port, period_ns, packets: 1, bytes: 60, ticks: 7, missed };
        let timers = vec![timer(9, 50_000_000, 2), timer(10, 0, 0)];
        let timers = TimersResponse { timers, remark: String::new() };
        expect![[r#"
            port  period   packets  bytes  ticks  missed
            9     50ms     1        60     7      2
            10    stopped  1        60     7      0"#]]
        .assert_eq(&timers_text(&timers));
        expect![[
            r#"[{"bytes":60,"missed":2,"packets":1,"period_ns":50000000,"port":9,"ticks":7},{"bytes":60,"missed":0,"packets":1,"period_ns":0,"port":10,"ticks":7}]"#
        ]]
        .assert_eq(&timers_json(&timers).to_string());
        assert_eq!(timers_text(&TimersResponse::default()), "no port has a timer");
    }
}
