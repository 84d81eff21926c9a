//! The language in a page, for those who learn by reading once: language models, and people in a hurry.

use stratalog_engine::aggregates::{AGGREGATES, RANKINGS};
use stratalog_engine::commands::COMMANDS;
use stratalog_engine::functions::functions;

/// The page, with the lists of aggregates, functions and commands as they are in this version.
pub fn primer() -> String {
    let mut text = include_str!("primer.md").to_owned();
    text += "\n## Aggregates\n\n";
    for aggregate in AGGREGATES {
        text += &format!("- `{}`: {}\n", aggregate.usage(), aggregate.doc());
    }
    for ranking in RANKINGS {
        text += &format!("- `{}`: {}\n", ranking.usage(), ranking.doc());
    }
    text += "\n## Functions\n\n";
    for function in functions() {
        let (example, value) = function.example;
        text += &format!("- `{}`: {} `{example}` is `{value}`.\n", function.signature(), function.doc);
    }
    text += "\n## Commands\n\n";
    for entry in COMMANDS.iter().flat_map(|family| family.entries) {
        let words: Vec<&str> =
            entry.words.iter().map(|word| word.split('|').next().unwrap_or(word)).collect();
        text += &format!("- `{}`: {}\n", format!(".{} {}", words.join(" "), entry.usage).trim(), entry.doc);
    }
    text
}

#[cfg(test)]
mod tests {
    use stratalog_engine::check;

    #[test]
    fn its_programs_are_programs() {
        let text = super::primer();
        let blocks: Vec<&str> =
            text.split("```stratalog\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
        assert_eq!(blocks.len(), 2);
        for program in blocks {
            assert_eq!(check(program), [], "{program}");
        }
    }
}
