//! Conditions on the terms of a post: `tax_query` and all that WordPress turns into one.

use std::collections::BTreeMap;

use mcpress_catalog::source::{Operator, Relation};
use serde_json::Value;

use super::{
    super::{client::Client, error::FetchError},
    arguments::{Clause, Named},
    lookup::{PostType, Taxonomy},
    site::{Parameters, Site, join, pair},
};

/// Conditions whose terms are known by their ids.
#[derive(Debug, Default)]
pub(super) struct Formula {
    relation: Relation,
    conditions: Vec<Condition>,
    /// A taxonomy other than `category` and `post_tag` has to hold a term.
    pub(super) of_custom_taxonomy: bool,
    /// A taxonomy has to hold a term.
    pub(super) is_positive: bool,
    /// The types of these taxonomies.
    pub(super) types: Vec<String>,
}

#[derive(Clone, Debug)]
struct Condition {
    taxonomy: String,
    operator: Operator,
    /// `None`: no post can fulfil it.
    terms: Option<Vec<u64>>,
}

/// What a formula means for the posts of one type.
#[derive(Debug, PartialEq)]
pub(super) enum Selected {
    None,
    /// Those that the parameters select and the check lets through.
    Some(Parameters, Option<Check>),
}

/// What REST cannot say is looked up in the posts.
#[derive(Debug, PartialEq)]
pub(super) struct Check {
    relation: Relation,
    /// The member of a post that lists its terms, and the terms.
    conditions: Vec<(String, Operator, Vec<u64>)>,
}

impl Formula {
    /// Looks up the terms of the clauses.
    pub(super) async fn new(
        site: &Site,
        client: &Client,
        relation: Relation,
        clauses: &[Clause],
    ) -> Result<Self, FetchError> {
        let mut formula = Self { relation, ..Self::default() };
        for clause in clauses {
            let taxonomy = site.taxonomy(client, &clause.taxonomy).await?;
            let mut terms = find(site, client, &taxonomy, clause).await?;
            // Elsewhere, WordPress finds out itself which terms there are.
            if let (Relation::Or, Operator::NotIn, Some(given)) = (relation, clause.operator, &mut terms) {
                let known = site.names(client, &taxonomy, given).await?;
                given.retain(|term| known.contains_key(term));
            }
            if clause.operator != Operator::NotIn {
                formula.is_positive = true;
                formula.of_custom_taxonomy |= !matches!(taxonomy.name.as_str(), "category" | "post_tag");
                formula.types.extend(taxonomy.types);
            } else if terms.as_ref().is_some_and(Vec::is_empty) {
                // Excluding nothing is no condition, not even in an OR.
                continue;
            }
            let terms = terms.filter(|terms| !terms.is_empty());
            formula.conditions.push(Condition { taxonomy: taxonomy.name, operator: clause.operator, terms });
        }
        Ok(formula)
    }

    /// What it means for the posts of a type.
    pub(super) fn select(&self, post_type: &PostType) -> Selected {
        let mut conditions = Vec::new();
        let either = self.relation == Relation::Or;
        for condition in &self.conditions {
            let fulfilled = match (&condition.terms, post_type.taxonomies.get(&condition.taxonomy)) {
                (Some(terms), Some(base)) => {
                    let operator = if terms.len() == 1 && condition.operator == Operator::And {
                        Operator::In
                    } else {
                        condition.operator
                    };
                    conditions.push((base.clone(), operator, terms.clone()));
                    continue;
                }
                // What has no terms has none of those.
                (Some(_), None) => condition.operator == Operator::NotIn,
                (None, _) => false,
            };
            match (either, fulfilled) {
                (true, true) => return Selected::Some(Parameters::new(), None),
                (false, false) => return Selected::None,
                _ => {}
            }
        }
        if conditions.is_empty() {
            return if either && !self.conditions.is_empty() {
                Selected::None
            } else {
                Selected::Some(Parameters::new(), None)
            };
        }
        if either && conditions.len() > 1 { any_of(conditions, post_type) } else { all_of(conditions) }
    }
}

/// The terms of a clause; `None` if no post can fulfil it.
async fn find(
    site: &Site,
    client: &Client,
    taxonomy: &Taxonomy,
    clause: &Clause,
) -> Result<Option<Vec<u64>>, FetchError> {
    let (mut terms, given) = match &clause.terms {
        Named::Id(ids) => (ids.clone(), 0),
        Named::Slug(slugs) => (site.terms_by_slug(client, taxonomy, slugs).await?, unique(slugs)),
        Named::Name(names) => (site.terms_by_name(client, taxonomy, names).await?, unique(names)),
    };
    terms.sort_unstable();
    terms.dedup();
    if clause.operator == Operator::And && terms.len() < given {
        return Ok(None);
    }
    if clause.include_children && taxonomy.hierarchical {
        let mut family = Vec::new();
        for term in &terms {
            family.extend(site.descendants(client, taxonomy, *term).await?);
            family.push(*term);
        }
        let members = family.len();
        family.sort_unstable();
        family.dedup();
        // WordPress counts a term twice that is given and a child of another one, and then misses one.
        if clause.operator == Operator::And && family.len() < members {
            return Ok(None);
        }
        terms = family;
    }
    Ok(Some(terms))
}

