//! P4Info for older clients, without what later versions of P4Runtime added.
//!
//! What enters: a P4Info, and the version of P4Runtime that a client was built for. What leaves: the same P4Info
//! without the fields that a strict reader of that version rejects. It is an error if that version cannot express
//! something.

use p4runtime_proto::p4::config::v1::{
    self, match_field::Match, match_field::MatchType, p4_new_type_spec::Representation,
    p4_new_type_translation::SdnType,
};
use std::fmt;

/// The newest supported minor version, whose P4Info is complete.
const NEWEST: u32 = 5;

/// A version of P4Runtime: 1.0 to 1.5.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Version {
    minor: u32,
}

impl Version {
    /// Parses a version: `1.3` or `1.3.0`.
    pub fn from_name(name: &str) -> Option<Version> {
        let mut parts = name.split('.');
        let (Some("1"), Some(minor)) = (parts.next(), parts.next()) else { return None };
        let is_patch = |patch: &str| !patch.is_empty() && patch.bytes().all(|byte| byte.is_ascii_digit());
        let (patch, rest) = (parts.next(), parts.next());
        let minor = minor.parse().ok().filter(|minor| *minor <= NEWEST)?;
        (patch.is_none_or(is_patch) && rest.is_none()).then_some(Version { minor })
    }

    fn is_before(self, minor: u32) -> bool {
        self.minor < minor
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "1.{}", self.minor)
    }
}

/// Removes what is newer than `version`. The error lists what that version cannot express, one item a line.
pub fn restrict(info: &mut v1::P4Info, version: Version) -> Result<(), Vec<String>> {
    let mut problems = Vec::new();
    if version.is_before(5) {
        info.action_profiles.iter_mut().for_each(|profile| profile.weights_disallowed = false);
    }
    if version.is_before(4) {
        without_1_4(info);
    }
    if version.is_before(2) {
        without_1_2(info, version, &mut problems);
    }
    if version.is_before(1) {
        let headers = info.controller_packet_metadata.iter_mut();
        headers.flat_map(|header| &mut header.metadata).for_each(|field| field.type_name = None);
    }
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}

/// Removes default actions and entries of tables, the size semantics of selectors, types of meters, and platform
/// properties.
fn without_1_4(info: &mut v1::P4Info) {
    for table in &mut info.tables {
        table.initial_default_action = None;
        table.has_initial_entries = false;
    }
    info.action_profiles.iter_mut().for_each(|profile| profile.selector_size_semantics = None);
    let indirect = info.meters.iter_mut().filter_map(|meter| meter.spec.as_mut());
    let direct = info.direct_meters.iter_mut().filter_map(|meter| meter.spec.as_mut());
    indirect.chain(direct).for_each(|spec| spec.r#type = 0);
    if let Some(package) = &mut info.pkg_info {
        package.platform_properties = None;
    }
}

/// Removes structured annotations. Optional keys and translation to text have no older form.
fn without_1_2(info: &mut v1::P4Info, version: Version, problems: &mut Vec<String>) {
    for table in &info.tables {
        let name = table.preamble.as_ref().map_or("", |preamble| &preamble.name);
        for key in &table.match_fields {
            if key.r#match == Some(Match::MatchType(MatchType::Optional as i32)) {
                let key = &key.name;
                problems.push(format!("P4Runtime {version} has no `optional` keys, as `{key}` of the table `{name}`"));
            }
        }
    }
    for (name, spec) in info.type_info.iter().flat_map(|types| &types.new_types) {
        if let Some(Representation::TranslatedType(translation)) = &spec.representation
            && matches!(translation.sdn_type, Some(SdnType::SdnString(_)))
        {
            problems.push(format!("P4Runtime {version} has no types that are text for controllers, as `{name}`"));
        }
    }
    for_each_structured(info, &mut Vec::clear);
}

/// Calls `work` with all lists of structured annotations.
fn for_each_structured(info: &mut v1::P4Info, work: &mut dyn FnMut(&mut Vec<v1::StructuredAnnotation>)) {
    for preamble in preambles(info) {
        work(&mut preamble.structured_annotations);
    }
    for table in &mut info.tables {
        table.match_fields.iter_mut().for_each(|key| work(&mut key.structured_annotations));
        table.action_refs.iter_mut().for_each(|action| work(&mut action.structured_annotations));
    }
    info.actions.iter_mut().flat_map(|it| &mut it.params).for_each(|it| work(&mut it.structured_annotations));
    info.value_sets.iter_mut().flat_map(|it| &mut it.r#match).for_each(|it| work(&mut it.structured_annotations));
    let headers = info.controller_packet_metadata.iter_mut();
    headers.flat_map(|it| &mut it.metadata).for_each(|it| work(&mut it.structured_annotations));
    if let Some(package) = &mut info.pkg_info {
        work(&mut package.structured_annotations);
    }
    if let Some(types) = &mut info.type_info {
        types.new_types.values_mut().for_each(|it| work(&mut it.structured_annotations));
    }
}

/// The preambles of all objects.
fn preambles(info: &mut v1::P4Info) -> impl Iterator<Item = &mut v1::Preamble> {
    let all = info.tables.iter_mut().map(|it| &mut it.preamble);
    let all = all.chain(info.actions.iter_mut().map(|it| &mut it.preamble));
    let all = all.chain(info.action_profiles.iter_mut().map(|it| &mut it.preamble));
    let all = all.chain(info.counters.iter_mut().map(|it| &mut it.preamble));
    let all = all.chain(info.direct_counters.iter_mut().map(|it| &mut it.preamble));
    let all = all.chain(info.meters.iter_mut().map(|it| &mut it.preamble));
    let all = all.chain(info.direct_meters.iter_mut().map(|it| &mut it.preamble));
    let all = all.chain(info.controller_packet_metadata.iter_mut().map(|it| &mut it.preamble));
    let all = all.chain(info.value_sets.iter_mut().map(|it| &mut it.preamble));
    let all = all.chain(info.registers.iter_mut().map(|it| &mut it.preamble));
    all.chain(info.digests.iter_mut().map(|it| &mut it.preamble)).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_have_names() {
        let shown = |name: &str| Version::from_name(name).map(|version| version.to_string());
        for name in ["1.3", "1.3.0", "1.3.12"] {
            assert_eq!(shown(name).as_deref(), Some("1.3"));
        }
        for name in ["", "1", "1.6", "2.0", "1.3.", "1.3.0.0", "v1.3", "1.x"] {
            assert_eq!(shown(name), None, "{name}");
        }
    }
}
