//! Loops over the packets of a burst: how generated functions run the batch stages of a unit.
//!
//! A stage's packets are the bits of a mask. They are processed in order, so that packets stay in order within a
//! stage. Where a packet is looked up in a table, a row of key words is written; the table is looked up once for
//! all rows, and the stage after it begins with the results, in the same order. Within a stage packets go from node to
//! node by `goto`.

use super::fast_path::{UNSENT, saved_name, spilled_name};
use super::to_c::{Printer, env_constant};
use super::{Emitter, table};
use crate::ctree::{
    Expr as C, Stmt as S, arrow, assign, binary, call, cast, conditional, declare, declare_array, index, int, long,
    mentions, name, unary,
};
use crate::plan::fast_path::FastPath;
use base::OrderedSet;
use base::limits::BURST_PACKETS_MAX;
use ir::{BlockId, Source};
use lir::{Arrival, Found, Node, NodeId, Stage, StatePart, Unit, walk};
use std::ops::RangeInclusive;

/// `for (i < count) { body }`.
pub(super) fn for_each_packet(body: Vec<S>) -> S {
    S::For {
        first: Box::new(declare("uint32_t", "i", int(0))),
        condition: binary("<", name("i"), name("count")),
        step: Box::new(S::Assign(name("i"), "+=", int(1))),
        body,
    }
}

/// Takes the guard for the packets of a burst.
pub(super) fn enter(emitter: &Emitter<'_>, fast_path: Option<&FastPath>) -> S {
    let (packets, count) = (|| name("packets"), || name("count"));
    S::Eval(match (emitter.plan.sharing.time, fast_path) {
        (None, _) => call("ws_enter", vec![name("env")]),
        (Some(_), Some(FastPath { in_place: true, .. })) => {
            call("ws_enter_frames", vec![name("env"), name("frames"), count()])
        }
        (Some(_), Some(_)) => call("ws_enter_packets", vec![name("env"), packets(), count()]),
        (Some(_), None) => {
            let slot = int(emitter.program.architecture.slot_from(Source::IngressTime).unwrap_or(0));
            call("ws_enter_block", vec![name("env"), packets(), count(), slot])
        }
    })
}

pub(super) fn leave() -> S {
    S::Eval(call("ws_leave", vec![name("env")]))
}

/// The code of a unit of one stage for the packet at position `i`.
pub(super) fn packet_code(emitter: &Emitter<'_>, block: BlockId, unit: &Unit) -> Vec<S> {
    let printer = Printer::new(emitter, block, unit, None);
    unit.stages.first().map_or(Vec::new(), |stage| stage_code(&printer, stage))
}

/// The stages of a unit, whose positions in the plan are given, with the guard around those that need it.
pub(super) fn stages(
    emitter: &Emitter<'_>,
    block: BlockId,
    unit: &Unit,
    fast_path: Option<&FastPath>,
    positions: &[usize],
    guarded: Option<RangeInclusive<usize>>,
) -> Vec<S> {
    let printer = Printer::new(emitter, block, unit, fast_path);
    let mut out = printer.body(&unit.before, &Stage::default());
    out.extend(shared_declarations(&printer));
    let is_guarded = |position: &usize| guarded.as_ref().is_some_and(|stages| stages.contains(position));
    let (first, last) = (positions.iter().position(is_guarded), positions.iter().rposition(is_guarded));
    for (number, stage) in unit.stages.iter().enumerate() {
        stage.nodes.iter().for_each(|node| look_up(&printer, node, stage, &mut out));
        // The lookups may be outside of the guard.
        if first == Some(number) {
            out.push(enter(emitter, fast_path));
        }
        out.push(stage_loop(&printer, stage));
        if last == Some(number) {
            out.push(leave());
        }
    }
    if fast_path.is_some() {
        out.push(S::Return(name(UNSENT)));
    }
    out
}

