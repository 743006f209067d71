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
    /// The best path by probes.
    Hula,
    /// The shortest of three queues, as estimated, for each packet.
    Drill,
    /// P4TE.
    P4te,
    /// P4TE without control of rates.
    P4teNra,
    /// P4TE in which packets report the queue that they found, not the one that they leave behind.
    P4teFound,
    /// P4TE with colours alone, and with rate control.
    P4teColours,
    /// P4TE with queues alone, for both classes, and without rate control: the better variant.
    P4teQueue,
}

impl Scheme {
    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Scheme::Ecmp => "ECMP",
            Scheme::EcmpFlowlet => "ECMP (flowlets)",
            Scheme::LetFlow => "LetFlow",
            Scheme::Hula => "HULA",
            Scheme::Drill => "DRILL-like",
            Scheme::P4te => "P4TE",
            Scheme::P4teNra => "P4TE-NRA",
            Scheme::P4teFound => "P4TE (queue as found)",
            Scheme::P4teColours => "P4TE (colours alone)",
            Scheme::P4teQueue => "P4TE-Q",
        }
    }

    /// Whether P4TE's programs run.
    pub fn is_p4te(self) -> bool {
        !matches!(self, Scheme::Ecmp | Scheme::EcmpFlowlet | Scheme::LetFlow | Scheme::Hula | Scheme::Drill)
    }

    /// The queue that packets report.
    fn depth(self) -> &'static str {
        if self == Scheme::P4teFound { "enq_qdepth" } else { "deq_qdepth" }
    }

    /// The file of the program of a leaf or of another switch, and what selects the scheme in it: a macro, or of
    /// P4TE the queue that packets report.
    fn source(self, is_leaf: bool) -> (&'static str, &'static str) {
        match self {
            Scheme::Ecmp => ("apps/te/fabric.p4", "ECMP"),
            Scheme::EcmpFlowlet => ("apps/te/fabric.p4", "FLOWLET"),
            Scheme::LetFlow => ("apps/te/fabric.p4", "LETFLOW"),
            Scheme::Hula => ("apps/te/fabric.p4", "HULA"),
            Scheme::Drill => ("apps/te/fabric.p4", "DRILL"),
            _ => (if is_leaf { "apps/p4te/leaf.p4" } else { "apps/p4te/spine.p4" }, self.depth()),
        }
    }
}

/// Programs, each compiled once.
#[derive(Default)]
pub struct Programs(BTreeMap<(&'static str, &'static str, bool), Program>);

impl Programs {
    /// The program of a switch, whose meters count packets or bytes.
    pub fn get(&mut self, scheme: Scheme, is_leaf: bool, counts_packets: bool) -> Result<Program, String> {
        let (file, selected) = scheme.source(is_leaf);
        let key = (file, selected, counts_packets);
        if let Some(program) = self.0.get(&key) {
            return Ok(program.clone());
        }
        let mut define = match scheme.is_p4te() {
            // Simulated endpoints follow RFC 9293.
            true => [("QUEUE_DEPTH", selected), ("SEQUENCE_STEP", "0")]
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .to_vec(),
            false => vec![(selected.to_owned(), "1".to_owned())],
        };
        if counts_packets {
            define.push(("METERED".to_owned(), "packets".to_owned()));
            // Probes wait for no queue of packets.
            define.push(("PROBE_PRIORITY".to_owned(), "1".to_owned()));
        }
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(file);
        let program = Options { define, ..Options::default() }.compile_file(path).map_err(|error| error.to_string())?;
        self.0.insert(key, program.clone());
        Ok(program)
    }
}
