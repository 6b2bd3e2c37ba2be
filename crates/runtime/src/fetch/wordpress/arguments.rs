//! The arguments of WP_Query for one read: those of the resource template are filled in.

use std::collections::BTreeMap;

use mcpress_catalog::source::{
    Date, DateColumn, Operator, Order, OrderBy, Param, PerPage, PostType, Query, Relation, SignedId, Slug, Terms,
};

use super::super::error::FetchError;

/// `Query` without what arguments leave open.
#[derive(Debug)]
pub(super) struct Arguments {
    pub(super) post_type: Vec<String>,
    pub(super) post_status: Vec<String>,
    pub(super) p: Option<u64>,
    pub(super) name: Option<String>,
    pub(super) page_id: Option<u64>,
    pub(super) pagename: Option<String>,
    pub(super) per_page: PerPage,
    /// An argument of the resource template has chosen it.
    pub(super) per_page_is_chosen: bool,
    pub(super) paged: u64,
    pub(super) offset: Option<u64>,
    pub(super) order: Order,
    pub(super) order_by: Option<OrderBy>,
    pub(super) search: Option<String>,
    pub(super) post_in: Vec<u64>,
    pub(super) post_not_in: Vec<u64>,
    pub(super) post_name_in: Vec<String>,
    pub(super) post_parent: Option<u64>,
    pub(super) post_parent_in: Vec<u64>,
    pub(super) post_parent_not_in: Vec<u64>,
    /// `author` has been given.
    pub(super) has_author: bool,
    /// `author` and `author__in`.
    pub(super) author_in: Vec<u64>,
    /// `author` and `author__not_in`.
    pub(super) author_not_in: Vec<u64>,
    pub(super) author_name: Option<String>,
    pub(super) relation: Relation,
    pub(super) clauses: Vec<Clause>,
    pub(super) dates: Option<Dates>,
    pub(super) ignore_sticky_posts: bool,
    pub(super) sticky: Option<bool>,
}

/// A condition on the terms of a post.
#[derive(Debug)]
pub(super) struct Clause {
    pub(super) taxonomy: String,
    pub(super) terms: Named,
    pub(super) operator: Operator,
    pub(super) include_children: bool,
}

/// Terms as they are given.
#[derive(Debug)]
pub(super) enum Named {
    Id(Vec<u64>),
    Slug(Vec<String>),
    Name(Vec<String>),
}

/// A range of dates.
#[derive(Debug)]
pub(super) struct Dates {
    pub(super) after: Option<Date>,
    pub(super) before: Option<Date>,
    pub(super) inclusive: bool,
    pub(super) column: DateColumn,
}

impl Arguments {
    /// Fills in the arguments of the resource template.
    ///
    /// # Errors
    /// There is no such resource: an argument gives no valid value.
    pub(super) fn new(query: &Query, values: &BTreeMap<String, String>) -> Result<Self, FetchError> {
        let fill = Fill(values);
        let (author_in, author_not_in) = fill.signed(&query.author)?;
        let per_page = fill.one(&query.posts_per_page)?;
        let dates = query.date_query.as_ref().map(|dates| {
            let (after, before) = (fill.one(&dates.after)?, fill.one(&dates.before)?);
            Ok::<_, FetchError>(Dates { after, before, inclusive: dates.inclusive, column: dates.column })
        });
        let slug = |slug: Slug| slug.0;
        Ok(Self {
            post_type: fill.all(&query.post_type)?.into_iter().map(|PostType(name)| name).collect(),
            post_status: query.post_status.clone(),
            p: fill.one(&query.p)?.map(u64::from),
            name: fill.one(&query.name)?.map(slug),
            page_id: fill.one(&query.page_id)?.map(u64::from),
            pagename: fill.one(&query.pagename)?.map(slug),
            per_page_is_chosen: matches!(query.posts_per_page, Some(Param::Template(_))) && per_page.is_some(),
            per_page: per_page.unwrap_or(PerPage::Count(DEFAULT_PER_PAGE)),
            paged: fill.one(&query.paged)?.map_or(1, |paged| paged.get().into()),
            offset: fill.one(&query.offset)?.map(u64::from),
            order: fill.one(&query.order)?.unwrap_or(Order::Desc),
            order_by: fill.one(&query.order_by)?,
            search: fill.one(&query.search)?,
            post_in: fill.ids(&query.post_in)?,
            post_not_in: fill.ids(&query.post_not_in)?,
            post_name_in: fill.all(&query.post_name_in)?.into_iter().map(slug).collect(),
            post_parent: fill.one(&query.post_parent)?,
            post_parent_in: fill.all(&query.post_parent_in)?,
            post_parent_not_in: fill.all(&query.post_parent_not_in)?,
            has_author: !author_in.is_empty() || !author_not_in.is_empty(),
            author_in: [author_in, fill.ids(&query.author_in)?].concat(),
            author_not_in: [author_not_in, fill.ids(&query.author_not_in)?].concat(),
            author_name: fill.one(&query.author_name)?.map(slug),
            relation: query.tax_query.as_ref().map_or(Relation::And, |tax_query| tax_query.relation),
            clauses: fill.clauses(query)?,
            dates: dates.transpose()?,
            ignore_sticky_posts: query.ignore_sticky_posts,
            sticky: query.sticky,
        })
    }

