//! Random functions, actions, tables, parsers and controls, and the blocks of the architecture.

use super::super::{
    ActionCall, Arguments, Callee, Code, Direction, Expr, HEADERS, KeySet, METADATA, Place, Scalar, Select, Step, Stmt,
    Table, Ty, VarId,
};
use super::{BLOCK_STEPS_MAX, CALLEE_FUEL, CALLEE_STEPS_MAX, Kind, Maker, Scope, element};
use crate::calculation::operators::wrap;
use num_bigint::BigInt;

impl Maker<'_> {
    /// Generates everything that has a body.
    pub fn blocks(&mut self, headers: Ty, statements: u32) {
        let mut numbers = self.palette.clone();
        numbers.retain(|scalar| *scalar != Scalar::Bool);
        numbers.dedup();
        for scalar in numbers {
            self.changing_function(scalar);
        }
        for _ in 0..self.rng.between(1, 7) {
            self.function();
        }
        let functions: Vec<usize> = (0..self.model.callees.len()).collect();
        let mut parsers = Vec::new();
        for _ in 0..self.rng.below(3) {
            parsers.push(self.sub_parser(&functions, &parsers));
        }
        self.main_parser(&functions, &parsers);
        let mut controls = Vec::new();
        // Some controls take all headers as one argument.
        self.pool.push(headers);
        for _ in 0..self.rng.below(3) {
            controls.push(self.sub_control(&functions, &controls));
        }
        self.pool.pop();
        self.ingress(&functions, &controls, statements);
        self.start(Code::Control, BLOCK_STEPS_MAX);
        let mut egress = Callee::new(Code::Control, "MainEgress".into(), Vec::new());
        egress.body = self.shown();
        self.model.egress = self.finish(egress);
    }

    fn start(&mut self, code: Code, steps_max: u32) {
        self.scope = Scope::new(code);
        self.steps = 0;
        self.steps_max = steps_max;
        self.fuel = CALLEE_FUEL;
    }

    fn finish(&mut self, callee: Callee) -> usize {
        self.model.callees.push(callee);
        self.callee_steps.push(self.steps.max(1));
        self.model.callees.len() - 1
    }

    /// Parameters, which are added to the scope. A control's parameter may be all headers, which are copied in and
    /// out.
    fn params(&mut self) -> Vec<(Direction, VarId)> {
        let mut params = Vec::new();
        for _ in 0..*self.rng.pick(&[0, 1, 2, 2, 3, 4]) {
            let ty = self.rng.pick(&self.pool).clone();
            let is_headers = self.model.vars[HEADERS].ty == ty;
            let directions = [Direction::In, Direction::Out, Direction::InOut, Direction::InOut];
            let direction = if is_headers { Direction::InOut } else { *self.rng.pick(&directions) };
            let var = self.var("p", ty);
            params.push((direction, var));
            self.scope.visible.push((var, direction != Direction::In));
        }
        params
    }

    /// Gives the last parameters default values, if they are numbers.
    fn defaults(&mut self, callee: &mut Callee) {
        for (direction, var) in callee.params.iter().rev() {
            match (direction, self.model.vars[*var].ty.clone()) {
                (Direction::In, Ty::Scalar(scalar)) if self.once_in(2) => {
                    callee.defaults.push((*var, self.constant(scalar)));
                }
                _ => break,
            }
        }
    }

    /// Statements that assign to each `out` parameter, except headers, so that its value is defined.
    fn written(&mut self, params: &[(Direction, VarId)]) -> Vec<Stmt> {
        let outs = params.iter().filter(|(direction, _)| *direction == Direction::Out);
        let spots = outs.flat_map(|(_, var)| self.spots[*var].clone());
        let mut body = Vec::new();
        for spot in spots.collect::<Vec<_>>() {
            if let Ty::Scalar(scalar) = spot.place.ty
                && !spot.in_header
            {
                body.push(Stmt::Assign(spot.place, self.constant(scalar)));
            }
        }
        body
    }

    /// Statements that change the numbers that are copied out, so that the time of the call matters.
    fn changed(&mut self, params: &[(Direction, VarId)]) -> Vec<Stmt> {
        let outs = params.iter().filter(|(direction, _)| *direction != Direction::In);
        let spots = outs.flat_map(|(_, var)| self.spots[*var].clone());
        let mut body = Vec::new();
        for spot in spots.collect::<Vec<_>>() {
            if let Ty::Scalar(scalar @ (Scalar::Bit(_) | Scalar::Int(_))) = spot.place.ty
                && self.once_in(2)
            {
                let operator = *self.rng.pick(&["+", "-", "^"]);
                body.push(Stmt::Compound(operator, spot.place, self.constant(scalar)));
            }
        }
        body
    }

    fn function(&mut self) {
        self.start(Code::Function, CALLEE_STEPS_MAX);
        self.scope.callees = (0..self.model.callees.len()).collect();
        let params = self.params();
        let mut callee = Callee::new(Code::Function, format!("fn{}", self.model.callees.len()), params);
        self.defaults(&mut callee);
        callee.returns = if self.once_in(4) { None } else { Some(self.rng.pick(&self.pool).clone()) };
        self.scope.returns = Some(callee.returns.clone());
        callee.body = self.written(&callee.params);
        callee.body.extend(self.body(4, 2));
        callee.body.extend(self.changed(&callee.params));
        callee.body.extend(callee.returns.clone().map(|ty| Stmt::Return(Some(self.some_expr(&ty)))));
        self.finish(callee);
    }

    /// A function that changes its `inout` number and returns another one: an expression that reads that number
    /// beside a call shows when it is read.
    fn changing_function(&mut self, scalar: Scalar) {
        self.start(Code::Function, CALLEE_STEPS_MAX);
        let ty = Ty::Scalar(scalar);
        let var = self.var("p", ty.clone());
        let name = format!("fn{}", self.model.callees.len());
        let mut callee = Callee::new(Code::Function, name, vec![(Direction::InOut, var)]);
        callee.returns = Some(ty.clone());
        let place = Place { var, steps: Vec::new(), ty: ty.clone() };
        let one = Expr { ty: ty.clone(), kind: Kind::Constant(wrap(scalar, &BigInt::from(1))) };
        callee.body.push(Stmt::Compound("+", place.clone(), one));
        callee.body.push(Stmt::Return(Some(Expr { ty, kind: Kind::Read(place) })));
        let number = self.finish(callee);
        self.changing.push(number);
    }

    // --- controls

    fn sub_control(&mut self, functions: &[usize], controls: &[usize]) -> usize {
        self.start(Code::Control, CALLEE_STEPS_MAX);
        let params = self.params();
        let mut callee = Callee::new(Code::Control, format!("Control{}", self.model.callees.len()), params);
        self.defaults(&mut callee);
        callee.instances = controls.iter().copied().filter(|_| self.rng.chance(2, 3)).collect();
        self.control_parts(&mut callee, functions, CALLEE_STEPS_MAX);
        let mut body = self.written(&callee.params);
        body.extend(self.body(5, 2));
        callee.body = body;
        self.name_again(&mut callee, "Control");
        self.finish(callee)
    }

    /// Renames the callee, because actions have taken numbers since its name was made.
    fn name_again(&mut self, callee: &mut Callee, stem: &str) {
        callee.name = format!("{stem}{}", self.model.callees.len());
    }

    fn ingress(&mut self, functions: &[usize], controls: &[usize], statements: u32) {
        self.start(Code::Control, BLOCK_STEPS_MAX);
        self.scope.visible = vec![(HEADERS, true), (METADATA, true)];
        let mut callee = Callee::new(Code::Control, "MainIngress".into(), Vec::new());
        callee.instances = controls.to_vec();
        self.control_parts(&mut callee, functions, BLOCK_STEPS_MAX);
        self.fuel = CALLEE_FUEL * 4;
        callee.body = self.invalidated();
        let body = self.body(statements, 3);
        callee.body.extend(body);
        self.model.ingress = self.finish(callee);
    }

    /// Statements that make headers invalid according to flags in the first one, so that packets differ in them.
    fn invalidated(&mut self) -> Vec<Stmt> {
        let flags_ty = Scalar::Bit(8);
        let flags = Place { var: HEADERS, steps: vec![Step::Field(0), Step::Field(0)], ty: Ty::Scalar(flags_ty) };
        let headers = self.spots[HEADERS].iter().filter(|spot| self.model.is_header(&spot.place.ty));
        let places = headers.map(|spot| spot.place.clone()).skip(1).take(8);
        let bit = Ty::Scalar(Scalar::Bit(1));
        places
            .enumerate()
            .map(|(number, place)| {
                let mut flag = flags.clone();
                flag.steps.push(Step::Slice(flags_ty, number as u32, number as u32));
                flag.ty = bit.clone();
                let flag = Expr { ty: bit.clone(), kind: Kind::Read(flag) };
                let one = Expr { ty: bit.clone(), kind: Kind::Constant(BigInt::from(1)) };
                let same = Kind::Same(true, Box::new(flag), Box::new(one));
                let condition = Expr { ty: Ty::Scalar(Scalar::Bool), kind: same };
                Stmt::If(condition, vec![Stmt::SetValid(place, false)], Vec::new())
            })
            .collect()
    }

    /// Variables, actions and tables of a control, which are added to its scope.
    fn control_parts(&mut self, callee: &mut Callee, functions: &[usize], steps_max: u32) {
        for _ in 0..self.rng.below(3) {
            let ty = self.rng.pick(&self.pool).clone();
            if self.model.vars[HEADERS].ty == ty {
                continue;
            }
            let scope = self.scope.clone();
            // The initial value of a control's variable must not depend on a packet.
            self.scope.visible.clear();
            let value = self.initial(&ty);
            self.scope = scope;
            let var = self.var("v", ty);
            callee.locals.push((var, value));
            self.scope.visible.push((var, true));
        }
        let scope = self.scope.clone();
        for _ in 0..self.rng.below(4) {
            self.scope = scope.clone();
            self.scope.code = Code::Action;
            self.scope.callees = functions.iter().chain(&callee.actions).copied().collect();
            callee.actions.push(self.action());
        }
        self.scope = scope;
        self.steps = 0;
        self.steps_max = steps_max;
        self.scope.returns = Some(None);
        self.scope.callees = functions.to_vec();
        if !callee.actions.is_empty() {
            for _ in 0..self.rng.below(3) {
                callee.tables.extend(self.table(&callee.actions));
            }
        }
        self.steps = 0;
        self.fuel = CALLEE_FUEL;
        self.scope.callees.extend(callee.actions.iter().chain(&callee.instances));
        self.scope.tables.clone_from(&callee.tables);
    }

    fn action(&mut self) -> usize {
        self.steps = 0;
        self.steps_max = CALLEE_STEPS_MAX;
        self.fuel = CALLEE_FUEL;
        self.scope.returns = Some(None);
        let mut params = self.params();
        for _ in 0..self.rng.below(3) {
            let ty = Ty::Scalar(self.scalar());
            let var = self.var("d", ty);
            params.push((Direction::None, var));
            self.scope.visible.push((var, false));
        }
        let mut callee = Callee::new(Code::Action, format!("act{}", self.model.callees.len()), params);
        callee.body = self.written(&callee.params);
        callee.body.extend(self.body(4, 1));
        self.finish(callee)
    }

    fn table(&mut self, actions: &[usize]) -> Option<usize> {
        self.start_race();
        let keys: Vec<(Expr, &'static str)> = (0..self.rng.between(1, 2))
            .map(|_| {
                let key = self.some_expr(&Ty::Scalar(Scalar::Bit(8)));
                let key = Expr { ty: Ty::Scalar(Scalar::Bit(2)), kind: Kind::Cast(Box::new(key)) };
                (key, *self.rng.pick(&["exact", "exact", "ternary", "range"]))
            })
            .collect();
        self.race = None;
        let mut listed = Vec::new();
        let mut steps = self.steps;
        for action in actions.iter().copied().filter(|_| self.rng.chance(2, 3)).collect::<Vec<_>>() {
            self.scope.is_plain = true;
            let params = self.model.callees[action].params.clone();
            let directed = params.iter().enumerate().filter(|(_, (direction, _))| *direction != Direction::None);
            let args = directed.map(|(position, (direction, var))| {
                self.argument(*direction, *var, 0).map(|argument| (position, argument))
            });
            let args: Option<Arguments> = args.collect();
            self.scope.is_plain = false;
            if let Some(args) = args {
                listed.push((action, args));
                steps = steps.max(self.steps + self.callee_steps[action]);
            }
        }
        if listed.is_empty() {
            return None;
        }
        let mut entries: Vec<(Vec<KeySet>, ActionCall)> = Vec::new();
        for _ in 0..self.rng.below(6) {
            let sets: Vec<KeySet> = keys.iter().map(|(_, kind)| self.key_set(kind, 3)).collect();
            if entries.iter().all(|(other, _)| *other != sets) {
                entries.push((sets, self.action_call(&listed)));
            }
        }
        let default = if self.once_in(3) { None } else { Some(self.action_call(&listed)) };
        let name = format!("table{}", self.model.tables.len());
        self.model.tables.push(Table { name, keys, actions: listed, entries, default });
        self.table_steps.push(steps);
        self.steps = 0;
        Some(self.model.tables.len() - 1)
    }

    fn action_call(&mut self, actions: &[(usize, Arguments)]) -> ActionCall {
        let action = self.rng.below(actions.len() as u64) as usize;
        let params = self.model.callees[actions[action].0].params.clone();
        let data = params.iter().filter(|(direction, _)| *direction == Direction::None);
        let data = data.map(|(_, var)| match self.model.vars[*var].ty {
            Ty::Scalar(scalar) => self.constant(scalar),
            ref other => unreachable!("data of the type {other:?}"),
        });
        ActionCall { action, data: data.collect() }
    }

    /// A set of values up to `most`, of the form that the match kind requires.
    fn key_set(&mut self, kind: &str, most: u64) -> KeySet {
        let (low, high) = (self.rng.between(0, most), self.rng.between(0, most));
        match kind {
            "exact" => KeySet::Value(BigInt::from(low)),
            "ternary" if self.once_in(4) => KeySet::Any,
            // Masked bits of the value are zero, as some control planes require.
            "ternary" => KeySet::Mask(BigInt::from(low & high), BigInt::from(high)),
            _ => KeySet::Range(BigInt::from(low.min(high)), BigInt::from(low.max(high))),
        }
    }

    // --- parsers

    fn sub_parser(&mut self, functions: &[usize], parsers: &[usize]) -> usize {
        self.start(Code::Parser, CALLEE_STEPS_MAX);
        let params = self.params();
        let mut callee = Callee::new(Code::Parser, format!("Parser{}", self.model.callees.len()), params);
        self.defaults(&mut callee);
        callee.instances = parsers.iter().copied().filter(|_| self.rng.chance(2, 3)).collect();
        self.scope.callees = functions.iter().chain(&callee.instances).copied().collect();
        callee.body = self.written(&callee.params);
        callee.body.extend(self.body(4, 2));
        callee.select = if self.once_in(3) { None } else { Some(self.select()) };
        self.finish(callee)
    }

    fn main_parser(&mut self, functions: &[usize], parsers: &[usize]) {
        self.start(Code::Parser, BLOCK_STEPS_MAX);
        let mut callee = Callee::new(Code::Parser, "MainParser".into(), Vec::new());
        callee.instances = parsers.to_vec();
        self.scope.callees = functions.iter().chain(parsers).copied().collect();
        self.scope.visible = vec![(HEADERS, true), (METADATA, true)];
        callee.body = self.extracted();
        callee.body.extend(self.body(4, 2));
        callee.select = if self.once_in(2) { None } else { Some(self.select()) };
        self.model.parser = self.finish(callee);
    }

    /// Extracts all headers but the last, and at most one member of the union.
    fn extracted(&mut self) -> Vec<Stmt> {
        let Ty::Declared(headers) = self.model.vars[HEADERS].ty else { unreachable!("headers are declared") };
        let fields = self.model.types[headers].fields.clone();
        let mut body = Vec::new();
        for (number, (_, ty)) in fields.iter().enumerate().take(fields.len() - 1) {
            let whole = Place { var: HEADERS, steps: vec![Step::Field(number)], ty: ty.clone() };
            let part = |step: Step| {
                let ty = self.model.part(&whole.ty, &step);
                let steps = whole.steps.iter().cloned().chain([step]).collect();
                Stmt::Extract(Place { var: HEADERS, steps, ty })
            };
            match ty {
                Ty::Array(_, size) => body.extend((0..*size).map(|index| part(element(*size, index)))),
                ty if self.model.is_header(ty) => body.push(Stmt::Extract(whole)),
                _ => body.extend(self.rng.chance(1, 2).then(|| part(Step::Field(self.rng.below(2) as usize)))),
            }
        }
        body
    }

    fn select(&mut self) -> Select {
        let keys: Vec<Expr> = (0..self.rng.between(1, 2))
            .map(|_| {
                let key = self.some_expr(&Ty::Scalar(Scalar::Bit(8)));
                Expr { ty: Ty::Scalar(Scalar::Bit(2)), kind: Kind::Cast(Box::new(key)) }
            })
            .collect();
        let states: Vec<Vec<Stmt>> = (0..self.rng.between(1, 3)).map(|_| self.body(2, 1)).collect();
        let mut cases = Vec::new();
        for _ in 0..self.rng.below(4) {
            let kinds = ["exact", "ternary", "range"];
            let sets = keys.iter().map(|_| {
                let kind = *self.rng.pick(&kinds);
                self.key_set(kind, 3)
            });
            let sets = sets.collect();
            cases.push((sets, self.rng.below(states.len() as u64 + 1) as usize));
        }
        let state = self.rng.below(states.len() as u64 + 1) as usize;
        cases.push((vec![KeySet::Any; keys.len()], state));
        Select { keys, cases, states }
    }
}
