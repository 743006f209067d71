//! The writer of the text form.

use super::{DIRECTIONS, DROP_REASONS, EXTERN_KINDS, HASHES, UNITS, word_of};
use crate::v1model::DROP_PORT;
use crate::walk;
use crate::*;
use base::index::Id as _;
use base::{Bits, FieldMatch, MatchKind, Span};
use std::fmt::{self, Write as _};

/// The text of a program.
pub fn print(program: &Program) -> String {
    Printer { program, annotated: false, depth: 0, text: String::new() }.run()
}

/// The text of a program, with the names of the variables and fields that each statement mentions as a comment after
/// it.
pub fn print_annotated(program: &Program) -> String {
    Printer { program, annotated: true, depth: 0, text: String::new() }.run()
}

/// The text of a statement, with a newline at the end of every line.
pub fn print_stmt(program: &Program, stmt: &Stmt) -> String {
    let mut printer = Printer { program, annotated: false, depth: 0, text: String::new() };
    printer.stmt(stmt);
    printer.text
}

struct Printer<'p> {
    program: &'p Program,
    annotated: bool,
    depth: usize,
    text: String,
}

impl Printer<'_> {
    fn run(mut self) -> String {
        let program = self.program;
        self.line(&format!("program {}", program.architecture.name));
        if program.drop_port != DROP_PORT {
            self.line(&format!("drop_port {}", program.drop_port));
        }
        if !program.host_ports.is_empty() {
            let ports = list(&program.host_ports, |(first, last)| format!("{first} .. {last}"));
            self.line(&format!("host_ports ({ports})"));
        }
        let errors: Vec<String> = program.errors.iter().map(|name| format!(" {}", quoted(name))).collect();
        self.line(&format!("errors{}", errors.concat()));
        self.line(&format!("labels {}", program.labels));
        self.storage();
        self.externs();
        for (id, routine) in program.routines.iter_enumerated() {
            self.open(&format!("{id} {}{}", quoted(&routine.name), span(routine.span)));
            self.body(&routine.body);
            self.close();
        }
        for (id, action) in program.actions.iter_enumerated() {
            let params = list(&action.params, |var| var.to_string());
            let empty = match &action.empty_params[..] {
                [] => String::new(),
                all => format!(" empty ({})", list(all, |it| format!("{} {}", it.position, quoted(&it.name)))),
            };
            self.open(&format!("{id} {} ({params}){empty}{}", quoted(&action.name), span(action.span)));
            self.body(&action.body);
            self.close();
        }
        for (id, table) in program.tables.iter_enumerated() {
            self.table(id, table);
        }
        for (id, block) in program.blocks.iter_enumerated() {
            self.block(id, block);
        }
        for (id, decisions) in program.decisions.iter_enumerated() {
            let name = program.architecture.points.get(id.index()).filter(|_| self.annotated);
            self.open_named(&id.to_string(), &name.map_or(String::new(), |point| format!("  # {}", point.name)));
            self.body(decisions);
            self.close();
        }
        self.text
    }

    fn line(&mut self, line: &str) {
        for _ in 0..self.depth {
            self.text.push_str("  ");
        }
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn open(&mut self, head: &str) {
        self.line(&format!("{head} {{"));
        self.depth += 1;
    }

    fn close(&mut self) {
        self.depth -= 1;
        self.line("}");
    }

    fn storage(&mut self) {
        let program = self.program;
        for (id, var) in program.vars.iter_enumerated() {
            let kind = match var.kind {
                VarKind::Intrinsic(slot) => format!("intrinsic {slot}"),
                VarKind::Metadata => "metadata".into(),
                VarKind::Local => "local".into(),
            };
            self.line(&format!("{id} {} {} {kind}", quoted(&var.name), var.ty));
        }
        for (id, header_type) in program.header_types.iter_enumerated() {
            self.open(&format!("{id} {}", quoted(&header_type.name)));
            for field in &header_type.fields {
                let holds = match field.ty {
                    FieldType::Fixed(fixed) => fixed.to_string(),
                    FieldType::Varbit(max) => format!("varbit<{max}>"),
                };
                self.line(&format!("{} {holds}", quoted(&field.name)));
            }
            self.close();
        }
        for (id, header) in program.headers.iter_enumerated() {
            let life = if header.metadata { "metadata" } else { "local" };
            self.line(&format!("{id} {} {} {life}", quoted(&header.name), header.ty));
        }
        for (id, stack) in program.stacks.iter_enumerated() {
            let elements = list(&stack.elements, |header| header.to_string());
            self.line(&format!("{id} {} [{elements}] next {}", quoted(&stack.name), stack.next));
        }
    }

    fn externs(&mut self) {
        let program = self.program;
        for (id, register) in program.registers.iter_enumerated() {
            let initial = match register.initial.is_zero() {
                true => String::new(),
                false => format!(" initial {:?}", register.initial),
            };
            let start_number = if register.is_start_number { " start_number" } else { "" };
            let parts = match register.parts_bits.as_slice() {
                [_] => String::new(),
                parts => format!(" parts [{}]", list(parts, u32::to_string)),
            };
            let (name, ty) = (quoted(&register.name), register.ty);
            self.line(&format!("{id} {name} {ty} size {}{initial}{start_number}{parts}", register.size));
        }
        for (id, counter) in program.counters.iter_enumerated() {
            let unit = word_of(&UNITS, &counter.unit);
            self.line(&format!("{id} {} {unit} size {}", quoted(&counter.name), counter.size));
        }
        for (id, meter) in program.meters.iter_enumerated() {
            let unit = word_of(&UNITS, &meter.unit);
            self.line(&format!("{id} {} {unit} size {}", quoted(&meter.name), meter.size));
        }
        for (id, counter) in program.direct_counters.iter_enumerated() {
            self.line(&format!("{id} {} {}", quoted(&counter.name), word_of(&UNITS, &counter.unit)));
        }
        for (id, meter) in program.direct_meters.iter_enumerated() {
            self.line(&format!("{id} {} {}", quoted(&meter.name), word_of(&UNITS, &meter.unit)));
        }
        for (id, digest) in program.digests.iter_enumerated() {
            let fields = list(&digest.fields, |(name, field)| format!("{} {field}", quoted(name)));
            self.line(&format!("{id} {} receiver {} ({fields})", quoted(&digest.name), digest.receiver));
        }
        for (id, set) in program.value_sets.iter_enumerated() {
            let key =
                |(name, width, kind): &(String, u32, MatchKind)| format!("{} {width} {}", quoted(name), kind.name());
            self.line(&format!("{id} {} size {} ({})", quoted(&set.name), set.size, list(&set.keys, key)));
        }
        for (id, fields) in program.field_lists.iter_enumerated() {
            let vars = list(&fields.vars, |var| var.to_string());
            self.line(&format!("{id} number {} [{vars}]{}", fields.number, span(fields.span)));
        }
        for (id, calculation) in program.calculations.iter_enumerated() {
            self.line(&format!("{id} {} crc {}", quoted(&calculation.name), calculation.width_bits));
        }
        for (id, profile) in program.action_profiles.iter_enumerated() {
            let selector = profile.selector.map_or(String::new(), |it| format!(" selector {}", algorithm_text(it)));
            self.line(&format!("{id} {} size {}{selector}", quoted(&profile.name), profile.size));
        }
        for (id, function) in program.extern_functions.iter_enumerated() {
            let kind = word_of(&EXTERN_KINDS, &function.kind);
            let pure = if function.is_pure { " pure" } else { "" };
            let params = list(&function.params, extern_param);
            let result = function.result.map_or(String::new(), |result| format!(" returns {result}"));
            let head = format!("{id} {} {kind}{pure}", quoted(&function.symbol));
            self.line(&format!("{head} ({params}){result}{}", span(function.span)));
        }
        for (id, instance) in program.extern_instances.iter_enumerated() {
            let args = list(&instance.args, |arg| constant(arg, Type::Bit(arg.width())));
            self.line(&format!("{id} {} {} ({args})", quoted(&instance.name), instance.constructor));
        }
    }

    fn table(&mut self, id: TableId, table: &Table) {
        self.open(&format!("{id} {} size {}{}", quoted(&table.name), table.size, span(table.span)));
        for key in &table.keys {
            let kind = key.kind.name();
            self.line(&format!("key {} {kind} {}", quoted(&key.name), expression(&key.expr)));
        }
        for listed in &table.actions {
            let table_only = if listed.table_only { " table_only" } else { "" };
            let default_only = if listed.default_only { " default_only" } else { "" };
            self.line(&format!("action {}{table_only}{default_only}", listed.action));
        }
        let constant = if table.const_default { "const " } else { "" };
        self.line(&format!("{constant}default {}", call(&table.default_action)));
        if table.const_entries {
            self.line("const_entries");
        }
        for entry in &table.entries {
            let key = list(&entry.key, entry_key);
            let constant = if entry.is_const { "const " } else { "" };
            let (priority, call) = (entry.priority, call(&entry.call));
            self.line(&format!("entry {constant}({key}) priority {priority} {call}{}", span(entry.span)));
        }
        for counter in &table.direct_counters {
            self.line(&format!("direct_counter {counter}"));
        }
        if let Some((meter, place)) = &table.direct_meter {
            let place = place.as_ref().map_or(String::new(), |place| format!(" into {}", place_text(place)));
            self.line(&format!("direct_meter {meter}{place}"));
        }
        if let Some(Implementation { profile, inputs }) = &table.implementation {
            self.line(&format!("implementation {profile} ({})", list(inputs, hash_input)));
        }
        if table.support_timeout {
            self.line("support_timeout");
        }
        if table.expires {
            self.line("expires");
        }
        if table.adds_on_miss {
            self.line("adds_on_miss");
        }
        self.close();
    }

    fn block(&mut self, id: BlockId, block: &Block) {
        let exit = block.exit.map_or(String::new(), |label| format!(" exit {label}"));
        match &block.kind {
            BlockKind::Parser { start, states, error } => {
                self.open(&format!("{id} {} parser start {start} error {error}{exit}", quoted(&block.name)));
                for (id, state) in states.iter_enumerated() {
                    self.open(&format!("{id} {}{}", quoted(&state.name), span(state.span)));
                    self.body(&state.body);
                    self.transition(&state.transition);
                    self.close();
                }
            }
            BlockKind::Control { body } => {
                self.open(&format!("{id} {} control{exit}", quoted(&block.name)));
                self.body(body);
            }
        }
        self.close();
    }

    fn transition(&mut self, transition: &Transition) {
        match transition {
            Transition::Goto(to) => self.line(&format!("goto {}", target(*to))),
            Transition::Select { keys, cases } => {
                self.open(&format!("select ({})", list(keys, expression)));
                for case in cases {
                    let sets = list(&case.sets, key_set);
                    self.line(&format!("case ({sets}): {}{}", target(case.target), span(case.span)));
                }
                self.close();
            }
        }
    }

    fn body(&mut self, body: &[Stmt]) {
        for stmt in body {
            self.stmt(stmt);
        }
    }

    fn stmt(&mut self, stmt: &Stmt) {
        let at = span(stmt.span);
        let names = if self.annotated { self.names(&stmt.kind) } else { String::new() };
        match &stmt.kind {
            StmtKind::If { cond, then_body, else_body } => {
                self.open_named(&format!("if {}{at}", expression(cond)), &names);
                self.body(then_body);
                if !else_body.is_empty() {
                    self.depth -= 1;
                    self.open("} else");
                    self.body(else_body);
                }
                self.close();
            }
            StmtKind::Switch { value, cases, default } => {
                self.open_named(&format!("switch {}{at}", expression(value)), &names);
                for case in cases {
                    self.open(&format!(
                        "case {}",
                        list(&case.values, |value| constant(value, Type::Bit(value.width())))
                    ));
                    self.body(&case.body);
                    self.close();
                }
                self.open("default");
                self.body(default);
                self.close();
                self.close();
            }
            StmtKind::Block { label, body } => {
                self.open(&format!("block {label}{at}"));
                self.body(body);
                self.close();
            }
            StmtKind::Loop { label, body } => {
                self.open(&format!("loop {label}{at}"));
                self.body(body);
                self.close();
            }
            simple => self.line(&format!("{}{at}{names}", simple_statement(simple))),
        }
    }

    fn open_named(&mut self, head: &str, names: &str) {
        self.line(&format!("{head} {{{names}"));
        self.depth += 1;
    }

    /// The names of the variables and fields that a statement itself mentions, as a comment.
    fn names(&self, stmt: &StmtKind) -> String {
        let mut names: Vec<String> = Vec::new();
        let mut add = |name: String| {
            if !names.contains(&name) {
                names.push(name);
            }
        };
        let program = self.program;
        walk::visit_own(stmt, &mut |item| match item {
            walk::Item::Var(var) => add(program.vars[var].name.clone()),
            walk::Item::Header(HeaderRef::Fixed(header)) => add(program.headers[*header].name.clone()),
            walk::Item::Header(header) => add(format!("{} of {}", header_text(header), stack_name(program, header))),
            walk::Item::Field(HeaderRef::Fixed(header), field) => {
                let name = &program.header_type(&HeaderRef::Fixed(*header)).fields[field as usize].name;
                add(format!("{}.{name}", program.headers[*header].name));
            }
            walk::Item::Field(header, field) => {
                let name = &program.header_type(header).fields[field as usize].name;
                add(format!("{}[].{name}", stack_name(program, header)));
            }
            walk::Item::Table(table) => add(program.tables[table].name.clone()),
            walk::Item::Expr(_) | walk::Item::Place(_) => {}
        });
        if names.is_empty() { String::new() } else { format!("  # {}", quoted_comment(&names.join(", "))) }
    }
}

