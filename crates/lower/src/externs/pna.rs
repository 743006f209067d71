//! The functions and table properties of PNA. Its extern objects are those of PSA.
//!
//! Where a packet goes is an assignment to an intrinsic variable ([`ir::pna`]). An entry that the data plane adds is a
//! statement with everything that the entry needs: the table keeps the values of its keys in variables, and the action
//! is found by its name.

use crate::pna::Adding;
use crate::values::Value;
use crate::{Lowered, Lowerer, Refused, codes, fold};
use base::index::Id as _;
use base::{Bits, MatchKind, Span};
use ir::pna::{HOST_TO_NET, PORT_CPU, Slot};
use ir::{BinaryOp, StmtKind};
use sema::hir::{self, Call, Type};

/// Where entries can be added.
const ADDING_HELP: &str =
    "`add_entry` adds to the table whose default action calls it: give the table `add_on_miss = true`";

/// The parameters of `add_entry`, in the order of the arguments behind a condition.
struct Entry<'h> {
    name: &'h hir::Expr,
    params: &'h hir::Expr,
    profile: Option<&'h hir::Expr>,
}

impl<'h> Lowerer<'h> {
    /// Calls a function that PNA declares; `None` if there is none of this name.
    pub(super) fn call_pna_function(
        &mut self,
        name: &str,
        call: &'h Call,
        ty: &Type,
        span: Span,
    ) -> Lowered<Option<Value>> {
        match name {
            // A packet that is sent round again is dropped only by what comes after that.
            "drop_packet" => {
                self.set_intrinsic(Slot::Drop, 1, span);
                self.set_intrinsic(Slot::Recirculate, 0, span);
            }
            "recirculate" => self.set_intrinsic(Slot::Recirculate, 1, span),
            "send_to_port" => {
                let port = self.scalars_of(call, span)?.remove(0);
                let var = self.intrinsic(Slot::DestPort);
                let src = fold::cast(self.ir.vars[var].ty, port);
                self.emit(StmtKind::Assign { dst: ir::Place::Var(var), src }, span);
                self.set_intrinsic(Slot::Drop, 0, span);
            }
            "mirror_packet" => self.mirror_packet(call, span)?,
            "add_entry" | "add_entry_if" => return Ok(Some(self.add_entry(name, call, ty, span)?)),
            "allocate_flow_id" => return Ok(Some(self.allocate_flow_id(ty, span)?)),
            "set_entry_expire_time" => {
                let profile = self.scalars_of(call, span)?.remove(0);
                self.emit(StmtKind::SetTimer { profile: Some(timer(profile)) }, span);
            }
            "set_entry_expire_time_if" => {
                let [condition, profile] = self.of_two(call, span)?;
                let body = vec![ir::Stmt { kind: StmtKind::SetTimer { profile: Some(timer(profile)) }, span }];
                self.emit_if(condition, body, Vec::new(), span);
            }
            "restart_expire_timer" => self.emit(StmtKind::SetTimer { profile: None }, span),
            "update_expire_info" => {
                let values = <[ir::Expr; 3]>::try_from(self.scalars_of(call, span)?).map_err(|_| Refused)?;
                let [restarts, sets, profile] = values;
                let set = |profile| vec![ir::Stmt { kind: StmtKind::SetTimer { profile }, span }];
                let (body, ()) = self.collect(|l| {
                    l.emit_if(sets, set(Some(timer(profile))), set(None), span);
                    Ok(())
                })?;
                self.emit_if(restarts, body, Vec::new(), span);
            }
            "is_host_port" | "is_net_port" => {
                let port = self.scalars_of(call, span)?.remove(0);
                let is_host = self.is_host_port(&port);
                if name == "is_host_port" {
                    return Ok(Some(Value::Scalar(is_host)));
                }
                let cpu = ir::Expr::constant(port.ty, Bits::from_u64(port.ty.width(), u64::from(PORT_CPU)));
                let is_other = fold::binary(BinaryOp::Ne, port, cpu);
                return Ok(Some(Value::Scalar(fold::and(fold::not(is_host), is_other))));
            }
            "SelectByDirection" => return Ok(Some(self.select_by_direction(call, ty, span)?)),
            _ => return Ok(None),
        }
        Ok(Some(Value::Void))
    }

