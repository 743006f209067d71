//! Types and functions with type parameters, each used with several types.

use super::types::{Declared, Shape, Ty};
use super::{Callable, Direction, Generator, Param};
use crate::lines::Lines as _;

impl Generator<'_> {
    /// A struct and a header with type parameters, and some of their instances.
    pub fn declare_generic_types(&mut self) {
        let name = self.name("Pair");
        self.line(format!("struct {name}<A, B> {{ A a; bit<8> b; B c; }}"));
        for _ in 0..self.rng.between(1, 2) {
            let (first, second) = (self.any_type(), self.scalar());
            let (first_text, second_text) = (self.type_text(&first), self.type_text(&second));
            let fields = [("a", first), ("b", Ty::Bit(8)), ("c", second)];
            self.instance(format!("{name}<{first_text}, {second_text}>"), Shape::Struct(named(fields)));
        }
        let name = self.name("Box");
        self.line(format!("header {name}<T> {{ T a; bit<16> b; }}"));
        let width = 8 * self.rng.between(1, 12) as u32;
        let fields = [("a", Ty::Bit(width)), ("b", Ty::Bit(16))];
        self.instance(format!("{name}<bit<{width}>>"), Shape::Header(named(fields)));
    }

    /// An instance of a type, sometimes with a name of its own.
    fn instance(&mut self, text: String, shape: Shape) {
        if self.types.iter().any(|known| known.name == text) {
            return;
        }
        let name = if self.once_in(2) {
            let name = self.name("Made");
            self.line(format!("typedef {text} {name};"));
            name
        } else {
            text
        };
        self.types.push(Declared { name, shape });
    }

    /// Generic functions: what they return and change depends only on the types of their arguments.
    pub fn generic_functions(&mut self) {
        let (either, exchange, first) = (self.name("either"), self.name("exchange"), self.name("first"));
        self.open(format!("T {either}<T>(in T a, in T b, in bool which) {{"));
        self.line("if (which) { return a; }");
        self.line("return b;");
        self.close("}");
        self.open(format!("void {exchange}<T>(inout T a, inout T b) {{"));
        self.line("T kept = a;");
        self.line("a = b;");
        self.line("b = kept;");
        self.close("}");
        self.open(format!("A {first}<A, B>(in A a, inout B b, in B c) {{"));
        self.line("b = c;");
        self.line("return a;");
        self.close("}");
        for _ in 0..self.rng.between(1, 4) {
            let (one, two) = (self.scalar(), self.any_type());
            let given = |name: &str, ty: &Ty| param(name, ty, Direction::In);
            let changed = |name: &str, ty: &Ty| param(name, ty, Direction::InOut);
            let params = vec![given("a", &one), given("b", &one), param("which", &Ty::Bool, Direction::In)];
            self.use_with(&either, &[&one], params, Some(one.clone()));
            self.use_with(&exchange, &[&two], vec![changed("a", &two), changed("b", &two)], None);
            let params = vec![given("a", &one), changed("b", &two), given("c", &two)];
            self.use_with(&first, &[&one, &two], params, Some(one.clone()));
        }
    }

    /// Adds a function with these type arguments to the scope; by its name alone if the types can be inferred.
    fn use_with(&mut self, name: &str, types: &[&Ty], params: Vec<Param>, returns: Option<Ty>) {
        let follows = types.iter().all(|ty| self.is_scalar(ty));
        let texts: Vec<String> = types.iter().map(|ty| self.type_text(ty)).collect();
        let name = if follows && self.once_in(2) { name.to_owned() } else { format!("{name}<{}>", texts.join(", ")) };
        self.functions.push(Callable { name, params, returns });
    }
}

fn param(name: &str, ty: &Ty, direction: Direction) -> Param {
    Param { name: name.to_owned(), ty: ty.clone(), direction, optional: false }
}

fn named<const N: usize>(fields: [(&str, Ty); N]) -> Vec<(String, Ty)> {
    fields.map(|(name, ty)| (name.to_owned(), ty)).to_vec()
}
