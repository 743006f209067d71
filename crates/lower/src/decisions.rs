//! What an architecture decides between the blocks of a program.
//!
//! What enters: a program whose blocks are complete. What leaves: the program with the decisions at each point of its
//! architecture, in the order that `docs/design/v1model.md`, `docs/design/psa.md` and `docs/design/pna.md` give. A
//! request that no statement of the program makes has no test.

use base::{Bits, IndexVec, Span};
use ir::pna;
use ir::psa::{self, Carried, PacketPath};
use ir::v1model::{self, InstanceType, PORT_MAX};
use ir::walk::{base_var, visit_writes};
use ir::{
    BinaryOp, Body, DropReason, Expr, ExprKind, FieldListId, IntrinsicSlot, Place, PointId, Program, Stmt, StmtKind,
    Type, UnaryOp, VarId, VarKind,
};

/// Gives a program the decisions of its architecture, in place of any that it has.
pub fn decide(program: &mut Program) {
    let is_of = |architecture| program.architecture == architecture;
    let [is_v1model, is_psa, is_pna] = [&v1model::ARCHITECTURE, &psa::ARCHITECTURE, &pna::ARCHITECTURE].map(is_of);
    let mut decider = Decider { program };
    let decisions = if is_v1model {
        decider.v1model()
    } else if is_psa {
        decider.psa()
    } else if is_pna {
        decider.pna()
    } else {
        return;
    };
    program.decisions = decisions;
}

struct Decider<'p> {
    program: &'p mut Program,
}

// --------------------------------------------------------------------------------------------------------- v1model

impl Decider<'_> {
    fn v1model(&mut self) -> IndexVec<PointId, Body> {
        use v1model::Decisions::{Deparser, Egress, Ingress, Queues};
        [Ingress, Queues, Egress, Deparser].into_iter().map(|point| self.at_v1model(point)).collect()
    }

    fn at_v1model(&mut self, point: v1model::Decisions) -> Body {
        use v1model::Decisions::{Deparser, Egress, Ingress, Queues};
        use v1model::Slot;
        let mut body = Vec::new();
        match point {
            // A coalescing buffer leaves first, so that a packet that is resubmitted then follows it.
            Ingress => {
                body.extend(self.punt(Slot::Release));
                body.extend(self.punt(Slot::CloneIngressSession));
                body.extend(self.punt(Slot::CloneToIngress));
                body.extend(self.punt(Slot::Resubmit));
                body.extend(self.punt(Slot::Scatter));
                body.extend(self.punt(Slot::McastGrp));
                body.push(self.drop_by_port(DropReason::Ingress));
                // Egress sees a packet of one port as a normal one, however it came to ingress.
                body.extend(self.known(Slot::InstanceType).map(|kind| self.set(kind, InstanceType::Normal as u64)));
                let port = self.var(Slot::EgressSpec);
                body.push(self.enqueue(port, None));
            }
            Queues => self.leave_queue(&mut body),
            Egress => {
                body.extend(self.punt(Slot::CloneEgressSession));
                body.extend(self.punt(Slot::CloneToIngress));
                body.push(self.drop_by_port(DropReason::Egress));
            }
            Deparser => {
                body.extend(self.punt(Slot::Gather));
                body.extend(self.punt(Slot::Recirculate));
                let port = self.sent_port();
                let limit = self.truncation().map(|limit| self.read(limit));
                body.push(stmt(StmtKind::Send { port: self.read(port), limit }));
            }
        }
        body
    }

    /// Sets what egress sees of a packet that has left its queue.
    fn leave_queue(&mut self, body: &mut Body) {
        use v1model::Slot;
        let (left, sent) = (self.var(Slot::EgressPort), self.sent_port());
        if sent != left {
            body.push(assign(sent, self.read(left)));
        }
        // The reference switch sets the port after the drop port, which for the usual one leaves nothing of 9 bits.
        let (spec, after_drop) = (self.var(Slot::EgressSpec), self.program.drop_port.wrapping_add(1));
        body.push(self.set(spec, after_drop & u64::from(PORT_MAX)));
        let Some(length) = self.known(Slot::PacketLength) else { return };
        let ty = self.program.vars[length].ty;
        let received = Expr { kind: ExprKind::PacketLength, ty };
        let is_unset = Expr::binary(BinaryOp::Eq, self.read(length), self.number(length, 0));
        let kind = ExprKind::Mux(Box::new(is_unset), Box::new(received), Box::new(self.read(length)));
        let sent = Expr { kind, ty };
        match self.known(Slot::LengthDelta) {
            Some(delta) => {
                body.push(assign(length, Expr::binary(BinaryOp::Add, sent, self.read(delta))));
                body.push(self.set(delta, 0));
            }
            None => body.push(assign(length, sent)),
        }
    }

    /// The variable with the port on which a packet is sent: that of its queue, whatever the program writes into
    /// `egress_port`.
    fn sent_port(&mut self) -> VarId {
        use v1model::Slot;
        let port = self.var(Slot::EgressPort);
        let mut is_written = false;
        visit_writes(self.program, &mut |place, _| is_written |= base_var(place) == Some(port));
        if !is_written {
            return port;
        }
        self.var(Slot::QueuePort)
    }

    /// The variable with the length to which a packet is cut: a session may cut the clones of any program.
    fn truncation(&mut self) -> Option<VarId> {
        use v1model::Slot;
        let clones = self.may_request(Slot::CloneIngressSession) || self.may_request(Slot::CloneEgressSession);
        if clones { Some(self.var(Slot::Truncate)) } else { self.known(Slot::Truncate) }
    }

    fn drop_by_port(&mut self, reason: DropReason) -> Stmt {
        let spec = self.var(v1model::Slot::EgressSpec);
        let is_dropped = Expr::binary(BinaryOp::Eq, self.read(spec), self.number(spec, self.program.drop_port));
        if_then(is_dropped, StmtKind::Drop(reason))
    }
}