fn unique(texts: &[String]) -> usize {
    texts.iter().collect::<std::collections::HashSet<_>>().len()
}

/// REST takes one list to have and one to exclude for each taxonomy.
fn all_of(conditions: Vec<(String, Operator, Vec<u64>)>) -> Selected {
    let mut parameters = Parameters::new();
    let mut again = false;
    for (base, conditions) in by_base(&conditions) {
        let mut wanted = Vec::new();
        let mut lists = Vec::new();
        let mut excluded = Vec::new();
        for (operator, terms) in conditions {
            match operator {
                Operator::NotIn => excluded.extend(terms),
                Operator::And => wanted.extend(terms),
                Operator::In => lists.push(terms),
            }
        }
        if lists.len() > 1 || !wanted.is_empty() {
            // One term of a list of one is a term that is wanted.
            lists.retain(|list| {
                if let [term] = list.as_slice() {
                    wanted.push(*term);
                    false
                } else {
                    true
                }
            });
        }
        wanted.sort_unstable();
        wanted.dedup();
        match (wanted.as_slice(), lists.first()) {
            ([], None) => {}
            ([], Some(list)) => parameters.push(pair(base, join(list))),
            ([term], _) => parameters.push(pair(base, term)),
            (terms, _) => {
                parameters.push(pair(&format!("{base}[terms]"), join(terms)));
                parameters.push(pair(&format!("{base}[operator]"), "AND"));
            }
        }
        again |= lists.len() + usize::from(!wanted.is_empty()) > 1;
        if !excluded.is_empty() {
            parameters.push(pair(&format!("{base}_exclude"), join(&excluded)));
        }
    }
    Selected::Some(parameters, again.then_some(Check { relation: Relation::And, conditions }))
}

fn any_of(conditions: Vec<(String, Operator, Vec<u64>)>, post_type: &PostType) -> Selected {
    let mut parameters = vec![pair("tax_relation", "OR")];
    let mut expressible = post_type.parameters.contains("tax_relation");
    for (base, conditions) in by_base(&conditions) {
        let of = |wanted: Operator| conditions.iter().filter(move |(operator, _)| *operator == wanted);
        let included: Vec<u64> = of(Operator::In).flat_map(|(_, terms)| terms).copied().collect();
        let (all, none): (Vec<_>, Vec<_>) = (of(Operator::And).collect(), of(Operator::NotIn).collect());
        expressible &= none.len() < 2 && all.len() + usize::from(!included.is_empty()) < 2;
        if let [(_, terms)] = all.as_slice() {
            parameters.push(pair(&format!("{base}[terms]"), join(terms)));
            parameters.push(pair(&format!("{base}[operator]"), "AND"));
        } else if !included.is_empty() {
            parameters.push(pair(base, join(&included)));
        }
        if let [(_, terms)] = none.as_slice() {
            parameters.push(pair(&format!("{base}_exclude"), join(terms)));
        }
    }
    if expressible {
        return Selected::Some(parameters, None);
    }
    Selected::Some(Parameters::new(), Some(Check { relation: Relation::Or, conditions }))
}

fn by_base(conditions: &[(String, Operator, Vec<u64>)]) -> BTreeMap<&str, Vec<(Operator, Vec<u64>)>> {
    let mut bases: BTreeMap<&str, Vec<_>> = BTreeMap::new();
    for (base, operator, terms) in conditions {
        bases.entry(base).or_default().push((*operator, terms.clone()));
    }
    bases
}

impl Check {
    /// The members of a post that it needs.
    pub(super) fn fields(&self) -> impl Iterator<Item = &str> {
        self.conditions.iter().map(|(base, ..)| base.as_str())
    }

