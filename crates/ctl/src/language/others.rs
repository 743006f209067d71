//! Value sets, digests, packets, programs, and the session itself.

use super::profiles::verb;
use super::{Arguments, duration_ns, help, hex_bytes};
use crate::key;
use crate::plan::{
    Change, ChangeKind, Filter, Load, LoadHow, Plan, Read, WantedWorkers, Watched, digest_config, entity, update,
};
use crate::schema::{Schema, id, name};
use crate::value::{Said, ValueType};
use control::{Problem, names};
use p4runtime_proto::p4::config::v1::ControllerPacketMetadata;
use p4runtime_proto::p4::v1::entity::Entity as Kind;
use p4runtime_proto::p4::v1::update::Type as UpdateType;
use p4runtime_proto::p4::v1::{DigestEntry, PacketMetadata, PacketOut, ValueSetEntry};
use p4runtime_proto::wirespeed::v1::TimerChange;

fn read(kind: Kind) -> Plan {
    Plan::Read(Read { entities: vec![entity(kind)], filter: Filter::default() })
}

pub(super) fn workers(it: &Arguments<'_>) -> Result<Plan, Problem> {
    it.end(1)?;
    let wanted = match it.words.first() {
        None => None,
        Some(word) if word.is("auto") => Some(WantedWorkers::Auto),
        Some(word) => {
            let count = word.text.parse().ok().filter(|count| *count > 0).ok_or_else(|| {
                let wrong = Problem::new(format!("{} is not a valid number of workers", word.text));
                wrong.with_help("it is a number from 1 on, or auto")
            })?;
            Some(WantedWorkers::Count(count))
        }
    };
    Ok(Plan::Workers(wanted))
}

pub(super) fn timers(it: &Arguments<'_>) -> Result<Plan, Problem> {
    if it.words.is_empty() {
        return Ok(Plan::Timers(None));
    }
    let port = it.number(0, "port")?;
    let period = it.word(1, "a period or stop")?;
    if period == "stop" {
        it.end(2)?;
        return Ok(Plan::Timers(Some(TimerChange { port, period_ns: 0, packets: Vec::new() })));
    }
    let period_ns = match duration_ns(period)?.unsigned_abs() {
        0 => return Err(it.misuse("a timer's period is from 1us to 24h")),
        period_ns => period_ns,
    };
    let packets = it.from(2).iter().map(|word| hex_bytes(&word.text, "the packet")).collect::<Result<_, Problem>>()?;
    Ok(Plan::Timers(Some(TimerChange { port, period_ns, packets })))
}

pub(super) fn value_sets(it: &Arguments<'_>) -> Result<Plan, Problem> {
    let verb = verb(it.words).or_else(|| it.words.first().filter(|it| it.is("clear")).map(|_| UpdateType::Modify));
    let Some(verb) = verb else {
        it.end(1)?;
        let value_set_id = match it.words.first() {
            Some(word) => id(&it.schema.value_set(&word.text)?.preamble),
            None => 0,
        };
        return Ok(read(Kind::ValueSetEntry(ValueSetEntry { value_set_id, members: vec![] })));
    };
    let set = it.schema.value_set(it.word(1, "a value set")?)?;
    let all = ValueSetEntry { value_set_id: id(&set.preamble), members: vec![] };
    if it.words[0].is("clear") {
        it.end(2)?;
        return Ok(Plan::Write(vec![update(UpdateType::Modify, Kind::ValueSetEntry(all))]));
    }
    let owner = format!("value set {}", name(&set.preamble));
    let member = key::whole(it.schema, &owner, &set.r#match, it.from(2))?;
    let kind = match verb {
        UpdateType::Insert => ChangeKind::AddToValueSet(member),
        UpdateType::Delete => ChangeKind::DeleteFromValueSet(member),
        _ => return Err(it.misuse("members of a value set are added and deleted")),
    };
    Ok(Plan::Change(Change { entities: vec![entity(Kind::ValueSetEntry(all))], kind }))
}

pub(super) fn digests(it: &Arguments<'_>) -> Result<Plan, Problem> {
    let Some(first) = it.words.first() else { return Ok(read(Kind::DigestEntry(DigestEntry::default()))) };
    if first.is("clear") {
        it.end(1)?;
        let entities = vec![entity(Kind::DigestEntry(DigestEntry::default()))];
        return Ok(Plan::Change(Change { entities, kind: ChangeKind::Clear }));
    }
    let digest_id = id(&it.schema.digest(&first.text)?.preamble);
    let all = DigestEntry { digest_id, config: None };
    match it.words.get(1) {
        None => Ok(read(Kind::DigestEntry(all))),
        Some(word) if word.is("off") => {
            it.end(2)?;
            Ok(Plan::Write(vec![update(UpdateType::Delete, Kind::DigestEntry(all))]))
        }
        Some(word) if word.is("on") => {
            let mut config = digest_config();
            for pair in it.from(2).chunks(2) {
                match pair {
                    [word, time] if word.is("timeout") => config.max_timeout_ns = duration_ns(&time.text)?,
                    [word, time] if word.is("ack") => config.ack_timeout_ns = duration_ns(&time.text)?,
                    [word, size] if word.is("size") => {
                        config.max_list_size = values::unsigned(&size.text, i32::MAX as u64, "list size")? as i32;
                    }
                    _ => return Err(it.misuse("on takes timeout TIME, size N and ack TIME")),
                }
            }
            let wanted = DigestEntry { digest_id, config: Some(config) };
            Ok(Plan::Change(Change {
                entities: vec![entity(Kind::DigestEntry(all))],
                kind: ChangeKind::DigestOn(wanted),
            }))
        }
        Some(word) => Err(it.misuse(format!("{} is neither on nor off", word.text))),
    }
}

/// The type of a field of a controller header.
pub(crate) fn field_types<'a>(schema: &'a Schema, header: &'a ControllerPacketMetadata) -> Vec<(u32, ValueType<'a>)> {
    let field = |it: &'a p4runtime_proto::p4::config::v1::controller_packet_metadata::Metadata| {
        let (type_name, annotations) = (it.type_name.as_ref(), it.annotations.as_slice());
        let said = Said { bitwidth: it.bitwidth, type_name, annotations };
        (it.id, ValueType::new(schema, "field", &it.name, said))
    };
    header.metadata.iter().map(field).collect()
}

