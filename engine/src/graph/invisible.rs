//! Characters that a name must not have: they cannot be seen, or turn the direction of what can be.
//!
//! Two names that look alike would be two graphs or two people. The list is that of Unicode's `Default_Ignorable_Code_Point`,
//! with the separators, the spaces and the blanks that are letters or signs to Unicode.

use std::ops::RangeInclusive;

/// In order.
const HIDDEN: &[RangeInclusive<char>] = &[
    '\u{ad}'..='\u{ad}',
    '\u{34f}'..='\u{34f}',
    '\u{61c}'..='\u{61c}',
    '\u{115f}'..='\u{1160}',
    '\u{17b4}'..='\u{17b5}',
    '\u{180b}'..='\u{180f}',
    '\u{200b}'..='\u{200f}',
    '\u{2028}'..='\u{202e}',
    '\u{2060}'..='\u{206f}',
    '\u{2800}'..='\u{2800}',
    '\u{3164}'..='\u{3164}',
    '\u{fe00}'..='\u{fe0f}',
    '\u{feff}'..='\u{feff}',
    '\u{ffa0}'..='\u{ffa0}',
    '\u{fff0}'..='\u{fffb}',
    '\u{13430}'..='\u{1343f}',
    '\u{1bca0}'..='\u{1bca3}',
    '\u{1d173}'..='\u{1d17a}',
    '\u{e0000}'..='\u{e0fff}',
];

/// Whether a character cannot be seen, or turns the direction of others. The plain blank is none of them.
pub fn is_invisible(c: char) -> bool {
    (c != ' ' && c.is_whitespace()) || HIDDEN.iter().any(|range| range.contains(&c))
}
