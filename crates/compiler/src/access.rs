//! `auth` and `limits`: who may ask a server, and how often.

use mcpress_catalog::access::{self, Access, Auth, Bearer, Limits, MAX_REQUESTS, OAuth};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    diagnostic::{Diagnostic, Position},
    fetch::{env_text, stand_in},
    protected::Place,
    scope::Scope,
    site::SITE_FILE,
    yaml::{Field, Mark},
};

/// `auth` and `limits` of `site.yaml` or of `server.yaml`.
///
/// A server's own value wins over the site's, key by key; but tokens of one kind take the place of those of the other,
/// the keys of authorization servers belong to them, and `limits` is one whole.
#[derive(Clone, Debug, Default)]
pub(crate) struct AccessDefinition {
    auth: Field<AuthDefinition>,
    limits: Field<LimitsDefinition>,
}

/// What an address begins with, or what it may be filled in from.
const ADDRESS: &str = r"^(https?://|\$\{)";

/// Which bearer tokens open a server.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(rename = "Auth", deny_unknown_fields)]
pub(crate) struct AuthDefinition {
    /// `true`: the server needs no token, whatever `site.yaml` says.
    pub(crate) public: Field<bool>,
    /// Tokens that the environment lists.
    pub(crate) bearer: Field<BearerDefinition>,
    /// Issuers of JWT access tokens, as their `iss` names them.
    #[schemars(length(min = 1), inner(regex(pattern = ADDRESS)))]
    pub(crate) authorization_servers: Field<Vec<Field<String>>>,
    /// The address of the server as its clients know it, which must be the audience (`aud`) of their tokens.
    #[schemars(regex(pattern = ADDRESS))]
    pub(crate) resource: Field<String>,
    /// Where the keys of the issuer are, if its metadata does not say it.
    #[schemars(regex(pattern = ADDRESS))]
    pub(crate) jwks: Field<String>,
    /// Scopes that a token must have, all of them.
    #[schemars(inner(regex(pattern = r#"^[!#-\[\]-~]+$"#)))]
    pub(crate) scopes: Field<Vec<Field<String>>>,
    /// `true`: keys may be fetched from addresses that are not public.
    pub(crate) allow_private_network: Field<bool>,
}

/// Tokens that the environment lists.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(rename = "Bearer", deny_unknown_fields, extend("required" = ["tokens_env"]))]
pub(crate) struct BearerDefinition {
    /// Name of the variable: tokens or their `sha256:` hashes, separated by commas.
    #[schemars(regex(pattern = r"^[A-Za-z_][A-Za-z0-9_]*$"))]
    pub(crate) tokens_env: Field<String>,
}

/// How many requests each client may send.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(rename = "Limits", deny_unknown_fields, extend("required" = ["requests_per_minute"]))]
pub(crate) struct LimitsDefinition {
    /// In the long run.
    #[schemars(range(min = 1, max = MAX_REQUESTS))]
    pub(crate) requests_per_minute: Field<u32>,
    /// At once; as many as in a minute where it is left out.
    #[schemars(range(min = 1, max = MAX_REQUESTS))]
    pub(crate) burst: Field<u32>,
}

impl AccessDefinition {
    /// Reports what is wrong with the values that are given here.
    pub(crate) fn checked(auth: Field<AuthDefinition>, limits: Field<LimitsDefinition>, scope: &mut Scope<'_>) -> Self {
        if let Some((auth, mark)) = auth.given() {
            auth.check(mark, scope);
        }
        if let Some((limits, mark)) = limits.given() {
            limits.check(mark, scope);
        }
        Self { auth, limits }
    }

    /// The values that were checked, over those of the site; what is missing in the two together is reported.
    pub(crate) fn lower(&self, site: &Self, scope: &mut Scope<'_>) -> Option<Access> {
        let mark = self.auth.given().map(|(_, mark)| mark);
        let place = match (mark, site.auth.given()) {
            (None, Some((_, mark))) => format!("{SITE_FILE}:{}", mark.position.line),
            (mark, _) => format!("{}:{}", scope.path, mark.map_or(1, |mark| mark.position.line)),
        };
        let own = self.auth.value().cloned().unwrap_or_default();
        let auth = match site.auth.value() {
            Some(site) => own.or(site.clone()),
            None => own,
        };
        let auth = if auth.is_given() { auth.lower(mark, scope) } else { None };
        let limits = self.limits.value().or(site.limits.value()).and_then(LimitsDefinition::lower);
        (auth.is_some() || limits.is_some()).then_some(Access { place, auth, limits })
    }

