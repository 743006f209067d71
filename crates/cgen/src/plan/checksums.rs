//! Checksums that a program computes twice over the same fields: to verify a packet, and to update it.
//!
//! What enters: a program. What leaves: the lists of fields that are summed in both places, and where in the 16-bit
//! words of its list each field lies. Between the two places most fields do not change, so that the second sum is the
//! first one plus the changes (RFC 1624). Where the program tests whether the checksum was right, and it was, the sum
//! is the complement of the packet's checksum.

use base::OrderedMap;
use ir::walk::{Item, bodies, visit_block, visit_body};
use ir::{
    BinaryOp, Block, BlockKind, Body, Expr, ExprKind, FieldType, HashAlgorithm, HashInput, HashValue, HeaderId,
    HeaderRef, Place, Program, Stmt, StmtKind, VarId, VarKind,
};

/// A checksum over a list of fields that is summed twice. Whether a field of an invalid header is left out or counts as
/// zero makes no difference to a sum of whole words.
#[derive(Clone, Debug)]
pub(crate) struct Checksum {
    inputs: Vec<HashInput>,
    /// The first bit of each field in its word.
    places: OrderedMap<(HeaderId, u32), u32>,
    /// How the program tests that the checksum was right.
    pub(crate) verified: Option<Verified>,
}

/// A checksum that is verified, and the variable that records an error in any of them: that of the parser, or one of a
/// control that verifies checksums.
#[derive(Clone, Debug)]
pub(crate) struct Verified {
    /// The field with the checksum.
    pub(crate) checksum: (HeaderId, u32),
    /// The checksum is verified if this header is valid.
    pub(crate) guard: HeaderId,
    /// Not zero if any checksum was wrong, until it is set to zero behind that.
    pub(crate) error: VarId,
    /// Whether it is then 1.
    is_flag: bool,
}

impl Verified {
    /// Whether the checksum was right, given that it was verified and that `condition` has the value `truth`.
    pub(crate) fn is_implied_by(&self, condition: &Expr, truth: bool) -> bool {
        let is_error = |expr: &Expr| matches!(expr.kind, ExprKind::Var(var) if var == self.error);
        let number = |expr: &Expr| match &expr.kind {
            ExprKind::Const(value) => value.to_u64(),
            _ => None,
        };
        match &condition.kind {
            ExprKind::Unary(ir::UnaryOp::Not, inner) => self.is_implied_by(inner, !truth),
            ExprKind::Binary(BinaryOp::LogicalAnd, left, right) if truth => {
                self.is_implied_by(left, true) || self.is_implied_by(right, true)
            }
            ExprKind::Binary(BinaryOp::LogicalOr, left, right) if !truth => {
                self.is_implied_by(left, false) || self.is_implied_by(right, false)
            }
            ExprKind::Binary(op @ (BinaryOp::Eq | BinaryOp::Ne), left, right) if is_error(left) => {
                let excluded = (*op == BinaryOp::Eq) != truth;
                number(right) == Some(u64::from(excluded)) && (self.is_flag || !excluded)
            }
            _ => false,
        }
    }
}

impl Checksum {
    /// Whether the checksum is over these inputs.
    pub(crate) fn is_over(&self, inputs: &[HashInput]) -> bool {
        is_same(&self.inputs, inputs)
    }

    /// The inputs of the sum.
    pub(crate) fn inputs(&self) -> &[HashInput] {
        &self.inputs
    }

    /// Where a field lies, if it is summed.
    pub(crate) fn place_bits(&self, header: HeaderId, field: u32) -> Option<u32> {
        self.places.get(&(header, field)).copied()
    }
}

/// The checksums that a program verifies before ingress and computes behind egress.
pub(crate) fn checksums(program: &Program) -> Vec<Checksum> {
    let updated: Vec<&[HashInput]> = behind_egress(program).flat_map(summed).collect();
    let mut checksums: Vec<Checksum> = Vec::new();
    for inputs in before_ingress(program).flat_map(summed) {
        let is_new = checksums.iter().all(|checksum| !checksum.is_over(inputs));
        let is_updated = updated.iter().any(|other| is_same(other, inputs) && places(program, other).is_some());
        if is_new
            && is_updated
            && let Some(places) = places(program, inputs)
        {
            checksums.push(Checksum { inputs: inputs.to_vec(), places, verified: verified(program, inputs) });
        }
    }
    checksums
}

/// Whether a list is the input of an update.
pub(crate) fn is_update(program: &Program, inputs: &[HashInput]) -> bool {
    behind_egress(program).flat_map(summed).any(|updated| std::ptr::eq(updated, inputs))
}