fn extern_param(param: &ExternParam) -> String {
    let what = match &param.ty {
        ExternType::Value(value) => value.to_string(),
        ExternType::Text(text) => format!("text {}", quoted(text)),
        ExternType::Object(instance) => instance.to_string(),
    };
    format!("{} {} {what}", word_of(&DIRECTIONS, &param.direction), quoted(&param.name))
}

fn stack_name<'p>(program: &'p Program, header: &HeaderRef) -> &'p str {
    match header {
        HeaderRef::Fixed(header) => &program.headers[*header].name,
        HeaderRef::Element { stack, .. } | HeaderRef::Next(stack) | HeaderRef::Last(stack) => {
            &program.stacks[*stack].name
        }
    }
}

/// A comment may contain anything but a line end.
fn quoted_comment(text: &str) -> String {
    text.chars().map(|character| if character.is_control() { ' ' } else { character }).collect()
}

/// A statement that has no body.
fn simple_statement(stmt: &StmtKind) -> String {
    match stmt {
        StmtKind::Assign { dst, src } => format!("{} = {}", place_text(dst), expression(src)),
        StmtKind::SetValid(header) => format!("set_valid {}", header_text(header)),
        StmtKind::SetInvalid(header) => format!("set_invalid {}", header_text(header)),
        StmtKind::CopyHeader { dst, src } => format!("copy {} = {}", header_text(dst), header_text(src)),
        StmtKind::CopyVarbit { dst, src } => {
            format!("copy_varbit {}.{} = {}.{}", header_text(&dst.0), dst.1, header_text(&src.0), src.1)
        }
        StmtKind::SetVarbit { dst, length_bits, value } => {
            format!(
                "set_varbit {}.{} = {} of {}",
                header_text(&dst.0),
                dst.1,
                expression(length_bits),
                expression(value)
            )
        }
        StmtKind::PushFront { stack, count } => format!("push_front {stack} {count}"),
        StmtKind::PopFront { stack, count } => format!("pop_front {stack} {count}"),
        StmtKind::Leave(label) => format!("leave {label}"),
        StmtKind::Call(routine) => format!("call {routine}"),
        StmtKind::ApplyTable { table, hit, action } => {
            let hit = hit.map_or(String::new(), |var| format!(" hit {var}"));
            let action = action.map_or(String::new(), |var| format!(" action {var}"));
            format!("apply {table}{hit}{action}")
        }
        StmtKind::CountLookup { table, hit, entry } => {
            format!("count_lookup {table} hit {} entry {}", expression(hit), expression(entry))
        }
        StmtKind::Extract { dst, varbit_bits: None } => format!("extract {}", header_text(dst)),
        StmtKind::Extract { dst, varbit_bits: Some(bits) } => {
            format!("extract {} varbit {}", header_text(dst), expression(bits))
        }
        StmtKind::Advance { bits } => format!("advance {}", expression(bits)),
        StmtKind::Lookahead { dst, offset_bits, checked } => {
            let checked = if *checked { "checked" } else { "unchecked" };
            format!("lookahead {} = {offset_bits} {checked}", place_text(dst))
        }
        StmtKind::Verify { cond, error } => format!("verify {} error {}", expression(cond), expression(error)),
        StmtKind::Emit(header) => format!("emit {}", header_text(header)),
        StmtKind::RegisterRead { dst, register, index } => {
            format!("read {} = {register}[{}]", place_text(dst), expression(index))
        }
        StmtKind::RegisterWrite { register, index, value } => {
            format!("write {register}[{}] = {}", expression(index), expression(value))
        }
        StmtKind::Count { counter, index } => format!("count {counter}[{}]", expression(index)),
        StmtKind::ExecuteMeter { dst, meter, index, before } => {
            format!("execute {} = {meter}[{}]{}", place_text(dst), expression(index), after(before))
        }
        StmtKind::ExecuteDirectMeter { dst, meter, before } => {
            format!("execute_direct {} = {meter}{}", place_text(dst), after(before))
        }
        StmtKind::Hash { dst, algorithm, inputs, payload } => {
            let payload = if *payload { " payload" } else { "" };
            let algorithm = algorithm_text(*algorithm);
            format!("hash {} = {algorithm}({}){payload}", place_text(dst), list(inputs, hash_input))
        }
        StmtKind::Random { dst, low, high } => {
            format!("random {} = {} .. {}", place_text(dst), expression(low), expression(high))
        }
        StmtKind::AddEntry { dst, table, keys, action, args, profile } => {
            let (keys, args) = (list(keys, expression), list(args, expression));
            format!("add_entry {} = {table} ({keys}) {action}({args}) timer {}", place_text(dst), expression(profile))
        }
        StmtKind::SetTimer { profile: None } => "restart_timer".into(),
        StmtKind::SetTimer { profile: Some(profile) } => format!("set_timer {}", expression(profile)),
        StmtKind::Digest { digest, values } => format!("digest {digest} ({})", list(values, expression)),
        StmtKind::Log { message, args } => format!("log {} ({})", quoted(message), list(args, expression)),
        StmtKind::CallExtern { dst, function, instance, inputs } => {
            let dst = dst.as_ref().map_or(String::new(), |dst| format!(" {} =", place_text(dst)));
            let instance = instance.map_or(String::new(), |instance| format!(" of {instance}"));
            format!("call{dst} {function}{instance} ({})", list(inputs, expression))
        }
        StmtKind::Assert { cond, text } => format!("assert {} {}", expression(cond), quoted(text)),
        StmtKind::Send { port, limit: None } => format!("send {}", expression(port)),
        StmtKind::Send { port, limit: Some(limit) } => format!("send {} limit {}", expression(port), expression(limit)),
        StmtKind::Enqueue { port, priority, keeps } => {
            let keeps = keeps.map_or(String::new(), |list| format!(" keeps {list}"));
            format!("enqueue {} priority {}{keeps}", expression(port), expression(priority))
        }
        StmtKind::Drop(reason) => format!("drop {}", word_of(&DROP_REASONS, reason)),
        StmtKind::Punt(slot) => format!("punt {slot}"),
        StmtKind::If { .. } | StmtKind::Switch { .. } | StmtKind::Block { .. } | StmtKind::Loop { .. } => {
            unreachable!("a statement with a body")
        }
    }
}

