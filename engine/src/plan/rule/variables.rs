//! What is known of a rule's variables, by their numbers, which are dense and few.

use crate::data::VariableId;

/// A value for some of the variables.
#[derive(Debug)]
pub(super) struct VariableMap<T>(Vec<Option<T>>);

impl<T> VariableMap<T> {
    /// Without any of so many variables.
    pub(super) fn of(variables: usize) -> VariableMap<T> {
        VariableMap(std::iter::repeat_with(|| None).take(variables).collect())
    }

    pub(super) fn get(&self, variable: VariableId) -> Option<&T> {
        self.0.get(variable.index())?.as_ref()
    }

    pub(super) fn get_mut(&mut self, variable: VariableId) -> Option<&mut T> {
        self.0.get_mut(variable.index())?.as_mut()
    }

    pub(super) fn contains(&self, variable: VariableId) -> bool {
        self.get(variable).is_some()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.iter().all(Option::is_none)
    }

    pub(super) fn insert(&mut self, variable: VariableId, value: T) {
        *self.place(variable) = Some(value);
    }

    /// The value of a variable; `value` if it had none.
    pub(super) fn get_or_insert(&mut self, variable: VariableId, value: T) -> &mut T {
        self.place(variable).get_or_insert(value)
    }

    pub(super) fn remove(&mut self, variable: VariableId) {
        *self.place(variable) = None;
    }

    fn place(&mut self, variable: VariableId) -> &mut Option<T> {
        if self.0.len() <= variable.index() {
            self.0.resize_with(variable.index() + 1, || None);
        }
        &mut self.0[variable.index()]
    }
}

/// Some of the variables.
#[derive(Debug, Default)]
pub(super) struct VariableSet(Vec<bool>);

impl VariableSet {
    pub(super) fn contains(&self, variable: VariableId) -> bool {
        self.0.get(variable.index()).is_some_and(|there| *there)
    }

    pub(super) fn insert(&mut self, variable: VariableId) {
        if self.0.len() <= variable.index() {
            self.0.resize(variable.index() + 1, false);
        }
        self.0[variable.index()] = true;
    }

    /// Those that both have, in ascending order.
    pub(super) fn common(&self, other: &VariableSet) -> Vec<VariableId> {
        let both = self.0.iter().zip(&other.0).enumerate();
        both.filter(|(_, (own, other))| **own && **other).map(|(index, _)| VariableId::new(index)).collect()
    }
}

impl Extend<VariableId> for VariableSet {
    fn extend<I: IntoIterator<Item = VariableId>>(&mut self, variables: I) {
        variables.into_iter().for_each(|variable| self.insert(variable));
    }
}
