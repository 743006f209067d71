// Declarations of types of every kind.
#include <core.p4>

typedef bit<48> mac_t;
type bit<9> Port;
type Port Port2;
typedef struct Pair { bit<8> a; bit<8> b; } PairAgain;
enum Suit { Clubs, Diamonds, Hearths, Spades }
enum bit<16> EtherType { VLAN = 0x8100, QINQ = 0x9100, MPLS = 0x8847, IPV4 = 0x0800, IPV6 = 0x86dd }
enum int<8> Signed { minus = -1, zero = 0 }
const bit<8> base_value = 3;
enum bit<8> FromConstant { one = base_value, two = (bit<8>)1 << 2, three = 1 + 2 * 3 }
error { Custom, Other }
match_kind { fuzzy }

header Ethernet { mac_t dst; mac_t src; EtherType type; }
header Generic<T> { T value; bit<8> tail; }
header Options { bit<8> length; varbit<320> bytes; }
header Flags { bool f; bit<7> pad; Port2 port; bit<7> pad2; Pair pair; }
struct Box<T, U> { T first; U second; Generic<T> header_inside; }
struct Nested { Box<bit<8>, bit<16>> box; tuple<bit<8>, bool> pair; Ethernet[3] stack; Suit suit; error e; bit<4>[5] numbers; }
header_union Ip { Ethernet four; Options six; }
struct All { Ip[2] unions; Ip one; Nested nested; }

const int big = 1 << 200;
const bit<32> wrapped = (bit<32>)(big >> 170);
const int<8> negative = -5;
const bit<8> shifted = 1 << 3;
const bool truth = 5 > 3 && !(2 == 3) || false;
const bit<16> joined = 8w1 ++ 8w2;
const bit<4> piece = joined[11:8];
const string text = "a" ++ "b";
const PairAgain pair = { 1, 2 };
const Pair named = { b = 2, a = 1 };
const bit<8> from_pair = pair.a + named.b;
const tuple<bit<8>, bool> couple = { 5, true };
const bit<8> first_of_couple = couple[0];
const list<Pair> pairs = { { 1, 2 }, { 3, 4 } };
const Suit suit = Suit.Hearths;
const EtherType ether = EtherType.IPV4;
const bit<16> as_number = EtherType.IPV4;
const EtherType back = (EtherType)16w0x800;
const Port port = (Port)9w3;
const bit<9> plain = (bit<9>)port;
const error err = error.Custom;
const bit<8> size_bytes = (bit<8>)Ethernet.minSizeInBytes();
const int options_max = Options.maxSizeInBits();
const bit<(8 * 2)> width_from_expression = 3;
const bit<8> conditional = truth ? 8w1 : 8w2;
const bit<8> of_int_conditional = true ? 1 : 2;
const bit<8> division = 17 / 4 + 17 % 4;
const int<16> saturated = 16s5 |+| 16s7;
const bool ok = static_assert(options_max == 328, "an options header has 8 + 320 bits");
