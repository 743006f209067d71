//! The plan of a program, for people and for tools.
//!
//! What enters: a program and its [`Plan`]. What leaves: a [`Description`], which can be printed and turned into JSON:
//! how many packets run together, the fast path and its batch stages, where variables and headers are stored, how
//! tables are looked up, and for which state workers need a guard, each with its reason.
//!
//! Nothing here decides anything. What the code generator finds out later (constant values, dead stores) is not part of
//! the plan and is not described.

mod names;
mod text;

use crate::plan::fast_path::{FastPath, NoFastPath, ORIGINAL_BYTES_MAX, SAVED_STATE_BYTES_MAX};
use crate::plan::graph::{End, Graph, Uncut};
use crate::plan::sharing::{Sharing, WholeProgram};
use crate::plan::state::{self, Serialised};
use crate::plan::walk::Item;
use crate::plan::{NAMED_ELEMENTS_MAX, Plan, key_fields, stack_of};
use crate::tuning::Tuning;
use base::OrderedSet;
use base::limits::HEADROOM_BYTES;
use ir::{BlockKind, Effect, FieldType, Program, RegisterId, StackId, StmtKind, TableId, VarId, VarKind};
use names::Names;
use serde::Serialize;
use tables::{Snapshot, Table, TableSpec};

/// The plan of a program.
#[derive(Clone, Debug, Serialize)]
pub struct Description {
    /// `v1model` or `psa`.
    pub architecture: &'static str,
    /// The most packets that run through the program together.
    pub burst_packets: u32,
    /// Why it is this many.
    pub burst_reason: String,
    /// What was tuned, if anything.
    pub tuning: Option<Tuning>,
    /// The fast path, if there is one.
    pub fast_path: Option<FastPathDescription>,
    /// Why there is none.
    pub no_fast_path_reason: Option<String>,
    /// The blocks, for packets that do not take the fast path.
    pub blocks: Vec<BlockDescription>,
    /// Bytes of context of each packet in flight.
    pub context_bytes: u32,
    /// The variables.
    pub variables: Vec<Placed>,
    /// The headers.
    pub headers: Vec<Placed>,
    /// The tables.
    pub tables: Vec<TableDescription>,
    /// Registers, meters and all other state whose order of use packets could observe; counters.
    pub state: Vec<PersistentState>,
    /// The optimisations that the C compiler reduces because the program is so long; empty for ordinary programs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub shortcuts: Vec<String>,
}

impl Description {
    /// Why packets cost several times what they would if they were processed in place and in bursts; none if they are.
    pub fn hindrance(&self) -> Option<String> {
        let Some(path) = &self.fast_path else {
            return self.no_fast_path_reason.as_ref().map(|reason| format!("no fast path: {reason}"));
        };
        let copied = path.in_chunks_reason.as_ref().or(path.copied_reason.as_ref());
        let copied = copied.map(|reason| format!("each packet is copied: {reason}"));
        let alone = path.uncut_reason.as_ref().filter(|_| path.run_to_completion);
        copied.or_else(|| alone.map(|reason| format!("one packet at a time: {reason}")))
    }
}

/// The fast path.
#[derive(Clone, Debug, Serialize)]
pub struct FastPathDescription {
    /// Whether packets are processed where their bytes lie.
    pub in_place: bool,
    /// Why they are not.
    pub in_chunks_reason: Option<String>,
    /// Why their bytes are copied before that.
    pub copied_reason: Option<String>,
    /// Whether the deparser does nothing and is left out.
    pub deparser_left_out: bool,
    /// Bytes of headroom that a packet may grow into when headers are relocated in place; none if they are not.
    pub headroom_bytes: Option<u32>,
    /// The fields of each incremental checksum.
    pub incremental_checksums: Vec<Vec<String>>,
    /// The requests for which packets are punted.
    pub punts_for: Vec<&'static str>,
    /// Whether replicas take the part of it behind the queues and share their packet's context.
    pub takes_replicas: bool,
    /// Its batch stages.
    pub stages: Vec<BatchStage>,
    /// Why it is not split at its tables, or not at all of them.
    pub uncut_reason: Option<String>,
    /// Whether each packet runs to completion before the next begins, for that reason.
    pub run_to_completion: bool,
}

