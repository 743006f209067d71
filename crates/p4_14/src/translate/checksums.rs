//! Calculated fields: the blocks that verify and update checksums.
//!
//! A field in an invalid header is neither verified nor updated. Among several uses of one kind only the first with a
//! true condition takes effect, so each excludes those before it.

use super::build;
use super::exprs::Scope;
use super::{Done, Translator};
use crate::ast::{CalculatedField, CalculationUse};
use crate::codes;
use syntax::ast as p4;

impl Translator<'_, '_> {
    /// The block that verifies checksums before ingress, or updates them after egress.
    pub(super) fn checksums(&mut self, is_update: bool) -> p4::Declaration {
        if !is_update {
            self.check_lists();
        }
        let program = self.program;
        let mut statements = Vec::new();
        for field in &program.calculated_fields {
            let uses: Vec<&CalculationUse> = field.uses.iter().filter(|it| it.is_update == is_update).collect();
            let _ = self.calculated_field(field, &uses, is_update, &mut statements);
        }
        let name = if is_update { "computeChecksum" } else { "verifyChecksum" };
        let parameters = self.block_parameters(false, program.end);
        self.control_block(name, parameters, Vec::new(), statements, program.end)
    }

    fn calculated_field(
        &mut self,
        declared: &CalculatedField,
        uses: &[&CalculationUse],
        is_update: bool,
        out: &mut Vec<p4::Statement>,
    ) -> Done<()> {
        let place = self.fixed_field(&declared.field, Scope::PLAIN)?;
        let span = declared.field.span;
        if place.actual != place.shape {
            return self.error(codes::WRONG_ARGUMENT, span, "intrinsic metadata cannot be a calculated field");
        }
        let mut conditions = Vec::new();
        if !self.symbols.all_instances[place.header.instance].is_metadata {
            conditions.push(build::method(self.header_expr(place.header, span), "isValid", Vec::new(), span));
        }
        for calculated in uses {
            let span = calculated.calculation.span;
            let calculation = self.lookup(|symbols| &symbols.calculations, &calculated.calculation, "calculation")?;
            let (data, has_payload) = self.calculation_data(calculation, span)?;
            let algorithm = self.algorithm(calculation, span)?;
            let own = match &calculated.condition {
                Some(condition) => Some(self.condition(condition, Scope::PLAIN)?),
                None => None,
            };
            let all = conditions.iter().cloned().chain(own.clone());
            let all = all.reduce(|left, right| build::binary(p4::BinaryOperator::And, left, right, span));
            let all = all.unwrap_or_else(|| build::truth(true, span));
            let name = match (is_update, has_payload) {
                (true, true) => "update_checksum_with_payload",
                (true, false) => "update_checksum",
                (false, true) => "verify_checksum_with_payload",
                (false, false) => "verify_checksum",
            };
            out.push(build::do_call(build::name(name, span), vec![all, data, place.expr.clone(), algorithm], span));
            match own {
                Some(own) => conditions.push(build::not(own)),
                // Uses after an unconditional one never take effect.
                None => break,
            }
        }
        Some(())
    }
}
