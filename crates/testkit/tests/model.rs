//! Models: the same for the same seed, and not all alike; `cargo xtask fuzz model` compares them with the switch.

use base::Rng;
use testkit::differential::models::model_holds;
use testkit::model::Model;

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
fn programs_do_what_their_models_say() {
    for seed in 0..40 {
        if let Err(failure) = model_holds(&mut Rng::new(seed)) {
            panic!("seed {seed}: {failure}");
        }
    }
}
