//! The ways in which a random program reaches the engine, and what must come of it in each.

use std::fmt;
use std::sync::Arc;

use proptest::prelude::{Just, Strategy, any, prop_oneof};
use stratalog_engine::{
    Budget, Content, Engine, Parameters, Provenance, RunOptions, Scope, Session, StorageOptions,
    Value as EngineValue,
};
use tempfile::TempDir;

use crate::answers::{batches_of, rows_of};
use crate::attached::{can_be_attached, write_apart};
use crate::model::{Facts, Program};
use crate::modes::{Mode, any_mode};
use crate::oracle::{Answer, Expected};
use crate::power_loss::{PowerLoss, Unsynced};
use crate::programs::Case;
use crate::value::{Row, Value};

/// How facts get in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Arrival {
    /// One program with everything.
    Whole,
    /// Piece by piece, around the rules and between queries, with deletes and inserts that take each other back.
    Pieces,
    /// Rows without program text.
    Rows,
    /// Arrow batches.
    Batches,
    /// Parquet files that are attached, where facts are never written and their columns have one type.
    Attached,
}

/// Where a graph is kept. What is stored is closed and opened again between the facts and the question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Memory,
    /// On a medium that forgets what was not synced, with a checkpoint after so many bytes.
    Medium(u64),
    /// In a folder.
    Folder,
}

/// One way to run a program.
#[derive(Debug, Clone, Copy)]
pub struct Way {
    mode: Mode,
    arrival: Arrival,
    place: Place,
    /// Whether the session's facts and rules come one by one, and not in one program with the question.
    session_stays: bool,
}

/// Any way.
pub fn any_way() -> impl Strategy<Value = Way> {
    let arrival = prop_oneof![
        Just(Arrival::Whole),
        Just(Arrival::Pieces),
        Just(Arrival::Rows),
        Just(Arrival::Batches),
        Just(Arrival::Attached)
    ];
    let place = prop_oneof![
        40 => Just(Place::Memory),
        5 => Just(Place::Medium(u64::MAX)),
        2 => Just(Place::Medium(1)),
        1 => Just(Place::Folder)
    ];
    (any_mode(), arrival, place, any::<bool>()).prop_map(|(mode, arrival, place, session_stays)| Way {
        mode,
        arrival,
        place,
        session_stays,
    })
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let session = if self.session_stays { "one by one" } else { "with the question" };
        write!(f, "{}, facts as {:?}, kept in {:?}, ", self.mode, self.arrival, self.place)?;
        write!(f, "what the session has {session}")
    }
}

/// Runs a program in this way; complains if anything is not as expected.
pub fn check(case: &Case, expected: &Expected, way: Way) -> Result<(), String> {
    let Err(complaint) = Run::new(way).check(case, expected) else { return Ok(()) };
    // Files say of what type their columns are, and what can never be is refused, not answered by no rows.
    if way.arrival == Arrival::Attached && complaint.contains("type_mismatch") {
        return Ok(());
    }
    let passing = match way.arrival {
        Arrival::Pieces => format!("\ninserted for a while: {:?}", case.passing),
        Arrival::Whole | Arrival::Rows | Arrival::Batches | Arrival::Attached => String::new(),
    };
    Err(format!("with {way}, this program\n\n{}{passing}\n{complaint}", case.program))
}

/// What keeps the graph.
enum Kept {
    Memory,
    Medium(PowerLoss, u64),
    Folder(TempDir),
}

impl Kept {
    fn open(&self, mode: Mode) -> Engine {
        match self {
            Kept::Memory => mode.engine(),
            Kept::Medium(medium, checkpoint_bytes) => mode.open(StorageOptions {
                medium: Arc::new(medium.clone()),
                checkpoint_bytes: *checkpoint_bytes,
                ..StorageOptions::new("/data")
            }),
            Kept::Folder(folder) => mode.open(StorageOptions::new(folder.path())),
        }
    }
}

/// One session in which a case runs.
struct Run {
    way: Way,
    kept: Kept,
    engine: Engine,
    session: Session,
    /// Those that are attached.
    files: TempDir,
}

