//! The oracle: the posts have to be those that WordPress itself finds, in order.

use std::{
    collections::HashSet,
    env,
    fmt::Write as _,
    fs,
    io::Write as _,
    path::Path,
    process::{Command, Stdio},
    thread,
};

use futures_util::{StreamExt, stream};
use mcpress_runtime::fetch::{Config, Fetcher};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{auth, compile, ids, read, setting};

/// Queries at a time: as many as the site has workers.
const AT_A_TIME: usize = 4;

/// A line of `queries.jsonl`.
#[derive(Deserialize)]
struct Query {
    name: String,
    args: Value,
    #[serde(default)]
    auth: bool,
    #[serde(default)]
    fails: bool,
}

/// What WordPress answers.
#[derive(Deserialize)]
struct Answer {
    ids: Vec<u64>,
    ties: Vec<Vec<u64>>,
    protected: Vec<u64>,
}

/// An element of `differences.json`.
#[derive(Deserialize)]
struct Differences {
    reason: String,
    queries: Vec<String>,
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs tests/wordpress/up.sh"]
async fn finds_what_wordpress_finds() {
    let only = env::var("WORDPRESS_ONLY").ok();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/wordpress");
    let lines = fs::read_to_string(folder.join("queries.jsonl")).unwrap();
    let queries = lines.lines().map(|line| (line, serde_json::from_str::<Query>(line).unwrap()));
    let queries = queries.filter(|(_, query)| only.as_ref().is_none_or(|only| query.name.contains(only)));
    let (lines, queries): (Vec<&str>, Vec<Query>) = queries.unzip();
    let answers = ask_oracle(&lines);
    assert_eq!(answers.len(), queries.len());

    let fetcher = Fetcher::new(&Config::default()).unwrap();
    let site = setting("WORDPRESS_URL");
    let runs = queries.iter().zip(&answers).map(|(query, answer)| {
        let (fetcher, site) = (&fetcher, &site);
        async move { (query, judge(query, answer, &find(fetcher, site, query).await)) }
    });
    let judged: Vec<_> = stream::iter(runs.collect::<Vec<_>>()).buffered(AT_A_TIME).collect().await;

    let differences = fs::read_to_string(folder.join("differences.json")).unwrap();
    let differences: Vec<Differences> = serde_json::from_str(&differences).unwrap();
    assert!(differences.iter().all(|differences| !differences.reason.is_empty()));
    let documented: HashSet<&str> =
        differences.iter().flat_map(|differences| &differences.queries).map(String::as_str).collect();
    let mut report = String::new();
    let mut equal = 0;
    for (query, verdict) in &judged {
        match (verdict, documented.contains(query.name.as_str())) {
            (Ok(()), false) => equal += 1,
            (Err(_), true) => {}
            (Ok(()), true) => writeln!(report, "{}: listed as different, and equal", query.name).unwrap(),
            (Err(difference), false) => writeln!(report, "{}: {difference}", query.name).unwrap(),
        }
    }
    println!("{equal} of {} queries are equal, {} are documented as different", judged.len(), documented.len());
    let names: HashSet<&str> = queries.iter().map(|query| query.name.as_str()).collect();
    if only.is_none() {
        for unknown in documented.difference(&names) {
            writeln!(report, "{unknown}: listed as different, and no query").unwrap();
        }
    }
    assert!(report.is_empty(), "\n{report}");
}

fn ask_oracle(lines: &[&str]) -> Vec<Answer> {
    let mut oracle =
        Command::new(setting("WORDPRESS_ORACLE")).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = oracle.stdin.take().unwrap();
    let input = lines.join("\n");
    let writer = thread::spawn(move || stdin.write_all(input.as_bytes()).unwrap());
    let output = oracle.wait_with_output().unwrap();
    writer.join().unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

async fn find(fetcher: &Fetcher, site: &str, query: &Query) -> Result<Vec<u64>, String> {
    let mut wp_query = json!({
        "site": site, "query": query.args, "fields": ["id"], "allow_private_network": true, "timeout": "1m",
    });
    if query.auth {
        wp_query["auth"] = auth();
    }
    let definition = compile(&json!({ "uri": "wp://posts", "wp_query": wp_query }))?;
    match read(fetcher, &definition, &[]).await {
        Ok(fetched) => Ok(ids(&fetched)),
        Err(error) if error.is_not_found() => Ok(Vec::new()),
        Err(error) => Err(error.to_string()),
    }
}

/// By the rule of the README: as long, no post twice, and at each place the same post or one of the same group.
fn judge(query: &Query, answer: &Answer, found: &Result<Vec<u64>, String>) -> Result<(), String> {
    let found = match found {
        Err(_) if query.fails => return Ok(()),
        Err(error) => return Err(format!("fails: {error}")),
        Ok(found) if query.fails => return Err(format!("{found:?} instead of an error")),
        Ok(found) => found,
    };
    let expected: Vec<u64> = answer.ids.iter().filter(|id| !answer.protected.contains(id)).copied().collect();
    let same = |found: &u64, expected: &u64| {
        found == expected || answer.ties.iter().any(|group| group.contains(found) && group.contains(expected))
    };
    let unique: HashSet<_> = found.iter().collect();
    let equal = found.len() == expected.len()
        && unique.len() == found.len()
        && found.iter().zip(&expected).all(|(found, expected)| same(found, expected));
    if equal { Ok(()) } else { Err(format!("\n  found    {found:?}\n  expected {expected:?}")) }
}
