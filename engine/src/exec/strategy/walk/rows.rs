//! Sets of sources as rows.

use crate::budget::Budget;
use crate::data::{Code, Rows, Run, parallel};
use crate::exec::error::ExecError;
use crate::exec::growing::check_rows;

/// The rows of one part of the sources.
pub(super) struct PartRows<const W: usize> {
    first_source: usize,
    kept: Kept<W>,
    count: usize,
}

/// However they take less memory, in the order of nodes: the sources of each, or with its code.
enum Kept<const W: usize> {
    Sets { nodes: Vec<Code>, sets: Vec<[u64; W]> },
    Pairs(Vec<(u32, Code)>),
}

impl<const W: usize> PartRows<W> {
    /// The sources of each of these nodes, from the part's first one on.
    pub(super) fn new(first_source: usize, nodes: Vec<Code>, sets: Vec<[u64; W]>) -> Self {
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
            Kept::Sets { nodes, sets } => {
                nodes.len() * size_of::<Code>() + sets.len() * size_of::<[u64; W]>()
            }
            Kept::Pairs(pairs) => pairs.len() * size_of::<(u32, Code)>(),
        }
    }

    /// Node after node.
    fn write(self, sources: &[Code], source_out: &mut [Code], node_out: &mut [Code]) {
        let sources = &sources[self.first_source..];
        let mut out = source_out.iter_mut().zip(node_out);
        let mut write = |source: u32, node: Code| {
            if let Some((source_out, node_out)) = out.next() {
                (*source_out, *node_out) = (sources[source as usize], node);
            }
        };
        match self.kept {
            Kept::Sets { nodes, sets } => for_each(&nodes, &sets, write),
            Kept::Pairs(pairs) => pairs.into_iter().for_each(|(source, node)| write(source, node)),
        }
    }

    /// Source after source, the nodes of each in the order in which they are kept.
    fn write_by_source(self, sources: &[Code], source_out: &mut [Code], node_out: &mut [Code]) {
        let sources = sources[self.first_source..].iter().take(64 * W);
        match self.kept {
            Kept::Sets { nodes, sets } => {
                let (of_sources, words) = turned(&sets);
                let mut end = 0;
                for (source, set) in sources.zip(of_sources.chunks_exact(words)) {
                    let start = end;
                    for (nodes, bits) in nodes.chunks(64).zip(set) {
                        let mut bits = *bits;
                        while bits != 0 {
                            node_out[end] = nodes[bits.trailing_zeros() as usize];
                            end += 1;
                            bits &= bits - 1;
                        }
                    }
                    source_out[start..end].fill(*source);
                }
            }
            Kept::Pairs(pairs) => {
                let mut next = vec![0; 64 * W];
                pairs.iter().for_each(|(source, _)| next[*source as usize] += 1);
                let mut start = 0;
                for (source, next) in sources.zip(&mut next) {
                    let end = start + std::mem::replace(next, start);
                    source_out[start..end].fill(*source);
                    start = end;
                }
                for (source, node) in pairs {
                    let place = &mut next[source as usize];
                    node_out[*place] = node;
                    *place += 1;
                }
            }
        }
    }
}

fn for_each<const W: usize>(nodes: &[Code], sets: &[[u64; W]], mut visit: impl FnMut(u32, Code)) {
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

/// For each source which of the sets have it, a bit each, and how many words that is.
fn turned<const W: usize>(sets: &[[u64; W]]) -> (Vec<u64>, usize) {
    let words = sets.len().div_ceil(64).max(1);
    let mut of_sources = vec![0; 64 * W * words];
    for (block, sets) in sets.chunks(64).enumerate() {
        for word in 0..W {
            let mut bits = [0; 64];
            bits.iter_mut().zip(sets).for_each(|(bits, set)| *bits = set[word]);
            transpose(&mut bits);
            for (source, bits) in bits.into_iter().enumerate() {
                of_sources[(word * 64 + source) * words + block] = bits;
            }
        }
    }
    (of_sources, words)
}

/// Bit `j` of word `i` becomes bit `i` of word `j`: quarters of ever smaller squares change places (Warren, Hacker's Delight, 2012,
/// chapter 7).
fn transpose(bits: &mut [u64; 64]) {
    let (mut side, mut mask) = (32, 0x0000_0000_FFFF_FFFF_u64);
    while side > 0 {
        let mut row = 0;
        while row < 64 {
            let other = row + side;
            let changed = (bits[row] >> side ^ bits[other]) & mask;
            bits[row] ^= changed << side;
            bits[other] ^= changed;
            row = (other + 1) & !side;
        }
        side /= 2;
        mask ^= mask << side;
    }
}

/// How rows are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    /// In the order of sources and, as each part has them in theirs, of nodes.
    BySource,
    /// Node after node, in each part: the source stands first,
    SourceFirst,
    /// or the node.
    NodeFirst,
}

/// All parts, which are in the order of sources, as one run.
pub(super) fn assemble<const W: usize>(
    parts: Vec<PartRows<W>>,
    sources: &[Code],
    order: Order,
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
        if order == Order::BySource {
            let _turned = budget.hold(part.memory_bytes())?;
            part.write_by_source(sources, source_out, node_out);
        } else {
            part.write(sources, source_out, node_out);
        }
        Ok::<_, ExecError>(())
    });
    written.into_iter().collect::<Result<(), _>>()?;
    budget.release(held);
    Ok(match order {
        Order::BySource => Run::of_sorted(Rows { columns: vec![source_column, node_column], len: total }),
        Order::SourceFirst => Run::new(vec![source_column, node_column], total),
        Order::NodeFirst => Run::new(vec![node_column, source_column], total),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_come_one_after_the_other_with_their_nodes_in_order() {
        let mut state = 7_u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            state ^ state >> 29
        };
        let sources: Vec<Code> = (0..300).map(|source| 5 * source + 1).collect();
        // Many sets, few of them, and not as many as make a word.
        for (nodes, masks) in [(1_000, 1), (1_000, 6), (70, 2), (1, 1), (0, 1)] {
            let codes: Vec<Code> = (0..nodes).map(|node| 3 * node).collect();
            // The last part has fewer sources.
            let sets = codes.iter().map(|_| {
                let words: [u64; 2] =
                    std::array::from_fn(|_| (0..masks).fold(u64::MAX, |bits, _| bits & next()));
                [words[0], words[1] & ((1 << 44) - 1)]
            });
            let sets: Vec<[u64; 2]> = sets.collect();
            let mut expected: Vec<(Code, Code)> = Vec::new();
            for_each(&codes, &sets, |source, node| expected.push((sources[192 + source as usize], node)));
            expected.sort_unstable();
            let part = PartRows::new(192, codes, sets);
            let is_pairs = matches!(part.kept, Kept::Pairs(_));
            assert_eq!(is_pairs, masks == 6, "both ways are tried");
            let run = assemble(vec![part], &sources, Order::BySource, &Budget::unlimited()).unwrap();
            let found: Vec<(Code, Code)> =
                run.column(0).iter().copied().zip(run.column(1).iter().copied()).collect();
            assert_eq!(found, expected);
        }
    }
}