/// Rows with what the session says of each.
struct Found {
    answer: Answer,
    provenance: Option<Vec<Provenance>>,
}

impl Run {
    fn new(way: Way) -> Run {
        let kept = match way.place {
            Place::Memory => Kept::Memory,
            Place::Medium(checkpoint_bytes) => Kept::Medium(PowerLoss::default(), checkpoint_bytes),
            Place::Folder => Kept::Folder(tempfile::tempdir().expect("a folder for a while")),
        };
        let engine = kept.open(way.mode);
        let files = tempfile::tempdir().expect("a folder for a while");
        Run { session: open(&engine), way, kept, engine, files }
    }

    fn check(mut self, case: &Case, expected: &Expected) -> Result<(), String> {
        let program = &case.program;
        let goal = program.goal.to_string();
        let session = program.session.statements();
        let found = if self.way.arrival == Arrival::Whole
            && self.way.place == Place::Memory
            && !self.way.session_stays
        {
            self.query(&program.to_string())?
        } else {
            self.facts_and_rules(case)?;
            self.writes(program, expected)?;
            self.restart();
            if self.way.session_stays {
                session.iter().try_for_each(|statement| self.run(statement).map(drop))?;
                self.query(&goal)?
            } else {
                self.query(&[&session[..], std::slice::from_ref(&goal)].concat().join("\n"))?
            }
        };
        difference(program, &expected.answer, &found.answer)?;
        provenance(program, expected, &found)?;
        // Nothing of the session is seen by others, nor later if it came with the question.
        let Some(clean) = &expected.clean else { return Ok(()) };
        if !self.way.session_stays && !session.is_empty() {
            let found = self.query(&goal)?;
            let said = |complaint| format!("asked again without what the session had, {complaint}");
            difference(program, clean, &found.answer).map_err(said)?;
        }
        self.session = open(&self.engine);
        let found = self.query(&goal)?;
        difference(program, clean, &found.answer).map_err(|complaint| format!("for others, {complaint}"))?;
        // What was asked in the same words, again and again, leaves nothing behind.
        let other = program.goal.with_other_constants().to_string();
        for _ in 0..3 {
            self.run(&other).ok();
        }
        let found = self.query(&goal)?;
        let said = |complaint| format!("after\n{other}\n{complaint}");
        difference(program, clean, &found.answer).map_err(said)
    }

    /// Closes what is stored, and opens it again.
    fn restart(&mut self) {
        if let Kept::Memory = self.kept {
            return;
        }
        // No two engines hold one folder.
        let nothing = self.way.mode.engine();
        self.session = open(&nothing);
        self.engine = nothing;
        if let Kept::Medium(medium, _) = &self.kept {
            medium.restart(Unsynced::Lost);
        }
        self.engine = self.kept.open(self.way.mode);
        self.session = open(&self.engine);
    }

    fn facts_and_rules(&mut self, case: &Case) -> Result<(), String> {
        let program = &case.program;
        match self.way.arrival {
            Arrival::Whole => {
                let without_writes = Program { writes: Vec::new(), ..program.clone() };
                return self.run(&without_writes.statements().join("\n")).map(drop);
            }
            Arrival::Pieces => return self.in_pieces(case),
            Arrival::Rows => self.rows(program)?,
            Arrival::Attached => self.attached(program)?,
            Arrival::Batches => {
                for (relation, rows) in &program.facts {
                    let rows: Vec<Row> = rows.iter().cloned().collect();
                    for batch in batches_of(&rows) {
                        self.session
                            .insert_batches(relation, Scope::Persistent, vec![batch], &Budget::unlimited())
                            .map_err(|error| error.to_string())?;
                    }
                }
            }
        }
        program.rules.iter().try_for_each(|rule| self.run(&format!("+{rule}")).map(drop))
    }