    /// The arguments of a call, which are scalars, in the order of the parameters.
    fn scalars_of(&mut self, call: &'h Call, span: Span) -> Lowered<Vec<ir::Expr>> {
        let args: Vec<_> = call.args.iter().flatten().collect();
        let values = self.eval_in_order(&args)?;
        let typed = values.into_iter().zip(args).map(|(value, arg)| {
            let value = self.convert(value, &arg.ty, arg.span)?;
            self.scalar_value(value, span)
        });
        let values: Vec<ir::Expr> = typed.collect::<Lowered<_>>()?;
        if values.is_empty() { self.unsupported(span, "leaving out the arguments of this call") } else { Ok(values) }
    }

    fn of_two(&mut self, call: &'h Call, span: Span) -> Lowered<[ir::Expr; 2]> {
        <[ir::Expr; 2]>::try_from(self.scalars_of(call, span)?).map_err(|_| Refused)
    }

    /// Slots that do not exist mirror nothing. The variable of a slot holds the session plus 1.
    fn mirror_packet(&mut self, call: &'h Call, span: Span) -> Lowered<()> {
        let [slot, session] = self.of_two(call, span)?;
        let (slot, session) = (self.pin_expr(slot, span)?, self.pin_expr(session, span)?);
        let wide = ir::Type::Bit(32);
        let request = fold::binary(BinaryOp::Add, fold::cast(wide, session), ir::Expr::bit(32, 1));
        for (number, mirror) in (0..).zip(Slot::MIRRORS) {
            let number = ir::Expr::constant(slot.ty, Bits::from_u64(slot.ty.width(), number));
            let is_it = fold::binary(BinaryOp::Eq, slot.clone(), number);
            if fold::truth(&is_it) == Some(false) {
                continue;
            }
            let var = self.intrinsic(mirror);
            let kind = StmtKind::Assign { dst: ir::Place::Var(var), src: request.clone() };
            self.emit_if(is_it, vec![ir::Stmt { kind, span }], Vec::new(), span);
        }
        Ok(())
    }

    /// A number that no other call got: from a register of one cell that counts.
    fn allocate_flow_id(&mut self, ty: &Type, span: Span) -> Lowered<Value> {
        let ty = self.scalar_or_refuse(ty, span)?;
        let register = *self.externs.pna.flow_ids.get_or_insert_with(|| {
            let name = "allocate_flow_id".to_owned();
            let initial = Bits::zero(ty.width());
            let parts_bits = vec![ty.width()];
            self.ir.registers.push(ir::Register { name, ty, parts_bits, size: 1, initial, is_start_number: false })
        });
        let (id, index) = (self.temporary(ty, span)?, ir::Expr::bit(32, 0));
        self.emit(StmtKind::RegisterRead { dst: ir::Place::Var(id), register, index: index.clone() }, span);
        let one = ir::Expr::constant(ty, Bits::from_u64(ty.width(), 1));
        let value = fold::binary(BinaryOp::Add, self.read_var(id), one);
        self.emit(StmtKind::RegisterWrite { register, index, value }, span);
        Ok(Value::Scalar(self.read_var(id)))
    }

    /// In the version of three blocks, the first argument says whether the packet is from the network; in that of four,
    /// it is the direction.
    fn select_by_direction(&mut self, call: &'h Call, ty: &Type, span: Span) -> Lowered<Value> {
        let args: Vec<_> = call.args.iter().flatten().collect();
        let values = self.eval_in_order(&args)?;
        let [direction, from_net, from_host] = <[Value; 3]>::try_from(values).map_err(|_| Refused)?;
        let direction = self.scalar_value(direction, span)?;
        let is_from_net = match direction.ty {
            ir::Type::Bool => direction,
            ty => {
                let from_host = ir::Expr::constant(ty, Bits::from_u64(ty.width(), HOST_TO_NET));
                fold::binary(BinaryOp::Ne, direction, from_host)
            }
        };
        let (from_net, from_host) = (self.convert(from_net, ty, span)?, self.convert(from_host, ty, span)?);
        let (from_net, from_host) = (self.scalar_value(from_net, span)?, self.scalar_value(from_host, span)?);
        Ok(Value::Scalar(fold::mux(is_from_net, from_net, from_host)))
    }

