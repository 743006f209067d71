//! Which runs a sweep has.
//!
//! The `[sweep]` table of a scenario has `seeds`, and for each key that varies a list of values. Its keys are those of
//! the scenario, so `links.loss = [0, 0.01]` varies the key `loss` of `[links]`. The caller can add to it and replace
//! parts of it.

use crate::sweep::{Setting, digest};
use scenario_file::{Place, ScenarioFault, Sources};
use serde::Deserialize as _;
use std::fmt;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The most runs of a sweep.
const RUNS_MAX: usize = 1 << 20;

/// A key with its values.
type Axis = (String, Vec<String>);

/// What is swept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// All combinations, in order; a single empty one if only seeds differ.
    pub combinations: Vec<Vec<Setting>>,
    /// The seeds of each.
    pub seeds: Vec<u64>,
    /// A digest of the scenario and the values that are set for all runs: runs with different ones do not belong
    /// together.
    pub scenario: u64,
}

/// A run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Run {
    /// The position of its combination.
    pub combination: usize,
    /// Its seed.
    pub seed: u64,
}

/// A part of the runs: every `count`-th, from the one with number `number` on (from 1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// Which part.
    pub number: usize,
    /// How many there are.
    pub count: usize,
}

impl Shard {
    /// Reads `I/N`.
    pub fn parse(text: &str) -> Result<Shard, String> {
        let parts = text.split_once('/').and_then(|(i, n)| Some((i.trim().parse().ok()?, n.trim().parse().ok()?)));
        let shard = parts.map(|(number, count)| Shard { number, count });
        shard
            .filter(|shard| (1..=shard.count).contains(&shard.number))
            .ok_or_else(|| format!("`{text}` is not a shard: write I/N with I from 1 to N, as in 2/8"))
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.count)
    }
}

impl Plan {
    /// The plan of a scenario with the values that are set for all runs; `None` if nothing is swept. `sweeps` has texts
    /// `KEY=VALUE,VALUE`, which replace the scenario's values of the key; `seeds` replaces its seeds.
    pub fn read(
        text: &str,
        sets: &[String],
        sweeps: &[String],
        seeds: Option<&str>,
    ) -> Result<Option<Plan>, ScenarioFault> {
        let sources = Sources::new(text, sets);
        let seed = scenario_file::read(&sources)?.seed.unwrap_or(1);
        let table = DeTable::parse(text).map_err(|error| sources.fault(error.span(), error.message()))?.into_inner();
        let scenario = digest_of(&table, sets);
        let (mut axes, mut given) = (Vec::new(), None);
        if let Some(sweep) = table.get("sweep") {
            (axes, given) = section(&sources, sweep, seed)?;
        }
        for sweep in sweeps {
            let (key, values) = argument(sweep)
                .map_err(|message| ScenarioFault { place: Place::Argument(format!("--sweep {sweep}")), message })?;
            axes.retain(|(known, _)| *known != key);
            axes.push((key, values));
        }
        if let Some(text) = seeds {
            let place = || Place::Argument(format!("--seeds {text}"));
            given = Some(self::seeds(text, seed).map_err(|message| ScenarioFault { place: place(), message })?);
        }
        if axes.is_empty() && given.is_none() {
            return Ok(None);
        }
        axes.sort();
        let plan = Plan { combinations: combinations(&axes)?, seeds: given.unwrap_or_else(|| vec![seed]), scenario };
        match plan.combinations.len().saturating_mul(plan.seeds.len()) {
            0..=RUNS_MAX => Ok(Some(plan)),
            _ => Err(too_many()),
        }
    }

    /// The runs of a part, those of a combination one after the other.
    pub fn runs(&self, shard: Option<Shard>) -> Vec<Run> {
        let all = (0..self.combinations.len())
            .flat_map(|combination| self.seeds.iter().map(move |&seed| Run { combination, seed }));
        match shard {
            Some(Shard { number, count }) => all.skip(number - 1).step_by(count).collect(),
            None => all.collect(),
        }
    }

    /// What is set in a run, behind what is set in all.
    pub fn sets(&self, run: &Run) -> Vec<String> {
        let values = self.combinations[run.combination].iter().map(|(key, value)| format!("{key}={value}"));
        values.chain([format!("seed={}", run.seed)]).collect()
    }
}

fn too_many() -> ScenarioFault {
    ScenarioFault { place: Place::File, message: format!("the sweep has more than {RUNS_MAX} runs") }
}