    /// Where the `resource` stands that holds for the server of this file.
    pub(crate) fn resource_place(&self, site: &Self, path: &str) -> Option<Place> {
        let of = |definition: &Self, path: &str| {
            let (_, mark) = definition.auth.value()?.resource.given()?;
            Some(Place { path: path.to_owned(), position: mark.position })
        };
        of(self, path).or_else(|| of(site, SITE_FILE))
    }
}

impl AuthDefinition {
    fn check(&self, mark: Mark, scope: &mut Scope<'_>) {
        let is_public = self.public.value() == Some(&true);
        if is_public && self.is_closed() {
            scope
                .error(mark, "auth.public", "a public server needs no tokens")
                .with_hint("leave `public` or the other keys out");
        }
        if !self.bearer.is_absent() && self.names_issuers() {
            scope
                .error(mark, "auth.bearer", "a server has tokens from the environment or from authorization servers")
                .with_hint("keep `bearer`, or `authorization_servers` and what belongs to them");
        }
        if let Some((bearer, mark)) = self.bearer.given() {
            bearer.check(mark, scope);
        }
        if let Some((issuers, mark)) = self.authorization_servers.given() {
            if issuers.is_empty() {
                scope.error(mark, "auth.authorization_servers", "an empty list lets nobody in").with_hint(
                    "list the issuers, such as `https://id.example.com`; `public: true` is for a server that needs none",
                );
            }
            for (index, issuer) in issuers.iter().enumerate() {
                address(issuer, &format!("auth.authorization_servers[{index}]"), access::check_identifier, scope);
            }
        }
        address(&self.resource, "auth.resource", access::check_identifier, scope);
        address(&self.jwks, "auth.jwks", access::check_address, scope);
        for (index, field) in self.scopes.value().into_iter().flatten().enumerate() {
            if let Some((name, mark)) = field.given()
                && !access::is_scope(name)
            {
                let hint = "a scope is one word of visible ASCII without `\"` and `\\`, such as `docs.read`";
                let message = format!("`{name}` is no scope");
                scope.error(mark, &format!("auth.scopes[{index}]"), message).with_hint(hint);
            }
        }
    }

    /// Whether it asks for tokens.
    fn is_closed(&self) -> bool {
        !self.bearer.is_absent() || self.names_issuers()
    }

    /// Whether it holds one of the keys that belong to authorization servers.
    fn names_issuers(&self) -> bool {
        !(self.authorization_servers.is_absent()
            && self.resource.is_absent()
            && self.jwks.is_absent()
            && self.scopes.is_absent())
    }

    fn is_given(&self) -> bool {
        self.is_closed() || !self.public.is_absent() || !self.allow_private_network.is_absent()
    }

    fn or(self, site: Self) -> Self {
        if self.public.value() == Some(&true) || !self.bearer.is_absent() {
            return self;
        }
        let (is_closed, names_issuers) = (self.is_closed(), self.names_issuers());
        let jwks = if self.authorization_servers.is_absent() { site.jwks } else { Field::Absent };
        Self {
            public: if is_closed { self.public } else { self.public.or(site.public) },
            bearer: if names_issuers { Field::Absent } else { site.bearer },
            authorization_servers: self.authorization_servers.or(site.authorization_servers),
            resource: self.resource.or(site.resource),
            jwks: self.jwks.or(jwks),
            scopes: self.scopes.or(site.scopes),
            allow_private_network: self.allow_private_network.or(site.allow_private_network),
        }
    }

