//! Notes that are stored with the state of a switch: the config as a controller has sent it, numbers that stand for
//! names, whether ports were written by name, whether the ports of groups were written as numbers.
//!
//! What enters: the config, and what its compiler needs to compile the program again; names and forms as they are
//! used. What leaves: notes, as JSON; or, after a restart, the same again.

use crate::to_proto::NumberedPorts;
use crate::translator::{Name, Translator};
use base::Bits;
use control::api::Notes;
use p4runtime_proto::p4::v1::ForwardingPipelineConfig;
use p4runtime_proto::wire::Wire as _;
use prost::bytes::Bytes;
use serde_json::{Value, json};

const CONFIG: &str = "forwarding_pipeline_config";
const PROGRAM: &str = "program";

/// The note of a config. `program` is what the compiler needs to compile the program again.
pub(crate) fn note(config: &ForwardingPipelineConfig, program: &Value) -> Value {
    let bytes: String = config.to_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
    json!({ CONFIG: bytes, PROGRAM: program })
}

/// The config of a note, and what its compiler has stored; `None` if the note has another form.
pub fn read_kept(note: &Value) -> Option<(ForwardingPipelineConfig, &Value)> {
    let bytes = bytes(note.get(CONFIG)?.as_str()?)?;
    let config = ForwardingPipelineConfig::from_bytes(Bytes::from(bytes)).ok()?;
    Some((config, note.get(PROGRAM).unwrap_or(&Value::Null)))
}

/// The key of the name that a client has given to its program.
pub(crate) const NAME_OF_PROGRAM: &str = "name";

/// The name of a note's program; empty if it has none.
pub fn program_name(note: &Value) -> &str {
    let kept = note.get(PROGRAM).filter(|_| note.get(CONFIG).is_some());
    let note = kept.unwrap_or(note);
    note.get(NAME_OF_PROGRAM).or_else(|| note.get("file")).and_then(Value::as_str).unwrap_or_default()
}

/// The keys of notes begin with this: each is an array of the kind, and the subject.
const NAME: &str = "name";
const PORTS: &str = "ports";
const NUMBERED_GROUP: &str = "numbered group";
const NUMBERED_SESSION: &str = "numbered session";

/// The notes of pending names, and of how ports are shown since the last notes.
pub(crate) fn names(translator: &Translator) -> Notes {
    let note = |(uri, name, number): (String, String, Bits)| {
        let digits: String = number.to_be_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
        (json!([NAME, uri, name]).to_string(), json!([number.width(), digits]))
    };
    let form = |(uri, by_name): (String, bool)| (json!([PORTS, uri]).to_string(), json!(by_name));
    translator.pending().into_iter().map(note).chain(translator.take_port_forms().into_iter().map(form)).collect()
}

/// Notes that remove those of names.
pub(crate) fn without_names(names: Vec<Name>) -> Notes {
    names.into_iter().map(|(uri, name)| (json!([NAME, uri, name]).to_string(), Value::Null)).collect()
}

/// The note of a multicast group: whether its ports were written as numbers.
pub(crate) fn numbered_group(group: u64, as_numbers: bool) -> (String, Value) {
    (json!([NUMBERED_GROUP, group]).to_string(), if as_numbers { json!(true) } else { Value::Null })
}

/// The same for a clone session.
pub(crate) fn numbered_session(session: u32, as_numbers: bool) -> (String, Value) {
    (json!([NUMBERED_SESSION, session]).to_string(), if as_numbers { json!(true) } else { Value::Null })
}

/// Restores notes. Those of other crates are ignored.
pub(crate) fn read_notes(notes: &Notes, translator: &Translator, numbered: &mut NumberedPorts) {
    for (key, note) in notes {
        let Ok(Value::Array(key)) = serde_json::from_str(key) else { continue };
        match key.as_slice() {
            [kind, Value::String(uri), Value::String(name)] if kind == NAME => {
                let _other = bits(note).map(|number| translator.know(uri, name, &number));
            }
            [kind, Value::String(uri)] if kind == PORTS => {
                let _other = note.as_bool().map(|by_name| translator.know_port_form(uri, by_name));
            }
            [kind, group] if kind == NUMBERED_GROUP => numbered.groups.extend(group.as_u64()),
            [kind, session] if kind == NUMBERED_SESSION => {
                numbered.sessions.extend(session.as_u64().and_then(|it| u32::try_from(it).ok()));
            }
            _ => {}
        }
    }
}

fn bits(note: &Value) -> Option<Bits> {
    let width = u32::try_from(note.get(0)?.as_u64()?).ok().filter(|width| *width <= 1 << 16)?;
    Some(Bits::from_be_bytes(width, &bytes(note.get(1)?.as_str()?)?))
}

/// The bytes of hexadecimal digits.
fn bytes(digits: &str) -> Option<Vec<u8>> {
    let digit = |digit: u8| char::from(digit).to_digit(16);
    let byte = |pair: &[u8]| Some((digit(pair[0])? << 4 | digit(*pair.get(1)?)?) as u8);
    digits.as_bytes().chunks(2).map(byte).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ports::Ports;
    use p4runtime_proto::p4::v1::forwarding_pipeline_config::Cookie;

    #[test]
    fn a_note_is_read_again() {
        let cookie = Some(Cookie { cookie: 7 });
        let config = ForwardingPipelineConfig { p4info: None, p4_device_config: vec![0, 255, 16], cookie };
        let kept = note(&config, &json!("p"));
        assert_eq!(read_kept(&kept), Some((config, &json!("p"))));
        for wrong in [json!(null), json!({}), json!({ CONFIG: 1 }), json!({ CONFIG: "0" }), json!({ CONFIG: "zz" })] {
            assert_eq!(read_kept(&wrong), None, "{wrong}");
        }
        assert_eq!(read_kept(&json!({ CONFIG: "ff" })), None);
    }
    #[test]
    fn names_and_forms_come_back() {
        let translator = Translator::new(Ports::default(), 9);
        let blue = Bits::from_u64(12, 0xABC);
        translator.know("uri", "blue", &blue);
        assert_eq!(names(&translator), Notes::new());
        let notes = Notes::from([
            (json!([NAME, "uri", "blue"]).to_string(), json!([12, "0abc"])),
            (json!([NAME, "uri", "red"]).to_string(), json!([12, "x"])),
            ("of another".to_owned(), json!(1)),
            numbered_group(7, true),
            numbered_session(8, true),
        ]);
        let (translator, mut numbered) = (Translator::new(Ports::default(), 9), NumberedPorts::default());
        let notes: Notes = notes.into_iter().chain([(json!([PORTS, "uri"]).to_string(), json!(true))]).collect();
        read_notes(&notes, &translator, &mut numbered);
        assert!(translator.shows_ports_by_name("uri") && !translator.shows_ports_by_name("other"));
        assert_eq!(translator.number_of("uri", "blue"), Some(blue));
        assert_eq!(translator.number_of("uri", "red"), None);
        assert_eq!((numbered.groups, numbered.sessions), ([7].into(), [8].into()));
        assert_eq!(numbered_group(7, false).1, Value::Null);
    }
}
