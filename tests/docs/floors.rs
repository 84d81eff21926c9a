//! `engine/src/lib.rs` lists its modules lowest floor first, and a module may use only those above it in that list.

use std::fs;
use std::path::{Path, PathBuf};

#[test]
fn a_module_uses_only_lower_floors() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../engine/src");
    let modules = modules(&fs::read_to_string(source.join("lib.rs")).expect("engine/src/lib.rs can be read"));
    assert!(modules.len() > 5, "engine/src/lib.rs lists modules");
    let mut wrong = Vec::new();
    for file in files(&source) {
        let path = file.strip_prefix(&source).expect("a file below the folder");
        let own = path.components().next().expect("a name").as_os_str().to_string_lossy();
        let Some(floor) = modules.iter().position(|module| *module == own.trim_end_matches(".rs")) else {
            continue;
        };
        let text = fs::read_to_string(&file).expect("a source file can be read");
        for used in uses(&text) {
            // What is no module is re-exported by lib.rs, from any floor.
            if modules.iter().position(|module| *module == used).is_none_or(|other| other > floor) {
                wrong.push(format!("{} uses crate::{used}", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "against the order of the modules in lib.rs:\n{}", wrong.join("\n"));
}

/// Folders of the engine whose `mod.rs` lists their files lowest floor first.
const FOLDERS: [&str; 9] = [
    "plan",
    "plan/rule",
    "plan/explain",
    "exec",
    "exec/values",
    "exec/operators",
    "exec/known",
    "exec/heads",
    "exec/strategy",
];

#[test]
fn a_file_uses_only_lower_floors_of_its_folder() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../engine/src");
    let mut wrong = Vec::new();
    for folder in FOLDERS {
        let path = source.join(folder);
        let list = fs::read_to_string(path.join("mod.rs")).expect("a folder has a mod.rs");
        let modules = modules(&list);
        let root = format!("crate::{}::", folder.replace('/', "::"));
        for file in files(&path) {
            let inside = file.strip_prefix(&path).expect("a file below the folder");
            let own = inside.components().next().expect("a name").as_os_str().to_string_lossy();
            let Some(floor) = modules.iter().position(|module| *module == own.trim_end_matches(".rs")) else {
                continue;
            };
            let text = fs::read_to_string(&file).expect("a source file can be read");
            let direct = inside.components().count() == 1;
            let siblings = if direct { after(&text, "super::") } else { Vec::new() };
            for used in after(&text, &root).into_iter().chain(siblings) {
                if modules.iter().position(|module| *module == used).is_some_and(|other| other > floor) {
                    wrong.push(format!("{folder}/{} uses {used}", inside.display()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "against the order of the modules in mod.rs:\n{}", wrong.join("\n"));
}

/// Libraries with known faults, and the least versions without them: RUSTSEC-2026-0194 and 0195 are crafted documents that
/// take `quick-xml` time and memory without bound. It came with a parser of RDF/XML that nothing here asked for.
const MENDED: [(&str, [u64; 2]); 1] = [("quick-xml", [0, 41])];

#[test]
fn no_library_with_a_known_fault_is_built_in() {
    let lock = Path::new(env!("CARGO_MANIFEST_DIR")).join("../Cargo.lock");
    let lock = fs::read_to_string(lock).expect("Cargo.lock can be read");
    let versions = |name: &str| -> Vec<[u64; 2]> {
        let number = |part: Option<&str>| part.and_then(|part| part.parse().ok()).expect("a number");
        let found =
            lock.split("[[package]]").filter(|package| package.contains(&format!("name = \"{name}\"\n")));
        let version = |package: &str| {
            let version = package.split_once("version = \"").expect("a version").1;
            let mut parts = version.split('.');
            [number(parts.next()), number(parts.next())]
        };
        found.map(version).collect()
    };
    assert_eq!(versions("oxttl").len(), 1, "Cargo.lock lists libraries");
    for (name, least) in MENDED {
        for version in versions(name) {
            assert!(
                version >= least,
                "{name} {version:?} is built in: see who needs it with `cargo tree -i {name}`"
            );
        }
    }
}

/// The names after `mod`, in order.
fn modules(lib: &str) -> Vec<String> {
    let after_mod = lib.lines().filter_map(|line| {
        let line = line.strip_prefix("pub ").or(line.strip_prefix("pub(crate) ")).unwrap_or(line);
        line.strip_prefix("mod ")?.strip_suffix(';')
    });
    after_mod.map(str::to_owned).collect()
}

/// All Rust files below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a source folder can be read") {
        let path = entry.expect("an entry can be read").path();
        if path.is_dir() {
            found.extend(files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found
}

/// The modules that stand after `crate::`, outside of comments and of the unit tests at the foot of the file.
fn uses(text: &str) -> Vec<String> {
    after(text, "crate::")
}

/// The names that stand after a path, outside of comments and of the unit tests at the foot of the file.
fn after(text: &str, path: &str) -> Vec<String> {
    let code = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    let lines: Vec<&str> = code.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
    let mut used = Vec::new();
    for rest in lines.join(" ").split(path).skip(1) {
        let name: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        if !name.is_empty() {
            used.push(name);
        } else if let Some((group, _)) = rest.strip_prefix('{').and_then(|rest| rest.split_once('}')) {
            let names = group.split(',').map(|name| name.split("::").next().unwrap_or_default().trim());
            used.extend(names.filter(|name| !name.is_empty()).map(str::to_owned));
        }
    }
    used.sort();
    used.dedup();
    used
}

#[test]
fn uses_are_found_in_every_form() {
    let text = "use crate::data::Value;\nuse crate::{exec::run, plan};\n// crate::no\nlet x = crate::budget::f();\n\
                #[cfg(test)]\nmod tests {\n    use crate::engine::Engine;\n}\n";
    assert_eq!(uses(text), ["budget", "data", "exec", "plan"]);
    assert_eq!(modules("/// A.\npub mod a;\n\nmod b;\npub use a::X;\n"), ["a", "b"]);
}
