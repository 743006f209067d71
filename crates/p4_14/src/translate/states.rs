//! The parser: its states, the statements before them, and the handling of errors.
//!
//! A `select` concatenates its keys to one number, as P4_14 specifies; a case with several values becomes several
//! cases. `parse_error` and the predefined exceptions of P4_14 become errors of P4_16: parsing stops, and ingress,
//! which runs for such packets too, begins with the handlers (see `controls`).

use super::build::{self, Shape};
use super::exprs::{Element, HeaderRef, Operand, Place, Scope};
use super::{Done, Translator};
use crate::ast::{
    BinaryOperator, Call, Expr, ExprKind, Ident, Name, ParserState, Pragma, PragmaOperand, SelectCase, SelectValue,
    StateEnd, StateStatement, Target,
};
use crate::codes;
use base::{OrderedMap, OrderedSet, Span};
use num_bigint::BigInt;
use syntax::ast as p4;
use syntax::diag::Diagnostic;

/// The default size of a value set, as in the reference compiler.
const VALUE_SET_SIZE_DEFAULT: u32 = 4;

/// The predefined exceptions of P4_14, and the corresponding errors of P4_16.
pub(super) const STANDARD_EXCEPTIONS: [(&str, &str); 5] = [
    ("p4_pe_index_out_of_bounds", "StackOutOfBounds"),
    ("p4_pe_out_of_packet", "PacketTooShort"),
    ("p4_pe_header_too_long", "HeaderTooShort"),
    ("p4_pe_header_too_short", "ParserInvalidArgument"),
    ("p4_pe_unhandled_select", "NoMatch"),
];

/// The instance types of packets that have a named entry state.
const ENTRIES: [(&str, u32); 3] =
    [("start_i2e_mirrored", INGRESS_CLONE), ("start_e2e_mirrored", EGRESS_CLONE), ("start_coalesced", 3)];

/// Instance types of clones to egress.
const INGRESS_CLONE: u32 = 1;
const EGRESS_CLONE: u32 = 2;

/// The context of the states' translation.
struct Machine {
    /// The name of each state in P4_16.
    names: Vec<Name>,
    /// The header that was extracted last when a state begins, as far as it is unique.
    latest: Vec<Option<HeaderRef>>,
    /// The controls in which parsing may end, in the order of their names in the program.
    entries: Vec<usize>,
    /// States that record which of several controls follows, by control.
    entry_states: OrderedMap<usize, Name>,
    /// States that raise an error, by its name.
    error_states: OrderedMap<Name, Name>,
    /// The widths of the keys with which value sets are used.
    set_widths: OrderedMap<usize, (u32, Name)>,
    /// States that the translation adds.
    extra: Vec<p4::ParserState>,
}

impl Translator<'_, '_> {
    /// The parser, and the controls in which it may end.
    pub(super) fn parser(&mut self) -> (p4::Declaration, Vec<usize>) {
        let program = self.program;
        let mut machine = Machine {
            names: Vec::new(),
            latest: self.latest_headers(),
            entries: self.parser_ends(),
            entry_states: OrderedMap::new(),
            error_states: OrderedMap::new(),
            set_widths: OrderedMap::new(),
            extra: Vec::new(),
        };
        let before = self.statements_before();
        let has_own_start = before.is_empty() && !program.states.iter().any(|state| state.is_entry);
        for state in &program.states {
            let name = match state.name.as_str() {
                "start" if has_own_start => "start".into(),
                wanted => self.fresh(wanted),
            };
            machine.names.push(name);
        }
        self.hidden.has_entry = machine.entries.len() > 1;
        let mut states = Vec::new();
        match self.symbols.states.get("start") {
            Some(&start) if !has_own_start => states.push(self.start_state(start, before, &machine)),
            Some(_) => {}
            None => {
                let _: Done<()> = self.error(codes::NO_START_STATE, program.end, "there is no parser state `start`");
            }
        }
        for (index, state) in program.states.iter().enumerate() {
            if self.symbols.states.get(&state.name.name) == Some(&index)
                && let Some(translated) = self.state(index, state, &mut machine)
            {
                states.push(translated);
            }
        }
        states.append(&mut machine.extra);
        let locals = self.value_sets(&machine);
        let span = program.states.first().map_or(program.end, |state| state.name.span);
        let parser = self.parser_block(locals, states, span);
        (parser, machine.entries)
    }

