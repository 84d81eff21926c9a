//! Sets of sources as rows.

use super::graph::Graph;
use crate::budget::Budget;
use crate::data::{Code, Run, parallel};
use crate::exec::error::ExecError;
use crate::exec::growing::check_rows;

/// The rows of one part of the sources.
pub(super) struct PartRows<const W: usize> {
    first_source: usize,
    kept: Kept<W>,
    count: usize,
}

/// However they take less memory.
enum Kept<const W: usize> {
    Sets { nodes: Vec<u32>, sets: Vec<[u64; W]> },
    Pairs(Vec<(u32, u32)>),
}

impl<const W: usize> PartRows<W> {
    /// The sources of each of these nodes, from the part's first one on.
    pub(super) fn new(first_source: usize, nodes: Vec<u32>, sets: Vec<[u64; W]>) -> Self {
        let count = sets.iter().flatten().map(|word| word.count_ones() as usize).sum();
        let kept = if count < nodes.len() * W {
            let mut pairs = Vec::with_capacity(count);
            for_each(&nodes, &sets, |source, node| pairs.push((source, node)));
            Kept::Pairs(pairs)
        } else {
            Kept::Sets { nodes, sets }
        };
        PartRows { first_source, kept, count }
    }

    /// Bytes held.
    pub(super) fn memory_bytes(&self) -> usize {
        match &self.kept {
            Kept::Sets { nodes, sets } => nodes.len() * size_of::<u32>() + sets.len() * size_of::<[u64; W]>(),
            Kept::Pairs(pairs) => pairs.len() * size_of::<(u32, u32)>(),
        }
    }

    fn write(self, sources: &[Code], graph: &Graph, source_out: &mut [Code], node_out: &mut [Code]) {
        let sources = &sources[self.first_source..];
        let mut out = source_out.iter_mut().zip(node_out);
        let mut write = |source: u32, node: u32| {
            if let Some((source_out, node_out)) = out.next() {
                *source_out = sources[source as usize];
                *node_out = graph.codes[node as usize];
            }
        };
        match self.kept {
            Kept::Sets { nodes, sets } => for_each(&nodes, &sets, write),
            Kept::Pairs(pairs) => pairs.into_iter().for_each(|(source, node)| write(source, node)),
        }
    }
}

fn for_each<const W: usize>(nodes: &[u32], sets: &[[u64; W]], mut visit: impl FnMut(u32, u32)) {
    for (node, set) in nodes.iter().zip(sets) {
        for (word, bits) in set.iter().enumerate() {
            let mut bits = *bits;
            while bits != 0 {
                visit(word as u32 * 64 + bits.trailing_zeros(), *node);
                bits &= bits - 1;
            }
        }
    }
}

/// All parts as one run.
pub(super) fn assemble<const W: usize>(
    parts: Vec<PartRows<W>>,
    sources: &[Code],
    graph: &Graph,
    carried_first: bool,
    budget: &Budget,
) -> Result<Run, ExecError> {
    let total: usize = parts.iter().map(|part| part.count).sum();
    let held: usize = parts.iter().map(PartRows::memory_bytes).sum();
    budget.check()?;
    check_rows(total)?;
    budget.charge(2 * total * size_of::<Code>())?;
    let (mut source_column, mut node_column) = (vec![0; total], vec![0; total]);
    let (mut source_rest, mut node_rest) = (source_column.as_mut_slice(), node_column.as_mut_slice());
    let mut work = Vec::with_capacity(parts.len());
    for part in parts {
        let (source_out, node_out);
        (source_out, source_rest) = source_rest.split_at_mut(part.count);
        (node_out, node_rest) = node_rest.split_at_mut(part.count);
        work.push((part, source_out, node_out));
    }
    let written = parallel::map(work, |(part, source_out, node_out)| {
        budget.check()?;
        part.write(sources, graph, source_out, node_out);
        Ok::<_, ExecError>(())
    });
    written.into_iter().collect::<Result<(), _>>()?;
    budget.release(held);
    let columns =
        if carried_first { vec![source_column, node_column] } else { vec![node_column, source_column] };
    Ok(Run::new(columns, total))
}
