//! How far our plans are from the best order of conditions: `orders [PROGRAMS] [SEED] [NUMBER]` makes joins and recursions over relations of
//! random sizes and skew, and evaluates each as it is planned and in every order of its atoms. Prints how our time compares to
//! that of the best order (percentiles, and the worst programs).
//!
//! Times are those of the processor, the least of several runs: of the first question about rules, which makes the indexes that
//! it reads, and of later ones, which find them. In the second table an order may read an index that none of its questions
//! has paid for. What takes a few times as long as our plan is given up. Programs that are done in less than a millisecond in
//! either way, or not in a second and a half, do not count.

#![expect(clippy::print_stdout, reason = "a program of the command line")]

use std::sync::Arc;
use std::time::Duration;

use arrow::array::{ArrayRef, Int64Array, RecordBatch};
use rustix::time::{ClockId, clock_gettime};
use stratalog_benches::{define, load, profile, session_of};
use stratalog_engine::{Budget, EngineOptions, Parameters, RunOptions, Session, Thresholds};

/// Relations of a program.
const RELATIONS: u64 = 4;
/// What takes less says nothing.
const LEAST: Duration = Duration::from_millis(1);
/// What takes more is left out.
const MOST: Duration = Duration::from_millis(1_500);
/// An order that takes so many times as long as ours is given up.
const PATIENCE: u32 = 2;

fn main() {
    let mut arguments = std::env::args().skip(1).map(|argument| argument.parse::<u64>().expect("a number"));
    let (programs, seed) = (arguments.next().unwrap_or(500), arguments.next().unwrap_or(1));
    let program = |number| Program::random(&mut Draw(seed.wrapping_mul(1_000_003) + number));
    if let Some(number) = arguments.next() {
        return program(number).show();
    }
    let mut ratios: [Vec<(f64, String)>; 2] = [Vec::new(), Vec::new()];
    for number in 0..programs {
        for (ratios, ratio) in ratios.iter_mut().zip(program(number).ratios()) {
            ratios.extend(ratio.map(|found| (found.ratio, format!("program {number}: {}", found.text))));
        }
    }
    for (which, ratios) in ["the first question", "later ones"].into_iter().zip(ratios) {
        println!("{which}:");
        report(programs, ratios);
    }
}

/// Prints how ratios are distributed.
fn report(programs: u64, mut ratios: Vec<(f64, String)>) {
    ratios.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    if ratios.is_empty() {
        println!("none of {programs} programs takes between {LEAST:?} and {MOST:?}");
        return;
    }
    let others = programs - ratios.len() as u64;
    println!(
        "{} programs, {others} more that are too brief or too long; our time over that of the best order:",
        ratios.len()
    );
    for percent in [50, 75, 90, 95, 99, 100] {
        let place = (ratios.len() * percent).div_ceil(100) - 1;
        println!("  {percent:3} %: {:.2}", ratios[place].0);
    }
    println!("the worst:");
    for (ratio, text) in ratios.iter().rev().take(8) {
        println!("{ratio:.2} {text}");
    }
}

/// How long questions take: the first one, and the least of those after it.
type Times = [Duration; 2];

/// How our time compares to that of the best order.
struct Ratio {
    ratio: f64,
    /// Both times, and the program.
    text: String,
    /// The rules in the best order.
    rules: String,
}

/// A sequence of numbers that look random.
struct Draw(u64);

impl Draw {
    fn next(&mut self) -> u64 {
        // As SplitMix64 does (Steele, Lea and Flood, 2014).
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: u64) -> u64 {
        self.next() % end.max(1)
    }

    fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// A number between two, as often between 1 and 10 as between 10 and 100.
    fn magnitude(&mut self, least: f64, most: f64) -> u64 {
        let part = self.below(1 << 20) as f64 / f64::from(1 << 20);
        (least.ln() + part * (most / least).ln()).exp() as u64
    }
}

/// Rows of a relation of two columns.
struct Facts {
    columns: [Vec<i64>; 2],
}

