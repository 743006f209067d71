//! Checksums that a program takes twice over the same fields: to verify a packet, and to update it.
//!
//! What enters: a program. What leaves: the lists of fields that are summed in both places, and where in the 16-bit
//! words of its list each field lies. Between the two places most fields stay what they are, so that the second sum is
//! the first one and what has changed (RFC 1624).

use base::index::Id as _;
use ir::v1model::Stage;
use ir::walk::visit_body;
use ir::{
    BlockId, BlockKind, ExprKind, FieldType, HashAlgorithm, HashInput, HashValue, HeaderId, HeaderRef, Program,
    StmtKind,
};
use std::collections::BTreeMap;

/// A list of fields that is summed twice. Whether a field is left out where its header is invalid, or counts as zero
/// there, makes no difference to a sum of whole words.
#[derive(Clone, Debug)]
pub(crate) struct Sum {
    inputs: Vec<HashInput>,
    /// The first bit of each field in its word.
    places: BTreeMap<(HeaderId, u32), u32>,
}

impl Sum {
    /// Whether it is over these inputs.
    pub(crate) fn is_over(&self, inputs: &[HashInput]) -> bool {
        is_same(&self.inputs, inputs)
    }

    /// Where a field lies, if it is summed.
    pub(crate) fn place_bits(&self, header: HeaderId, field: u32) -> Option<u32> {
        self.places.get(&(header, field)).copied()
    }
}

/// The sums of a program for v1model.
pub(crate) fn sums(program: &Program) -> Vec<Sum> {
    let updated = summed(program, Stage::ComputeChecksum);
    let mut sums: Vec<Sum> = Vec::new();
    for inputs in summed(program, Stage::VerifyChecksum) {
        let is_new = sums.iter().all(|sum| !sum.is_over(inputs));
        let is_updated = updated.iter().any(|other| is_same(other, inputs) && places(program, other).is_some());
        if is_new
            && is_updated
            && let Some(places) = places(program, inputs)
        {
            sums.push(Sum { inputs: inputs.to_vec(), places });
        }
    }
    sums
}

/// Whether a list is that of an update.
pub(crate) fn is_update(program: &Program, inputs: &[HashInput]) -> bool {
    summed(program, Stage::ComputeChecksum).into_iter().any(|updated| std::ptr::eq(updated, inputs))
}

/// Whether two lists are of the same values.
fn is_same(one: &[HashInput], other: &[HashInput]) -> bool {
    one.iter().map(|input| &input.value).eq(other.iter().map(|input| &input.value))
}

/// What is summed in a control, without the payload.
fn summed(program: &Program, stage: Stage) -> Vec<&[HashInput]> {
    let mut found = Vec::new();
    if let BlockKind::Control { body } = &program.blocks[BlockId::from_index(stage as usize)].kind {
        visit_body(body, &mut |stmt| {
            if let StmtKind::Hash { algorithm: HashAlgorithm::Csum16, inputs, payload: false, .. } = &stmt.kind {
                found.push(&inputs[..]);
            }
        });
    }
    found
}

/// Where the fields of a list lie in their words: of one that has whole words between changes of the guard, no field
/// twice, and beside fields of headers constants only.
fn places(program: &Program, inputs: &[HashInput]) -> Option<BTreeMap<(HeaderId, u32), u32>> {
    let (mut places, mut position, mut guard) = (BTreeMap::new(), 0u32, None);
    for input in inputs {
        if guard != Some(&input.guard) {
            if !position.is_multiple_of(16) {
                return None;
            }
            (position, guard) = (0, Some(&input.guard));
        }
        let HashValue::Expr(expr) = &input.value else { return None };
        match &expr.kind {
            ExprKind::Const(_) => {}
            ExprKind::Field(HeaderRef::Fixed(header), field) => {
                let ty = program.header_types[program.headers[*header].ty].fields[*field as usize].ty;
                let is_fixed = matches!(ty, FieldType::Fixed(_));
                if !is_fixed || places.insert((*header, *field), position % 16).is_some() {
                    return None;
                }
            }
            _ => return None,
        }
        position += expr.ty.width();
    }
    position.is_multiple_of(16).then_some(places)
}
