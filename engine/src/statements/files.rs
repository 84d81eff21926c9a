//! Attached relations that a question reads: the files of each, and their rows once they are in memory.

use std::collections::HashMap;

use parking_lot::RwLock;

use super::wanted::Ranges;
use crate::analysis::program::{Program, Relation};
use crate::attached::{PlaceError, RowFiles, Wanted, read_only};
use crate::budget::Budget;
use crate::context::Context;
use crate::data::{Codec, RelationId, Rows, Run, Threads};
use crate::diagnostic::{Code, Diagnostic};
use crate::error::Error;
use crate::exec::{ExecError, Relations};
use crate::graph::SessionView;
use crate::views::WithViews;

/// The attached relations of a program.
#[derive(Debug, Default)]
pub(super) struct Files {
    by_name: HashMap<String, RowFiles>,
    /// What has been read of them.
    rows: RwLock<HashMap<String, Vec<Run>>>,
}

impl Files {
    /// Those that a program reads. A session cannot have facts beside them.
    pub(super) fn of(program: &Program, view: &SessionView, context: &Context<'_>) -> Result<Files, Error> {
        let mut by_name = HashMap::new();
        for relation in program.relations.iter().filter(|relation| relation.stored) {
            let name = &relation.name;
            let Some(attached) = view.catalog().attached(name) else { continue };
            if view.own_facts(name).is_some_and(|own| !own.is_empty()) {
                let diagnostic =
                    read_only(name).help(format!("drop the session's facts of it: .session forget {name}"));
                return Err(Error::refused(diagnostic));
            }
            let Some(places) = &context.environment.places else {
                return Err(PlaceError::Closed { place: attached.place.clone() }.into());
            };
            // The session's catalog has joined what it knows of types.
            let types = view.snapshot().catalog().relation(name).map_or(&[][..], |known| &known.column_types);
            let string_bytes = context.environment.limits.string_bytes;
            let files = RowFiles::new(attached.clone(), types, places.clone(), string_bytes);
            by_name.insert(name.clone(), files);
        }
        Ok(Files { by_name, rows: RwLock::default() })
    }

    /// The same, of which no more need be read than what this program has a use for, which came of the other.
    pub(super) fn wanting(mut self, program: &Program) -> Files {
        if !self.is_empty() {
            let ranges = Ranges::of(program);
            let wanting = |(name, files): (String, RowFiles)| {
                let wanted = wanted_by(program, &ranges, &name);
                (name, files.wanting(wanted))
            };
            self.by_name = self.by_name.drain().map(wanting).collect();
        }
        self
    }

    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.by_name.is_empty()
    }

    /// Reads what is wanted of them.
    pub(super) fn read(&self, codec: &Codec, threads: &Threads, budget: &Budget) -> Result<(), ExecError> {
        self.by_name.iter().try_for_each(|(name, files)| self.take_in(name, files, codec, threads, budget))
    }

    /// Reads those again, as a whole, of which another program wants more.
    pub(super) fn read_for(
        &self,
        program: &Program,
        codec: &Codec,
        threads: &Threads,
        budget: &Budget,
    ) -> Result<(), ExecError> {
        let ranges = Ranges::of(program);
        let lacks =
            |(name, files): &(&String, &RowFiles)| !files.wanted().covers(&wanted_by(program, &ranges, name));
        self.by_name.iter().filter(lacks).try_for_each(|(name, files)| {
            self.take_in(name, &files.clone().wanting(Wanted::default()), codec, threads, budget)
        })
    }

    fn take_in(
        &self,
        name: &str,
        files: &RowFiles,
        codec: &Codec,
        threads: &Threads,
        budget: &Budget,
    ) -> Result<(), ExecError> {
        let rows = files.all(codec, budget)?;
        let Rows { columns, len } = threads.run_on(rows.len, || rows.distinct());
        self.rows.write().insert(name.to_owned(), vec![Run::new(columns, len)]);
        Ok(())
    }

    /// Lets go what has been read.
    pub(super) fn forget(&self) {
        self.rows.write().clear();
    }

    /// What is stored, and they beside it.
    pub(super) fn beside<'f>(&'f self, stored: WithViews<'f>) -> WithFiles<'f> {
        WithFiles { files: self, stored }
    }

    /// What a plan says of them.
    pub(super) fn lines(&self) -> Vec<String> {
        let line = |(name, files): (&String, &RowFiles)| {
            let rows = files.rows();
            match files.wanted().told(files.column_names()) {
                None => format!(
                    "attached {name}: {rows} rows in files, of which no more is known before they are read"
                ),
                Some(wanted) => format!("attached {name}: of {rows} rows in files, {wanted}"),
            }
        };
        let mut lines: Vec<String> = self.by_name.iter().map(line).collect();
        lines.sort_unstable();
        lines
    }

    /// What was lost of values on their way here.
    pub(super) fn warnings(&self, view: &SessionView) -> Vec<Diagnostic> {
        let mut warnings = Vec::new();
        for (name, files) in &self.by_name {
            let columns = view.catalog().relation(name).map(|known| known.column_names()).unwrap_or_default();
            for (column, (kind, count, first)) in files.losses() {
                let column = format!("{name}.{}", columns.get(column).map_or("?", String::as_str));
                warnings.push(Diagnostic::warning(Code::PrecisionLost, kind.told(&column, count, &first)));
            }
        }
        warnings.sort_by(|a, b| a.message.cmp(&b.message));
        warnings
    }
}

/// The rows of a relation that a program has a use for: none if it has lost the relation by being rewritten.
fn wanted_by(program: &Program, ranges: &Ranges<'_>, name: &str) -> Wanted {
    let is_it = |relation: &Relation| relation.stored && relation.name == name;
    match program.relations.iter().position(is_it) {
        Some(position) => ranges.wanted(RelationId::new(position)),
        None => Wanted::any_of(Vec::new()),
    }
}

/// Stored rows, and attached ones.
pub(super) struct WithFiles<'f> {
    files: &'f Files,
    stored: WithViews<'f>,
}

impl Relations for WithFiles<'_> {
    fn runs(&self, relation: &str) -> Vec<Run> {
        match self.files.is_empty() {
            true => self.stored.runs(relation),
            false => {
                let read = self.files.rows.read().get(relation).cloned();
                read.unwrap_or_else(|| self.stored.runs(relation))
            }
        }
    }

    fn files(&self, relation: &str) -> Option<&RowFiles> {
        self.files.by_name.get(relation)
    }
}