    /// What it comes to; `mark` is where the server itself says something of it.
    fn lower(&self, mark: Option<Mark>, scope: &mut Scope<'_>) -> Option<Auth> {
        if self.public.value() == Some(&true) {
            return None;
        }
        let position = mark.map_or(Position::START, |mark| mark.position);
        let mut missing = |field: &str, message: &str, hint: &str| {
            scope.diagnostics.push(Diagnostic::error(scope.path, position, field, message).hint(hint));
            None
        };
        match &self.bearer {
            Field::Given(bearer, _) => {
                return Some(Auth::Bearer(Bearer { tokens_env: bearer.tokens_env.value()?.clone() }));
            }
            Field::Bad => return None,
            Field::Absent => {}
        }
        if self.authorization_servers.is_absent() {
            let hint = "give `bearer: {tokens_env: NAME}` or `authorization_servers: [https://id.example.com]`; \
                        `public: true` is for a server that needs no token";
            return missing("auth", "nothing says which tokens are good", hint);
        }
        if self.resource.is_absent() {
            let hint = "the address of this server as its clients know it, such as `https://mcp.example.com/mcp/docs`; \
                        a token must name it as its audience";
            return missing("auth.resource", "`resource` is missing", hint);
        }
        let authorization_servers = texts(&self.authorization_servers);
        if authorization_servers.len() > 1 && !self.jwks.is_absent() {
            let hint = "leave it out, so that the metadata of each issuer says where its keys are";
            return missing("auth.jwks", "one address of keys for more than one issuer", hint);
        }
        Some(Auth::OAuth(Box::new(OAuth {
            authorization_servers,
            resource: self.resource.value()?.clone(),
            jwks: self.jwks.value().cloned(),
            scopes: texts(&self.scopes),
            allow_private_network: self.allow_private_network.value().copied().unwrap_or(false),
        })))
    }
}

impl BearerDefinition {
    fn check(&self, mark: Mark, scope: &mut Scope<'_>) {
        let hint = "write the name alone, such as `DOCS_TOKENS`; its value stays in the environment";
        match &self.tokens_env {
            Field::Absent => {
                scope.error(mark, "auth.bearer", "`tokens_env` is missing").with_hint(hint);
            }
            Field::Given(name, mark) if !is_variable(name) => {
                // It may be a token that was written here by mistake.
                scope.error(*mark, "auth.bearer.tokens_env", "this is no name of a variable").with_hint(hint);
            }
            Field::Given(..) | Field::Bad => {}
        }
    }
}

impl LimitsDefinition {
    fn check(&self, mark: Mark, scope: &mut Scope<'_>) {
        if self.requests_per_minute.is_absent() {
            scope
                .error(mark, "limits", "`requests_per_minute` is missing")
                .with_hint("write `limits: {requests_per_minute: 120}`, for example");
        }
        for (name, field) in [("requests_per_minute", &self.requests_per_minute), ("burst", &self.burst)] {
            if let Some((number, mark)) = field.given()
                && !(1..=MAX_REQUESTS).contains(number)
            {
                let message = format!("expected a whole number from 1 to {MAX_REQUESTS}, found `{number}`");
                scope.error(mark, &format!("limits.{name}"), message);
            }
        }
    }

    fn lower(&self) -> Option<Limits> {
        let requests_per_minute = *self.requests_per_minute.value()?;
        Some(Limits { requests_per_minute, burst: self.burst.value().copied().unwrap_or(requests_per_minute) })
    }
}

/// Checks an address in which the environment is not filled in yet.
fn address(
    field: &Field<String>,
    name: &str,
    check: fn(&str) -> Result<(), mcpress_catalog::source::HrefError>,
    scope: &mut Scope<'_>,
) {
    let Some((text, mark)) = field.given() else { return };
    let Some(pieces) = env_text(text, mark, name, scope) else { return };
    if let Err(error) = check(&stand_in(&pieces)) {
        scope.error(mark, name, error.message).with_hint(error.hint);
    }
}

fn texts(list: &Field<Vec<Field<String>>>) -> Vec<String> {
    list.value().into_iter().flatten().filter_map(|field| field.value().cloned()).collect()
}

fn is_variable(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with(|first: char| first.is_ascii_digit())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}