/// A block of the program.
#[derive(Clone, Debug, Serialize)]
pub struct BlockDescription {
    /// Its name.
    pub name: String,
    /// Its batch stages; none for a parser.
    pub stages: Vec<BatchStage>,
    /// Why it is not split at its tables, or not at all of them.
    pub uncut_reason: Option<String>,
}

/// One loop over the packets of a burst.
#[derive(Clone, Debug, Serialize)]
pub struct BatchStage {
    /// Whether workers take turns at it, because it touches registers that they share.
    pub guarded: bool,
    /// Its nodes.
    pub nodes: Vec<Node>,
}

/// Statements that a packet runs through independently of others.
#[derive(Clone, Debug, Serialize)]
pub struct Node {
    /// Its number.
    pub number: usize,
    /// Packets come here from other stages.
    pub entered: bool,
    /// The table with whose result it begins.
    pub result_of: Option<String>,
    /// Statements, with those inside of others and without those of actions.
    pub statements: usize,
    /// Tables that are looked up here packet by packet.
    pub per_packet_lookups: Vec<String>,
    /// Where packets go: `done`, `node 3`, `looks up MyIngress.t, node 4`.
    pub then: String,
}

/// A variable or header with its place.
#[derive(Clone, Debug, Serialize)]
pub struct Placed {
    /// Its name in the program.
    pub name: String,
    /// Its width.
    pub bits: u32,
    /// Where it is stored.
    pub place: String,
}

/// A table.
#[derive(Clone, Debug, Serialize)]
pub struct TableDescription {
    /// Its name.
    pub name: String,
    /// The engine that finds its entries.
    pub engine: &'static str,
    /// Match kind, name and bits of each key field.
    pub key: Vec<(String, String, u32)>,
    /// Bits of the whole key.
    pub key_bits: u32,
    /// Words of a row of the key.
    pub key_words: usize,
    /// The most bytes of action data in an entry.
    pub data_bytes: usize,
    /// How it is looked up.
    pub lookup: &'static str,
}

/// State that outlives a packet.
#[derive(Clone, Debug, Serialize)]
pub struct PersistentState {
    /// What it is.
    pub name: String,
    /// `turns`, `guarded`, `sum` or `shared`.
    pub kind: &'static str,
    /// What that means for several workers.
    pub meaning: String,
}

/// Describes the plan of a program.
pub fn describe(program: &Program, plan: &Plan) -> Description {
    let words = |table: TableId| plan.cut_words(table);
    let names = Names::new(program);
    let fast_path = plan.fast_path.as_ref().map(|fast_path| fast_path_description(program, plan, fast_path, &names));
    let no_fast_path = plan.no_fast_path.map(|why| no_fast_path(why).to_owned());
    let blocks = program.blocks.iter().map(|block| block_description(program, plan, block, &words, &names)).collect();
    let (burst_packets, burst_reason) = burst(program, plan);
    let applied = Applied::of(program, plan);
    Description {
        architecture: program.architecture.name,
        burst_packets,
        burst_reason,
        tuning: (plan.tuning != Tuning::default()).then_some(plan.tuning),
        fast_path,
        no_fast_path_reason: no_fast_path,
        blocks,
        context_bytes: plan.context_size,
        variables: variables(program, plan, &names),
        headers: headers(program, plan),
        tables: program.tables.ids().map(|id| table_description(program, plan, id, &applied)).collect(),
        state: state_of(program, &plan.sharing),
        shortcuts: crate::emit::shortcuts(program, plan),
    }
}

