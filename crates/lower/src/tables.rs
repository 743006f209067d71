//! Tables and their application.

use crate::externs::hashes::draw_into;
use crate::names::{find, full_name};
use crate::values::Value;
use crate::{Lowered, Lowerer, Refused, codes, fold};
use base::limits::TABLE_ENTRIES_MAX;
use base::{MatchKind, Span};
use ir::StmtKind;
use sema::hir::{self, Callee, Expr, ExprKind};
use std::rc::Rc;
use syntax::diag::Diagnostic;

/// The default size of a table.
const SIZE_DEFAULT: u64 = 1024;

/// A table, and the code around every application.
pub(crate) struct LoweredTable<'h> {
    pub id: ir::TableId,
    /// Keys whose evaluation has effects, and those before them: they are evaluated before the table is applied, into
    /// these variables.
    pub keys: EffectKeys<'h>,
    /// The variable for the random number that is drawn before the table is applied.
    pub drawn: Option<ir::VarId>,
    /// The action that runs if an entry refers to a group without members.
    pub empty_group: Option<&'h hir::ActionRef>,
}

/// The keys of a table.
struct Keys<'h> {
    matched: Vec<ir::Key>,
    /// The inputs of a selector's hash.
    selecting: Vec<ir::HashInput>,
    effects: EffectKeys<'h>,
}

/// Variables for keys, and the expressions that are assigned to them.
type EffectKeys<'h> = Vec<(ir::VarId, &'h Expr)>;

/// The properties of tables that the language has and that are written with `=`.
const PROPERTIES: &[&str] = &["default_action", "size", "entries", "largest_priority_wins", "priority_delta"];

impl<'h> Lowerer<'h> {
    /// Applies a table; returns the requested result variables.
    pub fn apply_table(
        &mut self,
        table: &'h Expr,
        wants_hit: bool,
        wants_action: bool,
        span: Span,
    ) -> Lowered<(Option<ir::VarId>, Option<ir::VarId>)> {
        let ExprKind::Table(id) = table.kind else {
            return self.unsupported(table.span, "applying this");
        };
        if self.parser.is_some() {
            return self.refuse(codes::WRONG_BLOCK, span, "a table can only be applied in a control");
        }
        // Neither v1model nor PSA has tables there, and the reference compiler refuses them, too.
        if self.ir.role(self.ir.blocks.next_id()) == ir::BlockRole::Deparser {
            return self.refuse(codes::WRONG_BLOCK, span, "a table cannot be applied in a deparser");
        }
        let table = self.table(id)?;
        for (var, key) in &table.keys {
            let src = self.eval_scalar(key)?;
            self.emit(StmtKind::Assign { dst: ir::Place::Var(*var), src }, key.span);
        }
        if let Some(drawn) = table.drawn {
            self.emit(draw_into(drawn), span);
        }
        let hit = if wants_hit { Some(self.temporary(ir::Type::Bool, span)?) } else { None };
        let asks_action = wants_action || table.empty_group.is_some();
        let action = if asks_action { Some(self.temporary(ir::Type::Bit(32), span)?) } else { None };
        self.emit(StmtKind::ApplyTable { table: table.id, hit, action }, span);
        if let (Some(reference), Some(action)) = (table.empty_group, action) {
            self.run_for_empty_group(reference, action, span)?;
        }
        self.leave_if_exited(table.id, span)?;
        Ok((hit, action))
    }

    /// Runs an action if none has run, because the entry refers to a group without members.
    fn run_for_empty_group(&mut self, reference: &'h hir::ActionRef, ran: ir::VarId, span: Span) -> Lowered<()> {
        let nothing_ran = fold::binary(ir::BinaryOp::Eq, self.read_var(ran), ir::Expr::bit(32, u64::from(u32::MAX)));
        let (body, ()) = self.collect(|l| {
            let src = ir::Expr::bit(32, reference.position as u64);
            l.emit(StmtKind::Assign { dst: ir::Place::Var(ran), src }, span);
            let params = &l.hir.actions[reference.action].params;
            let args = l.eval_arguments(params, &reference.args)?;
            l.run_action(reference.action, params, args, span).map(|_| ())
        })?;
        self.emit_if(nothing_ran, body, Vec::new(), span);
        Ok(())
    }

    /// As [`Lowerer::apply_table`], for the call `t.apply()` or the table itself.
    pub fn apply_table_of(
        &mut self,
        expr: &'h Expr,
        wants_hit: bool,
        wants_action: bool,
        span: Span,
    ) -> Lowered<(Option<ir::VarId>, Option<ir::VarId>)> {
        match &expr.kind {
            ExprKind::Call(call) => match &call.callee {
                Callee::ApplyTable(table) => self.apply_table(table, wants_hit, wants_action, span),
                _ => self.unsupported(span, "the result of this call"),
            },
            _ => self.apply_table(expr, wants_hit, wants_action, span),
        }
    }

