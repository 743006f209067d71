//! The deparser: a list of the headers that are emitted, put before the payload at the end.
//!
//! A deparser that changes headers between its emits, emits in a loop or emits more than 4,096 bytes copies each header
//! when it is emitted. All others only record its place, so that headers that are already in place do not move.

use super::Emitter;
use super::pieces::{PIECES_BYTES_MAX, Pieces};
use super::scope::Scope;
use crate::ctree;
use crate::plan::fast_path::changes_headers;
use crate::plan::walk::{Item, Tables, Walk};
use ir::{BlockId, Body, HeaderRef, Place, Program, StmtKind};
use lir::{
    Expr as C, Stmt as S, Type, Variable, arrow, assign, binary, call, cast, conditional, constant, declare,
    declare_array, dot, index, int, name, unary,
};

/// The most bytes that headers may take if they are not copied when they are emitted.
const BOUNCE_BYTES_MAX: u32 = 4096;

/// The body of a deparser's function.
pub(crate) fn emit(emitter: &Emitter<'_>, block: BlockId, body: &Body) -> Vec<ctree::Stmt> {
    let emits = Emits::of(emitter.program, body);
    let mut scope = Scope::new(emitter, block, 0);
    scope.staged = emits.staged;
    scope.reset_local_headers();
    scope.reset_spilled();
    scope.stmts(body);
    let mut function: Vec<ctree::Stmt> = super::to_c::stmts(emitter, block, &emits.before_packets());
    let per_packet = super::control::single(
        &mut scope,
        &emitter.unit_name(block),
        emits.before_packet(),
        vec![emits.finish(emitter)],
    );
    function.push(super::burst::for_each_packet(per_packet));
    function
}

/// What a deparser emits.
pub(crate) struct Emits {
    count: u32,
    bytes: u32,
    pub(crate) staged: bool,
}

impl Emits {
    /// The declarations before the loop over packets.
    pub(crate) fn before_packets(&self) -> Vec<S> {
        let staged = || S::Declare {
            variable: Variable::Changes,
            ty: Type::Staged,
            name: "staged".into(),
            length: None,
            value: None,
        };
        self.staged.then(staged).into_iter().collect()
    }

    /// The declarations before the code for a packet.
    pub(crate) fn before_packet(&self) -> Vec<S> {
        if self.staged {
            return vec![assign(dot(name("staged"), "size"), int(0))];
        }
        vec![
            declare_array(Type::Segment, "segments", self.count.max(1), None),
            declare_array(Type::U8, "bounce", self.bytes.max(1), None),
            declare(Type::U32, "emitted", int(0)),
        ]
    }

    /// Writes the emitted headers before the payload.
    pub(crate) fn finish(&self, emitter: &Emitter<'_>) -> S {
        let floor = int(emitter.plan.headroom_offset());
        S::Eval(if self.staged {
            let (payload, bytes) = (arrow(name("p"), "payload"), dot(name("staged"), "bytes"));
            call("ws_prepend", vec![name("p"), bytes, dot(name("staged"), "size"), payload, floor])
        } else {
            call("ws_deparse", vec![name("p"), name("segments"), name("emitted"), name("bounce"), floor])
        })
    }

    pub(crate) fn of(program: &Program, body: &[ir::Stmt]) -> Emits {
        let mut emits = Emits { count: 0, bytes: 0, staged: false };
        Walk::new(program, Tables::Inside).body(body, &mut |item| {
            let Item::Stmt(stmt) = item else { return };
            match &stmt.kind {
                StmtKind::Emit(header) => {
                    emits.count += 1;
                    emits.bytes = emits.bytes.saturating_add(program.header_type(header).bytes_max());
                }
                StmtKind::Loop { .. } | StmtKind::ApplyTable { .. } => emits.staged = true,
                kind => emits.staged |= changes_headers(kind) || kind.dst().is_some_and(is_field),
            }
        });
        emits.staged |= emits.bytes > BOUNCE_BYTES_MAX;
        emits
    }
}

fn is_field(place: &Place) -> bool {
    match place {
        Place::Var(_) => false,
        Place::Field(..) => true,
        Place::Slice { base, .. } => is_field(base),
    }
}

/// A header that is put before the payload in place.
struct Emitted {
    /// The condition that it is emitted; none if it certainly is.
    valid: Option<C>,
    bytes: Bytes,
    size: C,
}

/// Where its bytes are.
enum Bytes {
    /// In variables.
    Taken(Pieces),
    /// In memory that is not overwritten.
    At(C),
}

