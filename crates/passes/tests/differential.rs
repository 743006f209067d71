//! Random programs before and after passes: the interpreter sees no difference, packet by packet.

use base::index::Id as _;
use base::{Bits, Rng, Span};
use interp::{Decision, Interpreter, NoTrace, Outcome, PacketState};
use ir::v1model::Slot;
use ir::{
    BinaryOp, BlockKind, Entry, Expr, ExprKind, LabelId, PointId, Program, Stmt, StmtKind, TableId, Var, VarId, VarKind,
};
use passes::inline::inline_all;
use passes::{Pass, pipelines, unroll};
use testkit::outline::outline;
use testkit::plain_host::{Effects, PlainHost};
use testkit::random_ir::{Options, random_entries, random_packet, random_program};

/// What a packet's way through all blocks leaves behind, block by block, but for the values of local storage and the
/// positions in stacks, which passes need not keep where nothing reads them.
#[derive(PartialEq, Debug)]
struct Result {
    outcomes: Vec<Outcome>,
    decisions: Vec<Decision>,
    vars: Vec<Bits>,
    headers: Vec<interp::HeaderState>,
    cursor: usize,
    output: Vec<u8>,
}

/// Sends packets through all blocks of a program.
fn play(program: &Program, entries: &[(TableId, Entry)], packets: &[Vec<u8>]) -> (Vec<Result>, Effects) {
    let mut host = PlainHost::new(program, entries.to_vec(), 1);
    let interpreter = Interpreter::new(program);
    let mut results = Vec::new();
    for (number, packet) in packets.iter().enumerate() {
        let mut state = PacketState::new(program, packet.clone());
        state.set_intrinsic(Slot::IngressPort, number as u64);
        state.set_intrinsic(Slot::PacketLength, packet.len() as u64);
        state.set_intrinsic(Slot::IngressGlobalTimestamp, 1_000_000_007 * number as u64);
        let (mut outcomes, mut decisions) = (Vec::new(), Vec::new());
        for block in program.blocks.ids() {
            outcomes.push(interpreter.run_block(block, &mut state, &mut host, &mut NoTrace));
            for (point, info) in program.decisions.ids().zip(program.architecture.points) {
                if info.before == block.index() + 1 {
                    decisions.push(interpreter.decide(point, &mut state));
                }
            }
        }
        let is_position = |id| program.stacks.iter().any(|stack| stack.next == id);
        let lasting = program.vars.iter_enumerated().filter(|(_, var)| var.kind != VarKind::Local);
        let lasting = lasting.filter(|(id, _)| !is_position(*id));
        let vars = lasting.map(|(id, _)| state.var(id)).collect();
        let lasting = program.headers.iter_enumerated().filter(|(_, header)| header.metadata);
        let headers = lasting.map(|(id, _)| state.header(id).clone()).collect();
        results.push(Result { outcomes, decisions, vars, headers, cursor: state.cursor, output: state.output });
    }
    (results, host.effects)
}

/// Runs a pipeline over random programs. Returns how many programs it changed.
fn compare(pipeline: &[Pass], seeds: std::ops::Range<u64>, options: &Options) -> u32 {
    compare_made(pipeline, seeds, options, &|_, _| {})
}

/// The same with programs that something else is done to before.
fn compare_made(
    pipeline: &[Pass],
    seeds: std::ops::Range<u64>,
    options: &Options,
    change: &dyn Fn(&mut Rng, &mut Program),
) -> u32 {
    let mut changed = 0;
    for seed in seeds {
        let mut rng = Rng::new(seed);
        let mut program = random_program(&mut rng, options);
        change(&mut rng, &mut program);
        let entries = random_entries(&mut rng, &program);
        let packets: Vec<_> = (0..6).map(|_| random_packet(&mut rng, &program)).collect();
        let mut optimised = program.clone();
        if let Err(broken) = passes::run(&mut optimised, pipeline, true) {
            panic!("seed {seed}: {broken}\n{}", ir::text::print(&program));
        }
        changed += u32::from(optimised != program);
        let (before, after) = (play(&program, &entries, &packets), play(&optimised, &entries, &packets));
        if before != after {
            let first = before.0.iter().zip(&after.0).find(|(before, after)| before != after);
            let (before_text, after_text) = (ir::text::print(&program), ir::text::print(&optimised));
            panic!("seed {seed}: {first:#?}\n{:?}\n{:?}\n{before_text}\n{after_text}", before.1, after.1);
        }
    }
    changed
}

