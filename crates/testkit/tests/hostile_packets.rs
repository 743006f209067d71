//! Hostile packets give the same results on both backends, for every program of the corpus; `cargo xtask fuzz course`
//! runs this with further seeds.

use base::Rng;
use testkit::corpus::cases;
use testkit::differential::course::hostile_packets_for;

fn check_group(group: &str) {
    for case in cases(group) {
        let seed = 1;
        if let Err(difference) = hostile_packets_for(&mut Rng::new(seed), &case) {
            panic!("{}, seed {seed}: {difference}", case.program.display());
        }
    }
}

testkit::group_tests!(check_group);
