//! What is particular to PNA: the directions of its packets.
//!
//! Which ports belong to hosts is known when the program is lowered. Without any, nothing turns round, and directions
//! cost nothing. With some, the parser begins by setting the direction, and the main control ends by finding out
//! whether the packet must turn round:
//!
//! ```text
//! direction = (is_host(input_port) != turned) ? HOST_TO_NET : NET_TO_HOST
//! turn = is_host(dest_port) == (direction == HOST_TO_NET) && dest_port != PNA_PORT_CPU
//! ```

use crate::names::find;
use crate::{Lowered, Lowerer, fold};
use base::{Bits, Span};
use ir::pna::{HOST_TO_NET, NET_TO_HOST, PORT_CPU, Slot};
use ir::{BinaryOp, StmtKind};
use sema::hir;

/// The annotation of `main` that names the ports of hosts.
const HOST_PORTS: &str = "host_ports";

/// The state about a PNA program while it is lowered.
#[derive(Default)]
pub(crate) struct PnaState {
    /// The table whose actions are lowered, if they may add entries to it.
    pub adding: Option<Adding>,
    /// Whether the action that is lowered adds entries.
    pub has_added: bool,
    /// The register from which flow ids come.
    pub flow_ids: Option<ir::RegisterId>,
}

/// A table to which its default action may add entries.
#[derive(Clone)]
pub(crate) struct Adding {
    /// The table, which is made when its actions are.
    pub id: ir::TableId,
    pub declaration: hir::TableId,
    /// The values of the keys that were looked up.
    pub keys: Vec<ir::Expr>,
}

impl<'h> Lowerer<'h> {
    /// Sets which ports belong to hosts.
    pub fn choose_host_ports(&mut self, main: &'h hir::Instance) -> Lowered<()> {
        self.ir.host_ports = match self.host_ports.clone() {
            Some(given) => given,
            None => self.annotated_host_ports(main)?,
        };
        Ok(())
    }

    /// The ports that `@host_ports(...)` of `main` names.
    fn annotated_host_ports(&mut self, main: &'h hir::Instance) -> Lowered<Vec<(u32, u32)>> {
        let Some(annotation) = find(&main.annotations, HOST_PORTS) else { return Ok(Vec::new()) };
        let numbers = annotation.expressions().map(|list| list.iter().map(|expr| self.list_number(expr)).collect());
        let ports = match numbers {
            Some(Some(numbers)) => numbers,
            _ => Vec::<u64>::new(),
        };
        let ports: Option<Vec<u32>> = ports.into_iter().map(|port| u32::try_from(port).ok()).collect();
        match ports {
            Some(ports) if !ports.is_empty() => Ok(ports.into_iter().map(|port| (port, port)).collect()),
            _ => self.unsupported(annotation.span, "host ports that are not given as numbers of ports"),
        }
    }

    // ------------------------------------------------------------------------------------------------- directions

    /// Whether a port belongs to a host.
    pub fn is_host_port(&self, port: &ir::Expr) -> ir::Expr {
        let number = |number: u32| {
            let width = port.ty.width();
            ir::Expr::constant(port.ty, Bits::from_u64(width.max(32), u64::from(number)).resize(width))
        };
        let is_in = |&(first, last): &(u32, u32)| match first == last {
            true => fold::binary(BinaryOp::Eq, port.clone(), number(first)),
            false => {
                let from = fold::binary(BinaryOp::Ge, port.clone(), number(first));
                fold::and(from, fold::binary(BinaryOp::Le, port.clone(), number(last)))
            }
        };
        self.ir.host_ports.iter().map(is_in).fold(ir::Expr::bool(false), fold::or)
    }

    /// At the start of the parser: the direction of a packet.
    pub fn set_direction(&mut self, span: Span) {
        if self.ir.host_ports.is_empty() {
            return;
        }
        let port = self.intrinsic(Slot::InputPort);
        let turned = self.intrinsic(Slot::Turned);
        let direction = self.intrinsic(Slot::Direction);
        let is_host = self.is_host_port(&self.read_var(port));
        let is_from_host = ir::Expr::binary(BinaryOp::Ne, is_host, self.read_var(turned));
        let ty = self.ir.vars[direction].ty;
        let number = |number| ir::Expr::constant(ty, Bits::from_u64(ty.width(), number));
        let src = fold::mux(is_from_host, number(HOST_TO_NET), number(NET_TO_HOST));
        self.emit(StmtKind::Assign { dst: ir::Place::Var(direction), src }, span);
    }

    /// At the end of the main control: whether the packet turns round.
    pub fn find_turn(&mut self, span: Span) {
        let Some(dest) = self.known_intrinsic(Slot::DestPort) else { return };
        if self.ir.host_ports.is_empty() {
            return;
        }
        let dest = self.read_var(dest);
        let direction = self.intrinsic(Slot::Direction);
        let direction = self.read_var(direction);
        let host_to_net = ir::Expr::constant(direction.ty, Bits::from_u64(direction.ty.width(), HOST_TO_NET));
        let is_to_net = fold::binary(BinaryOp::Eq, direction, host_to_net);
        let is_near = ir::Expr::binary(BinaryOp::Eq, self.is_host_port(&dest), is_to_net);
        let cpu = ir::Expr::constant(dest.ty, Bits::from_u64(dest.ty.width(), u64::from(PORT_CPU)));
        let src = fold::and(is_near, fold::binary(BinaryOp::Ne, dest, cpu));
        let turn = self.intrinsic(Slot::Turn);
        self.emit(StmtKind::Assign { dst: ir::Place::Var(turn), src }, span);
    }
}
