//! Compiles the parser and the scanner.

fn main() {
    let sources = ["src/parser.c", "src/scanner.c"];
    cc::Build::new()
        .std("c11")
        .include("src")
        .files(sources)
        .warnings(false)
        .compile("tree-sitter-stratalog");
    for source in sources {
        println!("cargo:rerun-if-changed={source}");
    }
}