    // ---------------------------------------------------------------------------------------------- added entries

    /// Whether a table's default action may add entries to it.
    pub(crate) fn adds_on_miss(&mut self, declaration: &'h hir::Table) -> Lowered<bool> {
        let property = declaration.properties.iter().find(|property| &*property.name == "add_on_miss");
        match property {
            Some(property) if self.ir.architecture == &ir::pna::ARCHITECTURE => {
                let value = self.eval_scalar(&property.value)?;
                Ok(fold::truth(&value).unwrap_or(false))
            }
            _ => Ok(false),
        }
    }

    /// Begins with the actions of a table with these keys that may add entries. Returns what there was before.
    pub(crate) fn begin_adding(&mut self, table: hir::TableId, keys: &[ir::Key]) -> Lowered<Option<Adding>> {
        let declaration = &self.hir.tables[table];
        if keys.is_empty() || keys.iter().any(|key| key.kind != MatchKind::Exact) {
            let message = "`add_on_miss` is for tables whose keys are all matched exactly";
            return self.refuse(codes::CONTROL_PLANE, declaration.span, message);
        }
        if declaration.properties.iter().any(|property| property.name.ends_with("implementation")) {
            let message = "a table with an action profile cannot have entries added by its default action";
            return self.refuse(codes::CONTROL_PLANE, declaration.span, message);
        }
        let keys = keys.iter().map(|key| key.expr.clone()).collect();
        let adding = Adding { id: ir::TableId::from_index(self.ir.tables.len()), declaration: table, keys };
        Ok(self.externs.pna.adding.replace(adding))
    }

    /// `add_entry` and `add_entry_if`, which has a condition before the other arguments.
    fn add_entry(&mut self, name: &str, call: &'h Call, ty: &Type, span: Span) -> Lowered<Value> {
        let args: Vec<&'h hir::Expr> = call.args.iter().flatten().collect();
        let (condition, args) = match &args[..] {
            [condition, rest @ ..] if name == "add_entry_if" => (Some(*condition), rest),
            all => (None, all),
        };
        let [action, params, rest @ ..] = args else {
            return self.unsupported(span, "leaving out an argument of this call");
        };
        let entry = Entry { name: action, params, profile: rest.first().copied() };
        let Some(adding) = self.externs.pna.adding.clone() else {
            let message = "entries cannot be added here";
            let diagnostic = syntax::Diagnostic::error(codes::WRONG_BLOCK, span, message).help(ADDING_HELP);
            self.diagnostics.push(diagnostic);
            return Err(Refused);
        };
        let added = self.temporary(ir::Type::Bool, span)?;
        let condition = condition.map(|condition| self.eval_scalar(condition)).transpose()?;
        let (mut body, ()) = self.collect(|l| l.emit_entry(&adding, &entry, added, span))?;
        if let Some(condition) = condition {
            let src = ir::Expr::bool(false);
            self.emit(StmtKind::Assign { dst: ir::Place::Var(added), src }, span);
            let taken = std::mem::take(&mut body);
            self.emit_if(condition, taken, Vec::new(), span);
        }
        self.body.append(&mut body);
        self.externs.pna.has_added = true;
        let added = self.read_var(added);
        Ok(Value::Scalar(match self.scalar_or_refuse(ty, span)? {
            ir::Type::Bool => added,
            // `ADD_ENTRY_SUCCESS` is 0.
            status => fold::cast(status, fold::mux(added, ir::Expr::bit(1, 0), ir::Expr::bit(1, 1))),
        }))
    }

