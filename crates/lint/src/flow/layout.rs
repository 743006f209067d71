//! The mapping from parts of variables to the bits of a [`Assigned`](super::state::Assigned).
//!
//! A variable is divided into leaves: one for each part that is assigned as a whole. A struct consists of the leaves of
//! its fields. So does a union, of which at most one member is valid. A header has a leaf for its validity bit,
//! followed by those of its fields. Parts that are hard to distinguish (elements of arrays and stacks, fields of
//! generic structs) share one leaf, and an assignment to one of them counts for all, so that uncertainty does not cause
//! warnings.

use base::index::Id as _;
use base::{IndexVec, OrderedMap};
use sema::hir::{Expr, ExprKind, Program, StructId, Type, VarId};
use std::ops::Range;
use syntax::ast::StructKind;

/// The most leaves that are tracked in one body, so that the cost of a check stays proportional to the program's size.
/// Variables beyond it are not tracked.
const LEAVES_MAX: usize = 4096;

/// The most leaves of a tracked variable.
const VARIABLE_LEAVES_MAX: usize = 1024;

/// The offsets of the fields of a struct, followed by its size.
type Offsets = Vec<usize>;

/// The leaves of the variables of one body.
pub(crate) struct Layout<'a> {
    program: &'a Program,
    offsets: IndexVec<StructId, Option<Offsets>>,
    /// Which structs are headers or contain one.
    with_header: IndexVec<StructId, bool>,
    first_leaves: OrderedMap<VarId, usize>,
    /// The number of leaves assigned so far.
    pub(crate) leaf_count: usize,
}

/// The part of a variable that an expression refers to.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub(crate) var: VarId,
    pub(crate) leaves: Range<usize>,
    /// Whether other parts share the leaf.
    pub(crate) is_shared: bool,
    /// The leaf of the validity bit of the header that contains this field.
    pub(crate) validity: Option<usize>,
}