/// The declarations before the stages: constants of the environment, masks, lists, rows of keys, results.
fn shared_declarations(printer: &Printer<'_>) -> Vec<S> {
    let mut out = Vec::new();
    let burst = BURST_PACKETS_MAX as u32;
    if let Some(fast_path) = printer.fast_path {
        if fast_path.in_place {
            let ty = format!("WS_UNUSED struct {}", saved_name(fast_path));
            out.push(declare_array(&ty, "saved", burst, None));
        }
        out.extend(env_constants(printer.unit));
    }
    for stage in &printer.unit.stages {
        for entry in &stage.entries {
            match stage.arrival {
                Arrival::Burst | Arrival::WholeBurst => {}
                Arrival::Masks => out.push(declare("uint64_t", mask_name(entry.node), long(0))),
                Arrival::List => out.push(declare_array("uint8_t", list_name(entry.node), burst, None)),
            }
        }
    }
    let found = |stage| results_of(stage).map(move |(node, found)| (stage, node, found));
    for (stage, node, found) in printer.unit.stages.iter().flat_map(found) {
        out.extend(rows(printer, stage, node, found));
    }
    let all_found: Vec<&Found> = printer.unit.stages.iter().flat_map(results_of).map(|(_, found)| found).collect();
    if all_found.iter().any(|found| !found.is_packed) {
        out.push(declare_array("const struct ws_entry *", "entries", burst, None));
    }
    if all_found.iter().any(|found| found.is_packed) {
        out.push(declare_array("uint32_t", "packed_results", burst, None));
    }
    out
}

/// The constants of the environment that the fast path uses.
fn env_constants(unit: &Unit) -> Vec<S> {
    let mut items = OrderedSet::new();
    let bodies = unit.stages.iter().flat_map(|stage| &stage.nodes).flat_map(|node| {
        let lookup = node.found.as_ref().map_or(&[][..], |found| &found.lookup);
        [lookup, &node.body]
    });
    bodies.for_each(|body| {
        walk::all_exprs(body, &mut |value| {
            if let lir::Expr::Env(array, number) = value {
                items.insert((array.name(), *number, *array));
            }
        });
    });
    let now_ns = declare("const uint64_t", "now_ns WS_UNUSED", arrow(name("env"), "now_ns"));
    std::iter::once(now_ns)
        .chain(items.into_iter().filter_map(|(_, number, array)| env_constant(array, number)))
        .collect()
}

/// The nodes of a stage that begin with a table's result.
fn results_of(stage: &Stage) -> impl Iterator<Item = (&Node, &Found)> {
    stage.nodes.iter().filter_map(|node| Some((node, node.found.as_ref()?)))
}

/// Words of the key of the table whose results start a node.
pub(super) fn key_words(printer: &Printer<'_>, node: NodeId) -> u32 {
    let mut all = printer.unit.stages.iter().flat_map(results_of);
    let table = all.find(|(it, _)| it.id == node).map(|(_, found)| found.table);
    table.map_or(0, |table| printer.emitter.plan.tables[table].key.words() as u32)
}

/// The declarations of the key rows of the table whose results start a node.
fn rows(printer: &Printer<'_>, stage: &Stage, node: &Node, found: &Found) -> Vec<S> {
    let plan = &printer.emitter.plan.tables[found.table];
    let (words, id) = (plan.key.words() as u32, node.id);
    // A table without a key has rows of no words.
    let zero = (words == 0).then(|| C::List(vec![long(0)]));
    let mut out = vec![declare_array("uint64_t", keys_name(id), words.max(1) * BURST_PACKETS_MAX as u32, zero)];
    out.push(match stage.arrival {
        Arrival::WholeBurst => declare("const uint32_t", rows_name(id), name("count")),
        _ => declare("uint32_t", rows_name(id), int(0)),
    });
    let table = index(arrow(name("env"), "tables"), int(super::header::number(found.table)));
    if let Some([is_far, _]) = plan.fetch() {
        out.push(declare("const uint32_t", far_name(id), call(is_far, vec![unary("&", table.clone())])));
    }
    if found.is_packed {
        let arguments = vec![unary("&", table), name(table::pack_function(found.table))];
        out.push(declare("const uint32_t", none_name(id), call("ws_default_packed_result", arguments)));
    }
    out
}

/// Looks up all packets that wrote a key for the lookup with which a node begins.
fn look_up(printer: &Printer<'_>, node: &Node, stage: &Stage, out: &mut Vec<S>) {
    let Some(found) = &node.found else { return };
    let rows = name(rows_name(node.id));
    out.push(S::If(rows.clone(), printer.body(&found.lookup, stage), Vec::new()));
    if !is_list(stage) {
        out.push(assign(rows, int(0)));
    }
}

/// Whether a stage goes through a list of packets, or through the whole burst as if it was one.
fn is_list(stage: &Stage) -> bool {
    matches!(stage.arrival, Arrival::List | Arrival::WholeBurst)
}

/// The result with which a node begins.
fn result(node: &Node, found: &Found, stage: &Stage) -> Vec<S> {
    let rows = name(rows_name(node.id));
    let row = if is_list(stage) { name("row") } else { rows.clone() };
    let mut out = Vec::new();
    if found.is_packed {
        let result = index(name("packed_results"), row);
        let result = conditional(binary("!=", result.clone(), int(0)), result, name(none_name(node.id)));
        out.push(declare("const uint32_t", "packed_result WS_UNUSED", result));
    } else {
        let entry = index(name("entries"), row);
        out.push(declare("const struct ws_entry *const ", "entry WS_UNUSED", entry));
    }
    if !is_list(stage) {
        out.push(S::Assign(rows, "+=", int(1)));
    }
    out
}

