//! Files of a crate import each other in one direction. A module and those inside it may know each other. Paths that stand
//! nowhere but inside of calls of macros are not seen.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use syn::visit::{self, Visit};
use syn::{Attribute, Item, UseTree, Visibility};

/// From the root of its crate.
type ModulePath = Vec<String>;

#[test]
fn files_import_each_other_in_one_direction() {
    for name in ["engine", "language", "protocol", "server", "client"] {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(name).join("src");
        let files = read(&source, &source);
        assert!(files.len() > 3, "{name} has files");
        let circles = circles(&files);
        assert!(circles.is_empty(), "circles of imports in {name}:\n{}", circles.join("\n"));
    }
}

/// What a file says of names.
#[derive(Default)]
struct File {
    /// Items that are defined in it.
    defined: BTreeSet<String>,
    /// Names that it hands on, and what they stand for.
    handed_on: BTreeMap<String, ModulePath>,
    /// Paths that it uses, as they are written.
    used: BTreeSet<ModulePath>,
}

/// The files below a folder, by their modules.
fn read(root: &Path, folder: &Path) -> BTreeMap<ModulePath, File> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).expect("a source folder can be read") {
        let path = entry.expect("an entry can be read").path();
        if path.is_dir() {
            found.extend(read(root, &path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).expect("a source file can be read");
            let syntax = syn::parse_file(&text).expect("a source file is Rust");
            let inside = path.strip_prefix(root).expect("a file below the root").with_extension("");
            let mut module: ModulePath =
                inside.iter().map(|part| part.to_string_lossy().into_owned()).collect();
            module.pop_if(|last| matches!(last.as_str(), "mod" | "lib" | "main"));
            let mut file = File::default();
            file.visit_file(&syntax);
            found.insert(module, file);
        }
    }
    found
}

impl<'ast> Visit<'ast> for File {
    fn visit_item(&mut self, item: &'ast Item) {
        let (attributes, name) = match item {
            Item::Const(item) => (&item.attrs, Some(&item.ident)),
            Item::Enum(item) => (&item.attrs, Some(&item.ident)),
            Item::Fn(item) => (&item.attrs, Some(&item.sig.ident)),
            Item::Macro(item) => (&item.attrs, item.ident.as_ref()),
            Item::Mod(item) => (&item.attrs, None),
            Item::Static(item) => (&item.attrs, Some(&item.ident)),
            Item::Struct(item) => (&item.attrs, Some(&item.ident)),
            Item::Trait(item) => (&item.attrs, Some(&item.ident)),
            Item::Type(item) => (&item.attrs, Some(&item.ident)),
            Item::Use(item) => {
                let hands_on = !matches!(item.vis, Visibility::Inherited);
                for (name, path) in paths(&item.tree) {
                    if hands_on {
                        self.handed_on.insert(name, path);
                    } else {
                        self.used.insert(path);
                    }
                }
                return;
            }
            _ => return visit::visit_item(self, item),
        };
        if is_test(attributes) {
            return;
        }
        self.defined.extend(name.map(ToString::to_string));
        visit::visit_item(self, item);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        self.used.insert(path.segments.iter().map(|segment| segment.ident.to_string()).collect());
        visit::visit_path(self, path);
    }
}

fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg")
            && attribute.parse_args::<syn::Path>().is_ok_and(|of| of.is_ident("test"))
    })
}

/// Each name that a `use` brings, and its path.
fn paths(tree: &UseTree) -> Vec<(String, ModulePath)> {
    let below = |part: String, tree: &UseTree| {
        let with = |(name, path): (String, ModulePath)| (name, [vec![part.clone()], path].concat());
        paths(tree).into_iter().map(with).collect()
    };
    match tree {
        UseTree::Path(path) => below(path.ident.to_string(), &path.tree),
        UseTree::Group(group) => group.items.iter().flat_map(paths).collect(),
        UseTree::Name(name) if name.ident == "self" => vec![(String::new(), Vec::new())],
        UseTree::Name(name) => vec![(name.ident.to_string(), vec![name.ident.to_string()])],
        UseTree::Rename(rename) => vec![(rename.rename.to_string(), vec![rename.ident.to_string()])],
        _ => vec![(String::new(), Vec::new())],
    }
}

