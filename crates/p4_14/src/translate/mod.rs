//! The syntax tree of P4_14 to that of P4_16, for v1model.
//!
//! What enters: a [`Program`], and the tree of `core.p4` and `v1model.p4`. What leaves: that tree, followed by the
//! program's translation. Every name of the program becomes a unique name; control-plane names stay the same with
//! `@name(".name")`.
//!
//! * this module: the parts of the result and their order; names; types;
//! * [`exprs`]: fields, conditions, values and their widths;
//! * [`actions`]: actions with their callees inlined, the widths of their parameters; [`primitives`]: the translation
//!   of each primitive; [`last`]: `stack[last]`;
//! * [`lists`]: field lists; [`checksums`]: calculated fields;
//! * [`states`]: the parser and its exceptions; [`deparser`]: the order of the headers;
//! * [`arrays`]: counters, meters, registers, action profiles; [`externs`]; [`tables`]; [`controls`];
//! * [`build`]: builds nodes.

mod actions;
mod arrays;
mod build;
mod checksums;
mod controls;
mod deparser;
mod exprs;
mod externs;
mod last;
mod lists;
mod primitives;
mod states;
mod tables;

use crate::ast::{Ident, Name, Program};
use crate::codes;
use crate::symbols::{Symbols, Table};
use actions::FlatAction;
use base::{OrderedMap, OrderedSet, Span};
use build::Shape;
use syntax::ast as p4;
use syntax::diag::{Diagnostic, Diagnostics};

/// `None` is something that could not be translated; the error has been reported.
type Done<T> = Option<T>;

/// The maximum number of nodes of actions and controls after inlining.
const NODES_MAX: usize = 2_000_000;

/// Names that the translation adds, which no name of the program hides.
struct Own {
    packet: Name,
    headers: Name,
    metadata: Name,
    standard: Name,
    headers_type: Name,
    metadata_type: Name,
    /// Fields of the metadata struct for the translation's own state: the control in which the parser ended, and the
    /// field list with which the packet was resubmitted or cloned.
    entry: Name,
    preserved_list: Name,
}

/// The translation's own state of a packet, as far as the program requires it.
#[derive(Default)]
struct Hidden {
    /// The control in which the parser ended, if there are several.
    has_entry: bool,
    /// The number of the field list with which the packet was resubmitted or cloned. Only programs with initial values
    /// of metadata need it.
    has_preserved_list: bool,
}

pub(crate) struct Translator<'a, 'd> {
    program: &'a Program,
    symbols: Symbols<'a>,
    diagnostics: &'d mut Diagnostics,
    /// Names in use in the outermost scope or as parameters of actions.
    taken: OrderedSet<Name>,
    own: Own,
    hidden: Hidden,
    /// The P4_16 header of each header type with a packet header.
    header_names: OrderedMap<usize, Name>,
    /// The numbers of field lists that are preserved across resubmission, recirculation or cloning.
    list_numbers: OrderedMap<usize, u32>,
    /// The field lists that contain each metadata field, by instance and field.
    preserved: OrderedMap<(usize, usize), OrderedSet<u32>>,
    /// Structs of digests, by field list.
    digests: OrderedMap<usize, Name>,
    /// Declarations between the types and the blocks.
    objects: Vec<p4::Declaration>,
    /// The names of counters, meters and registers, by their index.
    array_names: OrderedMap<usize, Name>,
    profile_names: OrderedMap<usize, Name>,
    extern_names: OrderedMap<usize, Name>,
    action_names: OrderedMap<usize, Name>,
    table_names: OrderedMap<usize, Name>,
    flat_actions: Vec<FlatAction>,
    /// Actions that other actions call.
    called_actions: OrderedSet<usize>,
    /// The tables of ingress.
    ingress_tables: OrderedSet<usize>,
    /// The statements that set the initial values of metadata, if clones need them in egress.
    initial_values: Vec<p4::Statement>,
    /// The errors to add to P4_16's `error`, in order.
    errors: Vec<Ident>,
    /// The number of nodes so far, limited by [`NODES_MAX`].
    nodes: usize,
    /// The current nesting depth of expressions.
    depth: u32,
}

