//! Evaluates a calculation.
//!
//! Operands are evaluated from left to right; a value that was read does not change when a later operand changes the
//! variable. Arguments are copied in from left to right, and copied out from left to right when the callee ends,
//! however it ends.

use super::operators::{binary, slice, unary, with_slice, wrap};
use super::{Argument, Calculation, Callee, Direction, Expr, Kind, Place, Stmt, Ty};
use num_bigint::{BigInt, Sign};

/// How a statement ended.
#[derive(PartialEq, Eq)]
enum Flow {
    Next,
    Break,
    Continue,
    Return(Option<BigInt>),
    Exit,
}

struct Machine<'c> {
    calculation: &'c Calculation,
    /// The values of all variables. There is no recursion, so one value for each is enough.
    values: Vec<BigInt>,
}

/// The header after the calculation.
pub fn result(calculation: &Calculation, header: &[u8]) -> Vec<u8> {
    let mut machine = Machine { calculation, values: vec![BigInt::from(0); calculation.vars.len()] };
    machine.load(header);
    for (var, value) in calculation.constants.iter().chain(&calculation.locals) {
        machine.values[*var] = machine.eval(value);
    }
    machine.run(&calculation.body);
    machine.store(header.len())
}

impl Machine<'_> {
    fn ty(&self, var: usize) -> Ty {
        self.calculation.vars[var].ty
    }

    fn load(&mut self, header: &[u8]) {
        let mut rest = BigInt::from_bytes_be(Sign::Plus, header);
        for field in self.calculation.fields.iter().rev() {
            let ty = self.ty(*field);
            self.values[*field] = wrap(ty, &rest);
            rest >>= ty.width();
        }
    }

    fn store(&self, length: usize) -> Vec<u8> {
        let mut all = BigInt::from(0);
        for field in &self.calculation.fields {
            let ty = self.ty(*field);
            all = (all << ty.width()) + super::operators::pattern(ty, &self.values[*field]);
        }
        let (_, bytes) = all.to_bytes_be();
        let mut padded = vec![0; length.saturating_sub(bytes.len())];
        padded.extend(bytes);
        padded.split_off(padded.len() - length)
    }

    fn eval(&mut self, expr: &Expr) -> BigInt {
        match &expr.kind {
            Kind::Constant(value) => value.clone(),
            Kind::Whole(_, value) => wrap(expr.ty, value),
            Kind::Var(var) => self.values[*var].clone(),
            Kind::Unary(operator, operand) => unary(operator, expr.ty, &self.eval(operand)),
            Kind::Binary(operator @ ("&&" | "||"), left, right) => {
                let left = self.eval(left);
                let decides = BigInt::from(u8::from(*operator == "||"));
                if left == decides { left } else { self.eval(right) }
            }
            Kind::Binary(operator, left, right) => {
                let left_value = self.eval(left);
                let right_value = self.eval(right);
                binary(operator, expr.ty, (left.ty, &left_value), (right.ty, &right_value))
            }
            Kind::Cast(operand) => wrap(expr.ty, &self.eval(operand)),
            Kind::Slice(base, high, low) => slice(base.ty, &self.eval(base), *high, *low),
            Kind::Conditional(condition, yes, no) => {
                if self.eval(condition) == BigInt::from(1) {
                    self.eval(yes)
                } else {
                    self.eval(no)
                }
            }
            Kind::Call(callee, args) => match self.call(*callee, args) {
                Flow::Return(Some(value)) => value,
                _ => BigInt::from(0),
            },
        }
    }

    fn read(&self, place: &Place) -> BigInt {
        let value = &self.values[place.var];
        match place.slice {
            Some((high, low)) => slice(self.ty(place.var), value, high, low),
            None => value.clone(),
        }
    }

    fn write(&mut self, place: &Place, value: BigInt) {
        self.values[place.var] = match place.slice {
            Some((high, low)) => with_slice(self.ty(place.var), &self.values[place.var], high, low, &value),
            None => value,
        };
    }

    fn call(&mut self, number: usize, args: &[Argument]) -> Flow {
        let callee: &Callee = &self.calculation.callees[number];
        let copied: Vec<BigInt> = args
            .iter()
            .map(|arg| match arg {
                Argument::In(value) => self.eval(value),
                Argument::Place(place) => self.read(place),
            })
            .collect();
        for ((direction, param), value) in callee.params.iter().zip(copied) {
            // The initial value of an `out` parameter is undefined; calculations write it before they read it.
            self.values[*param] = if *direction == Direction::Out { BigInt::from(0) } else { value };
        }
        let flow = self.run(&callee.body);
        for ((_, param), arg) in callee.params.iter().zip(args) {
            if let Argument::Place(place) = arg {
                let value = self.values[*param].clone();
                self.write(place, value);
            }
        }
        flow
    }

    fn run(&mut self, body: &[Stmt]) -> Flow {
        for stmt in body {
            let flow = self.step(stmt);
            if flow != Flow::Next {
                return flow;
            }
        }
        Flow::Next
    }

    fn step(&mut self, stmt: &Stmt) -> Flow {
        match stmt {
            Stmt::Assign(place, value) => {
                let value = self.eval(value);
                self.write(place, value);
            }
            Stmt::Compound(operator, place, right) => {
                let ty = match place.slice {
                    Some((high, low)) => Ty::Bit(high - low + 1),
                    None => self.ty(place.var),
                };
                let left = self.read(place);
                let right_value = self.eval(right);
                let value = binary(operator, ty, (ty, &left), (right.ty, &right_value));
                self.write(place, value);
            }
            Stmt::Local(var, value) => self.values[*var] = self.eval(value),
            Stmt::If(condition, yes, no) => {
                let holds = self.eval(condition) == BigInt::from(1);
                return self.run(if holds { yes } else { no });
            }
            Stmt::Switch(subject, cases) => {
                let subject = self.eval(subject);
                let matches = |label: &Option<BigInt>| label.as_ref().is_none_or(|label| *label == subject);
                let Some(first) = cases.iter().position(|(label, _)| matches(label)) else { return Flow::Next };
                if let Some(body) = cases[first..].iter().find_map(|(_, body)| body.as_ref()) {
                    return self.run(body);
                }
            }
            Stmt::For(var, low, high, body) => {
                for value in *low..=*high {
                    self.values[*var] = BigInt::from(value);
                    match self.run(body) {
                        Flow::Next | Flow::Continue => {}
                        Flow::Break => break,
                        flow => return flow,
                    }
                }
            }
            Stmt::Call(callee, args) => {
                if self.call(*callee, args) == Flow::Exit {
                    return Flow::Exit;
                }
            }
            Stmt::Return(value) => return Flow::Return(value.as_ref().map(|value| self.eval(value))),
            Stmt::Exit => return Flow::Exit,
            Stmt::Break => return Flow::Break,
            Stmt::Continue => return Flow::Continue,
        }
        Flow::Next
    }
}