impl Scope<'_, '_> {
    /// Writes the emitted headers before what stays, and moves the packet's begin there.
    pub(crate) fn prepend_emitted(&mut self) {
        let headers = self.take_emitted();
        let emitted: Vec<Emitted> = headers.iter().map(|header| self.take_out(header)).collect();
        let size = |it: &Emitted| match (&it.valid, &it.size) {
            (None, size) => size.clone(),
            (Some(valid), C::Int(_)) => binary("*", cast(Type::U32, valid.clone()), it.size.clone()),
            // The length of an invalid header was not set.
            (Some(valid), size) => conditional(valid.clone(), size.clone(), int(0)),
        };
        let is_certain = |it: &Emitted| match (&it.valid, &it.size) {
            (None, C::Int(size)) => Some(*size),
            _ => None,
        };
        let certain: u32 = emitted.iter().filter_map(is_certain).sum();
        let others = emitted.iter().filter(|it| is_certain(it).is_none());
        let total = others.map(size).fold(int(certain), |sum, size| binary("+", sum, size));
        let start = self.start_of_what_stays();
        self.push(constant(Type::U32, "total", total));
        let first = binary("-", binary("+", name("bytes"), start.clone()), name("total"));
        self.push(declare(Type::Bytes, "to", first));
        self.push(assign(arrow(name("frame"), "bytes"), name("to")));
        let length = binary("-", binary("+", arrow(name("frame"), "length"), name("total")), start);
        self.push(assign(arrow(name("frame"), "length"), length));
        for Emitted { valid, bytes, size } in emitted {
            let mut put = match bytes {
                Bytes::Taken(pieces) => pieces.store(&name("to")),
                Bytes::At(from) => vec![S::Eval(call("memcpy", vec![name("to"), from, size.clone()]))],
            };
            put.push(S::Assign(name("to"), "+=", size));
            self.guarded(valid, put);
        }
    }

    /// The emitted headers that are to be put before what stays.
    fn take_emitted(&mut self) -> Vec<HeaderRef> {
        let mut headers = std::mem::take(&mut self.emitted);
        let stays = |id: &ir::HeaderId| self.path.is_some_and(|path| path.fast_path.tail.contains(id));
        headers.retain(|it| !matches!(it, HeaderRef::Fixed(id) if self.is_surely_invalid(*id) || stays(id)));
        headers
    }

    /// Ends the path of packets with known headers, if these lie at their final places or are copied there one by one.
    pub(crate) fn leaves_in_layout(&mut self) -> bool {
        if self.inlined.is_none() || self.known.as_parsed {
            return false;
        }
        let emitted = self.emitted.clone();
        let headers = self.take_emitted();
        let layout = self.layout_of(&headers);
        self.leave_with(layout.clone());
        let is_done = layout.is_some_and(|layout| self.finish_layout(&layout));
        if !is_done {
            self.emitted = emitted;
        }
        is_done
    }

    /// Loads a header, since another may overwrite it in the packet. A header that never lies in the packet is left
    /// where it is.
    fn take_out(&mut self, header: &HeaderRef) -> Emitted {
        let access = self.access(header);
        let valid = self.valid(&access).map(|valid| self.temporary(valid));
        let (size, pointer) = (self.size(&access), self.pointer(&access));
        let bytes_max = self.emitter.program.header_types[access.ty].bytes_max();
        let may_lie_there = match header {
            HeaderRef::Fixed(id) => self.path.is_none_or(|path| path.fast_path.extracted.contains(id)),
            _ => true,
        };
        let bytes = if bytes_max <= PIECES_BYTES_MAX && !self.has_varbit(&access) {
            let pieces = self.pieces(bytes_max);
            self.guarded(valid.clone(), pieces.load(&pointer));
            Bytes::Taken(pieces)
        } else if may_lie_there {
            let saved = self.fresh("saved");
            self.push(declare_array(Type::U8, saved.clone(), bytes_max, None));
            let save = S::Eval(call("memcpy", vec![name(saved.clone()), pointer, size.clone()]));
            self.guarded(valid.clone(), vec![save]);
            Bytes::At(name(saved))
        } else {
            Bytes::At(pointer)
        };
        Emitted { valid, bytes, size }
    }

    pub(crate) fn emit_header(&mut self, header: &HeaderRef) {
        if self.moves() {
            self.emitted.push(header.clone());
            return;
        }
        self.deparses = true;
        let access = self.access(header);
        let valid = self.valid(&access);
        let (offset, size) = (self.offset(&access), self.size(&access));
        let statements = if self.staged {
            vec![S::Eval(call("ws_stage", vec![unary("&", name("staged")), name("p"), offset, size]))]
        } else {
            let segment = index(name("segments"), name("emitted"));
            let both: Vec<C> = vec![offset, size];
            vec![assign(segment, cast(Type::Segment, C::List(both))), S::Assign(name("emitted"), "+=", int(1))]
        };
        self.guarded(valid, statements);
    }
}
