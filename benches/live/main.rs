//! Live queries: how soon it is known what a commit has changed, of how many rows, and for whom.
//!
//! These are the lines of a table that says what has to be reached; the groups of one line share a function. The median and the 99th
//! of a hundred steps count there, so they are printed after each group, beside Criterion's mean.
//!
//! | line | what comes and goes | groups |
//! |---|---|---|
//! | L1 | edges below a closure | `live/closure` |
//! | L2 | dependencies below the closure of Debian's packages | `live/packages` |
//! | L3 | statements of a program whose pointers are analysed | `live/points_to` |
//! | L4 | orders below sums, sums of those, and the best of these | `live/sums`, `live/regions`, `live/top_ten`, `live/largest` |
//! | L5 | roads below shortest paths | `live/roads` |
//! | L6 | edges below what cannot be reached | `live/unreachable` |
//! | L7 | rows below a join of five relations, and below its negation | `live/join`, `live/negation` |
//! | L8 | what one or all of a thousand have subscribed to | `live/parameters`, `live/commit`, `live/told` |
//! | L9 | what 64 writers commit beside a hundred live queries | `make load` with `LOAD_CONNECTIONS=64 LOAD_SUBSCRIPTIONS=params:100` or `idle:100` |
//! | L10 | nothing: the first answer, and that nothing has changed since | `live/first`, `live/resume` |

mod case;
mod first;
mod group;
mod network;
mod recursions;
mod tables;

use criterion::{criterion_group, criterion_main};

criterion_group!(benches, recursions::steps, tables::steps, network::commits, network::told, first::answers);
criterion_main!(benches);