    fn parser_block(
        &mut self,
        locals: Vec<p4::Declaration>,
        states: Vec<p4::ParserState>,
        span: Span,
    ) -> p4::Declaration {
        let own = &self.own;
        let packet = build::named_type("packet_in", span);
        let headers = build::named_type(&own.headers_type, span);
        let mut parameters = vec![
            build::parameter(p4::Direction::None, packet, &own.packet, span),
            build::parameter(p4::Direction::Out, headers, &own.headers, span),
        ];
        parameters.extend(self.block_parameters(true, span).into_iter().skip(1));
        let name = Ident { name: self.fresh("ParserImpl"), span };
        let signature = p4::ApplyType { name, type_parameters: Vec::new(), parameters };
        let parser = p4::ParserDeclaration { signature, constructor_parameters: Vec::new(), locals, states };
        build::declaration(p4::DeclarationKind::Parser(parser), span)
    }

    /// The controls that states transition to.
    fn parser_ends(&self) -> Vec<usize> {
        let mut ends = OrderedSet::new();
        let mut note = |target: &Target| {
            if !target.is_error && !self.symbols.states.contains_key(&target.name.name) {
                ends.extend(self.symbols.controls.get(&target.name.name).copied());
            }
        };
        for state in &self.program.states {
            match &state.end {
                Some(StateEnd::Go(target)) => note(target),
                Some(StateEnd::Select { cases, .. }) => cases.iter().for_each(|case| note(&case.target)),
                None => {}
            }
        }
        ends.into_iter().collect()
    }

    /// The statements before the first state: they set the initial values of metadata. A packet that was resubmitted,
    /// recirculated or cloned with a field list preserves the fields of the list.
    fn statements_before(&mut self) -> Vec<p4::Statement> {
        if self.symbols.all_instances.iter().any(|instance| !instance.values.is_empty()) {
            self.number_preserved_lists();
        }
        let mut statements = Vec::new();
        for index in 0..self.symbols.all_instances.len() {
            let instance = self.symbols.all_instances[index].clone();
            for (field, value) in instance.values {
                let Some(position) = self.symbols.types[instance.header_type].field(field.as_str()) else { continue };
                let place = self.place(HeaderRef { instance: index, element: Element::Only }, position, field.span);
                let Some(value) = self.value(value, place.shape, Scope::PLAIN) else { continue };
                let assignment = self.write(&place, value, field.span);
                let lists = self.preserved.get(&(index, position)).cloned().unwrap_or_default();
                statements.push(self.unless_preserved(&lists, assignment, field.span));
            }
        }
        let calls = self.flat_actions.iter().flat_map(|action| &action.calls);
        let clones = ["clone_ingress_pkt_to_egress", "clone_i2e", "clone_egress_pkt_to_egress", "clone_e2e"];
        if calls.filter(|call| call.object.is_none()).any(|call| clones.contains(&call.name.as_str())) {
            self.initial_values = statements.clone();
        }
        statements
    }

    /// The first statements of egress: a clone has lost what the parser set, so its metadata get their initial values
    /// here.
    pub(super) fn initial_values_of_clones(&mut self) -> Vec<p4::Statement> {
        let values = std::mem::take(&mut self.initial_values);
        if values.is_empty() {
            return values;
        }
        let span = self.program.end;
        let is_clone = |instance_type: u32| {
            let kind = build::member(build::name(&self.own.standard, span), "instance_type", span);
            let number = build::constant(&BigInt::from(instance_type), Shape::bits(32), span);
            build::binary(BinaryOperator::Equal, kind, number, span)
        };
        let is_any = build::binary(BinaryOperator::Or, is_clone(INGRESS_CLONE), is_clone(EGRESS_CLONE), span);
        vec![build::branch(is_any, values, Vec::new(), span)]
    }

    /// Assigns a number to each field list that an action preserves, before actions are translated.
    fn number_preserved_lists(&mut self) {
        let calls = self.flat_actions.iter().flat_map(|action| &action.calls);
        let asks = |call: &&Call| call.object.is_none() && super::primitives::keeps_list(&call.name.name);
        let lists: Vec<Expr> = calls.filter(asks).filter_map(|call| call.arguments.last().cloned()).collect();
        for list in lists.iter().filter(|list| self.is_field_list(list)).collect::<Vec<_>>() {
            self.hidden.has_preserved_list |= self.preserved_list(list).is_some();
        }
    }