/// How many packets run together, and why. The switch uses smaller bursts than the plan allows where packets would
/// observe each other in queues, or overtake a packet that takes another pass.
fn burst(program: &Program, plan: &Plan) -> (u32, String) {
    if plan.fast_path.is_some() {
        return (plan.fast_path_burst_max(), "packets cannot observe that they run together".to_owned());
    }
    match state::serialised(program) {
        Some(Serialised::BetweenBlocks(object)) => {
            let object = name(program, object);
            (1, format!("two blocks touch {object}, so each packet runs through all blocks before the next begins"))
        }
        Some(Serialised::BetweenPasses(object)) => {
            (1, format!("packets may take another pass and meet {} again", name(program, object)))
        }
        Some(Serialised::Published(object)) => {
            (1, format!("a packet may change {}, which the next one meets", name(program, object)))
        }
        None if program.sends_again() => (1, "packets that take another pass would be overtaken".to_owned()),
        None if program.mentions_queues() => {
            (1, "the depth of a queue would show how many packets run together".to_owned())
        }
        None => (plan.burst_max, "packets cannot observe that they run together".to_owned()),
    }
}

fn name(program: &Program, object: state::Object) -> String {
    state::name(program, object)
}

fn no_fast_path(why: NoFastPath) -> &'static str {
    match why {
        NoFastPath::Decisions => "what the architecture does between the blocks is too involved",
        NoFastPath::Length => "the program is so long that it would take twice as long to compile",
        NoFastPath::Routines => "code that is called often is shared, as in long programs",
        NoFastPath::ParsedAgain => {
            "packets are parsed again before egress, and headers may not be found again as they are"
        }
        NoFastPath::DeparserTables => "the deparser applies tables",
        NoFastPath::Times => "the program writes the times that queues write, or reads them in ingress",
    }
}

fn uncut_reason(program: &Program, graph: &Graph<'_>) -> Option<String> {
    graph.uncut.map(|why| match why {
        Uncut::LabelTwice => "a label names two statements".to_owned(),
        Uncut::KeyRows => "the keys of a burst would take too much memory".to_owned(),
        Uncut::Order(object) => format!("packets would meet {} in another order", name(program, object)),
        Uncut::RunToCompletion(object) => {
            format!(
                "each packet runs to completion before the next begins, which might meet {} first",
                name(program, object)
            )
        }
    })
}

fn fast_path_description(
    program: &Program,
    plan: &Plan,
    fast_path: &FastPath,
    names: &Names<'_>,
) -> FastPathDescription {
    let words = |table: TableId| plan.cut_words(table);
    let graph = fast_path.graph(program, &words);
    let fields = |sum: &crate::plan::checksums::Checksum| {
        sum.inputs().iter().map(|input| names.hash_input(&input.value)).collect()
    };
    FastPathDescription {
        in_place: fast_path.in_place,
        in_chunks_reason: (!fast_path.in_place).then(|| in_chunks_reason(program, plan, fast_path)),
        copied_reason: copied_reason(program, plan, fast_path),
        deparser_left_out: fast_path.keeps_headers,
        headroom_bytes: fast_path.moves.then(|| plan.headroom_bytes()),
        incremental_checksums: if fast_path.in_place {
            fast_path.checksums.iter().map(fields).collect()
        } else {
            Vec::new()
        },
        punts_for: punts_for(program, &graph, fast_path),
        takes_replicas: plan.has_replica_path(),
        stages: stages(program, plan, &graph, Some(fast_path), names),
        uncut_reason: uncut_reason(program, &graph),
        run_to_completion: fast_path.run_to_completion.is_some(),
    }
}

