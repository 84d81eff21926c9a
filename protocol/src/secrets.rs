//! Passwords in programs: `.user create NAME PASSWORD ROLE` and `.user password NAME PASSWORD` are shown and kept
//! nowhere.

use std::ops::Range;

/// True when `program` holds a command with a password in it.
pub fn tells_a_secret(program: &str) -> bool {
    !commands(program).is_empty()
}

/// The same text with stars in place of everything after the user's name. All places in it stay what they are.
pub fn masked(program: &str) -> String {
    let mut shown = String::with_capacity(program.len());
    let mut secret = commands(program).into_iter().flat_map(|command| command.into_iter().skip(1)).peekable();
    for (at, c) in program.char_indices() {
        while secret.next_if(|word| word.end <= at).is_some() {}
        match secret.peek() {
            Some(word) if word.contains(&at) => shown.extend(std::iter::repeat_n('*', c.len_utf8())),
            Some(_) | None => shown.push(c),
        }
    }
    shown
}

/// Of each command with a password, the words after the first two: the name, and what follows in the same statement.
fn commands(program: &str) -> Vec<Vec<Range<usize>>> {
    let words = words(program);
    let is = |word: &Range<usize>, names: &[&str]| {
        let word = program[word.clone()].to_lowercase();
        names.iter().any(|name| word == *name || *name == ".user" && word.ends_with(name))
    };
    let starts = (1..words.len())
        .filter(|at| is(&words[at - 1], &[".user"]) && is(&words[*at], &["create", "password"]));
    let rest = |start: usize| {
        let mut end = start + 1;
        // A line that begins with a blank goes on with the statement.
        while end < words.len() && (end == start + 1 || !begins_statement(program, &words[end])) {
            end += 1;
        }
        words[start + 1..end].to_vec()
    };
    starts.map(rest).collect()
}

fn begins_statement(program: &str, word: &Range<usize>) -> bool {
    word.start == 0 || program[..word.start].ends_with('\n')
}

fn words(text: &str) -> Vec<Range<usize>> {
    let start = text.as_ptr() as usize;
    let place = |word: &str| {
        let at = word.as_ptr() as usize - start;
        at..at + word.len()
    };
    text.split_whitespace().map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::{masked, tells_a_secret};

    #[test]
    fn passwords_are_recognised() {
        assert!(tells_a_secret(".user create ada s3cret editor"));
        assert!(tells_a_secret("?a(X)\n  .USER   Password ada s3cret"));
        assert!(tells_a_secret("/**/.user\n  create ada s3cret editor"));
        assert!(!tells_a_secret(".user list"));
        assert!(!tells_a_secret("+user(\"create\")"));
    }

    #[test]
    fn what_follows_the_name_is_masked_byte_for_byte() {
        for (program, shown) in [
            (".user create ada s3cret king", ".user create ada ****** ****"),
            ("?a(X)\n.USER password ada é\n?b(Y)", "?a(X)\n.USER password ada **\n?b(Y)"),
            (".user create\n  ada pw\n  king\n+a(1)", ".user create\n  ada **\n  ****\n+a(1)"),
            (".user password", ".user password"),
            (".user role ada king", ".user role ada king"),
            (".user password a b\n.user password c d", ".user password a *\n.user password c *"),
        ] {
            assert_eq!(masked(program), shown);
            assert_eq!(masked(program).len(), program.len());
        }
    }
}
