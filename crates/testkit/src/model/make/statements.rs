//! Random statements.

use super::super::{Code, Expr, Kind, Scalar, Shape, Stmt, Ty};
use super::Maker;
use num_bigint::BigInt;

impl Maker<'_> {
    /// Statements in a scope of their own.
    pub fn body(&mut self, count_max: u32, depth: u32) -> Vec<Stmt> {
        let visible = self.scope.visible.clone();
        let count = self.rng.between(1, u64::from(count_max.max(1)));
        let mut body: Vec<Stmt> = (0..count).filter_map(|_| self.stmt(depth)).collect();
        // Statements after a jump are legal, but never run.
        if depth < 2 && self.once_in(10) {
            body.extend(self.jump());
        }
        self.scope.visible = visible;
        body
    }

    fn inner(&mut self, depth: u32) -> Vec<Stmt> {
        self.body(3, depth - 1)
    }

    fn stmt(&mut self, depth: u32) -> Option<Stmt> {
        self.start_race();
        let stmt = self.any_stmt(depth);
        self.race = None;
        stmt
    }

    fn any_stmt(&mut self, depth: u32) -> Option<Stmt> {
        self.steps += self.scope.rounds;
        if self.steps > self.steps_max {
            return None;
        }
        let may_switch = matches!(self.scope.code, Code::Function | Code::Control);
        match self.rng.below(26) {
            0 | 1 => Some(self.local()),
            2..=6 => self.assign(),
            7 => self.compound(),
            8 => self.set_valid(),
            9 => self.stack_move(),
            10 | 11 if depth > 0 => {
                let condition = self.truth();
                let yes = self.inner(depth);
                let no = if self.once_in(2) { self.inner(depth) } else { Vec::new() };
                Some(Stmt::If(condition, yes, no))
            }
            12 if depth > 0 && may_switch => Some(self.switch(depth)),
            13 if depth > 0 && self.scope.loops < 2 => Some(self.for_in(depth)),
            14 if depth > 0 && self.scope.loops < 2 => Some(self.for_stmt(depth)),
            15..=18 => self.call_stmt(),
            19 | 20 => self.apply(depth),
            21 | 22 if self.scope.code == Code::Parser => {
                let ty = self.header()?;
                self.place(&ty, true).map(Stmt::Extract)
            }
            23 => {
                let jump = self.jump()?;
                Some(Stmt::If(self.truth(), vec![jump], Vec::new()))
            }
            _ => self.assign(),
        }
    }

    fn header(&mut self) -> Option<Ty> {
        let headers: Vec<Ty> = self.pool.iter().filter(|ty| self.model.is_header(ty)).cloned().collect();
        self.pick(&headers)
    }

    fn local(&mut self) -> Stmt {
        let ty = self.rng.pick(&self.pool).clone();
        let value = self.initial(&ty);
        let var = self.var("x", ty);
        self.scope.visible.push((var, true));
        Stmt::Local(var, value)
    }

    /// The initial value of a variable; sometimes `None`, if the type has a default one.
    pub fn initial(&mut self, ty: &Ty) -> Option<Expr> {
        let starts_invalid = matches!(self.model.shape(ty), Some(Shape::Header | Shape::Union));
        if starts_invalid && self.once_in(3) { None } else { Some(self.some_expr(ty)) }
    }

    pub fn assign(&mut self) -> Option<Stmt> {
        let ty = self.rng.pick(&self.pool).clone();
        let place = self.place(&ty, true)?;
        Some(Stmt::Assign(place, self.some_expr(&ty)))
    }

    pub fn compound(&mut self) -> Option<Stmt> {
        let scalar = self.scalar();
        if scalar == Scalar::Bool {
            return None;
        }
        let place = self.place(&Ty::Scalar(scalar), true)?;
        let operator = *self.rng.pick(&["+", "-", "*", "&", "|", "^", "<<", ">>", "|+|", "|-|"]);
        let right = if matches!(operator, "<<" | ">>") { Scalar::Bit(4) } else { scalar };
        Some(Stmt::Compound(operator, place, self.some_expr(&Ty::Scalar(right))))
    }

    /// Makes a header valid, or invalid. The latter happens in a body of its own, after which the fields read as
    /// zero: in the same body they may still read as the previous contents. It is the body of a loop, because the
    /// body of an `if` with a constant condition is part of the surrounding body.
    fn set_valid(&mut self) -> Option<Stmt> {
        let ty = self.header()?;
        let place = self.place(&ty, true)?;
        if self.once_in(3) {
            let var = self.var("i", Ty::Scalar(Scalar::Bit(8)));
            return Some(Stmt::ForIn(var, 0, 0, vec![Stmt::SetValid(place, false)]));
        }
        Some(Stmt::SetValid(place, true))
    }

    fn stack_move(&mut self) -> Option<Stmt> {
        let is_stack = |ty: &&Ty| matches!(ty, Ty::Array(element, _) if self.model.is_header(element));
        let stacks: Vec<Ty> = self.pool.iter().filter(is_stack).cloned().collect();
        let ty = self.pick(&stacks)?;
        let place = self.place(&ty, true)?;
        Some(Stmt::Move(place, self.once_in(2), self.rng.between(1, 5) as u32))
    }

    fn switch(&mut self, depth: u32) -> Stmt {
        let scalar = Scalar::Bit(*self.rng.pick(&[1, 4, 8, 8]));
        let subject = self.some_expr(&Ty::Scalar(scalar));
        let mut labels: Vec<Option<BigInt>> = Vec::new();
        for _ in 0..self.rng.between(1, 4) {
            let Kind::Constant(label) = self.constant(scalar).kind else { continue };
            if !labels.contains(&Some(label.clone())) {
                labels.push(Some(label));
            }
        }
        labels.extend(self.once_in(2).then_some(None));
        Stmt::Switch(subject, self.cases(labels, depth))
    }

    fn cases<T>(&mut self, labels: Vec<Option<T>>, depth: u32) -> Vec<(Option<T>, Option<Vec<Stmt>>)> {
        let count = labels.len();
        let mut cases = Vec::new();
        for (index, label) in labels.into_iter().enumerate() {
            let falls = index + 1 < count && self.once_in(4);
            cases.push((label, if falls { None } else { Some(self.inner(depth)) }));
        }
        cases
    }

    /// The body of a loop with this many iterations.
    fn looped(&mut self, rounds: u32, depth: u32) -> Vec<Stmt> {
        let saved = (self.scope.loops, self.scope.rounds);
        self.scope.loops += 1;
        self.scope.rounds *= rounds;
        let body = self.inner(depth);
        (self.scope.loops, self.scope.rounds) = saved;
        body
    }

    fn for_in(&mut self, depth: u32) -> Stmt {
        let visible = self.scope.visible.clone();
        let var = self.var("i", Ty::Scalar(Scalar::Bit(8)));
        self.scope.visible.push((var, false));
        let low = self.rng.below(4) as u32;
        let high = low + self.rng.below(3) as u32;
        let body = self.looped(high - low + 1, depth);
        self.scope.visible = visible;
        Stmt::ForIn(var, low, high, body)
    }

    fn for_stmt(&mut self, depth: u32) -> Stmt {
        let visible = self.scope.visible.clone();
        let var = self.var("i", Ty::Scalar(Scalar::Bit(8)));
        self.scope.visible.push((var, false));
        let rounds = self.rng.between(1, 3) as u32;
        let saved = self.scope.rounds;
        self.scope.rounds *= rounds;
        let condition = self.once_in(2).then(|| self.truth());
        let update = if self.once_in(2) { self.assign() } else { None };
        self.scope.rounds = saved;
        let body = self.looped(rounds, depth);
        self.scope.visible = visible;
        Stmt::For(var, rounds, condition, update.into_iter().collect(), body)
    }

    fn call_stmt(&mut self) -> Option<Stmt> {
        let callees = self.scope.callees.clone();
        let callee = self.pick(&callees)?;
        Some(Stmt::Call(callee, self.arguments(callee, 2)?))
    }

    /// Applies a table, which takes steps as a call does.
    fn apply(&mut self, depth: u32) -> Option<Stmt> {
        let tables = self.scope.tables.clone();
        let table = self.pick(&tables)?;
        self.spend(self.table_steps[table])?;
        let may_ask = depth > 0 && self.scope.code == Code::Control;
        Some(match self.rng.below(3) {
            0 if may_ask => {
                let is_hit = self.once_in(2);
                let yes = self.inner(depth);
                Stmt::IfHit(table, is_hit, yes, if self.once_in(2) { self.inner(depth) } else { Vec::new() })
            }
            1 if may_ask => {
                let count = self.model.tables[table].actions.len();
                let mut labels: Vec<Option<usize>> = (0..count).filter(|_| !self.rng.chance(1, 3)).map(Some).collect();
                labels.push(None);
                Stmt::SwitchRun(table, self.cases(labels, depth))
            }
            _ => Stmt::Apply(table),
        })
    }

    /// A jump out of a loop, a callee or a block.
    fn jump(&mut self) -> Option<Stmt> {
        let mut ways = Vec::new();
        if self.scope.loops > 0 {
            ways.extend([Stmt::Break, Stmt::Continue]);
        }
        if matches!(self.scope.code, Code::Action | Code::Control) {
            ways.push(Stmt::Exit);
        }
        match self.scope.returns.clone() {
            Some(Some(ty)) => ways.push(Stmt::Return(Some(self.some_expr(&ty)))),
            Some(None) => ways.push(Stmt::Return(None)),
            None => {}
        }
        self.pick(&ways)
    }
}