/// The requests for which packets are punted.
fn punts_for(program: &Program, graph: &Graph<'_>, fast_path: &FastPath) -> Vec<&'static str> {
    use crate::plan::fast_path::Exit;
    let mut found = OrderedSet::new();
    for id in graph.stages.iter().flatten() {
        graph.walk_node(program, *id, &mut |item| {
            let Item::Stmt(stmt) = item else { return };
            let StmtKind::Leave(label) = &stmt.kind else { return };
            match fast_path.exit_at(*label) {
                Some(Exit::PuntIngress) => found.insert("requests of ingress"),
                Some(Exit::PuntEgress) => found.insert("requests of egress"),
                _ => false,
            };
        });
    }
    found.into_iter().collect()
}

fn copied_reason(program: &Program, plan: &Plan, fast_path: &FastPath) -> Option<String> {
    let is_copied = fast_path.in_place && program.may_request(Effect::Original) && plan.written_bytes_max().is_none();
    is_copied.then(|| {
        format!(
            "ingress may request a packet as it was received, of which more than {ORIGINAL_BYTES_MAX} bytes, or an unknown \
             number, may be overwritten"
        )
    })
}

fn in_chunks_reason(program: &Program, plan: &Plan, fast_path: &FastPath) -> String {
    if !fast_path.keeps_headers && !fast_path.emits_plainly {
        return "the deparser does more than emit headers, each once".to_owned();
    }
    let bytes = plan.storage.scratch_bytes;
    if !fast_path.keeps_headers && bytes as usize > HEADROOM_BYTES {
        return format!("headers that it adds take {bytes} bytes, more than the {HEADROOM_BYTES} before a packet");
    }
    let varbit = program.header_types.iter().find(|ty| ty.varbit().is_some());
    if let Some(ty) = varbit.filter(|_| !fast_path.keeps_headers) {
        return format!(
            "the program makes, moves or removes headers, and those of type {} have no fixed length",
            ty.name
        );
    }
    if let Some((id, stack)) = program.stacks.iter_enumerated().find(|(id, _)| plan.stacks[*id].dynamic) {
        if !is_indexed_at_run_time(program, id) {
            let elements = stack.elements.len();
            return format!(
                "{} is pushed or popped and has {elements} elements, more than {NAMED_ELEMENTS_MAX}",
                stack.name
            );
        }
        return format!("the elements of {} are indexed at run time", stack.name);
    }
    format!("variables that are saved for each packet take more than {SAVED_STATE_BYTES_MAX} bytes")
}

/// Whether the program indexes the stack at run time.
fn is_indexed_at_run_time(program: &Program, id: StackId) -> bool {
    let mut found = false;
    for block in &program.blocks {
        ir::walk::visit_block(program, block, &mut |item| {
            if let ir::walk::Item::Header(header) | ir::walk::Item::Field(header, _) = item {
                found |= stack_of(header) == Some(id);
            }
        });
    }
    found
}

fn block_description(
    program: &Program,
    plan: &Plan,
    block: &ir::Block,
    words: &dyn Fn(TableId) -> usize,
    names: &Names<'_>,
) -> BlockDescription {
    let BlockKind::Control { body } = &block.kind else {
        return BlockDescription { name: block.name.clone(), stages: Vec::new(), uncut_reason: None };
    };
    let graph = Graph::new(program, body, words);
    BlockDescription {
        name: block.name.clone(),
        stages: stages(program, plan, &graph, None, names),
        uncut_reason: uncut_reason(program, &graph),
    }
}

fn stages(
    program: &Program,
    plan: &Plan,
    graph: &Graph<'_>,
    fast_path: Option<&FastPath>,
    names: &Names<'_>,
) -> Vec<BatchStage> {
    let guarded = graph.guarded_for(program, &plan.sharing, fast_path);
    let stage = |(position, (nodes, entries)): (usize, (&Vec<usize>, &Vec<usize>))| BatchStage {
        guarded: guarded.as_ref().is_some_and(|stages| stages.contains(&position)),
        nodes: nodes.iter().map(|&id| node(program, graph, id, entries.contains(&id), names)).collect(),
    };
    graph.stages.iter().zip(&graph.entries).enumerate().map(stage).collect()
}

fn node(program: &Program, graph: &Graph<'_>, number: usize, entered: bool, names: &Names<'_>) -> Node {
    let node = &graph.nodes[number];
    let (mut statements, mut per_packet_lookups) = (0, Vec::new());
    for stmt in &node.code {
        ir::walk::visit_body(std::slice::from_ref(*stmt), &mut |stmt| {
            statements += 1;
            if let StmtKind::ApplyTable { table, .. } = &stmt.kind {
                per_packet_lookups.push(program.tables[*table].name.clone());
            }
        });
    }
    let to = |id: usize| if graph.is_end(id) { "done".to_owned() } else { format!("node {id}") };
    let then = match &node.end {
        End::Done => "done".to_owned(),
        End::Goto(next) => to(*next),
        End::Branch { cond, yes, no, .. } => format!("if {} {} else {}", names.expr(cond), to(*yes), to(*no)),
        End::Switch { cases, default, .. } => {
            let targets: OrderedSet<usize> = cases.iter().map(|(_, id)| *id).chain([*default]).collect();
            format!("one of {}", targets.into_iter().map(to).collect::<Vec<_>>().join(", "))
        }
        End::Apply { apply, next } => format!("looks up {}, {}", program.tables[apply.table].name, to(*next)),
    };
    let result_of = node.head.map(|apply| program.tables[apply.table].name.clone());
    Node { number, entered, result_of, statements, per_packet_lookups, then }
}

fn variables(program: &Program, plan: &Plan, names: &Names<'_>) -> Vec<Placed> {
    let place = |(id, var): (VarId, &ir::Var)| {
        let name = names.var(id)?.to_owned();
        let spilled = plan.fast_path.as_ref().and_then(|fast_path| fast_path.spilled.get(&id));
        let on_fast_path = plan.fast_path.is_some() && (var.ty.width() <= 64 || var.kind == VarKind::Local);
        let path = match spilled {
            Some(&(_, last)) => Some(format!("C variable, saved for each packet up to batch stage {last}")),
            None => on_fast_path.then(|| "C variable".to_owned()),
        };
        let in_context = plan.vars[id].map(|slot| format!("context, byte {}", slot.offset - plan.metadata.start));
        let in_blocks = match var.kind {
            VarKind::Intrinsic(slot) => format!("packet, slot {slot}"),
            VarKind::Metadata => in_context.unwrap_or_default(),
            VarKind::Local => {
                let is_spilled = plan.blocks.iter().any(|block| block.spilled.contains_key(&id));
                if is_spilled { "C variable, saved for each packet".to_owned() } else { "C variable".to_owned() }
            }
        };
        let place = match path {
            Some(path) if path != in_blocks => format!("{path}; in blocks: {in_blocks}"),
            _ => in_blocks,
        };
        Some(Placed { name, bits: var.ty.width(), place })
    };
    program.vars.iter_enumerated().filter_map(place).collect()
}

fn headers(program: &Program, plan: &Plan) -> Vec<Placed> {
    let place = |(id, header): (ir::HeaderId, &ir::Header)| {
        let slot = &plan.headers[id];
        let ty = &program.header_types[header.ty];
        let at = plan.fast_path.as_ref().and_then(|fast_path| fast_path.bytes_before(id));
        let place = match (slot.home, at) {
            (Some(_), _) => "packet, or context where the program makes it".to_owned(),
            (None, Some(at)) => format!("packet, byte {at}"),
            (None, None) => "packet".to_owned(),
        };
        let varbit = ty.fields.iter().find_map(|field| match field.ty {
            FieldType::Varbit(bits) => Some(bits),
            FieldType::Fixed(_) => None,
        });
        Placed { name: header.name.clone(), bits: ty.fixed_width() + varbit.unwrap_or(0), place }
    };
    program.headers.iter_enumerated().map(place).collect()
}

/// The tables that some control applies, and those among them that are looked up once per burst on the path of most
/// packets.
struct Applied {
    applied: OrderedSet<TableId>,
    cut: OrderedSet<TableId>,
}

impl Applied {
    fn of(program: &Program, plan: &Plan) -> Applied {
        let words = |table: TableId| plan.cut_words(table);
        let (mut applied, mut cut) = (OrderedSet::new(), OrderedSet::new());
        let mut note = |graph: &Graph<'_>| {
            let ends = graph.stages.iter().flatten().map(|&node| &graph.nodes[node].end);
            cut.extend(ends.filter_map(|end| match end {
                End::Apply { apply, .. } => Some(apply.table),
                _ => None,
            }));
        };
        if let Some(fast_path) = &plan.fast_path {
            note(&fast_path.graph(program, &words));
        }
        for block in &program.blocks {
            let BlockKind::Control { body } = &block.kind else { continue };
            ir::walk::visit_body(body, &mut |stmt| {
                if let StmtKind::ApplyTable { table, .. } = &stmt.kind {
                    applied.insert(*table);
                }
            });
            if plan.fast_path.is_none() {
                note(&Graph::new(program, body, &words));
            }
        }
        Applied { applied, cut }
    }
}

