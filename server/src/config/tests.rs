//! What a configuration says, and which ones are refused.

use std::time::Duration;

use super::{Config, ConfigError};

fn from_toml(text: &str) -> Result<Config, ConfigError> {
    let mut config = Config::default();
    config.merge_toml(text)?;
    Ok(config)
}

fn refusal(text: &str) -> String {
    from_toml(text).unwrap_err().to_string()
}

fn variables(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

#[test]
fn defaults_are_those_of_the_interface() {
    let config = Config::default();
    assert!(config.enabled);
    assert_eq!((config.host.as_str(), config.port), ("127.0.0.1", 8080));
    assert_eq!(config.limits.query_timeout, Duration::from_secs(30));
    assert_eq!(config.limits.message_bytes, 64 * 1024 * 1024);
    assert_eq!(config.limits.messages_per_second, 10_000);
}

#[test]
fn a_file_sets_what_it_names_and_nothing_else() {
    let config = from_toml(
        "[http]\nenabled = true\nport = 9000\n[http.auth]\nbootstrap_admin_password = \"pw\"\n\
         [limits]\nquery_timeout_ms = 250\n[storage]\ndata_dir = \"/x\"",
    )
    .unwrap();
    assert_eq!((config.host.as_str(), config.port), ("127.0.0.1", 9000));
    assert_eq!(config.admin_password.unwrap().expose(), "pw");
    assert_eq!(config.limits.query_timeout, Duration::from_millis(250));
    assert_eq!(config.data_dir.to_str(), Some("/x"));
}

#[test]
fn an_unknown_key_is_refused_with_the_nearest_name() {
    assert_eq!(
        refusal("[http]\nprot = 1"),
        "unknown configuration key `http.prot`; did you mean `http.port`?"
    );
    assert_eq!(refusal("port = 1"), "unknown configuration key `port`; did you mean `http.port`?");
    assert_eq!(refusal("[zzz]\nqqq = 1"), "unknown configuration key `zzz`");
    assert_eq!(refusal("[http.gui]\nx = 1"), "unknown configuration key `http.gui`");
}

#[test]
fn a_value_of_the_wrong_type_is_refused_with_its_key() {
    assert_eq!(
        refusal("[http]\nport = \"80\""),
        "configuration key `http.port`: expected a whole number, found string"
    );
    assert_eq!(refusal("[http]\nport = 70000"), "configuration key `http.port`: 70000 is out of range");
    assert_eq!(
        refusal("[http]\nenabled = 1"),
        "configuration key `http.enabled`: expected true or false, found integer"
    );
    assert!(refusal("[logging]\nlevel = \"loud\"").contains("expected one of error, warn, info"));
    assert!(refusal("http = 3").contains("unknown configuration key `http`"));
    assert!(refusal("[http\n").starts_with("the configuration is not valid TOML: line 1: "));
}

#[test]
fn the_environment_wins_over_the_file() {
    let mut config =
        from_toml("[http]\nport = 9000\n[http.auth]\nbootstrap_admin_password = \"file\"").unwrap();
    config
        .merge_environment(variables(&[
            ("SERVICE_HTTP__PORT", "9001"),
            ("SERVICE_ADMIN_PASSWORD", "environment"),
            ("SERVICE_API_KEY", "the client's"),
            ("HOME", "/root"),
        ]))
        .unwrap();
    assert_eq!(config.port, 9001);
    assert_eq!(config.admin_password.unwrap().expose(), "environment");
}

#[test]
fn an_unknown_variable_is_refused_with_the_nearest_name() {
    for (name, nearest) in [
        ("SERVICE_HTTP__HOSTT", Some("SERVICE_HTTP__HOST")),
        ("SERVICE_HTTP_PORT", Some("SERVICE_HTTP__PORT")),
        ("SERVICE_ADMIN_PASWORD", Some("SERVICE_ADMIN_PASSWORD")),
        ("SERVICE_Q", None),
    ] {
        assert_eq!(
            Config::default().merge_environment(variables(&[(name, "x")])),
            Err(ConfigError::UnknownVariable { name: name.to_owned(), nearest: nearest.map(str::to_owned) })
        );
    }
}

#[test]
fn each_value_is_described_with_its_source_and_can_be_read_again() {
    let mut config = from_toml("[http]\nport = 9000\nhost = \"::1\"").unwrap();
    config
        .merge_environment(variables(&[("SERVICE_HTTP__PORT", "9001"), ("SERVICE_ADMIN_PASSWORD", "hush")]))
        .unwrap();
    config.merge_flags([("storage.data_dir", "/x".to_owned())]).unwrap();
    let text = config.describe();
    let line = |key: &str| {
        let line = text.lines().find(|line| line.starts_with(key)).unwrap();
        line.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(line("http.port"), "http.port = 9001 # environment");
    assert_eq!(line("http.host"), "http.host = \"::1\" # file");
    assert_eq!(line("storage.data_dir"), "storage.data_dir = \"/x\" # flag");
    assert_eq!(line("logging.format"), "logging.format = \"text\" # default");
    assert_eq!(line("http.auth.boot"), "http.auth.bootstrap_admin_password = \"******\" # environment");
    assert!(!text.contains("hush"));
    let again = from_toml(&text).unwrap();
    assert_eq!((again.port, again.host.as_str()), (9001, "::1"));
    assert!(Config::default().describe().contains("# http.auth.bootstrap_admin_password is not set"));
    from_toml(&Config::default().describe()).unwrap();
}

#[test]
fn the_password_does_not_show() {
    let config = from_toml("[http.auth]\nbootstrap_admin_password = \"hush\"").unwrap();
    assert!(!format!("{config:?}").contains("hush"));
    assert!(!refusal("[http.auth]\nbootstrap_admin_password = \"hush").contains("hush"));
}