/// A path from the root of the crate, as it is meant in a module; `None` for what is of another crate.
fn absolute(files: &BTreeMap<ModulePath, File>, module: &[String], path: &[String]) -> Option<ModulePath> {
    let ups = path.iter().take_while(|part| *part == "super").count();
    let (base, rest) = match path.first()?.as_str() {
        "crate" => (&[][..], &path[1..]),
        "self" => (module, &path[1..]),
        "super" => (&module[..module.len().checked_sub(ups)?], &path[ups..]),
        child if files.contains_key(&[module, &[child.to_owned()]].concat()) => (module, path),
        _ => return None,
    };
    Some([base, rest].concat())
}

/// The module whose file defines what a path from the root names.
fn home(files: &BTreeMap<ModulePath, File>, path: &[String]) -> Option<ModulePath> {
    let length = (0..=path.len()).rev().find(|length| files.contains_key(&path[..*length]))?;
    let (module, rest) = path.split_at(length);
    let file = &files[module];
    let handed_on = rest.first().filter(|name| !file.defined.contains(*name));
    match handed_on.and_then(|name| file.handed_on.get(name)) {
        Some(elsewhere) => home(files, &absolute(files, module, elsewhere)?),
        None => Some(module.to_vec()),
    }
}

/// Imports that lie on a way round, or between two of those.
fn circles(files: &BTreeMap<ModulePath, File>) -> Vec<String> {
    let mut imports = BTreeSet::new();
    for (module, file) in files {
        let used = file.used.iter().filter_map(|path| home(files, &absolute(files, module, path)?));
        let apart = used.filter(|other| !other.starts_with(module) && !module.starts_with(other));
        imports.extend(apart.map(|other| (module, other)));
    }
    loop {
        let importing: BTreeSet<_> = imports.iter().map(|(from, _)| (*from).clone()).collect();
        let imported: BTreeSet<_> = imports.iter().map(|(_, to)| to.clone()).collect();
        let before = imports.len();
        imports.retain(|(from, to)| importing.contains(to) && imported.contains(*from));
        if imports.len() == before {
            break;
        }
    }
    imports.iter().map(|(from, to)| format!("{} uses {}", from.join("/"), to.join("/"))).collect()
}

#[test]
fn circles_are_found_through_what_is_handed_on() {
    let file = |text: &str| {
        let mut file = File::default();
        file.visit_file(&syn::parse_file(text).expect("Rust"));
        file
    };
    let crate_of = |below: &str| {
        let files = [
            ("", "mod a;\nmod b;\npub use a::A;\npub(crate) mod c;"),
            ("a", "use crate::b::{self, B};\npub struct A(B);"),
            ("b", below),
            ("c", "use crate::A;\nfn f() { crate::b::g() }"),
        ];
        let named = |(name, text): (&str, &str)| {
            let module = name.split('/').filter(|part| !part.is_empty()).map(str::to_owned).collect();
            (module, file(text))
        };
        files.into_iter().map(named).collect()
    };
    assert_eq!(circles(&crate_of("pub struct B;\n#[cfg(test)]\nmod tests { use crate::A; }")), [""; 0]);
    assert_eq!(circles(&crate_of("use crate::A;\npub struct B;")), ["a uses b", "b uses a"]);
    assert_eq!(circles(&crate_of("pub struct B;\nfn f(a: &crate::A) {}")), ["a uses b", "b uses a"]);
    assert_eq!(circles(&crate_of("pub struct B;\nfn f() { super::c::f() }")).len(), 4);
}