    /// True if a post fulfils it.
    pub(super) fn admits(&self, post: &Value) -> bool {
        let mut fulfilled = self.conditions.iter().map(|(base, operator, terms)| {
            let own = |term: &u64| {
                post[base.as_str()].as_array().into_iter().flatten().any(|own| own.as_u64() == Some(*term))
            };
            match operator {
                Operator::In => terms.iter().any(own),
                Operator::NotIn => !terms.iter().any(own),
                Operator::And => terms.iter().all(own),
            }
        });
        match self.relation {
            Relation::And => fulfilled.all(|fulfilled| fulfilled),
            Relation::Or => fulfilled.any(|fulfilled| fulfilled),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn formula(relation: Relation, conditions: &[(&str, Operator, Option<&[u64]>)]) -> Formula {
        let condition = |(taxonomy, operator, terms): &(&str, Operator, Option<&[u64]>)| Condition {
            taxonomy: (*taxonomy).to_owned(),
            operator: *operator,
            terms: terms.map(<[u64]>::to_vec),
        };
        Formula { relation, conditions: conditions.iter().map(condition).collect(), ..Formula::default() }
    }

    fn query(formula: &Formula) -> Option<(String, bool)> {
        let post_type = PostType {
            name: "post".to_owned(),
            route: "/wp/v2/posts".to_owned(),
            taxonomies: [("category", "categories"), ("post_tag", "tags")]
                .map(|(name, base)| (name.to_owned(), base.to_owned()))
                .into(),
            parameters: ["tax_relation".to_owned()].into(),
            orders: [].into(),
        };
        match formula.select(&post_type) {
            Selected::None => None,
            Selected::Some(parameters, check) => {
                let query: Vec<String> = parameters.iter().map(|(name, value)| format!("{name}={value}")).collect();
                Some((query.join("&"), check.is_some()))
            }
        }
    }

    #[test]
    fn says_in_parameters_what_they_can_say() {
        use Operator::{And, In, NotIn};
        for (relation, conditions, expected) in [
            (Relation::And, &[("category", In, Some(&[1, 2][..]))][..], Some(("categories=1,2", false))),
            (Relation::And, &[("category", And, Some(&[1]))], Some(("categories=1", false))),
            (
                Relation::And,
                &[("category", In, Some(&[1])), ("category", In, Some(&[2])), ("category", NotIn, Some(&[3]))],
                Some(("categories[terms]=1,2&categories[operator]=AND&categories_exclude=3", false)),
            ),
            (
                Relation::And,
                &[("category", In, Some(&[1, 2])), ("category", In, Some(&[3, 4]))],
                Some(("categories=1,2", true)),
            ),
            (
                Relation::And,
                &[("category", In, Some(&[1, 2])), ("category", And, Some(&[3, 4]))],
                Some(("categories[terms]=3,4&categories[operator]=AND", true)),
            ),
            (
                Relation::And,
                &[("category", NotIn, Some(&[1])), ("category", NotIn, Some(&[2]))],
                Some(("categories_exclude=1,2", false)),
            ),
            (Relation::And, &[("category", In, None), ("post_tag", In, Some(&[1]))], None),
            (Relation::And, &[("genre", In, Some(&[1]))], None),
            (Relation::And, &[("genre", NotIn, Some(&[1]))], Some(("", false))),
            (
                Relation::Or,
                &[("category", In, Some(&[1])), ("post_tag", In, Some(&[2])), ("category", In, Some(&[3]))],
                Some(("tax_relation=OR&categories=1,3&tags=2", false)),
            ),
            (Relation::Or, &[("category", In, None), ("post_tag", In, Some(&[2]))], Some(("tags=2", false))),
            (Relation::Or, &[("category", In, None), ("post_tag", In, None)], None),
            (Relation::Or, &[("category", NotIn, Some(&[1])), ("category", NotIn, Some(&[2]))], Some(("", true))),
            (Relation::Or, &[("genre", NotIn, Some(&[1])), ("category", In, Some(&[2]))], Some(("", false))),
            (Relation::Or, &[("genre", In, Some(&[1]))], None),
        ] {
            let expected = expected.map(|(query, again)| (query.to_owned(), again));
            assert_eq!(query(&formula(relation, conditions)), expected, "{conditions:?}");
        }
    }

    #[test]
    fn checks_posts() {
        let check = |relation, conditions: &[(&str, Operator, &[u64])]| {
            let own =
                |(base, operator, terms): &(&str, Operator, &[u64])| ((*base).to_owned(), *operator, terms.to_vec());
            let check = Check { relation, conditions: conditions.iter().map(own).collect() };
            check.admits(&json!({ "categories": [1, 2], "tags": [] }))
        };
        assert!(check(Relation::And, &[("categories", Operator::In, &[2, 9]), ("tags", Operator::NotIn, &[1])]));
        assert!(check(Relation::And, &[("categories", Operator::And, &[1, 2])]));
        assert!(!check(Relation::And, &[("categories", Operator::And, &[1, 9])]));
        assert!(!check(Relation::And, &[("categories", Operator::In, &[1]), ("tags", Operator::In, &[1])]));
        assert!(check(Relation::Or, &[("categories", Operator::In, &[1]), ("tags", Operator::In, &[1])]));
        assert!(!check(Relation::Or, &[("categories", Operator::NotIn, &[1]), ("tags", Operator::In, &[1])]));
    }
}
