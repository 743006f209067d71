//! Pre-encoded action data: stored as they are copied to headers.
//!
//! What enters: an action of a table. What leaves: which parameters entries also hold in network order, and which
//! assignments become one copy of those bytes. So a router's two Ethernet addresses are stored as twelve bytes, and no
//! packet costs a change of byte order.

use ir::{ExprKind, FieldType, HeaderId, HeaderRef, Place, Program, Stmt, StmtKind, Table, TableAction, VarId};
use tables::HEADER_WORDS;

/// Words of a cache line. An entry that fits one is not made larger for pre-encoded data.
const LINE_WORDS: usize = 8;

/// Assignments of parameters to adjacent fields of a header, as one copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Store {
    /// The statements of the action's body.
    pub(crate) statements: Vec<usize>,
    /// The header.
    pub(crate) header: HeaderId,
    /// The fields, in the header's order.
    pub(crate) fields: Vec<u32>,
    /// The first byte in the pre-encoded data.
    pub(crate) start: u32,
    /// How many.
    pub(crate) bytes: u32,
}

/// The pre-encoded part of an action's data.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PreEncoded {
    /// Positions of parameters, in the order of their bytes.
    pub(crate) params: Vec<usize>,
    /// The copies that they serve.
    pub(crate) stores: Vec<Store>,
}

/// An assignment of a parameter to a field.
struct Assignment {
    statement: usize,
    header: HeaderId,
    field: u32,
    param: usize,
    first_byte: u32,
    bytes: u32,
}

/// The pre-encoded data in entries of a table that run one of its actions.
pub(crate) fn pre_encoded(program: &Program, table: &Table, listed: &TableAction) -> PreEncoded {
    // Members of action profiles are shared with other tables and are not pre-encoded.
    if table.implementation.is_some() {
        return PreEncoded::default();
    }
    let action = &program.actions[listed.action];
    let mut found = PreEncoded::default();
    let mut run: Vec<Assignment> = Vec::new();
    for (number, stmt) in action.body.iter().enumerate() {
        let next = assignment(program, &action.params, number, stmt);
        let follows = next
            .as_ref()
            .is_some_and(|next| run.iter().all(|other| other.header == next.header && other.field != next.field));
        if !follows {
            found.take(std::mem::take(&mut run));
        }
        run.extend(next);
    }
    found.take(run);
    let is_changed = |param: &usize| is_written(&action.body, action.params[*param]);
    let words = |bits: u32| bits.div_ceil(64) as usize;
    let plain: usize =
        HEADER_WORDS + action.params.iter().map(|&param| words(program.vars[param].ty.width())).sum::<usize>();
    let all = plain + words(8 * found.stores.iter().map(|store| store.bytes).sum::<u32>());
    let leaves_line = plain <= LINE_WORDS && all > LINE_WORDS;
    if leaves_line || found.params.iter().any(is_changed) { PreEncoded::default() } else { found }
}

impl PreEncoded {
    /// The copies from entries with the pre-encoded data `stored`; none if these data differ.
    pub(crate) fn stores_of(self, stored: &PreEncoded) -> Vec<Store> {
        let place = |store: &Store| (store.header, store.fields.clone(), store.start, store.bytes);
        let is_same = self.params == stored.params && self.stores.iter().map(place).eq(stored.stores.iter().map(place));
        if is_same { self.stores } else { Vec::new() }
    }

    /// Adds consecutive assignments to different fields of one header.
    fn take(&mut self, mut run: Vec<Assignment>) {
        run.sort_by_key(|assignment| assignment.first_byte);
        for group in run.chunk_by(|one, next| one.first_byte + one.bytes == next.first_byte) {
            // What one instruction can byte-swap is not pre-encoded.
            if matches!(group, [Assignment { bytes: 1 | 2 | 4 | 8, .. }]) {
                continue;
            }
            let mut statements: Vec<usize> = group.iter().map(|assignment| assignment.statement).collect();
            statements.sort_unstable();
            self.stores.push(Store {
                statements,
                header: group[0].header,
                fields: group.iter().map(|assignment| assignment.field).collect(),
                start: self.stores.iter().map(|store| store.bytes).sum(),
                bytes: group.iter().map(|assignment| assignment.bytes).sum(),
            });
            self.params.extend(group.iter().map(|assignment| assignment.param));
        }
    }
}

/// The assignment of a statement that stores an unchanged parameter in whole bytes of a header.
fn assignment(program: &Program, params: &[VarId], statement: usize, stmt: &Stmt) -> Option<Assignment> {
    let StmtKind::Assign { dst: Place::Field(HeaderRef::Fixed(header), field), src } = &stmt.kind else { return None };
    let ExprKind::Var(var) = src.kind else { return None };
    let param = params.iter().position(|&param| param == var)?;
    let ty = &program.header_types[program.headers[*header].ty];
    let FieldType::Fixed(of_field) = ty.fields[*field as usize].ty else { return None };
    let (width, offset) = (of_field.width(), ty.offset_bits(*field as usize));
    let is_whole = width > 0 && width.is_multiple_of(8) && offset.is_multiple_of(8) && ty.varbit().is_none();
    let is_same = program.vars[var].ty.width() == width;
    (is_whole && is_same).then_some(Assignment {
        statement,
        header: *header,
        field: *field,
        param,
        first_byte: offset / 8,
        bytes: width / 8,
    })
}

/// Whether a body writes a variable.
fn is_written(body: &[Stmt], var: VarId) -> bool {
    let mut found = false;
    ir::walk::visit_body(body, &mut |stmt| {
        let mut place = stmt.kind.dst();
        while let Some(Place::Slice { base, .. }) = place {
            place = Some(base);
        }
        found |= matches!(place, Some(Place::Var(written)) if *written == var);
    });
    found
}