    /// True if the query is for one post, as WordPress sees it.
    pub(super) fn is_singular(&self) -> bool {
        self.p.is_some() || self.name.is_some() || self.page_id.is_some() || self.pagename.is_some()
    }
}

/// A site's own setting is not to be had; this is what WordPress comes with.
const DEFAULT_PER_PAGE: std::num::NonZeroU32 = std::num::NonZeroU32::MIN.saturating_add(9);

struct Fill<'a>(&'a BTreeMap<String, String>);

impl Fill<'_> {
    fn one<T: std::str::FromStr + Clone>(&self, param: &Option<Param<T>>) -> Result<Option<T>, FetchError> {
        param.as_ref().map_or(Ok(None), |param| param.resolve(self.0).map_err(|_| FetchError::not_found()))
    }

    fn all<T: std::str::FromStr + Clone>(&self, params: &[Param<T>]) -> Result<Vec<T>, FetchError> {
        let filled = params.iter().filter_map(|param| param.resolve(self.0).transpose());
        filled.collect::<Result<_, _>>().map_err(|_| FetchError::not_found())
    }

    fn ids(&self, params: &[Param<std::num::NonZeroU64>]) -> Result<Vec<u64>, FetchError> {
        Ok(self.all(params)?.into_iter().map(u64::from).collect())
    }

    /// The included and the excluded ones.
    fn signed(&self, signed: &[SignedId]) -> Result<(Vec<u64>, Vec<u64>), FetchError> {
        let (excluded, included): (Vec<_>, Vec<_>) = signed.iter().cloned().partition(|signed| signed.excluded);
        let ids = |signed: Vec<SignedId>| self.ids(&signed.into_iter().map(|signed| signed.id).collect::<Vec<_>>());
        Ok((ids(included)?, ids(excluded)?))
    }

    /// All that is asked of a post's terms, in the order in which WordPress joins it.
    fn clauses(&self, query: &Query) -> Result<Vec<Clause>, FetchError> {
        let mut clauses = Vec::new();
        for clause in query.tax_query.iter().flat_map(|tax_query| &tax_query.clauses) {
            let terms = match &clause.terms {
                Terms::TermId(ids) => Named::Id(self.ids(ids)?),
                Terms::Slug(slugs) => Named::Slug(self.all(slugs)?.into_iter().map(|slug| slug.0).collect()),
                Terms::Name(names) => Named::Name(self.all(names)?.into_iter().map(|name| name.0).collect()),
            };
            clauses.push(Clause {
                taxonomy: clause.taxonomy.clone(),
                terms,
                operator: clause.operator,
                include_children: clause.include_children,
            });
        }
        let mut add = |taxonomy: &str, terms: Named, operator, include_children| {
            clauses.push(Clause { taxonomy: taxonomy.to_owned(), terms, operator, include_children });
        };
        if let Some(categories) = &query.category_name {
            // Of a path, the last part counts.
            let last = |slug: Slug| slug.0.trim_end_matches('/').rsplit('/').next().unwrap_or_default().to_owned();
            let slugs: Vec<String> = self.all(&categories.slugs)?.into_iter().map(last).collect();
            match categories.relation {
                Relation::Or => add("category", Named::Slug(slugs), Operator::In, true),
                Relation::And => {
                    slugs.into_iter().for_each(|slug| add("category", Named::Slug(vec![slug]), Operator::In, true));
                }
            }
        }
        let (included, excluded) = self.signed(&query.cat)?;
        let category_and = self.ids(&query.category_and)?;
        let mut category_in = self.ids(&query.category_in)?;
        let alone = category_and.len() == 1;
        if alone {
            category_in.extend(&category_and);
        }
        for (ids, operator, include_children) in [
            (included, Operator::In, true),
            (excluded, Operator::NotIn, true),
            (category_in, Operator::In, false),
            (self.ids(&query.category_not_in)?, Operator::NotIn, false),
            (if alone { Vec::new() } else { category_and }, Operator::And, false),
        ] {
            add("category", Named::Id(ids), operator, include_children);
        }
        for (ids, operator) in [
            (self.one(&query.tag_id)?.map(u64::from).into_iter().collect(), Operator::In),
            (self.ids(&query.tag_in)?, Operator::In),
            (self.ids(&query.tag_not_in)?, Operator::NotIn),
            (self.ids(&query.tag_and)?, Operator::And),
        ] {
            add("post_tag", Named::Id(ids), operator, false);
        }
        if let Some(tags) = &query.tag {
            let slugs = self.all(&tags.slugs)?.into_iter().map(|slug| slug.0).collect();
            let operator = if tags.relation == Relation::And { Operator::And } else { Operator::In };
            add("post_tag", Named::Slug(slugs), operator, false);
        }
        // What was not given, or was left out for want of an argument.
        clauses.retain(|clause| match &clause.terms {
            Named::Id(ids) => !ids.is_empty(),
            Named::Slug(texts) | Named::Name(texts) => !texts.is_empty(),
        });
        Ok(clauses)
    }
}