    /// Relations that nobody writes are attached; all others get their rows.
    fn attached(&mut self, program: &Program) -> Result<(), String> {
        let own = program.session.rules.iter().chain(&program.rules).map(|rule| &rule.head);
        let written: Vec<&String> = own.chain(program.session.facts.keys()).collect();
        let is_written = |name: &String| !program.writes.is_empty() || written.contains(&name);
        for (relation, rows) in program.facts.iter().filter(|(name, _)| !is_written(name)) {
            let rows: Vec<Row> = rows.iter().cloned().collect();
            let batches = batches_of(&rows);
            let [batch] = &batches[..] else { continue };
            if can_be_attached(batch.schema_ref()) {
                let folder = self.files.path().join(relation);
                write_apart(&folder, batch);
                self.run(&format!(".rel attach {relation} {}/*", folder.display()))?;
            }
        }
        let is_attached = |name: &String| self.files.path().join(name).exists();
        let others = program.facts.iter().filter(|(name, _)| !is_attached(name));
        let facts = others.map(|(name, rows)| (name.clone(), rows.clone())).collect();
        self.rows(&Program { facts, ..program.clone() })
    }

    fn rows(&mut self, program: &Program) -> Result<(), String> {
        for (relation, rows) in &program.facts {
            let rows = rows.iter().map(|row| row.iter().map(engine_value).collect()).collect();
            self.session
                .insert_rows(relation, Scope::Persistent, None, rows, &Budget::unlimited())
                .map_err(|error| error.to_string())?;
        }
        Ok(())
    }

    /// Half the facts, the rules, a query; then the other half and what goes again, a query; then some rows leave and
    /// come back.
    fn in_pieces(&mut self, case: &Case) -> Result<(), String> {
        let program = &case.program;
        // What only the session has is not there yet.
        let goal = program.facts.keys().next().map(|name| {
            let arity = program.facts[name].first().map_or(0, Vec::len);
            format!("?{name}({})", vec!["_"; arity].join(", "))
        });
        let is_known = program.session.rules.is_empty();
        let goal = if is_known { program.goal.to_string() } else { goal.unwrap_or_default() };
        let derived: Vec<&str> = program.rules.iter().map(|rule| rule.head.as_str()).collect();
        let mut later = Vec::new();
        for (relation, rows) in &program.facts {
            // Once there are rules, facts can no longer be inserted beside them.
            let now = if derived.contains(&relation.as_str()) { rows.len() } else { rows.len().div_ceil(2) };
            for row in rows.iter().take(now) {
                self.run(&Facts("+", relation, std::slice::from_ref(row)).to_string())?;
            }
            later.push((relation, rows.iter().skip(now).cloned().collect::<Vec<_>>()));
        }
        for rule in &program.rules {
            self.run(&format!("+{rule}"))?;
        }
        self.run(&goal)?;
        for (relation, rows) in &case.passing {
            self.write("+", relation, &rows.iter().cloned().collect::<Vec<_>>())?;
        }
        for (relation, rows) in &later {
            self.write("+", relation, rows)?;
        }
        self.run(&goal)?;
        for (relation, rows) in &case.passing {
            self.write("-", relation, &rows.iter().cloned().collect::<Vec<_>>())?;
        }
        for (relation, rows) in &later {
            self.write("-", relation, rows)?;
        }
        self.run(&goal)?;
        later.iter().try_for_each(|(relation, rows)| self.write("+", relation, rows))
    }

    fn write(&mut self, sign: &str, relation: &str, rows: &[Row]) -> Result<(), String> {
        if rows.is_empty() { Ok(()) } else { self.run(&Facts(sign, relation, rows).to_string()).map(drop) }
    }

    /// Conditional deletes and updates, which say how many rows they changed.
    fn writes(&mut self, program: &Program, expected: &Expected) -> Result<(), String> {
        for (write, counts) in program.writes.iter().zip(&expected.writes) {
            let Content::Messages(messages) = self.run(&write.to_string())? else {
                return Err(format!("{write} is answered with rows"));
            };
            let words = messages.iter().flat_map(|message| message.split_whitespace());
            let found: Vec<usize> = words.filter_map(|word| word.parse().ok()).collect();
            if found != *counts {
                return Err(format!("{write} says {messages:?} instead of {counts:?}"));
            }
        }
        Ok(())
    }

