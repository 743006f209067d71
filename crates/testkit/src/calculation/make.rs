//! Generates calculations.

use super::operators::wrap;
use super::{Argument, Calculation, Callee, Direction, Expr, Kind, Place, Stmt, Ty, VarId, Variable};
use base::Rng;
use num_bigint::BigInt;

/// Widths around the sizes of machine words, and a few beyond.
const WIDTHS: [u32; 20] = [1, 2, 3, 5, 7, 8, 8, 9, 15, 16, 24, 31, 32, 33, 48, 63, 64, 65, 128, 200];

/// The greatest depth of expressions.
const HEIGHT_MAX: u64 = 4;

struct Maker<'m> {
    rng: &'m mut Rng,
    vars: Vec<Variable>,
    callees: Vec<Callee>,
    scope: Scope,
    /// Whether expressions must be compile-time known.
    is_constant: bool,
}

#[derive(Clone, Default)]
struct Scope {
    readable: Vec<VarId>,
    writable: Vec<VarId>,
    /// Functions and actions that may be called.
    callees: Vec<usize>,
    /// The type that `return` returns here, if it is allowed here.
    returns: Option<Option<Ty>>,
    may_exit: bool,
    is_action: bool,
    loops: u32,
}

/// Generates a calculation with roughly this many statements.
pub fn calculation(rng: &mut Rng, statements: u32) -> Calculation {
    let mut maker = Maker { rng, vars: Vec::new(), callees: Vec::new(), scope: Scope::default(), is_constant: false };
    let constants = maker.variables("CONST", 4, true);
    for _ in 0..maker.rng.below(4) {
        maker.function();
    }
    let fields = maker.fields();
    let locals = maker.variables("local", 3, false);
    let variables = locals.iter().map(|(var, _)| *var);
    maker.scope.writable.extend(variables);
    for _ in 0..maker.rng.below(4) {
        maker.action();
    }
    maker.scope.may_exit = true;
    maker.scope.returns = Some(None);
    let body = maker.body(statements);
    Calculation { vars: maker.vars, fields, constants, callees: maker.callees, locals, body }
}

