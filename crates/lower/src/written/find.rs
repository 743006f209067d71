//! Finds the headers that keep their contents while they are invalid.

use crate::places::headers_of;
use base::{IndexVec, OrderedMap, OrderedSet};
use ir::walk::{self, Item};
use ir::{HeaderId, HeaderRef, Place, Program, StackId, StmtKind};

/// A program's statements on whole headers.
pub(super) struct Found {
    /// The packet's headers.
    packet: OrderedSet<HeaderId>,
    /// For each header its representative: itself, or the first element of its stack if an element of that is not
    /// always indexed by a constant. The sets and copies below hold representatives.
    names: IndexVec<HeaderId, HeaderId>,
    /// Headers that may become valid.
    valid: OrderedSet<HeaderId>,
    /// A field is written, or the header made invalid, so that an invalid header may have contents.
    written: OrderedSet<HeaderId>,
    /// Target and source of each copy.
    copies: Vec<(HeaderId, HeaderId)>,
}

impl Found {
    /// `listed`: the headers that field lists preserve.
    pub fn new(program: &Program, packet: &OrderedSet<HeaderId>, listed: impl Iterator<Item = HeaderId>) -> Found {
        let mut found = Found {
            packet: packet.clone(),
            names: program.headers.ids().collect(),
            valid: OrderedSet::new(),
            written: OrderedSet::new(),
            copies: Vec::new(),
        };
        for block in &program.blocks {
            walk::visit_block(program, block, &mut |item| found.item(program, item));
        }
        for body in walk::bodies(program) {
            walk::visit_body(body, &mut |stmt| {
                walk::visit_own(&stmt.kind, &mut |item| found.item(program, item));
                found.moved_by(program, &stmt.kind);
            });
        }
        for body in walk::bodies(program) {
            walk::visit_body(body, &mut |stmt| found.stmt(program, &stmt.kind));
        }
        for (_, place) in program.tables.iter().filter_map(|table| table.direct_meter.as_ref()) {
            place.iter().for_each(|place| found.place(program, place));
        }
        let listed: Vec<HeaderId> = listed.map(|header| found.names[header]).collect();
        found.written.extend(listed);
        found.spread();
        found
    }

    fn item(&mut self, program: &Program, item: Item<'_>) {
        if let Item::Header(header) | Item::Field(header, _) = item {
            match header {
                HeaderRef::Fixed(_) => {}
                HeaderRef::Element { stack, .. } | HeaderRef::Next(stack) | HeaderRef::Last(stack) => {
                    self.moves(program, *stack);
                }
            }
        }
    }

    fn moved_by(&mut self, program: &Program, stmt: &StmtKind) {
        if let StmtKind::PushFront { stack, .. } | StmtKind::PopFront { stack, .. } = stmt {
            self.moves(program, *stack);
        }
    }

    fn moves(&mut self, program: &Program, stack: StackId) {
        let elements = &program.stacks[stack].elements;
        for element in elements {
            self.names[*element] = elements[0];
        }
    }

    fn stmt(&mut self, program: &Program, stmt: &StmtKind) {
        match stmt {
            StmtKind::SetValid(header) | StmtKind::Extract { dst: header, .. } => {
                self.valid.extend(self.name(program, header));
            }
            StmtKind::SetInvalid(header) => self.written.extend(self.name(program, header)),
            StmtKind::CopyHeader { dst, src } => {
                self.copies.extend(self.name(program, dst).zip(self.name(program, src)));
            }
            _ => {}
        }
        if let Some(place) = stmt.dst() {
            self.place(program, place);
        }
    }

    fn place(&mut self, program: &Program, place: &Place) {
        match place {
            Place::Var(_) => {}
            Place::Field(header, _) => self.written.extend(self.name(program, header)),
            Place::Slice { base, .. } => self.place(program, base),
        }
    }

    /// The representative of a reference.
    fn name(&self, program: &Program, header: &HeaderRef) -> Option<HeaderId> {
        headers_of(program, header).first().map(|header| self.names[*header])
    }

    /// A copy of a header that may be valid may be valid.
    fn spread(&mut self) {
        let mut copies: OrderedMap<HeaderId, OrderedSet<HeaderId>> = OrderedMap::new();
        for (to, from) in &self.copies {
            copies.entry(*from).or_default().insert(*to);
        }
        let mut new: Vec<HeaderId> = self.valid.iter().copied().collect();
        while let Some(from) = new.pop() {
            let to = copies.get(&from).into_iter().flatten().copied();
            new.extend(to.filter(|to| self.valid.insert(*to)));
        }
    }

    /// Whether something may make a header valid.
    pub fn may_be_valid(&self, header: HeaderId) -> bool {
        self.valid.contains(&self.names[header])
    }

    /// The headers whose fields become variables: those in the metadata that are written, and those that are copied
    /// from or to such a header and are not the packet's.
    pub fn kept(&self, program: &Program) -> OrderedSet<HeaderId> {
        let is_own = |header: &HeaderId| !self.packet.contains(header);
        let mut groups = self.names.clone();
        for (to, from) in self.copies.iter().filter(|(to, from)| is_own(to) && is_own(from)) {
            let (to, from) = (group(&mut groups, *to), group(&mut groups, *from));
            groups[to.max(from)] = to.min(from);
        }
        // Each header's group comes before it, so that this makes all paths one step long.
        for header in program.headers.ids() {
            groups[header] = groups[groups[header]];
        }
        let groups_of = |is_wanted: &dyn Fn(HeaderId) -> bool| -> OrderedSet<HeaderId> {
            let headers = program.headers.ids().filter(|header| is_own(header) && is_wanted(*header));
            headers.map(|header| groups[header]).collect()
        };
        let in_metadata = groups_of(&|header| program.headers[header].metadata);
        let written = groups_of(&|header| self.written.contains(&self.names[header]));
        let wanted: OrderedSet<_> = in_metadata.intersection(&written).copied().collect();
        let has_values = |header: HeaderId| program.header_types[program.headers[header].ty].fixed_width() > 0;
        let is_kept = |header: &HeaderId| is_own(header) && wanted.contains(&groups[*header]) && has_values(*header);
        program.headers.ids().filter(is_kept).collect()
    }
}

/// The representative of a header's group; compresses the path to it.
fn group(groups: &mut IndexVec<HeaderId, HeaderId>, mut header: HeaderId) -> HeaderId {
    while groups[header] != header {
        groups[header] = groups[groups[header]];
        header = groups[header];
    }
    header
}
