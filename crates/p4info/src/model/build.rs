//! Joins a P4Info and a program by their names.

use super::data::{Data, Value, translation};
use super::objects::*;
use super::{Mismatch, Model};
use crate::mappings::that_does_not_fit as mapping_that_does_not_fit;
use base::{MatchKind, OrderedMap};
use ir::Program;
use p4runtime_proto::p4::config::v1::{self, P4NamedType, P4TypeInfo};

type Built<T> = Result<T, Mismatch>;

/// Builds the model.
pub fn build(info: v1::P4Info, program: &Program) -> Built<Model> {
    let types = info.type_info.clone().unwrap_or_default();
    let mut builder = Builder { program, types, info: &info, objects: OrderedMap::new(), names: OrderedMap::new() };
    builder.all()?;
    let (objects, names) = (builder.objects, builder.names);
    Ok(Model { info, objects, names })
}

struct Builder<'a> {
    program: &'a Program,
    info: &'a v1::P4Info,
    types: P4TypeInfo,
    objects: OrderedMap<u32, Object>,
    names: OrderedMap<(Kind, String), u32>,
}

fn mismatch<T>(message: String) -> Built<T> {
    Err(Mismatch { message })
}

/// Finds an object of the IR by its name.
fn find<'p, I: Copy, T: 'p>(
    kind: Kind,
    name: &str,
    things: impl Iterator<Item = (I, &'p T)>,
    name_of: impl Fn(&T) -> &str,
) -> Built<(I, &'p T)> {
    let mut things = things;
    match things.find(|(_, thing)| name_of(thing) == name) {
        Some(found) => Ok(found),
        None => mismatch(format!("the program has no {} called {name}", kind.as_str())),
    }
}

impl Builder<'_> {
    fn all(&mut self) -> Built<()> {
        let info = self.info;
        // Actions come first, because tables match their parameters with those of the IR.
        self.actions_of_program()?;
        for it in &info.action_profiles {
            self.action_profile(it)?;
        }
        for it in &info.tables {
            self.table(it)?;
        }
        for it in &info.counters {
            self.counter(it)?;
        }
        for it in &info.direct_counters {
            self.direct_counter(it)?;
        }
        for it in &info.meters {
            self.meter(it)?;
        }
        for it in &info.direct_meters {
            self.direct_meter(it)?;
        }
        for it in &info.controller_packet_metadata {
            self.controller_header(it)?;
        }
        for it in &info.value_sets {
            self.value_set(it)?;
        }
        for it in &info.registers {
            self.register(it)?;
        }
        for it in &info.digests {
            self.digest(it)?;
        }
        self.check_references()
    }

    fn insert(&mut self, preamble: Option<&v1::Preamble>, object: Object) -> Built<()> {
        let (id, kind) = (object.id(), object.kind());
        let name = object.name().to_owned();
        if Kind::of_id(id) != Some(kind) {
            return mismatch(format!("{name}: {id:#010x} is not an id of {}", kind.with_article()));
        }
        if let Some(other) = self.objects.insert(id, object) {
            return mismatch(format!("{} and {name} have the same id {id:#010x}", other.name()));
        }
        // A full name takes precedence over an alias, in whichever order they come.
        let alias = preamble.map(|it| it.alias.clone()).filter(|alias| !alias.is_empty() && *alias != name);
        if let Some(alias) = alias {
            self.names.entry((kind, alias)).or_insert(id);
        }
        match self.names.insert((kind, name.clone()), id) {
            Some(other) if self.objects.get(&other).is_some_and(|other| other.name() == name) => {
                mismatch(format!("there are two {}s called {name}", kind.as_str()))
            }
            _ => Ok(()),
        }
    }

    // ------------------------------------------------------------------------------------------------------- values

    /// Joins a value of the P4Info to one of the IR. `bits` is the width in the P4Info.
    fn value(&self, what: &str, bits: i32, ty: Option<&P4NamedType>, width_bits: u32) -> Built<Value> {
        let translation = ty.map_or(Ok(None), |ty| translation(ty, &self.types))?;
        let mappings = translation.iter().flat_map(|it| &it.mappings);
        if let Some((text, number)) = mapping_that_does_not_fit(mappings, width_bits) {
            return mismatch(format!("{what} has {width_bits} bits, and its type maps {text:?} to {number}"));
        }
        let agrees = match &translation {
            Some(translation) => translation.width_bits.unwrap_or(0) == bits.try_into().unwrap_or(u32::MAX),
            // An enum without a representation has no width in a P4Info.
            None => bits == 0 || u32::try_from(bits) == Ok(width_bits),
        };
        if agrees {
            return Ok(Value { width_bits, translation, format: None });
        }
        mismatch(format!("{what} is {bits} bits wide in the P4Info, {width_bits} in the program"))
    }

    fn match_field(&self, owner: &str, it: &v1::MatchField, width_bits: u32, kind: MatchKind) -> Built<MatchField> {
        let what = format!("{owner}: match field {}", it.name);
        if crate::match_kind(it) != Some(kind) {
            return mismatch(format!("{what} does not have the match kind of the program"));
        }
        let value = self.value(&what, it.bitwidth, it.type_name.as_ref(), width_bits)?;
        Ok(MatchField { id: it.id, name: it.name.clone(), kind, value })
    }

    // ------------------------------------------------------------------------------------------ tables and actions

    fn actions_of_program(&mut self) -> Built<()> {
        for it in &self.info.actions {
            let preamble = it.preamble.clone().unwrap_or_default();
            let name = preamble.name.clone();
            // An action that no table lists has no counterpart in the IR, and no request can use it.
            let action = self.program.actions.iter().find(|action| action.name == name);
            let mut widths = action.map(|it| self.param_widths(it)).map(|it| it.into_iter().enumerate());
            let mut params = Vec::new();
            for param in &it.params {
                let what = format!("action {name}: parameter {}", param.name);
                // The IR has no values of zero width. (An enum without a representation has a name, but no width here.)
                let is_nothing = param.bitwidth == 0 && param.type_name.is_none();
                let (position, width_bits) = match &mut widths {
                    _ if is_nothing => (None, 0),
                    None => (None, u32::try_from(param.bitwidth).unwrap_or(0)),
                    Some(widths) => match widths.next() {
                        Some((position, width_bits)) => (Some(position as u32), width_bits),
                        None => return mismatch(format!("{what} is not one of the program")),
                    },
                };
                let value = self.value(&what, param.bitwidth, param.type_name.as_ref(), width_bits)?;
                params.push(Param { id: param.id, name: param.name.clone(), value, position });
            }
            if let Some(left) = widths.map(Iterator::count).filter(|left| *left > 0) {
                return mismatch(format!("action {name} has {left} parameters that the P4Info does not have"));
            }
            unique(&format!("action {name}"), params.iter().map(|param| param.id))?;
            self.insert(Some(&preamble), Object::Action(Action { id: preamble.id, name, params }))?;
        }
        Ok(())
    }

    fn param_widths(&self, action: &ir::Action) -> Vec<u32> {
        action.params.iter().map(|var| self.program.vars[*var].ty.width()).collect()
    }

    fn table(&mut self, it: &v1::Table) -> Built<()> {
        let preamble = it.preamble.clone().unwrap_or_default();
        let name = preamble.name.clone();
        let owner = format!("table {name}");
        let (table, found) = find(Kind::Table, &name, self.program.tables.iter_enumerated(), |table| &table.name)?;
        if found.keys.len() != it.match_fields.len() {
            let (said, has) = (it.match_fields.len(), found.keys.len());
            return mismatch(format!("{owner} has {said} match fields in the P4Info, {has} keys in the program"));
        }
        let mut keys = Vec::new();
        for (field, key) in it.match_fields.iter().zip(&found.keys) {
            keys.push(self.match_field(&owner, field, key.expr.ty.width(), key.kind)?);
        }
        unique(&owner, keys.iter().map(|key| key.id))?;
        let mut actions = Vec::new();
        for reference in &it.action_refs {
            actions.extend(self.table_action(&owner, reference, found)?);
        }
        let direct = |kind| it.direct_resource_ids.iter().copied().find(|id| Kind::of_id(*id) == Some(kind));
        let table = Table {
            id: preamble.id,
            name,
            table,
            keys,
            actions,
            profile: Some(it.implementation_id).filter(|id| *id != 0),
            direct_counter: direct(Kind::DirectCounter),
            direct_meter: direct(Kind::DirectMeter),
            size: it.size,
            supports_timeout: found.support_timeout,
            is_const: found.const_entries,
            has_const_default: found.const_default,
        };
        self.insert(Some(&preamble), Object::Table(table))
    }

    /// An action in a table's list. None for a hidden one: the list contains its id, but nothing describes it.
    fn table_action(&self, owner: &str, it: &v1::ActionRef, table: &ir::Table) -> Built<Option<TableAction>> {
        let action = match self.objects.get(&it.id) {
            Some(Object::Action(action)) => action,
            None if Kind::of_id(it.id) == Some(Kind::Action) => return Ok(None),
            _ => return mismatch(format!("{owner} lists {:#010x}, which is not an action", it.id)),
        };
        let is_it = |listed: &ir::TableAction| self.program.actions[listed.action].name == action.name;
        let Some(position) = table.actions.iter().position(is_it) else {
            return mismatch(format!("{owner} lists action {}, which that of the program does not", action.name));
        };
        let listed = &table.actions[position];
        let widths = self.param_widths(&self.program.actions[listed.action]);
        let known = action.params.iter().filter(|param| param.position.is_some());
        if widths != known.map(|param| param.value.width_bits).collect::<Vec<_>>() {
            return mismatch(format!("{owner} lists action {} with other parameters", action.name));
        }
        let (default_only, table_only) = (listed.default_only, listed.table_only);
        Ok(Some(TableAction { id: it.id, position: position as u32, default_only, table_only }))
    }

    fn action_profile(&mut self, it: &v1::ActionProfile) -> Built<()> {
        let preamble = it.preamble.clone().unwrap_or_default();
        let name = preamble.name.clone();
        let profiles = self.program.action_profiles.iter_enumerated();
        let (profile, found) = find(Kind::ActionProfile, &name, profiles, |profile| &profile.name)?;
        if it.with_selector != found.selector.is_some() {
            return mismatch(format!("action profile {name} has a selector in one of P4Info and program only"));
        }
        let (counts_members, member_weight_max) = match &it.selector_size_semantics {
            Some(v1::action_profile::SelectorSizeSemantics::SumOfMembers(members)) => (true, members.max_member_weight),
            _ => (false, 0),
        };
        let object = ActionProfile {
            id: preamble.id,
            name,
            profile,
            tables: it.table_ids.clone(),
            has_selector: it.with_selector,
            size: it.size,
            group_size_max: it.max_group_size,
            counts_members,
            member_weight_max,
            weights_disallowed: it.weights_disallowed,
        };
        self.insert(Some(&preamble), Object::ActionProfile(object))
    }

    // ------------------------------------------------------------------------------------------ counters and meters

    fn counter(&mut self, it: &v1::Counter) -> Built<()> {
        let preamble = it.preamble.clone().unwrap_or_default();
        let name = preamble.name.clone();
        let (counter, found) = find(Kind::Counter, &name, self.program.counters.iter_enumerated(), |it| &it.name)?;
        let object = Counter { id: preamble.id, name, counter, unit: found.unit, size: found.size };
        self.insert(Some(&preamble), Object::Counter(object))
    }

    fn direct_counter(&mut self, it: &v1::DirectCounter) -> Built<()> {
        let preamble = it.preamble.clone().unwrap_or_default();
        let name = preamble.name.clone();
        let counters = self.program.direct_counters.iter_enumerated();
        let (counter, found) = find(Kind::DirectCounter, &name, counters, |it| &it.name)?;
        let object = DirectCounter { id: preamble.id, name, counter, unit: found.unit, table: it.direct_table_id };
        self.insert(Some(&preamble), Object::DirectCounter(object))
    }

    fn meter(&mut self, it: &v1::Meter) -> Built<()> {
        let preamble = it.preamble.clone().unwrap_or_default();
        let name = preamble.name.clone();
        let (meter, found) = find(Kind::Meter, &name, self.program.meters.iter_enumerated(), |it| &it.name)?;
        let object = Meter { id: preamble.id, name, meter, unit: found.unit, size: found.size };
        self.insert(Some(&preamble), Object::Meter(object))
    }

    fn direct_meter(&mut self, it: &v1::DirectMeter) -> Built<()> {
        let preamble = it.preamble.clone().unwrap_or_default();
        let name = preamble.name.clone();
        let meters = self.program.direct_meters.iter_enumerated();
        let (meter, found) = find(Kind::DirectMeter, &name, meters, |it| &it.name)?;
        let object = DirectMeter { id: preamble.id, name, meter, unit: found.unit, table: it.direct_table_id };
        self.insert(Some(&preamble), Object::DirectMeter(object))
    }

    // --------------------------------------------------------------------------------------------------- the others

    fn controller_header(&mut self, it: &v1::ControllerPacketMetadata) -> Built<()> {
        let preamble = it.preamble.clone().unwrap_or_default();
        let name = preamble.name.clone();
        let header = self.header_of(it);
        let mut fields = Vec::new();
        let mut end_bits = 0_u32;
        for field in &it.metadata {
            let what = format!("{name}: metadata {}", field.name);
            let place = header.and_then(|header| place_of(header, &field.name));
            let (offset_bits, width_bits) = match (place, u32::try_from(field.bitwidth)) {
                (Some(place), _) => place,
                (None, Ok(width_bits)) if width_bits <= base::limits::WIDTH_BITS_MAX => (end_bits, width_bits),
                _ => return mismatch(format!("{what} has {} bits", field.bitwidth)),
            };
            let value = self.value(&what, field.bitwidth, field.type_name.as_ref(), width_bits)?;
            end_bits = offset_bits.saturating_add(width_bits);
            fields.push(HeaderField { id: field.id, name: field.name.clone(), value, offset_bits });
        }
        unique(&name, fields.iter().map(|field| field.id))?;
        let width_bits = header.map_or(end_bits, |header| header.offset_bits(header.fields.len()));
        let object = ControllerHeader { id: preamble.id, name, fields, width_bits };
        self.insert(Some(&preamble), Object::ControllerHeader(object))
    }

    /// Finds the header type of the IR by its fields, because a P4Info does not name the type. Hidden fields may lie
    /// between the others.
    fn header_of(&self, it: &v1::ControllerPacketMetadata) -> Option<&ir::HeaderType> {
        let names: Vec<&str> = it.metadata.iter().map(|field| field.name.as_str()).collect();
        let has_all = |header: &&ir::HeaderType| {
            let mut fields = header.fields.iter();
            names.iter().all(|name| fields.any(|field| field.name == *name))
        };
        let candidates: Vec<&ir::HeaderType> = self.program.header_types.iter().filter(has_all).collect();
        let is_all = |header: &&&ir::HeaderType| header.fields.len() == names.len();
        candidates.iter().find(is_all).or(candidates.first()).copied()
    }

    fn value_set(&mut self, it: &v1::ValueSet) -> Built<()> {
        let preamble = it.preamble.clone().unwrap_or_default();
        let name = preamble.name.clone();
        let owner = format!("value set {name}");
        let (set, found) = find(Kind::ValueSet, &name, self.program.value_sets.iter_enumerated(), |it| &it.name)?;
        if found.keys.len() != it.r#match.len() {
            let (said, has) = (it.r#match.len(), found.keys.len());
            return mismatch(format!("{owner} has {said} match fields in the P4Info, {has} in the program"));
        }
        let mut fields = Vec::new();
        for (field, (_, width_bits, kind)) in it.r#match.iter().zip(&found.keys) {
            fields.push(self.match_field(&owner, field, *width_bits, *kind)?);
        }
        unique(&owner, fields.iter().map(|field| field.id))?;
        let object = ValueSet { id: preamble.id, name, set, fields, size: found.size };
        self.insert(Some(&preamble), Object::ValueSet(object))
    }

    fn register(&mut self, it: &v1::Register) -> Built<()> {
        let preamble = it.preamble.clone().unwrap_or_default();
        let name = preamble.name.clone();
        let registers = self.program.registers.iter_enumerated();
        let (register, found) = find(Kind::Register, &name, registers, |it| &it.name)?;
        let mut data = Data::new(&it.type_spec.clone().unwrap_or_default(), &self.types)?;
        data.set_widths(&found.parts_bits).map_err(|parts| {
            let has = found.parts_bits.len();
            Mismatch { message: format!("register {name} has {parts} values in the P4Info, {has} in the program") }
        })?;
        let object = Register { id: preamble.id, name, register, data, size: found.size };
        self.insert(Some(&preamble), Object::Register(object))
    }

    fn digest(&mut self, it: &v1::Digest) -> Built<()> {
        let preamble = it.preamble.clone().unwrap_or_default();
        let name = preamble.name.clone();
        let data = Data::new(&it.type_spec.clone().unwrap_or_default(), &self.types)?;
        let leaves = data.leaves().len();
        let mut digests = Vec::new();
        for (id, digest) in self.program.digests.iter_enumerated().filter(|(_, digest)| digest.name == name) {
            if digest.fields.len() != leaves {
                let has = digest.fields.len();
                return mismatch(format!("digest {name} has {leaves} values in the P4Info, {has} in the program"));
            }
            digests.push(id);
        }
        self.insert(Some(&preamble), Object::Digest(Digest { id: preamble.id, name, digests, data }))
    }

    /// Checks that the ids by which objects refer to one another exist.
    fn check_references(&self) -> Built<()> {
        for object in self.objects.values() {
            let named: Vec<(u32, Kind)> = match object {
                Object::Table(it) => {
                    let direct = [(it.direct_counter, Kind::DirectCounter), (it.direct_meter, Kind::DirectMeter)];
                    let all = direct.into_iter().chain([(it.profile, Kind::ActionProfile)]);
                    all.filter_map(|(id, kind)| Some((id?, kind))).collect()
                }
                Object::ActionProfile(it) => it.tables.iter().map(|id| (*id, Kind::Table)).collect(),
                Object::DirectCounter(it) => vec![(it.table, Kind::Table)],
                Object::DirectMeter(it) => vec![(it.table, Kind::Table)],
                _ => Vec::new(),
            };
            for (id, kind) in named {
                if self.objects.get(&id).is_none_or(|other| other.kind() != kind) {
                    let (name, kind) = (object.name(), kind.as_str());
                    return mismatch(format!("{name} names the {kind} {id:#010x}, which the P4Info does not have"));
                }
            }
        }
        Ok(())
    }
}

/// Offset of the first bit and width of a field of fixed width.
fn place_of(header: &ir::HeaderType, name: &str) -> Option<(u32, u32)> {
    let position = header.fields.iter().position(|field| field.name == name)?;
    match header.fields[position].ty {
        ir::FieldType::Fixed(ty) => Some((header.offset_bits(position), ty.width())),
        ir::FieldType::Varbit(_) => None,
    }
}

/// Ids within an object are only unique there, but two of them must not be equal.
fn unique(owner: &str, ids: impl Iterator<Item = u32>) -> Built<()> {
    let mut seen = base::OrderedSet::new();
    for id in ids {
        if id == 0 || !seen.insert(id) {
            return mismatch(format!("{owner}: the id {id} is used twice, or is 0"));
        }
    }
    Ok(())
}
