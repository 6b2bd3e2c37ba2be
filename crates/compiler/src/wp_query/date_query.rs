//! `date_query`: one range of dates.

use mcpress_catalog::source::{Date, DateColumn, DateQuery, DateTime, Param};

use super::{
    reader::{Place, Reader},
    refused::{self, Refusal},
    written::Written,
};

pub(super) fn date_query(reader: &mut Reader<'_, '_>, place: &Place, value: &Written) -> Option<DateQuery> {
    const KEYS: &[&str] = &["after", "before", "inclusive", "column"];
    const SHAPE: &str = "a range such as `{after: 2025-12-31, before: 2027-01-01}`";
    let (place, members) = match value {
        Written::Mapping(members) => (place.clone(), members),
        Written::List(_) => {
            let items = reader.items(place, value);
            match items.as_slice() {
                [(place, Written::Mapping(members))] => (place.clone(), members),
                [(place, value)] => {
                    reader.expected(place, SHAPE, value);
                    return None;
                }
                [] => return None,
                [_, (place, _), ..] => {
                    let hint = "keep one; `after` and `before` stand together in it";
                    reader.error(place, "the REST API knows one range of dates only").with_hint(hint);
                    return None;
                }
            }
        }
        _ => {
            reader.expected(place, SHAPE, value);
            return None;
        }
    };
    let known = format!("known keys are {}", KEYS.join(", "));
    let found = reader.members(&place, members, KEYS, refused::DATES, &known);
    let (after, before) = (found.get("after"), found.get("before"));
    if after.or(before).is_none() {
        if found.len() == members.len() {
            reader.error(&place, "neither `after` nor `before` is given").with_hint(&format!("write {SHAPE}"));
        }
        return None;
    }
    let after = after.and_then(|(place, value)| date(reader, place, value));
    let before_date = before.and_then(|(place, value)| date(reader, place, value));
    if let (Some(Param::Value(Date::At(after))), Some(Param::Value(Date::At(until))), Some((place, _))) =
        (&after, &before_date, before)
        && is_empty(after, until)
    {
        reader.error(place, "it is earlier than `after`, so the range is empty").with_hint("swap the two");
    }
    let inclusive = found.get("inclusive").and_then(|(place, value)| reader.boolean(place, value)).unwrap_or_default();
    let column = match found.get("column") {
        Some((place, value)) => column(reader, place, value)?,
        None => DateColumn::PostDate,
    };
    Some(DateQuery { after, before: before_date, inclusive, column })
}

fn column(reader: &mut Reader<'_, '_>, place: &Place, value: &Written) -> Option<DateColumn> {
    const EXPECTED: &str = "`post_date` or `post_modified`";
    match reader.scalar(place, EXPECTED, value)? {
        "post_date" => return Some(DateColumn::PostDate),
        "post_modified" => return Some(DateColumn::PostModified),
        "post_date_gmt" | "post_modified_gmt" => {
            let hint = "leave out the `_gmt`, and write dates in the site's time zone";
            reader.error(place, "the WordPress REST API compares in the site's time zone").with_hint(hint);
        }
        _ => reader.expected(place, EXPECTED, value),
    }
    None
}

fn date(reader: &mut Reader<'_, '_>, place: &Place, value: &Written) -> Option<Param<Date>> {
    match value {
        Written::Scalar(text) => {
            if reader.is_template(place, text)? {
                return Some(Param::Template(text.clone()));
            }
            match text.parse() {
                Ok(date) => Some(Param::Value(date)),
                Err(message) => {
                    reader.error(place, format!("{message}, found `{text}`")).with_hint(
                        "dates are in the site's time zone; hours, days, weeks, months and years count back",
                    );
                    None
                }
            }
        }
        Written::Mapping(_) if value.unquoted_placeholder().is_none() => date_mapping(reader, place, value),
        _ => {
            reader.expected(place, "a date", value);
            None
        }
    }
}

fn date_mapping(reader: &mut Reader<'_, '_>, place: &Place, value: &Written) -> Option<Param<Date>> {
    const KEYS: &[&str] = &["year", "month", "day"];
    const TIME: &[Refusal] = &[Refusal {
        names: &["hour", "minute", "second"],
        reason: "the parts of a date are year, month and day",
        hint: "write the time as text: `2026-07-28 12:00`",
    }];
    let Written::Mapping(members) = value else { return None };
    let found = reader.members(place, members, KEYS, TIME, "known keys are year, month, day");
    let mut part = |name: &str| -> Option<Option<u16>> {
        let Some((place, value)) = found.get(name) else { return Some(None) };
        let text = reader.scalar(place, "a whole number", value)?;
        let Ok(number) = text.parse() else {
            reader.expected(place, "a whole number", value);
            return None;
        };
        Some(Some(number))
    };
    let (year, month, day) = (part("year")?, part("month")?, part("day")?);
    let small = |part: Option<u16>| part.map(|part| u8::try_from(part).unwrap_or(u8::MAX));
    let (Some(year), true) = (year, month.is_some() || day.is_none()) else {
        let missing = if year.is_none() { "year" } else { "month" };
        reader.error(place, format!("`{missing}` is missing")).with_hint("write `{year: 2026, month: 7, day: 28}`");
        return None;
    };
    let date = DateTime { year, month: small(month), day: small(day), hour: None, minute: None, second: None };
    match date.check() {
        Ok(()) => Some(Param::Value(Date::At(date))),
        Err(message) => {
            reader.error(place, message);
            None
        }
    }
}

/// True if nothing lies behind `after` and ahead of `before`, as far as both are given.
fn is_empty(after: &DateTime, before: &DateTime) -> bool {
    let parts = |date: &DateTime| [date.month, date.day, date.hour, date.minute, date.second];
    let pairs = parts(after).into_iter().zip(parts(before));
    let common = pairs.map_while(|(after, before)| Some((after?, before?)));
    let (after_parts, before_parts): (Vec<_>, Vec<_>) = common.unzip();
    (before.year, before_parts) < (after.year, after_parts)
}
