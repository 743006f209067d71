//! Code for tables whose contents no longer change.
//!
//! What enters: a switch with compiled code and what is in its tables. What leaves: a [`SpecialisedProgram`], the
//! program with tables replaced by their results ([`passes::specialise`]) and its plan; once that is compiled, a
//! [`Specialisation`], which the switch runs until the first change of one of those tables.
//!
//! The control plane knows nothing of this. Each run of a core enters one state of all tables; if that is not the
//! state which the specialisation is of, as far as its tables go, the run is one of the general code. So there is no
//! moment at which a change could be seen by one and not by the other. A core and each of its shards check this on
//! their own.
//!
//! Both codes have the same layout of packets and the same registers, counters and meters, so that nothing is moved
//! when the switch changes from one to the other, not even for packets in queues.

use crate::engine::{Engine, Rules};
use crate::shared_tables::SharedTables;
use crate::switch::{Switch, rules_of};
use base::index::Id as _;
use base::{FieldMatch, IndexVec};
use cgen::{Native, Plan};
use ir::{ActionCall, Program, TableId};
use passes::specialise::{Contents, ENTRIES_MAX, KnownEntry, specialise};
use std::cmp::Reverse;
use std::sync::Arc;
use tables::{Guard, Table, TableSet, Target};

/// A program for the present contents of its tables, to be compiled.
#[derive(Debug)]
pub struct SpecialisedProgram {
    /// The tables that it is drawn from.
    of: SharedTables,
    program: Program,
    plan: Plan,
    tables: Vec<Replaced>,
}

/// A table that is replaced by what it answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replaced {
    /// Its position in the program.
    pub table: TableId,
    /// Its name.
    pub name: String,
    /// How many entries it has.
    pub entries: usize,
    /// The state that last changed it.
    revision: u64,
}

/// What a specialised program is made from: handles, so that it may be taken from a switch between two bursts.
#[derive(Clone, Debug)]
pub struct SpecialisationInput {
    program: Arc<Program>,
    plan: Arc<Plan>,
    tables: SharedTables,
}

impl SpecialisationInput {
    /// The program that is to be specialised.
    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }

    /// The program for what is in the tables now; none if that would change nothing.
    pub fn specialised_program(&self) -> Option<SpecialisedProgram> {
        let (contents, revisions) = {
            let tables = self.tables.lock();
            let contents: IndexVec<TableId, _> =
                self.program.tables.ids().map(|id| contents(&self.program, &tables, id)).collect();
            let revisions: IndexVec<TableId, u64> =
                self.program.tables.ids().map(|id| tables.table_revision(id.index())).collect();
            (contents, revisions)
        };
        let special = specialise(&self.program, &contents)?;
        let plan = Plan::specialised(&special.program, &self.program, &self.plan)?;
        let replaced = |(table, entries): (TableId, usize)| Replaced {
            table,
            name: self.program.tables[table].name.clone(),
            entries,
            revision: revisions[table],
        };
        let tables = special.tables.into_iter().map(replaced).collect();
        Some(SpecialisedProgram { of: self.tables.clone(), program: special.program, plan, tables })
    }
}

impl SpecialisedProgram {
    /// The C text to be compiled.
    pub fn c_text(&self) -> String {
        cgen::emit_c(&self.program, &self.plan, &|_| None)
    }

    /// The program.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// The plan, to load the compiled text with.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// What came of it, compiled from its text and loaded with its plan.
    pub fn build(self, native: Native) -> Specialisation {
        let code = (Arc::new(self.program), Arc::new(native), Arc::new(self.plan));
        Specialisation { of: self.of, code, tables: self.tables }
    }
}

/// Code for the contents of some tables.
#[derive(Debug)]
pub struct Specialisation {
    /// The tables that it is made for: those of one switch and its shards.
    of: SharedTables,
    code: (Arc<Program>, Arc<Native>, Arc<Plan>),
    tables: Vec<Replaced>,
}

impl Specialisation {
    /// The tables that it is for.
    pub fn tables(&self) -> &[Replaced] {
        &self.tables
    }

    pub(crate) fn code(&self) -> &(Arc<Program>, Arc<Native>, Arc<Plan>) {
        &self.code
    }

    fn holds(&self, lookups: &Guard<'_>) -> bool {
        self.tables.iter().all(|it| lookups.table_revision(it.table.index()) == it.revision)
    }
}

/// `acl is empty, routes has 2 entries`.
impl std::fmt::Display for Specialisation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (position, it) in self.tables.iter().enumerate() {
            f.write_str(if position == 0 { "" } else { ", " })?;
            match it.entries {
                0 => write!(f, "{} is empty", it.name)?,
                1 => write!(f, "{} has 1 entry", it.name)?,
                entries => write!(f, "{} has {entries} entries", it.name)?,
            }
        }
        Ok(())
    }
}