impl Facts {
    fn random(draw: &mut Draw) -> Facts {
        let rows = draw.magnitude(200.0, 60_000.0);
        let column = |draw: &mut Draw| {
            let values = draw.magnitude(8.0, 20_000.0);
            let is_skewed = draw.chance(40);
            let value = |draw: &mut Draw| {
                let value = draw.below(values);
                // Few values have most of the rows.
                if is_skewed { draw.below(value + 1).min(draw.below(value + 1)) } else { value }
            };
            (0..rows).map(|_| value(draw) as i64).collect::<Vec<_>>()
        };
        let first = column(draw);
        Facts { columns: [first, column(draw)] }
    }
}

/// A rule whose atoms may stand in any order, and what it reads.
struct Program {
    facts: Vec<Facts>,
    /// What comes before it.
    base: String,
    head: String,
    atoms: Vec<String>,
    conditions: Vec<String>,
}

impl Program {
    fn random(draw: &mut Draw) -> Program {
        let facts = (0..RELATIONS).map(|_| Facts::random(draw)).collect();
        let atoms = 3 + draw.below(2);
        let is_recursive = draw.chance(40);
        let mut body = Vec::new();
        let mut named: Vec<u64> = vec![0];
        for number in 0..atoms {
            // Each atom has a variable of those before it, and a new one, another old one, or a constant.
            let old = named[draw.below(named.len() as u64) as usize];
            let others: Vec<u64> = named.iter().copied().filter(|other| *other != old).collect();
            let other = match draw.below(100) {
                0..12 if number > 0 => draw.below(20).to_string(),
                12..35 if !others.is_empty() => {
                    format!("V{}", others[draw.below(others.len() as u64) as usize])
                }
                _ => {
                    named.push(named.len() as u64);
                    format!("V{}", named.len() - 1)
                }
            };
            let relation = if is_recursive && number == 0 {
                "t".to_owned()
            } else {
                format!("r{}", draw.below(RELATIONS))
            };
            body.push(match draw.chance(50) {
                true => format!("{relation}(V{old}, {other})"),
                false => format!("{relation}({other}, V{old})"),
            });
        }
        let pick = |draw: &mut Draw| format!("V{}", named[draw.below(named.len() as u64) as usize]);
        let (first, second) = (pick(draw), pick(draw));
        let mut conditions = Vec::new();
        if draw.chance(25) {
            conditions.push(format!("{} < {}", pick(draw), 1 + draw.magnitude(4.0, 4_000.0)));
        }
        let head = if is_recursive {
            format!("t({first}, {second})")
        } else {
            format!("q({first}, count<{second}>)")
        };
        let base = if is_recursive {
            format!("+t(X, Y) <- r{}(X, Y), X < {}\n", draw.below(RELATIONS), draw.magnitude(2.0, 200.0))
        } else {
            String::new()
        };
        Program { facts, base, head, atoms: body, conditions }
    }

    /// The rules with atoms in this order.
    fn rules(&self, order: &[usize]) -> String {
        let atoms = order.iter().map(|place| self.atoms[*place].clone());
        let body: Vec<String> = atoms.chain(self.conditions.iter().cloned()).collect();
        format!("{}+{} <- {}", self.base, self.head, body.join(", "))
    }

    /// Prints the profiles of our plan and of the best order, for the first question and for later ones.
    fn show(&self) {
        for found in self.ratios() {
            let Some(Ratio { ratio, text, rules }) = found else {
                println!("too brief, or too long");
                continue;
            };
            println!("{ratio:.2} {text}");
            let written: Vec<usize> = (0..self.atoms.len()).collect();
            let as_written = Thresholds { as_written: true, ..Thresholds::default() };
            for (rules, thresholds) in [(self.rules(&written), Thresholds::default()), (rules, as_written)] {
                let mut session = self.session(&rules, thresholds);
                ask(&mut session, self.question(), MOST);
                println!("{}", profile(&mut session, self.question()));
            }
        }
    }

