//! The meaning of names: every declaration by kind and name, header types with their widths, instances.
//!
//! What enters: the syntax tree. What leaves: [`Symbols`], and errors about names that are declared twice and invalid
//! header types. Kinds have name spaces of their own, as in P4_14: a header may have the name of its type, an action
//! the name of a table.

use crate::ast::{BinaryOperator, Expr, ExprKind, Ident, Name, Pragma, Program, UnaryOperator};
use crate::codes;
use base::limits::{STACK_ELEMENTS_MAX, WIDTH_BITS_MAX};
use base::{OrderedMap, Span};
use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{Signed, ToPrimitive, Zero};
use syntax::diag::{Diagnostic, Diagnostics};

/// The maximum size in bytes of a header whose type does not declare one.
const LENGTH_BYTES_DEFAULT: u64 = 256;

/// A field of a header type.
#[derive(Clone, Debug)]
pub(crate) struct Field {
    pub name: Ident,
    /// In bits; for a field of variable length the maximum.
    pub width: u32,
    pub is_signed: bool,
    pub is_saturating: bool,
    pub is_variable: bool,
}

/// A header type.
#[derive(Clone, Debug)]
pub(crate) struct HeaderType<'a> {
    pub name: Ident,
    pub fields: Vec<Field>,
    /// The length in bytes, which is required if a field has variable length.
    pub length: Option<&'a Expr>,
    pub pragmas: &'a [Pragma],
}

impl HeaderType<'_> {
    /// The index of a field.
    pub(crate) fn field(&self, name: &str) -> Option<usize> {
        self.fields.iter().position(|field| field.name.as_str() == name)
    }

    /// The total width in bits of all fields of fixed width.
    pub(crate) fn fixed_bits(&self) -> u64 {
        self.fields.iter().filter(|field| !field.is_variable).map(|field| u64::from(field.width)).sum()
    }

    /// Whether a field has variable length.
    pub(crate) fn is_variable(&self) -> bool {
        self.fields.iter().any(|field| field.is_variable)
    }
}

/// A header, a stack of headers, or metadata.
#[derive(Clone, Debug)]
pub(crate) struct Instance<'a> {
    pub name: Ident,
    /// The index of its header type.
    pub header_type: usize,
    pub is_metadata: bool,
    /// The number of elements of a stack.
    pub size: Option<u32>,
    pub values: &'a [(Ident, Expr)],
}

/// Declarations of one kind by name.
pub(crate) type Table = OrderedMap<Name, usize>;

/// The meaning of names. The numbers are indices into the tree's lists. Those of header types and instances are indices
/// into `types` and `all_instances`, which also contain the predefined ones.
#[derive(Default)]
pub(crate) struct Symbols<'a> {
    pub types: Vec<HeaderType<'a>>,
    pub all_instances: Vec<Instance<'a>>,
    pub header_types: Table,
    pub instances: Table,
    /// Metadata whose name is also that of a header; `instances` contains the header.
    pub twins: Table,
    pub field_lists: Table,
    pub calculations: Table,
    pub value_sets: Table,
    pub states: Table,
    pub exceptions: Table,
    pub counters: Table,
    pub meters: Table,
    pub registers: Table,
    pub actions: Table,
    pub profiles: Table,
    pub selectors: Table,
    pub tables: Table,
    pub controls: Table,
    pub extern_types: Table,
    pub externs: Table,
}

/// The predefined fields of `standard_metadata`, for programs that do not declare it.
const STANDARD_METADATA: [(&str, u32); 6] = [
    ("ingress_port", 9),
    ("packet_length", 32),
    ("egress_spec", 9),
    ("egress_port", 9),
    ("egress_instance", 32),
    ("instance_type", 32),
];

/// More fields of `standard_metadata`, which exist if the program uses them. The first three occupy space in the
/// metadata; the others are fields of v1model, which the reference compiler makes accessible to P4_14 programs, too.
const STANDARD_METADATA_IF_NAMED: [(&str, u32); 13] = [
    ("parser_status", 8),
    ("parser_error_location", 8),
    ("clone_spec", 32),
    ("checksum_error", 1),
    ("mcast_grp", 16),
    ("egress_rid", 16),
    ("priority", 3),
    ("ingress_global_timestamp", 48),
    ("egress_global_timestamp", 48),
    ("enq_timestamp", 32),
    ("enq_qdepth", 19),
    ("deq_timedelta", 32),
    ("deq_qdepth", 19),
];