// ------------------------------------------------------------------------------------------------------------- PSA

impl Decider<'_> {
    fn psa(&mut self) -> IndexVec<PointId, Body> {
        use psa::Decisions::{EgressDeparser, Ingress, IngressDeparser, Queues};
        [Ingress, IngressDeparser, Queues, EgressDeparser].into_iter().map(|point| self.at_psa(point)).collect()
    }

    fn at_psa(&mut self, point: psa::Decisions) -> Body {
        use psa::Slot;
        let mut body = Vec::new();
        match point {
            psa::Decisions::Ingress => self.without_deparser(&mut body),
            psa::Decisions::IngressDeparser => {
                body.extend(self.punt(Slot::Clone));
                body.push(self.drop_if_set(Slot::Drop, DropReason::Ingress));
                body.extend(self.punt(Slot::Resubmit));
                body.extend(self.punt(Slot::MulticastGroup));
                let path = self.var(Slot::PacketPath);
                body.push(self.set(path, PacketPath::NormalUnicast as u64));
                for slot in [Slot::Clone, Slot::CloneSessionId, Slot::ParserError, Slot::Instance] {
                    body.extend(self.known(slot).map(|var| self.set(var, 0)));
                }
                let port = self.var(Slot::EgressPort);
                let keeps = Carried::NormalMeta.field_list();
                let keeps = self.program.field_lists.get(keeps).map(|_| keeps);
                body.push(self.enqueue(port, keeps));
            }
            psa::Decisions::Queues => {}
            psa::Decisions::EgressDeparser => {
                body.extend(self.punt(Slot::Clone));
                body.push(self.drop_if_set(Slot::Drop, DropReason::Egress));
                let port = self.var(Slot::EgressPort);
                if self.may_request(Slot::EgressPort) {
                    let recirculation = self.number(port, u64::from(psa::PORT_RECIRCULATE));
                    let is_sent_there = Expr::binary(BinaryOp::Eq, self.read(port), recirculation);
                    body.push(if_then(is_sent_there, StmtKind::Punt(Slot::EgressPort as u32)));
                }
                body.push(stmt(StmtKind::Send { port: self.read(port), limit: None }));
            }
        }
        body
    }

    /// Behind ingress, packets end of which nothing comes in the ingress deparser: neither a packet in egress nor a
    /// struct for a clone or a resubmission.
    fn without_deparser(&mut self, body: &mut Body) {
        use psa::Slot;
        let clone_carries = self.carries(Carried::CloneI2eMeta);
        let clone = self.known(Slot::Clone).filter(|_| self.may_request(Slot::Clone));
        if !clone_carries {
            body.extend(self.punt(Slot::Clone));
        }
        let no_clone = clone.filter(|_| clone_carries).map(|clone| Expr::unary(UnaryOp::Not, self.is_set(clone)));
        let without = |condition: Expr| match &no_clone {
            Some(no_clone) => Expr::binary(BinaryOp::LogicalAnd, condition, no_clone.clone()),
            None => condition,
        };
        let drop = self.var(Slot::Drop);
        body.push(if_then(without(self.is_set(drop)), StmtKind::Drop(DropReason::Ingress)));
        if let Some(resubmit) = self.known(Slot::Resubmit).filter(|_| self.may_request(Slot::Resubmit))
            && !self.carries(Carried::ResubmitMeta)
        {
            body.push(if_then(without(self.is_set(resubmit)), StmtKind::Punt(Slot::Resubmit as u32)));
        }
    }

    /// Whether a struct that a deparser hands out has anything in it.
    fn carries(&self, carried: Carried) -> bool {
        self.program.field_lists.get(carried.field_list()).is_some_and(|list| !list.vars.is_empty())
    }
}

