//! Counters, meters, registers and action profiles: objects that several tables may share, declared in the
//! outermost scope.

use super::build::{self, Shape};
use super::exprs::Scope;
use super::{Done, Translator};
use crate::ast::{Array, ArrayKind, Ident, Pragma, PragmaOperand};
use crate::codes;
use base::Span;
use base::limits::{CELLS_MAX, WIDTH_BITS_MAX};
use num_bigint::BigInt;
use syntax::ast as p4;

/// The default size of action profiles and tables.
pub(super) const SIZE_DEFAULT: u64 = 1024;

/// The width of a register's cells if it has neither `width` nor `layout`, as in the reference compiler.
const CELL_WIDTH_DEFAULT: u32 = 32;

/// The default width of a selector's hash.
const OUTPUT_WIDTH_DEFAULT: u64 = 16;

impl Translator<'_, '_> {
    pub(super) fn declare_arrays(&mut self) {
        let program = self.program;
        for (index, array) in program.arrays.iter().enumerate() {
            let wanted = array.name.name.clone();
            let name = self.fresh(&wanted);
            self.array_names.insert(index, name.clone());
            if let Some(object) = self.array_declaration(index, array, &name) {
                self.objects.push(object);
            }
        }
    }

    fn array_declaration(&mut self, index: usize, array: &Array, name: &str) -> Done<p4::Declaration> {
        let span = array.name.span;
        for table in array.direct.iter().chain(&array.bound) {
            self.lookup(|symbols| &symbols.tables, table, "table")?;
        }
        let size = self.cells(array)?;
        let (ty, arguments) = match array.kind {
            ArrayKind::Register => {
                self.warn_of_register(array);
                let cell = self.cell_shape(index)?;
                let ty = build::specialized_type("register", vec![build::bit_type(cell, span)], span);
                (ty, vec![build::constant(&BigInt::from(size), Shape::bits(32), span)])
            }
            kind => {
                let unit = self.unit(array)?;
                let (plain, direct, units) = match kind {
                    ArrayKind::Counter => ("counter", "direct_counter", "CounterType"),
                    _ => ("meter", "direct_meter", "MeterType"),
                };
                let unit = build::enum_member(units, unit, span);
                match &array.direct {
                    None => {
                        let size = build::constant(&BigInt::from(size), Shape::bits(32), span);
                        (build::named_type(plain, span), vec![size, unit])
                    }
                    Some(_) if kind == ArrayKind::Counter => (build::named_type(direct, span), vec![unit]),
                    Some(_) => {
                        let cell = self.meter_shape(index);
                        (build::specialized_type(direct, vec![build::bit_type(cell, span)], span), vec![unit])
                    }
                }
            }
        };
        let mut object = self.instance(ty, arguments, name, &array.name, &array.pragmas);
        if let Some(width) = &array.min_width {
            let width = PragmaOperand::Number(BigInt::from(self.count(width, 1, u64::from(WIDTH_BITS_MAX))?));
            object.annotations.push(build::annotation(&build::ident("min_width", span), &[width], span));
        }
        Some(object)
    }

    /// `T(arguments) name;` with its control-plane name.
    pub(super) fn instance(
        &self,
        ty: p4::Type,
        arguments: Vec<p4::Expr>,
        name: &str,
        known_as: &Ident,
        pragmas: &[Pragma],
    ) -> p4::Declaration {
        let span = known_as.span;
        let kind = p4::DeclarationKind::Instantiation(p4::Instantiation {
            type_ref: ty,
            arguments: arguments.into_iter().map(build::argument).collect(),
            name: build::ident(name, span),
            initializer: None,
        });
        let mut declaration = build::declaration(kind, span);
        declaration.annotations = build::pragmas(pragmas);
        declaration.annotations.push(build::control_plane_name(&known_as.name, span));
        declaration
    }

    /// The number of cells. An array that belongs to a table and has no number of its own has the size of the table.
    fn cells(&mut self, array: &Array) -> Done<u64> {
        if let (Some(_), Some(count)) = (&array.direct, &array.instance_count) {
            let message = "`direct` gives each entry of the table a cell: there is no `instance_count`";
            self.warn(codes::NO_EFFECT, count.span, message);
        }
        if let Some(count) = &array.instance_count {
            return self.count(count, 1, CELLS_MAX);
        }
        let Some(table) = array.direct.as_ref().or(array.bound.as_ref()) else {
            let message = format!("`{}` is not direct, so it needs an `instance_count`", array.name.name);
            return self.error(codes::INVALID_ARRAY, array.name.span, message);
        };
        let table = self.lookup(|symbols| &symbols.tables, table, "table")?;
        Some(self.table_size(table)?.filter(|&size| size <= CELLS_MAX).unwrap_or(SIZE_DEFAULT))
    }

