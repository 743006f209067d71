//! Variants of a node: its code once for each set of headers with which the parser accepts packets.
//!
//! What enters: a node of a batch stage, up to which no packet's headers have changed, and from which they change. What
//! leaves: a `switch` over the valid bits with the node's code and all that follows it in the stage, generated once
//! for each set. There it is known at compile time which headers are valid and where they lie, also after an action
//! that adds or removes some: what follows such an action is generated behind the action itself. Packets with other
//! sets, which ended too early or were rejected, take the code that works for all.

use super::layout::Lies;
use super::scope::{Jump, Known, Scope};
use super::table::LookupResult;
use crate::plan::fast_path::changes_headers;
use crate::plan::graph::{Graph, NodeId};
use crate::plan::outcomes::Outcome;
use crate::plan::walk::{Item, Tables, Walk};
use base::OrderedSet;
use ir::{ActionId, HeaderId, TableId};
use lir::{Stmt as S, assign, binary, int, long, name};

/// The statements that all variants of a node may have together.
const STATEMENTS_MAX: usize = 2_000;

impl<'s> Scope<'s, '_> {
    /// The code of a node and what follows it, in variants if that is of use.
    pub(super) fn node(&mut self, graph: &'s Graph<'s>, id: NodeId, is_entry: bool) {
        let outcomes = if is_entry { self.outcomes_of(graph, id) } else { Vec::new() };
        if outcomes.is_empty() {
            return self.node_code(graph, id);
        }
        let before = self.known.clone();
        let others = self.take(|scope| scope.node_code(graph, id));
        self.inlined = Some(graph);
        let variant = |outcome: &&Outcome| {
            self.known = self.known_with(&before, outcome);
            let code = self.laid_out(&|scope| {
                scope.point_to_headers(outcome);
                scope.node_code(graph, id);
            });
            (vec![long(self.bits_of(outcome.keys()))], code)
        };
        let cases = outcomes.iter().map(variant).collect();
        self.inlined = None;
        self.known = Known::unreachable();
        self.push(S::Switch { value: super::scope::valid_word(0), cases, default: others });
    }

    /// The code of a node: the action of its table's result, its statements, and where the packet goes.
    fn node_code(&mut self, graph: &'s Graph<'s>, id: NodeId) {
        let node = &graph.nodes[id];
        self.labels = node.leaves.iter().map(|(&label, &node)| (label, Jump::Node(node))).collect();
        if self.inlined.is_some() {
            self.forget_line();
        }
        if let Some(apply) = &node.head {
            self.rest = self.inlined.map(|_| id);
            self.comment(apply.stmt.span);
            let is_packed = self.emitter.plan.tables[apply.table].packed_results.is_some();
            let result = match is_packed {
                true => LookupResult::Packed(name("packed_result")),
                false => LookupResult::Entry(name("entry")),
            };
            self.table_results(apply.table, apply.hit, apply.action, &result);
        }
        self.after_action(graph, id);
    }

    /// What follows the action of a node.
    fn after_action(&mut self, graph: &'s Graph<'s>, id: NodeId) {
        let emitted = self.emitted.clone();
        if self.known.reachable {
            self.sequence(&graph.nodes[id].code);
        }
        if self.known.reachable {
            self.end(&graph.nodes[id].end);
        }
        if self.inlined.is_some() {
            self.emitted = emitted;
        }
    }

    /// An action that `write` generates. If it changes headers, what follows the node's actions is generated behind it.
    pub(super) fn action_and_rest(
        &mut self,
        action: ActionId,
        rest: Option<NodeId>,
        write: &dyn Fn(&mut Self),
    ) -> Vec<S> {
        let rest = rest.filter(|_| self.changes_headers(action).1);
        let Some((graph, id)) = self.inlined.zip(rest) else { return self.take(write) };
        self.laid_out(&|scope| {
            // The action has a C block of its own: what follows may run it again, with the same parameters.
            let body = scope.take(write);
            scope.push(S::Block(body));
            scope.forget_line();
            scope.after_action(graph, id);
        })
    }

    /// The code of another node of the stage, in place.
    pub(super) fn inline(&mut self, graph: &'s Graph<'s>, id: NodeId) {
        let outer = std::mem::take(&mut self.labels);
        self.node_code(graph, id);
        self.labels = outer;
    }

    /// The sets of headers for which a node has variants: all that packets can have there, or none.
    fn outcomes_of(&self, graph: &Graph<'_>, id: NodeId) -> Vec<&'s Outcome> {
        let Some(path) = self.path.filter(|_| self.known.as_parsed && self.known.extracted.is_none()) else {
            return Vec::new();
        };
        let possible = |outcome: &&Outcome| {
            self.known.valid.iter().all(|header| outcome.contains_key(header))
                && !self.known.invalid.iter().any(|header| outcome.contains_key(header))
        };
        let outcomes: Vec<&Outcome> = path.fast_path.outcomes.iter().filter(possible).collect();
        let is_of_use = self.emitter.plan.storage.valid_words == 1 && self.changes_headers_from(graph, id);
        let statements = self.statements_of_variant(graph, id).saturating_mul(outcomes.len());
        if is_of_use && statements <= STATEMENTS_MAX { outcomes } else { Vec::new() }
    }

    /// The nodes whose code follows a node's in place.
    fn following(&self, graph: &Graph<'_>, id: NodeId) -> Vec<NodeId> {
        let mut targets = graph.nodes[id].targets();
        targets.retain(|&next| self.stage.contains(&next) && graph.nodes[next].head.is_none());
        targets
    }

    fn changes_headers_from(&self, graph: &Graph<'_>, id: NodeId) -> bool {
        let (mut seen, mut pending, mut found) = (OrderedSet::new(), vec![id], false);
        while let Some(id) = pending.pop() {
            if seen.insert(id) {
                graph.walk_node(self.emitter.program, id, &mut |item| {
                    found |= matches!(item, Item::Stmt(stmt) if changes_headers(&stmt.kind));
                });
                pending.extend(self.following(graph, id));
            }
        }
        found
    }

    /// The statements of one variant of a node: what follows is copied behind each action that changes headers.
    fn statements_of_variant(&self, graph: &Graph<'_>, id: NodeId) -> usize {
        let head = graph.nodes[id].head.as_ref();
        let (actions, changing) = head.map_or((0, 0), |apply| self.actions_that_change(apply.table));
        let rest = self.statements_from(graph, id).saturating_sub(actions);
        actions.saturating_add(rest.saturating_mul(1 + changing))
    }

    /// The statements of a node and of what follows in place, as often as it is copied.
    fn statements_from(&self, graph: &Graph<'_>, id: NodeId) -> usize {
        let mut count = 1 + graph.statements(self.emitter.program, id);
        for next in self.following(graph, id) {
            count = count.saturating_add(self.statements_from(graph, next));
            if count > STATEMENTS_MAX {
                break;
            }
        }
        count
    }

    /// The statements of a table's actions, and how many of these change headers.
    fn actions_that_change(&self, table: TableId) -> (usize, usize) {
        let program = self.emitter.program;
        let (mut statements, mut changing) = (0, 0);
        for listed in &program.tables[table].actions {
            let (count, changes) = self.changes_headers(listed.action);
            statements += count;
            changing += usize::from(changes);
        }
        (statements, changing)
    }

    /// The statements of an action, and whether one of them changes headers.
    fn changes_headers(&self, action: ActionId) -> (usize, bool) {
        let program = self.emitter.program;
        let (mut statements, mut changes) = (0, false);
        Walk::new(program, Tables::Inside).stmts(&program.actions[action].body, &mut |item| {
            let Item::Stmt(stmt) = item else { return };
            statements += 1;
            changes |= changes_headers(&stmt.kind);
        });
        (statements, changes)
    }

    /// The facts that hold for packets with these headers.
    fn known_with(&self, before: &Known, outcome: &Outcome) -> Known {
        let headers = self.emitter.program.headers.ids();
        Known {
            valid: outcome.keys().copied().collect(),
            invalid: headers.filter(|header| !outcome.contains_key(header)).collect(),
            extracted: Some(outcome.keys().copied().collect()),
            lies: outcome.iter().map(|(&header, &offset)| (header, Lies::At(i64::from(offset)))).collect(),
            ..before.clone()
        }
    }

    /// Sets the pointers to the headers whose offsets differ from set to set.
    fn point_to_headers(&mut self, outcome: &Outcome) {
        for (&header, &offset) in outcome {
            let at = self.path.and_then(|path| path.fast_path.parsed.get(&header)?.at_bytes);
            if at.is_none() {
                self.push(assign(lir::header(header), binary("+", name("bytes"), int(offset))));
            }
        }
    }

    /// The word of valid bits with these headers.
    fn bits_of<'a>(&self, headers: impl Iterator<Item = &'a HeaderId>) -> u64 {
        headers.fold(0, |bits, &header| bits | 1 << self.emitter.plan.headers[header].bit)
    }
}