    /// A statement for packets that were not created with one of these field lists.
    fn unless_preserved(&self, lists: &OrderedSet<u32>, statement: p4::Statement, span: Span) -> p4::Statement {
        let differs = |list: &u32| {
            let other = build::constant(&BigInt::from(*list), Shape::bits(8), span);
            build::binary(BinaryOperator::NotEqual, self.preserved_list_place(span), other, span)
        };
        let all = lists.iter().map(differs);
        match all.reduce(|left, right| build::binary(BinaryOperator::And, left, right, span)) {
            Some(condition) => build::branch(condition, vec![statement], Vec::new(), span),
            None => statement,
        }
    }

    /// `start`: initial values, then the program's own start or the entry state for the kind of packet.
    fn start_state(&mut self, start: usize, before: Vec<p4::Statement>, machine: &Machine) -> p4::ParserState {
        let program = self.program;
        let span = program.states[start].name.span;
        let own = Ident { name: machine.names[start].clone(), span };
        let mut cases = Vec::new();
        for (name, instance_type) in ENTRIES {
            let Some(&entry) = self.symbols.states.get(name) else { continue };
            if program.states[entry].is_entry {
                let value = build::constant(&BigInt::from(instance_type), Shape::bits(32), span);
                cases.push(case(value, &machine.names[entry], span));
            }
        }
        let kind = if cases.is_empty() {
            p4::TransitionKind::Direct(own)
        } else {
            cases.push(case(p4::Expr { kind: p4::ExprKind::Default, span }, &own.name, span));
            let key = build::member(build::name(&self.own.standard, span), "instance_type", span);
            p4::TransitionKind::Select { keys: vec![key], cases }
        };
        parser_state("start", before, kind, span)
    }

    /// For each state, the header that was extracted last when it begins, if that is the same on all paths to it.
    fn latest_headers(&mut self) -> Vec<Option<HeaderRef>> {
        let states = &self.program.states;
        // The lattice: nothing yet, one header, or several.
        let mut begins: Vec<Option<Option<HeaderRef>>> = vec![None; states.len()];
        let own: Vec<Option<HeaderRef>> = states.iter().map(|state| self.last_extracted(state)).collect();
        let mut pending: Vec<usize> = (0..states.len()).collect();
        while let Some(index) = pending.pop() {
            let Some(last) = own[index].or(begins[index].flatten()) else { continue };
            for next in self.successors(index) {
                let merged = match begins[next] {
                    None => Some(last),
                    Some(known) => known.filter(|&known| known == last),
                };
                if begins[next] != Some(merged) {
                    begins[next] = Some(merged);
                    pending.push(next);
                }
            }
        }
        begins.into_iter().map(Option::flatten).collect()
    }

    /// The header that a state extracts last, for its later statements.
    fn last_extracted(&self, state: &ParserState) -> Option<HeaderRef> {
        let extracted = state.statements.iter().rev().find_map(|statement| match statement {
            StateStatement::Extract(header) => Some(header),
            _ => None,
        })?;
        self.extracted(extracted)
    }

    /// The extracted instance, without an error if it is not a header.
    pub(super) fn extracted(&self, header: &Expr) -> Option<HeaderRef> {
        let (name, element) = match &header.kind {
            ExprKind::Name(name) => (name, Element::Only),
            ExprKind::Index(base, index) => match (&base.kind, &index.kind) {
                (ExprKind::Name(name), ExprKind::Name(_)) => (name, Element::Last),
                (ExprKind::Name(name), _) => {
                    let at = crate::symbols::fold(index).and_then(|at| u32::try_from(at).ok())?;
                    (name, Element::At(at))
                }
                _ => return None,
            },
            _ => return None,
        };
        let &instance = self.symbols.instances.get(name)?;
        Some(HeaderRef { instance, element })
    }

    /// The targets of a state, in the order of its cases.
    pub(super) fn successors(&self, index: usize) -> Vec<usize> {
        let state_of = |target: &Target| match target.is_error {
            true => None,
            false => self.symbols.states.get(&target.name.name).copied(),
        };
        match &self.program.states[index].end {
            Some(StateEnd::Go(target)) => state_of(target).into_iter().collect(),
            Some(StateEnd::Select { cases, .. }) => cases.iter().filter_map(|case| state_of(&case.target)).collect(),
            None => Vec::new(),
        }
    }

