//! Extern objects and functions: those of core.p4 ([`core`]), of v1model ([`v1model`]) and of PSA ([`psa`]). PNA has
//! functions of its own ([`pna`]), and PSA's objects. Shared by architectures are [`hashes`], and the action profiles
//! of tables ([`profiles`]).
//!
//! These are known by name. A plug-in implements a program's own externs ([`own`]).

mod bits;
mod coalescing;
mod core;
mod digests;
pub(crate) mod hashes;
mod own;
mod pna;
mod profiles;
pub(crate) mod psa;
mod registers;
mod remainders;
pub(crate) mod v1model;

use crate::architecture::Package;
use crate::objects::{ObjectId, ObjectKind};
use crate::values::Value;
use crate::{Lowered, Lowerer};
use base::{OrderedMap, OrderedSet, Span};
use sema::hir::{self, Call, Type};

/// An extern object.
#[derive(Clone, Debug)]
pub(crate) struct ExternObject {
    /// Its type.
    pub id: hir::ExternId,
    pub kind: ExternKind,
    /// Whether a table names it in its properties, so that its uses in actions do not attach it to another table.
    pub is_attached: bool,
}

/// The IR's form of an extern object.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ExternKind {
    PacketIn,
    PacketOut,
    Register(ir::RegisterId),
    Counter(ir::CounterId),
    Meter(ir::MeterId),
    DirectCounter(ir::DirectCounterId),
    DirectMeter(ir::DirectMeterId),
    Checksum16,
    ActionProfile(ir::ActionProfileId),
    /// PSA's engines, which a program names but cannot use.
    Engine,
    /// By position in [`psa::Objects`].
    Random(usize),
    /// With the type of its result.
    Hash(ir::HashAlgorithm, ir::Type),
    Checksum(ir::HashAlgorithm, ir::Type),
    InternetChecksum,
    Digest(ir::DigestId),
    /// The program's own, by its position in [`ExternState::own`].
    Own(usize),
}

/// The arguments that an extern object is made from.
pub(crate) struct Construction {
    pub id: hir::ExternId,
    pub type_args: Vec<Type>,
    pub constructor: usize,
    pub args: Vec<Option<Value>>,
    pub span: Span,
}

/// Use of a direct object in an action.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum DirectUse {
    Counter(ir::DirectCounterId),
    Meter(ir::DirectMeterId),
}

/// The state of the externs while a program is lowered.
#[derive(Default)]
pub(crate) struct ExternState {
    /// Uses in the action that is being lowered.
    pub direct_uses: Vec<DirectUse>,
    /// All of them, with their places.
    pub direct_calls: Vec<(DirectUse, Span)>,
    /// Uses in the actions that have been lowered.
    pub action_uses: OrderedMap<ir::ActionId, Vec<DirectUse>>,
    /// The headers of the packet; others are metadata or local.
    pub packet_headers: OrderedSet<ir::HeaderId>,
    pub blocks: crate::architecture::BlockStorage,
    pub v1model: v1model::V1ModelState,
    pub hashes: hashes::HashState,
    pub profiles: profiles::ProfileState,
    pub psa: crate::psa::PsaState,
    pub pna: crate::pna::PnaState,
    pub psa_objects: psa::Objects,
    /// Objects of the program's own.
    pub own: Vec<own::OwnObject>,
    /// Objects whose instance implements methods in P4: the object whose code it is declared in, and the instance.
    pub implemented: OrderedMap<ObjectId, (ObjectId, hir::InstanceId)>,
    /// The object of `this`.
    pub this: Option<ObjectId>,
}

impl<'h> Lowerer<'h> {
    /// Makes an extern object with this control-plane name.
    pub fn construct_extern(&mut self, made: Construction, name: &str) -> Lowered<ExternObject> {
        let type_name = self.hir.externs[made.id].name.clone();
        let id = made.id;
        let kind = match self.package {
            Package::V1Model => self.construct_v1model(&type_name, &made, name)?,
            Package::Psa | Package::Pna => self.construct_psa(&type_name, &made, name)?,
        };
        Ok(match kind {
            Some(kind) => ExternObject { id, kind, is_attached: false },
            None => self.construct_own(made, name),
        })
    }

    /// Calls a method of an extern object.
    pub fn call_method(
        &mut self,
        id: ObjectId,
        method: usize,
        call: &'h Call,
        ty: &Type,
        span: Span,
    ) -> Lowered<Value> {
        let ObjectKind::Extern(object) = &self.objects[id].kind else {
            return self.unsupported(span, "a method of this object");
        };
        if let ExternKind::Own(_) = object.kind {
            return self.call_own_method(id, method, call, ty, span);
        }
        let object = object.clone();
        let declaration = &self.hir.externs[object.id];
        let Some(method) = declaration.methods.get(method) else { return Err(crate::Refused) };
        let done = match object.kind {
            ExternKind::PacketIn | ExternKind::PacketOut => self.call_packet_method(&method.name, call, ty, span)?,
            _ if self.package != Package::V1Model => self.call_psa_method(id, &object, &method.name, call, ty, span)?,
            _ => self.call_v1model_method(&object, &method.name, call, ty, span)?,
        };
        match done {
            Some(value) => Ok(value),
            None => self.unsupported(span, format!("method `{}` of `{}`", method.name, declaration.name)),
        }
    }

    /// Calls an extern function.
    pub fn call_extern_function(
        &mut self,
        id: hir::FunctionId,
        call: &'h Call,
        ty: &Type,
        span: Span,
    ) -> Lowered<Value> {
        let name = self.hir.functions[id].name.clone();
        if let Some(value) = self.call_core_function(&name, call, span)? {
            return Ok(value);
        }
        if self.package == Package::Pna
            && let Some(value) = self.call_pna_function(&name, call, ty, span)?
        {
            return Ok(value);
        }
        match self.call_v1model_function(&name, call, ty, span)? {
            Some(value) => Ok(value),
            None => self.call_own_function(id, call, ty, span),
        }
    }
}

impl<'h> Lowerer<'h> {
    /// The packet of a parser or deparser.
    pub fn packet_object(&mut self, id: hir::ExternId, span: Span) -> Lowered<ObjectId> {
        let kind = match &*self.hir.externs[id].name {
            "packet_in" => ExternKind::PacketIn,
            "packet_out" => ExternKind::PacketOut,
            name => return self.unsupported(span, format!("a parameter of type `{name}` here")),
        };
        let kind = ObjectKind::Extern(ExternObject { id, kind, is_attached: false });
        Ok(self.objects.push(crate::objects::Object { name: String::new(), kind }))
    }
}