    fn run(&mut self, text: &str) -> Result<Content, String> {
        let refused = |error: stratalog_engine::Error| {
            format!("was refused ({}):\n{}", error.code().as_str(), error.render(text))
        };
        let prepared = self.session.prepare(text, &Parameters::new()).map_err(refused)?;
        let answer =
            self.session.run(prepared, &RunOptions::default(), &Budget::unlimited()).map_err(refused)?;
        Ok(answer.content)
    }

    fn query(&mut self, text: &str) -> Result<Found, String> {
        match self.run(text)? {
            Content::Messages(messages) => Err(format!("messages instead of rows: {messages:?}")),
            Content::Rows(rows) => {
                let batch = rows.batch(0, rows.row_count());
                let answer = Answer {
                    columns: rows.columns().iter().map(|column| column.name.clone()).collect(),
                    rows: rows_of(&batch),
                    total: rows.total_count(),
                };
                Ok(Found { answer, provenance: rows.provenance().map(<[Provenance]>::to_vec) })
            }
        }
    }
}

fn open(engine: &Engine) -> Session {
    engine.open_session("default").expect("the graph `default` exists")
}

/// What is wrong with an answer.
fn difference(program: &Program, expected: &Answer, found: &Answer) -> Result<(), String> {
    if found.columns != expected.columns {
        return Err(format!("has columns {:?} instead of {:?}", found.columns, expected.columns));
    }
    let sorted = |rows: &[Row]| {
        let mut rows = rows.to_vec();
        rows.sort();
        rows
    };
    let (wanted, rows) = (sorted(&expected.rows), sorted(&found.rows));
    if wanted != rows {
        return Err(format!("answers\n{}\ninstead of\n{}", print(&rows), print(&wanted)));
    }
    // By the expected rows, not by what the found ones look like: a list of floats sorts as a list and travels as a vector.
    let order = program.goal.column_order();
    let ordered = |row: &Row| -> Row {
        row.iter().zip(&order).filter(|(_, mark)| mark.is_some()).map(|(value, _)| value.clone()).collect()
    };
    if !found.rows.iter().map(ordered).eq(expected.rows.iter().map(ordered)) {
        return Err(format!("answers out of order:\n{}", print(&found.rows)));
    }
    if found.total != expected.total {
        return Err(format!("counts {} rows instead of {}", found.total, expected.total));
    }
    Ok(())
}

/// In a session with facts or rules of its own, each row says whether others see it too.
fn provenance(program: &Program, expected: &Expected, found: &Found) -> Result<(), String> {
    let is_clean = program.session.statements().is_empty();
    let wanted = (!is_clean).then(|| {
        let of = |row: &Row| match expected.persistent.contains(row) {
            true => Provenance::Persistent,
            false => Provenance::Ephemeral,
        };
        found.answer.rows.iter().map(of).collect::<Vec<_>>()
    });
    if found.provenance == wanted {
        return Ok(());
    }
    let rows = print(&found.answer.rows);
    Err(format!("says {:?} instead of {wanted:?} of\n{rows}", found.provenance))
}

fn print(rows: &[Row]) -> String {
    let lines = rows.iter().map(|row| row.iter().map(Value::to_string).collect::<Vec<_>>().join(", "));
    lines.map(|line| format!("  ({line})\n")).collect()
}

fn engine_value(value: &Value) -> EngineValue {
    match value {
        Value::Null => EngineValue::Null,
        Value::Bool(b) => EngineValue::Bool(*b),
        Value::Int(n) => EngineValue::Int(*n),
        Value::Float(x) => EngineValue::Float(*x),
        Value::Timestamp(t) => EngineValue::Timestamp(*t),
        Value::Text(text) => EngineValue::text(text.as_str()),
        Value::Vector(elements) => EngineValue::Vector(elements.as_slice().into()),
        Value::Bytes(bytes) => EngineValue::VectorInt8(bytes.as_slice().into()),
        Value::List(elements) => EngineValue::List(elements.iter().map(engine_value).collect()),
    }
}
