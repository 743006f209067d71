//! What the interpreter asks of the switch that runs it: everything that outlives a packet.

use base::Bits;
use ir::{
    CalculationId, CounterId, CrcParameters, DigestId, DirectCounterId, DirectMeterId, ExternFunctionId,
    ExternInstanceId, MeterId, RegisterId, TableId, Type, ValueSetId,
};

/// [`Lookup::action`] where nothing runs.
pub const NO_ACTION: u32 = u32::MAX;

/// What a table says of a packet.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lookup {
    /// The entry that matched, by the number that the host gives it; none on a miss.
    pub entry: Option<u64>,
    /// What runs, by position in the table's list of actions; on a miss, the default action. [`NO_ACTION`] if nothing
    /// does, as the entry names a group that is empty.
    pub action: u32,
    /// Values of the action's parameters.
    pub args: Vec<Bits>,
}

impl Lookup {
    /// Whether an entry matched.
    pub fn hit(&self) -> bool {
        self.entry.is_some()
    }
}

/// The world outside of one packet: the switch core implements it. Indices come as they were computed, in the width the
/// program gives them; the host knows the sizes.
pub trait Host {
    /// Finds the entry for the values of a table's keys, or the default action; what is named instead of an action is
    /// looked up in the table's profile. `hash` is that of the table's selector, 0 if it has none.
    fn lookup(&mut self, table: TableId, keys: &[Bits], hash: u64) -> Lookup;
    /// Counts a lookup whose answer was known: the entry that is hit, or none.
    fn count_lookup(&mut self, table: TableId, entry: Option<u64>);
    /// Counts the packet in a cell of a table's direct counter: that of an entry, or [`ir::Table::default_cell`].
    fn count_direct(&mut self, table: TableId, counter: DirectCounterId, cell: u64);
    /// Meters the packet in a cell of a table's direct meter, as above: 0 green, 1 yellow, 2 red. The default action's
    /// cell gives `before` back if it has no rates, which may be [`ir::NO_COLOUR`] and else counts as green then.
    fn execute_direct_meter(&mut self, table: TableId, meter: DirectMeterId, cell: u64, before: u8) -> u8;
    /// The value of a register's cell, of the register's width; none if there is no such cell.
    fn register_read(&mut self, register: RegisterId, index: &Bits) -> Option<Bits>;
    /// Sets a register's cell; nothing if there is no such cell.
    fn register_write(&mut self, register: RegisterId, index: &Bits, value: &Bits);
    /// Counts the packet; nothing if there is no such cell.
    fn count(&mut self, counter: CounterId, index: &Bits);
    /// Meters the packet: 0 green, 1 yellow, 2 red; none if there is no such cell.
    fn execute_meter(&mut self, meter: MeterId, index: &Bits, before: u8) -> Option<u8>;
    /// The parameters that a calculation has now.
    fn crc_parameters(&self, calculation: CalculationId) -> CrcParameters;
    /// A uniform number from `low` to `high`, both included. `low <= high`.
    fn random(&mut self, low: u64, high: u64) -> u64;
    /// A message for the control plane, its values in the order of the digest's fields.
    fn digest(&mut self, digest: DigestId, values: &[Bits]);
    /// A line for the log, with its arguments filled in.
    fn log(&mut self, message: &str);
    /// An assertion with this text failed.
    fn assert_failed(&mut self, text: &str);
    /// Calls a plug-in's function, or a method of an object, with its inputs. The outputs, joined, the first most
    /// significant.
    fn call_extern(&mut self, function: ExternFunctionId, instance: Option<ExternInstanceId>, inputs: &[Bits]) -> Bits;
    /// Whether a parser value set has a member that matches the keys.
    fn value_set_contains(&mut self, value_set: ValueSetId, keys: &[Bits]) -> bool;
}

/// A log message with its arguments filled in as decimal numbers, as the reference switch does; a `{}` without an
/// argument stays.
pub fn log_line(message: &str, types: &[Type], values: &[Bits]) -> String {
    let mut text = String::new();
    let mut args = types.iter().zip(values);
    let mut rest = message;
    while let Some(position) = rest.find("{}") {
        text.push_str(&rest[..position]);
        match args.next() {
            Some((ty, value)) if ty.is_signed() => text.push_str(&value.to_signed_bigint().to_string()),
            Some((_, value)) => text.push_str(&value.to_bigint().to_string()),
            None => text.push_str("{}"),
        }
        rest = &rest[position + 2..];
    }
    text.push_str(rest);
    text
}
