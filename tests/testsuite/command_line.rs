//! The program itself: what it prints where, and how it ends.

use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    path::Path,
    process::{Child, Command, Output},
};

use serde_json::Value;

use crate::support::{fixture, mcpress, request, stderr, stdout};

pub(crate) fn run(arguments: &[&str]) -> Output {
    mcpress(arguments).output().unwrap()
}

/// A running server and the addresses that it printed.
struct Running(Child, Vec<String>);

impl Running {
    fn start(arguments: &[&str]) -> Self {
        let mut child = mcpress(arguments).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.as_mut().unwrap()).lines();
        let site = fixture("site");
        let servers =
            fs::read_dir(site).unwrap().filter(|entry| entry.as_ref().unwrap().path().join("server.yaml").exists());
        let count = servers.count() + usize::from(arguments.contains(&"--metrics-listen"));
        let addresses = (0..count).map(|_| lines.next().unwrap().unwrap()).collect();
        Self(child, addresses)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn the_version_names_the_content() {
    let output = run(&["--version"]);
    let text = stdout(&output);
    let hash = text.strip_prefix(concat!("mcpress ", env!("CARGO_PKG_VERSION"), " (content ")).unwrap();
    let hash = hash.strip_suffix(")\n").unwrap();
    assert!(hash.len() == 64 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()), "{text}");
    assert!(output.status.success());
    // The tree that it was built from is found to be the same content, wherever it lies.
    let content = Path::new(env!("CARGO_MANIFEST_DIR")).join("content");
    assert_eq!(stdout(&run(&["check", content.to_str().unwrap()])), format!("content {hash}\n"));
}

#[test]
fn help_names_every_command_and_flag() {
    let output = run(&["--help"]);
    let first = "Serves the content that was compiled into it over the Model Context Protocol";
    assert_eq!(stdout(&output).lines().next().map(|line| line.trim_end_matches('.')), Some(first));
    assert_eq!(stdout(&run(&["-h"])).lines().next(), Some(first));
    for text in [
        "serve",
        "list",
        "read",
        "check",
        "diff",
        "import",
        "dev",
        "new",
        "schema",
        "--listen",
        "MCPRESS_LISTEN",
        "--allowed-hosts",
        "MCPRESS_ALLOWED_HOSTS",
        "--allowed-origins",
        "--trusted-proxies",
        "MCPRESS_TRUSTED_PROXIES",
        "MCPRESS_ALLOWED_ORIGINS",
        "--log-format",
        "--log-level",
        "--drain-delay",
        "--shutdown-timeout",
    ] {
        assert!(stdout(&output).contains(text), "{text}");
    }
}

#[test]
fn what_list_prints_can_be_read() {
    let listed = run(&["list", "--json"]);
    let servers: Value = serde_json::from_slice(&listed.stdout).unwrap();
    let plain = run(&["list"]);
    let mut count = 0;
    for server in servers.as_array().unwrap() {
        let slug = server["slug"].as_str().unwrap();
        for resource in server["resources"].as_array().unwrap() {
            let uri = resource["uri"].as_str().unwrap();
            assert!(stdout(&plain).contains(&format!("  {uri}\n")), "{uri}");
            if let Some(size) = resource.get("size") {
                let read = run(&["read", slug, uri]);
                assert!(read.status.success(), "{}", stderr(&read));
                assert_eq!(*size, read.stdout.len(), "{uri}");
                count += 1;
            }
        }
    }
    assert!(count > 0);
}

#[test]
fn what_does_not_exist_is_an_error_on_stderr() {
    for (arguments, message) in [
        (&["read", "docs", "docs://nope"][..], "error: Resource not found: docs://nope\n"),
        (&["read", "nope", "docs://nope"], "error: there is no server `nope`\n"),
        (&["list", "nope"], "error: there is no server `nope`\n"),
    ] {
        let output = run(arguments);
        assert_eq!((stdout(&output), stderr(&output), output.status.code()), ("", message, Some(1)));
    }
}

