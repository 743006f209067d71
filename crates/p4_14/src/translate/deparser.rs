//! The deparser: all headers that the parser may extract, in an order that all its ways agree with.
//!
//! A header goes before those that the parser may extract behind it. Where headers can follow each other in a circle,
//! the one that is reached first goes first. Headers of which neither must precede the other stand in the reverse of
//! the order in which the parser's cases reach them; they are not both in a packet that was parsed. A stack is one
//! header here. A header that no state extracts, reachable or not, has no place in the packet and is not sent, as P4_14
//! says.

use super::Translator;
use super::build;
use super::exprs::{Element, HeaderRef};
use crate::ast::StateStatement;
use crate::codes;
use std::collections::BTreeSet;
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

    /// The instances of headers in the order in which they are sent.
    fn header_order(&self) -> Vec<usize> {
        let extracts: Vec<Vec<usize>> = (0..self.program.states.len()).map(|state| self.extracts(state)).collect();
        let count = self.symbols.all_instances.len();
        let mut follows: Vec<Vec<usize>> = vec![Vec::new(); count];
        let mut link = |from: usize, to: usize| {
            if from != to && !follows[from].contains(&to) {
                follows[from].push(to);
            }
        };
        for (state, headers) in extracts.iter().enumerate() {
            for pair in headers.windows(2) {
                link(pair[0], pair[1]);
            }
            if let Some(&last) = headers.last() {
                for next in self.next_headers(state, &extracts) {
                    link(last, next);
                }
            }
        }
        let start = self.symbols.states.get("start").copied();
        let mut roots: Vec<usize> = Vec::new();
        if let Some(start) = start {
            match extracts[start].first() {
                Some(&first) => roots.push(first),
                None => roots.extend(self.next_headers(start, &extracts)),
            }
        }
        // What the start does not reach goes before what it leads to, so it is visited last.
        roots.extend(extracts.iter().flatten().copied());
        reverse_postorder(&roots, &follows)
    }

    /// The packet headers that a state extracts, in order.
    fn extracts(&self, state: usize) -> Vec<usize> {
        let statements = &self.program.states[state].statements;
        let headers = statements.iter().filter_map(|statement| match statement {
            StateStatement::Extract(header) => self.extracted(header).map(|header| header.instance),
            StateStatement::Set(..) => None,
        });
        headers.filter(|&instance| !self.symbols.all_instances[instance].is_metadata).collect()
    }

    /// The headers that may be extracted next behind a state, in the order of its cases.
    fn next_headers(&self, state: usize, extracts: &[Vec<usize>]) -> Vec<usize> {
        let mut found = Vec::new();
        let mut seen = BTreeSet::new();
        let mut pending: Vec<usize> = self.successors(state).into_iter().rev().collect();
        while let Some(next) = pending.pop() {
            if !seen.insert(next) {
                continue;
            }
            match extracts[next].first() {
                Some(&first) => {
                    if !found.contains(&first) {
                        found.push(first);
                    }
                }
                None => pending.extend(self.successors(next).into_iter().rev()),
            }
        }
        found
    }
}

/// The nodes that the roots reach, each before those that follow it, circles excepted.
fn reverse_postorder(roots: &[usize], follows: &[Vec<usize>]) -> Vec<usize> {
    let mut seen = vec![false; follows.len()];
    let mut order = Vec::new();
    for &root in roots {
        // The way down: a node, and how many of those that follow it were visited.
        let mut way: Vec<(usize, usize)> = Vec::new();
        if !std::mem::replace(&mut seen[root], true) {
            way.push((root, 0));
        }
        while let Some((node, next)) = way.last_mut() {
            match follows[*node].get(*next) {
                Some(&child) => {
                    *next += 1;
                    if !std::mem::replace(&mut seen[child], true) {
                        way.push((child, 0));
                    }
                }
                None => {
                    order.push(*node);
                    way.pop();
                }
            }
        }
    }
    order.reverse();
    order
}