fn algorithm_text(algorithm: HashAlgorithm) -> String {
    match algorithm {
        HashAlgorithm::Custom(calculation) => calculation.to_string(),
        HashAlgorithm::Continued(calculation) => format!("continue {calculation}"),
        HashAlgorithm::Remainder { width_bits, polynomial } => format!("remainder {width_bits} {polynomial}"),
        standard => word_of(&HASHES, &standard).to_owned(),
    }
}

fn hash_input(input: &HashInput) -> String {
    let value = match &input.value {
        HashValue::Expr(expr) => expression(expr),
        HashValue::Varbit(header, field) => format!("varbit {}.{field}", header_text(header)),
    };
    let guard = input.guard.as_ref().map_or(String::new(), |header| format!(" if {}", header_text(header)));
    value + &guard
}

fn expression(expr: &Expr) -> String {
    match &expr.kind {
        ExprKind::Const(value) => constant(value, expr.ty),
        ExprKind::Var(var) => var.to_string(),
        ExprKind::Field(header, field) => format!("{}.{field}", header_text(header)),
        ExprKind::IsValid(header) => format!("valid({})", header_text(header)),
        ExprKind::VarbitLength(header, field) => format!("varbit_length({}.{field})", header_text(header)),
        ExprKind::VarbitBits(header, field) => format!("varbit_bits({}.{field})", header_text(header)),
        ExprKind::VarbitEqual(a, b) => {
            format!("varbit_equal({}.{}, {}.{})", header_text(&a.0), a.1, header_text(&b.0), b.1)
        }
        ExprKind::Unary(UnaryOp::Neg, operand) => format!("-{}", expression(operand)),
        ExprKind::Unary(UnaryOp::BitNot, operand) => format!("~{}", expression(operand)),
        ExprKind::Unary(UnaryOp::Not, operand) => format!("!{}", expression(operand)),
        ExprKind::Binary(op, left, right) => {
            format!("({} {} {})", expression(left), op.sign(), expression(right))
        }
        ExprKind::Mux(cond, yes, no) => format!("({} ? {} : {})", expression(cond), expression(yes), expression(no)),
        ExprKind::Cast(operand) => format!("{}({})", expr.ty, expression(operand)),
        ExprKind::Slice { base, high, low } => match base.kind {
            // A unary operator binds less tightly than the brackets of a slice.
            ExprKind::Unary(..) => format!("({})[{high}:{low}]", expression(base)),
            _ => format!("{}[{high}:{low}]", expression(base)),
        },
        ExprKind::Concat(high, low) => format!("({} ++ {})", expression(high), expression(low)),
        ExprKind::PacketLength => "packet_length".into(),
    }
}