/// Whether two lists have the same values.
fn is_same(one: &[HashInput], other: &[HashInput]) -> bool {
    one.iter().map(|input| &input.value).eq(other.iter().map(|input| &input.value))
}

/// The inputs of the sums in a block that leave out the payload. In a parser they are those over headers that the same
/// state has extracted before, so that no header becomes valid behind its sum.
fn summed(block: &Block) -> Vec<&[HashInput]> {
    let mut found = Vec::new();
    match &block.kind {
        BlockKind::Control { body } => visit_body(body, &mut |stmt| found.extend(inputs_of(stmt))),
        BlockKind::Parser { states, .. } => {
            for state in states {
                let sums = state.body.iter().enumerate().filter_map(|(at, stmt)| Some((at, inputs_of(stmt)?)));
                found.extend(sums.filter(|(at, inputs)| are_extracted(&state.body[..*at], inputs)).map(|(_, it)| it));
            }
        }
    }
    found
}

/// The inputs of a statement that sums without the payload.
fn inputs_of(stmt: &Stmt) -> Option<&[HashInput]> {
    match &stmt.kind {
        StmtKind::Hash { algorithm: HashAlgorithm::Csum16, inputs, payload: false, .. } => Some(inputs),
        _ => None,
    }
}

/// Whether statements extract all headers whose fields are these inputs.
fn are_extracted(body: &[Stmt], inputs: &[HashInput]) -> bool {
    let extracted = |header: HeaderId| body.iter().any(|stmt| extracts(stmt, header));
    inputs.iter().all(|input| match &input.value {
        HashValue::Expr(Expr { kind: ExprKind::Field(HeaderRef::Fixed(header), _), .. }) => extracted(*header),
        HashValue::Expr(expr) => expr.as_const().is_some(),
        HashValue::Varbit(..) => false,
    })
}

fn extracts(stmt: &Stmt, header: HeaderId) -> bool {
    matches!(&stmt.kind, StmtKind::Extract { dst: HeaderRef::Fixed(dst), .. } if *dst == header)
}

/// The blocks before ingress.
fn before_ingress(program: &Program) -> impl Iterator<Item = &Block> {
    let ingress = program.architecture.ingress();
    program.blocks.iter_enumerated().filter(move |(id, _)| Some(*id) < ingress).map(|(_, block)| block)
}

/// The blocks behind egress, or behind ingress if there is no control behind the queues.
fn behind_egress(program: &Program) -> impl Iterator<Item = &Block> {
    let architecture = program.architecture;
    let egress = architecture.egress().or(architecture.ingress());
    program.blocks.iter_enumerated().filter(move |(id, _)| Some(*id) > egress).map(|(_, block)| block)
}

/// How the program tests that the checksum over these inputs was right.
fn verified(program: &Program, inputs: &[HashInput]) -> Option<Verified> {
    verified_by_control(program, inputs).or_else(|| verified_by_parser(program, inputs))
}

/// The same where a parser verifies the checksum of a header: in the only state that extracts the header, which sets no
/// field.
fn verified_by_parser(program: &Program, inputs: &[HashInput]) -> Option<Verified> {
    let parsers = before_ingress(program).filter_map(|block| match &block.kind {
        BlockKind::Parser { states, error, .. } => Some((states, *error)),
        BlockKind::Control { .. } => None,
    });
    for (states, error) in parsers {
        let mut sets_fields = false;
        for state in states {
            visit_body(&state.body, &mut |stmt| {
                let base = stmt.kind.dst().map(base_of);
                sets_fields |= matches!(base, Some(Place::Field(..))) || is_extracted_inside(stmt);
            });
        }
        for state in states.iter().filter(|_| !sets_fields) {
            let pairs = state.body.windows(2).enumerate();
            let found = pairs.filter_map(|(at, pair)| Some((at, compared(pair, inputs)?))).next();
            let Some((at, checksum)) = found else { continue };
            let extracts = |body: &[Stmt]| body.iter().filter(|stmt| extracts(stmt, checksum.0)).count();
            let everywhere: usize = states.iter().map(|state| extracts(&state.body)).sum();
            if everywhere == 1 && extracts(&state.body[..at]) == 1 {
                return Some(Verified { checksum, guard: checksum.0, error, is_flag: false });
            }
        }
    }
    None
}

/// Whether a statement may extract headers by others inside of it.
fn is_extracted_inside(stmt: &Stmt) -> bool {
    let mut found = false;
    if !matches!(stmt.kind, StmtKind::Extract { .. }) {
        visit_body(std::slice::from_ref(stmt), &mut |stmt| found |= matches!(stmt.kind, StmtKind::Extract { .. }));
    }
    found
}