/// Translates a program. The tree is complete if `diagnostics` has no errors.
pub(crate) fn translate(program: &Program, prelude: p4::Program, diagnostics: &mut Diagnostics) -> p4::Program {
    let symbols = crate::symbols::collect(program, diagnostics);
    let mut taken = names_of(&prelude);
    let parameters = program.actions.iter().flat_map(|action| &action.parameters);
    taken.extend(parameters.map(|parameter| parameter.name.name.clone()));
    let mut fresh = |wanted: &str| fresh_name(&mut taken, wanted);
    let [entry, preserved_list] = hidden_fields(program);
    let own = Own {
        packet: fresh("packet"),
        headers: fresh("hdr"),
        metadata: fresh("meta"),
        standard: fresh("standard_metadata"),
        headers_type: fresh("headers"),
        metadata_type: fresh("metadata"),
        entry,
        preserved_list,
    };
    let mut translator = Translator {
        program,
        symbols,
        diagnostics,
        taken,
        own,
        hidden: Hidden::default(),
        header_names: OrderedMap::new(),
        list_numbers: OrderedMap::new(),
        preserved: OrderedMap::new(),
        digests: OrderedMap::new(),
        objects: Vec::new(),
        array_names: OrderedMap::new(),
        profile_names: OrderedMap::new(),
        extern_names: OrderedMap::new(),
        action_names: OrderedMap::new(),
        table_names: OrderedMap::new(),
        flat_actions: Vec::new(),
        called_actions: OrderedSet::new(),
        ingress_tables: OrderedSet::new(),
        initial_values: Vec::new(),
        errors: Vec::new(),
        nodes: 0,
        depth: 0,
    };
    translator.run(prelude)
}

/// Enum members that P4_14 programs need and the published v1model lacks: the enum and the member.
const EXTRA_MEMBERS: [(&str, &str); 3] =
    [("HashAlgorithm", lists::CCITT), ("CloneType", primitives::I2I), ("CloneType", primitives::E2I)];

/// Functions that v1model does not declare, in its own terms. The lowering knows the names.
pub(crate) const EXTRA_DECLARATIONS: &str = "\
@pure extern void hash_with_payload<O, T, D, M>(out O result, in HashAlgorithm algo, in T base, in D data, in M max);
";

fn add_members(program: &mut p4::Program) {
    for declaration in &mut program.declarations {
        let p4::DeclarationKind::Enum(it) = &mut declaration.kind else { continue };
        for (_, member) in EXTRA_MEMBERS.iter().filter(|(name, _)| *name == it.name.as_str()) {
            let name = build::ident(member, it.name.span);
            it.members.push(p4::EnumMember { name, value: None });
        }
    }
}

/// The names that the outermost scope of the architecture declares.
fn names_of(prelude: &p4::Program) -> OrderedSet<Name> {
    let mut names: OrderedSet<Name> =
        prelude.declarations.iter().filter_map(|it| it.name()).map(|name| name.name.clone()).collect();
    let words = [
        "abstract",
        "action",
        "actions",
        "apply",
        "bit",
        "bool",
        "break",
        "const",
        "continue",
        "control",
        "default",
        "else",
        "entries",
        "enum",
        "error",
        "exit",
        "extern",
        "false",
        "for",
        "header",
        "header_union",
        "if",
        "in",
        "inout",
        "int",
        "key",
        "list",
        "match_kind",
        "out",
        "package",
        "parser",
        "priority",
        "return",
        "select",
        "state",
        "string",
        "struct",
        "switch",
        "table",
        "this",
        "transition",
        "true",
        "tuple",
        "type",
        "typedef",
        "value_set",
        "varbit",
        "void",
        "start",
        "accept",
        "reject",
        "main",
        "_",
    ];
    names.extend(words.into_iter().map(Name::from));
    names
}

/// `wanted`, or with a number appended if that is in use.
fn fresh_name(taken: &mut OrderedSet<Name>, wanted: &str) -> Name {
    let mut name: Name = wanted.into();
    let mut number = 0u32;
    while !taken.insert(name.clone()) {
        name = format!("{wanted}_{number}").into();
        number += 1;
    }
    name
}

/// The names of the metadata struct's own fields, distinct from the names of all instances.
fn hidden_fields(program: &Program) -> [Name; 2] {
    let mut taken: OrderedSet<Name> = program.instances.iter().map(|it| it.name.name.clone()).collect();
    taken.insert("standard_metadata".into());
    ["p4_14_entry", "p4_14_kept_list"].map(|wanted| fresh_name(&mut taken, wanted))
}

