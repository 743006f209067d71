//! From a program to its P4Info.
//!
//! What enters: the typed tree, and the IR that was made from it. What leaves: the same P4Info as the reference
//! compiler's, object for object in the same order. Names, annotations and types come from the tree. The applied
//! tables, sizes and the relations between objects come from the IR, where everything is instantiated.
//!
//! Where the P4Runtime specification and the reference compiler differ, this follows the compiler, with one exception:
//! a value set of an enum has one match field, as the packet has, and not one for each member of the enum.

mod objects;
mod tables;

use crate::annotations::{self, find, is_hidden};
use crate::blocks::{Contents, ExternCall, Object, Placed, contents};
use crate::codes;
use crate::copies::{self, are_copies};
use crate::model::Kind;
use crate::symbols::{Names, Symbols, id_with_prefix};
use crate::types::{Types, flat_fields, substituted};
use base::{OrderedMap, OrderedSet, Span};
use p4runtime_proto::p4::config::v1;
use sema::hir::{self, Type};
use syntax::ast::{Annotation, StructKind};
use syntax::{Diagnostic, Diagnostics};

/// Makes the P4Info of a program without errors. It returns none after an error, which it adds to `diagnostics`: an id
/// or an annotation that P4Runtime does not allow, or something that P4Info cannot represent.
///
/// `program` is the IR from `lower`, before any pass.
pub fn generate(tree: &hir::Program, program: &ir::Program, diagnostics: &mut Diagnostics) -> Option<v1::P4Info> {
    let errors_before = diagnostics.error_count();
    let applied: OrderedSet<&str> = program.tables.iter().map(|table| table.name.as_str()).collect();
    let contents = contents(tree, &|name| applied.contains(name));
    let mut types = Types::new(tree, diagnostics);
    let names = collect(tree, program, &contents, &mut types);
    let symbols = names.finish();
    let tables = program.tables.iter().map(|table| (&*table.name, table)).collect();
    let (actions, info) = (OrderedSet::new(), v1::P4Info::default());
    let mut generator = Generator { tree, program, contents: &contents, symbols, types, tables, actions, info };
    generator.all();
    let Generator { info, types, .. } = generator;
    let has_types = types.info != v1::P4TypeInfo::default() || may_have_types(&info, &contents);
    let info = v1::P4Info { type_info: has_types.then_some(types.info), ..info };
    (diagnostics.error_count() == errors_before).then_some(info)
}

/// Whether the program contains anything that could refer to a type. (An empty type description is useless, but the
/// reference compiler writes it.)
fn may_have_types(info: &v1::P4Info, contents: &Contents) -> bool {
    !info.tables.is_empty()
        || !contents.objects.is_empty()
        || !contents.calls.is_empty()
        || info.actions.iter().any(|action| !action.params.is_empty())
        || info.controller_packet_metadata.iter().any(|header| !header.metadata.is_empty())
}

/// The data type of the digest that a call sends; none if it does not send a digest.
fn digest_of(tree: &hir::Program, call: &ExternCall) -> Option<Type> {
    let is_digest = &*tree.functions[call.function].name == "digest" && call.call.args.len() == 2;
    let ty = is_digest.then(|| call.call.type_args.first()).flatten()?;
    Some(substituted(ty, &call.bound))
}

/// Collects the names of all objects, including hidden ones.
fn collect(tree: &hir::Program, program: &ir::Program, contents: &Contents, types: &mut Types) -> Names {
    check_names_of_actions(tree, contents, types);
    let mut collector = Collector { names: Names::default(), types };
    for action in &contents.actions {
        let declaration = &tree.actions[action.place.id];
        let name = action.place.name(&declaration.name, &declaration.annotations);
        collector.add(Kind::Action, &name, &declaration.annotations, declaration.span);
    }
    for table in &contents.tables {
        let declaration = &tree.tables[table.id];
        let name = table.name(&declaration.name, &declaration.annotations);
        collector.add(Kind::Table, &name, &declaration.annotations, declaration.span);
    }
    for object in &contents.objects {
        if let Some(kind) = kind_of(tree, &object.ty) {
            collector.add(kind, &object.name, object.annotations, object.span);
        }
    }
    for set in &contents.value_sets {
        let declaration = &tree.value_sets[set.id];
        let name = set.name(&declaration.name, &declaration.annotations);
        collector.add(Kind::ValueSet, &name, &declaration.annotations, declaration.span);
    }
    let mut sent: OrderedMap<String, Type> = OrderedMap::new();
    for call in &contents.calls {
        if let Some(ty) = digest_of(tree, call) {
            let name = sema::digest_name(tree, call.call, &ty);
            if *sent.entry(name.clone()).or_insert_with(|| ty.clone()) != ty {
                let message = format!("digests of two types are called `{name}` for controllers");
                let diagnostic = Diagnostic::error(codes::ID, call.span, message)
                    .label("not the type of the first one")
                    .help("send structs with different names");
                collector.types.diagnostics.push(diagnostic);
            }
            collector.names.add(Kind::Digest, &name, None);
        }
    }
    // Objects made in a table's property have no declaration. Adding the others again changes nothing.
    for table in program.tables.iter() {
        if let Some(used) = &table.implementation {
            collector.names.add(Kind::ActionProfile, &program.action_profiles[used.profile].name, None);
        }
        for counter in &table.direct_counters {
            collector.names.add(Kind::DirectCounter, &program.direct_counters[*counter].name, None);
        }
        if let Some((meter, _)) = &table.direct_meter {
            collector.names.add(Kind::DirectMeter, &program.direct_meters[*meter].name, None);
        }
    }
    for (_, header) in controller_headers(tree) {
        let name = annotations::full_name("", &header.name, &header.annotations);
        collector.add(Kind::ControllerHeader, &name, &header.annotations, header.span);
    }
    collector.names
}

