//! Completions and manual pages, made from the definitions of the arguments.

use crate::arguments::Arguments;
use clap::CommandFactory;
use clap_complete::Shell;
use std::io::{self, Write};
use std::path::Path;

/// Writes the completions for a shell to standard output.
pub(crate) fn completions(shell: Shell) -> io::Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "stratalog", &mut script);
    write(&script)
}

/// Writes the page of the whole command to standard output, or a page for each command into a folder.
pub(crate) fn man(folder: Option<&Path>) -> io::Result<()> {
    match folder {
        Some(folder) => {
            std::fs::create_dir_all(folder)?;
            clap_mangen::generate_to(Arguments::command(), folder)
        }
        None => {
            let mut page = Vec::new();
            clap_mangen::Man::new(Arguments::command()).render(&mut page)?;
            write(&page)
        }
    }
}

fn write(text: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text)?;
    out.flush()
}
