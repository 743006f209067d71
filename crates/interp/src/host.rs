//! The interface between the interpreter and the switch that runs it: all state that outlives a packet.

use base::Bits;
use ir::{
    CalculationId, CounterId, CrcParameters, DigestId, DirectCounterId, DirectMeterId, ExternFunctionId,
    ExternInstanceId, MeterId, RegisterId, TableId, Type, ValueSetId,
};

/// The value of [`Lookup::action`] if no action runs.
pub const NO_ACTION: u32 = u32::MAX;

/// The result of a table lookup.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lookup {
    /// The entry that matched, by the number that the host gives it; `None` on a miss.
    pub entry: Option<u64>,
    /// The action that runs, by its position in the table's list of actions; on a miss, the default action.
    /// [`NO_ACTION`] if no action runs because the entry refers to an empty group.
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

/// The state outside of one packet. The switch core implements it. Indices have the width that the program gives them
/// and are not checked; the host knows the sizes.
pub trait Host {
    /// Finds the entry for the values of a table's keys, or the default action. An entry that refers to a member or a
    /// group is resolved in the table's action profile. `hash` is the value of the table's selector, 0 if the table
    /// has none.
    fn lookup(&mut self, table: TableId, keys: &[Bits], hash: u64) -> Lookup;
    /// Counts a lookup whose result was known without a search: the entry that is hit, or `None`.
    fn count_lookup(&mut self, table: TableId, entry: Option<u64>);
    /// Counts the packet in a cell of a table's direct counter: the cell of an entry, or [`ir::Table::default_cell`].
    fn count_direct(&mut self, table: TableId, counter: DirectCounterId, cell: u64);
    /// Meters the packet in a cell of a table's direct meter, with cells as in [`Host::count_direct`]: 0 is green, 1
    /// yellow, 2 red. If the default action's cell has no rates, the result is `before`; it may be [`ir::NO_COLOUR`],
    /// which counts as green in all other cells.
    fn execute_direct_meter(&mut self, table: TableId, meter: DirectMeterId, cell: u64, before: u8) -> u8;
    /// The value of a register's cell, in the register's width; `None` if the cell does not exist.
    fn register_read(&mut self, register: RegisterId, index: &Bits) -> Option<Bits>;
    /// Sets a register's cell; no effect if the cell does not exist.
    fn register_write(&mut self, register: RegisterId, index: &Bits, value: &Bits);
    /// Counts the packet; no effect if the cell does not exist.
    fn count(&mut self, counter: CounterId, index: &Bits);
    /// Meters the packet: 0 is green, 1 yellow, 2 red; `None` if the cell does not exist.
    fn execute_meter(&mut self, meter: MeterId, index: &Bits, before: u8) -> Option<u8>;
    /// The current parameters of a CRC calculation.
    fn crc_parameters(&self, calculation: CalculationId) -> CrcParameters;
    /// A uniform number from `low` to `high`, both included. Requires `low <= high`.
    fn random(&mut self, low: u64, high: u64) -> u64;
    /// Adds an entry to a table with these values of its keys, and a timer with the time of a profile. Packets meet it
    /// only when the host has published it. Returns whether it could be added.
    fn add_entry(&mut self, table: TableId, keys: &[Bits], action: u32, args: &[Bits], profile: u8) -> bool;
    /// Starts the timer of an entry anew, with the time of a profile or of its present one.
    fn set_timer(&mut self, table: TableId, entry: u64, profile: Option<u8>);
    /// Sends a digest to the control plane. The values are in the order of the digest's fields.
    fn digest(&mut self, digest: DigestId, values: &[Bits]);
    /// Logs a line, in which the arguments are already filled in.
    fn log(&mut self, message: &str);
    /// Reports that the assertion with this text failed.
    fn assert_failed(&mut self, text: &str);
    /// Calls a plug-in's function, or a method of an object, with its inputs. The result is the concatenation of the
    /// outputs, the first most significant.
    fn call_extern(&mut self, function: ExternFunctionId, instance: Option<ExternInstanceId>, inputs: &[Bits]) -> Bits;
    /// Whether a parser value set has a member that matches the keys.
    fn value_set_contains(&mut self, value_set: ValueSetId, keys: &[Bits]) -> bool;
}

/// A log message with its arguments filled in as decimal numbers, as the reference switch does. A `{}` without an
/// argument stays as it is.
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