    fn state(&mut self, index: usize, state: &ParserState, machine: &mut Machine) -> Done<p4::ParserState> {
        let mut latest = machine.latest[index];
        let mut statements = Vec::new();
        for statement in &state.statements {
            match statement {
                StateStatement::Extract(header) => {
                    if self.extract(header, latest, &mut statements).is_some() {
                        latest = self.extracted(header);
                    }
                }
                StateStatement::Set(field, value) => {
                    let scope = Scope::parser(latest);
                    let _ = self.set(field, value, scope, &mut statements);
                }
                StateStatement::Assign(field, value) => {
                    let _ = self.assign(field, value, Scope::parser(latest), &mut statements);
                }
                StateStatement::Call(call) => {
                    let _ = self.method_statement(call, Scope::parser(latest), &mut statements);
                }
            }
        }
        let span = state.name.span;
        let kind = match &state.end {
            Some(StateEnd::Go(target)) => p4::TransitionKind::Direct(self.next_state(target, machine)?),
            Some(StateEnd::Select { keys, cases, span }) => {
                self.select(keys, cases, Scope::parser(latest), *span, machine)?
            }
            None => {
                let message = format!("parser state `{}` has no transition", state.name.name);
                return self.error(codes::NO_RETURN, span, message);
            }
        };
        Some(parser_state(&machine.names[index], statements, kind, span))
    }

    /// `set_metadata(field, value);`
    pub(super) fn set(
        &mut self,
        field: &Expr,
        value: &Expr,
        scope: Scope<'_>,
        out: &mut Vec<p4::Statement>,
    ) -> Done<()> {
        let place = self.metadata_field(field, scope)?;
        if !self.symbols.all_instances[place.header.instance].is_metadata {
            return self.error(codes::HEADER_OR_METADATA, field.span, "`set_metadata` writes to metadata only");
        }
        let value = self.value(value, place.shape, scope)?;
        out.push(self.write(&place, value, field.span));
        Some(())
    }

    /// A field of metadata, even if a header has the same name and such a field.
    fn metadata_field(&mut self, field: &Expr, scope: Scope<'_>) -> Done<Place> {
        let place = self.fixed_field(field, scope)?;
        let ExprKind::Member(_, member) = &field.kind else { return Some(place) };
        let instance = self.symbols.metadata_with(place.header.instance, member.as_str());
        if instance == place.header.instance {
            return Some(place);
        }
        let header_type = &self.symbols.types[self.symbols.all_instances[instance].header_type];
        let position = header_type.field(member.as_str())?;
        Some(self.place(HeaderRef { instance, element: Element::Only }, position, field.span))
    }

    /// `field = value;`: metadata, or a field of a header that was extracted.
    fn assign(&mut self, field: &Expr, value: &Expr, scope: Scope<'_>, out: &mut Vec<p4::Statement>) -> Done<()> {
        let place = self.fixed_field(field, scope)?;
        let value = self.value(value, place.shape, scope)?;
        out.push(self.write(&place, value, field.span));
        Some(())
    }

    /// `extract(header);`
    fn extract(&mut self, header: &Expr, latest: Option<HeaderRef>, out: &mut Vec<p4::Statement>) -> Done<()> {
        let span = header.span;
        let found = self.header(header, Scope::parser(latest))?;
        let instance = self.symbols.all_instances[found.instance].clone();
        if instance.is_metadata {
            return self.error(
                codes::HEADER_OR_METADATA,
                span,
                "metadata is not in the packet: it cannot be extracted",
            );
        }
        let mut arguments = vec![self.header_expr(found, span)];
        let header_type = self.symbols.types[instance.header_type].clone();
        if header_type.is_variable() {
            // A type without `length` is reported at its declaration.
            let length = header_type.length?;
            arguments.push(self.variable_bits(length, &header_type, span)?);
        }
        let callee = build::member(build::name(&self.own.packet, span), "extract", span);
        out.push(build::do_call(callee, arguments, span));
        Some(())
    }