pub(super) fn packet_out(it: &Arguments<'_>) -> Result<Plan, Problem> {
    let Some(header) = it.schema.controller_header("packet_out") else {
        return Err(Problem::new("the program accepts no packets from controllers")
            .with_help("it would declare a header with @controller_header(\"packet_out\")"));
    };
    let payload = hex_bytes(it.word(0, "the bytes of a packet")?, "the packet")?;
    let fields = field_types(it.schema, header);
    let names: Vec<&str> = fields.iter().map(|(_, ty)| ty.name).collect();
    let mut metadata: Vec<PacketMetadata> = Vec::new();
    for word in it.from(1) {
        let Some((given, text)) = word.named() else {
            return Err(it.misuse(format!("{} is not FIELD=VALUE", word.text)));
        };
        let (metadata_id, ty) = &fields[names::find("field", "fields", given, &names, "the header packet_out")?];
        if metadata.iter().any(|it| it.metadata_id == *metadata_id) {
            return Err(Problem::new(format!("field {} is given twice", ty.name)));
        }
        metadata.push(PacketMetadata { metadata_id: *metadata_id, value: ty.read(text)? });
    }
    // Only padding may be left out: fields with `pad` in their names, which are 0.
    for (metadata_id, ty) in &fields {
        if !metadata.iter().any(|it| it.metadata_id == *metadata_id) {
            if !ty.name.to_ascii_lowercase().contains("pad") {
                return Err(Problem::new(format!("field {} of the header packet_out is missing", ty.name))
                    .with_help(format!("write {}=VALUE after the packet", ty.name)));
            }
            metadata.push(PacketMetadata { metadata_id: *metadata_id, value: vec![0] });
        }
    }
    Ok(Plan::PacketOut(PacketOut { payload, metadata }))
}

pub(super) fn load(it: &Arguments<'_>) -> Result<Plan, Problem> {
    let path = it.word(0, "a program")?.to_owned();
    let how = match it.words.get(1) {
        None => LoadHow::Fresh,
        Some(word) if word.is("reconcile") => LoadHow::Reconcile,
        Some(word) if word.is("verify") => LoadHow::Verify,
        Some(word) if word.is("save") => LoadHow::Save,
        Some(word) => return Err(it.misuse(format!("{} is not one of reconcile, verify, save", word.text))),
    };
    it.end(2)?;
    Ok(Plan::Load(Load { path, how }))
}

pub(super) fn watch(it: &Arguments<'_>) -> Result<Plan, Problem> {
    if it.words.is_empty() {
        return Ok(Plan::Watch(Watched { packets: true, digests: true, timeouts: true, mastership: true }));
    }
    let mut watched = Watched { packets: false, digests: false, timeouts: false, mastership: false };
    for word in it.words {
        match word.text.as_str() {
            "packets" => watched.packets = true,
            "digests" => watched.digests = true,
            "timeouts" => watched.timeouts = true,
            "mastership" => watched.mastership = true,
            other => {
                return Err(it.misuse(format!("{other} is not one of packets, digests, timeouts, mastership")));
            }
        }
    }
    Ok(Plan::Watch(watched))
}

pub(super) fn list(it: &Arguments<'_>) -> Result<Plan, Problem> {
    it.end(1)?;
    help::list(it.schema, it.words.first().map(|word| word.text.as_str())).map(Plan::Say)
}

pub(super) fn help(it: &Arguments<'_>) -> Result<Plan, Problem> {
    it.end(1)?;
    help::help(it.words.first().map(|word| word.text.as_str())).map(Plan::Say)
}

pub(super) fn plain(it: &Arguments<'_>, plan: Plan) -> Result<Plan, Problem> {
    it.end(0)?;
    Ok(plan)
}

/// The rest of the line as written, without quotes.
pub(super) fn simple(it: &Arguments<'_>) -> Result<Plan, Problem> {
    it.word(0, "a command of simple_switch_CLI")?;
    let words: Vec<String> = it.words.iter().map(|word| crate::words::quoted(&word.text)).collect();
    Ok(Plan::Simple(words.join(" ")))
}