#[cfg(unix)]
#[test]
fn what_others_wrote_begins_no_line() {
    let tree = tempfile::tempdir().unwrap();
    let resources = tree.path().join("t/resources");
    fs::create_dir_all(&resources).unwrap();
    fs::write(tree.path().join("t/server.yaml"), "\"x\\n::error::key\": 1\n").unwrap();
    fs::write(resources.join("a.yaml"), "uri: \"s://x\\n::error::\\e[31mx\"\nstatic: {text: x}\n").unwrap();
    fs::write(resources.join("b\n::error::.yaml"), "uri: 1 2\nstatic: {}\n").unwrap();
    let tree = tree.path().to_str().unwrap();
    for arguments in [
        &["check", tree][..],
        &["read", "no\n::error::", "x:x"],
        &["read", "examples", "x:\n::error::"],
        &["new", "server", "no\n::error::", "--dir", tree],
    ] {
        let output = run(arguments);
        let text = stderr(&output);
        assert!(!output.status.success() && text.contains("\\n::error::"), "{text}");
        let ours = |line: &str| ["error: ", "warning: ", "  hint: "].iter().any(|start| line.starts_with(start));
        assert!(text.lines().all(ours) && !text.contains('\u{1b}'), "{text}");
    }
}

#[cfg(unix)]
#[test]
fn what_was_given_to_the_program_begins_no_line() {
    let evil = "x\n::error::\u{1b}[31m\u{202e}";
    for arguments in [
        &["--nope\n::error::\u{1b}[31m"][..],
        &["nope\n::error::\u{1b}[31m"],
        &["check", "a", evil],
        &["check", "--format", evil],
        &["--listen", evil],
        &["--allowed-hosts", &format!("a.example,{evil}")],
        &["schema", evil],
    ] {
        let output = run(arguments);
        let text = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert!(text.contains("\\n::error::\\u{1b}[31m"), "{text}");
        assert!(!text.lines().any(|line| line.starts_with("::")) && !text.contains(['\u{1b}', '\u{202e}']), "{text}");
    }
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join(evil);
    let dir = dir.to_str().unwrap();
    for arguments in [&["new", "server", "docs", "--dir", dir][..], &["schema", "--out", dir]] {
        let output = run(arguments);
        let text = stdout(&output);
        assert!(output.status.success() && text.contains("\\n::error::\\u{1b}[31m\\u{202e}/"), "{text}");
        assert!(!text.lines().any(|line| line.starts_with("::")) && !text.contains(['\u{1b}', '\u{202e}']), "{text}");
    }
}

