//! What the peers share: `PEER PROGRAM FOLDER [check]` reads a tab-separated file of integers for each relation, evaluates
//! one program, and prints what `run.py` wants to know as a line of JSON.

mod facts;
pub mod live;
mod memory;
mod report;

pub use facts::{Facts, Fields};
pub use report::{Report, Row, checksum, measure};

/// Many small allocations are what these programs spend their time on; their authors recommend this one.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// How a peer evaluates one program; the checksum of the answer is wanted or not.
pub type Program = fn(&Facts, check: bool) -> Report;

/// The whole of a peer's `main`: runs the named program, or says that there is none.
pub fn main(arguments: &[String], find: impl FnOnce(&str) -> Option<Program>) {
    /// What `run.py` takes for «this peer cannot express it».
    const NOT_EXPRESSED: i32 = 3;
    let (program, folder, check) = match arguments {
        [program, folder] => (program, folder, false),
        [program, folder, check] if check == "check" => (program, folder, true),
        _ => panic!("expected PROGRAM FOLDER [check], found {arguments:?}"),
    };
    match find(program) {
        Some(run) => run(&Facts::of(folder), check).print(),
        None => std::process::exit(NOT_EXPRESSED),
    }
}
