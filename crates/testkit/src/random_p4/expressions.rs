//! Generates expressions of a given type.

use super::tree::Tree;
use super::types::{Shape, Ty};
use super::{Callable, Code, Direction, Feature, Generator, Value};
use base::Bits;
use num_bigint::BigInt;

impl Generator<'_> {
    /// An expression of a scalar type.
    pub fn expr(&mut self, ty: &Ty, height: u32) -> Tree {
        if height == 0 || self.once_in(6) {
            return self.leaf(ty);
        }
        if let Some(call) = self.some_call(ty, height) {
            return call;
        }
        if self.once_in(14) {
            let condition = self.expr(&Ty::Bool, height - 1);
            return Tree::conditional(condition, self.expr(ty, height - 1), self.expr(ty, height - 1));
        }
        match ty {
            Ty::Bool => self.truth(height),
            Ty::Bit(width) => self.unsigned(*width, height),
            Ty::Int(width) => self.signed(*width, height),
            Ty::Declared(_) => match self.shape(ty).cloned() {
                Some(Shape::NewType(inner)) => self.converted(ty, &inner, height),
                Some(Shape::Serializable { width, .. }) if self.once_in(3) => {
                    self.converted(ty, &Ty::Bit(width), height)
                }
                _ => self.leaf(ty),
            },
            Ty::Varbit(_) | Ty::Error | Ty::Array(..) | Ty::Tuple(_) => self.leaf(ty),
        }
    }

    /// A value of another type, cast to this one.
    fn converted(&mut self, ty: &Ty, from: &Ty, height: u32) -> Tree {
        let text = self.type_text(ty);
        Tree::cast(text, self.expr(from, height - 1))
    }

    /// An expression of the default depth.
    pub fn some_expr(&mut self, ty: &Ty) -> Tree {
        let height = self.rng.between(0, u64::from(self.options.expression_height)) as u32;
        self.expr(ty, height)
    }

    /// A constant or a value in scope, sometimes with a cast.
    fn leaf(&mut self, ty: &Ty) -> Tree {
        if !self.once_in(4) {
            if let Some(value) = self.read(ty) {
                return value;
            }
            if let Ty::Bit(width) | Ty::Int(width) = ty
                && !self.once_in(4)
                && let Some(value) = self.read_cast(ty, *width)
            {
                return value;
            }
        }
        self.constant(ty)
    }

    fn read(&mut self, ty: &Ty) -> Option<Tree> {
        if self.has(Feature::RuntimeIndex) && self.once_in(5) {
            let elements = self.runtime_elements(|value| value.ty == *ty);
            if let Some(value) = self.pick(&elements) {
                return Some(Tree::atom(value.text));
            }
        }
        let values = self.values(|value| value.ty == *ty);
        self.pick(&values).map(|value| Tree::atom(value.text))
    }

    /// The parts of an element of an array in scope whose index is only known at run time.
    pub fn runtime_elements(&mut self, is_wanted: impl Fn(&Value) -> bool) -> Vec<Value> {
        let arrays = self.values(|value| matches!(value.ty, Ty::Array(..)));
        let Some(Value { text, ty: Ty::Array(element, size), writable }) = self.pick(&arrays) else {
            return Vec::new();
        };
        // The index must not be compile-time known: then it would have to be within the array.
        let unknown = self.values(|value| value.writable && matches!(value.ty, Ty::Bit(width) if width <= 32));
        let Some(Value { text: variable, ty, .. }) = self.pick(&unknown) else { return Vec::new() };
        let index = match self.below(4) {
            0 => Tree::atom(variable),
            1 => {
                let other = self.pure(|this| this.expr(&ty, 1));
                Tree::binary(if self.once_in(2) { "+" } else { "^" }, Tree::atom(variable), other)
            }
            // Most indices are within the array.
            _ => {
                let most = (u64::from(size).next_power_of_two() - 1).min((1 << self.width_of(&ty)) - 1);
                Tree::binary("&", Tree::atom(variable), Tree::atom(most.to_string()))
            }
        };
        let mut found = Vec::new();
        self.parts(&Value { text: format!("{text}[{index}]"), ty: *element, writable }, &mut found);
        found.retain(is_wanted);
        found
    }

    fn read_cast(&mut self, ty: &Ty, width: u32) -> Option<Tree> {
        let is_signed = matches!(ty, Ty::Int(_));
        let values = self.values(|value| match value.ty {
            Ty::Bit(found) => !is_signed || found == width,
            Ty::Int(found) => is_signed || found == width,
            Ty::Bool => !is_signed && width == 1,
            _ => false,
        });
        let value = self.pick(&values)?;
        let text = self.type_text(ty);
        Some(Tree::cast(text, Tree::atom(value.text)))
    }

    /// A constant with its type.
    pub fn constant(&mut self, ty: &Ty) -> Tree {
        match ty {
            Ty::Bool => Tree::atom(if self.once_in(2) { "true" } else { "false" }),
            Ty::Bit(width) => {
                let value = self.bits(*width);
                let digits = self.digits(&value);
                Tree::atom(format!("{width}w{digits}"))
            }
            Ty::Int(width) => {
                let value = self.bits(*width);
                if !value.is_negative() {
                    let digits = self.digits(&value);
                    return Tree::atom(format!("{width}s{digits}"));
                }
                let number = Tree::atom(value.to_signed_bigint().magnitude().to_string());
                Tree::cast(format!("int<{width}>"), Tree::unary("-", number))
            }
            Ty::Error => {
                let errors = self.errors.clone();
                Tree::atom(format!("error.{}", self.rng.pick(&errors)))
            }
            Ty::Declared(index) => {
                let name = self.types[*index].name.clone();
                match self.types[*index].shape.clone() {
                    Shape::Enum(members) | Shape::Serializable { members, .. } => {
                        Tree::atom(format!("{name}.{}", self.rng.pick(&members)))
                    }
                    Shape::NewType(inner) => Tree::cast(name, self.constant(&inner)),
                    Shape::Header(_) | Shape::Struct(_) | Shape::Union(_) => Tree::atom("{}"),
                }
            }
            Ty::Varbit(_) | Ty::Array(..) | Ty::Tuple(_) => Tree::atom("{}"),
        }
    }

    /// A random value, with a preference for small ones and the limits of the range.
    pub fn bits(&mut self, width: u32) -> Bits {
        match self.below(6) {
            0 => Bits::zero(width),
            1 => Bits::ones(width),
            2 | 3 => Bits::from_u64(width, self.rng.below(8)),
            4 => Bits::from_u64(width, 1).shl(u64::from(width - 1)),
            _ => {
                let mut bytes = vec![0; width.div_ceil(8) as usize];
                self.rng.fill(&mut bytes);
                Bits::from_be_bytes(width, &bytes)
            }
        }
    }

    /// The value in a random base, sometimes with underscores.
    fn digits(&mut self, value: &Bits) -> String {
        let number = value.to_bigint();
        match self.below(8) {
            0 if value.width() <= 64 => format!("0b{:b}", value.low_u64()),
            1 if value.width() <= 64 => format!("0o{:o}", value.low_u64()),
            2 if value.width() <= 64 => format!("0x{:X}", value.low_u64()),
            3 | 4 => format!("{value}"),
            5 => {
                let digits = number.to_string();
                let (head, tail) = digits.split_at(digits.len().div_ceil(2));
                if tail.is_empty() { digits } else { format!("{head}_{tail}") }
            }
            _ => number.to_string(),
        }
    }

    /// A constant without a width that fits into the type.
    pub fn bare_number(&mut self, ty: &Ty) -> Tree {
        let integers = self.integers.clone();
        if let Ty::Bit(width) | Ty::Int(width) = *ty
            && let Some((name, number)) = self.pick(&integers).filter(|_| self.once_in(4))
        {
            let value = self.bits(width);
            let value = if matches!(ty, Ty::Int(_)) { value.to_signed_bigint() } else { value.to_bigint() };
            let difference = value - number;
            let sign = if difference < BigInt::ZERO { "-" } else { "+" };
            return Tree::binary(sign, Tree::atom(name), Tree::atom(difference.magnitude().to_string()));
        }
        match ty {
            Ty::Int(width) => {
                let value = self.bits(*width);
                let number = Tree::atom(value.to_signed_bigint().magnitude().to_string());
                if value.is_negative() { Tree::unary("-", number) } else { number }
            }
            Ty::Bit(width) => {
                let value = self.bits(*width);
                Tree::atom(self.digits(&value))
            }
            other => self.constant(other),
        }
    }

    /// Two operands of a type; one of them may be a constant without a width.
    fn operands(&mut self, ty: &Ty, height: u32) -> (Tree, Tree) {
        let typed = self.expr(ty, height - 1);
        match self.below(6) {
            0 => (typed, self.bare_number(ty)),
            1 => (self.bare_number(ty), typed),
            _ => (typed, self.expr(ty, height - 1)),
        }
    }

    fn some_call(&mut self, ty: &Ty, height: u32) -> Option<Tree> {
        if self.is_pure || !self.has(Feature::SideEffects) || !self.once_in(12) {
            return None;
        }
        let callables = self.functions.iter().chain(&self.scope.methods);
        let functions: Vec<Callable> =
            callables.filter(|function| function.returns.as_ref() == Some(ty)).cloned().collect();
        let function = self.pick(&functions)?;
        let args = self.arguments(&function, height.min(2) - 1)?;
        Some(Tree::atom(format!("{}({args})", function.name)))
    }

    fn truth(&mut self, height: u32) -> Tree {
        match self.below(9) {
            0 | 1 => {
                let operator = *self.rng.pick(&["&&", "||"]);
                Tree::binary(operator, self.expr(&Ty::Bool, height - 1), self.expr(&Ty::Bool, height - 1))
            }
            2 => Tree::unary("!", self.expr(&Ty::Bool, height - 1)),
            3 => Tree::cast("bool", self.expr(&Ty::Bit(1), height - 1)),
            4 => self.validity().unwrap_or_else(|| self.leaf(&Ty::Bool)),
            5 if self.has(Feature::Comparisons) => self.equality().unwrap_or_else(|| self.leaf(&Ty::Bool)),
            6 => {
                let ty = self.scalar();
                let operator = *self.rng.pick(&["==", "!="]);
                Tree::binary(operator, self.expr(&ty, height - 1), self.expr(&ty, height - 1))
            }
            _ => {
                let ty = self.number();
                let operator = *self.rng.pick(&["==", "!=", "<", "<=", ">", ">="]);
                let (left, right) = self.operands(&ty, height);
                Tree::binary(operator, left, right)
            }
        }
    }

    fn validity(&mut self) -> Option<Tree> {
        let can = |this: &Self, ty: &Ty| matches!(this.shape(ty), Some(Shape::Header(_) | Shape::Union(_)));
        let values = self.values(|value| can(self, &value.ty));
        self.pick(&values).map(|value| Tree::atom(format!("{}.isValid()", value.text)))
    }

    /// A comparison of two structured values.
    fn equality(&mut self) -> Option<Tree> {
        let may_vary = self.has(Feature::VariedValues);
        let values = self.values(|value| !self.is_scalar(&value.ty) && (may_vary || !self.is_varied(&value.ty)));
        let left = self.pick(&values)?;
        let alike: Vec<Value> = values.into_iter().filter(|value| value.ty == left.ty).collect();
        let right = self.pick(&alike)?;
        let operator = *self.rng.pick(&["==", "!="]);
        Some(Tree::binary(operator, Tree::atom(left.text), Tree::atom(right.text)))
    }

    /// Whether the value contains a varbit field.
    pub fn is_varied(&self, ty: &Ty) -> bool {
        match ty {
            Ty::Varbit(_) => true,
            Ty::Array(element, _) => self.is_varied(element),
            Ty::Tuple(parts) => parts.iter().any(|part| self.is_varied(part)),
            Ty::Declared(index) => match &self.types[*index].shape {
                Shape::Header(fields) | Shape::Struct(fields) | Shape::Union(fields) => {
                    fields.iter().any(|(_, ty)| self.is_varied(ty))
                }
                Shape::Enum(_) | Shape::Serializable { .. } | Shape::NewType(_) => false,
            },
            Ty::Bool | Ty::Bit(_) | Ty::Int(_) | Ty::Error => false,
        }
    }

    fn unsigned(&mut self, width: u32, height: u32) -> Tree {
        let ty = Ty::Bit(width);
        match self.below(16) {
            0..=4 => self.arithmetic(&ty, height),
            5 | 6 => self.shift(&ty, height),
            7 => self.division(&ty, height),
            8 if width > 1 => {
                let low = self.rng.between(1, u64::from(width) - 1) as u32;
                let low_ty = if self.has(Feature::Signed) && self.once_in(5) { Ty::Int(low) } else { Ty::Bit(low) };
                let high = self.expr(&Ty::Bit(width - low), height - 1);
                Tree::binary("++", high, self.expr(&low_ty, height - 1))
            }
            9 | 10 => self.slice(width, height),
            11 => self.unary(&ty, height),
            12 if self.has(Feature::Signed) => self.converted(&ty, &Ty::Int(width), height),
            13 if width == 1 => self.converted(&ty, &Ty::Bool, height),
            13 => self.of_declared(width, height),
            14 if width == 32 => self.size_of_something().unwrap_or_else(|| self.leaf(&ty)),
            _ => {
                let from = Ty::Bit(self.width());
                self.converted(&ty, &from, height)
            }
        }
    }

    fn signed(&mut self, width: u32, height: u32) -> Tree {
        let ty = Ty::Int(width);
        match self.below(9) {
            0..=3 => self.arithmetic(&ty, height),
            4 => self.shift(&ty, height),
            5 => self.unary(&ty, height),
            6 if width > 1 => {
                let low = self.rng.between(1, u64::from(width) - 1) as u32;
                let high = self.expr(&Ty::Int(width - low), height - 1);
                Tree::binary("++", high, self.expr(&Ty::Bit(low), height - 1))
            }
            7 => self.converted(&ty, &Ty::Bit(width), height),
            _ => {
                let from = Ty::Int(self.width());
                self.converted(&ty, &from, height)
            }
        }
    }

    fn unary(&mut self, ty: &Ty, height: u32) -> Tree {
        let operator = *self.rng.pick(&["~", "-", "+"]);
        Tree::unary(operator, self.expr(ty, height - 1))
    }

    fn arithmetic(&mut self, ty: &Ty, height: u32) -> Tree {
        let operator = *self.rng.pick(&["+", "-", "*", "&", "|", "^", "|+|", "|-|"]);
        let (left, right) = self.operands(ty, height);
        Tree::binary(operator, left, right)
    }

    fn shift(&mut self, ty: &Ty, height: u32) -> Tree {
        let operator = *self.rng.pick(&["<<", ">>"]);
        let left = self.expr(ty, height - 1);
        let width = u64::from(self.width_of(ty));
        let amount = match self.below(3) {
            0 => Tree::atom(self.rng.below(width + 3).to_string()),
            1 => self.expr(&Ty::Bit(8), height - 1),
            _ => {
                let amount = Ty::Bit(self.width());
                self.expr(&amount, height - 1)
            }
        };
        Tree::binary(operator, left, amount)
    }

    fn division(&mut self, ty: &Ty, height: u32) -> Tree {
        let operator = *self.rng.pick(&["/", "%"]);
        let left = self.expr(ty, height - 1);
        let right = self.expr(ty, height - 1);
        Tree::binary(operator, left, Tree::binary("|", right, Tree::atom("1")))
    }

    fn slice(&mut self, width: u32, height: u32) -> Tree {
        let wide = width + self.rng.below(20) as u32;
        let low = self.rng.below(u64::from(wide - width) + 1) as u32;
        let ty = if self.has(Feature::Signed) && self.once_in(6) { Ty::Int(wide) } else { Ty::Bit(wide) };
        let base = match self.expr(&ty, height - 1) {
            // Whether a constant can be sliced depends on the reading of the grammar: `8w5[3:0]` is allowed, but
            // `-5[3:0]` is not what it seems.
            base @ (Tree::Atom(_) | Tree::Slice(..)) => base,
            base => Tree::atom(format!("({base})")),
        };
        if self.has(Feature::IndexedSlices) && self.once_in(3) {
            let position = self.position(low);
            return Tree::IndexedSlice(Box::new(base), Box::new(position), width);
        }
        Tree::Slice(Box::new(base), low + width - 1, low)
    }

    /// The lowest bit of a slice: this one or, in programs with such indices, one that is not compile-time known. A
    /// known index must be within the value.
    fn position(&mut self, low: u32) -> Tree {
        let unknown = self.values(|value| value.writable && matches!(value.ty, Ty::Bit(width) if width <= 32));
        match self.pick(&unknown) {
            Some(value) if self.has(Feature::RuntimeIndex) && self.once_in(2) => Tree::atom(value.text),
            _ => Tree::atom(low.to_string()),
        }
    }

    fn of_declared(&mut self, width: u32, height: u32) -> Tree {
        let ty = Ty::Bit(width);
        let types = self.declared(|shape| match shape {
            Shape::Serializable { width: found, .. } => *found == width,
            Shape::NewType(inner) => *inner == Ty::Bit(width),
            _ => false,
        });
        match self.pick(&types) {
            Some(from) => self.converted(&ty, &from, height),
            None => self.leaf(&ty),
        }
    }

    /// The size of a stack, or its last index while parsing.
    fn size_of_something(&mut self) -> Option<Tree> {
        let stacks = self.values(|value| match &value.ty {
            Ty::Array(element, _) => self.is_header(element),
            _ => false,
        });
        let stack = self.pick(&stacks)?;
        let member = if self.scope.code == Code::Parser && self.once_in(2) { "lastIndex" } else { "size" };
        Some(Tree::atom(format!("{}.{member}", stack.text)))
    }

    /// A value of any type, where the type is known from the context; `None` if there is no such value.
    pub fn any_expr(&mut self, ty: &Ty, height: u32) -> Option<Tree> {
        if self.is_scalar(ty) {
            return Some(self.expr(ty, height));
        }
        if self.once_in(2)
            && let Some(value) = self.read(ty)
        {
            return Some(value);
        }
        if height > 0
            && let Some(call) = self.some_call(ty, height)
        {
            return Some(call);
        }
        let made = match ty {
            Ty::Tuple(parts) => {
                let parts: Option<Vec<String>> =
                    parts.iter().map(|part| Some(self.any_expr(part, height.saturating_sub(1))?.to_string())).collect();
                parts.map(|parts| Tree::atom(format!("{{ {} }}", parts.join(", "))))
            }
            Ty::Declared(_) => match self.shape(ty).cloned() {
                Some(Shape::Header(_)) if self.once_in(4) => {
                    let name = self.type_text(ty);
                    Some(if self.once_in(2) { Tree::atom("{#}") } else { Tree::cast(name, Tree::atom("{#}")) })
                }
                Some(Shape::Header(fields) | Shape::Struct(fields)) if !self.is_varied(ty) => {
                    self.fields_expr(ty, &fields, height)
                }
                _ => None,
            },
            _ => None,
        };
        made.or_else(|| self.read(ty))
    }

    fn fields_expr(&mut self, ty: &Ty, fields: &[(String, Ty)], height: u32) -> Option<Tree> {
        let by_name = self.once_in(2);
        let mut parts = Vec::new();
        for (name, field) in fields {
            let value = self.any_expr(field, height.saturating_sub(1))?;
            parts.push(if by_name { format!("{name} = {value}") } else { value.to_string() });
        }
        if by_name && self.once_in(3) {
            parts.reverse();
        }
        if by_name && self.has(Feature::Defaults) && self.once_in(4) && parts.len() > 1 {
            parts.pop();
            parts.push("...".into());
        }
        let list = format!("{{ {} }}", parts.join(", "));
        let name = self.type_text(ty);
        Some(if by_name && self.once_in(2) { Tree::cast(name, Tree::atom(list)) } else { Tree::atom(list) })
    }

    /// The arguments of a call; `None` if there is no place for an `out` argument.
    pub fn arguments(&mut self, callable: &Callable, height: u32) -> Option<String> {
        let is_named = self.has(Feature::NamedArguments) && self.once_in(3);
        let mut args = Vec::new();
        for param in &callable.params {
            if param.optional && (is_named || args.len() + 1 == callable.params.len()) && self.once_in(2) {
                continue;
            }
            let value = match param.direction {
                Direction::In | Direction::None => self.any_expr(&param.ty, height)?.to_string(),
                Direction::Out if self.once_in(8) => "_".into(),
                Direction::Out | Direction::InOut => self.place(&param.ty)?,
            };
            args.push(if is_named { format!("{} = {value}", param.name) } else { value });
        }
        Some(args.join(", "))
    }

    /// A place of this type that can be written.
    pub fn place(&mut self, ty: &Ty) -> Option<String> {
        if self.has(Feature::RuntimeIndex) && self.once_in(5) {
            let elements = self.runtime_elements(|value| value.writable && value.ty == *ty);
            if let Some(value) = self.pick(&elements) {
                return Some(value.text);
            }
        }
        if let Ty::Bit(width) = *ty
            && self.once_in(4)
        {
            let wide = self.values(|value| value.writable && matches!(value.ty, Ty::Bit(found) if found >= width));
            if let Some(Value { text, ty: Ty::Bit(found), .. }) = self.pick(&wide) {
                let low = self.rng.between(0, u64::from(found - width));
                if self.has(Feature::IndexedSlices) && self.once_in(3) {
                    let position = self.position(low as u32);
                    return Some(format!("{text}[{position} +: {width}]"));
                }
                return Some(format!("{text}[{}:{low}]", low + u64::from(width) - 1));
            }
        }
        let values = self.values(|value| value.writable && value.ty == *ty);
        self.pick(&values).map(|value| value.text)
    }
}
