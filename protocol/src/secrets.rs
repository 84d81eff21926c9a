//! Passwords in programs: `.user create NAME PASSWORD ROLE` and `.user password NAME PASSWORD` are shown and kept
//! nowhere.
//!
//! A command is looked for wherever its first word stands, be that in a string or a comment: hiding too much does no harm.
//! From there on, words, comments and lines are told apart as the server does.

use std::ops::Range;

/// True when `program` holds a command with a password in it.
pub fn tells_a_secret(program: &str) -> bool {
    !secrets(program).is_empty()
}

/// The same text with stars in place of everything after the user's name. All places in it stay what they are.
pub fn masked(program: &str) -> String {
    let mut shown = String::with_capacity(program.len());
    let mut secrets = secrets(program).into_iter().peekable();
    for (at, c) in program.char_indices() {
        while secrets.next_if(|secret| secret.end <= at).is_some() {}
        match secrets.peek() {
            Some(secret) if secret.contains(&at) && !c.is_whitespace() => {
                shown.extend(std::iter::repeat_n('*', c.len_utf8()));
            }
            Some(_) | None => shown.push(c),
        }
    }
    shown
}

/// Of each command with a password, what follows the user's name in the same statement. A password that stands alone is
/// the user's own.
fn secrets(program: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    for (dot, _) in program.match_indices('.') {
        let start = dot + ".user".len();
        let is_user = program.get(dot + 1..start).is_some_and(|word| word.eq_ignore_ascii_case("user"));
        if !is_user || program[start..].starts_with(|c: char| !c.is_whitespace()) {
            continue;
        }
        let (words, end) = words(program, start);
        let is =
            |name: &str| words.first().is_some_and(|word| program[word.clone()].eq_ignore_ascii_case(name));
        if let (true, [_, own]) = (is("password"), words.as_slice()) {
            found.push(own.start..end);
        } else if is("create") || is("password") {
            found.push(words.get(1).map_or(end, |name| name.end)..end);
        }
    }
    found
}

/// The words from `at` to the end of the statement, without comments; and that end.
fn words(text: &str, mut at: usize) -> (Vec<Range<usize>>, usize) {
    let mut words: Vec<Range<usize>> = Vec::new();
    while let Some(c) = text[at..].chars().next() {
        let rest = &text[at..];
        if c == '\n' {
            match next_line(text, at + 1, &words) {
                Some(line) => at = line,
                None => break,
            }
        } else if c.is_whitespace() {
            at += c.len_utf8();
        } else if rest.starts_with("//") {
            at += rest.find('\n').unwrap_or(rest.len());
        } else if let Some(length) = comment(rest) {
            at += length;
        } else {
            let end = at + rest.find(char::is_whitespace).unwrap_or(rest.len());
            words.push(at..end);
            at = end;
        }
    }
    (words, at)
}

/// The line that a statement goes on with, past those that say nothing: one that begins with a blank, or any after an open
/// bracket, `,` or `<-`.
fn next_line(text: &str, mut at: usize, words: &[Range<usize>]) -> Option<usize> {
    let count = |brackets: [char; 2]| {
        let in_word = |word: &Range<usize>| text[word.clone()].matches(brackets).count();
        words.iter().map(in_word).sum::<usize>()
    };
    let last = words.last().map_or("", |word| &text[word.clone()]);
    let open = last.ends_with(',') || last.ends_with("<-") || count(['(', '[']) > count([')', ']']);
    while at < text.len() {
        let line = text[at..].split('\n').next().unwrap_or("");
        let content = line.trim_start();
        if !(content.is_empty() || content.starts_with("//") || content.starts_with('%')) {
            let goes_on = line.starts_with([' ', '\t']) || open && !line.starts_with(['?', '.', '+', '-']);
            return goes_on.then_some(at);
        }
        at += line.len() + 1;
    }
    None
}

/// How long the comment is that stands here; comments nest.
fn comment(text: &str) -> Option<usize> {
    let mut at = text.starts_with("/*").then_some(2)?;
    let mut depth = 1_usize;
    while depth > 0 {
        let mark = at + text[at..].find("/*").into_iter().chain(text[at..].find("*/")).min()?;
        if text[mark..].starts_with("/*") {
            depth += 1;
        } else {
            depth -= 1;
        }
        at = mark + 2;
    }
    Some(at)
}

#[cfg(test)]
mod tests {
    use super::{masked, tells_a_secret};

    #[test]
    fn passwords_are_recognised() {
        assert!(tells_a_secret(".user create ada s3cret editor"));
        assert!(tells_a_secret("?a(X)\n  .USER   Password ada s3cret"));
        assert!(tells_a_secret("/**/.user\n  create ada s3cret editor"));
        assert!(tells_a_secret(".user /* */ create ada s3cret editor"));
        assert!(tells_a_secret(".user // who\n  create // what\n  ada s3cret editor"));
        assert!(tells_a_secret(".user /* a /* nested */ one */\n\tcreate ada s3cret editor"));
        assert!(tells_a_secret("?p(\"a /* b\")\n.user /**/ create ada s3cret editor\n?q(\"*/\")"));
        assert!(tells_a_secret(".user\n// at the margin\n% as well\n\n create ada s3cret editor"));
        assert!(!tells_a_secret(".user list"));
        assert!(!tells_a_secret(".user\ncreate(\"ada\")"));
        assert!(!tells_a_secret("+user(\"create\")"));
    }

    #[test]
    fn what_follows_the_name_is_masked_byte_for_byte() {
        for (program, shown) in [
            (".user create ada s3cret king", ".user create ada ****** ****"),
            ("?a(X)\n.USER password ada é\n?b(Y)", "?a(X)\n.USER password ada **\n?b(Y)"),
            (".user create\n  ada pw\n  king\n+a(1)", ".user create\n  ada **\n  ****\n+a(1)"),
            (".user password", ".user password"),
            (".user password s3cret", ".user password ******"),
            (".USER\n  Password s3cret // mine\n?a(X)", ".USER\n  Password ****** ** ****\n?a(X)"),
            (".user role ada king", ".user role ada king"),
            (
                ".user /* x */ create /* y */ ada pw // ok\n king",
                ".user /* x */ create /* y */ ada ** ** **\n ****",
            ),
            (".user create ada /*pw king", ".user create ada **** ****"),
            (".user create a(b,\npw king\n?a(X)", ".user create a(b,\n** ****\n?a(X)"),
            (".user password a b\n.user password c d", ".user password a *\n.user password c *"),
        ] {
            assert_eq!(masked(program), shown);
            assert_eq!(masked(program).len(), program.len());
        }
    }
}