    /// The unit, as v1model names it.
    fn unit(&mut self, array: &Array) -> Done<&'static str> {
        let Some(unit) = &array.unit else {
            let message = format!("`{}` has no `type`", array.name.name);
            return self.error(codes::INVALID_ARRAY, array.name.span, message);
        };
        match (unit.as_str(), array.kind) {
            ("packets", _) => Some("packets"),
            ("bytes", _) => Some("bytes"),
            ("packets_and_bytes" | "bytes_and_packets", ArrayKind::Counter) => Some("packets_and_bytes"),
            (other, _) => {
                let message = format!("`{other}` is not what is counted: that is `packets` or `bytes`");
                self.error(codes::INVALID_ARRAY, unit.span, message)
            }
        }
    }

    /// Warns about missing properties of a register, and about those without an effect.
    fn warn_of_register(&mut self, array: &Array) {
        if let Some(table) = &array.direct {
            let message = "no register belongs to a table's entries here: it has as many cells as the table, and the \
                index that a primitive gives says which one is meant";
            self.warn(codes::NO_EFFECT, table.span, message);
        }
        if array.width.is_none() && array.layout.is_none() {
            let message = format!("register `{}` has no `width`; it gets {CELL_WIDTH_DEFAULT} bits", array.name.name);
            self.warn(codes::WIDTH_ASSUMED, array.name.span, message);
        }
    }

    /// The shape of a register's cells.
    pub(super) fn cell_shape(&mut self, register: usize) -> Done<Shape> {
        let program = self.program;
        let array = &program.arrays[register];
        if let (Some(_), Some(layout)) = (&array.width, &array.layout) {
            let message =
                format!("register `{}` has a `width` and a `layout`, which both give the width", array.name.name);
            return self.error(codes::INVALID_ARRAY, layout.span, message);
        }
        if let Some(width) = &array.width {
            let width = self.count(width, 1, u64::from(WIDTH_BITS_MAX))? as u32;
            return Some(Shape { width, is_signed: array.is_signed });
        }
        let Some(layout) = &array.layout else {
            return Some(Shape { width: CELL_WIDTH_DEFAULT, is_signed: array.is_signed });
        };
        let layout_type = self.lookup(|symbols| &symbols.header_types, layout, "header type")?;
        let header = &self.symbols.types[layout_type];
        if header.is_variable() || header.fields.is_empty() {
            return self.error(codes::INVALID_ARRAY, layout.span, "the fields of a layout have fixed widths");
        }
        Some(Shape::bits(header.fixed_bits() as u32))
    }

    /// The shape of a direct meter's colour: that of its result, otherwise the 2 bits that colours need.
    pub(super) fn meter_shape(&mut self, meter: usize) -> Shape {
        let program = self.program;
        let result = program.arrays[meter].result.as_ref();
        match result.and_then(|result| self.fixed_field(result, Scope::PLAIN)) {
            Some(place) => Shape::bits(place.shape.width),
            None => Shape::bits(2),
        }
    }

    /// A counter, meter or register as an expression.
    pub(super) fn array(&self, index: usize, span: Span) -> Done<p4::Expr> {
        Some(build::name(self.array_names.get(&index)?, span))
    }

    // ------------------------------------------------------------------------------------------- action profiles

    pub(super) fn declare_profiles(&mut self) {
        let program = self.program;
        for (index, profile) in program.profiles.iter().enumerate() {
            let wanted = profile.name.name.clone();
            let name = self.fresh(&wanted);
            self.profile_names.insert(index, name.clone());
            let _ = self.declare_profile(profile, &name);
        }
    }

    fn declare_profile(&mut self, profile: &crate::ast::Profile, name: &str) -> Done<()> {
        let span = profile.name.span;
        for action in &profile.actions {
            let _ = self.lookup(|symbols| &symbols.actions, action, "action");
        }
        let size = match &profile.size {
            Some(size) => match self.count(size, 0, base::limits::TABLE_ENTRIES_MAX as u64)? {
                0 => SIZE_DEFAULT,
                size => size,
            },
            None => SIZE_DEFAULT,
        };
        let size = build::constant(&BigInt::from(size), Shape::bits(32), span);
        let object = match &profile.selector {
            None => {
                let ty = build::named_type("action_profile", span);
                self.instance(ty, vec![size], name, &profile.name, &profile.pragmas)
            }
            Some(selector) => {
                let calculation = self.selector_calculation(selector)?;
                let algorithm = self.algorithm(calculation, selector.span)?;
                let program = self.program;
                let width = match &program.calculations[calculation].output_width {
                    Some(width) => self.count(width, 1, 64)?,
                    None => OUTPUT_WIDTH_DEFAULT,
                };
                let width = build::constant(&BigInt::from(width), Shape::bits(32), span);
                let ty = build::named_type("action_selector", span);
                let mut object = self.instance(ty, vec![algorithm, size, width], name, &profile.name, &profile.pragmas);
                object.annotations.extend(self.selector_annotations(selector));
                object
            }
        };
        self.objects.push(object);
        Some(())
    }

    /// A selector's properties, which have no effect here but are passed to the control plane: `@mode("fair")`.
    fn selector_annotations(&self, selector: &Ident) -> Vec<p4::Annotation> {
        let Some(&index) = self.symbols.selectors.get(&selector.name) else { return Vec::new() };
        let declared = &self.program.selectors[index];
        let both = [("mode", &declared.mode), ("type", &declared.kind)];
        let said = both.into_iter().filter_map(|(name, value)| Some((name, value.as_ref()?)));
        let annotation = |(name, value): (&str, &Ident)| {
            let text = PragmaOperand::Text(value.name.clone());
            build::annotation(&build::ident(name, value.span), &[text], value.span)
        };
        said.map(annotation).collect()
    }

    /// The calculation with which a selector chooses a member.
    pub(super) fn selector_calculation(&mut self, selector: &Ident) -> Done<usize> {
        let index = self.lookup(|symbols| &symbols.selectors, selector, "action selector")?;
        let program = self.program;
        let declared = &program.selectors[index];
        let Some(key) = &declared.key else {
            let message = format!("action selector `{}` has no `selection_key`", declared.name.name);
            return self.error(codes::INVALID_ARRAY, declared.name.span, message);
        };
        self.lookup(|symbols| &symbols.calculations, key, "calculation")
    }

    pub(super) fn check_selectors(&mut self) {
        let program = self.program;
        for selector in &program.selectors {
            let _ = self.selector_calculation(&selector.name);
        }
    }
}
