//! Generates models: types, and the blocks of the program. [`expressions`] and [`statements`] generate their
//! contents.

mod callees;
mod expressions;
mod statements;

use super::{
    Code, Declared, Expr, HEADERS, Kind, METADATA, Model, Place, Scalar, Shape, Step, Stmt, Ty, VarId, Variable,
};
use base::Rng;
use num_bigint::BigInt;

/// Widths around the sizes of machine words, and a few beyond.
const WIDTHS: [u32; 16] = [1, 2, 3, 5, 7, 8, 9, 15, 24, 31, 32, 33, 48, 64, 65, 130];

/// The most steps of one run of a callee.
const CALLEE_STEPS_MAX: u32 = 150;

/// The most steps of a block of the architecture.
const BLOCK_STEPS_MAX: u32 = 1_500;

/// The most expressions of a callee.
const CALLEE_FUEL: u32 = 60;

/// A part of a variable, with constant indices.
#[derive(Clone)]
struct Spot {
    place: Place,
    /// Whether it is a field of a header.
    in_header: bool,
}

#[derive(Clone)]
struct Scope {
    code: Code,
    /// Variables, and whether they may be written.
    visible: Vec<(VarId, bool)>,
    callees: Vec<usize>,
    tables: Vec<usize>,
    /// The type that `return` returns here, if it is allowed here.
    returns: Option<Option<Ty>>,
    loops: u32,
    /// How often the code here runs for each run of the callee.
    rounds: u32,
    /// Without calls and calculated indices.
    is_plain: bool,
}

impl Scope {
    fn new(code: Code) -> Scope {
        Scope {
            code,
            visible: Vec::new(),
            callees: Vec::new(),
            tables: Vec::new(),
            returns: None,
            loops: 0,
            rounds: 1,
            is_plain: false,
        }
    }
}

struct Maker<'m> {
    rng: &'m mut Rng,
    /// The scalar types of this program: only a few, so that there are many places of each type.
    palette: Vec<Scalar>,
    /// The types of variables and parameters.
    pool: Vec<Ty>,
    model: Model,
    /// The parts of each variable.
    spots: Vec<Vec<Spot>>,
    /// The most steps of each callee and of each table.
    callee_steps: Vec<u32>,
    table_steps: Vec<u32>,
    /// Functions that change the number that they are given.
    changing: Vec<usize>,
    /// A place that a statement reads and changes often, so that the order matters.
    race: Option<Place>,
    /// Selects the places of each type that are used more often than the others.
    hot: usize,
    scope: Scope,
    /// The steps so far of the callee that is being generated, and their limit.
    steps: u32,
    steps_max: u32,
    /// The expressions that it may still have.
    fuel: u32,
}

/// Generates a model whose ingress has roughly this many statements.
pub fn model(rng: &mut Rng, statements: u32) -> Model {
    let mut palette = vec![Scalar::Bit(8), Scalar::Bit(8), Scalar::Bit(4), Scalar::Bit(16), Scalar::Bool];
    palette.push(Scalar::Bit(*rng.pick(&WIDTHS)));
    palette.push(if rng.chance(1, 2) { Scalar::Int(*rng.pick(&WIDTHS)) } else { Scalar::Bit(8) });
    let model = Model {
        types: Vec::new(),
        vars: Vec::new(),
        callees: Vec::new(),
        tables: Vec::new(),
        parser: 0,
        ingress: 0,
        egress: 0,
    };
    let hot = rng.below(64) as usize;
    let mut maker = Maker {
        rng,
        palette,
        pool: Vec::new(),
        model,
        spots: Vec::new(),
        callee_steps: Vec::new(),
        table_steps: Vec::new(),
        changing: Vec::new(),
        race: None,
        hot,
        scope: Scope::new(Code::Function),
        steps: 0,
        steps_max: 0,
        fuel: 0,
    };
    let headers = maker.types();
    maker.blocks(headers, statements);
    maker.model
}