// Names and faults.
impl<'a> Translator<'a, '_> {
    fn fresh(&mut self, wanted: &str) -> Name {
        fresh_name(&mut self.taken, wanted)
    }

    /// The P4_16 name of a field, an instance or a parameter: the same as in the program, unless that is a keyword.
    fn spelt(&self, name: &Name) -> Name {
        let mut spelt = name.clone();
        while syntax::is_reserved(&spelt) || (spelt != *name && self.program.words.contains(&spelt)) {
            spelt = format!("{spelt}_").into();
        }
        spelt
    }

    fn spelt_ident(&self, name: &Ident) -> Ident {
        Ident { name: self.spelt(&name.name), span: name.span }
    }

    fn error<T>(&mut self, code: &'static str, span: Span, message: impl Into<String>) -> Done<T> {
        self.diagnostics.push(Diagnostic::error(code, span, message));
        None
    }

    fn warn(&mut self, code: &'static str, span: Span, message: impl Into<String>) {
        self.diagnostics.push(Diagnostic::warning(code, span, message));
    }

    /// The declaration that a name refers to.
    fn lookup(
        &mut self,
        table: impl for<'s> Fn(&'s Symbols<'a>) -> &'s Table,
        name: &Ident,
        kind: &str,
    ) -> Done<usize> {
        if let Some(&index) = table(&self.symbols).get(&name.name) {
            return Some(index);
        }
        let article = if kind.starts_with(['a', 'e', 'i']) { "an" } else { "a" };
        let other = self.other_meaning(&name.name);
        let (code, message) = match other {
            Some(other) => (codes::WRONG_KIND, format!("`{}` is {other}, not {article} {kind}", name.name)),
            None => (codes::UNKNOWN_NAME, format!("there is no {kind} `{}`", name.name)),
        };
        let names: Vec<Name> = table(&self.symbols).keys().cloned().collect();
        let mut diagnostic = Diagnostic::error(code, name.span, message);
        if let Some(near) = nearest(&name.name, &names) {
            diagnostic = diagnostic.help(format!("did you mean `{near}`?"));
        } else if matches!(name.as_str(), "intrinsic_metadata" | "queueing_metadata") {
            let help = format!(
                "the program declares it: `header_type {0}_t {{ fields {{ ... }} }} metadata {0}_t {0};`",
                name.name
            );
            diagnostic = diagnostic.help(help);
        }
        self.diagnostics.push(diagnostic);
        None
    }

    /// The kinds of declaration that a name has in other name spaces.
    fn other_meaning(&self, name: &str) -> Option<&'static str> {
        let symbols = &self.symbols;
        let kinds: [(&Table, &'static str); 15] = [
            (&symbols.instances, "a header or metadata instance"),
            (&symbols.header_types, "a header type"),
            (&symbols.field_lists, "a field list"),
            (&symbols.calculations, "a calculation"),
            (&symbols.actions, "an action"),
            (&symbols.tables, "a table"),
            (&symbols.controls, "a control"),
            (&symbols.states, "a parser state"),
            (&symbols.counters, "a counter"),
            (&symbols.meters, "a meter"),
            (&symbols.registers, "a register"),
            (&symbols.profiles, "an action profile"),
            (&symbols.selectors, "an action selector"),
            (&symbols.value_sets, "a value set"),
            (&symbols.exceptions, "an exception"),
        ];
        kinds.iter().find(|(table, _)| table.contains_key(name)).map(|(_, kind)| *kind)
    }

    /// Counts nodes; reports an error once if there are too many.
    fn count_nodes(&mut self, nodes: usize, span: Span) -> Done<()> {
        let was_too_large = self.nodes > NODES_MAX;
        self.nodes = self.nodes.saturating_add(nodes);
        if was_too_large {
            return None;
        }
        if self.nodes > NODES_MAX {
            let message = "actions and controls grow too large when what they call is put in its place";
            return self.error(codes::PROGRAM_TOO_LARGE, span, message);
        }
        Some(())
    }
}

