//! Header types, instances, field lists and calculations over them.

use super::{Parsed, Parser};
use crate::ast::{
    CalculatedField, Calculation, CalculationUse, Expr, ExprKind, Field, FieldList, HeaderType, Ident, Instance,
};

impl Parser<'_> {
    /// `header_type name { fields { ... } length : ...; max_length : ...; }`
    pub(super) fn header_type(&mut self) -> Parsed<()> {
        self.bump();
        let name = self.name("the name of a header type")?;
        self.refuse_instance_of_type(&name)?;
        let pragmas = std::mem::take(&mut self.own_pragmas);
        let mut header = HeaderType { name, fields: Vec::new(), length: None, max_length: None, pragmas };
        self.expect("{")?;
        while !self.take("}") {
            self.pragmas();
            let start = self.peek().span;
            if self.take_word("fields") {
                self.expect("{")?;
                while !self.take("}") {
                    self.pragmas();
                    let field = self.field()?;
                    header.fields.push(field);
                }
            } else if self.take_word("length") {
                let value = self.property()?;
                self.set(&mut header.length, value, "length", start);
            } else if self.take_word("max_length") {
                let value = self.property()?;
                self.set(&mut header.max_length, value, "max_length", start);
            } else if matches!(&*self.peek_at(1).text, ":" | "<") {
                let help = format!("write `header_type {} {{ fields {{ ... }} }}`", header.name.name);
                return self.of_other_form(start, "the fields of a header type are in `fields { ... }`", help);
            } else {
                return self.unexpected("`fields`, `length` or `max_length`");
            }
        }
        self.program.header_types.push(header);
        Ok(())
    }

    /// Reports `header_type type name;`, which is meant as an instance.
    fn refuse_instance_of_type(&mut self, ty: &Ident) -> Parsed<()> {
        if !self.at_any_word() {
            return Ok(());
        }
        let instance = self.peek().text.clone();
        let message = format!("`header_type {0}` declares the type `{0}`, not an instance of it", ty.name);
        let help =
            format!("an instance is declared with `header {0} {instance};` or `metadata {0} {instance};`", ty.name);
        self.of_other_form(self.peek().span, message, help)
    }

    /// Reports `header name { ... }`, which is meant as a type.
    fn refuse_type_as_instance(&mut self, keyword: &str, name: &Ident) -> Parsed<()> {
        if !self.at("{") {
            return Ok(());
        }
        let message = format!("`{keyword}` declares an instance of a header type, and here is the body of a type");
        let help = format!(
            "declare the type with `header_type {0} {{ fields {{ ... }} }}`, and an instance with `{keyword} {0} NAME;`",
            name.name
        );
        self.of_other_form(self.peek().span, message, help)
    }

    /// `: value;`
    pub(super) fn property(&mut self) -> Parsed<Expr> {
        self.expect(":")?;
        let value = self.expression()?;
        self.expect(";")?;
        Ok(value)
    }

    /// `: name;`
    pub(super) fn name_property(&mut self, expected: &str) -> Parsed<Ident> {
        self.expect(":")?;
        let name = self.name(expected)?;
        self.expect(";")?;
        Ok(name)
    }

    /// `name : width (signed, saturating);` or, as 1.1 writes it, `bit<width> name;`
    fn field(&mut self) -> Parsed<Field> {
        let is_typed = matches!(&*self.peek().text, "bit" | "int" | "varbit") && !self.follows_colon();
        let (name, width, mut is_signed) = if is_typed {
            let is_variable = self.at_word("varbit");
            let (width, is_signed) = self.bit_type()?;
            let name = self.name("the name of a field")?;
            (name, Some(width).filter(|_| !is_variable), is_signed)
        } else {
            let name = self.name("the name of a field")?;
            self.expect(":")?;
            let width = if self.take("*") { None } else { Some(self.expression()?) };
            (name, width, false)
        };
        let mut is_saturating = false;
        if self.take("(") {
            loop {
                let word = self.name("`signed` or `saturating`")?;
                match word.as_str() {
                    "signed" => is_signed = true,
                    "saturating" => is_saturating = true,
                    _ => {
                        self.next -= 1;
                        return self.unexpected("`signed` or `saturating`");
                    }
                }
                if !self.take(",") {
                    break;
                }
            }
            self.expect(")")?;
        }
        self.expect(";")?;
        Ok(Field { name, width, is_signed, is_saturating })
    }

    /// Whether the lexeme after the next is a colon. The next one is then a name, even if it looks like a type.
    fn follows_colon(&self) -> bool {
        &*self.peek_at(1).text == ":"
    }

    /// `bit<width>`, `int<width>` or `bit`, whose width is 1: the width, and whether it is signed.
    pub(super) fn bit_type(&mut self) -> Parsed<(Expr, bool)> {
        let word = self.bump();
        let is_signed = &*word.text == "int";
        if &*word.text == "bit" && !self.at("<") {
            return Ok((Expr { kind: ExprKind::Integer(1.into(), None), span: word.span }, false));
        }
        self.expect("<")?;
        // A `>` ends the width, so only operators that bind more tightly may occur without parentheses.
        let width = self.nested(Self::primary_width)?;
        self.expect(">")?;
        Ok((width, is_signed))
    }

    fn primary_width(&mut self) -> Parsed<Expr> {
        let start = self.peek().clone();
        if self.take("(") {
            let inner = self.expression()?;
            self.expect(")")?;
            return Ok(inner);
        }
        if start.kind != syntax::LexemeKind::Integer {
            return self.unexpected("a width");
        }
        self.bump();
        let (value, width) = self.number(&start.text, start.span)?;
        Ok(Expr { kind: ExprKind::Integer(value, width), span: start.span })
    }

    /// `header type name[size];`, `metadata type name { field : value; }`
    pub(super) fn instance(&mut self) -> Parsed<()> {
        let keyword = self.bump().text;
        let is_metadata = &*keyword == "metadata";
        let type_name = self.name("the name of a header type")?;
        self.refuse_type_as_instance(&keyword, &type_name)?;
        let name = self.name("the name of an instance")?;
        let mut instance = Instance { is_metadata, type_name, name, size: None, values: Vec::new() };
        if self.take("[") {
            instance.size = Some(self.expression()?);
            self.expect("]")?;
        }
        if self.take("{") {
            while !self.take("}") {
                self.pragmas();
                let field = self.name("the name of a field")?;
                let value = self.property()?;
                instance.values.push((field, value));
            }
            self.take(";");
        } else {
            self.expect(";")?;
        }
        self.program.instances.push(instance);
        Ok(())
    }

    /// `field_list name { entry; ... }`
    pub(super) fn field_list(&mut self) -> Parsed<()> {
        self.bump();
        let name = self.name("the name of a field list")?;
        let mut list = FieldList { name, entries: Vec::new() };
        self.expect("{")?;
        while !self.take("}") {
            self.pragmas();
            let entry = self.expression()?;
            self.expect(";")?;
            list.entries.push(entry);
        }
        self.program.field_lists.push(list);
        Ok(())
    }

    /// `field_list_calculation name { input { ... } algorithm : ...; output_width : ...; }`
    pub(super) fn calculation(&mut self) -> Parsed<()> {
        self.bump();
        let name = self.name("the name of a calculation")?;
        let mut it = Calculation { name, inputs: Vec::new(), algorithms: Vec::new(), output_width: None };
        self.expect("{")?;
        while !self.take("}") {
            self.pragmas();
            let start = self.peek().span;
            if self.take_word("input") {
                it.inputs.extend(self.names_in_braces("the name of a field list")?);
            } else if self.take_word("algorithm") {
                if self.at("{") {
                    it.algorithms.extend(self.names_in_braces("the name of an algorithm")?);
                } else {
                    it.algorithms.push(self.name_property("the name of an algorithm")?);
                }
            } else if self.take_word("output_width") {
                let value = self.property()?;
                self.set(&mut it.output_width, value, "output_width", start);
            } else {
                return self.unexpected("`input`, `algorithm` or `output_width`");
            }
        }
        self.program.calculations.push(it);
        Ok(())
    }

    /// `{ name; name; }`
    pub(super) fn names_in_braces(&mut self, expected: &str) -> Parsed<Vec<Ident>> {
        let mut names = Vec::new();
        self.expect("{")?;
        while !self.take("}") {
            self.pragmas();
            names.push(self.name(expected)?);
            self.expect(";")?;
        }
        Ok(names)
    }

    /// `calculated_field field { verify calculation if (condition); ... }`
    pub(super) fn calculated_field(&mut self) -> Parsed<()> {
        self.bump();
        let field = self.expression()?;
        let mut it = CalculatedField { field, uses: Vec::new() };
        self.expect("{")?;
        while !self.take("}") {
            self.pragmas();
            let is_update = self.at_word("update");
            if !is_update && !self.at_word("verify") {
                return self.unexpected("`verify` or `update`");
            }
            self.bump();
            let calculation = self.name("the name of a calculation")?;
            let condition = if self.take_word("if") {
                self.expect("(")?;
                let condition = self.expression()?;
                self.expect(")")?;
                Some(condition)
            } else {
                None
            };
            self.expect(";")?;
            it.uses.push(CalculationUse { is_update, calculation, condition });
        }
        self.program.calculated_fields.push(it);
        Ok(())
    }
}
