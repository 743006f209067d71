//! Sweeps: the same scenario with all combinations of some values, each with several seeds.
//!
//! What enters: a scenario whose `[sweep]` table, or whose caller, names values and seeds; the metrics of finished
//! runs. What leaves: the runs that are to be made, a line of text for each that is finished, and a table with the mean
//! of each metric and its confidence interval over the seeds.
//!
//! * [`plan`]: which runs there are.
//! * [`record`]: a finished run as a line of text, and as it is read again.
//! * [`table`]: the runs of each combination together.

pub mod plan;
pub mod record;
pub mod table;

pub use plan::{Plan, Run, Shard};
pub use record::RunRecord;
pub use table::Table;

/// A value that a run has set: the key as for `--set`, and the value.
pub type Setting = (String, String);

/// A digest of texts in their order (FNV-1a, with a mark between two of them). It shows whether inputs are the same; it
/// is no protection against deliberate collisions.
pub fn digest<'a>(texts: impl IntoIterator<Item = &'a [u8]>) -> u64 {
    let add = |digest: u64, byte: u8| (digest ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    texts.into_iter().fold(0xcbf2_9ce4_8422_2325, |digest, text| {
        let length = text.len() as u64;
        text.iter().copied().chain(length.to_le_bytes()).fold(digest, add)
    })
}
