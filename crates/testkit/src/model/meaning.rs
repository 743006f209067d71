//! Evaluates a model on a packet, statement by statement.

use super::value::{Owner, ResolvedStep, Value, number_of};
use super::{
    ActionCall, Argument, Callee, Code, Direction, Expr, Fault, HEADERS, KeySet, Kind, Model, Place, Select, Step,
    Stmt, Ty, VarId,
};
use crate::calculation::Ty as Scalar;
use crate::calculation::operators::{binary, unary, wrap};
use num_bigint::BigInt;

/// A parameter, its value, and the place to which the value is copied out.
type Copied<'p> = (VarId, Value, Option<(&'p Place, Vec<ResolvedStep>)>);

/// Why the statements that follow are not executed.
enum Jump {
    Break,
    Continue,
    Return(Option<Value>),
    Exit,
    /// The packet is too short for the parser.
    TooShort,
}

type Flow = Result<(), Jump>;

struct Machine<'m> {
    model: &'m Model,
    /// The values of all variables. There is no recursion, so one value for each is enough.
    values: Vec<Value>,
    /// Variables that have been declared, and parameters that have been bound: what an invalid header in them holds
    /// then may be left from before.
    declared: Vec<bool>,
    /// Whether something was read that is not certain.
    is_uncertain: bool,
    packet: Vec<bool>,
    /// The parser's position in bits.
    cursor: usize,
    fault: Option<Fault>,
}

/// The output for a packet, as a compiler with this fault would compute it; `None` if the packet is too short for the
/// parser, or if the output is not certain: if something depends on what an invalid header holds that is neither the
/// packet's nor the metadata's.
pub fn result(model: &Model, packet: &[u8], fault: Option<Fault>) -> Option<Vec<u8>> {
    let bits = packet.iter().flat_map(|byte| (0..8).rev().map(move |bit| byte >> bit & 1 == 1)).collect();
    let values = model.vars.iter().map(|var| Value::initial(model, &var.ty)).collect();
    let declared = vec![false; model.vars.len()];
    let mut machine = Machine { model, values, declared, is_uncertain: false, packet: bits, cursor: 0, fault };
    for block in [model.parser, model.ingress, model.egress] {
        if let Err(Jump::TooShort) = machine.call(block, &[], &[]) {
            return None;
        }
    }
    if machine.is_uncertain {
        return None;
    }
    let mut sent = Vec::new();
    machine.values[HEADERS].emit(model, &model.vars[HEADERS].ty, &mut sent);
    sent.extend(&machine.packet[machine.cursor..]);
    let byte = |bits: &[bool]| bits.iter().fold(0, |byte, bit| byte << 1 | u8::from(*bit));
    Some(sent.chunks(8).map(byte).collect())
}

