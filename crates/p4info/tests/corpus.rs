//! The P4Info of whole programs. Each program in `tests/p4info` shows one feature; beside it lies its P4Info as
//! `wirespeed compile --emit p4info` writes it, which `UPDATE_EXPECT=1` rewrites. All programs of all corpora have a
//! P4Info that fits them.

use expect_test::{Expect, expect, expect_file};
use p4info::{Format, Kind, Model, Version};
use std::path::{Path, PathBuf};
use syntax::{Diagnostics, DiskFiles, Options, SourceMap};

/// The stages of a program that were reached: its tree and its IR, and the diagnostics.
fn compile(path: &Path) -> (Option<(sema::hir::Program, ir::Program)>, Diagnostics, SourceMap) {
    let mut sources = SourceMap::new();
    let (tree, mut diagnostics) = p4_14::parse_program(&mut sources, path, &Options::new(&DiskFiles), None);
    if diagnostics.has_errors() {
        return (None, diagnostics, sources);
    }
    let typed = sema::check(&tree, &mut diagnostics);
    let lowered = if diagnostics.has_errors() { None } else { lower::lower(&typed, &mut diagnostics) };
    (lowered.map(|program| (typed, program)), diagnostics, sources)
}

/// The P4Info and the IR, or the errors.
fn p4info_of(path: &Path) -> Result<(p4info::v1::P4Info, ir::Program), String> {
    let (compiled, mut diagnostics, sources) = compile(path);
    let made =
        compiled.and_then(|(tree, program)| Some((p4info::generate(&tree, &program, &mut diagnostics)?, program)));
    made.ok_or_else(|| syntax::render_all(&sources, &diagnostics, false))
}

/// The programs of a folder below `tests`, sorted by name.
fn programs(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests").join(folder);
    let mut programs: Vec<PathBuf> = std::fs::read_dir(&folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "p4"))
        .collect();
    programs.sort();
    programs
}

#[test]
fn every_program_has_its_p4info() {
    let programs = programs("p4info");
    assert!(programs.len() > 10);
    for path in programs {
        let (info, _) = p4info_of(&path).unwrap_or_else(|errors| panic!("{}:\n{errors}", path.display()));
        let text = String::from_utf8(p4info::encode(&info, Format::Text)).unwrap();
        expect_file![path.with_extension("txtpb")].assert_eq(&text);
    }
}

