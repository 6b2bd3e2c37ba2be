//! The JSON Schemas: the committed ones are those of this program, and they agree with the compiler about every
//! definition of the shipped content and of the fixtures.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use jsonschema::Validator;
use mcpress_compiler::{SCHEMAS, Severity, compile, schema};
use serde_json::{Value, json};

#[test]
fn the_committed_schemas_are_those_of_the_definitions() {
    for name in SCHEMAS {
        let path = format!("../../schema/{name}.schema.json");
        let committed = fs::read_to_string(&path).unwrap_or_default();
        assert!(
            committed == schema(name).unwrap(),
            "schema/{name}.schema.json is not that of the definitions; renew all with `cargo run -- schema --out schema`"
        );
    }
}

#[test]
fn every_shipped_definition_passes_and_names_its_schema() {
    let schemas = Schemas::new();
    for file in files(Path::new("../../content")) {
        let Some(name) = kind(&file) else { continue };
        assert_eq!(schemas.refused(&file), Some(BTreeSet::new()), "{}", file.display());
        let text = fs::read_to_string(&file).unwrap();
        let line = text.lines().next().unwrap_or_default();
        let path = line.strip_prefix("# yaml-language-server: $schema=");
        let schema = file.parent().unwrap().join(path.unwrap_or_else(|| panic!("{}: {line}", file.display())));
        let expected = format!("../../schema/{name}.schema.json");
        assert_eq!(schema.canonicalize().unwrap(), Path::new(&expected).canonicalize().unwrap(), "{}", file.display());
    }
}

const TREE: &str = "a schema sees one file, and no name or path around it";
const SYNTAX: &str = "templates, globs, regular expressions and `${NAME}` have a syntax of their own";
const ADDRESS: &str = "an expression for the whole grammar of addresses would be of no use to anybody";
const TOGETHER: &str = "what keys of several mappings mean together, the compiler says better";
const VALUE: &str = "numbers out of range inside of texts, and the calendar";
const YAML: &str = "a key given twice is no YAML, which editors say without a schema";

/// What the compiler refuses and the schemas let pass: the fixture, its definitions by number, and the reason.
const LAXER: &[(&str, &[usize], &str)] = &[
    ("files-name-their-file", &[0], TREE),
    ("private-files-are-no-content", &[0, 1, 2, 3], TREE),
    ("render-binary", &[0], TREE),
    ("slug-begins-with-digit", &[0], TREE),
    ("static-file-missing", &[0, 1], TREE),
    ("static-file-outside", &[0, 1, 2], TREE),
    ("static-files-match-nothing", &[0], TREE),
    ("uri-duplicate", &[0], TREE),
    ("places-in-texts", &[0, 1, 2, 3, 4, 5], SYNTAX),
    ("render-in-partial", &[1], SYNTAX),
    ("render-syntax", &[1], SYNTAX),
    ("render-undefined-name", &[0], SYNTAX),
    ("static-files-bad-glob", &[0], SYNTAX),
    ("template-argument-names", &[0, 1], SYNTAX),
    ("template-names", &[0], SYNTAX),
    ("template-syntax", &[1, 2], SYNTAX),
    ("template-trial", &[0, 1, 2, 3], SYNTAX),
    ("url-environment-syntax", &[0, 1, 2, 3, 4, 5], SYNTAX),
    ("url-template-names", &[0, 1, 2, 3], SYNTAX),
    ("wp-query-template-names", &[0], SYNTAX),
    ("uri-invalid", &[3], ADDRESS),
    ("addresses-of-no-host", &[0, 1, 2, 3], ADDRESS),
    ("url-href-invalid", &[2, 3, 4, 5, 6, 8, 9], ADDRESS),
    ("url-template-variables", &[0, 1, 2, 3, 4, 5], ADDRESS),
    ("wp-query-site-invalid", &[1, 2, 3, 4, 5], ADDRESS),
    ("access-incomplete", &[0], TOGETHER),
    ("access-of-one-address", &[0], TOGETHER),
    ("access-without-tokens", &[0], TOGETHER),
    ("static-files-without-path", &[0], TOGETHER),
    ("template-arguments", &[1], TOGETHER),
    ("template-render-and-files", &[0, 1], TOGETHER),
    ("url-headers-invalid", &[1], TOGETHER),
    ("url-times-and-sizes", &[1], TOGETHER),
    ("wp-query-arguments", &[0, 1], TOGETHER),
    ("wp-query-auth-invalid", &[2], TOGETHER),
    ("wp-query-contradictions", &[0, 1, 2, 3], TOGETHER),
    ("wp-query-format-and-mime-type", &[0, 1], TOGETHER),
    ("wp-query-post-status", &[0, 1, 2], TOGETHER),
    ("wp-query-tax-query-clause", &[1], TOGETHER),
    ("ttl-invalid", &[2, 3, 4], VALUE),
    ("wp-query-date-forms", &[0, 1, 7], VALUE),
    ("wp-query-date-range-empty", &[0, 1], VALUE),
    ("wp-query-slugs-invalid", &[4], VALUE),
    ("server-file-has-a-key-twice", &[0], YAML),
    ("yaml-duplicate-key", &[0], YAML),
    ("yaml-duplicate-key-of-two-spellings", &[0], YAML),
];

