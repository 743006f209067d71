//! The warnings: one file for each kind, with its meaning, the correction, and tests of programs with and without the
//! warning.
//!
//! Codes are stable and never reused: `W030.` and `W031.` unused, `W032.` without a value, `W033.` never reached,
//! `W034.` constant, `W035.` without effect.

mod always_decided;
mod beyond_size;
mod empty_body;
mod endless_for;
mod endless_loop;
mod hidden_case;
mod ignored_port;
mod ignored_result;
mod invalid_header_emitted;
mod invalid_header_read;
mod invalid_header_write;
mod missing_transition;
mod never_valid_header;
mod overwritten;
mod perhaps_unassigned;
mod read_before_assignment;
mod repeated_condition;
mod result_not_assigned;
mod same_branches;
mod same_operands;
mod self_assignment;
mod shift_too_far;
mod unmatched_select;
mod unreachable_statement;
mod unused_action;
mod unused_block;
mod unused_constant;
mod unused_function;
mod unused_instance;
mod unused_parameter;
mod unused_table;
mod unused_value_set;
mod unused_variable;
mod value_outside_mask;
mod written_before_valid;

pub(crate) use always_decided::always_decided;
pub(crate) use beyond_size::beyond_size;
pub(crate) use empty_body::empty_body;
pub(crate) use endless_for::endless_for;
pub(crate) use endless_loop::endless_loop;
pub(crate) use hidden_case::hidden_case;
pub(crate) use ignored_port::{ignored_port_in_egress, ignored_port_in_ingress};
pub(crate) use ignored_result::ignored_result;
pub(crate) use invalid_header_emitted::invalid_header_emitted;
pub(crate) use invalid_header_emitted::never_valid;
pub(crate) use invalid_header_read::invalid_header_read;
pub(crate) use invalid_header_write::invalid_header_write;
pub(crate) use missing_transition::missing_transition;
pub(crate) use never_valid_header::never_valid_header;
pub(crate) use overwritten::overwritten;
pub(crate) use perhaps_unassigned::perhaps_unassigned;
pub(crate) use read_before_assignment::read_before_assignment;
pub(crate) use repeated_condition::repeated_condition;
pub(crate) use result_not_assigned::result_not_assigned;
pub(crate) use same_branches::same_branches;
pub(crate) use same_operands::same_operands;
pub(crate) use self_assignment::self_assignment;
pub(crate) use shift_too_far::shift_too_far;
pub(crate) use unmatched_select::unmatched_select;
pub(crate) use unreachable_statement::unreachable_statement;
pub(crate) use unused_action::unused_action;
pub(crate) use unused_block::unused_block;
pub(crate) use unused_constant::unused_constant;
pub(crate) use unused_function::unused_function;
pub(crate) use unused_instance::unused_instance;
pub(crate) use unused_parameter::unused_parameter;
pub(crate) use unused_table::unused_table;
pub(crate) use unused_value_set::unused_value_set;
pub(crate) use unused_variable::unused_variable;
pub(crate) use value_outside_mask::value_outside_mask;
pub(crate) use written_before_valid::written_before_valid;
