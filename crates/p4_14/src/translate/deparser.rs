//! The deparser emits all headers that the parser may extract, in an order that agrees with all its paths.
//!
//! A header precedes those that the parser may extract after it. Headers in a cycle are adjacent, in the order in which
//! the parser reaches them. Headers without a required order are in the reverse of the order in which the parser's
//! cases reach them; they cannot both be in a parsed packet. The parser is traversed in the order of the reference
//! compiler. A stack counts as one header. A header that no state extracts, reachable or not, has no position in the
//! packet and is not sent, as P4_14 specifies.

use super::Translator;
use super::build;
use super::exprs::{Element, HeaderRef};
use crate::ast::StateStatement;
use crate::codes;
use base::OrderedSet;
use syntax::ast as p4;

impl Translator<'_, '_> {
    pub(super) fn deparser(&mut self) -> p4::Declaration {
        let order = self.header_order();
        let span = self.program.end;
        let mut statements = Vec::new();
        for &instance in &order {
            let span = self.symbols.all_instances[instance].name.span;
            let header = self.header_expr(HeaderRef { instance, element: Element::Only }, span);
            let emit = build::member(build::name(&self.own.packet, span), "emit", span);
            statements.push(build::do_call(emit, vec![header], span));
        }
        for (index, instance) in self.symbols.all_instances.clone().iter().enumerate() {
            if !instance.is_metadata && !order.contains(&index) {
                let message =
                    format!("no parser state extracts `{}`, so it has no place in packets", instance.name.name);
                self.warn(codes::NEVER_SENT, instance.name.span, message);
            }
        }
        let packet = build::named_type("packet_out", span);
        let headers = build::named_type(&self.own.headers_type, span);
        let parameters = vec![
            build::parameter(p4::Direction::None, packet, &self.own.packet, span),
            build::parameter(p4::Direction::In, headers, &self.own.headers, span),
        ];
        self.control_block("DeparserImpl", parameters, Vec::new(), statements, span)
    }

    /// The header instances in the order in which they are sent.
    fn header_order(&self) -> Vec<usize> {
        let states = self.program.states.len();
        let extracts: Vec<Vec<usize>> = (0..states).map(|state| self.extracts(state)).collect();
        // The nodes are the headers, followed by the states that extract none.
        let count = self.symbols.all_instances.len();
        let first = |state: usize| extracts[state].first().copied().unwrap_or(count + state);
        let mut follows: Vec<Vec<usize>> = vec![Vec::new(); count + states];
        let mut known: OrderedSet<(usize, usize)> = OrderedSet::new();
        let mut link = |from: usize, to: usize| {
            if from != to && known.insert((from, to)) {
                follows[from].push(to);
            }
        };
        for (state, headers) in extracts.iter().enumerate() {
            for pair in headers.windows(2) {
                link(pair[0], pair[1]);
            }
            let last = headers.last().copied().unwrap_or(count + state);
            for next in self.successors(state) {
                link(last, first(next));
            }
        }
        let start = self.symbols.states.get("start").copied();
        // Unreachable states precede their successors, so they are visited last.
        let roots: Vec<usize> = start.into_iter().chain(0..states).map(first).collect();
        let mut order = components(&roots, &follows);
        order.reverse();
        order.retain(|&node| node < count);
        order
    }

    /// The packet headers that a state extracts, in order.
    fn extracts(&self, state: usize) -> Vec<usize> {
        let statements = &self.program.states[state].statements;
        let headers = statements.iter().filter_map(|statement| match statement {
            StateStatement::Extract(header) => self.extracted(header).map(|header| header.instance),
            _ => None,
        });
        headers.filter(|&instance| !self.symbols.all_instances[instance].is_metadata).collect()
    }
}

/// The nodes that are reachable from the roots, each after its successors. The nodes of a cycle are adjacent, the one
/// that was reached last first.
fn components(roots: &[usize], follows: &[Vec<usize>]) -> Vec<usize> {
    // Tarjan's algorithm for strongly connected components, with an explicit stack in place of recursion.
    let mut numbers: Vec<Option<usize>> = vec![None; follows.len()];
    let mut lowest = vec![0; follows.len()];
    let mut is_open = vec![false; follows.len()];
    let (mut open, mut order, mut number) = (Vec::new(), Vec::new(), 0);
    for &root in roots {
        // The stack: a node, and how many of its successors were visited.
        let mut way: Vec<(usize, usize)> = vec![(root, 0)];
        if numbers[root].is_some() {
            continue;
        }
        while let Some((node, next)) = way.last_mut() {
            let node = *node;
            if *next == 0 && numbers[node].is_none() {
                numbers[node] = Some(number);
                lowest[node] = number;
                number += 1;
                open.push(node);
                is_open[node] = true;
            }
            if let Some(&child) = follows[node].get(*next) {
                *next += 1;
                match numbers[child] {
                    None => way.push((child, 0)),
                    Some(known) if is_open[child] => lowest[node] = lowest[node].min(known),
                    Some(_) => {}
                }
                continue;
            }
            way.pop();
            if let Some((parent, _)) = way.last() {
                lowest[*parent] = lowest[*parent].min(lowest[node]);
            }
            if numbers[node] == Some(lowest[node]) {
                while let Some(member) = open.pop() {
                    is_open[member] = false;
                    order.push(member);
                    if member == node {
                        break;
                    }
                }
            }
        }
    }
    order
}