impl Maker<'_> {
    fn once_in(&mut self, count: u64) -> bool {
        self.rng.chance(1, count)
    }

    fn pick<T: Clone>(&mut self, items: &[T]) -> Option<T> {
        if items.is_empty() { None } else { Some(self.rng.pick(items).clone()) }
    }

    fn ty(&mut self) -> Ty {
        match self.rng.below(8) {
            0 => Ty::Bool,
            1 | 2 => Ty::Int(*self.rng.pick(&WIDTHS)),
            _ => Ty::Bit(*self.rng.pick(&WIDTHS)),
        }
    }

    fn number(&mut self) -> Ty {
        match self.ty() {
            Ty::Bool => Ty::Bit(8),
            ty => ty,
        }
    }

    fn var(&mut self, stem: &str, ty: Ty) -> VarId {
        let name = format!("{stem}{}", self.vars.len());
        self.vars.push(Variable { name, ty });
        self.vars.len() - 1
    }

    /// Generates variables or constants with their values.
    fn variables(&mut self, stem: &str, count_max: u64, is_constant: bool) -> Vec<(VarId, Expr)> {
        let mut variables = Vec::new();
        for _ in 0..self.rng.below(count_max + 1) {
            let ty = self.ty();
            self.is_constant = is_constant;
            let value = self.some_expr(ty);
            self.is_constant = false;
            let var = self.var(stem, ty);
            self.scope.readable.push(var);
            variables.push((var, value));
        }
        variables
    }

    fn fields(&mut self) -> Vec<VarId> {
        let mut fields = Vec::new();
        for _ in 0..self.rng.between(4, 10) {
            let ty = self.ty();
            fields.push(self.var("hdr.h.f", ty));
        }
        let bits: u32 = fields.iter().map(|field| self.vars[*field].ty.width()).sum();
        if !bits.is_multiple_of(8) {
            let filling = self.var("hdr.h.f", Ty::Bit(8 - bits % 8));
            let position = self.rng.below(fields.len() as u64 + 1) as usize;
            fields.insert(position, filling);
        }
        self.scope.readable.extend(&fields);
        self.scope.writable.extend(&fields);
        fields
    }

    fn params(&mut self) -> Vec<(Direction, VarId)> {
        let mut params = Vec::new();
        for _ in 0..self.rng.below(4) {
            let direction = *self.rng.pick(&[Direction::In, Direction::Out, Direction::InOut, Direction::InOut]);
            let ty = self.ty();
            let var = self.var("p", ty);
            params.push((direction, var));
            self.scope.readable.push(var);
            if direction != Direction::In {
                self.scope.writable.push(var);
            }
        }
        params
    }

    /// Statements that assign to each `out` parameter, so that its value is defined.
    fn written(&mut self, params: &[(Direction, VarId)]) -> Vec<Stmt> {
        let outs = params.iter().filter(|(direction, _)| *direction == Direction::Out);
        let outs: Vec<VarId> = outs.map(|(_, var)| *var).collect();
        outs.into_iter()
            .map(|var| {
                let ty = self.vars[var].ty;
                Stmt::Assign(Place { var, slice: None }, self.constant(ty))
            })
            .collect()
    }

    fn function(&mut self) {
        let saved = self.scope.clone();
        let params = self.params();
        let returns = if self.once_in(4) { None } else { Some(self.ty()) };
        self.scope.returns = Some(returns);
        let mut body = self.written(&params);
        body.extend(self.body(4));
        if let Some(ty) = returns {
            body.push(Stmt::Return(Some(self.some_expr(ty))));
        }
        self.scope = saved;
        self.callee("fn", false, params, returns, body);
    }

    fn action(&mut self) {
        let saved = self.scope.clone();
        let params = self.params();
        self.scope.returns = Some(None);
        self.scope.may_exit = true;
        self.scope.is_action = true;
        let mut body = self.written(&params);
        body.extend(self.body(4));
        self.scope = saved;
        self.callee("act", true, params, None, body);
    }

    fn callee(
        &mut self,
        stem: &str,
        is_action: bool,
        params: Vec<(Direction, VarId)>,
        returns: Option<Ty>,
        body: Vec<Stmt>,
    ) {
        let number = self.callees.len();
        self.callees.push(Callee { name: format!("{stem}{number}"), is_action, params, returns, body });
        self.scope.callees.push(number);
    }

    /// Statements in a scope of their own.
    fn body(&mut self, count_max: u32) -> Vec<Stmt> {
        let saved = self.scope.clone();
        let count = self.rng.between(1, u64::from(count_max));
        let body = (0..count).filter_map(|_| self.stmt(count_max / 2)).collect();
        self.scope = saved;
        body
    }

    /// A nested body of at most this many statements.
    fn inner(&mut self, count_max: u32) -> Vec<Stmt> {
        self.body(count_max.clamp(1, 4))
    }

    fn stmt(&mut self, inner_max: u32) -> Option<Stmt> {
        let may_nest = inner_max > 0;
        match self.rng.below(16) {
            0 | 1 => self.compound(),
            2 | 3 => {
                let ty = self.ty();
                let value = self.some_expr(ty);
                let var = self.var("x", ty);
                self.scope.readable.push(var);
                self.scope.writable.push(var);
                Some(Stmt::Local(var, value))
            }
            4 | 5 if may_nest => {
                let condition = self.some_expr(Ty::Bool);
                let yes = self.inner(inner_max);
                let no = if self.once_in(2) { self.inner(inner_max) } else { Vec::new() };
                Some(Stmt::If(condition, yes, no))
            }
            // An action must not contain a `switch`.
            6 if may_nest && !self.scope.is_action => Some(self.switch(inner_max)),
            7 if may_nest && self.scope.loops < 2 => Some(self.loop_stmt(inner_max)),
            8..=10 => {
                let callees = self.scope.callees.clone();
                let callee = self.pick(&callees)?;
                Some(Stmt::Call(callee, self.arguments(callee, 2)?))
            }
            11 => self.jump(),
            _ => self.assign(),
        }
    }

    fn assign(&mut self) -> Option<Stmt> {
        let (place, ty) = self.place(None)?;
        let value = self.some_expr(ty);
        Some(Stmt::Assign(place, value))
    }

    /// A place of this type, or of any type, with its type.
    fn place(&mut self, wanted: Option<Ty>) -> Option<(Place, Ty)> {
        let mut places = Vec::new();
        for var in self.scope.writable.clone() {
            let ty = self.vars[var].ty;
            if wanted.is_none_or(|wanted| wanted == ty) {
                places.push((Place { var, slice: None }, ty));
            }
            if let (Ty::Bit(width) | Ty::Int(width), None | Some(Ty::Bit(_))) = (ty, wanted)
                && self.once_in(3)
            {
                let part = wanted.map_or_else(|| 1 + self.rng.below(u64::from(width)) as u32, Ty::width);
                if part <= width {
                    let low = self.rng.between(0, u64::from(width - part)) as u32;
                    places.push((Place { var, slice: Some((low + part - 1, low)) }, Ty::Bit(part)));
                }
            }
        }
        self.pick(&places)
    }

    fn compound(&mut self) -> Option<Stmt> {
        let (place, ty) = self.place(None)?;
        if ty == Ty::Bool {
            return None;
        }
        let operator = self.operator(&["+", "-", "*", "&", "|", "^", "<<", ">>", "|+|", "|-|"]);
        let right = if matches!(operator, "<<" | ">>") { Ty::Bit(8) } else { ty };
        Some(Stmt::Compound(operator, place, self.some_expr(right)))
    }

    fn switch(&mut self, inner_max: u32) -> Stmt {
        let ty = Ty::Bit(*self.rng.pick(&[1, 3, 8, 32, 65]));
        let subject = self.some_expr(ty);
        let mut labels: Vec<Option<BigInt>> = Vec::new();
        for _ in 0..self.rng.between(1, 4) {
            let label = Some(self.value(ty));
            if !labels.contains(&label) {
                labels.push(label);
            }
        }
        if self.once_in(2) {
            labels.push(None);
        }
        let count = labels.len();
        let mut cases = Vec::new();
        for (index, label) in labels.into_iter().enumerate() {
            let falls = index + 1 < count && self.once_in(4);
            cases.push((label, if falls { None } else { Some(self.inner(inner_max)) }));
        }
        Stmt::Switch(subject, cases)
    }

    fn loop_stmt(&mut self, inner_max: u32) -> Stmt {
        let saved = self.scope.clone();
        let var = self.var("i", Ty::Bit(8));
        self.scope.readable.push(var);
        self.scope.loops += 1;
        let low = self.rng.below(4) as u32;
        let high = low + self.rng.below(4) as u32;
        let body = self.inner(inner_max);
        self.scope = saved;
        Stmt::For(var, low, high, body)
    }

    /// A jump (`break`, `return`, ...), under a condition.
    fn jump(&mut self) -> Option<Stmt> {
        let mut ways = Vec::new();
        if self.scope.loops > 0 {
            ways.extend([Stmt::Break, Stmt::Continue]);
        }
        if self.scope.may_exit {
            ways.push(Stmt::Exit);
        }
        match self.scope.returns {
            Some(Some(ty)) => ways.push(Stmt::Return(Some(self.some_expr(ty)))),
            Some(None) => ways.push(Stmt::Return(None)),
            None => {}
        }
        let way = self.pick(&ways)?;
        Some(Stmt::If(self.some_expr(Ty::Bool), vec![way], Vec::new()))
    }

    fn arguments(&mut self, callee: usize, height: u32) -> Option<Vec<Argument>> {
        let params = self.callees[callee].params.clone();
        let mut args = Vec::new();
        for (direction, var) in params {
            let ty = self.vars[var].ty;
            args.push(match direction {
                Direction::In => Argument::In(self.expr(ty, height)),
                Direction::Out | Direction::InOut => Argument::Place(self.place(Some(ty))?.0),
            });
        }
        Some(args)
    }

    fn some_expr(&mut self, ty: Ty) -> Expr {
        let height = self.rng.between(0, HEIGHT_MAX) as u32;
        // Compile-time known parts are evaluated by different code than the rest.
        let saved = self.is_constant;
        self.is_constant |= self.once_in(6);
        let expr = self.expr(ty, height);
        self.is_constant = saved;
        expr
    }

    fn expr(&mut self, ty: Ty, height: u32) -> Expr {
        if height == 0 || self.once_in(8) {
            return self.leaf(ty);
        }
        if !self.is_constant
            && self.once_in(8)
            && let Some(call) = self.call(ty)
        {
            return call;
        }
        let below = height - 1;
        let kind = match (self.rng.below(12), ty) {
            (0, _) => {
                let condition = self.expr(Ty::Bool, below);
                Kind::Conditional(Box::new(condition), Box::new(self.expr(ty, below)), Box::new(self.expr(ty, below)))
            }
            (_, Ty::Bool) => self.truth(below),
            (1, _) => {
                let operator = self.operator(&["-", "~", "+"]);
                Kind::Unary(operator, Box::new(self.expr(ty, below)))
            }
            (2 | 3, _) => Kind::Cast(Box::new(self.cast_operand(ty, below))),
            (4, Ty::Bit(width)) => {
                let wide = width + self.rng.below(40) as u32;
                let low = self.rng.between(0, u64::from(wide - width)) as u32;
                let base = if self.once_in(4) { Ty::Int(wide) } else { Ty::Bit(wide) };
                Kind::Slice(Box::new(self.expr(base, below)), low + width - 1, low)
            }
            (5, Ty::Bit(width) | Ty::Int(width)) if width > 1 => {
                let low = self.rng.between(1, u64::from(width) - 1) as u32;
                let high = if matches!(ty, Ty::Bit(_)) { Ty::Bit(width - low) } else { Ty::Int(width - low) };
                let low = if self.once_in(3) { Ty::Int(low) } else { Ty::Bit(low) };
                self.pair("++", high, low, below)
            }
            (6 | 7, _) => {
                let operator = self.operator(&["<<", ">>"]);
                let amount = Ty::Bit(*self.rng.pick(&[1, 3, 8, 8, 32, 65]));
                self.pair(operator, ty, amount, below)
            }
            (8, Ty::Bit(_)) => {
                let operator = self.operator(&["/", "%"]);
                let one = Expr { ty, kind: Kind::Constant(BigInt::from(1)) };
                let divisor = Kind::Binary("|", Box::new(self.expr(ty, below)), Box::new(one));
                Kind::Binary(operator, Box::new(self.expr(ty, below)), Box::new(Expr { ty, kind: divisor }))
            }
            _ => {
                let operator = self.operator(&["+", "-", "*", "&", "|", "^", "|+|", "|-|"]);
                self.pair(operator, ty, ty, below)
            }
        };
        Expr { ty, kind }
    }

    fn pair(&mut self, operator: &'static str, left: Ty, right: Ty, height: u32) -> Kind {
        let left = self.expr(left, height);
        Kind::Binary(operator, Box::new(left), Box::new(self.expr(right, height)))
    }

    fn truth(&mut self, height: u32) -> Kind {
        match self.rng.below(6) {
            0 => Kind::Unary("!", Box::new(self.expr(Ty::Bool, height))),
            1 => Kind::Cast(Box::new(self.expr(Ty::Bit(1), height))),
            2 => {
                let operator = self.operator(&["&&", "||"]);
                self.pair(operator, Ty::Bool, Ty::Bool, height)
            }
            3 => {
                let ty = self.ty();
                let operator = self.operator(&["==", "!="]);
                self.pair(operator, ty, ty, height)
            }
            _ => {
                let ty = self.number();
                let operator = self.operator(&["<", "<=", ">", ">="]);
                self.pair(operator, ty, ty, height)
            }
        }
    }

    fn operator(&mut self, items: &[&'static str]) -> &'static str {
        self.rng.pick::<&str>(items)
    }

    /// An expression that can be cast to the type.
    fn cast_operand(&mut self, ty: Ty, height: u32) -> Expr {
        let from = match ty {
            Ty::Bool => Ty::Bit(1),
            Ty::Bit(1) if self.once_in(2) => Ty::Bool,
            Ty::Bit(width) if self.once_in(3) => Ty::Int(width),
            Ty::Bit(_) => Ty::Bit(*self.rng.pick(&WIDTHS)),
            Ty::Int(width) if self.once_in(2) => Ty::Bit(width),
            Ty::Int(_) => Ty::Int(*self.rng.pick(&WIDTHS)),
        };
        self.expr(from, height)
    }

    fn call(&mut self, ty: Ty) -> Option<Expr> {
        let callees: Vec<usize> =
            self.scope.callees.iter().copied().filter(|callee| self.callees[*callee].returns == Some(ty)).collect();
        let callee = self.pick(&callees)?;
        Some(Expr { ty, kind: Kind::Call(callee, self.arguments(callee, 1)?) })
    }

    fn leaf(&mut self, ty: Ty) -> Expr {
        if self.once_in(3) {
            return self.constant(ty);
        }
        let is_usable = |var: &VarId, this: &Self| !this.is_constant || this.vars[*var].name.starts_with("CONST");
        let readable: Vec<VarId> = self.scope.readable.iter().copied().filter(|var| is_usable(var, self)).collect();
        let alike: Vec<VarId> = readable.iter().copied().filter(|var| self.vars[*var].ty == ty).collect();
        if let Some(var) = self.pick(&alike) {
            return Expr { ty, kind: Kind::Var(var) };
        }
        let castable: Vec<VarId> = readable.into_iter().filter(|var| can_cast(self.vars[*var].ty, ty)).collect();
        match self.pick(&castable) {
            Some(var) => {
                let operand = Expr { ty: self.vars[var].ty, kind: Kind::Var(var) };
                Expr { ty, kind: Kind::Cast(Box::new(operand)) }
            }
            None => self.constant(ty),
        }
    }

    fn constant(&mut self, ty: Ty) -> Expr {
        if ty != Ty::Bool && self.once_in(5) {
            let (text, value) = self.whole(3);
            return Expr { ty, kind: Kind::Whole(text, value) };
        }
        let value = self.value(ty);
        Expr { ty, kind: Kind::Constant(value) }
    }

    /// A random value of the type; small values and the limits of the range are preferred.
    fn value(&mut self, ty: Ty) -> BigInt {
        let one = BigInt::from(1);
        let value = match self.rng.below(6) {
            0 => BigInt::from(0),
            1 => -one,
            2 => one << (ty.width() - 1),
            3 | 4 => BigInt::from(self.rng.below(10)),
            _ => (0..4).fold(one, |value, _| (value << 64) + BigInt::from(self.rng.next_u64())),
        };
        wrap(ty, &value)
    }

    /// A calculation with integers of any size.
    fn whole(&mut self, height: u32) -> (String, BigInt) {
        if height == 0 || self.once_in(4) {
            let value = match self.rng.below(3) {
                0 => BigInt::from(self.rng.below(10)),
                1 => BigInt::from(self.rng.next_u64()),
                _ => (BigInt::from(self.rng.next_u64()) << 64) + BigInt::from(self.rng.next_u64()),
            };
            return (value.to_string(), value);
        }
        let (left_text, left) = self.whole(height - 1);
        let (right_text, right) = self.whole(height - 1);
        match self.rng.below(7) {
            0 => (format!("({left_text} + {right_text})"), left + right),
            1 => (format!("({left_text} - {right_text})"), left - right),
            2 => (format!("({left_text} * {right_text})"), left * right),
            3 => {
                let amount = self.rng.below(70);
                (format!("({left_text} << {amount})"), left << amount)
            }
            4 => {
                let amount = self.rng.below(70);
                (format!("({left_text} >> {amount})"), left >> amount)
            }
            5 => (format!("(-{left_text})"), -left),
            // Division of negative numbers is not part of the language.
            _ if left >= BigInt::from(0) && right > BigInt::from(0) => match self.once_in(2) {
                true => (format!("({left_text} / {right_text})"), left / right),
                false => (format!("({left_text} % {right_text})"), left % right),
            },
            _ => (left_text, left),
        }
    }
}

fn can_cast(from: Ty, to: Ty) -> bool {
    match (from, to) {
        (Ty::Bit(_), Ty::Bit(_)) | (Ty::Int(_), Ty::Int(_)) | (Ty::Bool, Ty::Bool) => true,
        (Ty::Bit(from), Ty::Int(to)) | (Ty::Int(from), Ty::Bit(to)) => from == to,
        (Ty::Bool, Ty::Bit(width)) | (Ty::Bit(width), Ty::Bool) => width == 1,
        _ => false,
    }
}
