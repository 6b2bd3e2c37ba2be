//! What is asked of the posts of one type: parameters of its route, and a filter for what REST cannot say.

use std::sync::Arc;

use jiff::tz::TimeZone;
use serde_json::Value;

use super::{
    super::error::FetchError,
    arguments::Arguments,
    dates::Bound,
    lookup::PostType,
    path::Page,
    site::{Parameters, Site, join, pair},
    slug,
    terms::{Check, Formula, Selected},
};

/// Posts of one type.
pub(super) struct Selection {
    pub(super) post_type: Arc<PostType>,
    pub(super) parameters: Parameters,
    /// The status alone, for posts that are asked for by id.
    pub(super) status: Parameters,
    pub(super) filter: Filter,
}

/// What REST cannot say is looked up in the posts.
#[derive(Default)]
pub(super) struct Filter {
    terms: Option<Check>,
    dates: Vec<Bound>,
}

/// Gathers what is asked of the posts of one type. A method that says `false` has found that there can be none.
pub(super) struct Builder {
    post_type: Arc<PostType>,
    parameters: Parameters,
    filter: Filter,
}

impl Builder {
    pub(super) fn new(post_type: Arc<PostType>) -> Self {
        Self { post_type, parameters: Parameters::new(), filter: Filter::default() }
    }

    /// Adds what all types are asked for, and checks that the site knows all of it.
    pub(super) fn finish(self, site: &Site, search: Option<&str>, status: Parameters) -> Result<Selection, FetchError> {
        let Self { post_type, mut parameters, filter } = self;
        parameters.extend(search.map(|search| pair("search", search)));
        parameters.extend(status.clone());
        let selection = Selection { post_type, parameters, status, filter };
        selection.check(site)?;
        Ok(selection)
    }

    fn add(&mut self, name: &str, value: impl ToString) {
        self.parameters.push(pair(name, value));
    }

    fn takes(&self, parameter: &str) -> bool {
        self.post_type.parameters.contains(parameter)
    }

    /// `None` if there can be none: media have statuses of their own.
    pub(super) fn status(&self, arguments: &Arguments) -> Option<Parameters> {
        let media = self.post_type.name == "attachment";
        let asked: Vec<&str> = arguments.post_status.iter().map(String::as_str).collect();
        if asked.is_empty() {
            return (!media || arguments.is_singular()).then(Parameters::new);
        }
        let possible = |status: &&str| media == (*status == "inherit") || matches!(*status, "private" | "trash");
        let asked: Vec<&str> = asked.into_iter().filter(possible).collect();
        match asked.as_slice() {
            [] => None,
            ["publish"] | ["inherit"] => Some(Parameters::new()),
            _ => Some(vec![pair("status", asked.join(","))]),
        }
    }

    pub(super) fn ids(&mut self, arguments: &Arguments, page: Option<Option<&Page>>) -> bool {
        if let Some(id) = arguments.page_id {
            self.add("include", id);
            return true;
        }
        let names: Vec<String> = match &arguments.name {
            Some(name) => vec![slug::for_query(name.trim())],
            None if page.is_some() => Vec::new(),
            None => arguments.post_name_in.iter().map(|name| slug::for_query(name)).collect(),
        };
        if !names.is_empty() {
            // A slug that comes to nothing would ask for everything.
            let names: Vec<String> = names.into_iter().filter(|name| !name.is_empty()).collect();
            if names.is_empty() {
                return false;
            }
            self.add("slug", names.join(","));
        }
        let mut include = match arguments.p {
            Some(id) => vec![id],
            None => arguments.post_in.clone(),
        };
        if let Some(page) = page {
            let Some(page) = page else { return false };
            let listed =
                if include.is_empty() { !arguments.post_not_in.contains(&page.id) } else { include.contains(&page.id) };
            // Media at the end of a path are asked for as with `p`, which drops these conditions.
            if !listed && page.post_type != "attachment" {
                return false;
            }
            include = vec![page.id];
        }
        if !include.is_empty() {
            self.add("include", join(&include));
        } else if !arguments.post_not_in.is_empty() {
            self.add("exclude", join(&arguments.post_not_in));
        }
        true
    }

