//! What stands behind standard output and standard error: colours, width, and whether anybody looks.

use std::io::{IsTerminal, stderr, stdin, stdout};

/// When colours are used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ColourChoice {
    /// On a terminal, unless the environment says otherwise
    #[default]
    Auto,
    /// Everywhere
    Always,
    /// Nowhere
    Never,
}

/// True when a person can type.
pub(crate) fn can_ask() -> bool {
    stdin().is_terminal()
}

/// True when rows go to a person.
pub(crate) fn is_watched() -> bool {
    stdout().is_terminal()
}

/// How the terminal behaves.
#[cfg(unix)]
pub(crate) struct Modes(Option<(std::fs::File, rustix::termios::Termios)>);

#[cfg(unix)]
impl Modes {
    /// As it does now.
    pub(crate) fn remember() -> Modes {
        let terminal = std::fs::File::open("/dev/tty").ok();
        Modes(terminal.and_then(|tty| rustix::termios::tcgetattr(&tty).ok().map(|modes| (tty, modes))))
    }

    /// As it did then.
    pub(crate) fn restore(&self) {
        if let Some((tty, modes)) = &self.0 {
            let now = rustix::termios::OptionalActions::Now;
            let _ = rustix::termios::tcsetattr(tty, now, modes); // it may be gone
        }
    }
}

/// Elsewhere, a terminal recovers by itself.
#[cfg(not(unix))]
pub(crate) struct Modes;

#[cfg(not(unix))]
impl Modes {
    pub(crate) fn remember() -> Modes {
        Modes
    }

    pub(crate) fn restore(&self) {}
}

/// The columns that rows may take; `None` where there is no terminal.
pub(crate) fn output_width() -> Option<u16> {
    if stdout().is_terminal() { comfy_table::Table::new().width() } else { None }
}

/// Columns and rows of the terminal that rows go to; `None` where there is none.
pub(crate) fn output_size() -> Option<(u16, u16)> {
    if stdout().is_terminal() { crossterm::terminal::size().ok() } else { None }
}

/// True when rows go to a file, which nobody looks at meanwhile.
pub(crate) fn output_is_file() -> bool {
    #[cfg(unix)]
    {
        let stat = rustix::fs::fstat(stdout());
        stat.is_ok_and(|stat| rustix::fs::FileType::from_raw_mode(stat.st_mode).is_file())
    }
    #[cfg(not(unix))]
    {
        false
    }
}

/// The columns that errors may take; `None` where there is no terminal.
pub(crate) fn error_width() -> Option<u16> {
    if stderr().is_terminal() { comfy_table::Table::new().use_stderr().width() } else { None }
}

/// Whether errors and the prompt may be coloured.
pub(crate) fn colour(choice: ColourChoice) -> bool {
    match choice {
        ColourChoice::Auto => allows_colour(|name| std::env::var(name).ok(), stderr().is_terminal()),
        ColourChoice::Always => true,
        ColourChoice::Never => false,
    }
}

/// Whether somebody sees what goes to standard error.
pub(crate) fn is_followed() -> bool {
    stderr().is_terminal()
}

/// `NO_COLOR` forbids, `CLICOLOR_FORCE` demands, and else it takes a terminal that can.
fn allows_colour(variable: impl Fn(&str) -> Option<String>, is_terminal: bool) -> bool {
    let set = |name: &str| variable(name).is_some_and(|value| !value.is_empty());
    if set("NO_COLOR") {
        return false;
    }
    let forced = variable("CLICOLOR_FORCE").is_some_and(|value| !value.is_empty() && value != "0");
    forced || (is_terminal && variable("TERM").is_none_or(|terminal| terminal != "dumb"))
}

#[cfg(test)]
mod tests {
    use super::allows_colour;

    #[test]
    fn the_environment_decides_before_the_terminal_does() {
        let check = |set: &[(&str, &str)], is_terminal| {
            let find = |name: &str| set.iter().find(|(n, _)| *n == name).map(|(_, v)| (*v).to_owned());
            allows_colour(find, is_terminal)
        };
        assert!(check(&[], true));
        assert!(!check(&[], false));
        assert!(!check(&[("NO_COLOR", "1")], true));
        assert!(check(&[("NO_COLOR", "")], true));
        assert!(check(&[("CLICOLOR_FORCE", "1")], false));
        assert!(!check(&[("NO_COLOR", "1"), ("CLICOLOR_FORCE", "1")], true));
        assert!(!check(&[("TERM", "dumb")], true));
    }
}
