//! Variables, headers, stacks and extern objects of random programs.

use super::Generator;
use base::MatchKind;
use ir::v1model::{ARCHITECTURE, Slot};
use ir::{
    Calculation, Counter, Digest, ExternDirection, ExternFunction, ExternFunctionKind, ExternInstance, ExternParam,
    ExternType, FieldList, FieldType, Header, HeaderField, HeaderId, HeaderType, HeaderTypeId, Meter, Register, Stack,
    Type, Unit, ValueSet, VarKind,
};

impl Generator<'_> {
    pub(super) fn storage(&mut self) {
        for slot in &Slot::ALL[..ARCHITECTURE.fields] {
            self.var(format!("standard_metadata.{}", slot.name()), slot.ty(), VarKind::Intrinsic(*slot as u32));
        }
        if self.options.requests {
            for (slot, name) in [
                (Slot::CloneIngressSession, "clone_ingress_session"),
                (Slot::CloneEgressSession, "clone_egress_session"),
                (Slot::CloneList, "clone_list"),
                (Slot::Truncate, "truncate"),
            ] {
                self.var(format!("request.{name}"), Type::Bit(32), VarKind::Intrinsic(slot as u32));
            }
            // The number of copies and the number of passes of each are limited, but a program with both would take
            // too long.
            let rounds = match self.once_in(4) {
                true => &[(Slot::CloneToIngress, "clone_to_ingress")][..],
                false => &[(Slot::Resubmit, "resubmit"), (Slot::Recirculate, "recirculate")],
            };
            // The same holds for coalescing buffers of coalesced packets, and for records that are split again.
            let buffers = [(Slot::Gather, "gather"), (Slot::Release, "release"), (Slot::Scatter, "scatter")];
            let buffers = if self.once_in(3) { &buffers[..] } else { &[] };
            for (slot, name) in rounds.iter().chain(buffers) {
                self.var(format!("request.{name}"), slot.ty(), VarKind::Intrinsic(*slot as u32));
            }
            if !buffers.is_empty() {
                self.var("buffer".to_owned(), Slot::Gathered.ty(), VarKind::Intrinsic(Slot::Gathered as u32));
            }
        }
        for position in 0..self.rng.between(3, 9) {
            let ty = self.ty();
            self.var(format!("meta.m{position}"), ty, VarKind::Metadata);
        }
        self.header_types();
        self.headers();
        if self.options.externs {
            self.externs();
        }
        if self.options.plug_in {
            self.plug_in();
        }
        self.field_lists();
    }

    fn header_types(&mut self) {
        let field = |name: &str, width| HeaderField { name: name.into(), ty: FieldType::Fixed(Type::Bit(width)) };
        self.program.header_types.push(HeaderType {
            name: "ethernet_t".into(),
            fields: vec![field("dstAddr", 48), field("srcAddr", 48), field("etherType", 16)],
        });
        for position in 0..self.rng.between(2, 4) {
            let mut fields = self.fields();
            if position == 1 && self.once_in(2) {
                // The varbit field may be anywhere but before its length.
                let at = self.rng.between(1, fields.len() as u64) as usize;
                let max = *self.rng.pick(&[8u32, 40, 64, 320]);
                fields.insert(at, HeaderField { name: "options".into(), ty: FieldType::Varbit(max) });
            }
            self.program.header_types.push(HeaderType { name: format!("type{position}_t"), fields });
        }
    }

    /// Fields that together are a whole number of bytes.
    fn fields(&mut self) -> Vec<HeaderField> {
        let mut fields = Vec::new();
        let mut bits = 0;
        for position in 0..self.rng.between(1, 5) {
            let ty = if self.once_in(12) { Type::Bool } else { self.number_ty() };
            bits += ty.width();
            fields.push(HeaderField { name: format!("f{position}"), ty: FieldType::Fixed(ty) });
        }
        let spare = bits.next_multiple_of(8) - bits;
        if spare > 0 {
            // At the beginning or at the end, so that fields start at all bit positions.
            let at = if self.once_in(2) { 0 } else { fields.len() };
            fields.insert(at, HeaderField { name: "pad".into(), ty: FieldType::Fixed(Type::Bit(spare)) });
        }
        fields
    }

    pub(super) fn header(&mut self, name: String, ty: HeaderTypeId, metadata: bool) -> HeaderId {
        self.program.headers.push(Header { name, ty, metadata })
    }

    fn headers(&mut self) {
        for ty in self.program.header_types.ids() {
            for copy in 0..self.rng.between(1, 2) {
                let name = format!("hdr.{}{copy}", self.program.header_types[ty].name);
                self.header(name, ty, true);
            }
        }
        for stack in 0..self.rng.between(1, 2) {
            let types: Vec<HeaderTypeId> = self.program.header_types.ids().collect();
            let ty = *self.rng.pick(&types);
            let mut elements = Vec::new();
            for position in 0..self.rng.between(1, 4) {
                elements.push(self.header(format!("hdr.stack{stack}[{position}]"), ty, true));
            }
            let next = self.var(format!("hdr.stack{stack}.next"), Type::Bit(32), VarKind::Metadata);
            self.program.stacks.push(Stack { name: format!("hdr.stack{stack}"), elements, next });
        }
    }

    fn unit(&mut self) -> Unit {
        *self.rng.pick(&[Unit::Packets, Unit::Bytes, Unit::PacketsAndBytes])
    }

    fn externs(&mut self) {
        for position in 0..self.rng.between(1, 3) {
            let ty = self.number_ty();
            let size = *self.rng.pick(&[1, 3, 16, 100]);
            let initial = if self.once_in(2) { self.bits(ty.width()) } else { base::Bits::zero(ty.width()) };
            let name = format!("register{position}");
            let parts_bits = vec![ty.width()];
            self.program.registers.push(Register { name, ty, parts_bits, size, initial, is_start_number: false });
        }
        for position in 0..self.rng.below(3) {
            let width_bits = *self.rng.pick(&[16, 32]);
            self.program.calculations.push(Calculation { name: format!("calculation{position}"), width_bits });
        }
        for position in 0..self.rng.between(1, 2) {
            let (unit, size) = (self.unit(), self.rng.between(1, 20));
            self.program.counters.push(Counter { name: format!("counter{position}"), unit, size });
            let (unit, size) = (self.unit(), self.rng.between(1, 20));
            self.program.meters.push(Meter { name: format!("meter{position}"), unit, size });
        }
        let fields = (0..self.rng.between(1, 3)).map(|field| (format!("f{field}"), self.number_ty())).collect();
        self.program.digests.push(Digest { name: "digest0".into(), receiver: 1, fields });
        let keys = (0..self.rng.between(1, 2)).map(|key| {
            let kind = *self.rng.pick(&[MatchKind::Exact, MatchKind::Exact, MatchKind::Ternary, MatchKind::Range]);
            (format!("k{key}"), self.width(), kind)
        });
        let keys = keys.collect();
        self.program.value_sets.push(ValueSet { name: "MyParser.set0".into(), keys, size: 4 });
    }

    /// Functions with values of any width, and objects with a method.
    fn plug_in(&mut self) {
        let constructor = self.program.extern_functions.next_id();
        for position in 0..self.rng.between(3, 6) {
            let kind = match position {
                0 => ExternFunctionKind::Constructor,
                1 => ExternFunctionKind::Method,
                _ => ExternFunctionKind::Function,
            };
            let mut params = Vec::new();
            for number in 0..self.rng.between(0, 3) {
                let direction = *self.rng.pick(&[ExternDirection::In, ExternDirection::Out, ExternDirection::InOut]);
                let direction = if position == 0 { ExternDirection::In } else { direction };
                params.push(ExternParam { name: format!("a{number}"), direction, ty: ExternType::Value(self.ty()) });
            }
            let result = (position > 0 && self.once_in(2)).then(|| Type::Bit(self.width().min(64)));
            let (symbol, is_pure) = (format!("f{position}"), self.once_in(3));
            let span = base::Span::NONE;
            self.program.extern_functions.push(ExternFunction { symbol, kind, params, result, is_pure, span });
        }
        for number in 0..self.rng.between(1, 2) {
            let inputs: Vec<Type> = self.program.extern_functions[constructor].inputs().collect();
            let args = inputs.iter().map(|ty| base::Bits::from_u64(ty.width(), self.rng.next_u64())).collect();
            self.program.extern_instances.push(ExternInstance { name: format!("object{number}"), constructor, args });
        }
    }

    fn field_lists(&mut self) {
        let candidates: Vec<_> = self.program.vars.ids().collect();
        for number in 1..=self.rng.between(1, 2) {
            let mut vars: Vec<_> = (0..self.rng.between(0, 4)).map(|_| *self.rng.pick(&candidates)).collect();
            vars.sort();
            vars.dedup();
            self.program.field_lists.push(FieldList { number, vars, span: base::Span::NONE });
        }
    }
}
