//! The schemes that are compared: their programs, and the switches that run them.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;
use wirespeed::{Options, Program};

/// A scheme.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scheme {
    /// Equal paths by a hash of the flow.
    Ecmp,
    /// The same for each flowlet.
    EcmpFlowlet,
    /// A random path for each flowlet.
    LetFlow,
    /// The best path by what leaves report to each other.
    Conga,
    /// The best path by probes.
    Hula,
    /// The path that the switch itself has used least for the destination's leaf, as controllers find by polling.
    HulaPolled,
    /// The shortest of three queues, as estimated, for each packet.
    Drill,
    /// P4TE.
    P4te,
    /// P4TE without control of rates.
    P4teNra,
    /// P4TE in which packets report the queue that they found, not the one that they leave behind.
    P4teFound,
    /// P4TE with rate control alone: all ports stay in the first groups.
    P4teRates,
    /// P4TE with colours alone, and with rate control.
    P4teColours,
    /// P4TE with the events of colours of the released program.
    P4teReleased,
    /// The same without control of rates.
    P4teReleasedNra,
    /// P4TE with queues alone, for both classes, and without rate control: the better variant.
    P4teQueue,
}

/// What of P4TE a scheme changes when its programs are compiled.
const RELEASED: &[(&str, &str)] = &[("COLOURS_AS_RELEASED", "1")];
const FOUND: &[(&str, &str)] = &[("QUEUE_DEPTH", "enq_qdepth")];

impl Scheme {
    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Scheme::Ecmp => "ECMP",
            Scheme::EcmpFlowlet => "ECMP (flowlets)",
            Scheme::LetFlow => "LetFlow",
            Scheme::Conga => "CONGA-like",
            Scheme::Hula => "HULA",
            Scheme::HulaPolled => "HULA (polled)",
            Scheme::Drill => "DRILL-like",
            Scheme::P4te => "P4TE",
            Scheme::P4teNra => "P4TE-NRA",
            Scheme::P4teFound => "P4TE (queue as found)",
            Scheme::P4teRates => "P4TE (rates alone)",
            Scheme::P4teColours => "P4TE (colours alone)",
            Scheme::P4teReleased => "P4TE (as released)",
            Scheme::P4teReleasedNra => "P4TE-NRA (as released)",
            Scheme::P4teQueue => "P4TE-Q",
        }
    }

    /// Whether P4TE's programs run.
    pub fn is_p4te(self) -> bool {
        self.baseline().is_none()
    }

    /// What selects a baseline in its program.
    fn baseline(self) -> Option<&'static str> {
        match self {
            Scheme::Ecmp => Some("ECMP"),
            Scheme::EcmpFlowlet => Some("FLOWLET"),
            Scheme::LetFlow => Some("LETFLOW"),
            Scheme::Conga => Some("CONGA"),
            Scheme::Hula => Some("HULA"),
            Scheme::HulaPolled => Some("POLLED"),
            Scheme::Drill => Some("DRILL"),
            _ => None,
        }
    }

    /// The file of the program of a leaf or of another switch, and the macros that select the scheme in it.
    fn source(self, is_leaf: bool) -> (&'static str, Vec<(&'static str, &'static str)>) {
        if let Some(baseline) = self.baseline() {
            return ("apps/te/fabric.p4", vec![(baseline, "1")]);
        }
        // Simulated endpoints follow RFC 9293.
        let mut macros = vec![("SEQUENCE_STEP", "0")];
        macros.extend(match self {
            Scheme::P4teReleased | Scheme::P4teReleasedNra => RELEASED,
            Scheme::P4teFound => FOUND,
            _ => &[],
        });
        (if is_leaf { "apps/p4te/leaf.p4" } else { "apps/p4te/spine.p4" }, macros)
    }
}

/// What a program is compiled from.
type Source = (&'static str, Vec<(&'static str, &'static str)>);

/// Programs, each compiled once.
#[derive(Default)]
pub struct Programs(BTreeMap<Source, Program>);

impl Programs {
    /// The program of a switch, whose meters count packets or bytes.
    pub fn get(&mut self, scheme: Scheme, is_leaf: bool, counts_packets: bool) -> Result<Program, String> {
        let (file, mut macros) = scheme.source(is_leaf);
        if counts_packets {
            // Probes pass queues of packets with priority.
            macros.extend([("METERED", "packets"), ("PROBE_PRIORITY", "1")]);
        }
        let key = (file, macros);
        if let Some(program) = self.0.get(&key) {
            return Ok(program.clone());
        }
        let define = key.1.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(file);
        let program = Options { define, ..Options::default() }.compile_file(path).map_err(|error| error.to_string())?;
        self.0.insert(key, program.clone());
        Ok(program)
    }
}
