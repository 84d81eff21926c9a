//! How the columns of an answer fit a terminal.
//!
//! Numbers are never broken over lines, so a column of them needs all of its width; text can do with less. Columns that
//! find no room are left out from the right, as the first ones are those that name what a row is about.

/// The widths of a column, in cells of a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Wish {
    /// Of its longest cell.
    pub natural: usize,
    /// What it cannot do without.
    pub least: usize,
}

/// Text is readable in so much.
pub(super) const READABLE: usize = 12;
/// What stands around the text of a cell: a bar and two blanks.
const FRAME: usize = 3;
/// Fewer columns than these say too little of a row.
const IMPORTANT: usize = 3;
/// An answer that has no more lines than these one value a line is better read so than with columns left out.
const SHORT: usize = 60;

/// How rows are shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Fit {
    /// As a table with the first columns, as many as have a width here.
    Table(Vec<usize>),
    /// One value a line.
    ByColumn,
}

/// Fits columns into a terminal of this width. Rows may be shown one value a line where that is better, if they `may_turn`.
pub(super) fn fit(wishes: &[Wish], rows: usize, width: usize, may_turn: bool) -> Fit {
    let all = wishes.len();
    let needed = |columns: usize| -> usize {
        let marker = if columns < all { FRAME + 1 } else { 0 };
        wishes[..columns].iter().map(|wish| wish.least + FRAME).sum::<usize>() + marker + 1
    };
    let columns = (1..=all).rev().find(|&columns| needed(columns) <= width).unwrap_or(1);
    if may_turn && columns < all {
        let is_short = rows * (all + 1) <= SHORT || rows == 1;
        if columns < IMPORTANT.min(all) || is_short {
            return Fit::ByColumn;
        }
    }
    Fit::Table(shared(&wishes[..columns], width.saturating_sub(needed(columns))))
}

/// Shares out what is left of the width, evenly among those that want more.
fn shared(wishes: &[Wish], mut left: usize) -> Vec<usize> {
    let mut widths: Vec<usize> = wishes.iter().map(|wish| wish.least).collect();
    loop {
        let wanting = wishes.iter().zip(&widths).filter(|(wish, width)| wish.natural > **width).count();
        if wanting == 0 || left == 0 {
            return widths;
        }
        let share = (left / wanting).max(1);
        for (wish, width) in wishes.iter().zip(&mut widths) {
            let more = share.min(wish.natural.saturating_sub(*width)).min(left);
            *width += more;
            left -= more;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(natural: usize) -> Wish {
        Wish { natural, least: natural.min(READABLE) }
    }

    #[test]
    fn what_fits_has_its_own_width() {
        assert_eq!(fit(&[text(5), text(20)], 9, 80, true), Fit::Table(vec![5, 20]));
    }

    #[test]
    fn long_text_shares_what_numbers_leave() {
        let number = Wish { natural: 18, least: 18 };
        // 80 - 3 frames - 1 = 70, less 18
        assert_eq!(fit(&[number, text(500), text(20)], 9, 80, true), Fit::Table(vec![18, 32, 20]));
    }

    #[test]
    fn columns_without_room_are_left_out_or_rows_turn() {
        let wishes = vec![text(12); 30];
        let Fit::Table(widths) = fit(&wishes, 40, 80, true) else { panic!("it turned") };
        assert_eq!(widths, [12; 5]);
        assert_eq!(fit(&wishes, 1, 80, true), Fit::ByColumn);
        assert_eq!(fit(&wishes, 40, 40, true), Fit::ByColumn);
        assert_eq!(fit(&wishes, 40, 40, false), Fit::Table(vec![12, 12]));
        assert_eq!(fit(&wishes, 40, 3, false), Fit::Table(vec![12]));
    }
}