    /// The width in bits of a header's field of variable length: 8 times the length, less the widths of the other
    /// fields. The fields in the length expression are looked ahead before they are extracted.
    fn variable_bits(
        &mut self,
        length: &Expr,
        header_type: &crate::symbols::HeaderType<'_>,
        span: Span,
    ) -> Done<p4::Expr> {
        let before: u32 =
            header_type.fields.iter().take_while(|field| !field.is_variable).map(|field| field.width).sum();
        let bytes = self.length_value(length, header_type, before, span)?;
        let word = Shape::bits(32);
        let bits = build::binary(BinaryOperator::ShiftLeft, bytes, build::number(&BigInt::from(3), span), span);
        let fixed = build::constant(&BigInt::from(header_type.fixed_bits()), word, span);
        Some(build::binary(BinaryOperator::Subtract, bits, fixed, span))
    }

    /// A length expression in 32 bits.
    fn length_value(
        &mut self,
        length: &Expr,
        header_type: &crate::symbols::HeaderType<'_>,
        before: u32,
        span: Span,
    ) -> Done<p4::Expr> {
        let word = Shape::bits(32);
        match &length.kind {
            ExprKind::Integer(value, _) => Some(build::constant(value, word, span)),
            ExprKind::Name(name) => {
                let position = header_type.field(name)?;
                let offset: u32 = header_type.fields[..position].iter().map(|field| field.width).sum();
                let high = before.checked_sub(offset + 1)?;
                let width = header_type.fields[position].width;
                let low = (high + 1).checked_sub(width)?;
                let bits = build::slice(self.lookahead(before, span), high, low, span);
                Some(build::convert(bits, Shape::bits(width), word))
            }
            ExprKind::Binary(operator, left, right) => {
                let left = self.length_value(left, header_type, before, span)?;
                let right = self.length_value(right, header_type, before, span)?;
                Some(build::binary(*operator, left, right, span))
            }
            ExprKind::Unary(operator, operand) => {
                let operand = self.length_value(operand, header_type, before, span)?;
                Some(build::unary(*operator, operand, span))
            }
            _ => None,
        }
    }

    // ------------------------------------------------------------------------------------------------ transitions

    fn select(
        &mut self,
        keys: &[Expr],
        cases: &[SelectCase],
        scope: Scope<'_>,
        span: Span,
        machine: &mut Machine,
    ) -> Done<p4::TransitionKind> {
        let mut joined: Option<(p4::Expr, u32)> = None;
        let mut widths = Vec::new();
        for key in keys {
            let (value, shape) = match self.operand(key, scope)? {
                Operand::Bits(value, shape) => (value, shape),
                Operand::Truth(value) => {
                    (build::cast_to(build::bit_type(Shape::bits(1), key.span), value), Shape::bits(1))
                }
                Operand::Number(value, width) => {
                    let shape = Shape::bits(width.unwrap_or_else(|| super::exprs::bits_of(&value)));
                    (build::constant(&value, shape, key.span), shape)
                }
            };
            let value = build::convert(value, shape, Shape::bits(shape.width));
            widths.push(shape.width);
            joined = Some(match joined {
                Some((high, width)) => {
                    (build::binary(BinaryOperator::Concatenate, high, value, span), width.saturating_add(shape.width))
                }
                None => (value, shape.width),
            });
        }
        let (key, width) = joined?;
        if width > base::limits::WIDTH_BITS_MAX {
            let message = format!("the keys of a `select` may have {} bits at most", base::limits::WIDTH_BITS_MAX);
            return self.error(codes::OUT_OF_RANGE, span, message);
        }
        self.check_defaults(cases)?;
        let (mut translated, mut default) = (Vec::new(), None);
        for select_case in cases {
            let target = self.next_state(&select_case.target, machine);
            for value in &select_case.values {
                let keyset = self.keyset(value, width, &widths, machine);
                let (Some(keyset), Some(target)) = (keyset, &target) else { continue };
                let case = case(keyset, &target.name, select_case.span);
                match value {
                    SelectValue::Default(_) => default = Some(case),
                    SelectValue::Value(..) | SelectValue::Tuple(..) => translated.push(case),
                }
            }
        }
        // `default` applies if nothing else matches, wherever it stands.
        translated.extend(default);
        Some(p4::TransitionKind::Select { keys: vec![key], cases: translated })
    }

    /// A `select` has at most one `default`.
    fn check_defaults(&mut self, cases: &[SelectCase]) -> Done<()> {
        let mut defaults = cases.iter().flat_map(|case| &case.values).filter_map(|value| match value {
            SelectValue::Default(span) => Some(*span),
            SelectValue::Value(..) | SelectValue::Tuple(..) => None,
        });
        let (first, Some(second)) = (defaults.next(), defaults.next()) else { return Some(()) };
        let diagnostic = Diagnostic::error(codes::REPEATED_PART, second, "`default` is given twice");
        self.diagnostics.push(match first {
            Some(first) => diagnostic.secondary(first, "the first is here"),
            None => diagnostic,
        });
        None
    }