/// Collects the declarations.
pub(crate) fn collect<'a>(program: &'a Program, diagnostics: &mut Diagnostics) -> Symbols<'a> {
    use crate::ast::ArrayKind;
    let mut collector = Collector { program, diagnostics, symbols: Symbols::default() };
    collector.header_types();
    collector.instances();
    let mut table = |names: &mut dyn Iterator<Item = (usize, &Ident)>, kind: &str| collector.table(names, kind);
    macro_rules! tables {
        ($($field:ident = $items:expr, $kind:literal;)*) => {
            $(let $field = table(&mut $items, $kind);)*
            let symbols = &mut collector.symbols;
            $(symbols.$field = $field;)*
        };
    }
    let arrays = |kind: ArrayKind| {
        program.arrays.iter().enumerate().filter(move |(_, it)| it.kind == kind).map(|(index, it)| (index, &it.name))
    };
    tables! {
        field_lists = program.field_lists.iter().map(|it| &it.name).enumerate(), "field list";
        calculations = program.calculations.iter().map(|it| &it.name).enumerate(), "calculation";
        value_sets = program.value_sets.iter().map(|it| &it.name).enumerate(), "value set";
        states = program.states.iter().map(|it| &it.name).enumerate(), "parser state";
        exceptions = program.exceptions.iter().map(|it| &it.name).enumerate(), "exception";
        counters = arrays(ArrayKind::Counter), "counter";
        meters = arrays(ArrayKind::Meter), "meter";
        registers = arrays(ArrayKind::Register), "register";
        actions = program.actions.iter().map(|it| &it.name).enumerate(), "action";
        profiles = program.profiles.iter().map(|it| &it.name).enumerate(), "action profile";
        selectors = program.selectors.iter().map(|it| &it.name).enumerate(), "action selector";
        tables = program.tables.iter().map(|it| &it.name).enumerate(), "table";
        controls = program.controls.iter().map(|it| &it.name).enumerate(), "control";
        extern_types = program.extern_types.iter().map(|it| &it.name).enumerate(), "extern type";
        externs = program.externs.iter().map(|it| &it.name).enumerate(), "extern";
    }
    collector.symbols
}

struct Collector<'a, 'd> {
    program: &'a Program,
    diagnostics: &'d mut Diagnostics,
    symbols: Symbols<'a>,
}

impl Symbols<'_> {
    /// The instance of this name that has the field: the header, or the metadata of the same name if the header has no
    /// such field.
    pub(crate) fn instance_with(&self, instance: usize, field: &str) -> usize {
        let it = &self.all_instances[instance];
        match self.twins.get(&it.name.name) {
            Some(&twin) if self.types[it.header_type].field(field).is_none() => twin,
            _ => instance,
        }
    }

    /// The same for a field that must be in metadata.
    pub(crate) fn metadata_with(&self, instance: usize, field: &str) -> usize {
        let twin = self.twins.get(&self.all_instances[instance].name.name).copied();
        twin.filter(|&twin| self.types[self.all_instances[twin].header_type].field(field).is_some()).unwrap_or(instance)
    }
}

