//! Searches of texts under random inserts, deletes, updates, restarts and conditions, in sessions with rows of their own,
//! compared with scores of our own. `CHURN_STEPS` and `CHURN_SEED` make it longer, and another one.

use std::collections::{BTreeMap, BTreeSet};

use stratalog_engine::{Engine, EngineOptions, StorageOptions};
use stratalog_tests::value::Row;
use tempfile::TempDir;

use super::random::Random;
use super::scoring::{Part, query, scores, text, word};
use super::session::{Asking, settle};

const WORDS: usize = 40;
const K: usize = 7;

/// What a condition leaves, as it is written and as a test of an id.
type Condition = (String, Box<dyn Fn(i64) -> bool>);

struct Churn {
    random: Random,
    texts: BTreeMap<i64, Option<String>>,
    /// Rows of `extra`, from which a rule derives further texts.
    derived: BTreeMap<i64, Option<String>>,
    visible: BTreeSet<i64>,
    next: i64,
    has_index: bool,
    folder: TempDir,
    engine: Engine,
}

fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).map_or(otherwise, |text| text.parse().expect("a number"))
}

fn open(folder: &TempDir) -> Engine {
    let options = EngineOptions { threads: Some(2), view_memory: 0, ..EngineOptions::default() };
    let storage = StorageOptions { checkpoint_bytes: 1 << 16, ..StorageOptions::new(folder.path()) };
    Engine::open(options, storage).expect("what was stored can be opened")
}

const SETUP: &str = "+doc(id: int, body: string)\n+extra(id: int, body: string)\n+visible(id: int)\n\
                     +doc(Id, B) <- extra(Id, B)";
const CREATE: &str = ".index create about on doc(body) type text";

#[test]
fn scores_are_right_whatever_happens_to_the_rows() {
    for seed in 0..3 {
        Churn::new(number("CHURN_SEED", 11) + seed).run(number("CHURN_STEPS", 25));
    }
}

impl Churn {
    fn new(seed: u64) -> Churn {
        let folder = tempfile::tempdir().expect("a folder");
        let engine = open(&folder);
        Asking::on(&engine).run(SETUP);
        Churn {
            random: Random::new(seed),
            texts: BTreeMap::new(),
            derived: BTreeMap::new(),
            visible: BTreeSet::new(),
            next: 0,
            has_index: false,
            folder,
            engine,
        }
    }

    fn run(mut self, steps: u64) {
        for step in 0..steps {
            self.change();
            let session = self.random.below(3) == 0;
            if !self.has_index {
                Asking::on(&self.engine).run(CREATE);
                self.has_index = true;
            }
            if self.random.below(2) == 0 {
                settle(&self.engine, "about");
            }
            self.ask(step, session);
        }
    }

    fn text(&mut self) -> Option<String> {
        let length = self.random.below(12);
        let words: Vec<String> = (0..length).map(|_| word(&mut self.random, WORDS)).collect();
        (self.random.below(15) > 0).then(|| words.join([" ", ", ", "-", ". "][self.random.below(4)]))
    }

    fn rows(&mut self, count: usize) -> BTreeMap<i64, Option<String>> {
        let rows: Vec<(i64, Option<String>)> =
            (0..count).map(|i| (self.next + i as i64, self.text())).collect();
        self.next += count as i64;
        rows.into_iter().collect()
    }

    fn change(&mut self) {
        match self.random.below(9) {
            0..=2 => {
                let count = 1 + self.random.below(60);
                let rows = self.rows(count);
                let seen = rows.keys().copied().filter(|_| self.random.below(2) == 0);
                self.visible.extend(seen.collect::<Vec<_>>());
                Asking::on(&self.engine).run(&format!("+doc[{}]", listed(&rows)));
                let visible: Vec<String> = self.visible.iter().map(|id| format!("({id})")).collect();
                if !visible.is_empty() {
                    Asking::on(&self.engine).run(&format!("+visible[{}]", visible.join(", ")));
                }
                self.texts.extend(rows);
            }
            3 => {
                let rows = self.rows(5);
                Asking::on(&self.engine).run(&format!("+extra[{}]", listed(&rows)));
                self.derived.extend(rows);
            }
            4..=5 => {
                let gone: BTreeMap<i64, Option<String>> = {
                    let random = &mut self.random;
                    self.texts.iter().filter(|_| random.below(4) == 0).map(|(i, t)| (*i, t.clone())).collect()
                };
                if !gone.is_empty() {
                    Asking::on(&self.engine).run(&format!("-doc[{}]", listed(&gone)));
                }
                // Some of it comes again, as it was.
                let again: BTreeMap<i64, Option<String>> = {
                    let random = &mut self.random;
                    gone.iter().filter(|_| random.below(3) == 0).map(|(i, t)| (*i, t.clone())).collect()
                };
                if !again.is_empty() {
                    Asking::on(&self.engine).run(&format!("+doc[{}]", listed(&again)));
                }
                self.texts.retain(|id, _| !gone.contains_key(id) || again.contains_key(id));
            }
            6 => {
                let ids: Vec<i64> =
                    self.texts.keys().copied().filter(|_| self.random.below(8) == 0).collect();
                for id in ids {
                    let row = BTreeMap::from([(id, self.text())]);
                    Asking::on(&self.engine)
                        .run(&format!("-doc({id}, B), +doc{} <- doc({id}, B)", listed(&row)));
                    self.texts.extend(row);
                }
            }
            7 if self.has_index => {
                Asking::on(&self.engine).run(".index drop about");
                self.has_index = false;
            }
            _ => {
                // The folder has one engine at a time.
                self.engine = Engine::in_memory(EngineOptions::default()).expect("an engine");
                self.engine = open(&self.folder);
            }
        }
    }

