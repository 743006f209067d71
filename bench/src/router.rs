//! A plain IPv4 router from memory to memory on one core.

use crate::Arguments;
use crate::compiled;
use crate::contest::{Contest, STRIDE_BYTES};
use crate::limit::{Frames, Limit};
use base::Rng;
use live::traffic::{Routes, udp_frame};
use std::error::Error;
use switch::Switch;
use wirespeed::Backend;
use wirespeed::Program;

/// Runs the contestants in turn and prints the cost of a packet for each.
pub fn run(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let mut rng = Rng::new(1);
    let routes = Routes::everywhere(arguments.routes, 2..=4, &mut rng);
    let path = arguments.program.as_deref().unwrap_or("bench/programs/router.p4");
    let program = compiled::program(path)?;
    let contest = Contest {
        benchmark: "router",
        title: format!("IPv4 router, {} routes", arguments.routes),
        program: path,
        frames: frames(&routes, arguments.destinations, &mut rng),
        native: with_routes(&program, Backend::Native, &routes)?,
        interpreter: with_routes(&program, Backend::Interpreter, &routes)?,
        limit: Limit::router(&routes)?,
    };
    contest.run(arguments)
}

/// Frames of 60 bytes to random hosts in the routes' networks.
pub fn frames(routes: &Routes, count: u32, rng: &mut Rng) -> Frames {
    let mut bytes = Vec::with_capacity(count as usize * STRIDE_BYTES);
    for number in 0..count {
        let route = rng.pick(&routes.0);
        let host = rng.next_u64() as u32 & !(u32::MAX << (32 - route.prefix_len));
        bytes.extend(udp_frame(route.network | host, 64, number));
        bytes.resize((number as usize + 1) * STRIDE_BYTES, 0);
    }
    Frames { bytes, stride: STRIDE_BYTES }
}

/// A switch with the routes in its table.
pub fn with_routes(program: &Program, backend: Backend, routes: &Routes) -> Result<Switch, Box<dyn Error>> {
    compiled::switch(program, backend, &routes.commands())
}
