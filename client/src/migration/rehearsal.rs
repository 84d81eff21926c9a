//! A plan at work on a graph that has what there is but for its facts: what the server would refuse is known before
//! anything is sent to it.

use super::plan::Plan;
use super::present::Present;
use super::wanted::Wanted;
use stratalog_engine::{
    Budget, DEFAULT_GRAPH, DataType, Diagnostic, Engine, EngineOptions, Parameters, RunOptions, Session,
};

/// What is wrong with a plan, each with its place. Nothing where that cannot be found out here.
pub(super) fn problems(plan: &Plan, wanted: &Wanted, present: &Present) -> Vec<String> {
    let options = EngineOptions { threads: Some(1), ..EngineOptions::default() };
    let session = Engine::in_memory(options).and_then(|engine| engine.open_session(DEFAULT_GRAPH));
    let Ok(mut session) = session else { return Vec::new() };
    for statement in statements(present) {
        // What this version cannot read says nothing about the plan.
        let _ = run(&mut session, &statement);
    }
    let mut problems = Vec::new();
    for line in plan.program().lines() {
        let found = match retyped(line, plan, present) {
            Some(problem) => vec![problem],
            // Which columns the indexes are of that there are is not known here.
            None => run(&mut session, line)
                .err()
                .unwrap_or_default()
                .iter()
                .filter(|problem| present.indexes.is_empty() || !problem.message.contains("index"))
                .map(told)
                .collect(),
        };
        let place = wanted.places.get(line).map_or(line, String::as_str);
        problems.extend(found.iter().map(|problem| format!("{place}: {problem}, in `{line}`")));
    }
    problems
}

/// What there is, without facts.
fn statements(present: &Present) -> Vec<String> {
    let relations = present.relations.iter().map(|(relation, columns)| {
        let known = |of: &String| simple_type(of).map_or("any", |_| of.as_str()).to_owned();
        let columns: Vec<String> =
            columns.iter().map(|(name, of)| format!("{name}: {}", known(of))).collect();
        format!("+{relation}({})", columns.join(", "))
    });
    relations.chain(present.rules.values().flatten().map(|clause| format!("+{clause}"))).collect()
}

fn run(session: &mut Session, program: &str) -> Result<(), Vec<Diagnostic>> {
    let prepared = session.prepare(program, &Parameters::new()).map_err(|error| error.diagnostics())?;
    let done = session.run(prepared, &RunOptions::default(), &Budget::unlimited());
    done.map(drop).map_err(|error| error.diagnostics())
}

fn told(problem: &Diagnostic) -> String {
    let help = problem.help.as_ref().map_or(String::new(), |help| format!(" ({help})"));
    format!("{}: {}{help}", problem.code.as_str(), problem.message)
}

/// Facts stay as they are: where there are some, a column gets another type only if it holds that already.
fn retyped(line: &str, plan: &Plan, present: &Present) -> Option<String> {
    let (relation, columns) = plan.retyped(line)?;
    if !present.filled.contains(relation) {
        return None;
    }
    columns.iter().find_map(|((name, new), old)| {
        let (known, wanted) = (simple_type(old)?, simple_type(new)?);
        (!known.overlaps(wanted)).then(|| {
            format!("{relation} holds values of type {old} in the column `{name}` that is to be {new} (declare the type of the stored values, or `any`)")
        })
    })
}

/// A type that is not declared by a name.
fn simple_type(text: &str) -> Option<DataType> {
    Some(match text {
        "int" => DataType::Int,
        "float" => DataType::Float,
        "string" => DataType::Text,
        "bool" => DataType::Bool,
        "timestamp" => DataType::Timestamp,
        text if text.starts_with("list") => DataType::List,
        text if text.starts_with("vector_int8") => DataType::VectorInt8(None),
        text if text.starts_with("vector") => DataType::Vector(None),
        _ => return None,
    })
}