/// A digest of a scenario without what may change between runs that belong together.
fn digest_of(table: &DeTable<'_>, sets: &[String]) -> u64 {
    let value = serde_json::Value::deserialize(toml::Deserializer::from(Spanned::new(0..0, table.clone())));
    let mut value = value.unwrap_or_default();
    if let Some(table) = value.as_object_mut() {
        ["sweep", "seed"].iter().for_each(|key| drop(table.remove(*key)));
    }
    let text = value.to_string();
    let sets = sets.iter().filter(|set| !set.starts_with("seed=")).map(String::as_bytes);
    digest(std::iter::once(text.as_bytes()).chain(sets))
}

fn combinations(axes: &[Axis]) -> Result<Vec<Vec<Setting>>, ScenarioFault> {
    let mut combinations = vec![Vec::new()];
    for (key, values) in axes {
        if combinations.len().saturating_mul(values.len()) > RUNS_MAX {
            return Err(too_many());
        }
        combinations = combinations
            .iter()
            .flat_map(|before| {
                values.iter().map(move |value| {
                    let own = (key.clone(), value.clone());
                    before.iter().cloned().chain([own]).collect()
                })
            })
            .collect();
    }
    Ok(combinations)
}

/// The keys and seeds of the scenario's own table.
fn section(
    sources: &Sources,
    sweep: &Spanned<DeValue<'_>>,
    first: u64,
) -> Result<(Vec<Axis>, Option<Vec<u64>>), ScenarioFault> {
    let fault = |span: Range<usize>, message: String| sources.fault(Some(span), message);
    let DeValue::Table(table) = sweep.get_ref() else {
        let message = "`sweep` is a table: [sweep], with lines such as links.loss = [0, 0.01]";
        return Err(fault(sweep.span(), message.to_owned()));
    };
    let (mut axes, mut seeds) = (Vec::new(), None);
    for (key, value) in table.iter() {
        if key.get_ref() == "seeds" {
            let read = match value.get_ref() {
                DeValue::String(text) => self::seeds(text, first),
                value @ DeValue::Integer(_) => self::seeds(&written(value), first),
                DeValue::Array(values) => {
                    values.iter().map(|value| number(&written(value.get_ref()))).collect::<Result<Vec<u64>, String>>()
                }
                _ => Err("write seeds = 20, seeds = \"1..20\", or a list of numbers".to_owned()),
            };
            seeds = Some(read.map_err(|message| fault(value.span(), message))?);
        } else {
            collect(&quoted(key.get_ref()), key.span(), value, &mut axes, &fault)?;
        }
    }
    Ok((axes, seeds))
}

/// The axes of a key, which are below it if it is a table.
fn collect(
    path: &str,
    at: Range<usize>,
    value: &Spanned<DeValue<'_>>,
    axes: &mut Vec<Axis>,
    fault: &dyn Fn(Range<usize>, String) -> ScenarioFault,
) -> Result<(), ScenarioFault> {
    match value.get_ref() {
        DeValue::Table(table) => table.iter().try_for_each(|(key, value)| {
            collect(&format!("{path}.{}", quoted(key.get_ref())), key.span(), value, axes, fault)
        }),
        DeValue::Array(values) if !values.is_empty() => {
            check_key(path).map_err(|message| fault(at, message))?;
            axes.push((path.to_owned(), values.iter().map(|value| setting(value.get_ref())).collect()));
            Ok(())
        }
        _ => Err(fault(value.span(), format!("`{path}` has a list of the values that it takes, as in [0, 0.01]"))),
    }
}

fn check_key(key: &str) -> Result<(), String> {
    match key {
        "seed" => Err("seeds are varied with `seeds`, as in seeds = \"1..20\" or --seeds 1..20".to_owned()),
        _ => Ok(()),
    }
}

/// A part of a key as it is written.
fn quoted(part: &str) -> String {
    let is_bare = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
    if is_bare { part.to_owned() } else { serde_json::Value::from(part).to_string() }
}

/// A value as it is set: texts without quotes, where they are texts without them as well.
fn setting(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(text) if is_plain(text) => text.to_string(),
        value => written(value),
    }
}

fn is_plain(text: &str) -> bool {
    let is_ordinary = |character: char| character != '"' && character != '\\' && !character.is_control();
    !text.is_empty()
        && text.trim() == text
        && text.chars().all(is_ordinary)
        && DeTable::parse(&format!("key={text}")).is_err()
}