impl<'a> Collector<'a, '_> {
    fn error(&mut self, code: &'static str, span: Span, message: impl Into<String>) {
        self.diagnostics.push(Diagnostic::error(code, span, message));
    }

    fn table(&mut self, names: &mut dyn Iterator<Item = (usize, &Ident)>, kind: &str) -> Table {
        let mut table = Table::new();
        let mut spans: OrderedMap<Name, Span> = OrderedMap::new();
        for (index, name) in names {
            if let Some(&first) = spans.get(&name.name) {
                self.diagnostics.push(duplicate(name, kind, first));
                continue;
            }
            spans.insert(name.name.clone(), name.span);
            table.insert(name.name.clone(), index);
        }
        table
    }

    fn header_types(&mut self) {
        let program = self.program;
        for declared in &program.header_types {
            let name = &declared.name;
            if let Some(&first) = self.symbols.header_types.get(&name.name) {
                let first = self.symbols.types[first].name.span;
                self.diagnostics.push(duplicate(name, "header type", first));
                continue;
            }
            let mut header =
                HeaderType { name: name.clone(), fields: Vec::new(), length: None, pragmas: &declared.pragmas };
            let mut seen: OrderedMap<Name, Span> = OrderedMap::new();
            let mut total = 0u64;
            for field in &declared.fields {
                if let Some(&first) = seen.get(&field.name.name) {
                    self.diagnostics.push(duplicate(&field.name, "field", first));
                    continue;
                }
                seen.insert(field.name.name.clone(), field.name.span);
                let width = field.width.as_ref().map_or(0, |width| self.width(width));
                total += u64::from(width);
                header.fields.push(Field {
                    name: field.name.clone(),
                    width,
                    is_signed: field.is_signed,
                    is_saturating: field.is_saturating,
                    is_variable: field.width.is_none(),
                });
            }
            if total > u64::from(WIDTH_BITS_MAX) {
                let message = format!("a header may have {WIDTH_BITS_MAX} bits at most, this one has {total}");
                self.error(codes::OUT_OF_RANGE, name.span, message);
                header.fields.truncate(0);
            }
            self.length(declared, &mut header);
            self.symbols.header_types.insert(name.name.clone(), self.symbols.types.len());
            self.symbols.types.push(header);
        }
    }

    /// A field's width, from 1 to the maximum; 1 after an error.
    fn width(&mut self, width: &Expr) -> u32 {
        match self.count(width, 1, u64::from(WIDTH_BITS_MAX)) {
            Some(width) => width as u32,
            None => 1,
        }
    }

    /// A constant from `least` to `most`.
    fn count(&mut self, expr: &Expr, least: u64, most: u64) -> Option<u64> {
        let Some(value) = fold(expr) else {
            self.error(codes::NOT_CONSTANT, expr.span, "this must be a constant number");
            return None;
        };
        let found = value.to_u64().filter(|value| (least..=most).contains(value));
        if found.is_none() {
            self.error(codes::OUT_OF_RANGE, expr.span, format!("this must be from {least} to {most}, and is {value}"));
        }
        found
    }

    /// The length of a header type with a field of variable length, and that field's maximum width.
    fn length(&mut self, declared: &'a crate::ast::HeaderType, header: &mut HeaderType<'a>) {
        let variable: Vec<usize> = (0..header.fields.len()).filter(|&at| header.fields[at].is_variable).collect();
        let [variable] = variable[..] else {
            if let Some(&second) = variable.get(1) {
                let span = header.fields[second].name.span;
                self.error(codes::VARIABLE_LENGTH, span, "a header may have one field of variable length");
                header.fields.retain(|field| !field.is_variable);
            } else if let Some(length) = declared.length.as_ref().or(declared.max_length.as_ref()) {
                let message = "the length of a header whose fields have fixed widths is known; this is ignored";
                self.diagnostics.push(Diagnostic::warning(codes::LENGTH_IGNORED, length.span, message));
            }
            return;
        };
        let fixed_bits = header.fixed_bits();
        let most = declared.max_length.as_ref().and_then(|most| self.count(most, 1, u64::from(WIDTH_BITS_MAX / 8)));
        let Some(length) = &declared.length else {
            let message = format!("header type `{}` has no `length`", header.name.name);
            self.error(codes::VARIABLE_LENGTH, header.fields[variable].name.span, message);
            header.fields[variable].width = most.map_or(8, |most| (most * 8).saturating_sub(fixed_bits).max(8) as u32);
            return;
        };
        let bytes = most.or_else(|| greatest(length, header)).unwrap_or(LENGTH_BYTES_DEFAULT);
        let bytes = bytes.min(u64::from(WIDTH_BITS_MAX / 8));
        header.fields[variable].width = (bytes * 8).saturating_sub(fixed_bits).max(8) as u32;
        header.length = Some(length);
        self.check_length(length, header, variable);
    }

    /// A length is computed from the fields before the one of variable length.
    fn check_length(&mut self, length: &Expr, header: &HeaderType<'_>, variable: usize) {
        match &length.kind {
            ExprKind::Integer(..) => {}
            ExprKind::Name(name) => match header.field(name) {
                Some(field) if field < variable => {}
                Some(_) => {
                    let message = format!("`{name}` does not stand before the field whose length depends on it");
                    self.error(codes::VARIABLE_LENGTH, length.span, message);
                }
                None => {
                    let message = format!("header type `{}` has no field `{name}`", header.name.name);
                    self.error(codes::UNKNOWN_FIELD, length.span, message);
                }
            },
            ExprKind::Unary(_, operand) => self.check_length(operand, header, variable),
            ExprKind::Binary(_, left, right) => {
                self.check_length(left, header, variable);
                self.check_length(right, header, variable);
            }
            _ => {
                let message = "a length is computed from fields of the header and numbers";
                self.error(codes::VARIABLE_LENGTH, length.span, message);
            }
        }
    }

    fn instances(&mut self) {
        let program = self.program;
        for declared in &program.instances {
            let name = &declared.name;
            if let Some(first) = self.same_instance(declared) {
                self.diagnostics.push(duplicate(name, "header or metadata instance", first));
                continue;
            }
            let Some(&header_type) = self.symbols.header_types.get(&declared.type_name.name) else {
                let written = &declared.type_name;
                self.error(codes::UNKNOWN_NAME, written.span, format!("there is no header type `{}`", written.name));
                continue;
            };
            let size = declared
                .size
                .as_ref()
                .map(|size| self.count(size, 1, u64::from(STACK_ELEMENTS_MAX)).unwrap_or(1) as u32);
            self.check_instance(declared, header_type, size.is_some());
            let instance = Instance {
                name: name.clone(),
                header_type,
                is_metadata: declared.is_metadata,
                size: size.filter(|_| !declared.is_metadata),
                values: if declared.is_metadata { &declared.values } else { &[] },
            };
            let index = self.symbols.all_instances.len();
            self.symbols.all_instances.push(instance);
            let Some(&other) = self.symbols.instances.get(&name.name) else {
                self.symbols.instances.insert(name.name.clone(), index);
                continue;
            };
            // One of them is a header, the other one metadata.
            let (header, metadata) = if declared.is_metadata { (other, index) } else { (index, other) };
            self.symbols.instances.insert(name.name.clone(), header);
            self.symbols.twins.insert(name.name.clone(), metadata);
        }
        if !self.symbols.instances.contains_key("standard_metadata") {
            self.declare_standard_metadata();
        }
    }

    /// The declaration of another header, or of other metadata, with the same name. A header and metadata may share a
    /// name.
    fn same_instance(&self, declared: &crate::ast::Instance) -> Option<Span> {
        let symbols = &self.symbols;
        let both = [&symbols.instances, &symbols.twins].map(|table| table.get(&declared.name.name));
        let mut known = both.into_iter().flatten().map(|&index| &symbols.all_instances[index]);
        known.find(|it| it.is_metadata == declared.is_metadata).map(|it| it.name.span)
    }

    fn check_instance(&mut self, declared: &crate::ast::Instance, header_type: usize, is_stack: bool) {
        let span = declared.name.span;
        if declared.is_metadata && is_stack {
            self.error(codes::HEADER_OR_METADATA, span, "metadata has no stacks");
        }
        if declared.is_metadata && self.symbols.types[header_type].is_variable() {
            self.error(codes::VARIABLE_LENGTH, span, "metadata has no fields of variable length");
        }
        if let (false, Some((field, _))) = (declared.is_metadata, declared.values.first()) {
            self.error(codes::HEADER_OR_METADATA, field.span, "only metadata has first values");
        }
        for (field, _) in &declared.values {
            if self.symbols.types[header_type].field(field.as_str()).is_none() {
                let message = format!("header type `{}` has no field `{}`", declared.type_name.name, field.name);
                self.error(codes::UNKNOWN_FIELD, field.span, message);
            }
        }
    }

    fn declare_standard_metadata(&mut self) {
        let ident = |name: &str| Ident { name: name.into(), span: Span::NONE };
        let field = |&(name, width): &(&str, u32)| Field {
            name: ident(name),
            width,
            is_signed: false,
            is_saturating: false,
            is_variable: false,
        };
        let named = STANDARD_METADATA_IF_NAMED.iter().filter(|(name, _)| self.program.words.contains(*name));
        let fields = STANDARD_METADATA.iter().chain(named).map(field).collect();
        let header_type = self.symbols.types.len();
        self.symbols.types.push(HeaderType { name: ident("standard_metadata_t"), fields, length: None, pragmas: &[] });
        self.symbols.instances.insert("standard_metadata".into(), self.symbols.all_instances.len());
        self.symbols.all_instances.push(Instance {
            name: ident("standard_metadata"),
            header_type,
            is_metadata: true,
            size: None,
            values: &[],
        });
    }
}