fn table_description(program: &Program, plan: &Plan, id: TableId, known: &Applied) -> TableDescription {
    let table = &program.tables[id];
    let key = key_fields(table);
    let spec = TableSpec { name: table.name.clone(), key: key.clone(), ..TableSpec::default() };
    let engine = Table::new(spec).map_or("none", |empty| Snapshot::new(&empty, 0).engine_name());
    let is_searched = plan.tables[id].is_of_words || plan.tables[id].is_of_rows;
    let lookup = match (known.applied.contains(&id), known.cut.contains(&id), is_searched) {
        (false, ..) => "never",
        _ if plan.tables[id].is_narrow => "packet by packet, each key in a slot of its own",
        (true, true, false) => "once per burst",
        (true, true, true) => "once per burst, searched by generated code",
        (true, false, false) => "packet by packet",
        (true, false, true) => "packet by packet, searched by generated code",
    };
    TableDescription {
        name: table.name.clone(),
        engine,
        key_bits: key.iter().map(|field| field.width_bits).sum(),
        key: key.into_iter().map(|field| (field.kind.to_string(), field.name, field.width_bits)).collect(),
        key_words: plan.tables[id].key.words(),
        data_bytes: plan.tables[id].actions.iter().map(|action| action.words() * 8).max().unwrap_or(0),
        lookup,
    }
}

