//! `Asked`: what several questions of a template ask, where they are answered as one.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Weak};

use super::query::LiveQuery;
use crate::data::{Code, Dictionary, EMPTY, Value, ValueRef};

/// The codes of the constants in which a question differs from others.
pub(super) type Constants = Vec<Code>;

/// Questions with their constants.
#[derive(Debug)]
pub(super) struct Asked {
    /// The constants of each question, by its number.
    pub(super) constants: HashMap<u64, Constants>,
    /// The dictionary that has them.
    dictionary: u64,
    all: Option<All>,
}

/// A list of questions that are all asked.
#[derive(Debug)]
struct All {
    list: Weak<[Arc<LiveQuery>]>,
    /// Where those stand that ask with the same constants.
    places: HashMap<Constants, Vec<usize>>,
}

impl Asked {
    /// Those of some questions whose constants the graph knows. Asking teaches it nothing.
    pub(super) fn of(questions: &[&LiveQuery], dictionary: &Dictionary) -> Asked {
        let values: Vec<ValueRef<'_>> =
            questions.iter().flat_map(|query| query.constants()).map(Value::as_ref).collect();
        let mut codes = dictionary.find_all(values.into_iter()).into_iter();
        let of_question = questions.iter().map(|query| {
            (query.number(), codes.by_ref().take(query.constants().len()).collect::<Constants>())
        });
        let constants = of_question.filter(|(_, codes)| !codes.contains(&EMPTY)).collect();
        Asked { constants, dictionary: dictionary.number(), all: None }
    }

    /// The same as all questions of a list, in codes of this dictionary; none where it has others, or they are in another one.
    pub(super) fn of_all(
        self: &Arc<Asked>,
        list: &Arc<[Arc<LiveQuery>]>,
        dictionary: &Dictionary,
    ) -> Option<Arc<Asked>> {
        if self.dictionary != dictionary.number() || self.constants.len() != list.len() {
            return None;
        }
        if self.all(list).is_some() {
            return Some(Arc::clone(self));
        }
        let mut places = HashMap::<Constants, Vec<usize>>::new();
        for (place, query) in list.iter().enumerate() {
            places.entry(self.constants.get(&query.number())?.clone()).or_default().push(place);
        }
        let all = Some(All { list: Arc::downgrade(list), places });
        Some(Arc::new(Asked { constants: self.constants.clone(), dictionary: self.dictionary, all }))
    }

    /// Where those of a list stand that ask with some of these constants; none where the list is another one.
    pub(super) fn places_of<'c>(
        &self,
        list: &Arc<[Arc<LiveQuery>]>,
        constants: impl Iterator<Item = &'c Constants>,
    ) -> Option<BTreeSet<usize>> {
        let places = &self.all(list)?.places;
        Some(constants.filter_map(|constants| places.get(constants)).flatten().copied().collect())
    }

    fn all(&self, list: &Arc<[Arc<LiveQuery>]>) -> Option<&All> {
        self.all.as_ref().filter(|all| std::ptr::addr_eq(all.list.as_ptr(), Arc::as_ptr(list)))
    }
}