    /// The first of the three arguments counts. Types without a tree have everything at the top.
    pub(super) fn parents(&mut self, arguments: &Arguments) -> bool {
        if arguments.page_id.is_some() {
            return true;
        }
        let wanted = arguments.post_parent.map_or_else(|| arguments.post_parent_in.clone(), |parent| vec![parent]);
        let excluded = &arguments.post_parent_not_in;
        if !self.takes("parent") {
            return if wanted.is_empty() { !excluded.contains(&0) } else { wanted.contains(&0) };
        }
        if !wanted.is_empty() {
            self.add("parent", join(&wanted));
        } else if !excluded.is_empty() {
            self.add("parent_exclude", join(excluded));
        }
        true
    }

    /// `author` is what `author_name` was found to be, if it was given.
    pub(super) fn authors(
        &mut self,
        site: &Site,
        arguments: &Arguments,
        author: Option<Option<u64>>,
    ) -> Result<bool, FetchError> {
        let (included, excluded) = (&arguments.author_in, &arguments.author_not_in);
        if author.is_none() && included.is_empty() && excluded.is_empty() {
            return Ok(true);
        }
        if !self.takes("author") {
            // Of the types that nobody named, those that can be asked.
            if arguments.post_type.is_empty() {
                return Ok(false);
            }
            let what = format_args!("does not say who wrote its posts of the type `{}`", self.post_type.name);
            return Err(FetchError::upstream(&site.api.host(), what));
        }
        match author {
            Some(None) => return Ok(false),
            Some(Some(id)) => {
                let listed = if excluded.is_empty() {
                    included.is_empty() || included.contains(&id)
                } else {
                    !excluded.contains(&id)
                };
                self.add("author", id);
                return Ok(listed);
            }
            None if excluded.is_empty() => self.add("author", join(included)),
            None => self.add("author_exclude", join(excluded)),
        }
        Ok(true)
    }

    pub(super) fn sticky(&mut self, arguments: &Arguments) -> bool {
        match arguments.sticky {
            Some(sticky) if self.takes("sticky") => self.add("sticky", sticky),
            Some(true) => return false,
            _ => {}
        }
        true
    }

    pub(super) fn terms(&mut self, formula: &Formula) -> bool {
        match formula.select(&self.post_type) {
            Selected::None => false,
            Selected::Some(parameters, check) => {
                self.parameters.extend(parameters);
                self.filter.terms = check;
                true
            }
        }
    }

    pub(super) fn dates(&mut self, bounds: &[Bound], time_zone: &TimeZone) {
        for bound in bounds {
            let (parameter, again) = bound.parameter(time_zone);
            self.parameters.extend(parameter);
            if again {
                self.filter.dates.push(bound.clone());
            }
        }
    }
}

impl Selection {
    /// What a site does not know it ignores, and then gives everything.
    fn check(&self, site: &Site) -> Result<(), FetchError> {
        for (name, _) in &self.parameters {
            let name = name.split('[').next().unwrap_or_default();
            if !self.post_type.parameters.contains(name) {
                let host = site.api.host();
                let route = &self.post_type.route;
                return Err(FetchError::upstream(&host, format_args!("has no parameter `{name}` for `{route}`")));
            }
        }
        Ok(())
    }
}

impl Filter {
    /// True if it lets everything through.
    pub(super) fn is_empty(&self) -> bool {
        self.terms.is_none() && self.dates.is_empty()
    }

    /// The members of a post that it needs.
    pub(super) fn fields(&self) -> Vec<&str> {
        let mut fields: Vec<&str> = self.dates.iter().map(Bound::field).collect();
        fields.extend(self.terms.iter().flat_map(Check::fields));
        fields
    }

    /// True if a post is one of those.
    pub(super) fn admits(&self, post: &Value) -> bool {
        self.terms.as_ref().is_none_or(|check| check.admits(post)) && self.dates.iter().all(|bound| bound.admits(post))
    }
}
