//! What `dump` writes brings a switch to the same state: the one that it was asked of, and any other with the same
//! program, whatever was written there before. Every program of the corpus is filled with whatever its P4Info allows.

use crate::support;

use ctl::engine::{self, After, Surroundings};
use ctl::plan::{Plan, entity, update};
use ctl::{Options, Schema, Session, data};
use p4runtime_proto::p4::config::v1 as config;
use p4runtime_proto::p4::config::v1::match_field::{Match, MatchType};
use p4runtime_proto::p4::v1::entity::Entity as Kind;
use p4runtime_proto::p4::v1::field_match::FieldMatchType;
use p4runtime_proto::p4::v1::packet_replication_engine_entry::Type as Engine;
use p4runtime_proto::p4::v1::replica::PortKind;
use p4runtime_proto::p4::v1::set_forwarding_pipeline_config_request::Action::VerifyAndCommit;
use p4runtime_proto::p4::v1::table_action::Type as ActionType;
use p4runtime_proto::p4::v1::update::Type::{Insert, Modify};
use p4runtime_proto::p4::v1::write_request::Atomicity;
use p4runtime_proto::p4::v1::*;
use p4runtime_proto::text::to_text;
use std::path::{Path, PathBuf};
use support::{Switch, wirespeed};

/// Numbers that look random and are the same each time.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 20
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }

    /// The bytes of a value of this width, as few as it needs.
    fn bits(&mut self, width: i32) -> Vec<u8> {
        let width = width.max(1) as usize;
        let mut bytes: Vec<u8> = (0..width.div_ceil(8)).map(|_| self.next() as u8).collect();
        bytes[0] &= 0xFF_u8 >> (bytes.len() * 8 - width);
        canonical(bytes)
    }

    fn text(&mut self) -> Vec<u8> {
        let all = ["eth0", "a b", "it's", "say \"it's\"", "x=y", "#1", "*"];
        all[self.below(all.len())].as_bytes().to_vec()
    }

    fn value(&mut self, schema: &Schema, width: i32, named: Option<&config::P4NamedType>) -> Vec<u8> {
        use config::p4_new_type_spec::Representation;
        use config::p4_new_type_translation::SdnType;
        let new_type = named.and_then(|it| schema.types().new_types.get(&it.name));
        match new_type.and_then(|it| it.representation.as_ref()) {
            Some(Representation::TranslatedType(it)) => match it.sdn_type {
                Some(SdnType::SdnString(_)) => self.text(),
                Some(SdnType::SdnBitwidth(width)) => self.bits(width),
                None => self.bits(width),
            },
            _ => self.bits(width),
        }
    }
}

fn canonical(bytes: Vec<u8>) -> Vec<u8> {
    let zeros = bytes.iter().take_while(|&&byte| byte == 0).count();
    if zeros == bytes.len() { vec![0] } else { bytes[zeros..].to_vec() }
}

fn id(preamble: &Option<config::Preamble>) -> u32 {
    preamble.as_ref().map_or(0, |it| it.id)
}

/// The match of a key; none for any value.
fn field_match(random: &mut Random, schema: &Schema, field: &config::MatchField) -> Option<FieldMatch> {
    let width = field.bitwidth;
    let value = random.value(schema, width, field.type_name.as_ref());
    let Some(Match::MatchType(kind)) = field.r#match else { return None };
    let padded = |bytes: &[u8]| {
        let mut all = vec![0; (width as usize).div_ceil(8).saturating_sub(bytes.len())];
        all.extend_from_slice(bytes);
        all
    };
    let is_wild = random.below(4) == 0;
    let kind = match MatchType::try_from(kind).unwrap() {
        MatchType::Exact => FieldMatchType::Exact(field_match::Exact { value }),
        _ if is_wild => return None,
        MatchType::Optional => FieldMatchType::Optional(field_match::Optional { value }),
        MatchType::Lpm => {
            let prefix_len = 1 + random.below(width as usize);
            let mut bytes = padded(&value);
            let low = width as usize - prefix_len;
            for bit in 0..low {
                let byte = bytes.len() - 1 - bit / 8;
                bytes[byte] &= !(1 << (bit % 8));
            }
            FieldMatchType::Lpm(field_match::Lpm { value: canonical(bytes), prefix_len: prefix_len as i32 })
        }
        MatchType::Ternary => {
            let mask = random.bits(width);
            if mask == [0] {
                return None;
            }
            let masked = padded(&value).iter().zip(padded(&mask)).map(|(value, mask)| value & mask).collect();
            FieldMatchType::Ternary(field_match::Ternary { value: canonical(masked), mask })
        }
        MatchType::Range => {
            let other = random.bits(width);
            let (low, high) = if padded(&value) <= padded(&other) { (value, other) } else { (other, value) };
            FieldMatchType::Range(field_match::Range { low, high })
        }
        MatchType::Unspecified => return None,
    };
    Some(FieldMatch { field_id: field.id, field_match_type: Some(kind) })
}