/// The loop over a stage's packets.
fn stage_loop(printer: &Printer<'_>, stage: &Stage) -> S {
    let code = stage_code(printer, stage);
    match (stage.arrival, &stage.entries[..]) {
        (Arrival::Burst, _) => for_each_in_burst(code),
        (Arrival::List | Arrival::WholeBurst, [entry]) => {
            for_each_in_list(entry.node, stage.arrival == Arrival::WholeBurst, code)
        }
        (_, entries) => for_each_in_masks(entries.iter().map(|entry| entry.node), code),
    }
}

/// The code that a packet runs through in a stage.
fn stage_code(printer: &Printer<'_>, stage: &Stage) -> Vec<S> {
    let mut body = printer.body(&stage.before, stage);
    if stage.ends_all {
        body.push(declare("uint32_t", "verdict", int(0)));
    }
    body.extend(elsewhere(printer, stage));
    for (position, node) in stage.nodes.iter().enumerate() {
        if position > 0 {
            body.push(S::Label(node_label(node.id)));
        }
        body.extend(node.found.iter().flat_map(|found| result(node, found, stage)));
        body.extend(printer.body(&node.body, stage));
    }
    body.push(S::Label(done_label(stage)));
    body.extend(printer.body(&stage.after, stage));
    if stage.ends_all {
        body.push(assign(index(name("verdicts"), name("i")), name("verdict")));
    }
    for &state in &stage.spills {
        body.push(assign(printer.expr(&lir::Expr::Saved(state)), name(printer.unit.state_name(state))));
    }
    let state = state_declarations(printer, stage);
    let mut out = packet_declarations(printer);
    if mentions(&state, "w") || mentions(&body, "w") {
        let spilled = match printer.fast_path {
            Some(fast_path) => spilled_name(fast_path).to_owned(),
            None => super::spilled_name(printer.block),
        };
        let place = cast("void *", arrow(name("c"), "spilled"));
        out.push(declare(&format!("struct {spilled} *const "), "w WS_UNUSED", place));
    }
    out.extend(state);
    out.extend(body);
    out
}

/// Jumps to the entries other than the first, with assignments of the state that has other values there.
fn elsewhere(printer: &Printer<'_>, stage: &Stage) -> Vec<S> {
    let Some((first, others)) = stage.entries.split_first() else { return Vec::new() };
    let declared = declared(printer, stage);
    let jump = |entry: &lir::Entry| {
        let differs = entry
            .values
            .iter()
            .filter(|(state, value)| declared.contains(state) && first.values.get(state) != Some(value));
        let assignment =
            |(state, value): (&StatePart, _)| assign(name(printer.unit.state_name(*state)), printer.expr(value));
        let mut entering: Vec<S> = differs.map(assignment).collect();
        entering.push(S::Goto(node_label(entry.node)));
        S::If(binary("&", name(mask_name(entry.node)), name("bit")), entering, Vec::new())
    };
    others.iter().map(jump).collect()
}

/// Declarations of the packet and its context.
fn packet_declarations(printer: &Printer<'_>) -> Vec<S> {
    let mut out = vec![declare("struct ws_packet *const ", "p WS_UNUSED", index(name("packets"), name("i")))];
    let Some(fast_path) = printer.fast_path.filter(|fast_path| fast_path.in_place) else {
        let context = cast("void *", binary("+", name("p"), int(1)));
        out.push(declare("struct context *const ", "c WS_UNUSED", context));
        return out;
    };
    let frame = binary("+", name("frames"), name("i"));
    let changes = fast_path.moves || fast_path.truncated.is_some();
    let ty = if changes { "struct ws_frame *const " } else { "const struct ws_frame *const " };
    out.push(declare(ty, "frame WS_UNUSED", frame));
    out.push(declare("uint8_t *const ", "bytes WS_UNUSED", arrow(name("frame"), "bytes")));
    let saved = binary("+", name("saved"), name("i"));
    out.push(declare(&format!("struct {} *const ", saved_name(fast_path)), "c WS_UNUSED", saved));
    out
}

