//! Which matrices are kept in which form.
//!
//! Each matrix that grows is kept by rows or by columns, and heads take in what is new in that form. Where products
//! look rows up in the other form too, there is a second copy.

use crate::plan::{Factor, Matrices, Matrix};

/// A matrix by rows (0) or by columns (1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Side {
    pub(super) matrix: usize,
    pub(super) by: usize,
}

impl Side {
    fn of(factor: Factor) -> Side {
        Side { matrix: factor.matrix, by: usize::from(factor.transposed) }
    }

    /// Rows for columns.
    pub(super) fn turned(self) -> Side {
        Side { by: 1 - self.by, ..self }
    }
}

/// A product, seen from the rows of its head.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step {
    pub(super) head: usize,
    pub(super) off_diagonal: bool,
    /// Its rows are the head's.
    pub(super) left: Side,
    /// Its rows are the columns of the left one, its columns the head's.
    pub(super) right: Option<Side>,
}

/// What is kept of a matrix, by rows and by columns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Forms {
    /// Everything that is known.
    pub(super) known: [bool; 2],
    /// What the last round found.
    pub(super) new: [bool; 2],
}

/// How a recursion is evaluated.
pub(super) struct Layout {
    pub(super) steps: Vec<Step>,
    /// In which form each matrix takes in what is new.
    pub(super) main: Vec<usize>,
    pub(super) forms: Vec<Forms>,
}

impl Layout {
    /// The layout that turns as little as possible.
    pub(super) fn new(matrices: &Matrices) -> Layout {
        /// With more matrices than this, not every layout is tried.
        const MOST: usize = 10;
        let is_growing: Vec<bool> =
            matrices.matrices.iter().map(|matrix| !matches!(matrix, Matrix::Complete(_))).collect();
        let growing: Vec<usize> = (0..is_growing.len()).filter(|matrix| is_growing[*matrix]).collect();
        let tried = 1_usize << growing.len().min(MOST);
        let layouts = (0..tried).map(|choice| {
            let mut main = vec![0; matrices.matrices.len()];
            for (bit, matrix) in growing.iter().enumerate().take(MOST) {
                main[*matrix] = choice >> bit & 1;
            }
            Layout::with(matrices, &is_growing, main)
        });
        let cost = |layout: &Layout| {
            let turned = |matrix: usize| {
                let other = 1 - layout.main[matrix];
                let forms = layout.forms[matrix];
                2 * usize::from(forms.known[other]) + usize::from(forms.new[other])
            };
            growing.iter().map(|matrix| turned(*matrix)).sum::<usize>()
        };
        layouts
            .min_by_key(cost)
            .unwrap_or_else(|| Layout::with(matrices, &is_growing, vec![0; is_growing.len()]))
    }

    fn with(matrices: &Matrices, is_growing: &[bool], main: Vec<usize>) -> Layout {
        let mut forms = vec![Forms::default(); is_growing.len()];
        for (matrix, main) in main.iter().enumerate().filter(|(matrix, _)| is_growing[*matrix]) {
            forms[matrix].known[*main] = true;
            forms[matrix].new[*main] = true;
        }
        let steps: Vec<Step> = matrices
            .products
            .iter()
            .map(|product| {
                let (left, right) = match (main[product.head], product.right) {
                    (0, right) => (product.left, right),
                    (_, None) => (product.left.transpose(), None),
                    (_, Some(right)) => (right.transpose(), Some(product.left.transpose())),
                };
                let (head, off_diagonal) = (product.head, product.off_diagonal);
                Step { head, off_diagonal, left: Side::of(left), right: right.map(Side::of) }
            })
            .collect();
        for step in &steps {
            let mut needs_known = |side: Side| forms[side.matrix].known[side.by] = true;
            if let Some(right) = step.right {
                let grows = [is_growing[step.left.matrix], is_growing[right.matrix]];
                if grows[1] {
                    needs_known(step.left.turned());
                }
                if grows[0] || !grows[1] {
                    needs_known(right);
                }
                if !grows[0] && !grows[1] {
                    needs_known(step.left);
                }
            }
            for side in [Some(step.left), step.right].into_iter().flatten() {
                forms[side.matrix].new[side.by] |= is_growing[side.matrix];
            }
        }
        Layout { steps, main, forms }
    }
}
