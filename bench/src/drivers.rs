//! Drivers compared: the example router between two pairs of virtual interfaces, and between generators in memory.
//! [`measure::veth`] describes the method and the figures. The drivers run in turn. Requires root and `ip`.

use crate::Arguments;
use crate::compiled;
use base::Rng;
use live::traffic::Routes;
use measure::figures::{median, range};
use measure::veth::{Carrier, Outcome, Pairs};
use serde_json::json;
use std::error::Error;
use wirespeed::Backend;

/// Distinct frames.
const FRAMES: u32 = 4096;

/// Runs the benchmark and prints it.
pub fn run(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let mut rng = Rng::new(1);
    let routes = Routes::random(arguments.routes, 2..=2, &mut rng);
    let frames = routes.frames(FRAMES, &mut rng);
    let lent: Vec<&[u8]> = frames.iter().map(Vec::as_slice).collect();
    let program = compiled::program("apps/l3fwd/l3fwd.p4")?;
    let pairs = Pairs::new()?;
    let mut figures = [const { Vec::new() }; Carrier::ALL.len()];
    for _ in 0..arguments.runs {
        for (carrier, outcomes) in Carrier::ALL.into_iter().zip(&mut figures) {
            let mut switch = crate::router::with_routes(&program, Backend::Native, &routes)?;
            outcomes.push(pairs.measure(carrier, &mut switch, 1, &lent)?);
        }
    }
    print(arguments, &figures);
    Ok(())
}

fn print(arguments: &Arguments, figures: &[Vec<Outcome>]) {
    let switch = |outcomes: &[Outcome]| outcomes.iter().map(|it| it.switch_ns).collect::<Vec<f64>>();
    let sender = |outcomes: &[Outcome]| outcomes.iter().map(|it| it.sender_ns).collect::<Vec<f64>>();
    if arguments.json {
        let contestants: serde_json::Map<_, _> = Carrier::ALL
            .iter()
            .zip(figures)
            .map(|(it, outcomes)| {
                (it.name().to_owned(), json!({ "switch_ns": switch(outcomes), "sender_ns": sender(outcomes) }))
            })
            .collect();
        println!("{}", json!({ "benchmark": "drivers", "routes": arguments.routes, "contestants": contestants }));
        return;
    }
    println!("IPv4 router, {} routes, 60-byte frames, between two veth pairs", arguments.routes);
    println!("processor time per frame, median of {} runs in turn (least to greatest)", arguments.runs);
    println!("{:<26}{:>38}{:>38}", "", "switch", "sender, and reception in the kernel");
    let (first_switch, first_sender) = (median(&switch(&figures[0])), median(&sender(&figures[0])));
    let cell = |figures: &[f64], first: f64| {
        let ((least, most), middle) = (range(figures), median(figures));
        format!("{middle:.0} ns ({least:.0} to {most:.0}), {:.2} times", middle / first)
    };
    for (contestant, outcomes) in Carrier::ALL.iter().zip(figures) {
        let (switch, sender) = (cell(&switch(outcomes), first_switch), cell(&sender(outcomes), first_sender));
        println!("  {:<24}{switch:>38}{sender:>38}", contestant.name());
    }
}