fn header_text(header: &HeaderRef) -> String {
    match header {
        HeaderRef::Fixed(header) => header.to_string(),
        HeaderRef::Element { stack, index } => format!("{stack}[{}]", expression(index)),
        HeaderRef::Next(stack) => format!("{stack}.next"),
        HeaderRef::Last(stack) => format!("{stack}.last"),
    }
}

fn place_text(place: &Place) -> String {
    match place {
        Place::Var(var) => var.to_string(),
        Place::Field(header, field) => format!("{}.{field}", header_text(header)),
        Place::Slice { base, high, low } => format!("{}[{high}:{low}]", place_text(base)),
    }
}

fn key_set(set: &KeySet) -> String {
    match set {
        KeySet::Any => "any".into(),
        KeySet::ValueSet(set) => set.to_string(),
        KeySet::Value(value) => expression(value),
        KeySet::Mask(value, mask) => format!("{} &&& {}", expression(value), expression(mask)),
        KeySet::Range(low, high) => format!("{} .. {}", expression(low), expression(high)),
    }
}

fn entry_key(key: &FieldMatch) -> String {
    let shown = match key {
        FieldMatch::Optional(None) => "any".into(),
        _ => key.text([" &&& ", " .. "], |value, _| constant(value, Type::Bit(value.width()))),
    };
    format!("{} {shown}", key.kind())
}

