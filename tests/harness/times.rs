//! Times, which differ from run to run.

use std::time::Duration;

/// How long a test waits for what must come, before it says that it never comes. Machines that many share stand still
/// for seconds, so no test is about less: how fast something is, benchmarks tell.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// A text in which every time (`0.012 ms`, `"time_ms":0.012`) has the same figure.
pub fn without_times(text: &str) -> String {
    let figure = |c: char| c.is_ascii_digit() || c == '.';
    let mut pieces = text.split("\"time_ms\":");
    let mut masked = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        masked += "\"time_ms\":0";
        masked += piece.trim_start_matches(figure);
    }
    let pieces: Vec<&str> = masked.split(" ms").collect();
    let (last, before) = pieces.split_last().expect("a text has an end");
    let before = before.iter().map(|piece| match piece.trim_end_matches(figure) {
        same if same.len() == piece.len() => format!("{piece} ms"),
        rest => format!("{rest}0 ms"),
    });
    before.collect::<String>() + last
}

#[cfg(test)]
mod tests {
    use super::without_times;

    #[test]
    fn only_times_are_masked() {
        assert_eq!(without_times("stratum 2, 0.512 ms: p (3 rows)"), "stratum 2, 0 ms: p (3 rows)");
        assert_eq!(without_times("-> 7 rows, expected 8, 12.000 ms"), "-> 7 rows, expected 8, 0 ms");
        assert_eq!(
            without_times(r#"{"rows":7,"time_ms":0.25},{"time_ms":1}"#),
            r#"{"rows":7,"time_ms":0},{"time_ms":0}"#
        );
        assert_eq!(without_times("rule items ms(X)"), "rule items ms(X)");
    }
}
