//! Facts that come and go, drawn from those of a workload itself: so what changes is like what is there.

use std::collections::{BTreeMap, BTreeSet};

use arrow::array::{AsArray, BooleanArray, RecordBatch};
use arrow::compute::filter_record_batch;
use arrow::datatypes::Int64Type;
use arrow::util::display::array_value_to_string;

use crate::graphs::SplitMix;

/// What becomes of a fact. Those that go are first in a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Change {
    /// It is deleted.
    Goes,
    /// It is inserted.
    Comes,
}

/// One program that inserts and deletes rows of relations, each written as a tuple.
pub fn program<'a>(changes: impl IntoIterator<Item = (Change, &'a str, &'a str)>) -> String {
    let mut statements: BTreeMap<(Change, &str), Vec<&str>> = BTreeMap::new();
    for (change, relation, row) in changes {
        statements.entry((change, relation)).or_default().push(row);
    }
    let statements = statements.into_iter().map(|((change, relation), rows)| {
        let sign = match change {
            Change::Goes => '-',
            Change::Comes => '+',
        };
        format!("{sign}{relation}[{}]", rows.join(", "))
    });
    statements.collect::<Vec<_>>().join("\n")
}

/// Facts of which some are there and some are not.
#[derive(Debug)]
pub struct Changes {
    random: SplitMix,
    order: Order,
    last: Change,
    there: Vec<Fact>,
    away: Vec<Fact>,
}

#[derive(Debug, Clone, Copy)]
enum Order {
    /// One goes, one comes, by turns; which ones is drawn.
    AtRandom,
    /// The last one goes, and does not come back.
    OneByOne,
}

#[derive(Debug)]
struct Fact {
    relation: &'static str,
    row: String,
    /// Whether it is one of those that were loaded.
    was_loaded: bool,
}

impl Changes {
    /// None yet.
    pub fn at_random() -> Changes {
        Changes::in_order(Order::AtRandom, Vec::new())
    }

    /// The facts at these places go, one after the other.
    pub fn one_by_one(
        relation: &'static str,
        rows: &RecordBatch,
        places: impl DoubleEndedIterator<Item = usize>,
    ) -> Changes {
        let fact = |place| Fact { relation, row: tuple(rows, place), was_loaded: true };
        Changes::in_order(Order::OneByOne, places.rev().map(fact).collect())
    }

    fn in_order(order: Order, there: Vec<Fact>) -> Changes {
        Changes { random: SplitMix(7), order, last: Change::Comes, there, away: Vec::new() }
    }

    /// So many of the rows, no two of which are the same, are kept from being loaded and come later, as many others go.
    /// Answers those to load.
    pub fn hold_back(&mut self, relation: &'static str, rows: &RecordBatch, count: usize) -> RecordBatch {
        let mut drawn = BTreeSet::new();
        let mut is_loaded = vec![true; rows.num_rows()];
        while drawn.len() < 2 * count {
            let place = self.random.below(rows.num_rows() as u64) as usize;
            if drawn.insert(place) {
                let was_loaded = drawn.len() % 2 == 0;
                let fact = Fact { relation, row: tuple(rows, place), was_loaded };
                is_loaded[place] = was_loaded;
                if was_loaded { self.there.push(fact) } else { self.away.push(fact) }
            }
        }
        filter_record_batch(rows, &BooleanArray::from(is_loaded)).expect("a value for each row")
    }

    /// A program that changes so many facts.
    pub fn step(&mut self, size: usize) -> String {
        let changed: Vec<(Change, Fact)> = (0..size).map(|_| self.draw()).collect();
        let program = program(changed.iter().map(|(change, fact)| (*change, fact.relation, &*fact.row)));
        // Only now, so that nothing comes and goes in one step.
        for (change, fact) in changed {
            match change {
                Change::Goes => self.away.push(fact),
                Change::Comes => self.there.push(fact),
            }
        }
        program
    }

    fn draw(&mut self) -> (Change, Fact) {
        if let Order::OneByOne = self.order {
            return (Change::Goes, self.there.pop().expect("there are enough for all steps"));
        }
        let (change, facts) = match self.last {
            Change::Goes => (Change::Comes, &mut self.away),
            Change::Comes => (Change::Goes, &mut self.there),
        };
        self.last = change;
        let place = self.random.below(facts.len() as u64) as usize;
        (change, facts.swap_remove(place))
    }

    /// The program that does what all steps have done together.
    pub fn so_far(&self) -> String {
        let gone = self.away.iter().filter(|fact| fact.was_loaded).map(|fact| (Change::Goes, fact));
        let come = self.there.iter().filter(|fact| !fact.was_loaded).map(|fact| (Change::Comes, fact));
        program(gone.chain(come).map(|(change, fact)| (change, fact.relation, &*fact.row)))
    }
}

/// A row of integers and texts as a program has it.
fn tuple(rows: &RecordBatch, place: usize) -> String {
    let values = rows.columns().iter().map(|column| match column.as_primitive_opt::<Int64Type>() {
        Some(numbers) => numbers.value(place).to_string(),
        None => format!("{:?}", array_value_to_string(column, place).expect("a text")),
    });
    format!("({})", values.collect::<Vec<_>>().join(", "))
}
