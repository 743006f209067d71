//! A small program for this crate's tests, with a table of every kind.

use base::{MatchKind, Span};
use ir::*;

fn var(program: &mut Program, name: &str, width: u32) -> VarId {
    program.vars.push(Var { name: name.into(), ty: Type::Bit(width), kind: VarKind::Local })
}

fn action(program: &mut Program, name: &str, params: &[(&str, u32)]) -> ActionId {
    let params = params.iter().map(|(param, width)| var(program, &format!("{name}.{param}"), *width)).collect();
    program.actions.push(Action { name: name.into(), params, empty_params: vec![], body: vec![], span: Span::NONE })
}

fn table(program: &mut Program, name: &str, keys: &[(&str, Type, MatchKind)], actions: &[ActionId]) -> TableId {
    let key = |&(name, ty, kind): &(&str, Type, MatchKind)| Key {
        name: name.into(),
        expr: Expr::constant(ty, base::Bits::zero(ty.width())),
        kind,
    };
    let entry = |&action: &ActionId| TableAction { action, table_only: false, default_only: false };
    program.tables.push(Table {
        name: name.into(),
        keys: keys.iter().map(key).collect(),
        actions: actions.iter().map(entry).collect(),
        entries: vec![],
        const_entries: false,
        default_action: ActionCall { action: 0, args: vec![] },
        const_default: false,
        size: 1024,
        direct_counters: Vec::new(),
        direct_meter: None,
        implementation: None,
        support_timeout: false,
        expires: false,
        adds_on_miss: false,
        span: Span::NONE,
    })
}

fn empty() -> Program {
    Program { errors: ERROR_NAMES.map(String::from).to_vec(), ..Program::new(&v1model::ARCHITECTURE) }
}

/// Seven tables, six actions, an action selector, and one or two of each stateful object.
pub(crate) fn program() -> Program {
    use base::MatchKind::*;
    let mut it = empty();
    let drop = action(&mut it, "MyIngress.drop", &[]);
    let forward = action(&mut it, "MyIngress.ipv4_forward", &[("dstAddr", 48), ("port", 9)]);
    let nothing = action(&mut it, "NoAction", &[]);
    let set_port = action(&mut it, "MyIngress.set_port", &[("port", 9)]);
    let mark = action(&mut it, "MyEgress.mark_ecn", &[]);
    let tunnel = action(&mut it, "MyIngress.tunnel", &[("source", 128)]);

    it.actions[tunnel].empty_params.push(EmptyParam { position: 1, name: "rest".into() });

    table(&mut it, "MyIngress.ipv4_lpm", &[("hdr.ipv4.dstAddr", Type::Bit(32), Lpm)], &[drop, forward, nothing]);
    let l2 =
        table(&mut it, "MyIngress.l2", &[("hdr.ethernet.dstAddr", Type::Bit(48), Exact)], &[drop, set_port, tunnel]);
    let keys = [
        ("hdr.ipv4.isValid()", Type::Bool, Exact),
        ("hdr.ipv4.srcAddr", Type::Bit(32), Ternary),
        ("hdr.tcp.dstPort", Type::Bit(16), Range),
        ("meta.tag", Type::Bit(12), Optional),
    ];
    table(&mut it, "MyIngress.acl.filter", &keys, &[nothing, drop]);
    table(&mut it, "MyEgress.acl.filter", &[("meta.delta", Type::Int(8), Exact)], &[nothing, mark]);
    table(&mut it, "MyEgress.mark", &[], &[nothing, mark]);
    let tiny = table(&mut it, "MyIngress.tiny", &[("meta.tag", Type::Bit(12), Exact)], &[nothing, drop, set_port]);
    it.tables[tiny].const_entries = true;
    it.tables[tiny].const_default = true;
    it.tables[l2].actions[0].default_only = true;
    it.tables[l2].actions[1].table_only = true;
    it.tables[l2].support_timeout = true;

    let balance = table(&mut it, "MyIngress.balance", &[("meta.tag", Type::Bit(12), Exact)], &[nothing, set_port]);
    let selector = Some(HashAlgorithm::Crc16);
    let hops = it.action_profiles.push(ActionProfile { name: "MyIngress.hops".into(), size: 8, selector });
    it.tables[balance].implementation = Some(Implementation { profile: hops, inputs: vec![] });
    it.calculations.push(Calculation { name: "calc".into(), width_bits: 16 });
    it.calculations.push(Calculation { name: "calc_0".into(), width_bits: 32 });

    let (name, ty) = ("MyIngress.flows".into(), Type::Bit(16));
    let initial = base::Bits::zero(16);
    let parts_bits = vec![ty.width()];
    it.registers.push(Register { name, ty, parts_bits, size: 4, initial, is_start_number: false });
    it.counters.push(Counter { name: "MyIngress.rx".into(), unit: Unit::PacketsAndBytes, size: 8 });
    let hits = it.direct_counters.push(DirectCounter { name: "MyIngress.hits".into(), unit: Unit::Packets });
    it.tables[l2].direct_counters.push(hits);
    it.meters.push(Meter { name: "MyIngress.police".into(), unit: Unit::Bytes, size: 2 });
    let keys = vec![("type".into(), 16, Exact), ("port".into(), 16, Range)];
    it.value_sets.push(ValueSet { name: "MyParser.tunnels".into(), keys, size: 4 });
    it
}