#[test]
fn the_schemas_refuse_what_the_compiler_refuses() {
    let schemas = Schemas::new();
    let mut laxer: BTreeMap<String, BTreeSet<usize>> = BTreeMap::new();
    let fixtures = fs::read_dir("tests/fixtures").unwrap().map(|entry| entry.unwrap().path());
    let site = PathBuf::from("../../tests/fixtures/site");
    for tree in fixtures.filter(|path| path.is_dir()).chain([site]) {
        let diagnostics = compile(&tree).map_or_else(|all| all, |compiled| compiled.warnings);
        for file in files(&tree) {
            let Some(refused) = schemas.refused(&file) else { continue };
            let here = diagnostics.iter().filter(|diagnostic| Path::new(&diagnostic.path) == file);
            let errors = here.filter(|diagnostic| diagnostic.severity == Severity::Error);
            let faulty: BTreeSet<usize> = errors.map(|error| item(&error.field)).collect();
            let strict: Vec<_> = refused.difference(&faulty).collect();
            assert!(strict.is_empty(), "{}: the schema refuses {strict:?}, which compile", file.display());
            if !refused.is_superset(&faulty) {
                let fixture = tree.file_name().unwrap().to_str().unwrap().to_owned();
                laxer.entry(fixture).or_default().extend(faulty.difference(&refused));
            }
        }
    }
    let known = LAXER.iter().map(|(name, items, _)| ((*name).to_owned(), items.iter().copied().collect()));
    assert_eq!(laxer, known.collect());
}

/// The schemas, ready to validate with.
struct Schemas(BTreeMap<&'static str, Validator>);

/// The schema of a file, if it is a definition.
fn kind(file: &Path) -> Option<&'static str> {
    let is_yaml = matches!(file.extension()?.to_str()?, "yaml" | "yml");
    match file.file_name()?.to_str()? {
        "site.yaml" => Some("site"),
        "server.yaml" => Some("server"),
        _ if is_yaml && file.components().any(|part| part.as_os_str() == "resources") => Some("resource"),
        _ => None,
    }
}

impl Schemas {
    fn new() -> Self {
        let validator = |name| {
            let schema: Value = serde_json::from_str(&schema(name).unwrap()).unwrap();
            (name, jsonschema::draft7::new(&schema).unwrap())
        };
        Self(SCHEMAS.map(validator).into())
    }

    /// The definitions of a file that its schema refuses, by number; `None` if there is no schema for the file, or it
    /// is no YAML, which editors say without a schema.
    fn refused(&self, file: &Path) -> Option<BTreeSet<usize>> {
        let name = kind(file)?;
        let validator = &self.0[name];
        let value = match serde_yaml::from_str(&fs::read_to_string(file).ok()?).ok()? {
            // An empty file is not even shown to a schema.
            Value::Null if name != "resource" => json!({}),
            value => value,
        };
        let refused: Vec<bool> = match value {
            Value::Array(items) if !items.is_empty() && name == "resource" => {
                items.into_iter().map(|item| !validator.is_valid(&json!([item]))).collect()
            }
            value => vec![!validator.is_valid(&value)],
        };
        Some(refused.into_iter().enumerate().filter_map(|(index, refused)| refused.then_some(index)).collect())
    }
}

/// The index in front of a field's name: `[2].static.file`.
fn item(field: &str) -> usize {
    let index = field.strip_prefix('[').and_then(|rest| rest.split_once(']'));
    index.and_then(|(index, _)| index.parse().ok()).unwrap_or(0)
}

fn files(root: &Path) -> Vec<PathBuf> {
    let entries = walkdir::WalkDir::new(root).sort_by_file_name().into_iter().map(|entry| entry.unwrap());
    entries.filter(|entry| entry.file_type().is_file()).map(walkdir::DirEntry::into_path).collect()
}