/// Reports two actions with the same name: the program may have them, but controllers could not distinguish them.
/// Actions whose names begin with a dot are copies of one action, as programs translated from P4_14 have them, if they
/// have the same parameters and statements.
fn check_names_of_actions(tree: &hir::Program, contents: &Contents, types: &mut Types) {
    let constants = copies::constants(tree);
    let mut seen: OrderedMap<(bool, String), &Placed<'_, hir::ActionId>> = OrderedMap::new();
    for action in &contents.actions {
        let place = &action.place;
        let declaration = &tree.actions[place.id];
        let given = find(&declaration.annotations, "name").and_then(Annotation::single_string);
        if is_hidden(&declaration.annotations) {
            continue;
        }
        let is_copied = given.is_some_and(|name| name.starts_with('.'));
        let name = place.name(&declaration.name, &declaration.annotations);
        let first = *seen.entry((is_copied, name.clone())).or_insert(place);
        let is_same = match is_copied {
            true => are_copies(tree, &constants, first, place),
            false => first.id == place.id,
        };
        if !is_same {
            let message = format!("two actions are called `{name}` for controllers");
            let diagnostic = Diagnostic::error(codes::ID, declaration.span, message)
                .label("the same name")
                .secondary(tree.actions[first.id].span, "the first one")
                .help("choose another name with `@name(\"...\")`");
            types.diagnostics.push(diagnostic);
        }
    }
}

struct Collector<'c, 'h, 'd> {
    names: Names,
    types: &'c mut Types<'h, 'd>,
}

impl Collector<'_, '_, '_> {
    fn add(&mut self, kind: Kind, name: &str, annotations: &[Annotation], span: Span) {
        let given = match annotations::number(annotations, "id") {
            None => None,
            Some(Ok(given)) => {
                let id = id_with_prefix(kind, given);
                if id.is_none() {
                    let span = annotations::span_of_id(annotations).unwrap_or(span);
                    let message =
                        format!("{given:#010x} is not an id of {}: its first eight bits say so", kind.with_article());
                    self.types.diagnostics.push(Diagnostic::error(codes::ID, span, message));
                }
                id
            }
            Some(Err(annotation)) => {
                let message = "`@id` takes a number of 32 bits";
                self.types.diagnostics.push(Diagnostic::error(codes::ID, annotation.span, message));
                None
            }
        };
        if !self.names.add(kind, name, given) {
            let span = annotations::span_of_id(annotations).unwrap_or(span);
            let message = format!("the id of `{name}` is that of something else");
            self.types.diagnostics.push(Diagnostic::error(codes::ID, span, message));
        }
    }
}

/// The kind of an object, by the name of its extern type in v1model or PSA. None for types that controllers do not see.
fn kind_of(tree: &hir::Program, ty: &Type) -> Option<Kind> {
    let Type::Extern(id, _) = ty else { return None };
    Some(match &*tree.externs[*id].name {
        "counter" | "Counter" => Kind::Counter,
        "direct_counter" | "DirectCounter" => Kind::DirectCounter,
        "meter" | "Meter" => Kind::Meter,
        "direct_meter" | "DirectMeter" => Kind::DirectMeter,
        "register" | "Register" => Kind::Register,
        "action_profile" | "ActionProfile" | "action_selector" | "ActionSelector" => Kind::ActionProfile,
        "Digest" => Kind::Digest,
        _ => return None,
    })
}