    fn keyset(&mut self, value: &SelectValue, width: u32, widths: &[u32], machine: &mut Machine) -> Done<p4::Expr> {
        let shape = Shape::bits(width);
        let (value, mask) = match value {
            SelectValue::Default(span) => return Some(p4::Expr { kind: p4::ExprKind::Default, span: *span }),
            SelectValue::Value(value, mask) => (value, mask),
            SelectValue::Tuple(values, span) => return self.joined_keyset(values, widths, *span),
        };
        if let ExprKind::Name(name) = &value.kind {
            let name = Ident { name: name.clone(), span: value.span };
            let set = self.lookup(|symbols| &symbols.value_sets, &name, "value set")?;
            return self.value_set_use(set, width, value.span, machine);
        }
        let bits = self.value(value, shape, Scope::PLAIN)?;
        let Some(mask) = mask else { return Some(bits) };
        let mask = self.value(mask, shape, Scope::PLAIN)?;
        let span = value.span.to(mask.span);
        Some(p4::Expr { kind: p4::ExprKind::Mask { value: Box::new(bits), mask: Box::new(mask) }, span })
    }

    /// A value for each key, combined like the concatenated keys.
    fn joined_keyset(&mut self, values: &[(Expr, Option<Expr>)], widths: &[u32], span: Span) -> Done<p4::Expr> {
        if values.len() != widths.len() {
            let message = format!("these are {} values for {} keys", values.len(), widths.len());
            return self.error(codes::WRONG_VALUE, span, message);
        }
        let (mut joined, mut mask) = (BigInt::ZERO, BigInt::ZERO);
        for ((value, own_mask), &width) in values.iter().zip(widths) {
            let all = build::wrapped(&BigInt::from(-1), width);
            let own_mask = match own_mask {
                Some(mask) => build::wrapped(&self.constant_number(mask)?, width),
                None => all,
            };
            joined = (joined << width) | build::wrapped(&self.constant_number(value)?, width);
            mask = (mask << width) | own_mask;
        }
        let shape = Shape::bits(widths.iter().sum());
        let value = build::constant(&joined, shape, span);
        if mask == build::wrapped(&BigInt::from(-1), shape.width) {
            return Some(value);
        }
        let mask = Box::new(build::constant(&mask, shape, span));
        Some(p4::Expr { kind: p4::ExprKind::Mask { value: Box::new(value), mask }, span })
    }

    fn constant_number(&mut self, expr: &Expr) -> Done<BigInt> {
        match crate::symbols::fold(expr) {
            Some(value) => Some(value),
            None => self.error(codes::NOT_CONSTANT, expr.span, "this must be a constant number"),
        }
    }

    fn value_set_use(&mut self, set: usize, width: u32, span: Span, machine: &mut Machine) -> Done<p4::Expr> {
        if let Some((known, name)) = machine.set_widths.get(&set) {
            let (known, name) = (*known, name.clone());
            if known != width {
                let message =
                    format!("the value set is used for {width} bits here, and for {known} bits at another place");
                return self.error(codes::VALUE_SET_WIDTH, span, message);
            }
            return Some(build::name(&name, span));
        }
        let wanted = self.program.value_sets[set].name.name.clone();
        let name = self.fresh(&wanted);
        machine.set_widths.insert(set, (width, name.clone()));
        Some(build::name(&name, span))
    }

    /// The used value sets, as declarations of the parser.
    fn value_sets(&mut self, machine: &Machine) -> Vec<p4::Declaration> {
        let mut declarations = Vec::new();
        for (&set, (width, name)) in &machine.set_widths {
            let declared = &self.program.value_sets[set];
            let span = declared.name.span;
            let size = match (&declared.size, size_of(&declared.pragmas)) {
                (Some(size), _) => self.count(size, 1, 1 << 20).unwrap_or(1) as u32,
                (None, Some(size)) => size,
                (None, None) => VALUE_SET_SIZE_DEFAULT,
            };
            let kind = p4::DeclarationKind::ValueSet(p4::ValueSet {
                element_type: build::bit_type(Shape::bits(*width), span),
                size: build::number(&BigInt::from(size), span),
                name: build::ident(name, span),
            });
            let mut declaration = build::declaration(kind, span);
            declaration.annotations = build::pragmas(&declared.pragmas);
            declaration.annotations.push(build::control_plane_name(&declared.name.name, span));
            declarations.push(declaration);
        }
        declarations
    }

