//! The interface between an application's decisions and its switch.
//!
//! What enters: what the switch reports, each with the time since the controller has started. What leaves: commands
//! and packets ([`Orders`]).

use control::Problem;
use ctl::Schema;
use ctl::render::entry_name;
use p4runtime_proto::p4::v1::TableEntry;
use prost::Message as _;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// Values by name. A name is that of the program, or its last part.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fields(Box<[(Arc<str>, u128)]>);

impl Fields {
    /// Values with the names of the program.
    pub fn new<N: Into<Arc<str>>>(fields: impl IntoIterator<Item = (N, u128)>) -> Fields {
        Fields(fields.into_iter().map(|(name, value)| (name.into(), value)).collect())
    }

    /// The value of this name; `None` if there is none, or if it has more than 128 bits.
    pub fn get(&self, name: &str) -> Option<u128> {
        let is_it = |full: &str| full == name || full.strip_suffix(name).is_some_and(|rest| rest.ends_with('.'));
        self.0.iter().find(|(full, _)| is_it(full)).map(|(_, value)| *value)
    }
}

/// A table entry.
#[derive(Clone, Debug, Default)]
pub struct Entry {
    /// The full name of its table.
    pub table: String,
    /// The values of its keys; of a prefix or a mask the value, of a range the first.
    pub keys: Fields,
    /// Its keys, and its priority if it has one, as a command names them.
    pub name: EntryName,
    /// The full name of its action; empty if it has none of its own, as members of selectors.
    pub action: String,
    /// The arguments of the action.
    pub arguments: Fields,
    /// Whether it has an idle timeout.
    pub has_timeout: bool,
    /// The time since its last hit, if it was read for [`Logic::read`] and the switch knows that.
    pub idle: Option<Duration>,
    /// What its writer has attached to it.
    pub metadata: Vec<u8>,
}

/// How a command names an entry. The text is made when it is shown: of a hundred thousand entries, few are deleted.
#[derive(Clone, Debug)]
pub struct EntryName(Named);

#[derive(Clone, Debug)]
enum Named {
    Text(String),
    /// A [`TableEntry`] as bytes, with what identifies it: as a message it takes ten times as much.
    Read(Arc<Schema>, Box<[u8]>),
}

impl EntryName {
    pub(crate) fn of(schema: &Arc<Schema>, entry: TableEntry) -> EntryName {
        let TableEntry { table_id, r#match, priority, is_default_action, .. } = entry;
        let name = TableEntry { table_id, r#match, priority, is_default_action, ..TableEntry::default() };
        EntryName(Named::Read(Arc::clone(schema), name.encode_to_vec().into()))
    }
}

impl Default for EntryName {
    fn default() -> EntryName {
        String::new().into()
    }
}

impl From<String> for EntryName {
    fn from(text: String) -> EntryName {
        EntryName(Named::Text(text))
    }
}

impl fmt::Display for EntryName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Named::Text(text) => f.write_str(text),
            Named::Read(schema, bytes) => {
                let entry = TableEntry::decode(&bytes[..]).unwrap_or_default();
                match schema.table_by_id(entry.table_id) {
                    Some(table) => f.write_str(entry_name(schema, table, &entry).trim_start()),
                    None => Ok(()),
                }
            }
        }
    }
}

/// A controller's orders to its switch: commands, in this order, then packets, in this order, and then reads.
#[derive(Debug, Default)]
pub struct Orders(pub(crate) Vec<Order>);