    fn condition(&mut self) -> Condition {
        let visible = self.visible.clone();
        let half = self.texts.keys().nth(self.texts.len() / 2).copied().unwrap_or(0);
        match self.random.below(6) {
            0 | 1 => (String::new(), Box::new(|_| true)),
            2 => (", visible(Id)".to_owned(), Box::new(move |id| visible.contains(&id))),
            3 => (", !visible(Id)".to_owned(), Box::new(move |id| !visible.contains(&id))),
            4 => (format!(", Id = {half}"), Box::new(move |id| id == half)),
            _ => {
                let text = format!(", visible(Id), Id > {half}");
                (text, Box::new(move |id| visible.contains(&id) && id > half))
            }
        }
    }

    fn ask(&mut self, step: u64, session: bool) {
        let mut texts = self.texts.clone();
        texts.extend(self.derived.clone());
        let mut asking = Asking::on(&self.engine);
        if session {
            let own = self.rows(4);
            asking.run(&format!("doc[{}]", listed(&own)));
            texts.extend(own);
        }
        // The same rows, all at once, by one thread.
        let fresh = Engine::in_memory(EngineOptions { threads: Some(1), ..EngineOptions::default() });
        let fresh = fresh.expect("an engine");
        let mut afresh = Asking::on(&fresh);
        afresh.run(SETUP);
        afresh.run(CREATE);
        if !texts.is_empty() {
            afresh.run(&format!("+doc[{}]", listed(&texts)));
        }
        let visible: Vec<String> = self.visible.iter().map(|id| format!("({id})")).collect();
        if !visible.is_empty() {
            afresh.run(&format!("+visible[{}]", visible.join(", ")));
        }
        for _ in 0..8 {
            let query = query(&mut self.random, WORDS);
            let (written, fulfils) = self.condition();
            let asked = text(&query).replace('"', "\\\"");
            let program = format!("?text_search(\"about\", \"{asked}\", {K}, Id, Score, Rank){written}");
            let rows = asking.run(&program);
            check(&rows, &texts, &query, &fulfils, &format!("step {step}: {program}"));
            assert_eq!(rows, afresh.run(&program), "step {step}: {program}");
        }
    }
}

fn check(
    rows: &[Row],
    texts: &BTreeMap<i64, Option<String>>,
    query: &[Part],
    fulfils: &dyn Fn(i64) -> bool,
    place: &str,
) {
    let scores = scores(texts, query);
    let mut expected: Vec<f64> =
        scores.iter().filter(|(id, _)| fulfils(**id)).map(|(_, score)| *score).collect();
    expected.sort_by(|a, b| b.total_cmp(a));
    expected.truncate(K);
    assert_eq!(rows.len(), expected.len(), "{place}");
    let (mut ids, mut last) = (BTreeSet::new(), (f64::INFINITY, -1));
    for (place_of, (row, expected)) in rows.iter().zip(&expected).enumerate() {
        let id = row[0].number().expect("an id") as i64;
        let score = row[1].number().expect("a score");
        assert_eq!(row[2].number(), Some(place_of as f64 + 1.0), "{place}: ranks count from 1");
        assert!(ids.insert(id) && fulfils(id), "{place}: {id}");
        assert!((score - expected).abs() < 1e-9, "{place}: {id} has {score}, not {expected}");
        assert!((score - scores[&id]).abs() < 1e-9, "{place}: {id} has {score}, not {}", scores[&id]);
        assert!(score < last.0 || (score == last.0 && id > last.1), "{place}: {id} comes too late");
        last = (score, id);
    }
}

fn listed(rows: &BTreeMap<i64, Option<String>>) -> String {
    let row = |(id, text): (&i64, &Option<String>)| match text {
        Some(text) => format!("({id}, \"{text}\")"),
        None => format!("({id}, null)"),
    };
    rows.iter().map(row).collect::<Vec<_>>().join(", ")
}

#[test]
fn many_texts_are_searched_in_parts() {
    let mut random = Random::new(5);
    let mut texts = BTreeMap::new();
    for id in 0..70_000 {
        let words: Vec<String> = (0..random.below(5)).map(|_| word(&mut random, 2_000)).collect();
        texts.insert(id, Some(words.join(" ")));
    }
    let options = EngineOptions { threads: Some(2), ..EngineOptions::default() };
    let engine = Engine::in_memory(options).expect("an engine");
    let mut asking = Asking::on(&engine);
    asking.run(SETUP);
    asking.run(CREATE);
    asking.run(&format!("+doc[{}]", listed(&texts)));
    asking.run("-doc(Id, B) <- doc(Id, B), Id >= 40000, Id < 50000");
    texts.retain(|id, _| !(40_000..50_000).contains(id));
    for (asked, condition) in
        [("w1 w17", 0), ("+w0 \"w1 w2\" -w3", 0), ("w5", 60_000), ("w1900 w1950", 0), ("w1 w1999", 39_990)]
    {
        let parts: Vec<Part> = match asked {
            "+w0 \"w1 w2\" -w3" => vec![
                Part { sign: '+', words: vec!["w0".into()] },
                Part { sign: ' ', words: vec!["w1".into(), "w2".into()] },
                Part { sign: '-', words: vec!["w3".into()] },
            ],
            words => words.split(' ').map(|w| Part { sign: ' ', words: vec![w.into()] }).collect(),
        };
        let asked = asked.replace('"', "\\\"");
        let program =
            format!("?text_search(\"about\", \"{asked}\", {K}, Id, Score, Rank), Id >= {condition}");
        let rows = asking.run(&program);
        check(&rows, &texts, &parts, &|id| id >= condition, &program);
    }
}
