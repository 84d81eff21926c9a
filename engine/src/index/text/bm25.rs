//! BM25: how well a text answers a query (Robertson and Zaragoza, The probabilistic relevance framework: BM25 and beyond,
//! 2009).
//!
//! A clause that stands f times in a text of l terms adds `idf · f · (k1 + 1) / (f + k1 · (1 − b + b · l / avg))`, where
//! `idf = ln(1 + (N − n + 0.5) / (n + 0.5))`: n of N texts hold the clause, and a text has avg terms on average. All these are
//! counted among the rows that the reader sees, and contributions are summed up in the order of clauses. So a score depends
//! on the rows and the query alone, and on nothing that happened before.

use std::sync::Arc;

use super::phrase::Hits;
use super::query::{Clause, Occurs, TextQuery};
use crate::data::{Code, GoOn, Run, Segment, Stopped, TextIndex, parallel};

/// How soon more of the same counts less.
const K1: f64 = 1.2;
/// How much long texts have to hold more.
const B: f64 = 0.75;
/// Where so many times as many rows hold nothing that is looked for, only those are looked at that do.
const FEW: usize = 16;

/// The texts of a relation, as one reader sees it.
pub struct Texts {
    parts: Vec<(Run, Arc<TextIndex>)>,
    texts: usize,
    words: u64,
}

/// A row that answers a query, by the code in its first column.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Match {
    /// How well; more than 0.
    pub score: f64,
    /// The first column.
    pub id: Code,
}

/// What was found of each clause of a query.
pub struct Found<'t> {
    texts: &'t Texts,
    /// For each segment, the rows that hold each clause.
    units: Vec<Unit<'t>>,
    clauses: &'t [Clause],
    /// The idf of each clause.
    weights: Vec<f64>,
    most: usize,
}

struct Unit<'t> {
    run: &'t Run,
    segment: &'t Segment,
    hits: Vec<Hits<'t>>,
}

impl Texts {
    /// Of runs with their indexes.
    pub fn new(parts: Vec<(Run, Arc<TextIndex>)>) -> Texts {
        let (mut texts, mut words) = (0, 0);
        for (run, index) in &parts {
            for segment in index.segments() {
                if run.live().is_none() {
                    texts += segment.texts();
                    words += segment.words();
                    continue;
                }
                let live = segment.rows().enumerate().filter(|(_, row)| run.is_live(*row));
                for length in live.filter_map(|(at, _)| segment.length(at)) {
                    texts += 1;
                    words += u64::from(length);
                }
            }
        }
        Texts { parts, texts, words }
    }

    /// Bytes that it takes to look up the clauses of a query, about.
    pub fn find_cost(&self, query: &TextQuery) -> usize {
        let segments: usize = self.parts.iter().map(|(_, index)| index.segments().len()).sum();
        segments * query.clauses.len() * size_of::<(Hits<'_>, usize)>()
    }

    /// Looks up the clauses of a query.
    pub fn find<'t>(&'t self, query: &'t TextQuery, go_on: GoOn<'_>) -> Result<Found<'t>, Stopped> {
        let clauses = &query.clauses;
        let segments =
            self.parts.iter().flat_map(|(run, index)| index.segments().iter().map(move |s| (run, s)));
        let look_up = |(run, segment): (&'t Run, &'t Segment)| {
            let mut hits = Vec::with_capacity(clauses.len());
            let mut live = Vec::with_capacity(clauses.len());
            for clause in clauses {
                if !go_on() {
                    return Err(Stopped);
                }
                let found = Hits::find(segment, &clause.terms);
                live.push(live_rows(&found, run, segment));
                hits.push(found);
            }
            Ok((Unit { run, segment, hits }, live))
        };
        let found = parallel::map(segments.collect(), look_up).into_iter().collect::<Result<Vec<_>, _>>()?;
        let (units, live): (Vec<Unit<'_>>, Vec<Vec<usize>>) = found.into_iter().unzip();
        let counts = (0..clauses.len()).map(|clause| live.iter().map(|live| live[clause]).sum::<usize>());
        let counts: Vec<usize> = counts.collect();
        let looked_for = clauses.iter().zip(&counts).filter(|(clause, _)| clause.occurs != Occurs::Never);
        let most = looked_for.map(|(_, count)| count).sum::<usize>().min(self.texts);
        let weights = counts.iter().map(|count| self.idf(*count)).collect();
        Ok(Found { texts: self, units, clauses, weights, most })
    }

