//! `stratalog-server`: the allocator, and the server as a process.

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    stratalog_server::process::run(std::env::args_os(), None)
}
