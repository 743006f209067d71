//! Plug-ins: the example of the manual, and values of every kind across the boundary.

use expect_test::{Expect, expect};
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

/// Runs `wirespeed` in a folder and compares exit status and output.
fn check(folder: &Path, arguments: &str, expected: Expect) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_wirespeed"));
    let output = command.args(arguments.split_whitespace()).current_dir(folder).output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    expected.assert_eq(&format!("exit {}\n{out}{err}", output.status.code().unwrap_or(-1)));
}

/// Compiles `name.c` in a folder to `name.so`.
fn compile(folder: &Path, name: &str) {
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".to_owned());
    let (source, object) = (format!("{name}.c"), format!("{name}.so"));
    let arguments = ["-shared", "-fPIC", "-Wall", "-Wextra", "-Werror", "-o", &object, &source];
    let output = Command::new(compiler).args(arguments).current_dir(folder).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// The blocks of code in a page, in order.
fn code_blocks(page: &str, language: &str) -> Vec<String> {
    let start = format!("```{language}\n");
    let blocks = page.split(&start).skip(1);
    blocks.map(|block| block.split("```").next().unwrap_or_default().to_owned()).collect()
}

#[test]
fn the_example_of_the_manual_works() {
    let page = include_str!("../../../docs/plug-ins.md");
    let folder = TempDir::new().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("sketch.p4", &code_blocks(page, "p4 file=sketch.p4")[0]);
    write("sketch.c", &code_blocks(page, "c file=sketch.c")[0]);
    write("sketch.stf", &code_blocks(page, "stf file=sketch.stf")[0]);
    check(
        folder.path(),
        "check sketch.p4",
        expect![[r#"
        exit 0
        sketch.p4: ok
    "#]],
    );
    check(
        folder.path(),
        "test sketch.p4",
        expect![[r#"
        exit 1
        sketch.stf (interp): failed
          the program calls extern functions that no plug-in supplies:
            void *Sketch_new(uint32_t rows);
            uint16_t Sketch_update(void *object, const uint8_t *flow /* bit<128> */, uint16_t port /* bit<9> */);
            void scramble(uint32_t *result, uint32_t value);
            help: implement them in a shared object and name it with --extern; `wirespeed compile --emit extern-header` writes their prototypes
        sketch.stf (native): failed
          the program calls extern functions that no plug-in supplies:
            void *Sketch_new(uint32_t rows);
            uint16_t Sketch_update(void *object, const uint8_t *flow /* bit<128> */, uint16_t port /* bit<9> */);
            void scramble(uint32_t *result, uint32_t value);
            help: implement them in a shared object and name it with --extern; `wirespeed compile --emit extern-header` writes their prototypes
        0 passed, 2 failed
    "#]],
    );
    check(
        folder.path(),
        "compile sketch.p4 --emit extern-header -o sketch.h",
        expect![[r#"
        exit 0
    "#]],
    );
    compile(folder.path(), "sketch");
    check(
        folder.path(),
        "test sketch.p4 --extern sketch.so",
        expect![[r#"
        exit 0
        sketch.stf (interp): passed
        sketch.stf (native): passed
        2 passed, 0 failed
    "#]],
    );
    check(
        folder.path(),
        "test sketch.p4 --extern absent.so --backend interp",
        expect![[r#"
        exit 1
        sketch.stf (interp): failed
          the plug-in absent.so cannot be loaded: absent.so: cannot open shared object file: No such file or directory
        0 passed, 1 failed
    "#]],
    );
}

/// Calls with values of every kind.
const KINDS: &str = r#"
#include <core.p4>
#include <v1model.p4>
header h_t { bit<8> a; bit<9> b; bit<7> c; int<12> s; bit<4> d; bit<100> w; bit<4> e; }
struct headers { h_t h; h_t g; }
struct metadata { bit<16> x; bool y; }
extern int<12> negate(in int<12> s);
extern void turn(inout bit<100> w, in bit<100> other);
extern bool all(in metadata m, in h_t present, in h_t absent, string text, int number, in bit<1> one);
extern h_t build(in bit<8> a, inout h_t old);
extern T same<T>(in T t);
extern T same<T>(in T t, in bit<64> long_);
extern Chain { Chain(string name); Chain(Chain before, bit<4> step); bit<8> sum(); }
parser P(packet_in packet, out headers hdr, inout metadata meta, inout standard_metadata_t sm) {
    state start { packet.extract(hdr.h); transition accept; }
}
control V(inout headers hdr, inout metadata meta) { apply { } }
control I(inout headers hdr, inout metadata meta, inout standard_metadata_t sm) {
    Chain("first") first;
    Chain(first, 3) second;
    apply {
        hdr.h.s = negate(hdr.h.s);
        turn(hdr.h.w, 100w7);
        meta = { 513, true };
        meta.y = all(meta, hdr.h, hdr.g, "a\"b\\c", -5, 1);
        hdr.g = build(hdr.h.a, hdr.h);
        hdr.h.d = meta.y ? same<bit<4>>(9) : 1;
        hdr.g.b = same<bit<9>>(9w300, 64w0xffffffffffffffff);
        hdr.g.a = second.sum();
        sm.egress_spec = 1;
    }
}
control E(inout headers hdr, inout metadata meta, inout standard_metadata_t sm) { apply { } }
control C(inout headers hdr, inout metadata meta) { apply { } }
control D(packet_out packet, in headers hdr) { apply { packet.emit(hdr.g); packet.emit(hdr.h); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
"#;

const KINDS_PLUG_IN: &str = r#"
#include "kinds.h"
#include <stdlib.h>
#include <string.h>
int16_t negate(int16_t s) { return -s; }
void turn(uint8_t *w, const uint8_t *other)
{
    uint8_t old[13];
    memcpy(old, w, 13);
    for (int i = 0; i < 13; i++)
        w[i] = old[12 - i] ^ other[i];
}
bool all(uint16_t m_x, bool m_y, bool present_valid, uint8_t present_a, uint16_t present_b, uint8_t present_c,
         int16_t present_s, uint8_t present_d, const uint8_t *present_w, uint8_t present_e, bool absent_valid,
         uint8_t absent_a, uint16_t absent_b, uint8_t absent_c, int16_t absent_s, uint8_t absent_d,
         const uint8_t *absent_w, uint8_t absent_e, const char *text, int64_t number, uint8_t one)
{
    return m_x == 513 && m_y && present_valid && present_a == 5 && present_b == 0x101 && present_c == 0x55 &&
           present_s == -291 && present_d == 4 && present_w[12] == (0x00 ^ 0x07) && present_e == 6 && !absent_valid &&
           absent_a == 0 && absent_b == 0 && absent_c == 0 && absent_s == 0 && absent_d == 0 && absent_w[0] == 0 &&
           absent_e == 0 && strcmp(text, "a\"b\\c") == 0 && number == -5 && one == 1;
}
void build(uint8_t a, bool *old_valid, uint8_t *old_a, uint16_t *old_b, uint8_t *old_c, int16_t *old_s, uint8_t *old_d,
           uint8_t *old_w, uint8_t *old_e, bool *result_valid, uint8_t *result_a, uint16_t *result_b,
           uint8_t *result_c, int16_t *result_s, uint8_t *result_d, uint8_t *result_w, uint8_t *result_e)
{
    *result_valid = *old_valid;
    *result_a = a + 1;
    *result_b = 0xffff;
    *result_c = 0xff;
    *result_s = *old_s;
    *result_d = *old_d;
    memset(result_w, 0xff, 13);
    *result_e = *old_e;
    *old_a = 0xaa;
    (void)old_b, (void)old_c, (void)old_w;
}
uint8_t same_bit4_1(uint8_t t) { return t; }
uint16_t same_bit9_2(uint16_t t, uint64_t long_) { return long_ == UINT64_MAX ? t : 0; }
struct chain { struct chain *before; uint8_t step; };
void *Chain_new_1(const char *name)
{
    struct chain *chain = calloc(1, sizeof *chain);
    chain->step = strlen(name);
    return chain;
}
void *Chain_new_2(void *before, uint8_t step)
{
    struct chain *chain = calloc(1, sizeof *chain);
    chain->before = before;
    chain->step = step;
    return chain;
}
uint8_t Chain_sum(void *object)
{
    struct chain *chain = object;
    return chain ? chain->step + Chain_sum(chain->before) : 0;
}
void Chain_delete(void *object) { free(object); }
"#;

#[test]
fn values_of_every_kind_cross() {
    let folder = TempDir::new().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("kinds.p4", KINDS);
    write("kinds.c", KINDS_PLUG_IN);
    // Of `w`, the bytes are turned round, so that what was its lowest byte loses four of its bits.
    let built = format!("08967fedd4{}f6", "ff".repeat(12));
    let changed = "aa80d5edd90b0a0908070605040302010076";
    let packet = "05 80d5 1234 0102030405060708090a0b0c0 6 ff";
    write("kinds.stf", &format!("packet 0 {packet}\nexpect 1 {built}{changed} ff $\n"));
    check(
        folder.path(),
        "compile kinds.p4 --emit extern-header -o kinds.h",
        expect![[r#"
        exit 0
    "#]],
    );
    compile(folder.path(), "kinds");
    check(
        folder.path(),
        "test kinds.p4 --extern kinds.so",
        expect![[r#"
            exit 0
            kinds.stf (interp): passed
            kinds.stf (native): passed
            2 passed, 0 failed
        "#]],
    );
}