impl<'a> Layout<'a> {
    pub(crate) fn new(program: &'a Program) -> Layout<'a> {
        let mut layout = Layout {
            program,
            offsets: IndexVec::new(),
            with_header: IndexVec::new(),
            first_leaves: OrderedMap::new(),
            leaf_count: 0,
        };
        // The types of a struct's fields are declared before it.
        for declared in program.structs.iter() {
            let offsets = layout.offsets_of(declared);
            layout.offsets.push(offsets);
            let with_header =
                declared.kind != StructKind::Struct || declared.fields.iter().any(|field| layout.has_header(&field.ty));
            layout.with_header.push(with_header);
        }
        layout
    }

    /// Whether a value of the type contains a validity bit, or may contain one.
    pub(crate) fn has_header(&self, ty: &Type) -> bool {
        match ty {
            Type::Struct(id, args) => !args.is_empty() || id.index() >= self.with_header.len() || self.with_header[*id],
            Type::Array(element, _) => self.has_header(element),
            Type::Tuple(elements) => elements.iter().any(|element| self.has_header(element)),
            Type::Param(_) | Type::Unknown => true,
            _ => false,
        }
    }

    fn offsets_of(&self, declared: &sema::hir::Struct) -> Option<Offsets> {
        if !declared.type_params.is_empty() {
            return None;
        }
        let mut next = usize::from(declared.kind == StructKind::Header);
        let mut offsets = Vec::with_capacity(declared.fields.len() + 1);
        for field in &declared.fields {
            offsets.push(next);
            next = next.saturating_add(self.size(&field.ty));
        }
        offsets.push(next);
        Some(offsets)
    }

    fn struct_offsets(&self, ty: &Type) -> Option<&Offsets> {
        match ty {
            Type::Struct(id, args) if args.is_empty() && id.index() < self.offsets.len() => self.offsets[*id].as_ref(),
            _ => None,
        }
    }

    /// The number of leaves of a value.
    fn size(&self, ty: &Type) -> usize {
        match ty {
            Type::Struct(..) => self.struct_offsets(ty).and_then(|offsets| offsets.last().copied()).unwrap_or(1),
            Type::Tuple(elements) => elements.iter().fold(0, |sum, element| self.size(element).saturating_add(sum)),
            _ => 1,
        }
    }

    /// Forgets all variables, to start another body.
    pub(crate) fn clear(&mut self) {
        self.first_leaves.clear();
        self.leaf_count = 0;
    }

    /// Assigns leaves to a variable.
    pub(crate) fn add(&mut self, var: VarId) {
        let size = self.size(&self.program.vars[var].ty);
        if size <= VARIABLE_LEAVES_MAX && self.leaf_count + size <= LEAVES_MAX {
            self.first_leaves.insert(var, self.leaf_count);
            self.leaf_count += size;
        }
    }

    /// All leaves of a variable, if it is tracked.
    pub(crate) fn variable(&self, var: VarId) -> Option<Place> {
        let first = *self.first_leaves.get(&var)?;
        let ty = &self.program.vars[var].ty;
        let is_shared = self.is_opaque(ty);
        Some(Place { var, leaves: first..first + self.size(ty), is_shared, validity: None })
    }

    /// The place that an expression refers to, if it is (a part of) a tracked variable.
    pub(crate) fn place(&self, e: &Expr) -> Option<Place> {
        match &e.kind {
            ExprKind::Var(var) => self.variable(*var),
            ExprKind::Field(base, position) => {
                let place = self.place(base)?;
                if place.is_shared {
                    return Some(place);
                }
                let offsets = self.struct_offsets(&base.ty)?;
                let first = place.leaves.start + offsets.get(*position)?;
                let leaves = first..first + self.size(&e.ty);
                let validity = is_header(self.program, &base.ty).then_some(place.leaves.start);
                Some(Place { leaves, is_shared: self.is_opaque(&e.ty), validity, ..place })
            }
            ExprKind::TupleIndex(base, position) => {
                let place = self.place(base)?;
                let Type::Tuple(elements) = &base.ty else { return Some(Place { is_shared: true, ..place }) };
                if place.is_shared {
                    return Some(place);
                }
                let before: usize = elements.iter().take(*position).map(|element| self.size(element)).sum();
                let first = place.leaves.start + before;
                let leaves = first..first + self.size(&e.ty);
                Some(Place { leaves, is_shared: self.is_opaque(&e.ty), ..place })
            }
            ExprKind::Index(base, _)
            | ExprKind::StackNext(base)
            | ExprKind::StackLast(base)
            | ExprKind::StackLastIndex(base)
            | ExprKind::Slice(base, _, _)
            | ExprKind::IndexedSlice { base, .. } => Some(Place { is_shared: true, ..self.place(base)? }),
            _ => None,
        }
    }

    /// The other members of the union whose member an expression refers to.
    pub(crate) fn siblings(&self, e: &Expr) -> Vec<Range<usize>> {
        let ExprKind::Field(base, _) = &e.kind else { return Vec::new() };
        match (self.place(base), self.place(e)) {
            (Some(union), Some(member)) if is_union(self.program, &base.ty) && !union.is_shared => {
                vec![union.leaves.start..member.leaves.start, member.leaves.end..union.leaves.end]
            }
            _ => Vec::new(),
        }
    }

    /// Whether parts of the type's values share a leaf.
    fn is_opaque(&self, ty: &Type) -> bool {
        match ty {
            Type::Struct(..) => self.struct_offsets(ty).is_none(),
            Type::Array(..) | Type::List(_) => true,
            _ => false,
        }
    }
}

/// Whether the type is a header.
pub(crate) fn is_header(program: &Program, ty: &Type) -> bool {
    matches!(ty, Type::Struct(id, _) if program.structs[*id].kind == StructKind::Header)
}

/// Whether the type is a header union.
fn is_union(program: &Program, ty: &Type) -> bool {
    matches!(ty, Type::Struct(id, _) if program.structs[*id].kind == StructKind::HeaderUnion)
}