fn call(random: &mut Random, schema: &Schema, action: &config::Action) -> Action {
    let param = |it: &config::action::Param| action::Param {
        param_id: it.id,
        value: random.value(schema, it.bitwidth, it.type_name.as_ref()),
    };
    Action { action_id: id(&action.preamble), params: action.params.iter().map(param).collect() }
}

fn any_action(random: &mut Random, schema: &Schema, table: &config::Table, is_default: bool) -> Option<Action> {
    use config::action_ref::Scope;
    let unfit = if is_default { Scope::TableOnly } else { Scope::DefaultOnly };
    let fit: Vec<_> = schema.actions_of(table).into_iter().filter(|(_, scope)| *scope != unfit).collect();
    let (action, _) = fit.get(random.below(fit.len()))?;
    Some(call(random, schema, action))
}

fn rates(random: &mut Random) -> MeterConfig {
    let cir = random.below(100_000) as i64;
    MeterConfig { cir, cburst: 1500, pir: cir + random.below(1000) as i64, pburst: 3000, eburst: 0 }
}

fn counts(random: &mut Random) -> CounterData {
    CounterData { byte_count: random.next() as i64, packet_count: random.below(5) as i64 }
}

#[allow(deprecated, reason = "older controllers leave a number with their entries")]
fn of_table(random: &mut Random, schema: &Schema, table: &config::Table, found: &mut Vec<Update>) {
    use config::table::IdleTimeoutBehavior;
    let table_id = id(&table.preamble);
    for _ in 0..4 {
        let mut entry = TableEntry { table_id, ..TableEntry::default() };
        entry.r#match = table.match_fields.iter().filter_map(|field| field_match(random, schema, field)).collect();
        let is_exact = |kind: i32| [MatchType::Exact as i32, MatchType::Lpm as i32].contains(&kind);
        let needs_priority =
            |it: &config::MatchField| !matches!(it.r#match, Some(Match::MatchType(kind)) if is_exact(kind));
        if table.match_fields.iter().any(needs_priority) {
            entry.priority = 1 + random.below(1000) as i32;
        }
        let action = any_action(random, schema, table, false);
        let kind = match (table.implementation_id, random.below(3)) {
            (0, _) => action.map(ActionType::Action),
            (_, 0) => Some(ActionType::ActionProfileMemberId(1 + random.below(3) as u32)),
            (_, 1) => Some(ActionType::ActionProfileGroupId(1 + random.below(2) as u32)),
            _ => {
                let choice = |weight| ActionProfileAction { action: action.clone(), weight, watch_kind: None };
                let action_profile_actions = vec![choice(1), choice(2)];
                let set = ActionProfileActionSet { action_profile_actions, ..ActionProfileActionSet::default() };
                Some(ActionType::ActionProfileActionSet(set))
            }
        };
        entry.action = kind.map(|kind| TableAction { r#type: Some(kind) });
        if random.below(2) == 0 {
            entry.metadata = random.bits(40);
            entry.controller_metadata = random.next();
        }
        if table.idle_timeout_behavior() == IdleTimeoutBehavior::NotifyControl {
            entry.idle_timeout_ns = (1_000_000_000_000 + random.next()) as i64;
        }
        found.push(update(Insert, Kind::TableEntry(entry.clone())));
        let named = TableEntry { action: None, metadata: vec![], controller_metadata: 0, idle_timeout_ns: 0, ..entry };
        let table_entry = Some(named);
        if schema.direct_counter_of(table).is_some() {
            let counter = DirectCounterEntry { table_entry: table_entry.clone(), data: Some(counts(random)) };
            found.push(update(Modify, Kind::DirectCounterEntry(counter)));
        }
        if schema.direct_meter_of(table).is_some() {
            let meter = DirectMeterEntry { table_entry, config: Some(rates(random)), counter_data: None };
            found.push(update(Modify, Kind::DirectMeterEntry(meter)));
        }
    }
    if random.below(2) == 0
        && let Some(action) = any_action(random, schema, table, true)
    {
        let action = Some(TableAction { r#type: Some(ActionType::Action(action)) });
        let default = TableEntry { table_id, is_default_action: true, action, ..TableEntry::default() };
        found.push(update(Modify, Kind::TableEntry(default)));
    }
}

fn of_profile(random: &mut Random, schema: &Schema, profile: &config::ActionProfile, found: &mut Vec<Update>) {
    let action_profile_id = id(&profile.preamble);
    let table = profile.table_ids.first().and_then(|&id| schema.table_by_id(id));
    for member_id in 1..=3 {
        let action = table.and_then(|table| any_action(random, schema, table, false));
        let member = ActionProfileMember { action_profile_id, member_id, action };
        found.push(update(Insert, Kind::ActionProfileMember(member)));
    }
    for group_id in 1..=2 {
        let member = |member_id| action_profile_group::Member { member_id, weight: 1, watch_kind: None };
        let members = vec![member(1), member(1 + group_id)];
        let group = ActionProfileGroup { action_profile_id, group_id, members, max_size: random.below(2) as i32 * 4 };
        found.push(update(Insert, Kind::ActionProfileGroup(group)));
    }
}

/// A value like `zero`, but for its bits.
fn some_data(random: &mut Random, zero: &P4Data, width: i32) -> P4Data {
    use p4_data::Data;
    let data = match zero.data.clone().unwrap() {
        Data::Bitstring(_) => Data::Bitstring(random.bits(width)),
        Data::Bool(_) => Data::Bool(random.below(2) == 0),
        Data::Struct(it) => Data::Struct(P4StructLike {
            members: it.members.iter().map(|member| some_data(random, member, 1)).collect(),
        }),
        Data::Tuple(it) => Data::Tuple(P4StructLike {
            members: it.members.iter().map(|member| some_data(random, member, 1)).collect(),
        }),
        other => other,
    };
    P4Data { data: Some(data) }
}

fn of_arrays(random: &mut Random, schema: &Schema, found: &mut Vec<Update>) {
    let info = schema.info();
    for it in &info.counters {
        let index = Some(Index { index: random.below(it.size as usize) as i64 });
        let entry = CounterEntry { counter_id: id(&it.preamble), index, data: Some(counts(random)) };
        found.push(update(Modify, Kind::CounterEntry(entry)));
    }
    for it in &info.meters {
        let index = Some(Index { index: random.below(it.size as usize) as i64 });
        let entry = MeterEntry { meter_id: id(&it.preamble), index, config: Some(rates(random)), counter_data: None };
        found.push(update(Modify, Kind::MeterEntry(entry)));
    }
    for it in &info.registers {
        let index = Some(Index { index: random.below(it.size as usize) as i64 });
        let ty = data::data_type(schema, it.type_spec.as_ref()).unwrap();
        let value = some_data(random, &data::zero(&ty), 1);
        let entry = RegisterEntry { register_id: id(&it.preamble), index, data: Some(value) };
        found.push(update(Modify, Kind::RegisterEntry(entry)));
    }
}

/// Whatever can be written to a switch with this program.
fn some_updates(random: &mut Random, schema: &Schema) -> Vec<Update> {
    let mut found = Vec::new();
    let info = schema.info();
    info.action_profiles.iter().for_each(|it| of_profile(random, schema, it, &mut found));
    info.tables.iter().for_each(|it| of_table(random, schema, it, &mut found));
    of_arrays(random, schema, &mut found);
    for set in &info.value_sets {
        let matches = set.r#match.iter().filter_map(|it| field_match(random, schema, it)).collect();
        let members = vec![ValueSetMember { r#match: matches }];
        found.push(update(Modify, Kind::ValueSetEntry(ValueSetEntry { value_set_id: id(&set.preamble), members })));
    }
    for digest in &info.digests {
        let config = digest_entry::Config {
            max_timeout_ns: random.next() as i64,
            max_list_size: random.below(100) as i32,
            ack_timeout_ns: random.below(1_000_000_000) as i64,
        };
        let entry = DigestEntry { digest_id: id(&digest.preamble), config: Some(config) };
        found.push(update(Insert, Kind::DigestEntry(entry)));
    }
    let mut engine = |entry| {
        let entry = PacketReplicationEngineEntry { r#type: Some(entry) };
        found.push(update(Insert, Kind::PacketReplicationEngineEntry(entry)));
    };
    let replica =
        |port: u8, instance| Replica { port_kind: Some(PortKind::Port(vec![port])), instance, backup_replicas: vec![] };
    let number = 1 + random.below(3) as u32;
    engine(Engine::MulticastGroupEntry(MulticastGroupEntry {
        multicast_group_id: number,
        replicas: vec![replica(1, number), replica(2, 0)],
        metadata: random.bits(16),
    }));
    engine(Engine::CloneSessionEntry(CloneSessionEntry {
        session_id: number,
        replicas: vec![replica(3, 0)],
        class_of_service: random.below(2) as u32,
        packet_length_bytes: random.below(2) as i32 * 100,
    }));
    found
}

/// A switch and a client of it.
struct Client {
    session: Session,
    _switch: Switch,
}

impl Client {
    async fn connect() -> Client {
        let switch = Switch::start();
        let options = Options { address: switch.address.clone(), device_id: 1, ..Options::default() };
        Client { session: Session::connect(options).await.unwrap(), _switch: switch }
    }

    async fn load(&mut self, program: &str) -> Result<(), ctl::Failure> {
        let p4_device_config = program.as_bytes().to_vec();
        let config = ForwardingPipelineConfig { p4_device_config, ..ForwardingPipelineConfig::default() };
        self.session.load(VerifyAndCommit, Some(config)).await.map(drop)
    }

    /// Writes some of what the program allows: how much was taken.
    async fn fill(&mut self, random: &mut Random) -> usize {
        let schema = self.session.schema().await.unwrap();
        let mut taken = 0;
        for one in some_updates(random, &schema) {
            taken += usize::from(self.session.write(vec![one], Atomicity::ContinueOnError).await.is_ok());
        }
        taken
    }

    async fn line(&mut self, line: &str) -> Result<Vec<String>, ctl::Failure> {
        let schema = self.session.schema().await?;
        let plan = ctl::parse(line, &schema)?;
        let mut lines = Vec::new();
        let mut out = |text: &str| lines.push(text.to_owned());
        let mut stop = Box::pin(std::future::pending());
        let load = |_: &str| Err(control::Problem::new("no programs here"));
        let mut around = Surroundings {
            json: false,
            is_interactive: false,
            out: &mut out,
            note: &mut |_| (),
            load: &load,
            stop: &mut stop,
            tracer: None,
        };
        assert_eq!(engine::carry_out(&mut self.session, plan, &mut around).await?, After::GoOn);
        Ok(lines)
    }

    /// Carries lines out, one after the other or as one.
    async fn replay(&mut self, lines: &[String], is_atomic: bool) {
        if !is_atomic {
            for line in lines {
                let done = self.line(line).await;
                done.unwrap_or_else(|failure| panic!("{line}: {failure}"));
            }
            return;
        }
        let schema = self.session.schema().await.unwrap();
        let mut updates = Vec::new();
        for line in lines {
            let plan = ctl::parse(line, &schema).unwrap_or_else(|problem| panic!("{line}: {problem}"));
            let more = engine::updates(&mut self.session, plan, &updates).await;
            updates.extend(more.unwrap_or_else(|failure| panic!("{line}: {failure}")));
        }
        let written = self.session.write(updates, Atomicity::DataplaneAtomic).await;
        written.unwrap_or_else(|failure| panic!("{}\n{failure}", lines.join("\n")));
    }

    /// All that can be read, as text.
    async fn state(&mut self) -> Vec<String> {
        let schema = self.session.schema().await.unwrap();
        let Ok(Plan::Dump(dump)) = ctl::parse("dump with-data", &schema) else { panic!("a dump") };
        let all = std::iter::once(entity(Kind::TableEntry(TableEntry::default())));
        let found = self.session.read_all(all.chain(dump.entities).collect()).await.unwrap();
        let mut texts: Vec<String> = found.iter().map(|it| to_text("p4.v1.Entity", it)).collect();
        texts.sort_unstable();
        texts
    }
}

/// Whether two states are the same.
fn check_same(path: &Path, dump: &[String], expected: &[String], found: &[String]) {
    if expected == found {
        return;
    }
    let without = |all: &[String], other: &[String]| {
        let own: Vec<String> = all.iter().filter(|it| !other.contains(it)).cloned().collect();
        own.concat()
    };
    let (missing, new) = (without(expected, found), without(found, expected));
    panic!("{}\n{}\nmissing:\n{missing}\nin its place:\n{new}", path.display(), dump.join("\n"));
}

/// The programs of the repository, as P4_16 without other files.
fn programs() -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut folders = vec![root.join("tests"), root.join("apps")];
    let mut files = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/everything.p4")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.extension() {
                _ if path.is_dir() => folders.push(path),
                Some(extension) if extension == "p4" => files.push(path),
                _ => {}
            }
        }
    }
    files.sort_unstable();
    let text = |path: &PathBuf| {
        let output = wirespeed().args(["compile", "--emit", "p4"]).arg(path).output().unwrap();
        output.status.success().then(|| String::from_utf8(output.stdout).unwrap())
    };
    files.iter().filter_map(|path| Some((path.clone(), text(path)?))).collect()
}

/// The cells and entries that a program begins with: those of gateways are as many as their subscribers, are all alike,
/// and take minutes.
const CELLS_MAX: usize = 5_000;

#[tokio::test]
async fn what_is_dumped_brings_the_same_state_back() {
    let (mut one, mut other) = (Client::connect().await, Client::connect().await);
    let (mut random, mut loaded, mut taken) = (Random(7), 0, 0);
    for (path, program) in programs() {
        if one.load(&program).await.is_err() {
            continue;
        }
        let fresh = (one.line("dump with-data").await.unwrap(), one.state().await);
        if fresh.1.len() > CELLS_MAX {
            continue;
        }
        other.load(&program).await.unwrap();
        loaded += 1;
        taken += one.fill(&mut random).await;
        let (dump, state) = (one.line("dump with-data").await.unwrap(), one.state().await);
        // On a switch with nothing but the program, then with something else in its place; as one and line by line.
        other.replay(&dump, false).await;
        check_same(&path, &dump, &state, &other.state().await);
        other.fill(&mut random).await;
        other.replay(&dump, true).await;
        check_same(&path, &dump, &state, &other.state().await);
        // On itself.
        one.replay(&dump, false).await;
        check_same(&path, &dump, &state, &one.state().await);
        assert_eq!(one.line("dump with-data").await.unwrap(), dump);
        // And back to the beginning.
        one.replay(&fresh.0, true).await;
        check_same(&path, &fresh.0, &fresh.1, &one.state().await);
    }
    assert!(loaded > 150 && taken > 1000, "{loaded} programs, {taken} updates");
}
