//! How replicas enter the part of the fast path that is behind the queues.
//!
//! What enters: the chunk of a packet that has been through ingress, whose context no replica changes, and for each
//! replica a frame with a copy of the packet's bytes, its port and its replica number. What leaves: statements that
//! initialise the state of a replica from its packet: valid bits, the places of the headers in the replica's own frame,
//! variables.

use super::Emitter;
use super::fast_path::PathStage;
use super::header::Place;
use super::scope::{Scope, valid_word};
use crate::ctree;
use crate::plan::fast_path::FastPath;
use ir::architecture::Source;
use ir::{BlockKind, HeaderId, HeaderRef, StmtKind, VarId};
use lir::{
    Expr as C, StatePart, Stmt as S, Type, arrow, assign, binary, call, cast, conditional, constant, declare, index,
    int, long, name,
};

/// The function of a burst.
pub(crate) const BURST_HEAD: &str = "uint32_t replica_burst(const struct ws_env *env WS_UNUSED, \
    const struct ws_packet *packet, struct ws_packet *const *packets WS_UNUSED, struct ws_frame *frames WS_UNUSED, \
    uint32_t count, uint32_t *verdicts)";

/// The function that the core calls.
pub(crate) const HEAD: &str = "uint64_t ws_replica_path(const struct ws_env *env, const struct ws_packet *packet, \
    struct ws_packet *const *packets, struct ws_frame *frames, uint32_t count, uint32_t *verdicts)";

/// Its body.
pub(crate) fn one_burst() -> Vec<ctree::Stmt> {
    use ctree::{call, name};
    let arguments = ["env", "packet", "packets", "frames", "count", "verdicts"].map(name).to_vec();
    vec![ctree::Stmt::Return(call("ws_exceptions", vec![call("replica_burst", arguments)]))]
}

/// The C variable that is 1 if the packet's headers are adjacent and in the order in which they would be emitted, so
/// that a replica with the same headers can leave as it is.
pub(crate) const STAYS: &str = "stays";

/// The declarations that all replicas share: the valid bits, and the offset of each header from the packet's first
/// byte.
pub(crate) fn of_packet(emitter: &Emitter<'_>, fast_path: &FastPath) -> Vec<S> {
    let context = cast(Type::ConstPointer, binary("+", name("packet"), int(1)));
    let mut out = vec![constant(Type::ConstContext, "of_packet", context)];
    for word in 0..emitter.plan.storage.valid_words {
        let valid = binary("&", index(of_packet_member("valid"), int(word)), long(!local_headers(emitter, word)));
        out.push(constant(Type::U64, valid_name(word), valid));
    }
    for header in emitter.program.headers.ids() {
        let offset = offset_of_packet(emitter, header);
        let at = binary("-", offset.clone(), arrow(name("packet"), "data"));
        let is_there = match emitter.plan.headers[header].home {
            Some(home) => binary("&&", is_valid(emitter, header), binary("!=", offset, int(home))),
            None => is_valid(emitter, header),
        };
        out.push(constant(Type::U32, at_name(header), conditional(is_there, at, int(0))));
    }
    if fast_path.may_stay {
        out.extend(stays(emitter));
    }
    out
}

/// The statements that set [`STAYS`].
fn stays(emitter: &Emitter<'_>) -> Vec<S> {
    let (bytes, stays) = (|| name("emitted_bytes"), || name(STAYS));
    let mut out = vec![declare(Type::U32, "emitted_bytes", int(0)), declare(Type::U32, STAYS, int(1))];
    let deparser = emitter.program.blocks.ids().rfind(|&block| emitter.is_deparser(block));
    let Some(BlockKind::Control { body }) = deparser.map(|block| &emitter.program.blocks[block].kind) else {
        return out;
    };
    for stmt in body {
        let StmtKind::Emit(HeaderRef::Fixed(header)) = stmt.kind else { continue };
        let mut is_there = binary("==", name(at_name(header)), bytes());
        if let Some(home) = emitter.plan.headers[header].home {
            is_there = binary("&&", is_there, binary("!=", offset_of_packet(emitter, header), int(home)));
        }
        let fixed = emitter.program.header_types[emitter.program.headers[header].ty].fixed_width() / 8;
        let size = match emitter.plan.headers[header].varbit {
            Some(slot) => binary("+", index(of_packet_member("varbit_bytes"), int(slot)), int(fixed)),
            None => int(fixed),
        };
        let behind = vec![S::Assign(stays(), "&=", is_there), S::Assign(bytes(), "+=", size)];
        out.push(S::If(is_valid(emitter, header), behind, Vec::new()));
    }
    let payload = binary("-", arrow(name("packet"), "payload"), arrow(name("packet"), "data"));
    out.push(S::Assign(stays(), "&=", binary("==", payload, bytes())));
    out
}