    /// Our times over those of the best order; `None` where both are brief or the answer is too large.
    fn ratios(&self) -> [Option<Ratio>; 2] {
        let written: Vec<usize> = (0..self.atoms.len()).collect();
        let Some(ours) = self.times(&self.rules(&written), Thresholds::default(), MOST) else {
            return [None, None];
        };
        let limit = (ours[0].max(ours[1]) * PATIENCE).max(LEAST * 4);
        let as_written = Thresholds { as_written: true, ..Thresholds::default() };
        let others: Vec<(Times, String)> = permutations(self.atoms.len())
            .into_iter()
            .filter_map(|order| {
                let rules = self.rules(&order);
                self.times(&rules, as_written, limit).map(|times| (times, rules))
            })
            .collect();
        [0, 1].map(|which| {
            let (best, rules) = others.iter().min_by_key(|(times, _)| times[which])?;
            let (ours, best) = (ours[which], best[which]);
            let text = format!("{ours:?} for {best:?}, best as\n{rules}\nwith {}", self.sizes());
            let ratio = ours.as_secs_f64() / best.as_secs_f64();
            (ours.max(best) >= LEAST).then(|| Ratio { ratio, text, rules: rules.clone() })
        })
    }

    fn sizes(&self) -> String {
        let sizes = self.facts.iter().map(|facts| facts.columns[0].len().to_string());
        sizes.collect::<Vec<_>>().join(", ")
    }

    /// The times that questions about these rules take. `None` if a later one takes longer than this, or the first one, which may
    /// make indexes, three times as long.
    fn times(&self, rules: &str, thresholds: Thresholds, limit: Duration) -> Option<Times> {
        const SESSIONS: usize = 3;
        let mut least = [Duration::MAX; 2];
        for _ in 0..SESSIONS {
            let mut session = self.session(rules, thresholds);
            least[0] = least[0].min(ask(&mut session, self.question(), limit * 3)?);
            least[1] = least[1].min(ask(&mut session, self.question(), limit)?);
        }
        Some(least)
    }

    fn question(&self) -> &'static str {
        if self.base.is_empty() { "?q(X, Y)" } else { "?t(X, Y)" }
    }

    /// A session that has the facts, and these rules.
    fn session(&self, rules: &str, thresholds: Thresholds) -> Session {
        let mut session =
            session_of(EngineOptions { view_memory: 0, thresholds, ..EngineOptions::default() });
        for (number, facts) in self.facts.iter().enumerate() {
            let column = |values: &Vec<i64>| Arc::new(Int64Array::from(values.clone())) as ArrayRef;
            let [first, second] = &facts.columns;
            let batch =
                RecordBatch::try_from_iter([("a", column(first)), ("b", column(second))]).expect("a batch");
            load(&mut session, &format!("r{number}"), &[batch]);
        }
        define(&mut session, rules);
        session
    }
}

/// The time of processors that a question takes, unless it takes more than this, or its answer is very large.
fn ask(session: &mut Session, question: &str, limit: Duration) -> Option<Duration> {
    const BYTES: u64 = 2 << 30;
    let budget = Budget::new(Some(limit), BYTES);
    let prepared = session.prepare(question, &Parameters::new()).expect("a question");
    let start = processor_time();
    session.run(prepared, &RunOptions::default(), &budget).ok()?;
    Some(processor_time().saturating_sub(start))
}

/// What all threads have used of processors so far. Other programs that run beside this one do not count.
fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec.try_into().unwrap_or_default())
}

/// All orders of so many things.
fn permutations(len: usize) -> Vec<Vec<usize>> {
    if len == 0 {
        return vec![Vec::new()];
    }
    let shorter = permutations(len - 1);
    let with_last = |order: &Vec<usize>| {
        (0..len)
            .map(|place| {
                let mut order = order.clone();
                order.insert(place, len - 1);
                order
            })
            .collect::<Vec<_>>()
    };
    shorter.iter().flat_map(with_last).collect()
}