/// The headers of packets from and to controllers.
fn controller_headers(tree: &hir::Program) -> impl Iterator<Item = (hir::StructId, &hir::Struct)> {
    let is_one = |header: &hir::Struct| {
        header.kind == StructKind::Header && find(&header.annotations, "controller_header").is_some()
    };
    tree.structs.iter_enumerated().filter(move |(_, header)| is_one(header))
}

struct Generator<'g, 'h, 'd> {
    tree: &'h hir::Program,
    program: &'g ir::Program,
    contents: &'g Contents<'h>,
    symbols: Symbols,
    types: Types<'h, 'd>,
    /// The lowered tables, by name.
    tables: OrderedMap<&'g str, &'g ir::Table>,
    /// The ids of the actions in `info`.
    actions: OrderedSet<u32>,
    info: v1::P4Info,
}

impl Generator<'_, '_, '_> {
    fn all(&mut self) {
        let contents = self.contents;
        contents.actions.iter().for_each(|action| self.action(action));
        contents.tables.iter().for_each(|table| self.table(table));
        contents.objects.iter().for_each(|object| self.object(object));
        contents.value_sets.iter().for_each(|set| self.value_set(set));
        for call in &contents.calls {
            if let Some(ty) = digest_of(self.tree, call) {
                self.digest_call(call.call, &ty);
            }
        }
        for (id, header) in controller_headers(self.tree) {
            self.controller_header(id, header);
        }
        self.info.pkg_info = self.package();
        self.check_names();
    }

    fn preamble(&self, kind: Kind, name: &str, annotations: &[Annotation], without: &[&str]) -> Option<v1::Preamble> {
        let listed = annotations::listed(self.tree, annotations, without);
        Some(v1::Preamble {
            id: self.symbols.id(kind, name),
            name: name.to_owned(),
            alias: self.symbols.alias(name),
            annotations: listed.plain,
            annotation_locations: Vec::new(),
            doc: annotations::documentation(annotations),
            structured_annotations: listed.structured,
        })
    }

    fn error(&mut self, code: &'static str, span: Span, message: String) {
        self.types.diagnostics.push(Diagnostic::error(code, span, message));
    }

    fn controller_header(&mut self, id: hir::StructId, header: &hir::Struct) {
        if is_hidden(&header.annotations) {
            return;
        }
        let annotation = find(&header.annotations, "controller_header");
        let Some(name) = annotation.and_then(Annotation::single_string) else {
            let span = annotation.map_or(header.span, |annotation| annotation.span);
            return self.error(codes::ANNOTATION, span, "`@controller_header` takes one string".to_owned());
        };
        let own_name = annotations::full_name("", &header.name, &header.annotations);
        let mut preamble = self.preamble(Kind::ControllerHeader, &own_name, &header.annotations, &[]);
        if let Some(preamble) = &mut preamble {
            (preamble.name, preamble.alias) = (name.to_owned(), name.to_owned());
        }
        let fields = flat_fields(self.tree, id, &[]);
        let all: Vec<Vec<Annotation>> =
            fields.iter().map(|field| field.annotations.iter().map(|it| (*it).clone()).collect()).collect();
        let ids = self.field_ids(all.iter().map(Vec::as_slice), header.span);
        let mut metadata = Vec::new();
        for ((field, annotations), id) in fields.iter().zip(&all).zip(ids) {
            if is_hidden(annotations) {
                continue;
            }
            let listed = annotations::listed(self.tree, annotations, &[]);
            metadata.push(v1::controller_packet_metadata::Metadata {
                id,
                name: field.name.clone(),
                annotations: listed.plain,
                annotation_locations: Vec::new(),
                bitwidth: self.types.width(&field.ty),
                type_name: self.types.named(&field.ty),
                structured_annotations: listed.structured,
            });
        }
        self.info.controller_packet_metadata.push(v1::ControllerPacketMetadata { preamble, metadata });
    }

    /// Assigns ids within an object: those from `@id`, and numbers from 1 for the others.
    fn field_ids<'a>(&mut self, annotations: impl Iterator<Item = &'a [Annotation]>, span: Span) -> Vec<u32> {
        let mut given = Vec::new();
        let mut taken = OrderedSet::new();
        for annotations in annotations {
            let id = match annotations::number(annotations, "id") {
                None => None,
                Some(Ok(id)) => Some(id),
                Some(Err(_)) => Some(0),
            };
            if let Some(id) = id
                && (id == 0 || !taken.insert(id))
            {
                let message = if id == 0 { "an `@id` here is a number from 1 on" } else { "two have the same `@id`" };
                let span = annotations::span_of_id(annotations).unwrap_or(span);
                self.error(codes::ID, span, message.to_owned());
            }
            given.push(id);
        }
        let mut next = 1;
        let mut ids = Vec::new();
        for id in given {
            ids.push(match id {
                // Skips a number for each element that has an id already.
                Some(id) => {
                    next += 1;
                    id
                }
                None => {
                    while !taken.insert(next) {
                        next += 1;
                    }
                    next
                }
            });
        }
        ids
    }

    /// The information about the whole program.
    fn package(&mut self) -> Option<v1::PkgInfo> {
        let main = &self.tree.instances[self.tree.main?];
        let arch = self.program.architecture.name;
        let listed = annotations::listed(self.tree, &main.annotations, &["pkginfo", "platform_property"]);
        let mut package = v1::PkgInfo {
            arch: arch.to_owned(),
            annotations: listed.plain,
            structured_annotations: listed.structured,
            doc: annotations::documentation(&main.annotations),
            ..Default::default()
        };
        for annotation in main.annotations.iter().filter(|annotation| annotation.name.as_str() == "pkginfo") {
            for (key, value) in annotations::pairs(annotation) {
                let Some(text) = value.string() else {
                    let message = format!("`{key}` of `@pkginfo` takes a string");
                    self.error(codes::ANNOTATION, annotation.span, message);
                    continue;
                };
                match &*key {
                    "name" => package.name = text,
                    "version" => package.version = text,
                    "organization" => package.organization = text,
                    "contact" => package.contact = text,
                    "url" => package.url = text,
                    "arch" => package.arch = text,
                    _ => {}
                }
            }
        }
        for annotation in main.annotations.iter().filter(|annotation| annotation.name.as_str() == "platform_property") {
            let properties = package.platform_properties.get_or_insert_default();
            for (key, value) in annotations::pairs(annotation) {
                let number = value.number().unwrap_or(0);
                match &*key {
                    "multicast_group_table_size" => properties.multicast_group_table_size = number,
                    "multicast_group_table_total_replicas" => properties.multicast_group_table_total_replicas = number,
                    "multicast_group_table_max_replicas_per_entry" => {
                        properties.multicast_group_table_max_replicas_per_entry = number;
                    }
                    _ => {}
                }
            }
        }
        Some(package)
    }

    /// Reports two objects of one kind with the same name. (Copies of an action count as one.)
    fn check_names(&mut self) {
        let mut seen = OrderedSet::new();
        let mut twice = Vec::new();
        let mut check = |kind: Kind, preamble: &Option<v1::Preamble>| {
            let name = preamble.as_ref().map_or("", |preamble| &preamble.name);
            if !seen.insert((kind, name.to_owned())) {
                twice.push(format!("two {}s are called `{name}` for controllers", kind.as_str()));
            }
        };
        let info = &self.info;
        info.tables.iter().for_each(|it| check(Kind::Table, &it.preamble));
        info.action_profiles.iter().for_each(|it| check(Kind::ActionProfile, &it.preamble));
        info.counters.iter().for_each(|it| check(Kind::Counter, &it.preamble));
        info.direct_counters.iter().for_each(|it| check(Kind::DirectCounter, &it.preamble));
        info.meters.iter().for_each(|it| check(Kind::Meter, &it.preamble));
        info.direct_meters.iter().for_each(|it| check(Kind::DirectMeter, &it.preamble));
        info.controller_packet_metadata.iter().for_each(|it| check(Kind::ControllerHeader, &it.preamble));
        info.value_sets.iter().for_each(|it| check(Kind::ValueSet, &it.preamble));
        info.registers.iter().for_each(|it| check(Kind::Register, &it.preamble));
        info.digests.iter().for_each(|it| check(Kind::Digest, &it.preamble));
        for message in twice {
            self.error(codes::ID, Span::NONE, message);
        }
    }

    /// The declaration of the object of this kind and name, unless it was made in a table's property.
    fn declared(&self, kind: Kind, name: &str) -> Option<&Object<'_>> {
        self.contents.objects.iter().find(|object| object.name == name && kind_of(self.tree, &object.ty) == Some(kind))
    }

    /// The annotations of the object of this kind and name: from its declaration, or from the table's property that
    /// makes it.
    fn annotations_of(&self, kind: Kind, name: &str) -> &[Annotation] {
        if let Some(object) = self.declared(kind, name) {
            return object.annotations;
        }
        for place in &self.contents.tables {
            let table = &self.tree.tables[place.id];
            let own_name = place.name(&table.name, &table.annotations);
            for property in table.properties.iter().filter(|it| kind_of(self.tree, &it.value.ty) == Some(kind)) {
                // Without `@name` it has the name of the table.
                let given = find(&property.annotations, "name").and_then(Annotation::single_string);
                if given.map_or(own_name.as_str(), |given| given.strip_prefix('.').unwrap_or(given)) == name {
                    return &property.annotations;
                }
            }
        }
        &[]
    }
}
