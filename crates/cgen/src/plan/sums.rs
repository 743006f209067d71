//! Checksums that a program takes twice over the same fields: to verify a packet, and to update it.
//!
//! What enters: a program. What leaves: the lists of fields that are summed in both places, and where in the 16-bit
//! words of its list each field lies. Between the two places most fields stay what they are, so that the second sum is
//! the first one and what has changed (RFC 1624). Where the program asks whether the checksum was right, and it was,
//! the packet itself says what the sum is: the complement of its checksum.

use base::index::Id as _;
use ir::v1model::Stage;
use ir::walk::{Item, bodies, visit_block, visit_body};
use ir::{
    BinaryOp, BlockId, BlockKind, Expr, ExprKind, FieldType, HashAlgorithm, HashInput, HashValue, HeaderId, HeaderRef,
    Place, Program, Stmt, StmtKind, VarId, VarKind,
};
use std::collections::BTreeMap;

/// A list of fields that is summed twice. Whether a field is left out where its header is invalid, or counts as zero
/// there, makes no difference to a sum of whole words.
#[derive(Clone, Debug)]
pub(crate) struct Sum {
    inputs: Vec<HashInput>,
    /// The first bit of each field in its word.
    places: BTreeMap<(HeaderId, u32), u32>,
    /// How the program can tell that the checksum was right.
    pub(crate) verified: Option<Verified>,
}

/// A checksum that is verified, and a variable that says of all of them that they were right.
#[derive(Clone, Debug)]
pub(crate) struct Verified {
    /// The field with the checksum.
    pub(crate) checksum: (HeaderId, u32),
    /// It is verified if this header is valid.
    pub(crate) guard: HeaderId,
    /// 1 if any was wrong; it is set where they are verified only, and not read before that is done.
    error: VarId,
}

impl Verified {
    /// Whether the checksum was right, if it was verified and a condition is found true or false.
    pub(crate) fn is_said_by(&self, condition: &Expr, truth: bool) -> bool {
        let is_error = |expr: &Expr| matches!(expr.kind, ExprKind::Var(var) if var == self.error);
        let number = |expr: &Expr| match &expr.kind {
            ExprKind::Const(value) => value.to_u64(),
            _ => None,
        };
        match &condition.kind {
            ExprKind::Unary(ir::UnaryOp::Not, inner) => self.is_said_by(inner, !truth),
            ExprKind::Binary(BinaryOp::LogicalAnd, left, right) if truth => {
                self.is_said_by(left, true) || self.is_said_by(right, true)
            }
            ExprKind::Binary(BinaryOp::LogicalOr, left, right) if !truth => {
                self.is_said_by(left, false) || self.is_said_by(right, false)
            }
            ExprKind::Binary(op @ (BinaryOp::Eq | BinaryOp::Ne), left, right) if is_error(left) => {
                number(right) == Some(u64::from((*op == BinaryOp::Eq) != truth))
            }
            _ => false,
        }
    }
}

impl Sum {
    /// Whether it is over these inputs.
    pub(crate) fn is_over(&self, inputs: &[HashInput]) -> bool {
        is_same(&self.inputs, inputs)
    }

    /// What is summed.
    pub(crate) fn inputs(&self) -> &[HashInput] {
        &self.inputs
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
            sums.push(Sum { inputs: inputs.to_vec(), places, verified: verified(program, inputs) });
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

/// How the program can tell that the checksum over these inputs was right.
fn verified(program: &Program, inputs: &[HashInput]) -> Option<Verified> {
    let control = &program.blocks[BlockId::from_index(Stage::VerifyChecksum as usize)];
    let BlockKind::Control { body } = &control.kind else { return None };
    let verified = body.iter().find_map(|stmt| verification(stmt, inputs))?;
    let is_error = |place: &Place| matches!(base_of(place), Place::Var(var) if *var == verified.error);
    let writes = |body: &[Stmt]| {
        let mut count = 0;
        visit_body(body, &mut |stmt| count += usize::from(stmt.kind.dst().is_some_and(is_error)));
        count
    };
    let everywhere: usize = bodies(program).into_iter().map(|body| writes(body)).sum();
    // Nothing else is done where checksums are verified, so that none is passed by.
    let is_own = everywhere == body.len() && body.iter().all(|stmt| error_of(stmt) == Some(verified.error));
    let is_measured = |table: &ir::Table| matches!(&table.direct_meter, Some((_, Some(place))) if is_error(place));
    let is_own = is_own && !program.tables.iter().any(is_measured);
    let is_metadata = matches!(program.vars[verified.error].kind, VarKind::Intrinsic(_));
    (is_own && is_metadata && !is_read_early(program, verified.error)).then_some(verified)
}

/// Whether a variable is read in the parser or where checksums are verified.
fn is_read_early(program: &Program, var: VarId) -> bool {
    let mut is_read = false;
    for stage in [Stage::Parser, Stage::VerifyChecksum] {
        let block = &program.blocks[BlockId::from_index(stage as usize)];
        visit_block(program, block, &mut |item| {
            is_read |= matches!(item, Item::Expr(Expr { kind: ExprKind::Var(read), .. }) if *read == var);
        });
    }
    is_read
}

/// The variable that a statement sets if a checksum is wrong: one that verifies if a header is valid.
fn error_of(stmt: &Stmt) -> Option<VarId> {
    let StmtKind::If { then_body, else_body, .. } = &stmt.kind else { return None };
    let [
        Stmt { kind: StmtKind::Hash { .. }, .. },
        Stmt { kind: StmtKind::If { then_body: wrong, else_body: right, .. }, .. },
    ] = &then_body[..]
    else {
        return None;
    };
    let [Stmt { kind: StmtKind::Assign { dst: Place::Var(error), src }, .. }] = &wrong[..] else { return None };
    let is_one = matches!(&src.kind, ExprKind::Const(value) if value.to_u64() == Some(1));
    (is_one && else_body.is_empty() && right.is_empty()).then_some(*error)
}

/// What a statement verifies, if it does so with these inputs.
fn verification(stmt: &Stmt, wanted: &[HashInput]) -> Option<Verified> {
    let error = error_of(stmt)?;
    let StmtKind::If { cond, then_body, .. } = &stmt.kind else { return None };
    let ExprKind::IsValid(HeaderRef::Fixed(guard)) = cond.kind else { return None };
    let StmtKind::Hash { dst: Place::Var(summed), inputs, .. } = &then_body[0].kind else { return None };
    let StmtKind::If { cond, .. } = &then_body[1].kind else { return None };
    let ExprKind::Binary(BinaryOp::Ne, left, right) = &cond.kind else { return None };
    match (&left.kind, &right.kind) {
        (ExprKind::Var(compared), ExprKind::Field(HeaderRef::Fixed(header), field))
            if compared == summed && std::ptr::eq(&inputs[..], wanted) && right.ty.width() == 16 =>
        {
            Some(Verified { checksum: (*header, *field), guard, error })
        }
        _ => None,
    }
}

/// The place that a slice is of.
fn base_of(place: &Place) -> &Place {
    match place {
        Place::Slice { base, .. } => base_of(base),
        Place::Var(_) | Place::Field(..) => place,
    }
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
