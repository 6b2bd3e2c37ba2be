//! `date_query`: the moments between which posts are, as WordPress reckons them in the site's time zone.

use jiff::{
    Span, Timestamp,
    civil::{self, DateTime},
    tz::{AmbiguousOffset, TimeZone},
};
use mcpress_catalog::source::{self, Date, DateColumn, Unit};
use serde_json::Value;

use super::arguments::Dates;

/// One end of a range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Bound {
    column: DateColumn,
    side: Side,
    /// In the site's time zone.
    at: DateTime,
    inclusive: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    After,
    Before,
}

/// The ends of a range.
pub(super) fn bounds(dates: &Dates, time_zone: &TimeZone, now: Timestamp) -> Vec<Bound> {
    let Dates { inclusive, column, .. } = *dates;
    let bound = |side, date, to_end| Bound { column, side, at: moment(date, to_end, time_zone, now), inclusive };
    let after = dates.after.map(|date| bound(Side::After, date, !inclusive));
    let before = dates.before.map(|date| bound(Side::Before, date, inclusive));
    after.into_iter().chain(before).collect()
}

impl Bound {
    /// The parameter that asks for it, and whether posts have to be looked at once more.
    ///
    /// REST knows no inclusive bounds, reads a time that a clock change leaves out as a later one, and refuses the
    /// first second of 1970; where that matters, the parameter lets more through.
    pub(super) fn parameter(&self, time_zone: &TimeZone) -> (Option<(String, String)>, bool) {
        let name = match (self.column, self.side) {
            (DateColumn::PostDate, Side::After) => "after",
            (DateColumn::PostDate, Side::Before) => "before",
            (DateColumn::PostModified, Side::After) => "modified_after",
            (DateColumn::PostModified, Side::Before) => "modified_before",
        };
        let outwards = |at: DateTime, span: Span| match self.side {
            Side::After => at.checked_sub(span).ok(),
            Side::Before => at.checked_add(span).ok(),
        };
        let exact = if self.inclusive { outwards(self.at, Span::new().seconds(1)) } else { Some(self.at) };
        let refused = |at: DateTime| at == civil::date(1970, 1, 1).at(0, 0, 0, 0);
        let left_out = |at| matches!(time_zone.to_ambiguous_timestamp(at).offset(), AmbiguousOffset::Gap { .. });
        let safe = |at: &DateTime| !left_out(*at) && !refused(*at);
        let (at, again) = match exact {
            Some(at) if safe(&at) => (Some(at), false),
            Some(at) => (outwards(at, Span::new().hours(25)), true),
            None => (None, true),
        };
        (at.map(|at| (name.to_owned(), at.strftime(FORMAT).to_string())), again)
    }

    /// The member of a post that it is compared with.
    pub(super) fn field(&self) -> &'static str {
        match self.column {
            DateColumn::PostDate => "date",
            DateColumn::PostModified => "modified",
        }
    }

    /// True if a post lies within.
    pub(super) fn admits(&self, post: &Value) -> bool {
        let Some(Ok(date)) = post[self.field()].as_str().map(str::parse::<DateTime>) else { return false };
        match (self.side, self.inclusive) {
            (Side::After, false) => date > self.at,
            (Side::After, true) => date >= self.at,
            (Side::Before, false) => date < self.at,
            (Side::Before, true) => date <= self.at,
        }
    }
}

const FORMAT: &str = "%Y-%m-%dT%H:%M:%S";

/// The first or last second of a date, or a time ago.
fn moment(date: Date, to_end: bool, time_zone: &TimeZone, now: Timestamp) -> DateTime {
    match date {
        Date::At(at) => written(at, to_end, time_zone),
        Date::Ago { amount, unit } => ago(amount, unit, time_zone, now),
    }
}

fn written(at: source::DateTime, to_end: bool, time_zone: &TimeZone) -> DateTime {
    let part = |given: Option<u8>, first: i8, last: i8| match given {
        Some(given) => i8::try_from(given).unwrap_or(last),
        None if to_end => last,
        None => first,
    };
    let year = i16::try_from(at.year).unwrap_or(i16::MAX);
    let month = civil::Date::new(year, part(at.month, 1, 12), 1).unwrap_or(civil::Date::MAX);
    let day = part(at.day, 1, month.days_in_month());
    let date = civil::Date::new(year, month.month(), day).unwrap_or(month);
    let time = civil::Time::new(part(at.hour, 0, 23), part(at.minute, 0, 59), part(at.second, 0, 59), 0);
    let at_time = date.to_datetime(time.unwrap_or_default());
    // With seconds, WordPress takes it for a moment rather than for a text, and there is none in a clock change.
    if at.second.is_some() { existing(at_time, time_zone) } else { at_time }
}