fn state_of(program: &Program, sharing: &Sharing) -> Vec<PersistentState> {
    let state = |name: String, kind, meaning: &str| PersistentState { name, kind, meaning: meaning.to_owned() };
    let register_name = |&register: &RegisterId| format!("register {}", program.registers[register].name);
    let why = sharing.why_turns.map_or("", why_turns);
    let turns = match sharing.is_ordered {
        true => "only one worker runs the program, which preserves the order of packets".to_owned(),
        false => format!("packets can observe the order of use, and {why}: workers take turns at the whole program"),
    };
    let mut out: Vec<PersistentState> = sharing.turns.iter().map(|name| state(name.clone(), "turns", &turns)).collect();
    let guarded = match sharing.time {
        None => "packets can observe the order of use: workers take turns at the guarded batch stages",
        Some(_) => {
            "packets can observe the order of use, and the time: workers take turns at the guarded batch stages, where time \
             does not run backwards"
        }
    };
    out.extend(sharing.guarded.iter().map(|register| state(register_name(register), "guarded", guarded)));
    let sum = |name: String| state(name, "sum", "each worker has cells of its own, which are added up");
    let registers = sharing.sums.iter().map(register_name);
    let counters = program.counters.iter().map(|counter| format!("counter {}", counter.name));
    let direct = program.direct_counters.iter().map(|counter| format!("counter {}", counter.name));
    out.extend(registers.chain(counters).chain(direct).map(sum));
    let written = state::written_registers(program);
    let read_only = program.registers.iter_enumerated().filter(|(id, _)| !written.contains(id));
    out.extend(read_only.map(|(id, _)| state(register_name(&id), "shared", "the program only reads it")));
    let meters = program.meters.iter().map(|meter| format!("meter {}", meter.name));
    out.extend(meters.map(|name| state(name, "shared", "a worker takes a cell for a packet")));
    out.sort_by(|one, other| one.name.cmp(&other.name));
    out
}

fn why_turns(why: WholeProgram) -> &'static str {
    match why {
        WholeProgram::State => "a lock around a part of the program cannot protect all of it",
        WholeProgram::Serialised => "packets meet it in several blocks or passes",
        WholeProgram::Blocks => "two blocks touch such state",
        WholeProgram::Block => "a parser or a deparser touches it",
        WholeProgram::Copies => "the copies of a packet meet it one after the other in egress",
        WholeProgram::Times => "the program reads times before, or elsewhere than, where it meets it",
    }
}