    fn idf(&self, count: usize) -> f64 {
        let (all, count) = (self.texts as f64, count as f64);
        ((all - count + 0.5) / (count + 0.5)).ln_1p()
    }
}

fn live_rows(hits: &Hits<'_>, run: &Run, segment: &Segment) -> usize {
    if run.live().is_none() {
        return hits.len();
    }
    let (mut live, first) = (0, segment.rows().start);
    hits.each(|row, _| live += usize::from(run.is_live(first + row as usize)));
    live
}

impl Found<'_> {
    /// No more rows than these answer the query.
    pub fn most(&self) -> usize {
        self.most
    }

    /// The rows that answer the query, in no order. Of these at least the `count` best ones, and all that are as good as
    /// the last of them.
    pub fn matches(&self, count: usize, go_on: GoOn<'_>) -> Result<Vec<Match>, Stopped> {
        let score = |unit: &Unit<'_>| if go_on() { Ok(best(self.scored(unit), count)) } else { Err(Stopped) };
        let found = parallel::map(self.units.iter().collect(), score);
        Ok(found.into_iter().collect::<Result<Vec<_>, _>>()?.concat())
    }

    /// The rows of a segment that answer the query.
    fn scored(&self, unit: &Unit<'_>) -> Vec<Match> {
        let Unit { run, segment, hits } = unit;
        let rows = segment.rows();
        let clauses = self.clauses.iter().zip(hits);
        let looked_for = clauses.filter(|(clause, _)| clause.occurs != Occurs::Never).map(|(_, hits)| hits);
        let count: usize = looked_for.clone().map(Hits::len).sum();
        if count == 0 {
            return Vec::new();
        }
        let average = self.texts.words as f64 / self.texts.texts as f64;
        let (fixed, by_length) = (K1 * (1.0 - B), K1 * B / average);
        let mut scores = vec![0.0_f64; rows.len()];
        // So many of those that have to be there.
        let mut met = vec![0_u32; rows.len()];
        let mut needed = 0;
        for ((clause, weight), hits) in self.clauses.iter().zip(&self.weights).zip(hits) {
            if clause.occurs == Occurs::Never {
                continue;
            }
            let is_needed = clause.occurs == Occurs::Must;
            needed += u32::from(is_needed);
            hits.each(|row, frequency| {
                let row = row as usize;
                let (frequency, length) = (f64::from(frequency), f64::from(segment.length(row).unwrap_or(0)));
                scores[row] += weight * frequency * (K1 + 1.0) / (frequency + fixed + by_length * length);
                met[row] += u32::from(is_needed);
            });
        }
        for (clause, hits) in self.clauses.iter().zip(hits) {
            if clause.occurs == Occurs::Never {
                hits.each(|row, _| scores[row as usize] = 0.0);
            }
        }
        let ids = run.column(0);
        let found = |row: usize| {
            let is_found = scores[row] > 0.0 && met[row] == needed && run.is_live(rows.start + row);
            is_found.then(|| Match { score: scores[row], id: ids[rows.start + row] })
        };
        if count * FEW > rows.len() {
            return (0..rows.len()).filter_map(found).collect();
        }
        let mut touched = Vec::with_capacity(count);
        looked_for.for_each(|hits| hits.each(|row, _| touched.push(row as usize)));
        touched.sort_unstable();
        touched.dedup();
        touched.into_iter().filter_map(found).collect()
    }
}

/// The best of some rows, so many different ones at least, with all that are as good as the last of them.
fn best(mut matches: Vec<Match>, count: usize) -> Vec<Match> {
    if matches.len() <= count || count == 0 {
        return matches;
    }
    let (_, last, _) = matches.select_nth_unstable_by(count - 1, |a, b| b.score.total_cmp(&a.score));
    let least = last.score;
    let mut good: Vec<Match> = matches.iter().copied().filter(|found| found.score >= least).collect();
    good.sort_unstable_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.id.cmp(&b.id)));
    good.dedup();
    // Rows that say the same count once, so others may be among the best.
    if good.len() >= count { good } else { matches }
}