fn duplicate(name: &Ident, kind: &str, first: Span) -> Diagnostic {
    let message = format!("{kind} `{}` is declared twice", name.name);
    Diagnostic::error(codes::DUPLICATE_NAME, name.span, message).secondary(first, "the first is here")
}

/// The maximum value of a length in bytes, with maximum field values; `None` if it cannot be determined.
fn greatest(length: &Expr, header: &HeaderType<'_>) -> Option<u64> {
    match &length.kind {
        ExprKind::Integer(value, _) => value.to_u64(),
        ExprKind::Name(name) => {
            let width = header.fields[header.field(name)?].width;
            1u64.checked_shl(width)?.checked_sub(1)
        }
        ExprKind::Binary(operator, left, right) => {
            let (left, right_value) = (greatest(left, header)?, greatest(right, header)?);
            match operator {
                BinaryOperator::Add => left.checked_add(right_value),
                // A subtrahend may be 0, unless it is a constant.
                BinaryOperator::Subtract => left.checked_sub(fold(right).and_then(|it| it.to_u64()).unwrap_or(0)),
                BinaryOperator::Multiply => left.checked_mul(right_value),
                BinaryOperator::ShiftLeft => left.checked_mul(1u64.checked_shl(right_value.try_into().ok()?)?),
                BinaryOperator::ShiftRight => Some(left >> fold(right)?.to_u32().filter(|&by| by < 64)?),
                _ => None,
            }
        }
        _ => None,
    }
    .filter(|&bytes| bytes <= u64::from(WIDTH_BITS_MAX / 8))
}