    /// The statements that add an entry.
    fn emit_entry(&mut self, adding: &Adding, entry: &Entry<'h>, added: ir::VarId, span: Span) -> Lowered<()> {
        let Value::String(name) = self.eval(entry.name)? else {
            return self.refuse(codes::NOT_CONSTANT, entry.name.span, "the name of the action must be a text");
        };
        let declaration = &self.hir.tables[adding.declaration];
        let is_named = |listed: &hir::TableAction| {
            let known = &*self.hir.actions[listed.action.action].name;
            known == &*name || name.rsplit('.').next() == Some(known)
        };
        let Some(position) = declaration.actions.iter().position(is_named) else {
            let message = format!("the table `{}` has no action `{name}`", declaration.name);
            return self.refuse(codes::CONTROL_PLANE, entry.name.span, message);
        };
        let args = self.entry_arguments(&declaration.actions[position].action, entry)?;
        let profile = match entry.profile {
            Some(profile) => timer(self.eval_scalar(profile)?),
            None => self.default_profile(declaration)?,
        };
        let (table, keys) = (adding.id, adding.keys.clone());
        let dst = ir::Place::Var(added);
        self.emit(StmtKind::AddEntry { dst, table, keys, action: position as u32, args, profile }, span);
        let is_requested = self.intrinsic(Slot::Added);
        let kind = StmtKind::Assign { dst: ir::Place::Var(is_requested), src: ir::Expr::bool(true) };
        self.emit_if(self.read_var(added), vec![ir::Stmt { kind, span }], Vec::new(), span);
        Ok(())
    }

    /// The values for the parameters of the entry's action that the table does not bind.
    fn entry_arguments(&mut self, action: &'h hir::ActionRef, entry: &Entry<'h>) -> Lowered<Vec<ir::Expr>> {
        let span = entry.params.span;
        let params = &self.hir.actions[action.action].params;
        let is_free = |position: usize| !matches!(action.args.get(position), Some(Some(_)));
        let free: Vec<hir::VarId> =
            params.iter().enumerate().filter(|(position, _)| is_free(*position)).map(|(_, param)| *param).collect();
        let value = self.eval(entry.params)?;
        let items = match self.convert(value, &entry.params.ty, span)? {
            Value::Tuple(items) => items,
            one => vec![one],
        };
        if items.len() != free.len() {
            let name = &self.hir.actions[action.action].name;
            let message = format!("`{name}` has {} parameters, and {} values are given", free.len(), items.len());
            return self.refuse(codes::CONTROL_PLANE, span, message);
        }
        let mut args = Vec::new();
        for (param, item) in free.into_iter().zip(items) {
            let value = self.convert(item, &self.hir.vars[param].ty, span)?;
            args.extend(self.leaves(&value, span)?.into_iter().filter(|value| value.ty.width() > 0));
        }
        Ok(args)
    }

    /// The profile of entries that are added without one.
    fn default_profile(&mut self, declaration: &'h hir::Table) -> Lowered<ir::Expr> {
        let is_it = |property: &&hir::Property| &*property.name == DEFAULT_PROFILE;
        let Some(property) = declaration.properties.iter().find(is_it) else { return Ok(ir::Expr::bit(8, 0)) };
        let value = self.eval(&property.value)?;
        let number = self.constant_count(&value, u64::from(u8::MAX), property.span)?;
        Ok(ir::Expr::bit(8, number))
    }

    // -------------------------------------------------------------------------------------------------- tables

    /// Applies a property of a table that PNA defines; whether it is one.
    pub(super) fn pna_property(&mut self, table: &mut ir::Table, property: &'h hir::Property) -> Lowered<bool> {
        match &*property.name {
            "pna_direct_counter" | "pna_direct_counters" | "pna_direct_meter" | "pna_direct_meters" => {
                self.attach_listed(table, property)?;
            }
            "pna_idle_timeout" => {
                let value = self.eval(&property.value)?;
                match &*self.member_name(&property.value.ty, &value, property.span)? {
                    "NOTIFY_CONTROL" => table.support_timeout = true,
                    "AUTO_DELETE" => table.expires = true,
                    _ => {}
                }
            }
            "idle_timeout" => table.support_timeout = self.flag(property)?,
            "idle_timeout_with_auto_delete" => table.expires = self.flag(property)?,
            "pna_implementation" | "implementation" => self.implementation(table, property)?,
            // They have been read before the actions were lowered.
            "add_on_miss" | DEFAULT_PROFILE => {}
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn flag(&mut self, property: &'h hir::Property) -> Lowered<bool> {
        let value = self.eval_scalar(&property.value)?;
        Ok(fold::truth(&value).unwrap_or(false))
    }
}

/// The property with the profile of entries that are added without one.
const DEFAULT_PROFILE: &str = "default_idle_timeout_for_data_plane_added_entries";

/// The number of a profile.
fn timer(profile: ir::Expr) -> ir::Expr {
    fold::cast(ir::Type::Bit(8), profile)
}
