// Extern objects, abstract methods, constructors, generic packages.
#include <core.p4>

extern Register<T, I> {
    Register(I size);
    Register(I size, T first);
    T read(in I index);
    void write(in I index, in T value);
}
extern Balancer {
    Balancer();
    abstract bit<4> on_new_flow(in bit<32> address);
    bit<4> balance(in bit<32> address);
}
extern Hash<O> {
    Hash(bit<8> algorithm);
    O get<D>(in D data);
    O get<T, D>(in T base, in D data, in T maximum);
}
extern bit<32> random_number(in bit<32> low, @optional in bit<32> high);
extern void log(string message);
extern void optional_last(in bit<8> a, @optional in bit<8> b);

struct H { bit<32> a; }
struct M { bit<4> b; }

parser Parse<PH, PM>(packet_in packet, out PH headers, inout PM meta);
control Work<PH, PM>(inout PH headers, inout PM meta);
package Pipe<PH, PM>(Parse<PH, PM> parse, Work<PH, PM> work, @optional Work<PH, PM> more);
package Switch<PH, PM, X>(Pipe<PH, PM> first, Pipe<PH, X> second);

Register<bit<32>, bit<8>>(16) outside;

control Shared(inout bit<32> value)(Register<bit<32>, bit<8>> store) {
    apply { store.write(1, value); }
}

parser P(packet_in packet, out H headers, inout M meta) {
    state start { headers.a = packet.lookahead<bit<32>>(); transition accept; }
}

control W(inout H headers, inout M meta) {
    Register<bit<32>, bit<8>>(size = 8) inside;
    Register<_, bit<8>>(8, 32w7) inferred;
    Hash<bit<16>>(3) hash;
    Shared(outside) shared;
    Balancer() balancer = {
        bit<4> on_new_flow(in bit<32> address) {
            bit<32> count = outside.read(0);
            outside.write(0, count + 1);
            return (bit<4>)count + address[3:0] + this.balance(address);
        }
    };
    apply {
        bit<32> v = inside.read(3) + inferred.read(1);
        inside.write(1, v);
        inside.write(index = 1, value = 7);
        meta.b = balancer.balance(headers.a);
        bit<16> h = hash.get({ headers.a, v });
        h = hash.get(16w0, { headers.a }, 10);
        headers.a = random_number(0, 5) + random_number(0);
        optional_last(1);
        optional_last(a = 1);
        log("done");
        shared.apply(headers.a);
        outside.write(0, v);
    }
}
control W2(inout H headers, inout bit<8> meta) { apply { } }
parser P2(packet_in packet, out H headers, inout bit<8> meta) { state start { transition accept; } }

Pipe(P(), W(), W()) first;
Pipe<_, _>(P2(), W2()) second;
Switch(first, second) main;