/// The most similar name, if it is similar enough to be a misspelling.
fn nearest<'n>(name: &str, names: &'n [Name]) -> Option<&'n Name> {
    let distance = |other: &str| {
        let (a, b): (Vec<char>, Vec<char>) = (name.chars().collect(), other.chars().collect());
        if a.len().abs_diff(b.len()) > 2 || a.len() > 64 {
            return usize::MAX;
        }
        let mut row: Vec<usize> = (0..=b.len()).collect();
        for (i, x) in a.iter().enumerate() {
            let mut diagonal = std::mem::replace(&mut row[0], i + 1);
            for (j, y) in b.iter().enumerate() {
                let least = (diagonal + usize::from(x != y)).min(row[j] + 1).min(row[j + 1] + 1);
                diagonal = std::mem::replace(&mut row[j + 1], least);
            }
        }
        row[b.len()]
    };
    let best = names.iter().min_by_key(|other| distance(other))?;
    (distance(best) <= 2.min(name.chars().count() / 2)).then_some(best)
}

// The whole.
impl<'a> Translator<'a, '_> {
    fn run(&mut self, prelude: p4::Program) -> p4::Program {
        self.flatten_actions();
        for index in 0..self.symbols.types.len() {
            if self.symbols.all_instances.iter().any(|it| !it.is_metadata && it.header_type == index) {
                let wanted = self.symbols.types[index].name.name.clone();
                let name = self.fresh(&wanted);
                self.header_names.insert(index, name);
            }
        }
        self.declare_arrays();
        self.declare_profiles();
        self.declare_externs();
        self.check_selectors();
        let verify = self.checksums(false);
        let update = self.checksums(true);
        let (parser, entries) = self.parser();
        let ingress = self.ingress(&entries);
        let egress = self.egress();
        self.check_unused();
        let deparser = self.deparser();
        let mut program = prelude;
        self.annotate_standard_metadata(&mut program);
        add_members(&mut program);
        let declarations = &mut program.declarations;
        if !self.errors.is_empty() {
            let errors = std::mem::take(&mut self.errors);
            let span = errors[0].span;
            declarations.push(build::declaration(p4::DeclarationKind::Error(errors), span));
        }
        self.types(declarations);
        declarations.append(&mut self.objects);
        let blocks = [parser, verify, ingress, egress, update, deparser];
        let names: Vec<Name> = blocks.iter().filter_map(|it| it.name()).map(|it| it.name.clone()).collect();
        declarations.extend(blocks);
        declarations.push(self.main(&names));
        program
    }

    /// `V1Switch(...) main;`
    fn main(&self, blocks: &[Name]) -> p4::Declaration {
        let span = self.program.end;
        let construct = |name: &Name| {
            let ty = build::named_type(name, span);
            build::call(p4::Expr { kind: p4::ExprKind::Type(Box::new(ty)), span }, Vec::new(), span)
        };
        let main = p4::Instantiation {
            type_ref: build::named_type("V1Switch", span),
            arguments: blocks.iter().map(|name| build::argument(construct(name))).collect(),
            name: build::ident("main", span),
            initializer: None,
        };
        build::declaration(p4::DeclarationKind::Instantiation(main), span)
    }

    /// Header types, and the structs of all headers and of all metadata.
    fn types(&mut self, declarations: &mut Vec<p4::Declaration>) {
        for (&index, name) in &self.header_names {
            let header = &self.symbols.types[index];
            let fields = header.fields.iter().map(|field| {
                let span = field.name.span;
                let shape = Shape { width: field.width, is_signed: field.is_signed };
                let ty = match field.is_variable {
                    true => build::varbit_type(field.width, span),
                    false => build::bit_type(shape, span),
                };
                build::field(ty, &self.spelt_ident(&field.name), Vec::new())
            });
            let span = header.name.span;
            let mut record = build::record(p4::StructKind::Header, name, fields.collect(), span);
            record.annotations = build::pragmas(header.pragmas);
            declarations.push(record);
        }
        let mut headers = Vec::new();
        for instance in self.symbols.all_instances.iter().filter(|it| !it.is_metadata) {
            let span = instance.name.span;
            let Some(name) = self.header_names.get(&instance.header_type) else { continue };
            let ty = build::named_type(name, span);
            let ty = match instance.size {
                Some(size) => build::array_type(ty, size, span),
                None => ty,
            };
            headers.push(build::field(ty, &self.spelt_ident(&instance.name), Vec::new()));
        }
        let metadata = self.metadata_fields(declarations);
        let end = self.program.end;
        declarations.push(build::record(p4::StructKind::Struct, &self.own.headers_type, headers, end));
        declarations.push(build::record(p4::StructKind::Struct, &self.own.metadata_type, metadata, end));
    }

    /// A struct for each metadata instance, with the fields that do not correspond to intrinsic metadata.
    fn metadata_fields(&mut self, declarations: &mut Vec<p4::Declaration>) -> Vec<p4::StructField> {
        let mut result = Vec::new();
        let instances = self.symbols.all_instances.clone();
        for (position, instance) in instances.iter().enumerate().filter(|(_, it)| it.is_metadata) {
            let header = &self.symbols.types[instance.header_type];
            let mut fields = Vec::new();
            for (field_position, field) in header.fields.iter().enumerate() {
                if exprs::intrinsic(&instance.name.name, &field.name.name).is_some() || field.is_variable {
                    continue;
                }
                let span = field.name.span;
                let lists = self.preserved.get(&(position, field_position));
                let annotations =
                    lists.map(|lists| build::field_list_annotation(lists.iter().copied(), span)).into_iter().collect();
                let shape = Shape { width: field.width, is_signed: field.is_signed };
                fields.push(build::field(build::bit_type(shape, span), &self.spelt_ident(&field.name), annotations));
            }
            if fields.is_empty() {
                continue;
            }
            let wanted = header.name.name.clone();
            let span = header.name.span;
            let name = self.fresh(&wanted);
            declarations.push(build::record(p4::StructKind::Struct, &name, fields, span));
            let field = self.spelt_ident(&instance.name);
            result.push(build::field(build::named_type(&name, span), &field, Vec::new()));
        }
        let span = self.program.end;
        let mut hide = |name: &Name, annotations| {
            let field = Ident { name: name.clone(), span };
            result.push(build::field(build::bit_type(Shape::bits(8), span), &field, annotations));
        };
        if self.hidden.has_entry {
            hide(&self.own.entry, Vec::new());
        }
        if self.hidden.has_preserved_list {
            hide(
                &self.own.preserved_list,
                vec![build::field_list_annotation(self.list_numbers.values().copied(), span)],
            );
        }
        result
    }

    /// Annotates the fields of v1model's metadata that field lists preserve.
    fn annotate_standard_metadata(&mut self, program: &mut p4::Program) {
        let mut lists: OrderedMap<&'static str, OrderedSet<u32>> = OrderedMap::new();
        for (&(instance, field), numbers) in &self.preserved {
            let instance = &self.symbols.all_instances[instance];
            let field = &self.symbols.types[instance.header_type].fields[field];
            if let Some((name, _)) = exprs::intrinsic(&instance.name.name, &field.name.name)
                && !lists::SET_ANEW.contains(&name)
            {
                lists.entry(name).or_default().extend(numbers);
            }
        }
        for declaration in &mut program.declarations {
            let p4::DeclarationKind::Struct(it) = &mut declaration.kind else { continue };
            if it.name.as_str() != "standard_metadata_t" {
                continue;
            }
            for field in &mut it.fields {
                if let Some(numbers) = lists.get(field.name.as_str()) {
                    let annotation = build::field_list_annotation(numbers.iter().copied(), field.span);
                    field.annotations.push(annotation);
                }
            }
        }
    }

    /// The parameters `inout headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata`; the last
    /// only if the block has it.
    fn block_parameters(&self, has_standard: bool, span: Span) -> Vec<p4::Parameter> {
        let own = &self.own;
        let named =
            |ty: &str, name: &str| build::parameter(p4::Direction::InOut, build::named_type(ty, span), name, span);
        let mut parameters = vec![named(&own.headers_type, &own.headers), named(&own.metadata_type, &own.metadata)];
        if has_standard {
            parameters.push(named("standard_metadata_t", &own.standard));
        }
        parameters
    }

    /// `control name(parameters) { locals apply { statements } }`
    fn control_block(
        &mut self,
        wanted: &str,
        parameters: Vec<p4::Parameter>,
        locals: Vec<p4::Declaration>,
        statements: Vec<p4::Statement>,
        span: Span,
    ) -> p4::Declaration {
        let name = Ident { name: self.fresh(wanted), span };
        let signature = p4::ApplyType { name, type_parameters: Vec::new(), parameters };
        let body = build::block(statements, span);
        let control = p4::ControlDeclaration { signature, constructor_parameters: Vec::new(), locals, body };
        build::declaration(p4::DeclarationKind::Control(control), span)
    }
}