/// The value of a numeric expression; `None` if it is not constant, or larger than any field.
pub(crate) fn fold(expr: &Expr) -> Option<BigInt> {
    match &expr.kind {
        ExprKind::Integer(value, _) => Some(value.clone()),
        ExprKind::Unary(operator, operand) => {
            let value = fold(operand)?;
            Some(match operator {
                UnaryOperator::Negate => -value,
                UnaryOperator::Plus => value,
                UnaryOperator::Complement => -value - 1,
                UnaryOperator::Not => return None,
            })
        }
        ExprKind::Binary(operator, left, right) => fold_binary(*operator, &fold(left)?, &fold(right)?),
        _ => None,
    }
}

/// The value of an operator on numbers; `None` if it is undefined.
pub(crate) fn fold_binary(operator: BinaryOperator, left: &BigInt, right: &BigInt) -> Option<BigInt> {
    let shift = || right.to_u32().filter(|&by| by <= WIDTH_BITS_MAX);
    let value = match operator {
        BinaryOperator::Add => left + right,
        BinaryOperator::Subtract => left - right,
        BinaryOperator::Multiply => left * right,
        BinaryOperator::Divide if !right.is_zero() => left.div_floor(right),
        BinaryOperator::Modulo if !right.is_zero() => left.mod_floor(right),
        BinaryOperator::ShiftLeft => left << shift()?,
        BinaryOperator::ShiftRight => left >> shift()?,
        BinaryOperator::BitAnd => left & right,
        BinaryOperator::BitOr => left | right,
        BinaryOperator::BitXor => left ^ right,
        _ => return None,
    };
    (value.abs().bits() <= 2 * u64::from(WIDTH_BITS_MAX)).then_some(value)
}
