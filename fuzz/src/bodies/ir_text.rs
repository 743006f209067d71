//! Programs survive the text form of the IR. Text that is almost an IR program is accepted or refused without a
//! panic.

use crate::mutate::mutated;
use base::Rng;
use testkit::random_ir::{Options, random_program};

/// Words of the text form.
const WORDS: [&str; 16] =
    ["{", "}", "(", ")", ":", "=", ",", "v0", "h0", "8w1", "if", "loop", "table", "state", "1s3", "\""];

pub(crate) fn run(rng: &mut Rng) -> Result<(), String> {
    let options = Options { requests: rng.chance(1, 2), ..Options::default() };
    let program = random_program(rng, &options);
    let text = ir::text::print(&program);
    match ir::text::parse(&text) {
        Ok(read) if read == program => {}
        Ok(_) => return Err(format!("the program read is another one\n{text}")),
        Err(error) => return Err(format!("the program printed is not read: {error}\n{text}")),
    }
    for _ in 0..10 {
        let text = mutated(rng, &text, &WORDS);
        if let Ok(program) = ir::text::parse(&text) {
            // Whether the program is valid does not matter; the verifier must decide without a panic.
            let _verdict = ir::verify(&program);
        }
    }
    Ok(())
}
