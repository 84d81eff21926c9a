//! A search means the same wherever its conditions stand: random bodies in random orders, against rules that rank.

use stratalog_engine::{Engine, EngineOptions, StorageOptions, Thresholds};
use tempfile::TempDir;

use super::random::Random;
use super::session::{Asking, settle};

/// What may stand beside `hnsw_nearest("near", [..], K, Id, D)`. Each says something of its own.
const CONDITIONS: [&str; 21] = [
    "doc(Id, Title, Year, _)",
    "Year >= 3",
    "Title != \"t1\"",
    "mentions(Id, E)",
    "hop(\"E7\", E, _)",
    "kind(E, \"person\")",
    "visible(U, Id)",
    "user(U)",
    "U = \"ann\"",
    "!superseded(Id, _)",
    "Id > Least",
    "Least = 20",
    "part(Id + 1, P)",
    "!blocked(P, Id)",
    "!(mentions(Id, M), kind(M, \"person\"))",
    "!(Id = 3 or superseded(Id, _) or Id > 90, Id < 140)",
    "!(Id > 10, Id < 40)",
    "(visible(\"ann\", Id) or Id > 120)",
    "!(O = Id, blocked(3, O))",
    "!(blocked(P, Id) or part(Id, P))",
    "(blocked(W, Id) or part(Id, W)), !(W = 2 or blocked(W, Id), Id > 60)",
];
/// A literal counts only where these stand too: they bind its variables.
const NEEDS: [(usize, usize); 8] = [(1, 0), (2, 0), (8, 6), (10, 11), (13, 12), (5, 3), (4, 3), (19, 12)];

fn facts() -> String {
    let mut lines = vec!["+doc(id: int, title: string, year: int, v: vector(2))".to_owned()];
    for id in 0..240 {
        let (x, y) = (f64::from(id % 16) * 0.5, f64::from(id / 16) * 0.75);
        lines.push(format!("+doc({id}, \"t{}\", {}, [{x}, {y}])", id % 3, id % 7));
        lines.push(format!("+mentions[({id}, \"E{}\"), ({id}, \"E{}\")]", id % 10, (id * 3) % 11));
        lines.push(format!("+visible(\"{}\", {id})", ["ann", "bob", "eve"][id as usize % 3]));
        if id % 5 == 0 {
            lines.push(format!("+superseded({id}, {})", id + 1));
        }
        lines.push(format!("+part({}, {})", id + (id % 2), id % 4));
        lines.push(format!("+blocked({}, {})", id % 4, (id * 7) % 240));
    }
    lines.push(
        "+hop[(\"E7\", \"E1\", 1), (\"E7\", \"E4\", 1), (\"E7\", \"E9\", 2), (\"E2\", \"E3\", 1)]".to_owned(),
    );
    lines.push(
        "+kind[(\"E1\", \"person\"), (\"E4\", \"place\"), (\"E9\", \"person\"), (\"E3\", \"person\")]"
            .to_owned(),
    );
    lines.push("+user[\"ann\", \"bob\"]".to_owned());
    // With more candidates than there are rows the index overlooks none.
    lines.push(".index create near on doc(v) metric l2 m 16 ef_search 500".to_owned());
    lines.join("\n")
}

/// A body without what nothing binds.
fn body(random: &mut Random) -> Vec<&'static str> {
    let mut chosen: Vec<bool> = CONDITIONS.iter().map(|_| random.below(3) == 0).collect();
    for (literal, needed) in NEEDS {
        chosen[needed] |= chosen[literal];
    }
    CONDITIONS.iter().zip(chosen).filter(|(_, is_chosen)| *is_chosen).map(|(literal, _)| *literal).collect()
}

fn shuffle<T>(random: &mut Random, items: &mut [T]) {
    for end in (1..items.len()).rev() {
        items.swap(end, random.below(end + 1));
    }
}

/// How many of the questions the index has answered.
fn check(candidate_rows: usize) -> usize {
    let folder = TempDir::new().expect("a folder");
    let thresholds = Thresholds { candidate_rows, ..Thresholds::default() };
    let options = EngineOptions { threads: Some(2), thresholds, ..EngineOptions::default() };
    let engine = Engine::open(options, StorageOptions::new(folder.path())).expect("an engine");
    let mut asking = Asking::on(&engine);
    asking.run(&facts());
    settle(&engine, "near");
    let mut random = Random::new(11);
    let (mut answered, mut by_index) = (0, 0);
    for round in 0..60 {
        let (x, y, k) = (
            random.below(80) as f64 / 10.0 + 0.013,
            random.below(110) as f64 / 10.0 + 0.029,
            1 + random.below(9),
        );
        let literals = body(&mut random);
        let conditions: String = literals.iter().map(|literal| format!(", {literal}")).collect();
        // Of all rows together, or of those of each user.
        let each = if literals.contains(&"visible(U, Id)") && random.below(2) == 0 { "U, " } else { "" };
        let mut expected = asking.run(&format!(
            "fulfils({each}Id) <- doc(Id, _, _, _){conditions}\n\
             ranked({each}top_k<{k}, Id, D:asc>) <- fulfils({each}Id), doc(Id, _, _, V), D = euclidean(V, [{x}, {y}])\n\
             ?{each}Id, D <- ranked({each}Id, D){conditions}"
        ));
        expected.sort();
        answered += expected.len();
        for _ in 0..5 {
            let mut literals: Vec<String> = literals.iter().map(|literal| (*literal).to_owned()).collect();
            let name = if each.is_empty() { "hnsw_nearest" } else { "hnsw_nearest_each" };
            literals.push(format!("{name}({each}\"near\", [{x}, {y}], {k}, Id, D)"));
            shuffle(&mut random, &mut literals);
            let query = format!("?{each}Id, D <- {}", literals.join(", "));
            let mut found = asking.run(&query);
            by_index += usize::from(asking.plan(&query).contains("approximate, by hnsw"));
            found.sort();
            assert_eq!(found, expected, "round {round}: {query}");
        }
    }
    assert!(answered > 100, "most bodies have answers: {answered} rows");
    by_index
}

#[test]
fn conditions_count_wherever_they_stand_row_by_row() {
    assert_eq!(check(Thresholds::default().candidate_rows), 0);
}

#[test]
fn conditions_count_wherever_they_stand_by_the_index() {
    assert!(check(0) > 50);
}