/// Makes the statements at the end of each control the arms of a chain of comparisons with one variable, or of a row.
fn put_in_chains(rng: &mut Rng, program: &mut Program) {
    // A local variable is one block's only.
    let is_fit = |var: &Var| var.kind != VarKind::Local && (2..=64).contains(&var.ty.width());
    let vars: Vec<VarId> = program.vars.ids().filter(|&var| is_fit(&program.vars[var])).collect();
    for block in program.blocks.iter_mut() {
        let BlockKind::Control { body } = &mut block.kind else { continue };
        let var = vars[rng.below(vars.len() as u64) as usize];
        let ty = program.vars[var].ty;
        let value = Expr { kind: ExprKind::Var(var), ty };
        let stmts = body.split_off(rng.below(body.len() as u64 / 2 + 1) as usize);
        let mut arms = Vec::new();
        for stmt in stmts {
            let equal = |rng: &mut Rng| {
                let constant = Expr::constant(ty, Bits::from_u64(ty.width(), rng.below(4)));
                Expr::binary(BinaryOp::Eq, value.clone(), constant)
            };
            let mut cond = equal(rng);
            if rng.chance(1, 4) {
                cond = Expr::binary(BinaryOp::LogicalOr, cond, equal(rng));
            }
            arms.push((cond, stmt));
        }
        if rng.chance(1, 2) {
            body.extend(row(arms, &mut program.labels));
        } else {
            body.extend(chain(arms));
        }
    }
}

/// Decides about a request that the program may make or not.
fn ask_in_vain(_: &mut Rng, program: &mut Program) {
    let slot = Slot::McastGrp;
    let kind = VarKind::Intrinsic(slot as u32);
    let known = program.vars.ids().find(|id| program.vars[*id].kind == kind);
    let group = known.unwrap_or_else(|| program.vars.push(Var { name: "mcast_grp".into(), ty: slot.ty(), kind }));
    let ty = program.vars[group].ty;
    let is_set =
        Expr::binary(BinaryOp::Ne, Expr { kind: ExprKind::Var(group), ty }, Expr::constant(ty, Bits::zero(ty.width())));
    let then_body = vec![Stmt { kind: StmtKind::Punt(slot as u32), span: Span::NONE }];
    let kind = StmtKind::If { cond: is_set, then_body, else_body: Vec::new() };
    program.decisions[PointId::from_index(0)].insert(0, Stmt { kind, span: Span::NONE });
}

/// Each arm where all before are passed by.
fn chain(arms: Vec<(Expr, Stmt)>) -> Vec<Stmt> {
    arms.into_iter().rev().fold(Vec::new(), |else_body, (cond, stmt)| {
        let span = stmt.span;
        vec![Stmt { kind: StmtKind::If { cond, then_body: vec![stmt], else_body }, span }]
    })
}

/// The arms one behind the other, in a block that each of them leaves.
fn row(arms: Vec<(Expr, Stmt)>, labels: &mut u32) -> Vec<Stmt> {
    let label = LabelId::from_index(*labels as usize);
    *labels += 1;
    let arm = |(cond, stmt): (Expr, Stmt)| {
        let span = stmt.span;
        let then_body = vec![stmt, Stmt { kind: StmtKind::Leave(label), span }];
        Stmt { kind: StmtKind::If { cond, then_body, else_body: Vec::new() }, span }
    };
    let body: Vec<Stmt> = arms.into_iter().map(arm).collect();
    let span = body.first().map_or(Span::NONE, |stmt| stmt.span);
    vec![Stmt { kind: StmtKind::Block { label, body }, span }]
}

