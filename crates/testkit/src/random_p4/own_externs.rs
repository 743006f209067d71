//! Declarations of a program besides types and functions: lists, integers, extern objects whose methods it
//! implements, extern functions and objects of a plug-in, match kinds, packages.
//!
//! Comparisons have no plug-in, and no architecture supports a program's own match kind. Most of these declarations
//! are therefore in a control that `main` does not reach, which is only checked. A few programs use their extern
//! functions and objects everywhere, and are compiled without being run.

use super::tree::Tree;
use super::types::Ty;
use super::{Callable, Code, Direction, Feature, Generator, Param};
use crate::lines::Lines as _;
use num_bigint::BigInt;

/// An extern type whose methods the program implements for each instance.
#[derive(Clone, Debug)]
pub(super) struct Handler {
    name: String,
    methods: Vec<Callable>,
}

/// An extern type that a plug-in supplies. Its type parameter is the type of its contents.
#[derive(Clone, Debug)]
pub(super) struct Supplied {
    name: String,
    /// The name of the abstract method, if there is one.
    changing: Option<String>,
}

impl Generator<'_> {
    /// Lists, integers and extern declarations at the top level of the program.
    pub fn own_declarations(&mut self) {
        if self.has(Feature::Lists) {
            for _ in 0..self.rng.between(1, 2) {
                self.constant_list();
            }
        }
        if self.has(Feature::Integers) {
            let number = BigInt::from(self.rng.next_u64()) * BigInt::from(self.rng.next_u64());
            let name = self.name("INTEGER");
            self.line(format!("const int {name} = -{number};"));
            self.integers.push((name, -number));
        }
        if self.has(Feature::AbstractMethods) {
            self.handler();
        }
        if self.has(Feature::OwnExterns) {
            for _ in 0..self.rng.between(1, 2) {
                self.supplied_function();
            }
            self.supplied_type();
        }
    }

    /// A constant list for loops.
    fn constant_list(&mut self) {
        let ty = match self.below(3) {
            0 => Ty::Tuple((0..self.rng.between(1, 3)).map(|_| self.scalar()).collect()),
            _ => self.scalar(),
        };
        let count = self.below(5);
        let elements: Vec<String> = (0..count).map(|_| self.constant_element(&ty).to_string()).collect();
        let (name, text) = (self.name("LIST"), self.type_text(&ty));
        self.line(format!("const list<{text}> {name} = {{ {} }};", elements.join(", ")));
        self.lists.push((name, ty));
    }

    fn constant_element(&mut self, ty: &Ty) -> Tree {
        let Ty::Tuple(parts) = ty else { return self.constant(ty) };
        let parts: Vec<String> = parts.iter().map(|part| self.constant(part).to_string()).collect();
        Tree::atom(format!("{{ {} }}", parts.join(", ")))
    }

    /// The range of a loop, and the type of its elements: a named list, or a list of computed values.
    pub fn list(&mut self) -> (String, Ty) {
        let lists = self.lists.clone();
        if let Some(list) = self.pick(&lists).filter(|_| self.once_in(2)) {
            return list;
        }
        let ty = self.scalar();
        let elements: Vec<String> =
            (0..self.rng.between(1, 3)).map(|_| self.pure(|this| this.expr(&ty, 2)).to_string()).collect();
        let text = self.type_text(&ty);
        (format!("(list<{text}>) {{ {} }}", elements.join(", ")), ty)
    }

    fn handler(&mut self) {
        let name = self.name("Handler");
        let mut methods = Vec::new();
        self.open(format!("extern {name} {{"));
        self.line(format!("{name}();"));
        for _ in 0..self.rng.between(1, 2) {
            let params = self.params(3);
            let returns = if self.once_in(3) { None } else { Some(self.scalar()) };
            let method = Callable { name: self.name("method"), params, returns };
            let head = self.head(&method);
            self.line(format!("abstract {head};"));
            methods.push(method);
        }
        self.close("}");
        self.handlers.push(Handler { name, methods });
    }

    /// The declaration of a method or function: return type, name and parameters.
    fn head(&mut self, callable: &Callable) -> String {
        let result = callable.returns.as_ref().map_or("void".to_owned(), |ty| self.type_text(ty));
        let mut params = Vec::new();
        for param in &callable.params {
            let (text, optional) = (self.type_text(&param.ty), if param.optional { "@optional " } else { "" });
            params.push(format!("{optional}{}{text} {}", param.direction.word(), param.name));
        }
        format!("{result} {}({})", callable.name, params.join(", "))
    }

    /// Instances in a control, each with its own methods.
    pub fn instantiate_handlers(&mut self) {
        for handler in self.handlers.clone() {
            for _ in 0..self.rng.below(3) {
                let name = self.name("handler");
                self.open(format!("{}() {name} = {{", handler.name));
                for method in &handler.methods {
                    let head = self.head(method);
                    self.open(format!("{head} {{"));
                    self.callee_body(Code::Function, &method.params, method.returns.clone());
                    self.close("}");
                }
                self.close("};");
                let methods = handler.methods.iter();
                let methods =
                    methods.map(|method| Callable { name: format!("{name}.{}", method.name), ..method.clone() });
                self.scope.methods.extend(methods);
            }
        }
    }

    fn supplied_function(&mut self) {
        let mut params = self.params(3);
        if let Some(last) = params.last_mut().filter(|param| param.direction == Direction::In) {
            last.optional = self.rng.chance(1, 2);
        }
        let returns = if self.once_in(3) { None } else { Some(self.scalar()) };
        let function = Callable { name: self.name("supplied"), params, returns };
        let head = self.head(&function);
        self.line(format!("extern {head};"));
        self.supplied_functions.push(function);
    }

    fn supplied_type(&mut self) {
        let name = self.name("Supplied");
        self.open(format!("extern {name}<T> {{"));
        self.line(format!("{name}(bit<32> size, @optional bit<8> seed);"));
        self.line("T get(in bit<8> index);");
        self.line("void put(in T value, @optional in bit<16> time);");
        let changing = if self.once_in(2) {
            let method = self.name("changed");
            self.line(format!("@synchronous(put) abstract T {method}(in T value);"));
            Some(method)
        } else {
            None
        };
        self.close("}");
        self.supplied_types.push(Supplied { name, changing });
    }

    /// Instances in a control of types that a plug-in supplies. The plug-in's functions are added to its scope, too.
    pub fn instantiate_supplied(&mut self) {
        for supplied in self.supplied_types.clone() {
            let ty = self.scalar();
            let (name, text) = (self.name("own"), self.type_text(&ty));
            let seed = if self.once_in(2) { ", 7" } else { "" };
            let head = format!("{}<{text}>(16{seed}) {name}", supplied.name);
            let param = |name: &str, ty: &Ty, optional: bool| Param {
                name: name.to_owned(),
                ty: ty.clone(),
                direction: Direction::In,
                optional,
            };
            let value = param("value", &ty, false);
            match &supplied.changing {
                None => self.line(format!("{head};")),
                Some(method) => {
                    self.open(format!("{head} = {{"));
                    self.open(format!("{text} {method}(in {text} value) {{"));
                    self.callee_body(Code::Function, std::slice::from_ref(&value), Some(ty.clone()));
                    self.close("}");
                    self.close("};");
                }
            }
            let index = param("index", &Ty::Bit(8), false);
            let get = Callable { name: format!("{name}.get"), params: vec![index], returns: Some(ty.clone()) };
            let params = vec![value, param("time", &Ty::Bit(16), true)];
            let put = Callable { name: format!("{name}.put"), params, returns: None };
            self.scope.methods.extend([get, put]);
        }
        self.scope.methods.extend(self.supplied_functions.clone());
    }

    /// A control that `main` does not reach, in a package of the program's own.
    pub fn unreachable_control(&mut self, headers: &Ty, metadata: &Ty) {
        if !self.has(Feature::OwnExterns) {
            return;
        }
        let kinds = [self.name("nearest"), self.name("hashed")];
        self.line(format!("match_kind {{ {} }}", kinds.join(", ")));
        let (name, shape, package) = (self.name("Apart"), self.name("Shape"), self.name("Package"));
        let (headers_text, metadata_text) = (self.type_text(headers), self.type_text(metadata));
        self.open(format!("control {name}(inout {headers_text} hdr, inout {metadata_text} meta)(bit<8> made) {{"));
        self.scoped(|this| {
            this.scope.code = Code::Control;
            this.declare("hdr", headers.clone(), true);
            this.declare("meta", metadata.clone(), true);
            this.declare("made", Ty::Bit(8), false);
            this.instantiate_supplied();
            let table = this.unsupported_table(&kinds);
            this.control_body(6, &[format!("{table}.apply();")]);
        });
        self.close("}");
        self.line(format!("control {shape}<H, M>(inout H hdr, @optional inout M meta);"));
        self.line(format!("package {package}<H, M>({shape}<H, M> first, @optional {shape}<H, M> second);"));
        let second = if self.once_in(2) { format!(", {name}(2)") } else { String::new() };
        let package_name = self.name("package");
        self.line(format!("{package}({name}(1){second}) {package_name};"));
    }

    /// A table with match kinds that no architecture supports.
    fn unsupported_table(&mut self, kinds: &[String]) -> String {
        let name = self.name("t");
        self.open(format!("table {name} {{"));
        self.open("key = {");
        for _ in 0..self.rng.between(1, 3) {
            let ty = self.number();
            let (key, kind) = (self.pure(|this| this.expr(&ty, 1)), self.rng.pick(kinds).clone());
            let key_name = self.name("key");
            self.line(format!("{key}: {kind} @name(\"{key_name}\");"));
        }
        self.close("}");
        self.line("actions = { @defaultonly NoAction; }");
        self.close("}");
        name
    }
}
