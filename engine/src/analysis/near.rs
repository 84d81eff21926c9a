//! Names that may have been meant.

/// Longer names are not compared: the time grows with the square of the length.
const LONGEST: usize = 100;

/// At most three of the candidates that look like `name`, the most similar first.
pub(crate) fn near_names<'c>(name: &str, candidates: impl Iterator<Item = &'c str>) -> Vec<String> {
    if name.len() > LONGEST {
        return Vec::new();
    }
    let lower = name.to_lowercase();
    let mut near: Vec<(usize, &str)> = candidates
        .filter(|candidate| candidate.len().abs_diff(name.len()) <= 4)
        .filter_map(|candidate| {
            let distance = strsim::damerau_levenshtein(&lower, &candidate.to_lowercase());
            let length = name.chars().count();
            (distance < length && distance <= length.max(3) / 3).then_some((distance, candidate))
        })
        .collect();
    near.sort_unstable();
    near.dedup();
    near.into_iter().take(3).map(|(_, candidate)| candidate.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::near_names;

    #[test]
    fn similar_names_are_found_and_others_are_not() {
        let known = ["edge", "edges", "Edge", "node", "person"];
        assert_eq!(near_names("egde", known.into_iter()), ["Edge", "edge"]);
        assert_eq!(near_names("persons", known.into_iter()), ["person"]);
        assert_eq!(near_names("x", known.into_iter()), [""; 0]);
    }
}
