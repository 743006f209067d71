//! Actions that tables run.

use crate::inline::{Argument, Sight};
use crate::names::{full_name, given_name};
use crate::places::{Binding, Place};
use crate::storage::Life;
use crate::{Lowered, Lowerer, codes};
use sema::hir::{self, Expr};
use std::rc::Rc;

impl<'h> Lowerer<'h> {
    /// The action of a table's list. Made once per instance of the control, unless the table binds arguments to it.
    pub fn table_action(&mut self, id: hir::ActionId, args: &'h [Option<Expr>]) -> Lowered<ir::ActionId> {
        if args.iter().any(Option::is_some) {
            return self.lower_table_action(id, args);
        }
        // `NoAction` and actions like it are shared within the block.
        let is_empty = !self.is_local_action(id) && self.hir.actions[id].body.stmts.is_empty();
        let block = self.frames.first().and_then(|frame| frame.owner);
        let owner = if is_empty { block.unwrap_or(self.object) } else { self.object };
        if let Some(action) = self.memo.actions.get(&(owner, id)) {
            return Ok(*action);
        }
        let outer = std::mem::take(&mut self.externs.pna.has_added);
        let action = self.lower_table_action(id, args)?;
        // An action that adds entries adds them to one table.
        if !std::mem::replace(&mut self.externs.pna.has_added, outer) {
            self.memo.actions.insert((owner, id), action);
        }
        Ok(action)
    }

    fn is_local_action(&self, id: hir::ActionId) -> bool {
        self.memo.actions_of_controls.contains_key(&id)
    }

    fn lower_table_action(&mut self, id: hir::ActionId, args: &'h [Option<Expr>]) -> Lowered<ir::ActionId> {
        let action = &self.hir.actions[id];
        let owner = if self.is_local_action(id) { &self.objects[self.object].name } else { "" };
        let name = full_name(owner, &action.name, &action.annotations);
        let (mut params, mut empty_params) = (Vec::new(), Vec::new());
        let (mut bound_params, mut bound_args) = (Vec::new(), Vec::new());
        for (position, param) in action.params.iter().enumerate() {
            match args.get(position) {
                Some(Some(_)) => {
                    bound_params.push(*param);
                    bound_args.push(position);
                }
                _ => {
                    let own = self.action_param(*param)?;
                    if own.is_empty() {
                        let declaration = &self.hir.vars[*param];
                        let name = given_name(&declaration.annotations).unwrap_or(&declaration.name).to_owned();
                        let position = (params.len() + empty_params.len()) as u32;
                        empty_params.push(ir::EmptyParam { position, name });
                    }
                    params.extend(own);
                }
            }
        }
        let outer_uses = std::mem::take(&mut self.externs.direct_uses);
        let mut frame = self.new_frame(None);
        (frame.is_table_action, frame.repeats) = (true, true);
        let lowered = self.nested(action.span, |l| {
            l.collect(|l| {
                let evaluated = l.eval_bound(action, args, &bound_args)?;
                l.frames.push(frame);
                let copy_outs = l.bind(&bound_params, evaluated, Sight::Everything, action.span);
                let mut frame = l.frames.pop().expect("the frame that was pushed above");
                let copy_outs = copy_outs?;
                frame.copy_outs = copy_outs.clone();
                l.in_frame(frame, action.span, |l| l.lower_block(&action.body))?;
                l.copy_out(&copy_outs, action.span)
            })
        });
        let uses = std::mem::replace(&mut self.externs.direct_uses, outer_uses);
        let (body, ()) = lowered?;
        let id = self.ir.actions.push(ir::Action { name, params, empty_params, body, span: action.span });
        self.externs.action_uses.insert(id, uses);
        Ok(id)
    }

    fn eval_bound(
        &mut self,
        action: &'h hir::Action,
        args: &'h [Option<Expr>],
        positions: &[usize],
    ) -> Lowered<Vec<Argument>> {
        let evaluated = self.eval_arguments(&action.params, args)?.into_iter().enumerate();
        Ok(evaluated.filter(|(position, _)| positions.contains(position)).map(|(_, argument)| argument).collect())
    }

    /// A parameter whose value the control plane sets: one value for each field of a struct.
    fn action_param(&mut self, param: hir::VarId) -> Lowered<Vec<ir::VarId>> {
        let declaration = &self.hir.vars[param];
        let name = given_name(&declaration.annotations).unwrap_or(&declaration.name);
        let place = self.allocate(&declaration.ty, name, Life::Local, declaration.span)?;
        let mut vars = Vec::new();
        if !scalars_of(&place, &mut vars) {
            let message = format!("the control plane cannot give `{name}`, which is not made of plain values");
            return self.refuse(codes::CONTROL_PLANE, declaration.span, message);
        }
        self.env.insert(param, Binding::Place(Rc::new(place)));
        Ok(vars)
    }
}

/// Collects the variables of a place; returns false if it has other parts.
fn scalars_of(place: &Place, vars: &mut Vec<ir::VarId>) -> bool {
    match place {
        Place::Scalar { ty, .. } if ty.width() == 0 => true,
        Place::Scalar { place: ir::Place::Var(var), .. } => {
            vars.push(*var);
            true
        }
        Place::Tuple(items) => items.iter().all(|item| scalars_of(item, vars)),
        _ => false,
    }
}
