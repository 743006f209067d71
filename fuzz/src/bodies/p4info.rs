//! Every program that can be run has a P4Info that fits it, or is refused one with a position. A damaged P4Info is
//! refused or fits, without a panic.

use crate::mutants::Mutant;
use crate::run::Notes;
use base::Rng;
use ir::Program;
use p4info::{Format, Model, v1::P4Info};
use prost::Message;
use testkit::random_p4::{Architecture, Options as Shape, random_p4};
use testkit::random_p4_14::random_p4_14;
use wirespeed::{DiskFiles, Options, Source};

/// The most changes of a program of the corpora.
const CHANGES_MAX: u64 = 3;

/// The most changed bytes of a P4Info.
const DAMAGES_MAX: u64 = 4;

pub(crate) fn run(rng: &mut Rng, notes: &mut Notes) -> Result<(), String> {
    let shape = |architecture| Shape { statements: 8, architecture, ..Shape::default() };
    let options = Options::default();
    let random = |text: &str| Source::parse("random.p4", text, &options, &DiskFiles);
    let mut source = match rng.below(4) {
        0 => random(&random_p4(rng, &shape(Architecture::V1Model)).text),
        1 => random(&random_p4(rng, &shape(Architecture::Psa)).text),
        2 => random(&random_p4_14(rng).text),
        _ => Mutant::random(rng, CHANGES_MAX).parsed(),
    };
    let compiled = source.check().and_then(|typed| Some((source.lower(&typed, &options)?, typed)));
    let Some((program, typed)) = compiled else {
        notes.add("refused by the compiler");
        return Ok(());
    };
    let Some(info) = p4info::generate(&typed, &program, &mut source.diagnostics) else {
        notes.add("refused a P4Info");
        return if source.diagnostics.has_errors() { Ok(()) } else { Err("no P4Info, and no error".to_owned()) };
    };
    notes.add("P4Infos made");
    let again = p4info::generate(&typed, &program, &mut source.diagnostics);
    if again.as_ref() != Some(&info) {
        return Err("two P4Infos of one program differ".to_owned());
    }
    for format in [Format::Text, Format::Json] {
        p4info::encode(&info, format);
    }
    if let Err(mismatch) = Model::new(info.clone(), &program) {
        return Err(format!("the P4Info does not fit its own program: {mismatch}"));
    }
    damage(rng, &info, &program, notes);
    Ok(())
}

/// Changes bytes of the binary form. If it can still be decoded, it is matched with the program, which may succeed or
/// fail.
fn damage(rng: &mut Rng, info: &P4Info, program: &Program, notes: &mut Notes) {
    let mut bytes = info.encode_to_vec();
    if bytes.is_empty() {
        return;
    }
    for _ in 0..=rng.below(DAMAGES_MAX) {
        let at = rng.below(bytes.len() as u64) as usize;
        bytes[at] = rng.below(256) as u8;
    }
    let Ok(damaged) = P4Info::decode(bytes.as_slice()) else { return };
    match Model::new(damaged, program) {
        Ok(_) => notes.add("damaged, and fits"),
        Err(_) => notes.add("damaged, and refused"),
    }
}
