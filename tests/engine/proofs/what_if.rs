//! `.what_if` is what asking, changing and asking again would tell; and it leaves nothing behind.

use stratalog_engine::Session;
use stratalog_tests::answers::rows_of;
use stratalog_tests::model::Facts;
use stratalog_tests::oracle::Holding;
use stratalog_tests::programs::Case;
use stratalog_tests::value::{Row, Value};

use super::{rows, run, sorted, with_random_programs};

#[test]
fn to_suppose_is_to_do_and_to_undo() {
    with_random_programs(1_000, check);
}

fn check(case: &Case, _: &Holding, mut session: Session) -> Result<usize, String> {
    let program = &case.program;
    let goal = program.goal.to_string();
    // Rows that come for a while, and some of those that are there go.
    let mut changes: Vec<String> = Vec::new();
    for (relation, rows) in case.passing.iter().filter(|(_, rows)| !rows.is_empty()) {
        changes.push(Facts("+", relation, rows).to_string());
    }
    let derived = |relation: &String| program.rules.iter().any(|rule| rule.head == *relation);
    for (relation, rows) in program.facts.iter().filter(|(relation, _)| !derived(relation)) {
        let some: Vec<Row> = rows.iter().step_by(2).cloned().collect();
        changes.push(Facts("-", relation, &some).to_string());
    }
    if let Some(rule) = program.rules.last() {
        changes.push(format!("-{}", rule.head));
        changes.push(format!("+{rule}"));
    }
    let before = answer(&mut session, &goal)?;
    let told = rows(&mut session, &format!(".what_if\n  {}\n  {goal}", changes.join("\n  ")))?;
    let told = rows_of(&told.batch(0, told.row_count()));
    if answer(&mut session, &goal)? != before {
        return Err("the supposition stays".to_owned());
    }
    for change in &changes {
        run(&mut session, change)?;
    }
    let after = answer(&mut session, &goal)?;
    let of = |word: &str, rows: &[Row], others: &[Row]| -> Vec<Row> {
        let alone = rows.iter().filter(|row| !others.contains(row));
        alone.map(|row| [&[Value::text(word)], &row[..]].concat()).collect()
    };
    let expected = [of("added", &after, &before), of("removed", &before, &after)].concat();
    if sorted(told.clone()) != sorted(expected.clone()) {
        return Err(format!("with\n{}\ntells {told:?}\ninstead of {expected:?}", changes.join("\n")));
    }
    Ok(1 + told.len())
}

fn answer(session: &mut Session, goal: &str) -> Result<Vec<Row>, String> {
    let rows = rows(session, goal)?;
    Ok(sorted(rows_of(&rows.batch(0, rows.row_count()))))
}