/// One of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Order {
    /// A line in the language of `wirespeed ctl` that writes something.
    Command(String),
    /// A packet, with the values of the fields of `packet_out`.
    Packet(Vec<(&'static str, u128)>, Vec<u8>),
    /// An entry to be read: its table and keys.
    Read(String),
    /// A line for the user.
    Note(String),
}

impl Orders {
    /// None.
    pub fn new() -> Orders {
        Orders::default()
    }

    /// A line in the language of `wirespeed ctl` states what is to be: to `add` what is there changes it, and to
    /// `delete` what is not there does nothing. Lines are `add`, `modify`, `delete`, `default`, `multicast`, `digests`,
    /// ...
    pub fn command(&mut self, line: impl Into<String>) {
        self.0.push(Order::Command(line.into()));
    }

    /// Sends a packet, whose header `packet_out` has these values.
    pub fn packet(&mut self, fields: &[(&'static str, u128)], payload: impl Into<Vec<u8>>) {
        self.0.push(Order::Packet(fields.to_vec(), payload.into()));
    }

    /// Reads an entry as it is once everything before was carried out, for [`Logic::read`]: `TABLE KEY...`.
    pub fn read(&mut self, entry: impl Into<String>) {
        self.0.push(Order::Read(entry.into()));
    }

    /// A line for the user.
    pub fn note(&mut self, line: impl Into<String>) {
        self.0.push(Order::Note(line.into()));
    }

    /// The commands, packets, reads and notes so far, a line for each; they are taken away. For tests.
    pub fn take_text(&mut self) -> String {
        let text = |order: Order| match order {
            Order::Command(line) => format!("{line}\n"),
            Order::Read(entry) => format!("read {entry}\n"),
            Order::Note(line) => format!("note: {line}\n"),
            Order::Packet(fields, payload) => {
                let fields: String = fields.iter().map(|(name, value)| format!(" {name}={value:#x}")).collect();
                let payload: String = payload.iter().map(|byte| format!("{byte:02x}")).collect();
                format!("packet-out {payload}{fields}\n")
            }
        };
        std::mem::take(&mut self.0).into_iter().map(text).collect()
    }
}

/// The decisions of an application.
///
/// All times are since the controller has started.
pub trait Logic: Send {
    /// The tables whose entries it needs to know when it begins with a switch.
    fn tables(&self) -> Vec<&'static str> {
        Vec::new()
    }

    /// It begins with a switch, or with the same one again after the connection was lost: the entries of its tables may
    /// be those of another controller before it. If one of these commands does not fit the switch's program, the
    /// controller ends.
    ///
    /// # Errors
    /// If the controller cannot work with this switch.
    fn joined(&mut self, now: Duration, entries: &[Entry], orders: &mut Orders) -> Result<(), Problem>;

    /// The program has sent a digest.
    fn digest(&mut self, _now: Duration, _name: &str, _fields: &Fields, _orders: &mut Orders) {}

    /// The program has sent a packet to the CPU port, with these fields of `packet_in`.
    fn packet_in(&mut self, _now: Duration, _fields: &Fields, _payload: &[u8], _orders: &mut Orders) {}

    /// No packet has hit an entry for its idle timeout.
    fn idle(&mut self, _now: Duration, _entry: &Entry, _orders: &mut Orders) {}

    /// Messages of the switch were taken. If more wait, the controller is slower than they come.
    fn taken(&mut self, _now: Duration, _more_wait: bool, _orders: &mut Orders) {}

    /// Entries that it has requested with [`Orders::read`], of which those that are not there are missing: those that
    /// were requested together come together, up to 128 at a time. No message is taken before all have come, and what
    /// follows from them is carried out.
    fn read(&mut self, _now: Duration, _entries: &[Entry], _orders: &mut Orders) {}

    /// The switch has refused a command, or one that the program does not fit.
    fn refused(&mut self, _now: Duration, command: &str, why: &Problem, orders: &mut Orders) {
        orders.note(format!("{command}: {why}"));
    }

    /// When [`Logic::timer`] is to be called; `None` for never. It is asked after each call.
    fn next_timer(&self) -> Option<Duration> {
        None
    }

    /// The time of the next timer has come.
    fn timer(&mut self, _now: Duration, _orders: &mut Orders) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_found_by_the_last_parts_of_its_name() {
        let fields = Fields::new([("hdr.ethernet.source".to_owned(), 7), ("source_port".to_owned(), 8)]);
        assert_eq!(fields.get("ethernet.source"), Some(7));
        assert_eq!(fields.get("source"), Some(7));
        assert_eq!(fields.get("source_port"), Some(8));
        assert_eq!(fields.get("port"), None);
    }
}