impl Maker<'_> {
    fn once_in(&mut self, count: u64) -> bool {
        self.rng.chance(1, count)
    }

    fn pick<T: Clone>(&mut self, items: &[T]) -> Option<T> {
        if items.is_empty() { None } else { Some(self.rng.pick(items).clone()) }
    }

    fn scalar(&mut self) -> Scalar {
        *self.rng.pick(&self.palette)
    }

    fn declare(&mut self, name: &str, shape: Shape, fields: Vec<(String, Ty)>) -> Ty {
        self.model.types.push(Declared { name: name.into(), shape, fields });
        Ty::Declared(self.model.types.len() - 1)
    }

    /// The fields of a header, padded to whole bytes.
    fn header_fields(&mut self, mut fields: Vec<(String, Ty)>) -> Vec<(String, Ty)> {
        let bits: u32 = fields.iter().map(|(_, ty)| self.model.width(ty)).sum();
        let filling = bits.next_multiple_of(8) - bits;
        if filling > 0 {
            fields.push(("filling".into(), Ty::Scalar(Scalar::Bit(filling))));
        }
        fields
    }

    fn scalars(&mut self, stem: &str, low: u64, high: u64) -> Vec<(String, Ty)> {
        let count = self.rng.between(low, high);
        (0..count).map(|number| (format!("{stem}{number}"), Ty::Scalar(self.scalar()))).collect()
    }

    /// Declares the types of the program. Returns the type of its headers.
    fn types(&mut self) -> Ty {
        let mut headers = Vec::new();
        for number in 0..self.rng.between(1, 3) {
            let fields = self.scalars("f", 1, 3);
            let fields = self.header_fields(fields);
            headers.push(self.declare(&format!("header{number}_t"), Shape::Header, fields));
        }
        let mut pool = headers.clone();
        let members: Vec<Ty> = headers.iter().cycle().take(headers.len().max(2)).cloned().collect();
        let members = members.into_iter().enumerate().map(|(number, ty)| (format!("u{number}"), ty)).collect();
        let union = self.declare("union_t", Shape::Union, members);
        let stack_of = |this: &mut Self, ty: &Ty| Ty::Array(Box::new(ty.clone()), *this.rng.pick(&[2, 3, 4, 4]));
        let stack = stack_of(self, &headers[0]);
        let numbers = Ty::Scalar(self.scalar());
        let array = stack_of(self, &numbers);
        let mut fields = self.scalars("s", 1, 3);
        fields.push(("h".into(), headers[0].clone()));
        let small = self.declare("small_t", Shape::Struct, fields);
        let mut fields = self.scalars("t", 0, 2);
        let candidates = [small.clone(), array.clone(), stack.clone(), union.clone()];
        for number in 0..self.rng.between(1, 2) {
            fields.push((format!("part{number}"), self.rng.pick(&candidates).clone()));
        }
        let large = self.declare("large_t", Shape::Struct, fields);
        pool.extend([union.clone(), stack.clone(), array.clone(), small.clone(), large.clone()]);
        let numbers = self.palette.iter().map(|scalar| Ty::Scalar(*scalar));
        pool.extend(numbers.clone());
        pool.extend(numbers);
        self.pool = pool;

        let mut fields = self.scalars("m", 1, 4);
        fields.extend([("array".into(), array), ("small".into(), small), ("large".into(), large)]);
        let metadata = self.declare("metadata", Shape::Struct, fields);
        let mut fields = Vec::new();
        let first = self.scalars("k", 4, 7);
        let mut first = self.header_fields(first);
        first.insert(0, ("flags".into(), Ty::Scalar(Scalar::Bit(8))));
        fields.push(("first".into(), self.declare("first_t", Shape::Header, first)));
        for (number, ty) in headers.iter().enumerate() {
            fields.push((format!("h{number}"), ty.clone()));
        }
        fields.extend([("g".into(), headers[0].clone()), ("stack".into(), stack), ("union".into(), union)]);
        self.headers(fields, metadata)
    }

    /// The struct of headers. Its last header shows the results in the others and in the metadata.
    fn headers(&mut self, mut fields: Vec<(String, Ty)>, metadata: Ty) -> Ty {
        let shown = Ty::Declared(self.model.types.len());
        self.model.types.push(Declared { name: "shown".into(), shape: Shape::Struct, fields: fields.clone() });
        let mut last = Vec::new();
        for spot in self.parts_of(HEADERS, &shown) {
            if self.model.is_header(&spot.place.ty) {
                last.push((format!("v{}", last.len()), Ty::Scalar(Scalar::Bit(1))));
            }
        }
        for spot in self.parts_of(METADATA, &metadata) {
            if matches!(spot.place.ty, Ty::Scalar(_)) {
                last.push((format!("m{}", last.len()), spot.place.ty));
            }
        }
        let last = self.header_fields(last);
        self.model.types.pop();
        let last = self.declare("last_t", Shape::Header, last);
        fields.push(("last".into(), last));
        let headers = self.declare("headers", Shape::Struct, fields);
        assert_eq!((self.named_var("hdr", headers.clone()), self.named_var("meta", metadata)), (HEADERS, METADATA));
        headers
    }

    /// Statements that write the validity of headers and the contents of the metadata into the last header.
    fn shown(&mut self) -> Vec<Stmt> {
        let Ty::Declared(headers) = self.model.vars[HEADERS].ty else { unreachable!("headers are declared") };
        let position = self.model.types[headers].fields.len() - 1;
        let ty = self.model.types[headers].fields[position].1.clone();
        let last = Place { var: HEADERS, steps: vec![Step::Field(position)], ty };
        let is_last = |place: &Place| matches!(place.steps[..], [Step::Field(first), ..] if first == position);
        let mut values = Vec::new();
        for spot in self.spots[HEADERS].iter().filter(|spot| self.model.is_header(&spot.place.ty)) {
            if !is_last(&spot.place) {
                let valid = Expr { ty: Ty::Scalar(Scalar::Bool), kind: Kind::IsValid(spot.place.clone()) };
                values.push(Expr { ty: Ty::Scalar(Scalar::Bit(1)), kind: Kind::Cast(Box::new(valid)) });
            }
        }
        for spot in self.spots[METADATA].iter().filter(|spot| matches!(spot.place.ty, Ty::Scalar(_))) {
            values.push(Expr { ty: spot.place.ty.clone(), kind: Kind::Read(spot.place.clone()) });
        }
        let mut body = vec![Stmt::SetValid(last.clone(), false), Stmt::SetValid(last.clone(), true)];
        for (field, value) in values.into_iter().enumerate() {
            let mut place = last.clone();
            place.steps.push(Step::Field(field));
            place.ty = value.ty.clone();
            body.push(Stmt::Assign(place, value));
        }
        body
    }

    fn named_var(&mut self, name: &str, ty: Ty) -> VarId {
        let var = self.model.vars.len();
        let spots = self.parts_of(var, &ty);
        self.spots.push(spots);
        self.model.vars.push(Variable { name: name.into(), ty });
        var
    }

    fn var(&mut self, stem: &str, ty: Ty) -> VarId {
        let name = format!("{stem}{}", self.model.vars.len());
        self.named_var(&name, ty)
    }

    /// A variable and all its parts.
    fn parts_of(&self, var: VarId, ty: &Ty) -> Vec<Spot> {
        let mut spots = Vec::new();
        let whole = Spot { place: Place { var, steps: Vec::new(), ty: ty.clone() }, in_header: false };
        self.add_parts(whole, &mut spots);
        spots
    }

    fn add_parts(&self, spot: Spot, spots: &mut Vec<Spot>) {
        let in_header = spot.in_header || self.model.is_header(&spot.place.ty);
        let steps: Vec<Step> = match &spot.place.ty {
            Ty::Scalar(_) => Vec::new(),
            Ty::Declared(number) => (0..self.model.types[*number].fields.len()).map(Step::Field).collect(),
            Ty::Array(_, size) => (0..*size).map(|index| element(*size, index)).collect(),
        };
        let place = spot.place.clone();
        spots.push(spot);
        for step in steps {
            let ty = self.model.part(&place.ty, &step);
            let mut steps = place.steps.clone();
            steps.push(step);
            self.add_parts(Spot { place: Place { var: place.var, steps, ty }, in_header }, spots);
        }
    }
}

/// The width of an index into an array.
fn index_bits(size: u32) -> u32 {
    size.next_power_of_two().ilog2()
}

fn element(size: u32, index: u32) -> Step {
    let ty = Ty::Scalar(Scalar::Bit(index_bits(size)));
    Step::Element(Box::new(Expr { ty, kind: Kind::Constant(BigInt::from(index)) }))
}