#[test]
fn each_pass_keeps_the_meaning() {
    for (number, pass) in pipelines::ALL.iter().enumerate() {
        let start = 1000 * (number as u64 + 1);
        // A stack that is indexed somewhere is left alone, and only what names elements leaves positions unread.
        let pipeline = if pass.name == "unread" { vec![unroll::PASS, *pass] } else { vec![*pass] };
        let indexed_stacks = !["unroll", "unread"].contains(&pass.name);
        let options = Options { indexed_stacks, ..Options::default() };
        let change: fn(&mut Rng, &mut Program) = match pass.name {
            "chains" => put_in_chains,
            "inline" => outline,
            "unrequested" => ask_in_vain,
            _ => |_, _| {},
        };
        let changed = compare_made(&pipeline, start..start + 150, &options, &change);
        assert!(changed > 5, "{} changed {changed} of 150 programs", pass.name);
    }
}

#[test]
fn the_standard_pipeline_keeps_the_meaning() {
    let changed =
        compare(pipelines::STANDARD, 0..200, &Options { statements: 16, plug_in: true, ..Options::default() });
    assert!(changed > 190, "{changed} of 200");
}

#[test]
fn so_do_programs_whose_stacks_have_names_only() {
    let options = Options { indexed_stacks: false, ..Options::default() };
    compare(pipelines::STANDARD, 5000..5300, &options);
}

/// Narrow values and small expressions, so that branches, copies and hits coincide more often.
#[test]
fn narrow_programs_keep_their_meaning() {
    let options = Options { width_bits_max: 3, expression_height: 2, statements: 24, ..Options::default() };
    compare(pipelines::STANDARD, 5000..5200, &options);
}

/// Values of one and two bits under deep expressions, so that every operator meets equal operands and the ends of its
/// range.
#[test]
fn expressions_keep_their_values() {
    let options = Options {
        width_bits_max: 2,
        expression_height: 4,
        statements: 30,
        match_kinds: Vec::new(),
        externs: false,
        ..Options::default()
    };
    compare(&[passes::simplify::PASS], 7000..7300, &options);
}

#[test]
fn the_pipeline_is_idempotent_enough_to_be_run_twice() {
    let twice: Vec<Pass> = pipelines::STANDARD.iter().chain(pipelines::STANDARD).copied().collect();
    compare(&twice, 9000..9050, &Options::default());
}

#[test]
fn calls_of_routines_are_what_stands_in_them() {
    let options = Options { statements: 24, ..Options::default() };
    let mut routines = 0;
    for seed in 11_000..11_200 {
        let mut rng = Rng::new(seed);
        let mut called = random_program(&mut rng, &options);
        outline(&mut rng, &mut called);
        ir::verify(&called).unwrap_or_else(|errors| panic!("seed {seed}: {errors:#?}"));
        assert_eq!(ir::text::parse(&ir::text::print(&called)).as_ref(), Ok(&called), "seed {seed}");
        routines += called.routines.len();
        let mut inlined = called.clone();
        inline_all(&mut inlined);
        let entries = random_entries(&mut rng, &called);
        let packets: Vec<_> = (0..6).map(|_| random_packet(&mut rng, &called)).collect();
        let (here, there) = (play(&called, &entries, &packets), play(&inlined, &entries, &packets));
        assert_eq!(here, there, "seed {seed}\n{}", ir::text::print(&called));
    }
    assert!(routines > 1000, "{routines}");
}

#[test]
fn passes_keep_the_meaning_of_routines() {
    for (number, pass) in pipelines::ALL.iter().enumerate() {
        let start = 12_000 + 100 * number as u64;
        compare_made(&[*pass], start..start + 60, &Options::default(), &outline);
    }
    let options = Options { width_bits_max: 3, expression_height: 2, statements: 24, ..Options::default() };
    compare_made(pipelines::STANDARD, 13_000..13_200, &options, &outline);
    let options = Options { indexed_stacks: false, ..Options::default() };
    compare_made(pipelines::STANDARD, 13_500..13_600, &options, &outline);
}
