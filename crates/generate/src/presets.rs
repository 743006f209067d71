//! The presets of use cases.
//!
//! A preset is a name, the program that it is for, and settings as text (`presets/*.txt`), one file for each kind of
//! traffic. To add one, add its files and its line in [`PRESETS`].

use crate::settings::Settings;

/// The packets of a use case, and the entries that they need.
#[derive(Clone, Copy, Debug)]
pub struct Preset {
    /// Its name.
    pub name: &'static str,
    /// What it is, for people.
    pub about: &'static str,
    /// Its program, in the source tree.
    pub program: &'static str,
    texts: &'static [&'static str],
}

/// All presets.
pub const PRESETS: &[Preset] = &[
    preset("l2fwd", "frames between stations of a switch", "apps/l2fwd/l2fwd.p4", &[L2FWD]),
    preset("l3fwd", "IPv4 through a router, routes by prefix", ROUTER, &[L3FWD]),
    preset("l3fwd6", "IPv6 through a router, routes by prefix", ROUTER, &[L3FWD6]),
    preset("dcg", "both directions of a data centre gateway", DCG, &[DCG_IN, DCG_OUT]),
    preset("dcg-in", "clients to services, into VXLAN tunnels", DCG, &[DCG_IN]),
    preset("dcg-out", "servers to clients, out of VXLAN tunnels", DCG, &[DCG_OUT]),
    preset("bng", "both directions of a broadband gateway", BNG, &[BNG_UP, BNG_DOWN]),
    preset("bng-up", "subscribers to the Internet, out of GRE tunnels", BNG, &[BNG_UP]),
    preset("bng-down", "the Internet to subscribers, into GRE tunnels", BNG, &[BNG_DOWN]),
];

const ROUTER: &str = "apps/l3fwd/router.p4";
const DCG: &str = "apps/dcg/dcg.p4";
const BNG: &str = "apps/bng/bng.p4";

const L2FWD: &str = include_str!("../presets/l2fwd.txt");
const L3FWD: &str = include_str!("../presets/l3fwd.txt");
const L3FWD6: &str = include_str!("../presets/l3fwd6.txt");
const DCG_IN: &str = include_str!("../presets/dcg-in.txt");
const DCG_OUT: &str = include_str!("../presets/dcg-out.txt");
const BNG_UP: &str = include_str!("../presets/bng-up.txt");
const BNG_DOWN: &str = include_str!("../presets/bng-down.txt");

const fn preset(
    name: &'static str,
    about: &'static str,
    program: &'static str,
    texts: &'static [&'static str],
) -> Preset {
    Preset { name, about, program, texts }
}

impl Preset {
    /// The preset of this name.
    pub fn named(name: &str) -> Option<&'static Preset> {
        PRESETS.iter().find(|preset| preset.name == name)
    }

    /// Adds its settings.
    pub fn apply(&self, settings: &mut Settings) -> Result<(), String> {
        self.texts.iter().try_for_each(|text| settings.read(text))
    }
}