    /// `t.apply().hit`
    pub fn table_hit(&mut self, call: &'h Expr) -> Lowered<ir::Expr> {
        match self.apply_table_of(call, true, false, call.span)? {
            (Some(hit), _) => Ok(self.read_var(hit)),
            _ => Err(Refused),
        }
    }

    /// After the application of a table in an inlined control: leaves if its action exits.
    fn leave_if_exited(&mut self, table: ir::TableId, span: Span) -> Lowered<()> {
        let Some(flag) = self.block.exit_flag else { return Ok(()) };
        let raises = |action: &ir::TableAction| raises(&self.ir.actions[action.action].body, flag);
        if !self.ir.tables[table].actions.iter().any(raises) {
            return Ok(());
        }
        let (body, ()) = self.collect(|l| l.lower_exit(span))?;
        let condition = self.read_var(flag);
        self.emit_if(condition, body, Vec::new(), span);
        Ok(())
    }

    /// The table of the current instance.
    fn table(&mut self, id: hir::TableId) -> Lowered<Rc<LoweredTable<'h>>> {
        let key = (self.object, id);
        if let Some(table) = self.memo.tables.get(&key) {
            return Ok(table.clone());
        }
        let span = self.hir.tables[id].span;
        let table = Rc::new(self.nested(span, |l| l.lower_table(id))?);
        self.memo.tables.insert(key, table.clone());
        Ok(table)
    }

    fn lower_table(&mut self, id: hir::TableId) -> Lowered<LoweredTable<'h>> {
        let declaration = &self.hir.tables[id];
        let name = full_name(&self.objects[self.object].name, &declaration.name, &declaration.annotations);
        let adds = self.adds_on_miss(declaration)?;
        let Keys { matched, selecting, effects } = self.lower_keys(&declaration.keys, adds)?;
        let outer = if adds { self.begin_adding(id, &matched)? } else { self.externs.pna.adding.take() };
        let mut actions = Vec::new();
        for action in &declaration.actions {
            actions.push(ir::TableAction {
                action: self.table_action(action.action.action, &action.action.args)?,
                table_only: find(&action.annotations, "tableonly").is_some(),
                default_only: find(&action.annotations, "defaultonly").is_some(),
            });
        }
        self.externs.pna.adding = outer;
        let default_action = match &declaration.default_action {
            Some(action) => self.action_call(action)?,
            None => self.no_action(declaration, &mut actions),
        };
        let size = match &declaration.size {
            Some(size) => {
                let value = self.eval(size)?;
                self.constant_count(&value, TABLE_ENTRIES_MAX as u64, size.span)?
            }
            None => 0,
        };
        // 0 means no size, as in the reference compiler and in the P4Info.
        let size = if size == 0 { SIZE_DEFAULT } else { size };
        let mut table = ir::Table {
            name,
            entries: self.lower_entries(declaration, &matched)?,
            keys: matched,
            actions,
            const_entries: declaration.const_entries,
            default_action,
            const_default: declaration.const_default,
            size,
            direct_counters: Vec::new(),
            direct_meter: None,
            implementation: None,
            support_timeout: false,
            expires: false,
            adds_on_miss: adds,
            span: declaration.span,
        };
        for property in &declaration.properties {
            self.lower_property(&mut table, property)?;
        }
        self.attach_direct(&mut table)?;
        let drawn = self.set_selector_inputs(&mut table, selecting)?;
        let empty_group = self.empty_group_action(declaration, &table);
        Ok(LoweredTable { id: self.ir.tables.push(table), keys: effects, drawn, empty_group })
    }

    fn lower_property(&mut self, table: &mut ir::Table, property: &'h hir::Property) -> Lowered<()> {
        let is_known = matches!(&*property.name, "largest_priority_wins" | "priority_delta");
        if !is_known && !self.architecture_property(table, property)? {
            let message = format!("the table property `{}` has no meaning here and is ignored", property.name);
            let warning = Diagnostic::warning(codes::IGNORED_PROPERTY, property.span, message);
            let known = PROPERTIES.iter().chain(self.ir.architecture.table_properties).copied();
            self.diagnostics.push(match sema::did_you_mean(&property.name, known) {
                Some(meant) => warning.help(format!("did you mean `{meant}`?")),
                None => warning,
            });
        }
        Ok(())
    }

    /// Lowers the keys; with `keeps_all`, their values stay in variables.
    fn lower_keys(&mut self, keys: &'h [hir::TableKey], keeps_all: bool) -> Lowered<Keys<'h>> {
        let (mut lowered, mut selecting, mut effects) = (Vec::new(), Vec::new(), Vec::new());
        for (position, key) in keys.iter().enumerate() {
            let kind_name = self.hir.match_kinds.get(key.match_kind).cloned().unwrap_or_default();
            if &*kind_name == "selector" {
                selecting.extend(self.selector_key(key, &mut effects)?);
                continue;
            }
            let Some(kind) = MatchKind::named(&kind_name) else {
                return self.unsupported(key.span, format!("the match kind `{kind_name}`"));
            };
            let (statements, value) = self.collect(|l| l.eval_scalar(&key.expr))?;
            // A later key may change the storage that this one reads.
            let is_kept =
                value.as_const().is_none() && keys[position + 1..].iter().any(|key| self.has_effects(&key.expr));
            let expr = if statements.is_empty() && !is_kept && !keeps_all {
                value
            } else {
                let var = self.temporary(value.ty, key.span)?;
                effects.push((var, &key.expr));
                self.read_var(var)
            };
            lowered.push(ir::Key { name: key.name.to_string(), expr, kind });
        }
        let is_prefix = |key: &&hir::TableKey| {
            self.hir.match_kinds.get(key.match_kind).is_some_and(|kind| MatchKind::named(kind) == Some(MatchKind::Lpm))
        };
        // Beside a key that is matched with a mask, prefixes are masks, and the entries have priorities.
        let has_masks = lowered.iter().any(|key| key.kind.has_priority());
        if let (Some(second), false) = (keys.iter().filter(is_prefix).nth(1), has_masks) {
            let message = "a table can have only one key of kind `lpm`, unless there is a `ternary` key, too";
            return self.refuse(codes::CONTROL_PLANE, second.span, message);
        }
        Ok(Keys { matched: lowered, selecting, effects })
    }

    /// A key that is not matched but hashed.
    fn selector_key(&mut self, key: &'h hir::TableKey, effects: &mut EffectKeys<'h>) -> Lowered<Vec<ir::HashInput>> {
        let (statements, value) = self.collect(|l| l.eval(&key.expr))?;
        if statements.is_empty() {
            return self.hash_inputs(&value, key.span);
        }
        let value = self.scalar_value(value, key.span)?;
        let var = self.temporary(value.ty, key.span)?;
        effects.push((var, &key.expr));
        let value = self.read_var(var);
        self.hash_inputs(&Value::Scalar(value), key.span)
    }

    /// An action with values for its control-plane parameters.
    pub fn action_call(&mut self, reference: &'h hir::ActionRef) -> Lowered<ir::ActionCall> {
        let params = &self.hir.actions[reference.action].params;
        let mut args = Vec::new();
        for (param, arg) in params.iter().zip(&reference.args) {
            if self.direction(*param) != syntax::ast::Direction::None {
                continue;
            }
            let Some(arg) = arg else {
                return self.refuse(codes::NOT_CONSTANT, reference.span, "the action's arguments must be given here");
            };
            let value = self.eval(arg)?;
            let value = self.convert(value, &self.hir.vars[*param].ty, arg.span)?;
            for value in self.leaves(&value, arg.span)?.into_iter().filter(|value| value.ty.width() > 0) {
                match value.as_const() {
                    Some(bits) => args.push(bits.clone()),
                    None => return self.refuse(codes::NOT_CONSTANT, arg.span, "this must be known at compile time"),
                }
            }
        }
        Ok(ir::ActionCall { action: reference.position as u32, args })
    }

    /// The default action of a table that names none: one that does nothing, appended to the list if it is not there.
    fn no_action(&mut self, declaration: &hir::Table, actions: &mut Vec<ir::TableAction>) -> ir::ActionCall {
        let is_no_action = |action: &hir::TableAction| {
            let action = &self.hir.actions[action.action.action];
            &*action.name == "NoAction" && action.params.is_empty() && action.body.stmts.is_empty()
        };
        let position = match declaration.actions.iter().position(is_no_action) {
            Some(position) => position,
            None => {
                let name = "NoAction".to_owned();
                let is_it = |action: &ir::Action| action.name == name && action.body.is_empty();
                let known = self.ir.actions.iter_enumerated().find(|(_, action)| is_it(action)).map(|(id, _)| id);
                let action = known.unwrap_or_else(|| {
                    let action = ir::Action {
                        name,
                        params: Vec::new(),
                        empty_params: Vec::new(),
                        body: Vec::new(),
                        span: Span::NONE,
                    };
                    self.ir.actions.push(action)
                });
                actions.push(ir::TableAction { action, table_only: false, default_only: true });
                actions.len() - 1
            }
        };
        ir::ActionCall { action: position as u32, args: Vec::new() }
    }
}

/// Whether the body sets the flag.
fn raises(body: &ir::Body, flag: ir::VarId) -> bool {
    body.iter().any(|stmt| match &stmt.kind {
        StmtKind::Assign { dst, .. } => *dst == ir::Place::Var(flag),
        StmtKind::If { then_body, else_body, .. } => raises(then_body, flag) || raises(else_body, flag),
        StmtKind::Switch { cases, default, .. } => {
            cases.iter().any(|case| raises(&case.body, flag)) || raises(default, flag)
        }
        StmtKind::Block { body, .. } | StmtKind::Loop { body, .. } => raises(body, flag),
        _ => false,
    })
}