/// The field that two statements sum these inputs for and compare with the sum: where it differs, parsing ends with an
/// error.
fn compared(pair: &[Stmt], of_update: &[HashInput]) -> Option<(HeaderId, u32)> {
    let [Stmt { kind: StmtKind::Hash { dst: Place::Var(summed), inputs, .. }, .. }, verify] = pair else { return None };
    let StmtKind::Verify { cond, error } = &verify.kind else { return None };
    let ExprKind::Binary(BinaryOp::Eq, left, right) = &cond.kind else { return None };
    let is_summed = |expr: &Expr| matches!(expr.kind, ExprKind::Var(var) if var == *summed);
    let field = match (is_summed(left), is_summed(right)) {
        (true, _) => right,
        (_, true) => left,
        _ => return None,
    };
    let is_error = error.as_const().is_some_and(|error| !error.is_zero());
    match field.kind {
        ExprKind::Field(HeaderRef::Fixed(header), position)
            if is_error && std::ptr::eq(&inputs[..], of_update) && field.ty.width() == 16 =>
        {
            Some((header, position))
        }
        _ => None,
    }
}

/// The same where a control does nothing but verify checksums.
fn verified_by_control<'p>(program: &'p Program, inputs: &[HashInput]) -> Option<Verified> {
    let controls = before_ingress(program).filter_map(|block| match &block.kind {
        BlockKind::Control { body } => Some(body),
        BlockKind::Parser { .. } => None,
    });
    let find = |body: &'p Body| body.iter().find_map(|stmt| verification(stmt, inputs)).map(|found| (body, found));
    let (body, verified) = controls.into_iter().find_map(find)?;
    let is_error = |place: &Place| matches!(base_of(place), Place::Var(var) if *var == verified.error);
    let writes = |body: &[Stmt]| {
        let mut count = 0;
        visit_body(body, &mut |stmt| count += usize::from(stmt.kind.dst().is_some_and(is_error)));
        count
    };
    let everywhere: usize = bodies(program).into_iter().map(|body| writes(body)).sum();
    // The control does nothing but verify checksums, so that none is skipped.
    let is_own = everywhere == body.len() && body.iter().all(|stmt| error_of(stmt) == Some(verified.error));
    let is_measured = |table: &ir::Table| matches!(&table.direct_meter, Some((_, Some(place))) if is_error(place));
    let is_own = is_own && !program.tables.iter().any(is_measured);
    let is_metadata = matches!(program.vars[verified.error].kind, VarKind::Intrinsic(_));
    (is_own && is_metadata && !is_read_early(program, verified.error)).then_some(verified)
}

/// Whether a variable is read in the parser or where checksums are verified.
fn is_read_early(program: &Program, var: VarId) -> bool {
    let mut is_read = false;
    for block in before_ingress(program) {
        visit_block(program, block, &mut |item| {
            is_read |= matches!(item, Item::Expr(Expr { kind: ExprKind::Var(read), .. }) if *read == var);
        });
    }
    is_read
}

/// The variable that a statement sets to 1 if it verifies a checksum, under a condition, and finds it wrong.
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

/// What a statement verifies, if its inputs are these.
fn verification(stmt: &Stmt, inputs_of_update: &[HashInput]) -> Option<Verified> {
    let error = error_of(stmt)?;
    let StmtKind::If { cond, then_body, .. } = &stmt.kind else { return None };
    let ExprKind::IsValid(HeaderRef::Fixed(guard)) = cond.kind else { return None };
    let StmtKind::Hash { dst: Place::Var(summed), inputs, .. } = &then_body[0].kind else { return None };
    let StmtKind::If { cond, .. } = &then_body[1].kind else { return None };
    let ExprKind::Binary(BinaryOp::Ne, left, right) = &cond.kind else { return None };
    match (&left.kind, &right.kind) {
        (ExprKind::Var(compared), ExprKind::Field(HeaderRef::Fixed(header), field))
            if compared == summed && std::ptr::eq(&inputs[..], inputs_of_update) && right.ty.width() == 16 =>
        {
            Some(Verified { checksum: (*header, *field), guard, error, is_flag: true })
        }
        _ => None,
    }
}

/// The variable or field of a slice.
fn base_of(place: &Place) -> &Place {
    match place {
        Place::Slice { base, .. } => base_of(base),
        Place::Var(_) | Place::Field(..) => place,
    }
}

/// Where the fields of a list lie in their 16-bit words. None if the list does not have whole words between changes of
/// the guard, names a field twice, or contains values other than header fields and constants.
fn places(program: &Program, inputs: &[HashInput]) -> Option<OrderedMap<(HeaderId, u32), u32>> {
    let (mut places, mut position, mut guard) = (OrderedMap::new(), 0u32, None);
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
