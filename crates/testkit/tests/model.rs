//! Models: equal seeds give equal models, and models differ; `cargo xtask fuzz model` compares them with the switch.

use base::Rng;
use std::collections::BTreeMap;
use testkit::differential::models::model_holds;
use testkit::model::{Fault, Model};

#[test]
fn equal_seeds_give_equal_programs_and_results() {
    let make = || {
        let mut rng = Rng::new(7);
        let model = Model::random(&mut rng, 9);
        let packet = model.packet(&mut rng);
        (model.text(), model.result(&packet))
    };
    assert_eq!(make(), make());
}

#[test]
fn most_results_are_certain() {
    let certain = |seed: u64| {
        let mut rng = Rng::new(seed);
        let model = Model::random(&mut rng, 9);
        (0..8).filter(|_| model.result(&model.packet(&mut rng)).is_some()).count()
    };
    let count: usize = (0..200).map(certain).sum();
    assert!(count > 200 * 8 / 2, "{count} of {}", 200 * 8);
}

#[test]
fn programs_agree_with_their_models() {
    for seed in 0..40 {
        if let Err(failure) = model_holds(&mut Rng::new(seed)) {
            panic!("seed {seed}: {failure}");
        }
    }
}

/// Models that are examined for the faults that they detect.
const MODELS: u64 = 400;

/// How many of these models must detect a fault.
const DETECTING_MODELS_MIN: u64 = 1;

/// Faults that random models do not detect yet: a plain read of a variable rarely occurs in an `in` argument, or in a
/// list, beside a call that changes the variable.
const NOT_DETECTED_YET: [Fault; 2] = [Fault::InReadLate, Fault::ListReadLate];

#[test]
fn faults_in_the_order_of_evaluation_are_detected() {
    let mut telling: BTreeMap<String, u64> = BTreeMap::new();
    for seed in 0..MODELS {
        let mut rng = Rng::new(seed);
        let model = Model::random(&mut rng, 9);
        let packets = (0..8).map(|_| model.packet(&mut rng));
        let results: Vec<(Vec<u8>, Vec<u8>)> =
            packets.filter_map(|packet| model.result(&packet).map(|result| (packet, result))).collect();
        for fault in Fault::ALL.into_iter().filter(|fault| !NOT_DETECTED_YET.contains(fault)) {
            let tells = |(packet, result): &(Vec<u8>, Vec<u8>)| {
                model.result_of_fault(packet, fault).is_some_and(|wrong| wrong != *result)
            };
            *telling.entry(format!("{fault:?}")).or_default() += u64::from(results.iter().any(tells));
        }
    }
    let hidden = telling.values().filter(|count| **count < DETECTING_MODELS_MIN).count();
    assert!(hidden == 0, "of {MODELS} models, so many tell each fault: {telling:#?}");
}
