//! Help on the commands, and lists of the program's objects.

use super::forms::{self, FORMS};
use super::{others, param_type};
use crate::grid::grid;
use crate::key::value_type;
use crate::schema::{Schema, has_timeouts, match_kind, name};
use crate::value::{Form, ValueType};
use base::MatchKind;
use control::{Problem, names};
use p4runtime_proto::p4::config::v1 as config;

/// Help on all commands, or on one.
pub fn help(command: Option<&str>) -> Result<String, Problem> {
    match command {
        None => {
            let rows = FORMS.iter().map(|form| vec![form.name.to_owned(), form.summary.to_owned()]).collect();
            Ok(format!("{}\nhelp COMMAND shows more.", grid(rows)))
        }
        Some(command) => {
            let form = forms::find(command)?;
            let details = if form.details.is_empty() { String::new() } else { format!("\n{}", form.details) };
            Ok(format!("{}\n{}.{details}", form.usage.join("\n"), form.summary))
        }
    }
}

/// The kinds of objects that can be listed.
pub const LISTS: [&str; 9] =
    ["tables", "actions", "profiles", "counters", "meters", "registers", "value-sets", "digests", "packets"];

/// Lists the program's objects of a kind, or how many objects of each kind there are.
pub fn list(schema: &Schema, kind: Option<&str>) -> Result<String, Problem> {
    let Some(kind) = kind else {
        let counted = LISTS.iter().map(|kind| vec![(*kind).to_owned(), rows(schema, kind).len().to_string()]);
        return Ok(grid(counted.collect()));
    };
    if !LISTS.contains(&kind) {
        let help = format!("list {}", names::listed(kind, &LISTS));
        return Err(Problem::new(format!("{kind} cannot be listed")).with_help(help));
    }
    let rows = rows(schema, kind);
    match rows.is_empty() {
        true => Ok(format!("the program has no {kind}")),
        false => Ok(grid(rows)),
    }
}

fn rows(schema: &Schema, kind: &str) -> Vec<Vec<String>> {
    let info = schema.info();
    match kind {
        "tables" => info.tables.iter().map(|it| table(schema, it)).collect(),
        "actions" => info.actions.iter().map(|it| vec![action(schema, it)]).collect(),
        "profiles" => info.action_profiles.iter().map(|it| profile(schema, it)).collect(),
        "counters" => {
            let arrays = info.counters.iter().map(|it| vec![name(&it.preamble).to_owned(), cells(it.size)]);
            let direct = info.direct_counters.iter().map(|it| {
                let table = schema.table_by_id(it.direct_table_id).map_or("", |table| name(&table.preamble));
                vec![name(&it.preamble).to_owned(), format!("of the entries of {table}")]
            });
            arrays.chain(direct).collect()
        }
        "meters" => {
            let unit = |spec: &Option<config::MeterSpec>| match spec.as_ref().map(|spec| spec.unit()) {
                Some(config::meter_spec::Unit::Packets) => "packets",
                _ => "bytes",
            };
            let arrays = info
                .meters
                .iter()
                .map(|it| vec![name(&it.preamble).to_owned(), format!("{}, in {}", cells(it.size), unit(&it.spec))]);
            let direct = info.direct_meters.iter().map(|it| {
                let table = schema.table_by_id(it.direct_table_id).map_or("", |table| name(&table.preamble));
                vec![name(&it.preamble).to_owned(), format!("of the entries of {table}, in {}", unit(&it.spec))]
            });
            arrays.chain(direct).collect()
        }
        "registers" => {
            info.registers.iter().map(|it| vec![name(&it.preamble).to_owned(), cells(i64::from(it.size))]).collect()
        }
        "value-sets" => {
            let set = |it: &config::ValueSet| {
                let keys: Vec<String> = it.r#match.iter().map(|field| key(schema, field)).collect();
                vec![name(&it.preamble).to_owned(), keys.join(", "), format!("at most {}", it.size)]
            };
            info.value_sets.iter().map(set).collect()
        }
        "digests" => info.digests.iter().map(|it| vec![name(&it.preamble).to_owned()]).collect(),
        _ => {
            let header = |it: &config::ControllerPacketMetadata| {
                let fields = others::field_types(schema, it);
                let fields: Vec<String> = fields.iter().map(|(_, ty)| of_type(ty)).collect();
                vec![name(&it.preamble).to_owned(), fields.join(", ")]
            };
            info.controller_packet_metadata.iter().map(header).collect()
        }
    }
}

fn cells(size: i64) -> String {
    format!("{size} cells")
}

/// A name and its type: `port: 9 bits`.
fn of_type(ty: &ValueType<'_>) -> String {
    match (&ty.form, ty.width_bits) {
        (Form::Text, _) => format!("{}: text", ty.name),
        (_, 1) => format!("{}: 1 bit", ty.name),
        (_, width) => format!("{}: {width} bits", ty.name),
    }
}

fn key(schema: &Schema, field: &config::MatchField) -> String {
    let kind = match_kind(field).map_or("of another kind", MatchKind::name);
    format!("{}, {kind}", of_type(&value_type(schema, field))).trim_start_matches([':', ' ']).to_owned()
}

fn table(schema: &Schema, table: &config::Table) -> Vec<String> {
    let mut lines = vec![name(&table.preamble).to_owned()];
    lines.extend(table.match_fields.iter().map(|field| format!("  key {}", key(schema, field))));
    for (listed, scope) in schema.actions_of(table) {
        let remark = match scope {
            config::action_ref::Scope::TableOnly => " (entries only)",
            config::action_ref::Scope::DefaultOnly => " (default only)",
            _ => "",
        };
        lines.push(format!("  action {}{remark}", action(schema, listed)));
    }
    if let Some(profile) = schema.profile_by_id(table.implementation_id) {
        lines.push(format!("  profile {}", name(&profile.preamble)));
    }
    if let Some(counter) = schema.direct_counter_of(table) {
        lines.push(format!("  counter {}", name(&counter.preamble)));
    }
    if let Some(meter) = schema.direct_meter_of(table) {
        lines.push(format!("  meter {}", name(&meter.preamble)));
    }
    let remarks = [
        (table.size > 0, format!("size {}", table.size)),
        (table.is_const_table, "const entries".to_owned()),
        (table.const_default_action_id != 0, "const default".to_owned()),
        (has_timeouts(table), "timeouts".to_owned()),
    ];
    let remarks: Vec<String> = remarks.into_iter().filter(|(holds, _)| *holds).map(|(_, remark)| remark).collect();
    if !remarks.is_empty() {
        lines.push(format!("  {}", remarks.join(", ")));
    }
    vec![lines.join("\n")]
}

/// Describes an action with its parameters.
fn action(schema: &Schema, action: &config::Action) -> String {
    let params: Vec<String> = action.params.iter().map(|param| of_type(&param_type(schema, param))).collect();
    format!("{}({})", name(&action.preamble), params.join(", "))
}

fn profile(schema: &Schema, profile: &config::ActionProfile) -> Vec<String> {
    let tables: Vec<&str> =
        profile.table_ids.iter().filter_map(|&id| schema.table_by_id(id)).map(|it| name(&it.preamble)).collect();
    let kind = if profile.with_selector { "members and groups" } else { "members" };
    vec![name(&profile.preamble).to_owned(), format!("{kind}, of {}", tables.join(", "))]
}