/// A model joins each P4Info to its program. The test lists the programs with something that P4Runtime cannot
/// represent.
#[test]
fn every_p4info_fits_its_program() {
    let mut refused = String::new();
    for folder in ["course", "language", "parser", "tables", "v1model", "psa", "p4_14", "p4info"] {
        for path in programs(folder) {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            match p4info_of(&path) {
                Ok((info, program)) => {
                    let model = Model::new(info, &program).unwrap_or_else(|mismatch| panic!("{name}: {mismatch}"));
                    check_ids(&model, &name);
                }
                Err(errors) => refused.push_str(&format!("{folder}/{name}: {}\n", errors.lines().next().unwrap_or(""))),
            }
        }
    }
    let expect = expect![[r#"
        language/beyond_the_letter.p4: error[E1001]: two actions are called `MyIngress.same` for controllers
        parser/select_parts.p4: error[E1002]: controllers cannot fill the value set `MyParser.tuples`: it is not of bits, nor of a struct of them
        tables/action_parameters.p4: error[E1002]: controllers cannot give `args`: it is neither bits nor `bool`, an enum or a new type
    "#]];
    expect.assert_eq(&refused);
}

/// Every object is found by its id and by its name, and has that id.
fn check_ids(model: &Model, program: &str) {
    for (id, object) in model.objects() {
        assert_eq!(object.id(), id, "{program}");
        assert_eq!(Kind::of_id(id), Some(object.kind()), "{program}: {}", object.name());
        assert_eq!(model.id_of(object.kind(), object.name()), Some(id), "{program}: {}", object.name());
    }
}

/// The errors of an invalid program.
fn check_errors(text: &str, expect: Expect) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/p4info");
    let mut sources = SourceMap::new();
    let name = folder.join("wrong.p4");
    let text = format!(
        "#include <core.p4>\n#include <v1model.p4>\n#include \"headers.inc\"\n{text}\n#include \"rest.inc\"\n\
         V1Switch(MyParser(), MyVerifyChecksum(), MyIngress(), MyEgress(), MyComputeChecksum(), MyDeparser()) main;\n"
    );
    let options = Options::new(&DiskFiles);
    let (tree, mut diagnostics) = p4_14::parse_text(&mut sources, &name.to_string_lossy(), &text, &options, None);
    let typed = sema::check(&tree, &mut diagnostics);
    assert!(!diagnostics.has_errors(), "{}", syntax::render_all(&sources, &diagnostics, false));
    let program = lower::lower(&typed, &mut diagnostics).expect("a program that can be run");
    assert!(p4info::generate(&typed, &program, &mut diagnostics).is_none());
    let messages = diagnostics.iter().filter(|it| it.severity == syntax::Severity::Error);
    let line = |it: &syntax::Diagnostic| {
        let place = sources.text(it.primary.span).lines().next().unwrap_or_default();
        format!("{}: {}: `{place}`\n", it.code, it.message)
    };
    expect.assert_eq(&messages.map(line).collect::<String>());
}

#[test]
fn actions_of_one_name() {
    check_errors(
        "control MyIngress(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t std) {
            @name(\"same\") action a() { meta.index = 1; }
            @name(\"same\") action b() { meta.index = 2; }
            @name(\".copy\") action c() { meta.index = 3; }
            @name(\".copy\") action d() { meta.index = 3; }
            table t { key = { meta.port: exact; } actions = { a; b; c; d; } default_action = a; }
            apply { t.apply(); }
        }",
        expect![[r#"
            E1001: two actions are called `MyIngress.same` for controllers: `b`
        "#]],
    );
}

#[test]
fn copies_of_an_action_have_its_parameters() {
    check_errors(
        "control Part(inout meta_t meta) {
            @name(\".wide\") action a(bit<16> x) { }
            @name(\".same\") action b(bit<8> x) { }
            @name(\".twice\") action c() { }
            table t { key = { meta.port: exact; } actions = { a; b; c; } default_action = c; }
            apply { t.apply(); }
        }
        control MyIngress(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t std) {
            Part() one; Part() two;
            @name(\".wide\") action a(bit<8> x) { }
            @name(\".same\") action b(bit<8> x) { }
            table t { key = { meta.port: exact; } actions = { a; b; NoAction; } default_action = NoAction; }
            apply { one.apply(meta); two.apply(meta); t.apply(); }
        }",
        expect![[r#"
            E1001: two actions are called `wide` for controllers: `a`
        "#]],
    );
}

#[test]
fn copies_of_an_action_have_its_statements() {
    check_errors(
        "control Part(inout meta_t meta) {
            @name(\".sum\") action a(bit<8> d) { meta.index = (bit<32>)d; }
            @name(\".inner\") action inner(bit<8> d) { meta.index = (bit<32>)d + 3; }
            @name(\".kept\") action b(bit<8> d) { if (d == 1) { meta.index = 1; } else { inner(d); } }
            table t { key = { meta.port: exact; } actions = { a; b; } default_action = a(1); }
            apply { t.apply(); }
        }
        control Other(inout meta_t meta) {
            @name(\".sum\") action a(bit<8> d) { meta.index = (bit<32>)d + 100; }
            @name(\".inner\") action inner(bit<8> d) { meta.index = (bit<32>)d + 3; }
            @name(\".kept\") action b(bit<8> d) { if (d == 1) { meta.index = 1; } else { inner(d); } }
            table t { key = { meta.port: exact; } actions = { a; b; } default_action = a(1); }
            apply { t.apply(); }
        }
        control MyIngress(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t std) {
            Part() one; Part() again; Other() other;
            apply { one.apply(meta); again.apply(meta); other.apply(meta); }
        }",
        expect![[r#"
            E1001: two actions are called `sum` for controllers: `a`
        "#]],
    );
}

#[test]
fn copies_of_an_action_have_its_constants() {
    check_errors(
        "control Part(inout meta_t meta)(bit<32> base, bit<8> unused) {
            const bit<32> offset = base + 1;
            @name(\".direct\") action a() { meta.index = base; }
            @name(\".called\") action b() { a(); }
            @name(\".constant\") action c() { meta.index = offset; }
            @name(\".same\") action d() { meta.index = 1; }
            table t { key = { meta.port: exact; } actions = { a; b; c; d; } default_action = a; }
            apply { t.apply(); }
        }
        control Between(inout meta_t meta)(bit<32> base) {
            Part(base, 3) inner;
            apply { inner.apply(meta); }
        }
        control MyIngress(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t std) {
            Part(1, 1) one; Between(1) again; Part(2, 1) other;
            apply { one.apply(meta); again.apply(meta); other.apply(meta); }
        }",
        expect![[r#"
            E1001: two actions are called `direct` for controllers: `a`
            E1001: two actions are called `called` for controllers: `b`
            E1001: two actions are called `constant` for controllers: `c`
        "#]],
    );
}

#[test]
fn copies_of_an_action_have_its_types() {
    check_errors(
        "control Part<T>(inout meta_t meta) {
            @name(\".typed\") action a(T x) { }
            table t { key = { meta.port: exact; } actions = { a; NoAction; } default_action = NoAction; }
            apply { t.apply(); }
        }
        control MyIngress(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t std) {
            Part<bit<8>>() one; Part<bit<8>>() again; Part<bit<16>>() other;
            apply { one.apply(meta); again.apply(meta); other.apply(meta); }
        }",
        expect![[r#"
            E1001: two actions are called `typed` for controllers: `a`
        "#]],
    );
}

#[test]
fn digests_of_one_name() {
    check_errors(
        "struct sent_t<T> { T value; }
        control MyIngress(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t std) {
            apply {
                digest<sent_t<bit<8>>>(1, { 1 });
                digest<sent_t<bit<8>>>(2, { 2 });
                digest<sent_t<bit<16>>>(1, { 3 });
            }
        }",
        expect![[r#"
            E1001: digests of two types are called `sent_t` for controllers: `digest<sent_t<bit<16>>>(1, { 3 })`
        "#]],
    );
}

#[test]
fn ids_that_are_not_allowed() {
    check_errors(
        "control MyIngress(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t std) {
            @id(0x01000001) table t {
                key = { meta.port: exact @id(3); meta.index: exact @id(3); }
                actions = { NoAction; }
            }
            @id(\"one\") action a(@id(0) bit<8> x) { meta.index = 1; }
            table u { actions = { a; NoAction; } default_action = NoAction; }
            apply { t.apply(); u.apply(); }
        }",
        expect![[r#"
            E1001: `@id` takes a number of 32 bits: `@id("one")`
            E1001: 0x01000001 is not an id of a table: its first eight bits say so: `@id(0x01000001)`
            E1001: an `@id` here is a number from 1 on: `@id(0)`
            E1001: two have the same `@id`: `@id(3)`
        "#]],
    );
}

#[test]
fn annotations_that_say_nothing() {
    check_errors(
        "@p4runtime_translation(\"x\") type bit<9> port_t;
        @p4runtime_translation(\"x\", string) type bool flag_t;
        @controller_header header in_t { bit<8> x; }
        struct args_t { bit<8> x; }
        control MyIngress(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t std) {
            action a(port_t port, flag_t flag, args_t args) { meta.port = (bit<9>)port; }
            table t { actions = { a; NoAction; } default_action = NoAction; }
            apply { t.apply(); }
        }
        ",
        expect![[r#"
            E1003: `@p4runtime_translation` takes a string and a type: `bit<W>`, a number of bits, or `string`: `@p4runtime_translation("x")`
            E1002: type `flag_t` is translated for controllers, but its values are not `bit<W>`: `flag_t`
            E1002: controllers cannot give `args`: it is neither bits nor `bool`, an enum or a new type: `args`
            E1003: `@controller_header` takes one string: `@controller_header`
        "#]],
    );
}

/// The P4Info for clients of an older version.
fn check_version(program: &str, version: &str, expect: Expect) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/p4info").join(program);
    let (mut info, _) = p4info_of(&path).expect("a P4Info");
    let version = Version::from_name(version).expect("a version");
    let shown = match p4info::restrict(&mut info, version) {
        Ok(()) => String::from_utf8(p4info::encode(&info, Format::Text)).unwrap(),
        Err(problems) => problems.iter().map(|problem| format!("{problem}\n")).collect(),
    };
    // What a strict reader of that version would reject.
    let newer = [
        "initial_default_action",
        "has_initial_entries",
        "sum_of_",
        "platform_properties",
        "structured_annotations",
        "    type:",
        "P4Runtime 1",
    ];
    let found = shown.lines().filter(|line| newer.iter().any(|word| line.contains(word)));
    expect.assert_eq(&found.map(|line| format!("{}\n", line.trim())).collect::<String>());
}

#[test]
fn older_clients_get_what_they_know() {
    for program in ["tables.p4", "profiles.p4", "objects.p4", "package.p4"] {
        check_version(program, "1.3", expect![[""]]);
    }
    check_version(
        "profiles.p4",
        "1.4",
        expect![[r#"
              initial_default_action {
              initial_default_action {
              initial_default_action {
              initial_default_action {
              initial_default_action {
              initial_default_action {
              sum_of_weights {
              sum_of_members {
        "#]],
    );
    check_version("package.p4", "1.2.0", expect![[""]]);
    check_version(
        "tables.p4",
        "1.1",
        expect![[r#"
        P4Runtime 1.1 has no `optional` keys, as `valid` of the table `MyIngress.all_kinds`
    "#]],
    );
    check_version(
        "types.p4",
        "1.0",
        expect![[r#"
        P4Runtime 1.0 has no types that are text for controllers, as `vrf_t`
    "#]],
    );
}
