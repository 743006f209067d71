//! Action profiles and selectors: tables whose entries refer to shared members, which have the action and its
//! arguments.
//!
//! What enters: instances of an architecture's profile types, and the property of a table that names one. What leaves:
//! [`ir::ActionProfile`]s, and how each table uses its profile ([`ir::Implementation`]).

use super::ExternKind;
use super::hashes::Algorithm;
use crate::architecture::Package;
use crate::names::given_name;
use crate::objects::ObjectKind;
use crate::{Lowered, Lowerer, codes};
use base::{OrderedMap, OrderedSet};
use ir::{ActionProfileId, HashAlgorithm, HashInput, HashValue, Implementation};
use sema::hir::{self, ExprKind};

/// The state about a program's profiles while it is lowered.
#[derive(Default)]
pub(crate) struct ProfileState {
    /// Selectors that draw a random number instead of computing a hash.
    drawing: OrderedSet<ActionProfileId>,
    /// The inputs of a selector's hash, in the table that used it first.
    inputs: OrderedMap<ActionProfileId, Vec<HashInput>>,
}

/// The name of an object that is made in a table's property: `@name` there is the full name, without the enclosing
/// blocks; else it is the table's.
pub(super) fn name_in_place(table: &ir::Table, property: &hir::Property) -> Option<String> {
    let ExprKind::Construct { .. } = property.value.kind else { return None };
    let name = given_name(&property.annotations).map(|name| name.strip_prefix('.').unwrap_or(name));
    Some(name.unwrap_or(&table.name).to_owned())
}

impl<'h> Lowerer<'h> {
    /// Makes a profile; with an algorithm, it is a selector.
    pub(super) fn action_profile(&mut self, name: String, size: u64, algorithm: Option<Algorithm>) -> ExternKind {
        let selector = algorithm.map(|algorithm| match algorithm {
            Algorithm::Of(algorithm) => algorithm,
            // The random number is the only input of the hash.
            Algorithm::Random => HashAlgorithm::Identity,
        });
        let profile = self.ir.action_profiles.push(ir::ActionProfile { name, size, selector });
        if algorithm == Some(Algorithm::Random) {
            self.externs.profiles.drawing.insert(profile);
        }
        ExternKind::ActionProfile(profile)
    }

    /// Applies the property of a table that names its profile. [`Lowerer::set_selector_inputs`] sets the hash's inputs
    /// in `table.implementation`.
    pub(super) fn implementation(&mut self, table: &mut ir::Table, property: &'h hir::Property) -> Lowered<()> {
        let object = self.eval_object(&property.value)?;
        let profile = match &self.objects[object].kind {
            ObjectKind::Extern(object) => match object.kind {
                ExternKind::ActionProfile(profile) => profile,
                _ => return self.unsupported(property.span, "this object as the implementation of a table"),
            },
            _ => return self.unsupported(property.span, "this object as the implementation of a table"),
        };
        if let Some(name) = name_in_place(table, property) {
            self.ir.action_profiles[profile].name = name;
        }
        table.implementation = Some(Implementation { profile, inputs: Vec::new() });
        Ok(())
    }

    /// Sets the inputs of a table's selector: the keys of match kind `selector`. Returns the variable for the random
    /// number that is drawn before each application, if the selector uses one.
    pub fn set_selector_inputs(&mut self, table: &mut ir::Table, inputs: Vec<HashInput>) -> Lowered<Option<ir::VarId>> {
        let profile = table.implementation.as_ref().map(|it| it.profile);
        let profile = profile.filter(|profile| self.ir.action_profiles[*profile].selector.is_some());
        let (Some(profile), Some(implementation)) = (profile, &mut table.implementation) else {
            if !inputs.is_empty() {
                let message = "keys of match kind `selector` mean nothing without an action selector and are ignored";
                let warning = syntax::diag::Diagnostic::warning(codes::IGNORED_PROPERTY, table.span, message);
                self.diagnostics.push(warning);
            }
            return Ok(None);
        };
        let inputs = match self.package {
            Package::V1Model => inputs,
            Package::Psa | Package::Pna => super::psa::padded(inputs),
        };
        let first = self.externs.profiles.inputs.entry(profile).or_insert_with(|| inputs.clone());
        if *first != inputs {
            let name = &self.ir.action_profiles[profile].name;
            let message = format!("the tables that share the action selector `{name}` must hash the same keys");
            return self.refuse(codes::SELECTOR, table.span, message);
        }
        if self.externs.profiles.drawing.contains(&profile) {
            let drawn = self.temporary(super::hashes::DRAWN, table.span)?;
            let value = HashValue::Expr(self.read_var(drawn));
            implementation.inputs = vec![HashInput { guard: None, value }];
            return Ok(Some(drawn));
        }
        implementation.inputs = inputs;
        Ok(None)
    }
}