#[test]
fn bad_usage_ends_with_2() {
    for arguments in [
        &["--nope"][..],
        &["read", "docs"],
        &["--listen", "nowhere"],
        &["--listen", "127.0.0.1:0", "--allowed-hosts", "https://a.example"],
        &["--listen", "127.0.0.1:0", "--allowed-origins", "a.example"],
        &["--max-body", "1 potato"],
        &["--drain-delay", "5"],
        &["--max-connections", "0"],
        &["dev", "nowhere"],
    ] {
        let output = run(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", stderr(&output));
        assert_eq!(stdout(&output), "");
        assert!(stderr(&output).starts_with("error: "), "{}", stderr(&output));
    }
}

#[test]
fn limits_that_make_no_sense_are_errors() {
    for (flag, value, message) in [
        ("--max-body", "0", "it must be larger than 0"),
        ("--max-body", "0MiB", "it must be larger than 0"),
        ("--max-body", "99999999999999999999", "it is too large"),
        ("--max-body", "99999999999999999MiB", "it is too large"),
        ("--max-connections", "99999999999999999999", "it is too large"),
        ("--max-connections", "many", "it must be a number"),
        ("--header-timeout", "0s", "it must be longer than 0"),
        ("--body-timeout", "0ms", "it must be longer than 0"),
        ("--write-timeout", "0s", "it must be longer than 0"),
        ("--body-timeout", "25h", "it is longer than `24h`"),
        ("--shutdown-timeout", "99999999999999999999s", "it is too large"),
        ("--drain-delay", "61m", "it is longer than `1h`"),
    ] {
        let output = run(&["--listen", "nowhere", flag, value]);
        assert_eq!(output.status.code(), Some(2), "{flag} {value}");
        assert!(stderr(&output).contains(message), "{flag} {value}: {}", stderr(&output));
    }
}

#[test]
fn listening_to_everybody_needs_allowed_hosts() {
    let output = run(&["--listen", "0.0.0.0:0"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("--allowed-hosts or MCPRESS_ALLOWED_HOSTS"), "{}", stderr(&output));
    let site = fixture("site");
    let running =
        Running::start(&["dev", site.to_str().unwrap(), "--listen", "0.0.0.0:0", "--allowed-hosts", "mcp.example"]);
    assert_eq!(running.1.len(), 3);
}

#[test]
fn flags_of_every_command_may_stand_before_it() {
    let expected = run(&["list"]);
    for arguments in [
        &["--log-level", "debug", "list"][..],
        &["--log-level=debug", "--log-format", "json", "list"],
        &["list", "--log-level", "debug"],
    ] {
        let output = run(arguments);
        assert_eq!((stderr(&output), stdout(&output)), ("", stdout(&expected)), "{arguments:?}");
    }
    // Those of `serve` may not.
    assert_eq!(run(&["--max-body", "1MiB", "list"]).status.code(), Some(2));
    assert!(stdout(&run(&["--log-level", "debug", "--help"])).contains("--listen"));
}

#[test]
fn only_serving_reads_the_environment_of_serving() {
    let with = |arguments: &[&str], variables: &[(&str, &str)]| {
        mcpress(arguments).envs(variables.iter().copied()).output().unwrap()
    };
    let bad = [("MCPRESS_MAX_BODY", "potato"), ("MCPRESS_DRAIN_DELAY", "5"), ("MCPRESS_MAX_CONNECTIONS", "0")];
    let site = fixture("site");
    for arguments in [&["list"][..], &["read", "docs", "docs://reference/http"], &["check", site.to_str().unwrap()]] {
        let output = with(arguments, &bad);
        assert!(output.status.success(), "{arguments:?}: {}", stderr(&output));
    }
    for arguments in [&[][..], &["serve"], &["dev", site.to_str().unwrap()]] {
        let output = with(arguments, &bad);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    }
    // What is set to nothing is not set: this fails for want of an address only.
    let names = ["MAX_BODY", "DRAIN_DELAY", "MAX_CONNECTIONS", "LOG_LEVEL", "LOG_FORMAT", "CA_FILE", "PROXY"];
    let names = names.map(|name| format!("MCPRESS_{name}"));
    let empty: Vec<_> = names.iter().map(|name| (name.as_str(), "")).collect();
    let output = with(&["--listen", "nowhere"], &empty);
    assert!(stderr(&output).starts_with("error: cannot listen on `nowhere`"), "{}", stderr(&output));
}

#[test]
fn check_says_what_is_wrong() {
    let tree = tempfile::tempdir().unwrap();
    let check = |arguments: &[&str], deny: bool| {
        let mut command = mcpress(&["check"]);
        command.arg(tree.path()).args(arguments);
        if deny {
            command.env("MCPRESS_DENY_WARNINGS", "1");
        }
        command.output().unwrap()
    };
    fs::create_dir_all(tree.path().join("docs")).unwrap();
    fs::write(tree.path().join("docs/server.yaml"), "").unwrap();
    let warned = check(&[], false);
    assert!(warned.status.success());
    assert!(stderr(&warned).starts_with("warning: "), "{}", stderr(&warned));
    assert_eq!(check(&[], true).status.code(), Some(1));

    fs::write(tree.path().join("docs/server.yaml"), "titel: Docs\n").unwrap();
    let failed = check(&[], false);
    assert_eq!(failed.status.code(), Some(1));
    assert!(stderr(&failed).contains("server.yaml:1:1: titel: "), "{}", stderr(&failed));
    let failed = check(&["--format", "json"], false);
    let diagnostics: Value = serde_json::from_slice(&failed.stdout).unwrap();
    assert_eq!((failed.status.code(), stderr(&failed)), (Some(1), ""));
    let diagnostics = diagnostics.as_array().unwrap();
    assert!(diagnostics.iter().any(|found| found["field"] == "titel" && found["severity"] == "error"));

    fs::write(tree.path().join("docs/server.yaml"), "title: Docs\n").unwrap();
    fs::create_dir_all(tree.path().join("docs/resources")).unwrap();
    fs::write(tree.path().join("docs/resources/a.md"), "# A\n").unwrap();
    let passed = check(&["--format", "json"], true);
    assert_eq!((stdout(&passed), passed.status.code()), ("[]\n", Some(0)));
}

#[cfg(unix)]
mod signals {
    use super::*;

    fn signal(child: &Child, name: &str) {
        assert!(Command::new("kill").args([name, &child.id().to_string()]).status().unwrap().success());
    }

    fn start(arguments: &[&str]) -> Running {
        let site = fixture("site");
        Running::start(&[&["dev", site.to_str().unwrap(), "--listen", "127.0.0.1:0"], arguments].concat())
    }

    #[test]
    fn a_signal_ends_it_well() {
        for name in ["-TERM", "-INT"] {
            let mut running = start(&["--log-format", "json"]);
            assert!(running.1[1].starts_with("http://127.0.0.1:") && running.1[1].ends_with("/mcp/docs"));
            assert!(!running.1[1].contains(":0/"));
            signal(&running.0, name);
            assert_eq!(running.0.wait().unwrap().code(), Some(0));
            let mut log = String::new();
            running.0.stderr.take().unwrap().read_to_string(&mut log).unwrap();
            let last: Value = serde_json::from_str(log.lines().last().unwrap()).unwrap();
            assert_eq!(last["message"], "stopping");
        }
    }

    #[test]
    fn a_second_signal_ends_it_at_once() {
        let mut running = start(&["--drain-delay", "1h"]);
        signal(&running.0, "-TERM");
        let mut log = BufReader::new(running.0.stderr.take().unwrap());
        let mut line = String::new();
        while !line.contains("stopping") {
            line.clear();
            assert_ne!(log.read_line(&mut line).unwrap(), 0);
        }
        // It goes on as before while load balancers take note.
        let address = running.1[1].strip_prefix("http://").unwrap().strip_suffix("/mcp/docs").unwrap();
        assert!(std::net::TcpStream::connect(address).is_ok());
        signal(&running.0, "-TERM");
        assert!(running.0.wait().unwrap().code().is_some());
    }

    #[test]
    fn a_request_is_one_line_of_the_log_without_what_it_carried() {
        let mut running = start(&["--log-format", "json", "--log-level", "debug"]);
        let address = running.1[1].strip_prefix("http://").unwrap().strip_suffix("/mcp/docs").unwrap();
        let body =
            r#"{"jsonrpc":"2.0","id":"secret id","method":"resources/read","params":{"uri":"docs://api-overview"}}"#;
        let headers = [("authorization", "Bearer secret")];
        let mut stream = std::net::TcpStream::connect(address).unwrap();
        stream.write_all(&request("POST", "/mcp/docs", &headers, body.as_bytes())).unwrap();
        stream.read_to_end(&mut Vec::new()).unwrap();
        signal(&running.0, "-TERM");
        let mut log = String::new();
        running.0.stderr.take().unwrap().read_to_string(&mut log).unwrap();
        assert!(!log.contains("secret") && !log.contains("API Overview"), "{log}");
        let lines = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let answered: Vec<_> = lines.filter(|line| line["message"] == "request").collect();
        assert_eq!(answered.len(), 1, "{log}");
        let line = answered[0].as_object().unwrap();
        assert_eq!(line["status"], 200);
        assert!(line["bytes"].as_u64().unwrap() > 100 && line["duration_ms"].as_f64().unwrap() > 0.0, "{log}");
        let known = [
            ("level", "DEBUG"),
            ("message", "request"),
            ("method", "POST"),
            ("path", "/mcp/docs"),
            ("server", "docs"),
            ("rpc", "resources/read"),
            ("revision", "2025-03-26"),
            ("uri", "docs://api-overview"),
            ("outcome", "ok"),
        ];
        assert!(known.iter().all(|(name, value)| line[*name] == *value), "{log}");
        let others = ["timestamp", "request_id", "status", "bytes", "duration_ms"];
        assert_eq!(line.len(), known.len() + others.len(), "{log}");
        assert!(others.iter().all(|name| line.contains_key(*name)), "{log}");
    }

    #[test]
    fn metrics_have_an_address_of_their_own_until_the_end() {
        let get = |address: &str, path: &str| {
            let mut stream = std::net::TcpStream::connect(address).unwrap();
            stream.write_all(&request("GET", path, &[], b"")).unwrap();
            let mut answer = String::new();
            stream.read_to_string(&mut answer).unwrap();
            answer
        };
        let mut running = start(&["--metrics-listen", "127.0.0.1:0", "--drain-delay", "1h"]);
        let address = running.1.last().unwrap().strip_prefix("http://").unwrap().strip_suffix("/metrics").unwrap();
        let main = running.1[1].strip_prefix("http://").unwrap().strip_suffix("/mcp/docs").unwrap();
        let metrics = get(address, "/metrics");
        assert!(metrics.starts_with("HTTP/1.1 200 "), "{metrics}");
        assert!(metrics.contains("text/plain; version=0.0.4"), "{metrics}");
        for name in ["mcpress_build_info{version=\"", "mcpress_content_info{hash=\"", "mcpress_connections 0"] {
            assert!(metrics.contains(name), "{name} in {metrics}");
        }
        #[cfg(target_os = "linux")]
        for name in ["cpu_seconds_total", "resident_memory_bytes", "open_fds", "max_fds", "start_time_seconds"] {
            let line = metrics.lines().find_map(|line| line.strip_prefix(&format!("process_{name} ")));
            assert!(line.unwrap().parse::<f64>().unwrap() >= 0.0, "{name} in {metrics}");
        }
        assert!(get(address, "/").starts_with("HTTP/1.1 404 "));
        assert!(get(main, "/metrics").starts_with("HTTP/1.1 404 "), "not where clients are");
        signal(&running.0, "-TERM");
        let mut log = BufReader::new(running.0.stderr.take().unwrap());
        let mut line = String::new();
        while !line.contains("stopping") {
            line.clear();
            assert_ne!(log.read_line(&mut line).unwrap(), 0);
        }
        assert!(get(address, "/metrics").starts_with("HTTP/1.1 200 "), "{line}");
        signal(&running.0, "-TERM");
        running.0.wait().unwrap();
    }

    #[test]
    fn what_is_refused_is_logged_in_short_and_without_passwords() {
        let mut running = start(&["--log-format", "json", "--log-level", "debug"]);
        let long = format!("{}.example", "x".repeat(10_000));
        for headers in [
            [("host", "user:secret@evil.example")],
            [("host", long.as_str())],
            [("origin", "https://user:secret@evil.example")],
            [("origin", long.as_str())],
        ] {
            assert!(answer(&running, &headers).starts_with("HTTP/1.1 403 "));
        }
        signal(&running.0, "-TERM");
        let mut log = String::new();
        running.0.stderr.take().unwrap().read_to_string(&mut log).unwrap();
        assert!(!log.contains("secret") && log.lines().all(|line| line.len() < 1000), "{log}");
        assert_eq!(log.matches("refused").count(), 4, "{log}");
    }

    #[test]
    fn it_serves_when_nobody_reads_its_log() {
        let mut running = start(&["--log-level", "debug"]);
        drop(running.0.stderr.take());
        assert!(answer(&running, &[("host", "evil.example")]).starts_with("HTTP/1.1 403 "));
        assert!(answer(&running, &[]).starts_with("HTTP/1.1 200 "));
        signal(&running.0, "-TERM");
        assert_eq!(running.0.wait().unwrap().code(), Some(0));
    }

    #[test]
    fn a_failure_that_nobody_reads_is_one() {
        let tree = tempfile::tempdir().unwrap();
        fs::create_dir_all(tree.path().join("docs")).unwrap();
        fs::write(tree.path().join("docs/server.yaml"), "titel: Docs\n").unwrap();
        let tree = tree.path().to_str().unwrap();
        for (arguments, code) in [
            (&["check", tree][..], 1),
            (&["check", tree, "--format", "json"], 1),
            (&["dev", "nowhere"], 2),
            (&["list", "nope"], 1),
            (&["read", "docs", "docs://nope"], 1),
            (&["--listen", "nowhere"], 2),
        ] {
            let (reader, writer) = std::io::pipe().unwrap();
            drop(reader);
            let mut command = mcpress(arguments);
            command.stdout(writer.try_clone().unwrap()).stderr(writer);
            assert_eq!(command.status().unwrap().code(), Some(code), "{arguments:?}");
        }
    }

    /// What a ping is answered with.
    fn answer(running: &Running, headers: &[(&str, &str)]) -> String {
        let address = running.1[1].strip_prefix("http://").unwrap().strip_suffix("/mcp/docs").unwrap();
        let mut stream = std::net::TcpStream::connect(address).unwrap();
        let ping = br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
        stream.write_all(&request("POST", "/mcp/docs", headers, ping)).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    #[test]
    fn a_reader_that_has_had_enough_is_no_failure() {
        let script = r#""$0" list --json | head -c 1; echo ${PIPESTATUS[0]}"#;
        let output = Command::new("bash").args(["-c", script, env!("CARGO_BIN_EXE_mcpress")]).output().unwrap();
        assert_eq!(stdout(&output), "[0\n");
        assert_eq!(stderr(&output), "");
    }
}

#[test]
fn token_prints_a_token_and_its_hash() {
    let (one, other) = (run(&["token"]), run(&["token"]));
    assert!(one.status.success() && one.stderr.is_empty());
    let [token, hash] = stdout(&one).lines().collect::<Vec<_>>()[..] else { panic!("{}", stdout(&one)) };
    assert_eq!((token.len(), hash.len(), hash.starts_with("sha256:")), (43, 71, true));
    assert_ne!(one.stdout, other.stdout);
}

/// A tree whose server `docs` asks for the tokens in `DOCS_TOKENS`.
fn protected() -> tempfile::TempDir {
    let tree = tempfile::tempdir().unwrap();
    fs::create_dir_all(tree.path().join("docs/resources")).unwrap();
    fs::write(tree.path().join("docs/server.yaml"), "auth: { bearer: { tokens_env: DOCS_TOKENS } }\n").unwrap();
    fs::write(tree.path().join("docs/resources/a.txt"), "here\n").unwrap();
    tree
}

#[test]
fn nothing_is_served_while_tokens_are_missing_or_too_short() {
    let tree = protected();
    let dev = |tokens: Option<&str>| {
        let mut command = mcpress(&["dev", tree.path().to_str().unwrap(), "--listen", "127.0.0.1:0"]);
        let command = command.env_remove("DOCS_TOKENS");
        if let Some(tokens) = tokens {
            command.env("DOCS_TOKENS", tokens);
        }
        let mut child = command.spawn().unwrap();
        let mut said = String::new();
        let mut lines = BufReader::new(child.stderr.as_mut().unwrap()).lines().map_while(Result::ok);
        while !said.contains("nothing is served until the tree compiles") {
            said.push_str(&lines.next().unwrap_or_else(|| panic!("{said}")));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        said
    };
    let missing = dev(None);
    assert!(
        missing.contains("docs/server.yaml:1: the variable `DOCS_TOKENS` is missing in the environment"),
        "{missing}"
    );
    let short = dev(Some("hunter2"));
    let place = format!("error: {}/docs/server.yaml:1: `DOCS_TOKENS`: entry 1 is shorter than", tree.path().display());
    assert!(short.contains(&place) && short.contains("  hint: a program that runs gets no new variables"), "{short}");
    assert!(!short.contains("hunter2"));
    assert!(run(&["check", tree.path().to_str().unwrap()]).status.success(), "a check needs no variable");
}

#[test]
fn no_token_is_logged() {
    let tree = protected();
    let (good, bad) = ("good-0123456789-0123456789-0123456789", "bad-0123456789-0123456789-0123456789");
    let mut child = mcpress(&["dev", tree.path().to_str().unwrap(), "--listen", "127.0.0.1:0", "--log-level", "trace"])
        .env("DOCS_TOKENS", good)
        .spawn()
        .unwrap();
    let address = BufReader::new(child.stdout.as_mut().unwrap()).lines().next().unwrap().unwrap();
    let address = address.strip_prefix("http://").unwrap().split('/').next().unwrap().to_owned();
    for (token, status) in [(good, "200"), (bad, "401")] {
        let body = br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
        let mut stream = std::net::TcpStream::connect(&address).unwrap();
        let bearer = format!("Bearer {token}");
        stream.write_all(&request("POST", "/mcp/docs", &[("authorization", &bearer)], body)).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert_eq!(answer.split(' ').nth(1), Some(status));
        assert!(!answer.contains(token));
    }
    child.kill().unwrap();
    let log = child.wait_with_output().unwrap();
    let log = stderr(&log);
    assert!(log.contains("status=401"), "{log}");
    assert!(!log.contains(good) && !log.contains(bad), "{log}");
}
