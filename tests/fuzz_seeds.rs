//! Writes the programs of the golden files into folders, one file each: what `make fuzz` starts from.

use std::fs;
use std::io;

use stratalog_tests::mutate::corpus;

fn main() -> io::Result<()> {
    for folder in std::env::args().skip(1) {
        fs::create_dir_all(&folder)?;
        for (number, program) in corpus().iter().enumerate() {
            fs::write(format!("{folder}/golden-{number}"), program)?;
        }
    }
    Ok(())
}