impl Machine<'_> {
    fn has(&self, fault: Fault) -> bool {
        self.fault == Some(fault)
    }

    /// The values of expressions in the order in which they are written. With the fault, plain reads happen after the
    /// others have been evaluated.
    fn all(&mut self, exprs: &[&Expr], read_late: Fault) -> Result<Vec<Value>, Jump> {
        let mut values = exprs.iter().map(|expr| self.eval(expr)).collect::<Result<Vec<_>, _>>()?;
        if self.has(read_late) {
            for (value, expr) in values.iter_mut().zip(exprs) {
                if let Kind::Read(place) = &expr.kind
                    && is_fixed(place)
                {
                    *value = self.read(place)?;
                }
            }
        }
        Ok(values)
    }

    /// The steps to a place, with their indices evaluated from left to right.
    fn resolve(&mut self, place: &Place) -> Result<Vec<ResolvedStep>, Jump> {
        let mut ways = Vec::new();
        for step in &place.steps {
            ways.push(match step {
                Step::Field(field) => ResolvedStep::Part(*field),
                Step::Slice(ty, high, low) => ResolvedStep::Slice(*ty, *high, *low),
                Step::Element(index) => {
                    let index = self.number(index)?;
                    ResolvedStep::Part(usize::try_from(&index).expect("indices are in range"))
                }
            });
        }
        Ok(ways)
    }

    fn number(&mut self, expr: &Expr) -> Result<BigInt, Jump> {
        self.eval(expr).map(|value| value.number().clone())
    }

    fn holds(&mut self, expr: &Expr) -> Result<bool, Jump> {
        Ok(self.number(expr)? == BigInt::from(1))
    }

    fn read(&mut self, place: &Place) -> Result<Value, Jump> {
        let ways = self.resolve(place)?;
        Ok(self.read_at(place, &ways))
    }

    fn read_at(&mut self, place: &Place, ways: &[ResolvedStep]) -> Value {
        let value = self.values[place.var].read(ways, Owner::of(place.var));
        self.is_uncertain |= value.is_none();
        value.unwrap_or_else(|| Value::initial(self.model, &place.ty))
    }

    fn write_at(&mut self, place: &Place, ways: &[ResolvedStep], value: Value) {
        self.values[place.var].write(ways, value, Owner::of(place.var));
    }

    fn eval(&mut self, expr: &Expr) -> Result<Value, Jump> {
        let truth = |holds: bool| Value::Number(BigInt::from(u8::from(holds)));
        Ok(match &expr.kind {
            Kind::Constant(value) => Value::Number(value.clone()),
            Kind::Read(place) => self.read(place)?,
            Kind::Unary(operator, operand) => {
                let value = self.number(operand)?;
                Value::Number(unary(operator, scalar(&expr.ty), &value))
            }
            Kind::Binary(operator @ ("&&" | "||"), left, right) => {
                let left = self.holds(left)?;
                if self.has(Fault::BothOperands) {
                    let right = self.holds(right)?;
                    return Ok(truth(if *operator == "||" { left || right } else { left && right }));
                }
                truth(if left == (*operator == "||") { left } else { self.holds(right)? })
            }
            Kind::Binary(operator, left, right) => {
                let values = if self.has(Fault::RightBeforeLeft) {
                    let mut values = self.all(&[right, left], Fault::LeftReadLate)?;
                    values.reverse();
                    values
                } else {
                    self.all(&[left, right], Fault::LeftReadLate)?
                };
                let (left, right) = ((scalar(&left.ty), values[0].number()), (scalar(&right.ty), values[1].number()));
                Value::Number(binary(operator, scalar(&expr.ty), left, right))
            }
            Kind::Same(is_equal, left, right) => {
                let values = self.all(&[left, right], Fault::LeftReadLate)?;
                truth((values[0] == values[1]) == *is_equal)
            }
            Kind::Cast(operand) => Value::Number(wrap(scalar(&expr.ty), &self.number(operand)?)),
            Kind::Conditional(condition, yes, no) => {
                let holds = self.holds(condition)?;
                self.eval(if holds { yes } else { no })?.stored()
            }
            Kind::Call(callee, args) => {
                self.call(*callee, args, &[])?.expect("functions that are read return").stored()
            }
            Kind::IsValid(place) => truth(self.read(place)?.is_valid()),
            Kind::List(_, parts) => {
                let parts = self.all(&parts.iter().collect::<Vec<_>>(), Fault::ListReadLate)?;
                if self.model.is_header(&expr.ty) { Value::header(parts) } else { Value::Parts(parts) }
            }
            Kind::Hit(table, is_hit) => truth(self.apply(*table)?.0 == *is_hit),
            Kind::Invalid => Value::invalid(self.model, &expr.ty),
            Kind::Lookahead => {
                let ty = scalar(&expr.ty);
                let end = self.cursor + ty.width() as usize;
                Value::Number(number_of(ty, self.packet.get(self.cursor..end).ok_or(Jump::TooShort)?))
            }
        })
    }

    /// Calls the callee with this number. `data` holds the arguments that a table passes to an action's parameters
    /// without a direction.
    fn call(&mut self, number: usize, args: &[(usize, Argument)], data: &[Expr]) -> Result<Option<Value>, Jump> {
        let model = self.model;
        let callee: &Callee = &model.callees[number];
        let mut copied = Vec::new();
        let mut written: Vec<&(usize, Argument)> = args.iter().collect();
        if self.has(Fault::ArgumentsBackwards) {
            written.reverse();
        }
        for (position, arg) in &written {
            let (direction, param) = callee.params[*position];
            copied.push(match arg {
                Argument::In(value) => (param, self.eval(value)?, None),
                Argument::Place(place) => {
                    let ways = self.resolve(place)?;
                    let value = match direction {
                        Direction::Out => {
                            let old = self.values[place.var].read(&ways, Owner::Packet);
                            let is_certain = !self.declared[param] && old.is_some_and(|old| old.holds_nothing());
                            Value::undefined(model, &model.vars[param].ty, is_certain)
                        }
                        _ => self.read_at(place, &ways),
                    };
                    (param, value, Some((place, ways)))
                }
            });
        }
        self.read_late(&written, callee, &mut copied)?;
        let without =
            callee.params.iter().enumerate().filter(|(position, _)| args.iter().all(|(it, _)| it != position));
        let mut data = data.iter();
        for (_, (direction, param)) in without {
            let from_table = if *direction == Direction::None { data.next() } else { None };
            let default = || callee.defaults.iter().find(|(var, _)| var == param).map(|(_, value)| value);
            let value = from_table.or_else(default).expect("each parameter has an argument, data or a default value");
            copied.push((*param, self.eval(value)?, None));
        }
        let mut places = Vec::new();
        for (param, value, place) in copied {
            self.values[param] = value.stored();
            self.declared[param] = true;
            places.extend(place.map(|place| (param, place)));
        }
        if self.has(Fault::CopyOutBackwards) {
            places.reverse();
        }
        let flow = self.run_callee(callee);
        let forgets = self.has(Fault::ExitCopiesNothing) && matches!(flow, Err(Jump::Exit));
        if !matches!(flow, Err(Jump::TooShort)) && !forgets {
            for (param, (place, ways)) in places {
                let ways = if self.has(Fault::PlaceAtCopyOut) { self.resolve(place)? } else { ways };
                let value = self.values[param].clone();
                self.write_at(place, &ways, value);
            }
        }
        match flow {
            Ok(()) => Ok(None),
            Err(Jump::Return(value)) => Ok(value),
            Err(jump) => Err(jump),
        }
    }

    /// Reads arguments again after all have been evaluated, as some faults do.
    fn read_late(&mut self, args: &[&(usize, Argument)], callee: &Callee, copied: &mut [Copied<'_>]) -> Flow {
        for ((position, arg), (_, value, copied_out)) in args.iter().zip(copied) {
            let is_inout = callee.params[*position].0 == Direction::InOut;
            match (arg, copied_out) {
                (Argument::Place(place), Some((_, ways))) if is_inout && self.has(Fault::InOutReadLate) => {
                    *value = self.read_at(place, ways);
                }
                (Argument::In(Expr { kind: Kind::Read(place), .. }), _)
                    if is_fixed(place) && self.has(Fault::InReadLate) =>
                {
                    *value = self.read(place)?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn run_callee(&mut self, callee: &Callee) -> Flow {
        for (var, value) in &callee.locals {
            self.local(*var, value.as_ref())?;
        }
        self.run(&callee.body)?;
        match &callee.select {
            Some(select) if callee.code == Code::Parser => self.select(select),
            _ => Ok(()),
        }
    }

    fn select(&mut self, select: &Select) -> Flow {
        let keys = select.keys.iter().map(|key| self.number(key)).collect::<Result<Vec<_>, _>>()?;
        let matching = select.cases.iter().find(|(sets, _)| matches(sets, &keys));
        let Some((_, first)) = matching else { return Ok(()) };
        select.states[*first..].iter().try_for_each(|state| self.run(state))
    }

    /// Applies a table: whether an entry matched, and the position of the action that ran.
    fn apply(&mut self, number: usize) -> Result<(bool, Option<usize>), Jump> {
        let model = self.model;
        let table = &model.tables[number];
        let keys = if self.has(Fault::KeysBackwards) {
            let keys = table.keys.iter().rev().map(|(key, _)| self.number(key)).collect::<Result<Vec<_>, _>>()?;
            keys.into_iter().rev().collect()
        } else {
            table.keys.iter().map(|(key, _)| self.number(key)).collect::<Result<Vec<_>, _>>()?
        };
        let entry = table.entries.iter().find(|(sets, _)| matches(sets, &keys)).map(|(_, call)| call);
        let call: Option<&ActionCall> = entry.or(table.default.as_ref());
        if let Some(call) = call {
            let (action, args) = &table.actions[call.action];
            self.call(*action, args, &call.data)?;
        }
        Ok((entry.is_some(), call.map(|call| call.action)))
    }

    fn run(&mut self, body: &[Stmt]) -> Flow {
        body.iter().try_for_each(|stmt| self.step(stmt))
    }

    fn local(&mut self, var: usize, value: Option<&Expr>) -> Flow {
        self.values[var] = match value {
            Some(value) => self.eval(value)?.stored(),
            None => Value::undefined(self.model, &self.model.vars[var].ty, !self.declared[var]),
        };
        self.declared[var] = true;
        Ok(())
    }

    fn assign(&mut self, place: &Place, value: &Expr) -> Flow {
        let (value, ways) = if self.has(Fault::ValueBeforePlace) {
            let value = self.eval(value)?;
            (value, self.resolve(place)?)
        } else {
            let ways = self.resolve(place)?;
            (self.eval(value)?, ways)
        };
        self.write_at(place, &ways, value);
        Ok(())
    }

    fn step(&mut self, stmt: &Stmt) -> Flow {
        match stmt {
            Stmt::Assign(place, value) => self.assign(place, value)?,
            Stmt::Compound(operator, place, right) => {
                let ways = self.resolve(place)?;
                let mut left = self.read_at(place, &ways);
                let value = self.number(right)?;
                if self.has(Fault::CompoundReadsLate) {
                    left = self.read_at(place, &ways);
                }
                let ty = scalar(&place.ty);
                let value = binary(operator, ty, (ty, left.number()), (scalar(&right.ty), &value));
                self.write_at(place, &ways, Value::Number(value));
            }
            Stmt::Local(var, value) => self.local(*var, value.as_ref())?,
            Stmt::SetValid(place, is_valid) => {
                let ways = self.resolve(place)?;
                self.set_valid(place, &ways, *is_valid);
            }
            Stmt::Move(place, is_push, count) => {
                let ways = self.resolve(place)?;
                let Ty::Array(element, _) = &place.ty else { unreachable!("stacks are arrays") };
                let entering = Value::initial(self.model, element);
                let moved = moved(self.read_at(place, &ways), entering, *is_push, *count as usize);
                self.write_at(place, &ways, moved);
            }
            Stmt::If(condition, yes, no) => {
                let holds = self.holds(condition)?;
                self.run(if holds { yes } else { no })?;
            }
            Stmt::IfHit(table, is_hit, yes, no) => {
                let (hit, _) = self.apply(*table)?;
                self.run(if hit == *is_hit { yes } else { no })?;
            }
            Stmt::Switch(subject, cases) => {
                let subject = self.number(subject)?;
                self.run(chosen(cases, &subject))?;
            }
            Stmt::SwitchRun(table, cases) => {
                let (_, action) = self.apply(*table)?;
                // `NoAction` is never in a list here, so it selects `default`.
                self.run(chosen(cases, &action.unwrap_or(usize::MAX)))?;
            }
            Stmt::ForIn(var, low, high, body) => {
                for value in *low..=*high {
                    self.values[*var] = Value::Number(BigInt::from(value));
                    if self.round(body)? {
                        break;
                    }
                }
            }
            Stmt::For(var, rounds, condition, updates, body) => {
                self.loop_stmt(*var, *rounds, condition, updates, body)?
            }
            Stmt::Call(callee, args) => drop(self.call(*callee, args, &[])?),
            Stmt::Apply(table) => drop(self.apply(*table)?),
            Stmt::Extract(place) => self.extract(place)?,
            Stmt::Return(None) => return Err(Jump::Return(None)),
            Stmt::Return(Some(value)) => {
                let value = self.eval(value)?;
                return Err(Jump::Return(Some(value)));
            }
            Stmt::Exit => return Err(Jump::Exit),
            Stmt::Break => return Err(Jump::Break),
            Stmt::Continue => return Err(Jump::Continue),
        }
        Ok(())
    }

    fn set_valid(&mut self, place: &Place, ways: &[ResolvedStep], is_valid: bool) {
        if !is_valid {
            self.values[place.var].invalidate(ways, Owner::of(place.var));
        } else if !self.read_at(place, ways).is_valid() {
            self.write_at(place, ways, Value::valid_header(self.model, &place.ty));
        }
    }

    /// One iteration of a loop; returns whether it is the last.
    fn round(&mut self, body: &[Stmt]) -> Result<bool, Jump> {
        match self.run(body) {
            Ok(()) | Err(Jump::Continue) => Ok(false),
            Err(Jump::Break) => Ok(true),
            Err(jump) => Err(jump),
        }
    }

    fn loop_stmt(
        &mut self,
        var: usize,
        rounds: u32,
        condition: &Option<Expr>,
        updates: &[Stmt],
        body: &[Stmt],
    ) -> Flow {
        for value in 0..rounds {
            self.values[var] = Value::Number(BigInt::from(value));
            if let Some(condition) = condition
                && !self.holds(condition)?
            {
                break;
            }
            if self.round(body)? {
                break;
            }
            self.run(updates)?;
        }
        Ok(())
    }

    fn extract(&mut self, place: &Place) -> Flow {
        let ways = self.resolve(place)?;
        let Ty::Declared(number) = place.ty else { unreachable!("headers are declared") };
        let mut cursor = self.cursor;
        let mut fields = Vec::new();
        for (_, ty) in &self.model.types[number].fields {
            let ty = scalar(ty);
            let end = cursor + ty.width() as usize;
            fields.push(Value::Number(number_of(ty, self.packet.get(cursor..end).ok_or(Jump::TooShort)?)));
            cursor = end;
        }
        self.cursor = cursor;
        self.write_at(place, &ways, Value::header(fields));
        Ok(())
    }
}

/// Whether the indices of a place are constant.
fn is_fixed(place: &Place) -> bool {
    let is_known = |step: &Step| match step {
        Step::Field(_) | Step::Slice(..) => true,
        Step::Element(index) => matches!(index.kind, Kind::Constant(_)),
    };
    place.steps.iter().all(is_known)
}

fn scalar(ty: &Ty) -> Scalar {
    match ty {
        Ty::Scalar(scalar) => *scalar,
        other => unreachable!("a number is expected, not {other:?}"),
    }
}

/// The body of the first case with this label, or of `default`; a case without a body falls through to the next one.
fn chosen<'c, T: PartialEq>(cases: &'c [(Option<T>, Option<Vec<Stmt>>)], subject: &T) -> &'c [Stmt] {
    let has_label = |(label, _): &(Option<T>, _)| label.as_ref() == Some(subject);
    let first = cases.iter().position(has_label).or_else(|| cases.iter().position(|(label, _)| label.is_none()));
    let bodies = cases[first.unwrap_or(cases.len())..].iter().map(|(_, body)| body);
    bodies.flatten().next().map_or(&[], Vec::as_slice)
}

fn moved(stack: Value, entering: Value, is_push: bool, count: usize) -> Value {
    let Value::Parts(elements) = stack else { unreachable!("a stack is expected, not {stack:?}") };
    let size = elements.len();
    let count = count.min(size);
    let mut new = vec![entering; count];
    if is_push {
        new.extend(elements.into_iter().take(size - count));
    } else {
        new.splice(0..0, elements.into_iter().skip(count));
    }
    Value::Parts(new)
}

fn matches(sets: &[KeySet], keys: &[BigInt]) -> bool {
    sets.iter().zip(keys).all(|(set, key)| match set {
        KeySet::Any => true,
        KeySet::Value(value) => key == value,
        KeySet::Mask(value, mask) => (key & mask) == (value & mask),
        KeySet::Range(low, high) => low <= key && key <= high,
    })
}