/// A value as it is written.
fn written(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(text) => serde_json::Value::from(&**text).to_string(),
        DeValue::Integer(number) => number.to_string(),
        DeValue::Float(number) => number.to_string(),
        DeValue::Boolean(value) => value.to_string(),
        DeValue::Datetime(time) => time.to_string(),
        DeValue::Array(values) => {
            let values: Vec<String> = values.iter().map(|value| written(value.get_ref())).collect();
            format!("[{}]", values.join(", "))
        }
        DeValue::Table(table) => {
            let parts =
                table.iter().map(|(key, value)| format!("{} = {}", quoted(key.get_ref()), written(value.get_ref())));
            format!("{{ {} }}", parts.collect::<Vec<_>>().join(", "))
        }
    }
}

/// Reads `KEY=VALUE,VALUE`. Commas in brackets and quotes do not separate values.
fn argument(text: &str) -> Result<Axis, String> {
    let form = || "write KEY=VALUE,VALUE, as in links.loss=0,0.01".to_owned();
    let (key, rest) = text.split_once('=').ok_or_else(form)?;
    check_key(key.trim())?;
    let mut values = vec![String::new()];
    let (mut depth, mut is_quoted) = (0_u32, false);
    for character in rest.chars() {
        match character {
            '"' => is_quoted = !is_quoted,
            '[' | '{' if !is_quoted => depth += 1,
            ']' | '}' if !is_quoted => depth = depth.saturating_sub(1),
            _ => {}
        }
        match (character, depth, is_quoted) {
            (',', 0, false) => values.push(String::new()),
            _ => values.last_mut().into_iter().for_each(|value| value.push(character)),
        }
    }
    let values: Vec<String> = values.iter().map(|value| value.trim().to_owned()).collect();
    match key.trim().is_empty() || values.iter().any(String::is_empty) {
        true => Err(form()),
        false => Ok((key.trim().to_owned(), values)),
    }
}

fn number(text: &str) -> Result<u64, String> {
    text.trim()
        .parse()
        .map_err(|_| format!("`{text}` is not a seed: write how many, as in 20, or which, as in 1..20 or 3,5,8"))
}

