//! Tables and actions.

use super::Generator;
use crate::annotations::{self, find, is_hidden};
use crate::blocks::{Placed, UsedAction};
use crate::codes;
use crate::model::Kind;
use crate::types::{Bound, substituted};
use base::{Bits, MatchKind};
use p4runtime_proto::p4::config::v1;
use sema::hir::{self, Type};
use syntax::ast::{Annotation, Direction};

/// The size of a table that declares none, or zero.
const SIZE_DEFAULT: i64 = 1024;

/// The match type of a key. A match kind that P4Runtime does not define is given by its name.
pub(super) fn match_type(kind: &str) -> v1::match_field::Match {
    use v1::match_field::{Match, MatchType};
    let known = MatchKind::named(kind).and_then(|kind| MatchType::from_str_name(&kind.name().to_ascii_uppercase()));
    match known {
        Some(known) => Match::MatchType(known as i32),
        None => Match::OtherMatchType(kind.to_owned()),
    }
}

impl Generator<'_, '_, '_> {
    pub(super) fn action(&mut self, action: &UsedAction) {
        let declaration = &self.tree.actions[action.place.id];
        let name = action.place.name(&declaration.name, &declaration.annotations);
        let id = self.symbols.id(Kind::Action, &name);
        if is_hidden(&declaration.annotations) || !self.actions.insert(id) {
            return;
        }
        let params: Vec<hir::VarId> = match action.is_listed {
            true => declaration.params.iter().copied().filter(|param| self.is_directionless(*param)).collect(),
            false => Vec::new(),
        };
        let tree = self.tree;
        let ids = self.field_ids(params.iter().map(|param| &tree.vars[*param].annotations[..]), declaration.span);
        let params =
            params.into_iter().zip(ids).map(|(param, id)| self.param(param, id, &action.place.bound)).collect();
        let preamble = self.preamble(Kind::Action, &name, &declaration.annotations, &[]);
        self.info.actions.push(v1::Action { preamble, params });
    }

    fn is_directionless(&self, param: hir::VarId) -> bool {
        matches!(self.tree.vars[param].kind, hir::VarKind::Parameter { direction: Direction::None, .. })
    }

    fn param(&mut self, param: hir::VarId, id: u32, bound: &Bound) -> v1::action::Param {
        let declaration = &self.tree.vars[param];
        let name = annotations::full_name("", &declaration.name, &declaration.annotations);
        let ty = &substituted(&declaration.ty, bound);
        if !matches!(ty, Type::Bit(_) | Type::Int(_) | Type::Bool | Type::NewType(_) | Type::Enum(_)) {
            let message =
                format!("controllers cannot give `{name}`: it is neither bits nor `bool`, an enum or a new type");
            self.error(codes::TYPE, declaration.span, message);
        }
        let listed = annotations::listed(self.tree, &declaration.annotations, &[]);
        let type_name = match (self.types.named(ty), ty) {
            (None, Type::Enum(id)) if self.tree.enums[*id].representation.is_none() => {
                let declaration = &self.tree.enums[*id];
                Some(annotations::full_name("", &declaration.name, &declaration.annotations))
                    .map(|name| v1::P4NamedType { name })
            }
            (name, _) => name,
        };
        v1::action::Param {
            id,
            name,
            annotations: listed.plain,
            annotation_locations: Vec::new(),
            bitwidth: self.types.width(ty),
            doc: annotations::documentation(&declaration.annotations),
            type_name,
            structured_annotations: listed.structured,
        }
    }

    pub(super) fn table(&mut self, place: &Placed<'_, hir::TableId>) {
        let declaration = &self.tree.tables[place.id];
        let name = place.name(&declaration.name, &declaration.annotations);
        let Some(&lowered) = self.tables.get(&*name) else { return };
        if is_hidden(&declaration.annotations) {
            return;
        }
        let profile = lowered.implementation.as_ref().map(|used| &self.program.action_profiles[used.profile]);
        let default_action = self.default_action(lowered);
        let mut table = v1::Table {
            preamble: self.preamble(Kind::Table, &name, &declaration.annotations, &[]),
            match_fields: self.match_fields(declaration, &place.bound),
            action_refs: self.action_refs(place, declaration),
            const_default_action_id: match &default_action {
                Some(action) if declaration.const_default => action.action_id,
                _ => 0,
            },
            initial_default_action: default_action,
            implementation_id: 0,
            direct_resource_ids: Vec::new(),
            size: i64::try_from(lowered.size).ok().filter(|size| *size != 0).unwrap_or(SIZE_DEFAULT),
            idle_timeout_behavior: i32::from(lowered.support_timeout),
            is_const_table: declaration.const_entries,
            has_initial_entries: !declaration.entries.is_empty(),
            other_properties: None,
        };
        if let Some(profile) = profile {
            let is_declared = self.declared(Kind::ActionProfile, &profile.name).is_some();
            if !is_declared {
                self.action_profile(&profile.name.clone());
            }
            table.implementation_id = self.profile_id(&profile.name);
        }
        let table_id = self.symbols.id(Kind::Table, &name);
        for counter in &lowered.direct_counters {
            let counter = &self.program.direct_counters[*counter];
            table.direct_resource_ids.push(self.direct_counter(counter, table_id));
        }
        if let Some((meter, _)) = &lowered.direct_meter {
            let meter = &self.program.direct_meters[*meter];
            table.direct_resource_ids.push(self.direct_meter(meter, table_id));
        }
        self.info.tables.push(table);
    }

    fn match_fields(&mut self, declaration: &hir::Table, bound: &Bound) -> Vec<v1::MatchField> {
        let all = declaration.keys.iter().map(|key| &key.annotations[..]);
        let ids = self.field_ids(all, declaration.span);
        let mut fields = Vec::new();
        for (key, id) in declaration.keys.iter().zip(ids) {
            let kind = self.tree.match_kinds.get(key.match_kind).cloned().unwrap_or_default();
            // Controllers do not see a selector's hash inputs.
            if &*kind == "selector" {
                continue;
            }
            let listed = annotations::listed(self.tree, &key.annotations, &[]);
            let ty = substituted(&key.expr.ty, bound);
            fields.push(v1::MatchField {
                id,
                name: key.name.to_string(),
                annotations: listed.plain,
                annotation_locations: Vec::new(),
                bitwidth: self.types.width(&ty),
                doc: annotations::documentation(&key.annotations),
                type_name: self.types.named(&ty),
                structured_annotations: listed.structured,
                r#match: Some(match_type(&kind)),
            });
        }
        fields
    }

    fn action_refs(&mut self, place: &Placed<'_, hir::TableId>, declaration: &hir::Table) -> Vec<v1::ActionRef> {
        let mut references = Vec::new();
        for listed in &declaration.actions {
            let name = self.action_name(place, listed.action.action);
            let reference = self.action_ref(&name, &listed.annotations);
            // Actions of one name are one action for a controller; they do the same, or there is no P4Info.
            if !references.iter().any(|known: &v1::ActionRef| known.id == reference.id) {
                references.push(reference);
            }
        }
        // A table without a declared default action has `NoAction`, which is only for the default if the table does not
        // list it.
        if declaration.default_action.is_none() {
            let id = self.symbols.id(Kind::Action, "NoAction");
            if !references.iter().any(|reference| reference.id == id) {
                references.push(v1::ActionRef {
                    id,
                    scope: v1::action_ref::Scope::DefaultOnly as i32,
                    annotations: vec!["@defaultonly".to_owned()],
                    ..Default::default()
                });
            }
        }
        references
    }

    /// The name of an action that a table lists: one of its control, or of the outermost scope.
    fn action_name(&self, place: &Placed<'_, hir::TableId>, action: hir::ActionId) -> String {
        let declaration = &self.tree.actions[action];
        let is_local = self.contents.actions_of_controls.contains_key(&action);
        let owner = if is_local { place.owner.as_str() } else { "" };
        annotations::full_name(owner, &declaration.name, &declaration.annotations)
    }

    fn action_ref(&self, name: &str, annotations: &[Annotation]) -> v1::ActionRef {
        use v1::action_ref::Scope;
        let listed = annotations::listed(self.tree, annotations, &[]);
        let scope = match (find(annotations, "tableonly"), find(annotations, "defaultonly")) {
            (Some(_), _) => Scope::TableOnly,
            (None, Some(_)) => Scope::DefaultOnly,
            (None, None) => Scope::TableAndDefault,
        };
        v1::ActionRef {
            id: self.symbols.id(Kind::Action, name),
            scope: scope as i32,
            annotations: listed.plain,
            annotation_locations: Vec::new(),
            structured_annotations: listed.structured,
        }
    }

    /// The default action with its arguments. Values have the width of their parameters, rounded up to bytes.
    fn default_action(&self, table: &ir::Table) -> Option<v1::TableActionCall> {
        let listed = table.actions.get(table.default_action.action as usize)?;
        let action = &self.program.actions[listed.action];
        let action_id = self.symbols.id(Kind::Action, &action.name);
        let is_it = |it: &&v1::Action| it.preamble.as_ref().is_some_and(|preamble| preamble.id == action_id);
        let params = self.info.actions.iter().find(is_it).map_or(&[][..], |action| &action.params);
        let argument = |(param, value): (&v1::action::Param, &Bits)| {
            let width = u32::try_from(param.bitwidth).ok().filter(|width| *width > 0).unwrap_or(value.width());
            v1::table_action_call::Argument { param_id: param.id, value: value.resize(width).to_be_bytes() }
        };
        // The IR has no values of zero width, and P4Info does not need them.
        let params = params.iter().filter(|param| param.bitwidth != 0 || param.type_name.is_some());
        let arguments = params.zip(&table.default_action.args).map(argument).collect();
        Some(v1::TableActionCall { action_id, arguments })
    }
}