/// As PHP reckons: hours as time passes, everything else by the calendar, where the 31st of a month that ends before it
/// is a day of the next month.
fn ago(amount: u32, unit: Unit, time_zone: &TimeZone, now: Timestamp) -> DateTime {
    let amount = i64::from(amount);
    let local = time_zone.to_datetime(now);
    let reckon = || -> Result<DateTime, jiff::Error> {
        match unit {
            Unit::Hours => Ok(time_zone.to_datetime(now.checked_sub(Span::new().try_hours(amount)?)?)),
            Unit::Days => local.checked_sub(Span::new().try_days(amount)?),
            Unit::Weeks => local.checked_sub(Span::new().try_weeks(amount)?),
            Unit::Months => months_ago(local, amount),
            Unit::Years => months_ago(local, 12 * amount),
        }
    };
    let first = civil::date(1, 1, 1).at(0, 0, 0, 0);
    let earlier = existing(reckon().unwrap_or(first).max(first), time_zone);
    earlier.with().subsec_nanosecond(0).build().unwrap_or(earlier)
}

/// A time that a clock change leaves out is as much later.
fn existing(at: DateTime, time_zone: &TimeZone) -> DateTime {
    time_zone.to_timestamp(at).map_or(at, |timestamp| time_zone.to_datetime(timestamp))
}

fn months_ago(local: DateTime, months: i64) -> Result<DateTime, jiff::Error> {
    let first_of_month = local.with().day(1).build()?.checked_sub(Span::new().try_months(months)?)?;
    first_of_month.checked_add(Span::new().days(i64::from(local.day()) - 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parameters(after: Option<&str>, before: Option<&str>, inclusive: bool) -> Vec<(String, bool)> {
        let read = |date: Option<&str>| date.map(|date| date.parse().unwrap());
        let dates = Dates { after: read(after), before: read(before), inclusive, column: DateColumn::PostDate };
        let time_zone = TimeZone::get("Europe/Berlin").unwrap();
        let now = "2024-03-31T10:00:00Z".parse().unwrap();
        let parameter = |bound: Bound| {
            let (parameter, again) = bound.parameter(&time_zone);
            (parameter.unwrap().1, again)
        };
        bounds(&dates, &time_zone, now).into_iter().map(parameter).collect()
    }

    #[test]
    fn dates_stand_for_their_whole_length() {
        for (date, after, before) in [
            ("2023", "2023-12-31T23:59:59", "2023-01-01T00:00:00"),
            ("2024-02", "2024-02-29T23:59:59", "2024-02-01T00:00:00"),
            ("2023-06-07", "2023-06-07T23:59:59", "2023-06-07T00:00:00"),
            ("2023-06-07 12:30", "2023-06-07T12:30:59", "2023-06-07T12:30:00"),
            ("2023-06-07 12:30:05", "2023-06-07T12:30:05", "2023-06-07T12:30:05"),
            ("2023-03-26 02:30:00", "2023-03-26T03:30:00", "2023-03-26T03:30:00"),
            // Summer time has begun eight hours ago.
            ("24 hours ago", "2024-03-30T11:00:00", "2024-03-30T11:00:00"),
            ("1 day ago", "2024-03-30T12:00:00", "2024-03-30T12:00:00"),
            ("1 month ago", "2024-03-02T12:00:00", "2024-03-02T12:00:00"),
            ("1 year ago", "2023-03-31T12:00:00", "2023-03-31T12:00:00"),
        ] {
            let expected = [(after.to_owned(), false), (before.to_owned(), false)];
            assert_eq!(parameters(Some(date), Some(date), false), expected, "{date}");
        }
        let inclusive = parameters(Some("2023-06-07"), Some("2023-06-07"), true);
        assert_eq!(inclusive, [("2023-06-06T23:59:59".to_owned(), false), ("2023-06-08T00:00:00".to_owned(), false)]);
    }

    #[test]
    fn looks_again_where_rest_would_be_wrong() {
        assert_eq!(parameters(None, Some("1970"), false), [("1970-01-02T01:00:00".to_owned(), true)]);
        assert_eq!(parameters(Some("2023-03-26 02:30"), None, false), [("2023-03-25T01:30:59".to_owned(), true)]);
        let time_zone = TimeZone::UTC;
        let dates = Dates {
            after: None,
            before: Some("2023".parse().unwrap()),
            inclusive: false,
            column: DateColumn::PostModified,
        };
        let bound = bounds(&dates, &time_zone, Timestamp::UNIX_EPOCH).remove(0);
        assert!(bound.admits(&serde_json::json!({ "modified": "2022-12-31T23:59:59" })));
        assert!(!bound.admits(&serde_json::json!({ "modified": "2023-01-01T00:00:00" })));
        assert!(!bound.admits(&serde_json::json!({ "date": "2022-01-01T00:00:00" })));
    }
}