/// The specialisation that a core runs, if it runs one.
#[derive(Default)]
pub(crate) struct Special {
    runs: Option<Arc<Specialisation>>,
    /// The state of the tables for which it is known to hold.
    checked: Option<u64>,
}

impl Special {
    /// Whether what runs is right for this state of the tables.
    #[inline]
    pub(crate) fn holds(&mut self, lookups: &Guard<'_>) -> bool {
        let Some(special) = &self.runs else { return true };
        if self.checked == Some(lookups.revision()) {
            return true;
        }
        self.checked = Some(lookups.revision());
        special.holds(lookups)
    }

    /// Goes back to the general code.
    pub(crate) fn end(&mut self, program: &Program, engine: &mut Engine, rules: &mut Box<dyn Rules>) {
        self.runs = None;
        self.checked = None;
        let (general_rules, observability) = rules_of(program);
        *rules = general_rules;
        engine.run_code(None, observability);
    }
}

impl Switch {
    /// What a specialisation of this switch is made from; none if no compiled code runs.
    pub fn specialisation_input(&self) -> Option<SpecialisationInput> {
        let plan = self.engine.pipeline.plan()?;
        Some(SpecialisationInput {
            program: Arc::clone(&self.program),
            plan: Arc::clone(plan),
            tables: self.shared_tables(),
        })
    }

    /// Runs a specialisation from the next packet on, as long as its tables stay as they are. False if it is for the
    /// tables of another switch or of a program that this one had before, and if one of its tables has changed since.
    pub fn specialise(&mut self, special: Arc<Specialisation>) -> bool {
        if !special.of.are(&self.tables) || !special.holds(&self.reader.enter()) {
            return false;
        }
        self.run_as(&Special { runs: Some(special), checked: None });
        true
    }

    /// Goes back to the general code, if a specialisation runs.
    pub fn generalise(&mut self) {
        if self.special.runs.is_some() {
            self.special.end(&self.program, &mut self.engine, &mut self.rules);
        }
    }

    /// The number of the present state of the tables, which changes with every batch that packets can see.
    pub fn revision(&mut self) -> u64 {
        self.reader.enter().revision()
    }

    /// The specialisation that runs.
    pub fn specialisation(&self) -> Option<&Arc<Specialisation>> {
        self.special.runs.as_ref()
    }

    /// Runs what another core of the same switch runs.
    pub(crate) fn run_as(&mut self, other: &Special) {
        match &other.runs {
            None => self.generalise(),
            Some(special) if self.special.runs.as_ref().is_some_and(|runs| Arc::ptr_eq(runs, special)) => {}
            Some(special) => {
                let (rules, observability) = rules_of(&special.code.0);
                self.rules = rules;
                self.engine.run_code(Some(special), observability);
                self.special.runs = Some(Arc::clone(special));
                self.special.checked = None;
            }
        }
    }
}

/// What is in a table, if it is little and known without a packet.
fn contents(program: &Program, tables: &TableSet, id: TableId) -> Option<Contents> {
    let table = &tables.tables()[id.index()];
    if table.len() > ENTRIES_MAX {
        return None;
    }
    let call = |action: usize, args: &[base::Bits]| {
        if let Some(Target::Group(_)) = Target::of(action, args) {
            return None;
        }
        let call = tables.resolve(id.index(), action, args, 0)?;
        Some(ActionCall { action: u32::try_from(call.action).ok()?, args: call.args })
    };
    let default = match table.default_action() {
        Some(default) => call(default.action, &default.args)?,
        None => program.tables[id].default_action.clone(),
    };
    let mut entries: Vec<&tables::Entry> = table.entries().collect();
    entries.sort_by_key(|entry| Reverse((prefix_len(table, entry), entry.spec.priority, Reverse(entry.sequence))));
    let known = |entry: &tables::Entry| {
        let key = entry.spec.key.clone();
        Some(KnownEntry { handle: entry.handle.0, key, call: call(entry.spec.action, &entry.spec.args)? })
    };
    let entries = entries.into_iter().map(known).collect::<Option<_>>()?;
    Some(Contents { entries, default })
}

/// What decides between entries before their priorities do.
fn prefix_len(table: &Table, entry: &tables::Entry) -> u32 {
    let len = |value: &FieldMatch| match value {
        FieldMatch::Lpm { prefix_len, .. } if table.kind() == tables::TableKind::Lpm => *prefix_len,
        _ => 0,
    };
    entry.spec.key.iter().map(len).max().unwrap_or(0)
}
