//! Every file operation of every change of graphs and accounts fails once: what the answer says is so, now and after a
//! restart.

use stratalog_tests::power_loss::{PowerLoss, Unsynced};

use super::model::{Change, State};
use super::server::{DATA, Server};
use crate::auth::{Level, Role};

/// How a fault is set.
type Fault = fn(&PowerLoss, u64);

fn prepared() -> (PowerLoss, State) {
    let medium = PowerLoss::default();
    let server = Server::start(&medium, DATA, None).unwrap();
    let mut state = State::new();
    let ada = "ada".to_owned();
    for (change, by) in [
        (Change::CreateUser { user: "ada", role: Role::Editor }, "admin"),
        (Change::CreateUser { user: "bob", role: Role::Viewer }, "admin"),
        (Change::CreateGraph { graph: "lab", owner: ada.clone() }, "ada"),
        (Change::CreateGraph { graph: "sea", owner: ada }, "ada"),
        (Change::Grant { graph: "lab", user: "bob".to_owned(), level: Level::Viewer }, "admin"),
        (Change::Facts { graph: "lab", insert: true, facts: vec![("f", 1)] }, "ada"),
    ] {
        server.change(&change, by).unwrap();
        state.apply(&change);
    }
    drop(server);
    medium.restart(Unsynced::Lost);
    (medium, state)
}

fn with_each_call_failing(fault: Fault) {
    let (medium, before) = prepared();
    let bob = || "bob".to_owned();
    for (change, by) in [
        (Change::DropGraph { graph: "lab" }, "ada"),
        (Change::CreateGraph { graph: "atlas", owner: "ada".to_owned() }, "ada"),
        (Change::SetRole { user: bob(), role: Role::Admin }, "admin"),
        (Change::DropUser { user: bob() }, "admin"),
        (Change::CreateUser { user: "eve", role: Role::Editor }, "admin"),
        (Change::Grant { graph: "lab", user: bob(), level: Level::Owner }, "ada"),
        (Change::Revoke { graph: "lab", user: bob() }, "ada"),
    ] {
        for call in 0..200 {
            let medium = medium.copy();
            let server = Server::start(&medium, DATA, None).unwrap();
            fault(&medium, call);
            let answer = server.change(&change, by);
            let has_failed = medium.has_failed();
            let what = format!("{change:?}, call {call}: {answer:?}");
            let mut expected = before.clone();
            match &answer {
                Ok(()) => expected.apply(&change),
                Err(error) => assert!(
                    matches!(error.code().as_str(), "storage_unavailable" | "outcome_unknown"),
                    "{what}"
                ),
            }
            assert_eq!(server.state().unwrap(), expected, "{what}");
            // Another graph goes, and what is left takes facts and keeps them.
            fault(&medium, u64::MAX);
            for next in [
                Change::DropGraph { graph: "sea" },
                Change::Facts { graph: "lab", insert: true, facts: vec![("g", 7)] },
            ] {
                if next.graph().is_none_or(|graph| expected.graphs.contains_key(graph)) {
                    server.change(&next, "admin").unwrap_or_else(|error| panic!("{what}: then {error}"));
                    expected.apply(&next);
                }
            }
            drop(server);
            for unsynced in [Unsynced::Lost, Unsynced::Kept, Unsynced::Mixed] {
                let medium = medium.clone();
                medium.restart(unsynced);
                let server = Server::start(&medium, DATA, None).unwrap();
                assert_eq!(server.state().unwrap(), expected, "{what}, {unsynced:?}");
                server.check_rights(&expected, &what);
            }
            if !has_failed {
                assert!(call > 0, "{change:?} asks the disk for nothing");
                break;
            }
        }
    }
}

#[test]
fn what_is_refused_did_not_happen_whichever_call_fails() {
    with_each_call_failing(PowerLoss::fail_once_after);
}

#[test]
fn what_is_refused_did_not_happen_whichever_sync_fails() {
    with_each_call_failing(PowerLoss::fail_sync_after);
}

#[test]
fn nothing_is_acknowledged_in_a_graph_of_which_nobody_knows_whether_it_is_dropped() {
    for unsynced in [Unsynced::Lost, Unsynced::Kept, Unsynced::Mixed] {
        let (medium, before) = prepared();
        let server = Server::start(&medium, DATA, None).unwrap();
        medium.make_sick(true);
        let drop_lab = Change::DropGraph { graph: "lab" };
        assert_eq!(server.change(&drop_lab, "ada").unwrap_err().code().as_str(), "outcome_unknown");
        let fact = Change::Facts { graph: "lab", insert: true, facts: vec![("f", 2)] };
        for graph in ["lab", "default"] {
            let error = server.run("ada", graph, "+f(2)").unwrap_err();
            assert_eq!(error.code().as_str(), "storage_unavailable", "{error}");
            assert!(error.to_string().contains("/data/system.redb"), "{error}");
        }
        assert_eq!(server.engine.unwritable(), ["*"]);
        // Reads go on.
        assert_eq!(server.state().unwrap(), before);
        let with_and_without = before.with_any_of(std::slice::from_ref(&drop_lab));
        let ended = medium.copy();
        ended.restart(unsynced);
        let found = Server::start(&ended, DATA, None).unwrap().state().unwrap();
        assert!(with_and_without.contains(&found), "{unsynced:?}: {found:?}");
        // The disk is well again: so is the server, by itself.
        medium.make_sick(false);
        server.change(&fact, "ada").unwrap();
        assert!(server.engine.unwritable().is_empty());
        let mut expected = before;
        expected.apply(&fact);
        drop(server);
        medium.restart(unsynced);
        assert_eq!(Server::start(&medium, DATA, None).unwrap().state().unwrap(), expected, "{unsynced:?}");
    }
}
