//! The random generators: their output is valid, is reproduced by its seed, and packets get far.

use base::Rng;
use base::index::Id as _;
use interp::{Event, Interpreter, NoTrace, PacketState, Tracer};
use testkit::plain_host::PlainHost;
use testkit::random_ir::{Options, random_entries, random_packet, random_program};

fn all_options(rng: &mut Rng) -> Options {
    let (requests, plug_in) = (rng.chance(1, 2), rng.chance(1, 2));
    Options { requests, plug_in, statements: rng.between(1, 20) as u32, ..Options::default() }
}

#[test]
fn programs_are_valid_and_survive_the_text_form() {
    for seed in 0..400 {
        let mut rng = Rng::new(seed);
        let options = all_options(&mut rng);
        let program = random_program(&mut rng, &options);
        let text = ir::text::print(&program);
        if let Err(errors) = ir::verify(&program) {
            panic!("seed {seed}: {errors:#?}\n{text}");
        }
        match ir::text::parse(&text) {
            Ok(read) => assert_eq!(ir::text::print(&read), text, "seed {seed}"),
            Err(error) => panic!("seed {seed}: {error}\n{text}"),
        }
        assert_eq!(ir::text::parse(&text).as_ref(), Ok(&program), "seed {seed}");
        assert_eq!(ir::text::parse(&ir::text::print_annotated(&program)), Ok(program), "seed {seed}");
    }
}

#[test]
fn equal_seeds_give_equal_programs_packets_and_entries() {
    let make = || {
        let mut rng = Rng::new(5);
        let program = random_program(&mut rng, &Options::default());
        (random_packet(&mut rng, &program), random_entries(&mut rng, &program), program)
    };
    assert_eq!(make(), make());
}

/// Counts of events.
#[derive(Default, Debug)]
struct Tally {
    states: u32,
    hits: u32,
    misses: u32,
    emits: u32,
    accepts: u32,
    errors: u32,
}

impl Tracer for Tally {
    fn event(&mut self, _span: base::Span, event: Event<'_>) {
        match event {
            Event::StateEntered { .. } => self.states += 1,
            Event::TableApplied { lookup, .. } if lookup.hit() => self.hits += 1,
            Event::TableApplied { .. } => self.misses += 1,
            Event::Emitted { .. } => self.emits += 1,
            Event::ParserDone { accepted: true } => self.accepts += 1,
            Event::ParserError { .. } => self.errors += 1,
            _ => {}
        }
    }
}

#[test]
fn packets_get_through_parsers_and_entries_are_hit() {
    let mut tally = Tally::default();
    for seed in 0..100 {
        let mut rng = Rng::new(seed);
        let program = random_program(&mut rng, &Options::default());
        let entries = random_entries(&mut rng, &program);
        let mut host = PlainHost::new(&program, entries, seed);
        for _ in 0..5 {
            let mut state = PacketState::new(&program, random_packet(&mut rng, &program));
            for block in program.blocks.ids() {
                Interpreter::new(&program).run_block(block, &mut state, &mut host, &mut tally);
            }
        }
    }
    assert!(tally.states > 800, "{tally:?}");
    assert!(tally.hits > 100 && tally.misses > 100, "{tally:?}");
    assert!(tally.accepts > 100 && tally.errors > 50 && tally.emits > 200, "{tally:?}");
}

#[test]
fn a_run_is_reproduced() {
    for seed in 0..50 {
        let mut rng = Rng::new(seed);
        let program = random_program(&mut rng, &Options::default());
        let packet = random_packet(&mut rng, &program);
        let run = || {
            let mut host = PlainHost::new(&program, Vec::new(), seed);
            let mut state = PacketState::new(&program, packet.clone());
            let outcomes: Vec<_> = (0..program.blocks.len())
                .map(|block| {
                    let block = ir::BlockId::from_index(block);
                    Interpreter::new(&program).run_block(block, &mut state, &mut host, &mut NoTrace)
                })
                .collect();
            (outcomes, state, host.effects)
        };
        assert_eq!(run(), run(), "seed {seed}");
    }
}