/// The initial value of an intrinsic variable.
pub(crate) fn intrinsic(source: Source, slot: u32) -> C {
    match source {
        Source::QueuePort => cast(Type::U64, arrow(name("frame"), "port")),
        Source::Replica => cast(Type::U64, arrow(name("frame"), "rid")),
        _ => index(arrow(name("packet"), "intrinsic"), int(slot)),
    }
}

/// The valid bits, in a word, of headers that are local to one block, and so are invalid at its start.
fn local_headers(emitter: &Emitter<'_>, word: u32) -> u64 {
    let blocks = emitter.program.architecture.blocks_behind_queues();
    let local = blocks.flat_map(|block| &emitter.plan.blocks[block].local_headers);
    let bits = local.map(|&header| emitter.plan.headers[header].bit).filter(|bit| bit / 64 == word);
    bits.fold(0, |bits, bit| bits | 1 << (bit % 64))
}

fn of_packet_member(member: &str) -> C {
    arrow(name("of_packet"), member)
}

fn offset_of_packet(emitter: &Emitter<'_>, header: HeaderId) -> C {
    index(of_packet_member("offset"), int(emitter.plan.headers[header].slot))
}

fn is_valid(emitter: &Emitter<'_>, header: HeaderId) -> C {
    let bit = emitter.plan.headers[header].bit;
    binary("&", binary(">>", name(valid_name(bit / 64)), int(bit % 64)), long(1))
}

/// The C constant with a word of the packet's valid bits.
pub(crate) fn valid_name(word: u32) -> String {
    format!("valid{word}_of_packet")
}

/// The C constant with the bytes of the packet before a header that lies in it; 0 for other headers.
fn at_name(header: HeaderId) -> String {
    format!("source{}", super::header::number(header))
}

impl Scope<'_, '_> {
    /// The start of the first stage: the replica gets all state of its packet, and the places of the headers in its
    /// frame.
    pub(crate) fn begin_replica(&mut self, path: PathStage<'_>) {
        let (program, storage) = (self.emitter.program, &self.emitter.plan.storage);
        for (id, var) in program.vars.iter_enumerated() {
            if self.is_saved_wide(id) {
                let (place, width) = (self.place_to_write(id), var.ty.width());
                let of_packet = self.metadata_of_packet(id);
                self.push(S::Eval(call("ws_wide_copy", vec![place, of_packet, int(width)])));
            }
        }
        for word in 0..storage.valid_words {
            self.push(assign(valid_word(word), name(valid_name(word))));
        }
        program.headers.ids().for_each(|header| self.place_replicas_header(header));
        if storage.varbits > 0 {
            let [to, from] = [arrow(name("c"), "varbit_bytes"), of_packet_member("varbit_bytes")];
            let bytes = call("sizeof", vec![to.clone()]);
            self.push(S::Eval(call("memcpy", vec![to, from, bytes])));
        }
        if path.fast_path.reads_payload {
            let bytes = binary("-", arrow(name("packet"), "payload"), arrow(name("packet"), "data"));
            self.push(assign(C::Saved(StatePart::Payload), bytes));
        }
    }

    /// Sets the place of a header in the replica's frame, or copies it to its home where it lies outside of its packet.
    fn place_replicas_header(&mut self, header: HeaderId) {
        let access = self.access(&HeaderRef::Fixed(header));
        let Place::Plain(_) = access.place else { return };
        let at = name(at_name(header));
        if !self.moves() {
            let at = self.fixed_offset(header).unwrap_or(at);
            self.set_offset(&access, at);
            return;
        }
        let in_frame = binary("+", name("bytes"), at);
        let Some(home) = self.emitter.plan.headers[header].home else {
            self.set_offset(&access, in_frame);
            return;
        };
        let beside = self.plain_home(header);
        let lies_beside = binary("==", offset_of_packet(self.emitter, header), int(home));
        let lies_beside = binary("&&", is_valid(self.emitter, header), lies_beside);
        let bytes = binary("+", cast(Type::ConstBytes, name("packet")), int(home));
        let copy = call("memcpy", vec![beside.clone(), bytes, int(self.fixed_bytes(&access))]);
        let place = self.fresh("place");
        self.push(declare(Type::Bytes, place.clone(), in_frame));
        self.push(S::If(lies_beside, vec![S::Eval(copy), assign(name(place.clone()), beside)], Vec::new()));
        self.set_offset(&access, name(place));
    }

    /// The value of a metadata variable of the packet.
    pub(crate) fn metadata_of_packet(&self, var: VarId) -> C {
        of_packet_member(&self.emitter.var_name(var))
    }
}
