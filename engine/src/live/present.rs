//! `Present`: the answer to a live query as it is now.
//!
//! Where only what has changed of it was found, nobody has looked at all of it: then it is put together when somebody wants to
//! see it, and forgotten with whoever did.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};

use parking_lot::Mutex;

use super::delta::{Delta, recoded};
use crate::answer::Rows;
use crate::data::arrow_columns::{need_type, type_of_codes};
use crate::data::{self, Code, Codec, DataType, DictionaryFull, Difference, Relation, Run, sorted_run};

/// The answer at a version.
#[derive(Debug, Clone)]
pub(super) struct Present {
    /// What tells it from every other one.
    number: u64,
    form: Form,
}

#[derive(Debug, Clone)]
enum Form {
    /// All its rows, in order of their codes.
    Whole(Arc<Rows>),
    Kept(Arc<Kept>),
}

/// An answer whose rows stand in several runs.
#[derive(Debug)]
struct Kept {
    /// Columns, and what gives codes their meaning.
    like: Rows,
    rows: Relation,
    whole: Mutex<Weak<Rows>>,
}

impl Present {
    /// An answer whose rows are in order.
    pub(super) fn whole(rows: Rows) -> Present {
        Present::of(Form::Whole(Arc::new(rows)))
    }

    fn of(form: Form) -> Present {
        static LAST: AtomicU64 = AtomicU64::new(0);
        Present { number: LAST.fetch_add(1, Ordering::Relaxed) + 1, form }
    }

    /// What tells it from every other one.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// All its rows, in order of their codes.
    pub(super) fn rows(&self) -> Arc<Rows> {
        let kept = match &self.form {
            Form::Whole(rows) => return Arc::clone(rows),
            Form::Kept(kept) => kept,
        };
        let mut whole = kept.whole.lock();
        whole.upgrade().unwrap_or_else(|| {
            let rows = data::Rows::of_runs(kept.rows.arity(), kept.rows.runs());
            let rows = Arc::new(kept.like.with_same_types(sorted_run(rows).0));
            *whole = Arc::downgrade(&rows);
            rows
        })
    }

    /// An answer with the same columns.
    pub(super) fn like(&self) -> &Rows {
        match &self.form {
            Form::Whole(rows) => rows,
            Form::Kept(kept) => &kept.like,
        }
    }

    pub(super) fn row_count(&self) -> usize {
        match &self.form {
            Form::Whole(rows) => rows.row_count(),
            Form::Kept(kept) => kept.rows.len(),
        }
    }

    /// Bytes of its rows.
    pub(super) fn memory_bytes(&self) -> usize {
        match &self.form {
            Form::Whole(rows) => rows.coded().0.memory_bytes(),
            Form::Kept(kept) => kept.rows.memory_bytes(),
        }
    }

    /// Whether what has changed says all of the next answer, which has these rows: its columns hold values of the same types, in
    /// the same codes.
    pub(super) fn fits(&self, difference: &Difference, rows: &Relation, codec: &Codec) -> bool {
        let like = self.like();
        let own = like.coded().1;
        let columns = difference.added.columns.iter().zip(like.columns());
        let mut types = columns.map(|(codes, column)| (type_of_codes(codes, codec), column.data_type));
        let types_stay = types.all(|(new, known)| {
            known != DataType::Unknown && (new == DataType::Unknown || known.join(new) == known)
        });
        // What is gone may have been the reason for a type; where nothing was, there is none.
        let mut columns = like.columns().iter().enumerate();
        let mut are_needed =
            || columns.all(|(place, column)| need_type(codes_of(rows, place), column.data_type, codec));
        own.shared().number() == codec.shared().number()
            && !own.has_own()
            && types_stay
            && (rows.is_empty() || difference.removed.len == 0 && self.row_count() > 0 || are_needed())
    }

    /// The next answer, with what tells it from this one.
    pub(super) fn next(&self, difference: Difference, rows: Relation) -> (Present, Delta) {
        let like = self.like();
        let of = |rows: data::Rows| like.with_same_types(Run::of_sorted(rows));
        let delta = Delta { added: of(difference.added), removed: of(difference.removed) };
        let kept = Kept { like: like.none(), rows, whole: Mutex::default() };
        (Present::of(Form::Kept(Arc::new(kept))), delta)
    }

    /// The same in codes that may be others. Where they are the same, nothing is put together.
    pub(super) fn relation_in(&self, codec: &Codec) -> Result<Relation, DictionaryFull> {
        let own = self.like().coded().1;
        if own.shared().number() == codec.shared().number() && !own.has_own() {
            return Ok(self.relation());
        }
        Ok(Relation::of_runs(self.like().columns().len(), vec![recoded(&self.rows(), codec)?]))
    }

    /// Its rows as those of a relation.
    pub(super) fn relation(&self) -> Relation {
        match &self.form {
            Form::Whole(rows) => Relation::of_runs(rows.columns().len(), vec![rows.coded().0.clone()]),
            Form::Kept(kept) => kept.rows.clone(),
        }
    }
}

/// The codes of a column.
fn codes_of(rows: &Relation, column: usize) -> impl Iterator<Item = Code> {
    rows.runs().iter().flat_map(move |run| {
        let codes = run.column(column).iter().enumerate();
        codes.filter(|(row, _)| run.is_live(*row)).map(|(_, code)| *code)
    })
}
