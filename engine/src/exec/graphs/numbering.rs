//! Dense numbers for the values that a recursion is about.

use crate::budget::{Budget, BudgetError, Held};
use crate::data::keys::KeyNumbers;
use crate::data::{Code, bounds, dense_range, parallel};

/// Numbers 0 to n for codes, in the order of codes: values that came together lie together.
pub(crate) struct Numbering<'b> {
    codes: Vec<Code>,
    numbers: Numbers,
    held: Held<'b>,
}

/// Bytes of a code that is found by its hash.
const HASHED_BYTES: usize = size_of::<Code>() + 4 * size_of::<u64>();

enum Numbers {
    /// By position, from the first code on.
    Dense {
        first: Code,
        numbers: Vec<u32>,
    },
    Hashed(KeyNumbers<u64>),
}

impl Numbers {
    /// Of codes in their order.
    fn hashed(codes: &[Code]) -> Numbers {
        let mut numbers = KeyNumbers::default();
        codes.iter().for_each(|code| {
            numbers.number(u64::from(*code));
        });
        Numbers::Hashed(numbers)
    }
}

impl<'b> Numbering<'b> {
    /// A number for each code in these columns.
    pub(crate) fn new(columns: &[&[Code]], budget: &'b Budget) -> Result<Numbering<'b>, BudgetError> {
        let all = || columns.iter().copied().flatten();
        let total: usize = columns.iter().map(|column| column.len()).sum();
        if let Some((first, range)) = dense_range(columns.iter().map(|column| bounds(column)), total) {
            let held = budget.hold(2 * range * size_of::<u32>())?;
            let mut numbers = vec![0; range];
            all().for_each(|code| numbers[(code - first) as usize] = 1);
            let mut codes = Vec::new();
            for (offset, number) in numbers.iter_mut().enumerate() {
                if *number == 1 {
                    *number = codes.len() as u32;
                    codes.push(first + offset as Code);
                }
            }
            return Ok(Numbering { codes, numbers: Numbers::Dense { first, numbers }, held });
        }
        let _sorted = budget.hold(2 * total * size_of::<Code>())?;
        let codes = all().copied().collect();
        let mut codes: Vec<Code> = budget.watch(|go_on| parallel::sort_stable_by(codes, go_on, Code::cmp))?;
        codes.dedup();
        let held = budget.hold(codes.len() * HASHED_BYTES)?;
        Ok(Numbering { numbers: Numbers::hashed(&codes), codes, held })
    }

    /// Numbers for those codes that have none yet, after all others.
    pub(crate) fn extend(&mut self, codes: &[Code]) -> Result<(), BudgetError> {
        for code in codes.iter().copied() {
            if self.find(code).is_some() {
                continue;
            }
            let number = self.codes.len() as u32;
            if let Numbers::Dense { first, numbers } = &mut self.numbers {
                match code.checked_sub(*first).and_then(|offset| numbers.get_mut(offset as usize)) {
                    Some(place) => *place = number,
                    None => {
                        self.held.add(self.codes.len() * HASHED_BYTES)?;
                        self.numbers = Numbers::hashed(&self.codes);
                    }
                }
            }
            self.codes.push(code);
            if let Numbers::Hashed(numbers) = &mut self.numbers {
                self.held.add(HASHED_BYTES)?;
                numbers.number(u64::from(code));
            }
        }
        Ok(())
    }

    /// How many numbers there are.
    pub(crate) fn len(&self) -> usize {
        self.codes.len()
    }

    /// The code of each number.
    pub(crate) fn codes(&self) -> &[Code] {
        &self.codes
    }

    /// Gives each number another place. Codes are not found any more until [`Numbering::renumber`].
    pub(crate) fn reorder(&mut self, places: &[u32]) {
        let mut codes = vec![0; self.codes.len()];
        for (code, place) in self.codes.iter().zip(places) {
            codes[*place as usize] = *code;
        }
        self.codes = codes;
    }

    /// Finds codes again after they were given other places.
    pub(crate) fn renumber(&mut self) {
        match &mut self.numbers {
            Numbers::Dense { first, numbers } => {
                let places = self.codes.iter().enumerate();
                places.for_each(|(number, code)| numbers[(code - *first) as usize] = number as u32);
            }
            Numbers::Hashed(_) => self.numbers = Numbers::hashed(&self.codes),
        }
    }

    /// The numbers of codes that are in the domain.
    pub(crate) fn numbers(&self, codes: &[Code]) -> Vec<u32> {
        codes.iter().map(|code| self.number(*code)).collect()
    }

    /// The number of a code, if it is in the domain.
    pub(crate) fn find(&self, code: Code) -> Option<u32> {
        match &self.numbers {
            Numbers::Dense { first, numbers } => {
                let number = *numbers.get(code.checked_sub(*first)? as usize)?;
                // What is not in the domain has the first number.
                (self.codes.get(number as usize) == Some(&code)).then_some(number)
            }
            Numbers::Hashed(numbers) => numbers.get(&u64::from(code)).copied(),
        }
    }

    /// The number of a code that is in the domain.
    #[inline]
    pub(crate) fn number(&self, code: Code) -> u32 {
        match &self.numbers {
            Numbers::Dense { first, numbers } => numbers[(code - first) as usize],
            Numbers::Hashed(numbers) => numbers.get(&u64::from(code)).copied().unwrap_or_default(),
        }
    }
}
