//! Values that a query computed have codes of its own: a view has them in a list, from which they are learnt again.

use std::collections::HashMap;

use crate::data::{Code, Codec, DictionaryFull, Run, Value};

/// A view with more values of its query's own is not kept: they are learnt whenever it is read.
const MOST_VALUES: usize = 1 << 16;

/// Runs with codes that any query can read, and the values behind a query's own ones. None if those are too many.
pub(super) fn with_codes_of_its_own(runs: &[Run], codec: &Codec) -> Option<(Vec<Run>, Vec<Value>)> {
    if !codec.has_own() {
        return Some((runs.to_vec(), Vec::new()));
    }
    let mut numbers: HashMap<Code, Code> = HashMap::new();
    let mut values = Vec::new();
    for code in runs.iter().flat_map(Run::columns).flatten().filter(|code| Codec::is_own(**code)) {
        if numbers.contains_key(code) {
            continue;
        }
        if values.len() == MOST_VALUES {
            return None;
        }
        numbers.insert(*code, Codec::own_code(values.len()));
        values.push(codec.value(*code).to_value());
    }
    Some((recoded(runs, &numbers), values))
}

/// Runs of a view with the codes that a query has for the view's own values.
pub(super) fn with_codes_of(
    codec: &Codec,
    values: &[Value],
    runs: &[Run],
) -> Result<Vec<Run>, DictionaryFull> {
    let mut numbers = HashMap::with_capacity(values.len());
    for (number, value) in values.iter().enumerate() {
        numbers.insert(Codec::own_code(number), codec.encode(value.as_ref())?);
    }
    Ok(recoded(runs, &numbers))
}

/// Runs with other codes; the same runs where none differs.
fn recoded(runs: &[Run], numbers: &HashMap<Code, Code>) -> Vec<Run> {
    if numbers.iter().all(|(from, to)| from == to) {
        return runs.to_vec();
    }
    let recode = |code: &Code| numbers.get(code).copied().unwrap_or(*code);
    runs.iter()
        .map(|run| {
            let rows = run.live_rows();
            let columns = rows.columns.iter().map(|column| column.iter().map(recode).collect()).collect();
            Run::new(columns, rows.len)
        })
        .collect()
}
