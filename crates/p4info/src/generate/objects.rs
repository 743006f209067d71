//! Objects: counters, meters, registers, action profiles, value sets and digests.

use super::Generator;
use super::tables::match_type;
use crate::annotations::{self, find};
use crate::blocks::{Object, Placed};
use crate::codes;
use crate::model::Kind;
use crate::types::{Bound, substituted};
use p4runtime_proto::p4::config::v1;
use sema::hir::{self, Type};
use syntax::ast::{Annotation, AnnotationBody, StructKind};

/// The annotations of an action profile that are instructions to the compiler.
const PROFILE_ANNOTATIONS: [&str; 3] = ["max_group_size", "selector_size_semantics", "max_member_weight"];

fn counter_spec(unit: ir::Unit) -> Option<v1::CounterSpec> {
    use v1::counter_spec::Unit;
    let unit = match unit {
        ir::Unit::Packets => Unit::Packets,
        ir::Unit::Bytes => Unit::Bytes,
        ir::Unit::PacketsAndBytes => Unit::Both,
    };
    Some(v1::CounterSpec { unit: unit as i32 })
}

fn meter_spec(unit: ir::Unit, annotations: &[Annotation]) -> Option<v1::MeterSpec> {
    use v1::meter_spec::{Type, Unit};
    let unit = match unit {
        ir::Unit::Packets => Unit::Packets,
        ir::Unit::Bytes | ir::Unit::PacketsAndBytes => Unit::Bytes,
    };
    let r#type = match annotations {
        _ if find(annotations, "single_rate_three_color").is_some() => Type::SingleRateThreeColor,
        _ if find(annotations, "single_rate_two_color").is_some() => Type::SingleRateTwoColor,
        _ => Type::TwoRateThreeColor,
    };
    Some(v1::MeterSpec { unit: unit as i32, r#type: r#type as i32 })
}

/// Converts a size. The compiler's limits are far below the field's maximum.
fn size<T: TryFrom<u64> + Default>(size: u64) -> T {
    size.try_into().unwrap_or_default()
}

impl Generator<'_, '_, '_> {
    /// Adds a declared object. Direct objects are added with their tables.
    pub(super) fn object(&mut self, object: &Object<'_>) {
        let name = object.name.clone();
        let Type::Extern(_, args) = &object.ty else { return };
        match super::kind_of(self.tree, &object.ty) {
            Some(Kind::Counter) => {
                let Some(made) = self.program.counters.iter().find(|it| it.name == name) else { return };
                // The first type argument of a PSA counter is the type of its cells.
                let index = if args.len() == 2 { args.get(1) } else { args.first() };
                let counter = v1::Counter {
                    preamble: self.preamble(Kind::Counter, &name, object.annotations, &[]),
                    spec: counter_spec(made.unit),
                    size: size(made.size),
                    index_type_name: index.and_then(|index| self.types.named(index)),
                };
                self.info.counters.push(counter);
            }
            Some(Kind::Meter) => {
                let Some(made) = self.program.meters.iter().find(|it| it.name == name) else { return };
                let meter = v1::Meter {
                    preamble: self.preamble(Kind::Meter, &name, object.annotations, &[]),
                    spec: meter_spec(made.unit, object.annotations),
                    size: size(made.size),
                    index_type_name: args.first().and_then(|index| self.types.named(index)),
                };
                self.info.meters.push(meter);
            }
            Some(Kind::Register) => self.register(object, args),
            Some(Kind::ActionProfile) => self.action_profile(&name),
            Some(Kind::Digest) => {
                if let Some(ty) = args.first() {
                    self.digest(object, ty);
                }
            }
            _ => {}
        }
    }

    fn register(&mut self, object: &Object<'_>, args: &[Type]) {
        let name = object.name.as_str();
        let Some(made) = self.program.registers.iter().find(|it| it.name == name) else { return };
        let type_spec = args.first().and_then(|ty| self.types.spec(ty));
        if type_spec.is_none() {
            let message = format!("P4Runtime cannot represent the cells of the register `{name}`");
            self.error(codes::TYPE, object.span, message);
        }
        let register = v1::Register {
            preamble: self.preamble(Kind::Register, name, object.annotations, &[]),
            type_spec,
            size: size(made.size),
            index_type_name: args.get(1).and_then(|index| self.types.named(index)),
        };
        self.info.registers.push(register);
    }

    // --------------------------------------------------------------------------------------------- action profiles

    /// The id of a profile. If a table's property makes it, only the IR has its name.
    pub(super) fn profile_id(&self, name: &str) -> u32 {
        self.symbols.id(Kind::ActionProfile, name)
    }

    pub(super) fn action_profile(&mut self, name: &str) {
        let is_known = |it: &v1::ActionProfile| it.preamble.as_ref().is_some_and(|preamble| preamble.name == name);
        if self.info.action_profiles.iter().any(is_known) {
            return;
        }
        let Some((id, made)) = self.program.action_profiles.iter_enumerated().find(|(_, it)| it.name == name) else {
            return;
        };
        let uses_it = |table: &&ir::Table| table.implementation.as_ref().is_some_and(|used| used.profile == id);
        let mut tables: Vec<&str> = self.program.tables.iter().filter(uses_it).map(|it| it.name.as_str()).collect();
        tables.sort_unstable();
        let table_ids = tables.into_iter().map(|table| self.symbols.id(Kind::Table, table)).collect();
        let annotations = self.annotations_of(Kind::ActionProfile, name);
        let number =
            |name| annotations::number(annotations, name).and_then(Result::ok).and_then(|it| it.try_into().ok());
        let with_selector = made.selector.is_some();
        let profile = v1::ActionProfile {
            preamble: self.preamble(Kind::ActionProfile, name, annotations, &PROFILE_ANNOTATIONS),
            table_ids,
            with_selector,
            size: size(made.size),
            max_group_size: number("max_group_size").filter(|_| with_selector).unwrap_or(0),
            weights_disallowed: false,
            selector_size_semantics: match with_selector {
                true => size_semantics(annotations, number("max_member_weight")),
                false => None,
            },
        };
        self.info.action_profiles.push(profile);
    }

    // ---------------------------------------------------------------------------------------------- direct objects

    pub(super) fn direct_counter(&mut self, made: &ir::DirectCounter, table: u32) -> u32 {
        let annotations = self.annotations_of(Kind::DirectCounter, &made.name);
        let counter = v1::DirectCounter {
            preamble: self.preamble(Kind::DirectCounter, &made.name, annotations, &[]),
            spec: counter_spec(made.unit),
            direct_table_id: table,
        };
        self.info.direct_counters.push(counter);
        self.symbols.id(Kind::DirectCounter, &made.name)
    }

    pub(super) fn direct_meter(&mut self, made: &ir::DirectMeter, table: u32) -> u32 {
        let annotations = self.annotations_of(Kind::DirectMeter, &made.name);
        let meter = v1::DirectMeter {
            preamble: self.preamble(Kind::DirectMeter, &made.name, annotations, &[]),
            spec: meter_spec(made.unit, annotations),
            direct_table_id: table,
        };
        self.info.direct_meters.push(meter);
        self.symbols.id(Kind::DirectMeter, &made.name)
    }

    // ----------------------------------------------------------------------------------------- digests, value sets

    /// Adds the digest that a call sends, named after its type. Further calls with the same type are the same digest.
    pub(super) fn digest_call(&mut self, call: &hir::Call, ty: &Type) {
        let name = sema::digest_name(self.tree, call, ty);
        let is_known = |it: &v1::Digest| it.preamble.as_ref().is_some_and(|preamble| preamble.name == name);
        if self.info.digests.iter().any(is_known) {
            return;
        }
        let type_spec = self.types.spec(ty);
        let preamble = self.preamble(Kind::Digest, &name, &[], &[]);
        self.info.digests.push(v1::Digest { preamble, type_spec });
    }

    fn digest(&mut self, object: &Object<'_>, ty: &Type) {
        let name = object.name.as_str();
        let type_spec = self.types.spec(ty);
        if type_spec.is_none() {
            let message = format!("P4Runtime cannot represent the data of the digest `{name}`");
            self.error(codes::TYPE, object.span, message);
        }
        let preamble = self.preamble(Kind::Digest, name, object.annotations, &[]);
        self.info.digests.push(v1::Digest { preamble, type_spec });
    }

    pub(super) fn value_set(&mut self, place: &Placed<'_, hir::ValueSetId>) {
        let tree = self.tree;
        let declaration = &tree.value_sets[place.id];
        let name = place.name(&declaration.name, &declaration.annotations);
        let Some(made) = self.program.value_sets.iter().find(|it| it.name == name) else { return };
        let fields = match &substituted(&declaration.element, &place.bound) {
            Type::Struct(id, types) if tree.structs[*id].kind == StructKind::Struct => {
                let members = &tree.structs[*id];
                let bound: Bound = members.type_params.iter().copied().zip(types.iter().cloned()).collect();
                let annotations = members.fields.iter().map(|field| &field.annotations[..]);
                let ids = self.field_ids(annotations, declaration.span);
                members.fields.iter().zip(ids).map(|(field, id)| self.set_field(field, id, &bound)).collect()
            }
            element => self.set_value(element).map(|field| vec![field]),
        };
        let Some(match_fields) = fields else {
            let message =
                format!("controllers cannot fill the value set `{name}`: it is not of bits, nor of a struct of them");
            return self.error(codes::TYPE, declaration.span, message);
        };
        let set = v1::ValueSet {
            preamble: self.preamble(Kind::ValueSet, &name, &declaration.annotations, &[]),
            r#match: match_fields,
            size: size(made.size),
        };
        self.info.value_sets.push(set);
    }

    fn is_bits(&self, ty: &Type) -> bool {
        match ty {
            Type::Bit(_) | Type::Int(_) => true,
            Type::NewType(id) => self.is_bits(&self.tree.new_types[*id].target),
            Type::Enum(id) => self.tree.enums[*id].representation.is_some(),
            _ => false,
        }
    }

    /// A value set of a single scalar type.
    fn set_value(&mut self, ty: &Type) -> Option<v1::MatchField> {
        self.is_bits(ty).then(|| v1::MatchField {
            id: 1,
            bitwidth: self.types.width(ty),
            type_name: self.types.named(ty),
            r#match: Some(match_type("exact")),
            ..Default::default()
        })
    }

    fn set_field(&mut self, field: &hir::Field, id: u32, bound: &Bound) -> Option<v1::MatchField> {
        let annotations = &field.annotations;
        let kind = find(annotations, "match").and_then(|annotation| match &annotation.body {
            AnnotationBody::Unstructured { tokens, .. } => tokens.first().map(|token| token.text.clone()),
            _ => None,
        });
        let listed = annotations::listed(self.tree, annotations, &["match"]);
        let ty = substituted(&field.ty, bound);
        self.is_bits(&ty).then(|| v1::MatchField {
            id,
            name: annotations::full_name("", &field.name, annotations),
            annotations: listed.plain,
            annotation_locations: Vec::new(),
            bitwidth: self.types.width(&ty),
            doc: annotations::documentation(annotations),
            type_name: self.types.named(&ty),
            structured_annotations: listed.structured,
            r#match: Some(match_type(kind.as_deref().unwrap_or("exact"))),
        })
    }
}

/// What sizes count according to a selector's annotation; none without one, which means weights, too.
fn size_semantics(
    annotations: &[Annotation],
    weight_max: Option<i32>,
) -> Option<v1::action_profile::SelectorSizeSemantics> {
    use v1::action_profile::{SelectorSizeSemantics, SumOfMembers, SumOfWeights};
    match find(annotations, "selector_size_semantics").and_then(Annotation::single_string)? {
        "sum_of_members" => {
            Some(SelectorSizeSemantics::SumOfMembers(SumOfMembers { max_member_weight: weight_max.unwrap_or(0) }))
        }
        _ => Some(SelectorSizeSemantics::SumOfWeights(SumOfWeights {})),
    }
}
