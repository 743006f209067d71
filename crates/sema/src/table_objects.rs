//! Table properties that architectures define, and versions of v1model: checks that the values are valid for the
//! architecture.
//!
//! The language does not define these properties, and user-defined architectures may use them freely. A property is
//! only checked in programs that declare the type that belongs to it. That is how v1model and PSA are recognised before
//! there is a `main`.

use crate::checker::Checker;
use crate::diagnostics as d;
use crate::hir::*;
use crate::scopes::Entity;
use base::Span;

/// The types, one of which must be declared for the property to be checked.
fn types_of(property: &str) -> &'static [&'static str] {
    match property {
        "counters" => &["direct_counter"],
        "meters" => &["direct_meter"],
        "implementation" => &["action_profile", "action_selector"],
        "psa_direct_counter" | "psa_direct_counters" | "pna_direct_counter" | "pna_direct_counters" => {
            &["DirectCounter"]
        }
        "psa_direct_meter" | "psa_direct_meters" | "pna_direct_meter" | "pna_direct_meters" => &["DirectMeter"],
        "psa_implementation" | "pna_implementation" => &["ActionProfile", "ActionSelector"],
        "psa_idle_timeout" => &["PSA_IdleTimeout_t"],
        "pna_idle_timeout" => &["PNA_IdleTimeout_t"],
        _ => &[],
    }
}

impl Checker<'_> {
    /// Reports a table property's value of a type that the architecture does not accept.
    pub(crate) fn check_property_type(&mut self, property: &str, value: &Expr) {
        // PSA and PNA allow several direct objects.
        let is_direct = property.starts_with("psa_direct_") || property.starts_with("pna_direct_");
        if let (ExprKind::Aggregate(values), true) = (&value.kind, is_direct) {
            for value in values.iter().flatten() {
                self.check_property_type(property, value);
            }
            return;
        }
        let is_v1model_flag = property == "support_timeout" && self.is_type_declared("direct_counter");
        let types = types_of(property);
        let is_known = is_v1model_flag || types.iter().any(|name| self.is_type_declared(name));
        let is_right = match &value.ty {
            Type::Unknown => true,
            Type::Extern(id, _) => types.contains(&&*self.hir.externs[*id].name),
            Type::Enum(id) => types.contains(&&*self.hir.enums[*id].name),
            ty => is_v1model_flag && *ty == Type::Bool,
        };
        if is_known && !is_right {
            let expected = if is_v1model_flag { "bool".to_owned() } else { types.join(" or ") };
            let found = self.hir.show_type(&value.ty);
            self.report(d::mismatched_types(value.span, &expected, &found));
        }
    }

    /// Reports an unknown version of v1model. `v1model.p4` declares a constant with it.
    pub(crate) fn check_v1model_version(&mut self, value: Option<&Expr>, span: Span) {
        let version = value.and_then(|value| self.number(value));
        let [first, latest] = d::V1MODEL_VERSIONS;
        if !version.as_ref().is_some_and(|version| (first.into()..=latest.into()).contains(version)) {
            self.report(d::unknown_v1model_version(span, version.as_ref()));
        }
    }

    fn is_type_declared(&self, name: &str) -> bool {
        self.scopes
            .outermost(name)
            .iter()
            .any(|binding| matches!(binding.entity, Entity::Poisoned) || binding.entity.is_type())
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::check_errors;
    use expect_test::expect;

    const V1MODEL: &str = "
        #include <core.p4>
        extern direct_counter { direct_counter(); }
        extern register { register(); }
        extern action_profile { action_profile(); }";

    #[test]
    fn properties_of_v1model() {
        check_errors(
            &format!(
                "{V1MODEL}
                control C() {{
                    direct_counter() c;
                    register() r;
                    action_profile() p;
                    table fine {{ actions = {{ NoAction; }} counters = c; implementation = p; support_timeout = true; }}
                    table made {{ actions = {{ NoAction; }} counters = direct_counter(); }}
                    table t {{ actions = {{ NoAction; }} counters = r; }}
                    table u {{ actions = {{ NoAction; }} implementation = 5; }}
                    table v {{ actions = {{ NoAction; }} support_timeout = 1; meters = r; }}
                    apply {{ }}
                }}"
            ),
            expect![[r#"
                t.p4:12:66: error[E0301]: expected direct_counter, found register
                  `r`: this is register
                t.p4:13:72: error[E0301]: expected action_profile or action_selector, found int
                  `5`: this is int
                t.p4:14:73: error[E0301]: expected bool, found int
                  `1`: this is int
            "#]],
        );
    }

    #[test]
    fn properties_of_others() {
        check_errors(
            "
            #include <core.p4>
            extern hash_table { hash_table(bit<32> size); }
            control C() {
                table t { actions = { NoAction; } implementation = hash_table(5); counters = 5; support_timeout = 1; }
                apply { }
            }",
            expect![[""]],
        );
    }
}