/// Reads seeds: how many, from `first` on; or numbers and ranges, both ends included, with commas between them. Each
/// counts once.
pub fn seeds(text: &str, first: u64) -> Result<Vec<u64>, String> {
    if let Ok(count) = text.trim().parse::<u64>() {
        let last = first.checked_add(count).filter(|_| (1..=RUNS_MAX as u64).contains(&count));
        let last = last.ok_or_else(|| format!("`{text}` is not a number of seeds: write 1 to {RUNS_MAX}"))?;
        return Ok((first..last).collect());
    }
    let mut all = Vec::new();
    for part in text.split(',') {
        let (first, last) = match part.split_once("..") {
            Some((first, last)) => (number(first)?, number(last.strip_prefix('=').unwrap_or(last))?),
            None => (number(part)?, number(part)?),
        };
        if first > last || last - first >= RUNS_MAX as u64 {
            return Err(format!("`{part}` has no numbers, or more than {RUNS_MAX}"));
        }
        all.extend(first..=last);
    }
    all.sort_unstable();
    all.dedup();
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "duration = \"1s\"\n[topology]\nkind = \"star\"\nhosts = 2\n";

    fn plan(text: &str, sweeps: &[&str], seeds: Option<&str>) -> Result<Option<Plan>, ScenarioFault> {
        let sweeps: Vec<String> = sweeps.iter().map(|it| (*it).to_owned()).collect();
        Plan::read(text, &["links.delay=1us".to_owned()], &sweeps, seeds)
    }

    fn shown(plan: &Plan, shard: Option<Shard>) -> Vec<String> {
        plan.runs(shard).iter().map(|run| plan.sets(run).join(" ")).collect()
    }

    #[test]
    fn tables_and_arguments_name_all_combinations() {
        assert_eq!(plan(TEXT, &[], None), Ok(None));
        let text = format!(
            "{TEXT}[sweep]\nseeds = \"2..3\"\nlinks.rate = [\"1Gbps\", \"2Gbps\"]\nlink.\"h1>s1\".loss = [0, 0.5]\n"
        );
        let from_file = plan(&text, &[], None).unwrap().unwrap();
        let all = shown(&from_file, None);
        assert_eq!(all.len(), 8);
        assert_eq!(all[0], "link.\"h1>s1\".loss=0 links.rate=1Gbps seed=2");
        assert_eq!(all[7], "link.\"h1>s1\".loss=0.5 links.rate=2Gbps seed=3");
        let replaced = plan(&text, &["links.rate=3Gbps", "hosts.mtu=1500,9000"], Some("7..7")).unwrap().unwrap();
        assert_eq!(shown(&replaced, None)[1], "hosts.mtu=1500 link.\"h1>s1\".loss=0.5 links.rate=3Gbps seed=7");
        // What varies does not make it another scenario; what is the same in all runs does.
        assert_eq!(from_file.scenario, replaced.scenario);
        let other = plan(&text.replace("hosts = 2", "hosts = 3"), &[], None).unwrap().unwrap();
        assert_ne!(from_file.scenario, other.scenario);
        // Values that would mean something else without quotes are printed with them.
        let text = format!("{TEXT}[sweep]\nlinks.rate = [\"1\", \"x y\", \" x\", \"\"]\n");
        let values = plan(&text, &[], None).unwrap().unwrap().combinations;
        let values: Vec<&str> = values.iter().map(|settings| &*settings[0].1).collect();
        assert_eq!(values, ["\"1\"", "x y", "\" x\"", "\"\""]);
        let seed = plan(&format!("seed = 9\n{TEXT}"), &["flows.0.from=[\"h1\",\"h2\"],\"h3\""], None).unwrap().unwrap();
        assert_eq!(shown(&seed, None), ["flows.0.from=[\"h1\",\"h2\"] seed=9", "flows.0.from=\"h3\" seed=9"]);
    }

    #[test]
    fn seeds_are_counted_or_named() {
        assert_eq!(seeds("3", 7), Ok(vec![7, 8, 9]));
        assert_eq!(seeds("4..=5,9,5", 7), Ok(vec![4, 5, 9]));
        assert!(seeds("2", u64::MAX - 1).is_err());
        let text = format!("seed = 5\n{TEXT}[sweep]\nseeds = 2\n");
        assert_eq!(plan(&text, &[], None).unwrap().unwrap().seeds, [5, 6]);
    }

    #[test]
    fn shards_are_disjoint_and_complete() {
        let plan = plan(TEXT, &["hosts.mtu=1500,9000"], Some("1..5")).unwrap().unwrap();
        let mut all: Vec<Run> = (1..=3).flat_map(|number| plan.runs(Some(Shard { number, count: 3 }))).collect();
        all.sort();
        assert_eq!(all, plan.runs(None));
        assert_eq!(Shard::parse("2/8"), Ok(Shard { number: 2, count: 8 }));
        for text in ["0/2", "3/2", "1", "a/b", "1/0"] {
            assert!(Shard::parse(text).unwrap_err().contains("is not a shard"), "{text}");
        }
    }

    #[test]
    fn faults_have_their_places() {
        let mut texts = String::new();
        for (section, sweeps, seeds) in [
            ("[sweep]\nlinks.loss = 0.1\n", vec![], None),
            ("[sweep]\nseed = [1, 2]\n", vec![], None),
            ("[sweep]\nseeds = \"1..x\"\n", vec![], None),
            ("[sweep]\nseeds = [1, \"a\"]\n", vec![], None),
            ("", vec!["links.loss"], None),
            ("", vec!["links.loss=1,,2"], None),
            ("", vec!["seed=1,2"], None),
            ("", vec![], Some("5..4")),
            ("", vec![], Some("0")),
            ("[sweep]\nseeds = 0.5\n", vec![], None),
            ("[sweep]\nseeds = \"1..1000000\"\nhosts.mtu = [1500, 9000]\n", vec![], None),
        ] {
            let fault = plan(&format!("{TEXT}{section}"), &sweeps, seeds).unwrap_err();
            texts += &format!("{fault}\n");
        }
        expect_test::expect![[r#"
            6:14: `links.loss` has a list of the values that it takes, as in [0, 0.01]
            6:1: seeds are varied with `seeds`, as in seeds = "1..20" or --seeds 1..20
            6:9: `x` is not a seed: write how many, as in 20, or which, as in 1..20 or 3,5,8
            6:9: `"a"` is not a seed: write how many, as in 20, or which, as in 1..20 or 3,5,8
            --sweep links.loss: write KEY=VALUE,VALUE, as in links.loss=0,0.01
            --sweep links.loss=1,,2: write KEY=VALUE,VALUE, as in links.loss=0,0.01
            --sweep seed=1,2: seeds are varied with `seeds`, as in seeds = "1..20" or --seeds 1..20
            --seeds 5..4: `5..4` has no numbers, or more than 1048576
            --seeds 0: `0` is not a number of seeds: write 1 to 1048576
            6:9: write seeds = 20, seeds = "1..20", or a list of numbers
            the sweep has more than 1048576 runs
        "#]]
        .assert_eq(&texts);
    }
}