fn call(call: &ActionCall) -> String {
    format!("{}({})", call.action, list(&call.args, |value| constant(value, Type::Bit(value.width()))))
}

fn target(target: Target) -> String {
    match target {
        Target::State(state) => state.to_string(),
        Target::Accept => "accept".into(),
        Target::Reject => "reject".into(),
    }
}

fn constant(value: &Bits, ty: Type) -> String {
    match ty {
        Type::Bool if value.is_zero() => "false".into(),
        Type::Bool => "true".into(),
        Type::Bit(width) => format!("{width}w{value}"),
        Type::Int(width) => format!("{width}s{value}"),
    }
}

/// As P4 writes it.
impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Type::Bool => f.write_str("bool"),
            Type::Bit(width) => write!(f, "bit<{width}>"),
            Type::Int(width) => write!(f, "int<{width}>"),
        }
    }
}

fn span(span: Span) -> String {
    if span.is_none() { String::new() } else { format!(" @{}..{}", span.lo, span.hi) }
}

fn list<T>(items: &[T], text: impl Fn(&T) -> String) -> String {
    items.iter().map(text).collect::<Vec<_>>().join(", ")
}

fn quoted(text: &str) -> String {
    let mut quoted = String::from('"');
    for character in text.chars() {
        match character {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            control if control.is_control() => {
                let _ = write!(quoted, "\\u{{{:x}}}", u32::from(control));
            }
            plain => quoted.push(plain),
        }
    }
    quoted.push('"');
    quoted
}

/// The colour that a packet has before a meter, if it has one.
fn after(before: &Expr) -> String {
    match before.as_const() {
        Some(color) if color.is_zero() => String::new(),
        _ => format!(" after {}", expression(before)),
    }
}