/// The state that a stage has in variables.
fn declared(printer: &Printer<'_>, stage: &Stage) -> OrderedSet<StatePart> {
    let mut declared = stage.spills.clone();
    let bodies = stage.nodes.iter().map(|node| &node.body).chain([&stage.before, &stage.after]);
    bodies.for_each(|body| walk::states(body, &mut |state| _ = declared.insert(state)));
    declared
        .retain(|&state| printer.unit.is_wide(state) || stage.entries.iter().any(|it| it.values.contains_key(&state)));
    declared
}

/// Declarations of a stage's state, with the values that it has at the first entry.
fn state_declarations(printer: &Printer<'_>, stage: &Stage) -> Vec<S> {
    let first = stage.entries.first();
    let declaration = |state: StatePart| {
        let text = printer.unit.state_name(state);
        if let StatePart::Var(var) = state
            && printer.unit.is_wide(state)
        {
            let width = printer.unit.vars.get(&var).map_or(0, |var| var.width_bits);
            let zero = Some(C::List(vec![long(0)]));
            return declare_array("WS_UNUSED uint64_t", text, width.div_ceil(64), zero);
        }
        let value = first.and_then(|entry| entry.values.get(&state)).map_or_else(|| int(0), |it| printer.expr(it));
        match state {
            StatePart::Header(_) => declare("uint8_t *", format!("{text} WS_UNUSED"), value),
            StatePart::Sum(_) => declare("WS_UNUSED uint32_t", text, value),
            StatePart::Steps(_) => declare("uint32_t", text, value),
            _ => declare("WS_UNUSED uint64_t", text, value),
        }
    };
    declared(printer, stage).into_iter().map(declaration).collect()
}

/// The loop over all packets of the burst.
fn for_each_in_burst(code: Vec<S>) -> S {
    let mut body = vec![declare("const uint64_t", "bit WS_UNUSED", binary("<<", long(1), name("i")))];
    body.extend(code);
    for_each_packet(body)
}

/// The loop over the packets in the list of a table's node, or over the whole burst, if that is the list.
fn for_each_in_list(node: NodeId, is_whole_burst: bool, code: Vec<S>) -> S {
    let place = if is_whole_burst { name("row") } else { index(name(list_name(node)), name("row")) };
    let i = declare("const uint32_t", "i WS_UNUSED", place);
    let mut body = vec![i, declare("const uint64_t", "bit WS_UNUSED", binary("<<", long(1), name("i")))];
    body.extend(code);
    S::For {
        first: Box::new(declare("uint32_t", "row", int(0))),
        condition: binary("<", name("row"), name(rows_name(node))),
        step: Box::new(S::Assign(name("row"), "+=", int(1))),
        body,
    }
}

/// The loop over the packets that enter a stage, in order.
fn for_each_in_masks(entries: impl Iterator<Item = NodeId>, code: Vec<S>) -> S {
    let masks = entries.map(|entry| name(mask_name(entry)));
    let all = masks.reduce(|all, mask| binary("|", all, mask)).unwrap_or(long(0));
    let mut body = vec![
        declare("const uint64_t", "bit WS_UNUSED", binary("&", name("todo"), binary("-", long(0), name("todo")))),
        declare("const uint32_t", "i", cast("uint32_t", call("__builtin_ctzll", vec![name("todo")]))),
    ];
    body.extend(code);
    S::For {
        first: Box::new(declare("uint64_t", "todo", all)),
        condition: binary("!=", name("todo"), long(0)),
        step: Box::new(S::Assign(name("todo"), "&=", binary("-", name("todo"), long(1)))),
        body,
    }
}

/// The C array with the positions of the packets that are looked up in the table whose results start a node.
pub(super) fn list_name(node: NodeId) -> String {
    format!("list{node}")
}

/// The C array with the key rows of the table whose results start a node.
pub(super) fn keys_name(node: NodeId) -> String {
    format!("keys{node}")
}

/// The C variable that counts these rows.
pub(super) fn rows_name(node: NodeId) -> String {
    format!("rows{node}")
}

/// The C constant that is 1 if slots are prefetched of the table whose results start a node.
pub(super) fn far_name(node: NodeId) -> String {
    format!("far{node}")
}

/// The C constant with the packed result of the default action of the table whose results start a node.
fn none_name(node: NodeId) -> String {
    format!("none{node}")
}

/// The C variable with the mask of a node's packets.
pub(super) fn mask_name(node: NodeId) -> String {
    format!("at{node}")
}

/// The C label of a node.
pub(super) fn node_label(node: NodeId) -> String {
    format!("node{node}")
}

/// The C label at the end of a stage.
pub(super) fn done_label(stage: &Stage) -> String {
    format!("done{}", stage.entries.first().map_or(0, |entry| entry.node))
}
