// ----
control C(inout bit<8> x) { table t { } apply { } }
// ----
control C(inout bit<8> x) { table t { key = { x: exact; } } apply { } }
// ----
control C(inout bit<8> x) { table t { key = { y: exact; } actions = { NoAction; } } apply { } }
// ----
control C(inout bit<8> x) { table t { key = { x: range; } actions = { NoAction; } } apply { } }
// ----
control C(inout bit<8> x) { table t { key = { x: exact; } actions = { nothing; } } apply { } }
// ----
control C(inout bit<8> x) { table t { key = { x: exact; } actions = { x; } } apply { } }
// ----
void f() { } control C(inout bit<8> x) { table t { key = { x: exact; } actions = { f; } } apply { } }
// ----
control C(inout bit<8> x) { action a(in bit<8> y) { } table t { actions = { a; } } apply { } }
// ----
control C(inout bit<8> x) { action a(in bit<8> y) { } table t { actions = { a(true); } } apply { } }
// ----
control C(inout bit<8> x) { action a(inout bit<8> y) { } table t { actions = { a(1); } } apply { } }
// ----
control C(inout bit<8> x) { action a(bit<8> y) { } table t { actions = { a(1); } } apply { } }
// ----
control C(inout bit<8> x) { action a(bit<8> y) { } table t { actions = { a; } default_action = a; } apply { } }
// ----
control C(inout bit<8> x) { action a(bit<8> y) { } table t { actions = { a; } default_action = a(true); } apply { } }
// ----
control C(inout bit<8> x) { action a(bit<8> y) { } table t { actions = { a; } default_action = a(1, 2); } apply { } }
// ----
control C(inout bit<8> x) { action a(bit<8> y) { } table t { actions = { a; } default_action = a(x); } apply { } }
// ----
control C(inout bit<8> x) { action a() { } table t { actions = { NoAction; } default_action = a(); } apply { } }
// ----
control C(inout bit<8> x) { table t { actions = { NoAction; } default_action = 1; } apply { } }
// ----
control C(inout bit<8> x) { table t { key = { x: exact; } actions = { NoAction; } entries = { (1, 2): NoAction(); } } apply { } }
// ----
control C(inout bit<8> x) { table t { key = { x: exact; } actions = { NoAction; } entries = { true: NoAction(); } } apply { } }
// ----
control C(inout bit<8> x) { table t { key = { x: exact; } actions = { NoAction; } entries = { x: NoAction(); } } apply { } }
// ----
control C(inout bit<8> x) { action a() { } table t { key = { x: exact; } actions = { NoAction; } entries = { 1: a(); } } apply { } }
// ----
control C(inout bit<8> x) { action a(bit<8> y) { } table t { key = { x: exact; } actions = { a; } entries = { 1: a(); } } apply { } }
// ----
control C(inout bit<8> x) { action a(bit<8> y) { } table t { key = { x: exact; } actions = { a; } entries = { 1: a(9w1); } } apply { } }
// ----
control C(inout bit<8> x) { table t { actions = { NoAction; } entries = { 1: NoAction(); } } apply { } }
// ----
control C(inout bit<8> x) { table t { actions = { NoAction; } size = x; } apply { } }
// ----
control C(inout bit<8> x) { table t { actions = { NoAction; } size = true; } apply { } }
// ----
control C(inout bit<8> x) { table t { actions = { NoAction; } implementation = nothing; } apply { } }
// ----
control C(inout bit<8> x) { table t { actions = { NoAction; } } action a(in bool hit) { } table u { actions = { a(t.apply().hit); } } apply { } }
// ----
control C(inout bit<8> x) { table t { actions = { NoAction; } } apply { t(); } }
// ----
control C(inout bit<8> x) { table t { actions = { NoAction; } } apply { t.apply(x); } }
// ----
control C(inout bit<8> x) { table t { actions = { NoAction; } } apply { t.hit(); } }
// ----
control C(inout bit<8> x) { table t { actions = { NoAction; } } apply { if (t.apply()) { } } }
// ----
control C(inout bit<8> x) { table t { actions = { NoAction; } } apply { if (t.apply().hits) { } } }
// ----
control C(inout bit<8> x) { table t { actions = { NoAction; } } apply { x = t.apply().action_run; } }
// ----
control C(inout bit<8> x) { table t { actions = { NoAction; } } apply { switch (t.apply()) { NoAction: { } } } }
// ----
control C(inout bit<8> x) { table t { actions = { NoAction; } } apply { switch (t.apply().action_run) { other: { } } } }
// ----
control C(inout bit<8> x) { table t { actions = { NoAction; } } apply { switch (t.apply().action_run) { NoAction: { } NoAction: { } } } }
// ----
control C(inout bit<8> x) { table t { actions = { NoAction; } } action a() { t.apply(); } apply { } }
// ----
control C(inout bit<8> x) { table t { actions = { NoAction; } } action a() { switch (t.apply().action_run) { NoAction: { } } } apply { } }
// ----
control C(inout bit<8> x) { table t { actions = { t2; } } table t2 { actions = { NoAction; } } apply { } }
// ----
control C(inout bit<8> x) { table t { actions = { NoAction; NoAction; } } apply { } }
// ----
control C(inout bit<8> x) { table t { actions = { NoAction; } } table t { actions = { NoAction; } } apply { } }
// ----
control C(inout bit<8> x) { action a(bit<8> y) { y = 1; } apply { } }
// ----
control C(inout bit<8> x) { action a(int y) { } apply { } }
// ----
control C(packet_in p) { table t { key = { p: exact; } actions = { NoAction; } } apply { } }
// ----
control C(inout bit<8> x) { action a(inout bit<8> y, bit<8> z) { } table t { key = { x: exact; } actions = { a(x); } entries = { 1: a; 2: a(); 3: a(x); } default_action = a; } apply { } }
// ----
control C(inout bit<8> x) { action a() { } table t { actions = { a; } entries = { _: a(); } } table u { key = { } actions = { a; } entries = { 1: a(); } } apply { } }
// ----
parser P(inout bit<8> x) { bit<8> y = x; state start { transition accept; } } control C(inout bit<8> x) { table t { actions = { NoAction; } } action a() { bool b = t.apply().hit; } apply { } }
// ----
control C(inout bit<8> x) { action a() { } table t { default_action = a; actions = { a; } } apply { } }