// ------------------------------------------------------------------------------------------------------------- PNA

impl Decider<'_> {
    fn pna(&mut self) -> IndexVec<PointId, Body> {
        use pna::Slot;
        let mut deparser = Vec::new();
        // Before anything else of the packet, so that a copy that goes round meets the entries.
        deparser.extend(self.punt(Slot::Added));
        for mirror in Slot::MIRRORS {
            deparser.extend(self.punt(mirror));
        }
        deparser.extend(self.punt(Slot::Recirculate));
        deparser.push(self.drop_if_set(Slot::Drop, DropReason::Ingress));
        deparser.extend(self.punt(Slot::Turn));
        let port = self.var(Slot::DestPort);
        deparser.push(self.enqueue(port, None));
        let queues = vec![stmt(StmtKind::Send { port: self.read(port), limit: None })];
        [deparser, queues].into_iter().collect()
    }
}

// ----------------------------------------------------------------------------------------------- what all decide with

impl Decider<'_> {
    fn enqueue(&self, port: VarId, keeps: Option<FieldListId>) -> Stmt {
        let priority = self.program.architecture.priority;
        let priority = self.known(priority).filter(|_| self.may_request(priority));
        let priority = priority.map_or(Expr::bit(3, 0), |priority| self.read(priority));
        stmt(StmtKind::Enqueue { port: self.read(port), priority, keeps })
    }

    /// Drops packets for which a variable is set.
    fn drop_if_set(&mut self, slot: impl IntrinsicSlot, reason: DropReason) -> Stmt {
        let drop = self.var(slot);
        if_then(self.is_set(drop), StmtKind::Drop(reason))
    }

    /// Punts packets that make a request, if any may.
    fn punt(&self, slot: impl IntrinsicSlot) -> Option<Stmt> {
        let var = self.known(slot).filter(|_| self.may_request(slot))?;
        Some(if_then(self.is_set(var), StmtKind::Punt(slot.number() as u32)))
    }

    fn may_request(&self, slot: impl IntrinsicSlot) -> bool {
        self.program.may_make(|request| request.slot as usize == slot.number())
    }

    /// The variable of a slot, also of one that does not occur in the program.
    fn var(&mut self, slot: impl IntrinsicSlot) -> VarId {
        self.known(slot).unwrap_or_else(|| {
            let info = &self.program.architecture.slots[slot.number()];
            let kind = VarKind::Intrinsic(slot.number() as u32);
            self.program.vars.push(ir::Var { name: info.name.to_owned(), ty: info.ty, kind })
        })
    }

    /// The variable of a slot, if the program has it.
    fn known(&self, slot: impl IntrinsicSlot) -> Option<VarId> {
        self.program.vars.ids().find(|id| self.program.vars[*id].kind == VarKind::Intrinsic(slot.number() as u32))
    }

    fn read(&self, var: VarId) -> Expr {
        Expr { kind: ExprKind::Var(var), ty: self.program.vars[var].ty }
    }

    fn is_set(&self, var: VarId) -> Expr {
        match self.program.vars[var].ty {
            Type::Bool => self.read(var),
            _ => Expr::binary(BinaryOp::Ne, self.read(var), self.number(var, 0)),
        }
    }

    /// A number of a variable's type.
    fn number(&self, var: VarId, number: u64) -> Expr {
        let ty = self.program.vars[var].ty;
        Expr::constant(ty, Bits::from_u64(ty.width(), number))
    }

    fn set(&self, var: VarId, number: u64) -> Stmt {
        assign(var, self.number(var, number))
    }
}

fn stmt(kind: StmtKind) -> Stmt {
    Stmt { kind, span: Span::NONE }
}

fn assign(dst: VarId, src: Expr) -> Stmt {
    stmt(StmtKind::Assign { dst: Place::Var(dst), src })
}

fn if_then(cond: Expr, then: StmtKind) -> Stmt {
    stmt(StmtKind::If { cond, then_body: vec![stmt(then)], else_body: Vec::new() })
}
