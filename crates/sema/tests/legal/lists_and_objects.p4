// Lists, objects of the program's own with all that may be in them, and forms that few programs have.
// ----
// lists as constants, of numbers, strings, tuples, structs and lists; empty ones too
struct pair<T, U> { T first; U second; }
const list<bit<8>> ports = { 1, 2, 3 };
const list<bit<8>> none = {};
const list<int> anything = { 1, -1, 1 << 70 };
const list<string> names = { "a", "b" ++ "c" };
const list<tuple<bit<8>, bool>> tuples = { { 1, true }, { 2, false } };
const list<pair<bit<8>, bit<16>>> pairs = { { 1, 2 }, { second = 4, first = 3 } };
const list<list<bit<8>>> lists = { { 1, 2 }, {}, { 3 } };
const list<bit<8>> cast = (list<bit<8>>){ 1, 2 };
// ----
// objects that are made from lists
struct pair<T, U> { T first; U second; }
extern Ports { Ports(list<bit<8>> ports); bit<8> pick(in bit<32> index); }
extern Schema<K> { Schema(list<tuple<K, match_kind>> keys); void use(in K key); }
extern Map<K, V> { Map(list<pair<K, V>> content); V get(in K key, in V otherwise); }
const list<bit<8>> some = { 4, 5 };
Ports({ 1, 2, 3 }) outer;
control c(inout bit<8> x, inout bit<16> y) {
    Ports(some) inner;
    Schema<bit<8>>({ { 1, exact }, { 2, ternary } }) schema;
    Map<bit<8>, bit<16>>({ { 1, 100 }, { 2, 200 } }) map;
    Map((list<pair<bit<8>, bit<16>>>){ { 1, 100 } }) inferred;
    apply {
        x = outer.pick(0) + inner.pick(1);
        schema.use(x);
        y = map.get(x, 0) + inferred.get(key = x, otherwise = y);
    }
}
// ----
// functions that take lists, and loops over them
extern void send(in list<bit<8>> values);
extern void note<T>(in list<T> values);
const list<bit<8>> some = { 4, 5 };
control c(inout bit<8> x) {
    apply {
        send({ 1, 2 });
        send(some);
        note(some);
        note<bit<4>>({ 1, 2 });
        for (bit<8> value in some) { x = x + value; }
        for (bit<8> value in (list<bit<8>>){ 1, x, 3 }) { x = x ^ value; }
        for (bool value in { true, x == 1 }) { if (value) { x = 0; } }
    }
}
// ----
// checksum objects as older architectures have them
enum Algorithm { crc32, csum16 }
extern Checksum16 { Checksum16(); bit<16> get<D>(in D data); }
extern Unit<W> {
    Unit(Algorithm algorithm);
    void clear();
    void update<T>(in T data);
    void update<T>(in bool condition, in T data);
    W get();
}
struct headers { bit<4> version; bit<4> length; bit<32> source; }
control c(inout headers h, out bit<16> sum, out bit<32> other) {
    Checksum16() checksum;
    Unit<bit<32>>(Algorithm.crc32) unit;
    apply {
        sum = checksum.get({ h.version, h.length, h.source });
        sum = checksum.get(h);
        sum = checksum.get<tuple<bit<4>, bit<4>>>({ h.version, 5 });
        unit.clear();
        unit.update(h);
        unit.update({ h.source, 8w1 });
        unit.update(h.version == 4, h.source);
        unit.update<bit<32>>(data = h.source, condition = true);
        other = unit.get();
    }
}
// ----
// abstract methods: generic objects, several methods, local objects, the control's names, `this`, constructor arguments
extern Counter { Counter(bit<32> size); void count(in bit<32> index); bit<32> read(in bit<32> index); }
extern Program<T, R> {
    Program(bit<32> size);
    abstract R change(inout T value);
    abstract void clear();
    R execute(in bit<32> index);
    T get<I>(in I index);
}
control c(inout bit<8> x, inout bit<16> y) {
    bit<8> step = 3;
    Counter(16) outer;
    Program<bit<8>, bit<16>>(1024) program = {
        Counter(4) inner;
        bit<16> change(inout bit<8> value) {
            inner.count(1);
            outer.count((bit<32>)value);
            value = value + step;
            if (value == 0) { this.clear(); }
            return 8w0 ++ value;
        }
        void clear() { }
    };
    apply {
        y = program.execute(5);
        x = program.get(8w3) + (bit<8>)outer.read(0);
    }
}
// ----
// an object with abstract methods outside all blocks, which a package takes
extern Hook { Hook(); abstract bit<8> run(in bit<8> value, @optional in bit<8> more); }
package Device(Hook hook);
Hook() increment = { bit<8> run(in bit<8> value, @optional in bit<8> more) { return value + 1; } };
Device(increment) main;
// ----
// optional parameters of constructors and methods, and arguments by name
extern Filter { Filter(@optional bit<8> low, @optional bit<8> high); bool test(in bit<8> x, @optional in bit<8> y); }
control c(inout bit<8> x) {
    Filter() all;
    Filter(1) above;
    Filter(high = 9) below;
    apply { if (all.test(x) && above.test(x, 1) && below.test(y = 1, x = x)) { x = 0; } }
}
// ----
// overloaded constructors and methods
extern Store { Store(); Store(bit<32> size); Store(bit<32> size, bool fast); void put(in bit<8> a); void put(in bit<8> a, in bit<8> b); }
control c(inout bit<8> x) {
    Store() a;
    Store(5) b;
    Store(fast = true, size = 6) d;
    apply { a.put(x); b.put(x, x); d.put(a = 1, b = 2); }
}
// ----
// operators on integers without width, as the reference compiler computes them
const int either = 3 | 4;
const int differing = 12 ^ 5;
const int both = 5 & 3;
const int shifted = -5 >> 1;
const bit<8> all = either + differing * both;
// ----
// tuples of what has no value at run time are fine as constants and arguments of constructors
const tuple<int, string> t = { 1, "a" };
extern E { E(tuple<match_kind, bit<8>> x); }
E({ exact, 5 }) e;
// ----
// value sets of tuples, structs and numbers, alone and among other values of a key
struct keys { bit<8> a; bit<4> b; }
parser p(packet_in packet, in bit<8> x) {
    value_set<bit<8>>(4) one;
    value_set<tuple<bit<8>, bit<4>>>(4) two;
    value_set<keys>(4) three;
    state start {
        transition select(x, x[3:0]) {
            two: accept;
            three: accept;
            (one, _): accept;
            (1 &&& 3, 2 .. 5): reject;
            default: accept;
        }
    }
}
// ----
// loops: two variables, annotations, a range, compound assignments as steps
control c(inout bit<8> x) {
    apply {
        for (bit<8> i = 0, bit<8> j = 5; i < j; i = i + 1, j -= 1) { x += i; }
        for (@unroll bit<8> i in 1 .. 10) { if (i == 5) { break; } else { continue; } }
        @unroll for (bit<8> i in 1 .. x) x += i;
        for (; x != 0; ) { x = x - 1; }
    }
}
// ----
// direct application of types, with and without names, of controls and parsers
control d(inout bit<8> x) { apply { x = x + 1; } }
control c(inout bit<8> x) { apply { d.apply(x); d.apply(x = x); } }
parser q(packet_in p, out bit<8> x) { state start { x = p.lookahead<bit<8>>(); transition accept; } }
parser r(packet_in p, out bit<8> x) { state start { q.apply(p, x); q.apply(x = x, p = p); transition accept; } }
// ----
// blocks that take blocks as arguments of their constructors
control d(inout bit<8> x) { apply { x = x + 1; } }
control c(inout bit<8> x)(d inner) { apply { inner.apply(x); } }
control f(inout bit<8> x) { c(d()) outer; apply { outer.apply(x); } }
// ----
// packages of packages, with numbers, strings and tuples
control block<T>(inout T t);
package k<T>(block<T> x, @optional block<T> y);
package m<T>(k<T> k, string name, bool b, int i, tuple<bit<8>, int> t);
control c(inout bit<8> t) { apply { } }
k(x = c()) inner;
m(inner, "a", true, 7, { 1, 2 }) main;