    /// The state for a target.
    fn next_state(&mut self, target: &Target, machine: &mut Machine) -> Done<Ident> {
        let name = &target.name;
        let at = |state: &Name| Some(Ident { name: state.clone(), span: name.span });
        if target.is_error {
            let state = self.error_state(name, machine)?;
            return at(&state);
        }
        if let Some(&state) = self.symbols.states.get(&name.name) {
            return at(&machine.names[state]);
        }
        if !self.symbols.controls.contains_key(&name.name) && name.as_str() == "P4_PARSING_DONE" {
            return at(&"accept".into());
        }
        let control = self.lookup(|symbols| &symbols.controls, name, "parser state or control")?;
        if machine.entries.len() < 2 {
            return at(&"accept".into());
        }
        if let Some(state) = machine.entry_states.get(&control) {
            return at(state);
        }
        let position = machine.entries.iter().position(|&entry| entry == control)?;
        let state = self.fresh(&format!("to_{}", name.name));
        let flag = build::member(build::name(&self.own.metadata, name.span), &self.own.entry, name.span);
        let value = build::constant(&BigInt::from(position), Shape::bits(8), name.span);
        let note = build::assign(flag, value, name.span);
        let accept = p4::TransitionKind::Direct(build::ident("accept", name.span));
        machine.extra.push(parser_state(&state, vec![note], accept, name.span));
        machine.entry_states.insert(control, state.clone());
        at(&state)
    }

    /// The state that raises an exception.
    fn error_state(&mut self, exception: &Ident, machine: &mut Machine) -> Done<Name> {
        if let Some(state) = machine.error_states.get(&exception.name) {
            return Some(state.clone());
        }
        let is_standard = STANDARD_EXCEPTIONS.iter().any(|(name, _)| *name == exception.as_str())
            || matches!(exception.as_str(), "p4_pe_checksum" | "p4_pe_default");
        if !is_standard {
            self.lookup(|symbols| &symbols.exceptions, exception, "exception")?;
        }
        let span = exception.span;
        let error = self.error_of(exception);
        let state = self.fresh(&format!("raise_{}", exception.name));
        let verify = build::do_call(build::name("verify", span), vec![build::truth(false, span), error], span);
        let reject = p4::TransitionKind::Direct(build::ident("reject", span));
        machine.extra.push(parser_state(&state, vec![verify], reject, span));
        machine.error_states.insert(exception.name.clone(), state.clone());
        Some(state)
    }

    /// The error of P4_16 for an exception.
    pub(super) fn error_of(&mut self, exception: &Ident) -> p4::Expr {
        let standard = STANDARD_EXCEPTIONS.iter().find(|(name, _)| *name == exception.as_str());
        if let Some((_, error)) = standard {
            return build::enum_member("error", error, exception.span);
        }
        if !self.errors.iter().any(|known| known.name == exception.name) {
            self.errors.push(exception.clone());
        }
        build::enum_member("error", &exception.name, exception.span)
    }
}

/// The size in `@pragma parser_value_set_size`.
fn size_of(pragmas: &[Pragma]) -> Option<u32> {
    let pragma = pragmas.iter().find(|pragma| pragma.name.as_str() == "parser_value_set_size")?;
    match pragma.operands.as_slice() {
        [PragmaOperand::Number(size)] => u32::try_from(size).ok().filter(|size| (1..=1 << 20).contains(size)),
        _ => None,
    }
}

fn case(keyset: p4::Expr, next: &str, span: Span) -> p4::SelectCase {
    let keyset = p4::Keyset { span: keyset.span, elements: vec![keyset] };
    p4::SelectCase { keyset, next: build::ident(next, span), span }
}

fn parser_state(name: &str, statements: Vec<p4::Statement>, kind: p4::TransitionKind, span: Span) -> p4::ParserState {
    let transition = Some(p4::Transition { kind, span });
    p4::ParserState { annotations: Vec::new(), name: build::ident(name, span), statements, transition, span }
}
