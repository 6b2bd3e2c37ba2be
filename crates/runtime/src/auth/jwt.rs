//! JWT access tokens, checked by RFC 9068 and RFC 8725 as far as the tokens of common authorization servers allow.

use std::sync::Arc;

use bytes::Bytes;
use jsonwebtoken::{Validation, dangerous::insecure_decode_claims, decode, decode_header, errors::ErrorKind};
use mcpress_catalog::access::{OAuth, check_address, check_identifier};
use serde::Deserialize;
use serde_json::json;
use tracing::debug;

use super::{
    Caller, Denied, METADATA, fill,
    keys::{Issuer, Issuers, Keys},
    signature,
    tokens::digest,
};
use crate::fetch::EntryError;

/// Seconds by which clocks may differ.
const LEEWAY: u64 = 30;

/// Which access tokens are good.
pub(super) struct Jwt {
    /// What `aud` must hold: the resource, with a slash at its end or without, since clients write both.
    audience: [String; 2],
    issuers: Vec<(String, Arc<Keys>)>,
    pub(super) scopes: Vec<String>,
    /// The document of RFC 9728, the path that it has by that RFC, and its address.
    pub(super) metadata: Bytes,
    pub(super) metadata_path: String,
    pub(super) metadata_url: String,
}

/// What an access token says. Of names and scopes only what has the right form.
#[derive(Deserialize)]
struct Claims {
    iss: String,
    #[serde(default)]
    sub: Option<String>,
    #[serde(default)]
    client_id: Option<String>,
    /// RFC 9068: names with blanks between.
    #[serde(default)]
    scope: Scope,
    /// What some write in its place.
    #[serde(default)]
    scp: Scope,
}

/// Scopes in either form.
#[derive(Deserialize)]
#[serde(untagged)]
enum Scope {
    Text(String),
    List(Vec<String>),
    Other(serde::de::IgnoredAny),
}

