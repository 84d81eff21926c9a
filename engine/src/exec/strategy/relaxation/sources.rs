//! Known rows by what they carry, and how far each source of them comes.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ops::Range;

use arrow::datatypes::ArrowNativeType;

use super::adjacency::Adjacency;
use super::keys::Walker;
use super::nodes::Nodes;
use super::sweeps::{Marked, Open, Sweeps};
use crate::data::{Code, Rows, parallel};
use crate::exec::error::ExecError;
use crate::exec::graphs::edges::codes;
use crate::exec::growing::check_rows;
use crate::exec::tables::Tables;
use crate::plan::{Access, Columns, Relaxation, Version, rows_of};

/// Known rows by what they carry: each combination of carried values is a source of its own.
pub(super) struct Sources<'s> {
    relaxation: &'s Relaxation,
    known: &'s Rows,
    domain: &'s Nodes<'s>,
    /// The rows, those of a source side by side.
    rows: Vec<u32>,
    /// Which of them belong to each source.
    ranges: Vec<Range<usize>>,
    /// Where edges may end, by what says so: carried values, and numbers of nodes.
    allowed: BTreeMap<Columns, Vec<(Code, u32)>>,
}

impl<'s> Sources<'s> {
    pub(super) fn of(known: &'s Rows, relaxation: &'s Relaxation, domain: &'s Nodes<'s>) -> Sources<'s> {
        let mut rows: Vec<u32> = (0..known.len as u32).collect();
        // There are two carried columns at most.
        let carried = |row: &u32| {
            let codes = relaxation.carried.iter().map(|column| known.columns[*column][*row as usize]);
            codes.fold(0_u64, |key, code| key << Code::BITS | u64::from(code))
        };
        if !relaxation.carried.is_empty() {
            parallel::sort_by_key(&mut rows, carried);
        }
        let of_source = rows.chunk_by(|a, b| carried(a) == carried(b));
        let ranges = of_source.scan(0, |end, rows| {
            let start = std::mem::replace(end, *end + rows.len());
            Some(start..*end)
        });
        let ranges = ranges.collect();
        Sources { relaxation, known, domain, rows, ranges, allowed: BTreeMap::new() }
    }

    /// Finds out where edges may end.
    pub(super) fn find_allowed(&mut self, tables: &Tables<'_>) -> Result<(), ExecError> {
        for columns in self.relaxation.edges.iter().filter_map(|edges| edges.allowed) {
            let Entry::Vacant(entry) = self.allowed.entry(columns) else { continue };
            let runs = tables.runs(Access::of(columns.relation, Version::All))?;
            let rows = rows_of(&runs);
            tables.budget.charge(rows * size_of::<(Code, u32)>())?;
            let mut pairs = Vec::with_capacity(rows);
            for (carried, node) in
                codes(runs.iter(), columns.from).into_iter().zip(codes(runs.iter(), columns.to))
            {
                pairs.extend(self.domain.find(node).map(|number| (carried, number)));
            }
            parallel::sort_by_key(&mut pairs, |pair| *pair);
            entry.insert(pairs);
        }
        Ok(())
    }

    /// The edges that a source may take, and marks where they may end.
    fn open<'a, K: ArrowNativeType>(
        &'a self,
        source: &Range<usize>,
        groups: &'a [Adjacency<K>],
        marked: &'a mut BTreeMap<Columns, Marked>,
    ) -> Vec<Open<'a, K>> {
        for (columns, pairs) in &self.allowed {
            let carried = self.carried(source, self.relaxation.carried[0]);
            let start = pairs.partition_point(|(code, _)| *code < carried);
            let of_source = pairs[start..].iter().take_while(|(code, _)| *code == carried);
            let marked = marked.entry(*columns).or_insert_with(|| Marked::of(self.domain.len()));
            marked.mark(of_source.map(|(_, number)| *number));
        }
        let may_take = |edges: &&Adjacency<K>| {
            let passes = |(column, passing): &(usize, Vec<Code>)| {
                passing.binary_search(&self.carried(source, *column)).is_ok()
            };
            edges.guards.iter().all(passes)
        };
        let marked = &*marked;
        let open = |edges: &'a Adjacency<K>| Open {
            edges,
            allowed: edges.allowed.and_then(|columns| marked.get(&columns)),
        };
        groups.iter().filter(may_take).map(open).collect()
    }

    /// The value that a source carries in a column.
    fn carried(&self, source: &Range<usize>, column: usize) -> Code {
        self.known.columns[column][self.rows[source.start] as usize]
    }

    /// The nodes in which a source begins, and their values.
    fn starts(&self, source: &Range<usize>) -> impl Iterator<Item = (usize, Code)> + '_ {
        let [nodes, values] =
            [self.relaxation.node, self.relaxation.value].map(|column| &self.known.columns[column]);
        self.rows[source.clone()].iter().map(move |row| {
            let row = *row as usize;
            (self.domain.number(nodes[row]) as usize, values[row])
        })
    }

    /// Relaxes parts of the sources side by side, the sources of a part one after the other, each with the edges that it may take.
    /// Nothing if that does not work for one of them.
    pub(super) fn relax<W: Walker>(
        &self,
        tables: &Tables<'_>,
        groups: &[Adjacency<W::Key>],
        walker: impl Fn() -> W + Sync,
    ) -> Result<Option<Vec<Relaxed>>, ExecError> {
        /// Each part has a value of its own for each node.
        const PARTS: usize = 32;
        let part = |sources: Range<usize>| -> Result<Relaxed, ExecError> {
            let bytes = self.domain.len() * (size_of::<W::Key>() + size_of::<u32>());
            let _held = tables.budget.hold(bytes)?;
            let mut walker = walker();
            let mut sweeps = Sweeps::new(self.domain.len(), W::NONE);
            let mut marked = BTreeMap::new();
            let rows = Rows::empty(self.known.columns.len());
            let mut relaxed = Relaxed { rows, sweeps: 0, is_complete: false };
            for source in &self.ranges[sources] {
                tables.budget.check()?;
                let groups = self.open(source, groups, &mut marked);
                if !walker.start(self.starts(source), &mut sweeps) {
                    return Ok(relaxed);
                }
                let add = |key, weight| W::add(&walker, key, weight);
                let Some(count) = sweeps.run(&groups, tables.budget, add)? else {
                    return Ok(relaxed);
                };
                relaxed.sweeps = relaxed.sweeps.max(count);
                self.take(source, &walker, &mut sweeps, &mut relaxed.rows, tables)?;
            }
            relaxed.is_complete = true;
            Ok(relaxed)
        };
        let count = self.ranges.len();
        let parts = parallel::map(parallel::lanes(count, count.div_ceil(PARTS)), part);
        let parts = parts.into_iter().collect::<Result<Vec<Relaxed>, ExecError>>()?;
        if parts.iter().all(|part| part.is_complete) {
            return Ok(Some(parts));
        }
        let bytes = |part: &Relaxed| Rows::bytes_to_store(part.rows.columns.len(), part.rows.len);
        tables.budget.release(parts.iter().map(bytes).sum());
        Ok(None)
    }

    /// Takes what a source has reached, in the order of nodes.
    fn take<W: Walker>(
        &self,
        source: &Range<usize>,
        walker: &W,
        sweeps: &mut Sweeps<W::Key>,
        rows: &mut Rows,
        tables: &Tables<'_>,
    ) -> Result<(), ExecError> {
        let found = sweeps.reached.len();
        tables.budget.charge(Rows::bytes_to_store(rows.columns.len(), found))?;
        rows.len += found;
        check_rows(rows.len)?;
        let Relaxation { node, value, .. } = *self.relaxation;
        for column in &self.relaxation.carried {
            rows.columns[*column].resize(rows.len, self.carried(source, *column));
        }
        sweeps.take(|number, key| {
            rows.columns[node].push(self.domain.code(number));
            rows.columns[value].push(walker.value(number, key)?);
            Ok(())
        })
    }
}

/// What some sources have reached, and the most sweeps that one of them took.
pub(super) struct Relaxed {
    pub(super) rows: Rows,
    pub(super) sweeps: usize,
    /// Whether that was found out for all of them.
    is_complete: bool,
}
