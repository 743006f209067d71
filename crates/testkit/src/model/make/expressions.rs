//! Random expressions and places.

use super::super::{Argument, Arguments, Code, Direction, Expr, Kind, Place, Scalar, Shape, Step, Ty};
use super::{Maker, Spot, index_bits};
use crate::calculation::operators::wrap;
use num_bigint::BigInt;

/// The greatest depth of expressions.
const HEIGHT_MAX: u64 = 3;

/// The number of places of a type that are used more often than the others.
const HOT_PLACES: usize = 2;

impl Maker<'_> {
    /// Generates an expression of the type.
    pub fn some_expr(&mut self, ty: &Ty) -> Expr {
        let height = self.rng.between(0, HEIGHT_MAX) as u32;
        self.expr(ty, height)
    }

    pub fn truth(&mut self) -> Expr {
        self.some_expr(&Ty::Scalar(Scalar::Bool))
    }

    pub fn expr(&mut self, ty: &Ty, height: u32) -> Expr {
        self.fuel = self.fuel.saturating_sub(1);
        let height = if self.fuel == 0 || self.scope.is_plain { 0 } else { height };
        let races = self.race.as_ref().is_some_and(|race| race.ty == *ty);
        if height > 0
            && self.once_in(if races { 2 } else { 3 })
            && let Some(call) = self.call(ty)
        {
            return call;
        }
        match ty {
            // A plain read stands beside calls that change the variable.
            Ty::Scalar(scalar) if height > 0 && !self.once_in(3) => self.number(*scalar, height - 1),
            Ty::Scalar(scalar) => self.leaf(*scalar),
            _ => self.structured(ty, height),
        }
    }

    fn structured(&mut self, ty: &Ty, height: u32) -> Expr {
        let shape = self.model.shape(ty);
        if shape == Some(Shape::Header) && height > 0 && self.once_in(5) {
            let condition = self.expr(&Ty::Scalar(Scalar::Bool), height - 1);
            let (yes, no) = (self.structured(ty, 0), self.structured(ty, 0));
            let kind = Kind::Conditional(Box::new(condition), Box::new(yes), Box::new(no));
            return Expr { ty: ty.clone(), kind };
        }
        if (height == 0 || shape == Some(Shape::Union) || self.once_in(2))
            && let Some(place) = self.place(ty, false)
        {
            return Expr { ty: ty.clone(), kind: Kind::Read(place) };
        }
        let is_empty = shape == Some(Shape::Union) || shape == Some(Shape::Header) && self.once_in(6);
        let kind = if is_empty { Kind::Invalid } else { self.list(ty, height.saturating_sub(1)) };
        Expr { ty: ty.clone(), kind }
    }

    fn list(&mut self, ty: &Ty, height: u32) -> Kind {
        let types: Vec<Ty> = match ty {
            Ty::Declared(number) => self.model.types[*number].fields.iter().map(|(_, ty)| ty.clone()).collect(),
            Ty::Array(element, size) => vec![(**element).clone(); *size as usize],
            Ty::Scalar(_) => Vec::new(),
        };
        let parts = types.iter().map(|ty| self.expr(ty, height)).collect();
        Kind::List(self.once_in(2), parts)
    }

    fn number(&mut self, ty: Scalar, height: u32) -> Expr {
        let whole = Ty::Scalar(ty);
        let kind = match (self.rng.below(11), ty) {
            (0, _) => {
                let condition = self.expr(&Ty::Scalar(Scalar::Bool), height);
                let (yes, no) = (self.expr(&whole, height), self.expr(&whole, height));
                Kind::Conditional(Box::new(condition), Box::new(yes), Box::new(no))
            }
            (_, Scalar::Bool) => self.comparison(height),
            (1, _) => {
                let operator = *self.rng.pick(&["-", "~"]);
                Kind::Unary(operator, Box::new(self.expr(&whole, height)))
            }
            (2, Scalar::Bit(width)) if self.scope.code == Code::Parser && width % 8 == 0 => Kind::Lookahead,
            (2 | 3, Scalar::Bit(_)) => {
                let from = match self.scalar() {
                    Scalar::Bit(width) => Scalar::Bit(width),
                    _ => Scalar::Bit(8),
                };
                Kind::Cast(Box::new(self.expr(&Ty::Scalar(from), height)))
            }
            (4, Scalar::Bit(width)) if width > 1 => {
                let low = self.rng.between(1, u64::from(width) - 1) as u32;
                self.pair("++", Scalar::Bit(width - low), Scalar::Bit(low), height)
            }
            (5, _) => {
                let operator = *self.rng.pick(&["<<", ">>"]);
                self.pair(operator, ty, Scalar::Bit(4), height)
            }
            _ => {
                let operator = *self.rng.pick(&["+", "-", "*", "&", "|", "^", "|+|", "|-|"]);
                self.pair(operator, ty, ty, height)
            }
        };
        Expr { ty: whole, kind }
    }

    fn pair(&mut self, operator: &'static str, left: Scalar, right: Scalar, height: u32) -> Kind {
        let left = self.expr(&Ty::Scalar(left), height);
        Kind::Binary(operator, Box::new(left), Box::new(self.expr(&Ty::Scalar(right), height)))
    }

    fn comparison(&mut self, height: u32) -> Kind {
        let truth = Ty::Scalar(Scalar::Bool);
        match self.rng.below(8) {
            0 => Kind::Unary("!", Box::new(self.expr(&truth, height))),
            1 | 2 => {
                let operator = *self.rng.pick(&["&&", "||"]);
                self.pair(operator, Scalar::Bool, Scalar::Bool, height)
            }
            3 => {
                let headers: Vec<Ty> = self.pool.iter().filter(|ty| self.model.is_header(ty)).cloned().collect();
                let ty = self.rng.pick(&headers).clone();
                match self.place(&ty, false) {
                    Some(place) => Kind::IsValid(place),
                    None => Kind::Constant(BigInt::from(1)),
                }
            }
            4 if let Some(hit) = self.hit() => hit,
            4 | 5 => {
                let ty = self.rng.pick(&self.pool).clone();
                let left = self.expr(&ty, height);
                Kind::Same(self.once_in(2), Box::new(left), Box::new(self.expr(&ty, height)))
            }
            _ => {
                let ty = match self.scalar() {
                    Scalar::Bool => Scalar::Bit(8),
                    number => number,
                };
                let operator = *self.rng.pick(&["<", "<=", ">", ">="]);
                self.pair(operator, ty, ty, height)
            }
        }
    }

    /// Applies a table and tests whether it hits.
    fn hit(&mut self) -> Option<Kind> {
        if self.scope.code != Code::Control {
            return None;
        }
        let tables = self.scope.tables.clone();
        let table = self.pick(&tables)?;
        self.spend(self.table_steps[table])?;
        Some(Kind::Hit(table, self.once_in(2)))
    }

    fn leaf(&mut self, ty: Scalar) -> Expr {
        let whole = Ty::Scalar(ty);
        if !self.once_in(4)
            && let Some(place) = self.place(&whole, false)
        {
            return Expr { ty: whole, kind: Kind::Read(place) };
        }
        self.constant(ty)
    }

    pub fn constant(&mut self, ty: Scalar) -> Expr {
        let value = match self.rng.below(5) {
            0 => BigInt::from(-1),
            1 => BigInt::from(self.rng.next_u64()),
            _ => BigInt::from(self.rng.below(5)),
        };
        Expr { ty: Ty::Scalar(ty), kind: Kind::Constant(wrap(ty, &value)) }
    }

    /// A call of a function that returns the type.
    fn call(&mut self, ty: &Ty) -> Option<Expr> {
        let returns = |callee: &usize, this: &Self| this.model.callees[*callee].returns.as_ref() == Some(ty);
        let callees: Vec<usize> = self.scope.callees.iter().copied().filter(|it| returns(it, self)).collect();
        let changing = self.changing.iter().copied().find(|callee| callees.contains(callee));
        let callee = match changing.filter(|_| self.rng.chance(2, 3)) {
            Some(changing) => changing,
            None => self.pick(&callees)?,
        };
        let args = self.arguments(callee, 1)?;
        Some(Expr { ty: ty.clone(), kind: Kind::Call(callee, args) })
    }

    /// Chooses the place that is read and changed often for the next while.
    pub fn start_race(&mut self) {
        let ty = Ty::Scalar(if self.once_in(2) { Scalar::Bit(8) } else { self.scalar() });
        let visible = self.scope.visible.iter().filter(|(_, is_writable)| *is_writable);
        let spots = visible.flat_map(|(var, _)| self.spots[*var].iter().filter(|spot| spot.place.ty == ty));
        let places: Vec<Place> = spots.map(|spot| spot.place.clone()).collect();
        self.race = self.pick(&places).filter(|_| self.rng.chance(2, 3));
    }

    /// Arguments for a call; `None` if there are no places for them or the call takes too many steps.
    pub fn arguments(&mut self, callee: usize, height: u32) -> Option<Arguments> {
        self.spend(self.callee_steps[callee])?;
        let params = self.model.callees[callee].params.clone();
        let mut positions: Vec<usize> = (0..params.len()).collect();
        if self.once_in(4) {
            // Named arguments may be in any order, and those with default values may be left out.
            for position in 0..positions.len() {
                let other = self.rng.below(positions.len() as u64) as usize;
                positions.swap(position, other);
            }
            let defaults = self.model.callees[callee].defaults.clone();
            let has_default = |position: &usize| defaults.iter().any(|(var, _)| *var == params[*position].1);
            positions.retain(|position| !has_default(position) || self.rng.chance(1, 2));
        }
        let mut args = Vec::new();
        for position in positions {
            let (direction, var) = params[position];
            args.push((position, self.argument(direction, var, height)?));
        }
        Some(args)
    }

    /// Reserves steps for a call; `None` if there are not enough.
    pub fn spend(&mut self, steps: u32) -> Option<()> {
        let steps = steps.saturating_mul(self.scope.rounds);
        if self.steps.saturating_add(steps) > self.steps_max {
            return None;
        }
        self.steps += steps;
        Some(())
    }

    pub fn argument(&mut self, direction: Direction, param: usize, height: u32) -> Option<Argument> {
        let ty = self.model.vars[param].ty.clone();
        Some(match direction {
            Direction::None | Direction::In => Argument::In(self.expr(&ty, height)),
            Direction::Out | Direction::InOut => Argument::Place(self.place(&ty, true)?),
        })
    }

    /// A place of the type that may be read, or written.
    pub fn place(&mut self, ty: &Ty, is_written: bool) -> Option<Place> {
        if let Some(race) = self.race.clone().filter(|race| race.ty == *ty)
            && self.scope.visible.iter().any(|(var, is_writable)| *var == race.var && (*is_writable || !is_written))
            && !self.once_in(4)
        {
            return Some(race);
        }
        let slice = match ty {
            Ty::Scalar(Scalar::Bit(width)) if self.once_in(4) => Some(*width),
            _ => None,
        };
        let fits = |spot: &&Spot| match (&spot.place.ty, slice) {
            (Ty::Scalar(scalar @ (Scalar::Bit(_) | Scalar::Int(_))), Some(width)) => scalar.width() > width,
            (found, _) => found == ty,
        };
        let visible = self.scope.visible.iter().filter(|(_, is_writable)| *is_writable || !is_written);
        let mut spots: Vec<&Spot> = visible.flat_map(|(var, _)| self.spots[*var].iter().filter(fits)).collect();
        if spots.len() > HOT_PLACES && self.rng.chance(3, 4) {
            // Places that are read and written are chosen from the same few.
            let start = self.hot % spots.len();
            spots.rotate_left(start);
            spots.truncate(HOT_PLACES);
        }
        if spots.is_empty() {
            return None;
        }
        let mut place = self.rng.pick(&spots).place.clone();
        if let (Ty::Scalar(scalar), Some(part)) = (&place.ty, slice)
            && place.ty != *ty
        {
            let (scalar, low) = (*scalar, self.rng.between(0, u64::from(scalar.width() - part)) as u32);
            place.steps.push(Step::Slice(scalar, low + part - 1, low));
            place.ty = ty.clone();
        }
        self.calculate_indices(&mut place);
        Some(place)
    }

    fn calculate_indices(&mut self, place: &mut Place) {
        if self.scope.is_plain || self.fuel == 0 {
            return;
        }
        let mut ty = self.model.vars[place.var].ty.clone();
        for step in &mut place.steps {
            if let (Step::Element(index), Ty::Array(_, size)) = (&mut *step, &ty)
                && size.is_power_of_two()
                && self.once_in(2)
            {
                let number = self.expr(&Ty::Scalar(Scalar::Bit(8)), 1);
                let ty = Ty::Scalar(Scalar::Bit(index_bits(*size)));
                **index = Expr { ty, kind: Kind::Cast(Box::new(number)) };
            }
            ty = self.model.part(&ty, step);
        }
    }
}
