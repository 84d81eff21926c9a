//! Plain requests.

use serde_json::Value as Json;
use stratalog_tests::server::Server;

#[test]
fn probes_answer_at_the_root_and_below_v1() {
    let server = Server::start();
    for prefix in ["", "/v1"] {
        let (status, head, body) = server.get(&format!("{prefix}/health"));
        assert_eq!(status, 200);
        assert!(head.contains("x-api-version: v"), "{head}");
        assert!(head.contains("content-type: application/json"), "{head}");
        let health: Json = serde_json::from_str(&body).expect("the body is JSON");
        assert_eq!(health["success"], true);
        assert_eq!(health["data"]["status"], "healthy");
        assert!(health["data"]["version"].is_string());
        assert!(health["data"]["uptime_secs"].is_u64());
        for probe in ["/live", "/ready"] {
            let (status, _, body) = server.get(&format!("{prefix}{probe}"));
            assert_eq!((status, body.as_str()), (200, ""), "{prefix}{probe}");
        }
    }
    let (status, head, body) = server.get("/nothing");
    assert!(head.contains("x-api-version: v"), "{head}");
    assert!(status == 401 || status == 404, "{status}");
    assert!(!body.contains("\"success\":true"), "{body}");
}

#[tokio::test]
async fn a_plain_request_to_the_socket_is_refused() {
    let server = Server::start();
    let (status, _, _) = server.get("/ws");
    assert_eq!(status, 400);
}