impl Jwt {
    pub(super) fn new(
        oauth: &OAuth,
        known: &Issuers,
        lookup: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, EntryError> {
        signature::install();
        let mut missing = Vec::new();
        let mut fill = |text: &str| fill(text, &lookup, &mut missing);
        let resource = fill(&oauth.resource)?;
        let issuers = oauth.authorization_servers.iter().map(|issuer| fill(issuer)).collect::<Result<Vec<_>, _>>()?;
        let jwks = oauth.jwks.as_deref().map(fill).transpose()?;
        if !missing.is_empty() {
            return Err(EntryError::Missing(missing));
        }
        let check = |name: &str, result: Result<(), _>| {
            result.map_err(|error| EntryError::Invalid(format!("`{name}` with the environment filled in: {error}")))
        };
        check("resource", check_identifier(&resource))?;
        issuers.iter().try_for_each(|issuer| check("authorization_servers", check_identifier(issuer)))?;
        jwks.iter().try_for_each(|jwks| check("jwks", check_address(jwks)))?;

        let mut metadata = json!({
            "resource": resource,
            "authorization_servers": issuers,
            "bearer_methods_supported": ["header"],
        });
        // By RFC 9728, section 3.2, an empty list is left out.
        if !oauth.scopes.is_empty() {
            metadata["scopes_supported"] = oauth.scopes.clone().into();
        }
        let (origin, path) = split(&resource);
        let metadata_path = format!("{METADATA}{path}");
        let bare = resource.trim_end_matches('/');
        let allow_private_network = oauth.allow_private_network;
        let keys = |name: &String| known.keys(Issuer { name: name.clone(), jwks: jwks.clone(), allow_private_network });
        Ok(Self {
            audience: [bare.to_owned(), format!("{bare}/")],
            metadata: metadata.to_string().into(),
            metadata_url: format!("{origin}{metadata_path}"),
            metadata_path,
            issuers: issuers.iter().map(|issuer| (issuer.clone(), keys(issuer))).collect(),
            scopes: oauth.scopes.clone(),
        })
    }

    pub(super) async fn check(&self, token: &str) -> Result<Caller, Denied> {
        let checked = self.claims(token).await.and_then(|claims| {
            let is_granted = |scope: &String| claims.scope.has(scope) || claims.scp.has(scope);
            if self.scopes.iter().all(is_granted) { Ok(claims) } else { Err(Denied::Scope) }
        });
        let claims = checked.inspect_err(|denied| debug!(?denied, "refused an access token"))?;
        let subject = match (&claims.sub, &claims.client_id) {
            (Some(subject), _) | (None, Some(subject)) => format!("{} {subject}", claims.iss),
            (None, None) => token.to_owned(),
        };
        Ok(Caller(digest(&subject)))
    }

    /// What a good token says.
    async fn claims(&self, token: &str) -> Result<Claims, Denied> {
        let no_jwt = |_| Denied::Invalid("the token is no JWT of a kind that is accepted");
        let header = decode_header(token).map_err(no_jwt)?;
        if !signature::ALGORITHMS.contains(&header.alg) {
            return Err(Denied::Invalid("the algorithm of the token is not accepted"));
        }
        if !is_access_token(header.typ.as_deref()) {
            return Err(Denied::Invalid("the token is no access token"));
        }
        // Only to know whose keys to ask; it is checked with the rest below.
        let unverified: Claims = insecure_decode_claims(token).map_err(no_jwt)?;
        let Some((issuer, keys)) = self.issuers.iter().find(|(issuer, _)| *issuer == unverified.iss) else {
            return Err(Denied::Invalid("the token is of another issuer"));
        };
        let mut validation = Validation::new(header.alg);
        validation.leeway = LEEWAY;
        validation.validate_nbf = true;
        validation.set_issuer(&[issuer]);
        validation.set_audience(&self.audience);
        validation.set_required_spec_claims(&["exp", "iss", "aud"]);
        let mut found = keys.find(header.kid.as_deref(), header.alg, None).await?;
        loop {
            let mut reason = None;
            for key in &found.keys {
                match decode::<Claims>(token, key, &validation) {
                    Ok(decoded) => return Ok(decoded.claims),
                    Err(error) => match error.kind() {
                        ErrorKind::InvalidSignature | ErrorKind::InvalidAlgorithm => {}
                        kind => reason = Some(describe(kind)),
                    },
                }
            }
            if let Some(reason) = reason {
                return Err(Denied::Invalid(reason));
            }
            // The issuer may have another key by the same name, or by none.
            found = keys.find(header.kid.as_deref(), header.alg, Some(&found)).await?;
        }
    }
}

/// RFC 9068 wants `at+jwt`; what many send is the general `JWT`, or nothing. Any other is made for something else.
fn is_access_token(typ: Option<&str>) -> bool {
    let typ = typ.unwrap_or("JWT").to_ascii_lowercase();
    matches!(typ.strip_prefix("application/").unwrap_or(&typ), "at+jwt" | "jwt")
}

fn describe(kind: &ErrorKind) -> &'static str {
    match kind {
        ErrorKind::ExpiredSignature => "the token has expired",
        ErrorKind::ImmatureSignature => "the token is not valid yet",
        ErrorKind::InvalidAudience => "the token is for another audience",
        ErrorKind::InvalidIssuer => "the token is of another issuer",
        ErrorKind::MissingRequiredClaim(_) => "the token lacks `exp`, `iss` or `aud`",
        _ => "the claims of the token cannot be read",
    }
}

/// Origin and path of an address, the path without a slash at its end.
fn split(address: &str) -> (&str, &str) {
    let start = address.find("://").map_or(0, |colon| colon + 3);
    let end = address[start..].find('/').map_or(address.len(), |slash| start + slash);
    (&address[..end], address[end..].trim_end_matches('/'))
}

impl Scope {
    fn has(&self, scope: &str) -> bool {
        match self {
            Self::Text(text) => text.split(' ').any(|granted| granted == scope),
            Self::List(list) => list.iter().any(|granted| granted == scope),
            Self::Other(_) => false,
        }
    }
}

impl Default for Scope {
    fn default() -> Self {
        Self::List(Vec::new())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_types_of_access_tokens() {
        for typ in [None, Some("JWT"), Some("jwt"), Some("at+jwt"), Some("AT+JWT"), Some("application/at+jwt")] {
            assert!(is_access_token(typ), "{typ:?}");
        }
        for typ in ["", "logout+jwt", "dpop+jwt", "application/logout+jwt", "id+jwt", "application/", "ä"] {
            assert!(!is_access_token(Some(typ)), "{typ}");
        }
    }

    #[test]
    fn reads_scopes_in_either_form() {
        let claims = |json: &str| serde_json::from_str::<Claims>(json).unwrap();
        let text = claims(r#"{"iss":"i","scope":"a b"}"#);
        assert!(text.scope.has("a") && text.scope.has("b") && !text.scope.has("a b") && !text.scp.has("a"));
        let list = claims(r#"{"iss":"i","scp":["a","b c"],"scope":7}"#);
        assert!(list.scp.has("a") && list.scp.has("b c") && !list.scp.has("c") && !list.scope.has("7"));
    }
}
