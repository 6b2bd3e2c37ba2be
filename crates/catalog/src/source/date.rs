//! The dates of a WordPress `date_query`.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A point in time, in the site's time zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Date {
    /// A year, month, day, minute or second: `after` it begins behind its end, `before` it ends ahead of its start.
    At(DateTime),
    /// `3 weeks ago`, reckoned at the read.
    Ago {
        /// How many of the units, from 1.
        amount: u32,
        /// What is counted.
        unit: Unit,
    },
}

/// A date and a time of day, as exact as it was written: no part is given without the one before it, and hour and
/// minute come together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DateTime {
    /// From 1 to 9999.
    pub year: u16,
    /// From 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub month: Option<u8>,
    /// From 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub day: Option<u8>,
    /// From 0 to 23.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hour: Option<u8>,
    /// From 0 to 59.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub minute: Option<u8>,
    /// From 0 to 59.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub second: Option<u8>,
}

/// What is counted in `3 weeks ago`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// An hour.
    Hours,
    /// A day.
    Days,
    /// Seven days.
    Weeks,
    /// A month of the calendar.
    Months,
    /// A year of the calendar.
    Years,
}

impl DateTime {
    /// Says what is wrong with the date, if it is not in the calendar.
    ///
    /// # Errors
    /// The part that is wrong.
    pub fn check(&self) -> Result<(), String> {
        let in_range = |name: &str, value: Option<u8>, first: u8, last: u8| match value {
            Some(value) if !(first..=last).contains(&value) => {
                Err(format!("there is no {name} {value}: it goes from {first} to {last}"))
            }
            _ => Ok(()),
        };
        if !(1..=9999).contains(&self.year) {
            return Err(format!("there is no year {}: it goes from 1 to 9999", self.year));
        }
        in_range("month", self.month, 1, 12)?;
        in_range("day", self.day, 1, days(self.year, self.month))?;
        in_range("hour", self.hour, 0, 23)?;
        in_range("minute", self.minute, 0, 59)?;
        in_range("second", self.second, 0, 59)
    }
}

/// Reads `YYYY`, `YYYY-MM`, `YYYY-MM-DD`, `YYYY-MM-DD HH:MM`, `YYYY-MM-DD HH:MM:SS` (a `T` may stand for the blank)
/// and `N hours ago`.
impl FromStr for Date {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let date = ago(text).or_else(|| date_time(text).map(Self::At)).ok_or_else(|| {
            "expected a date such as `2026`, `2026-07`, `2026-07-28`, `2026-07-28 12:00` or `3 weeks ago`".to_owned()
        })?;
        if let Self::At(date) = date {
            date.check()?;
        }
        Ok(date)
    }
}

fn ago(text: &str) -> Option<Date> {
    let mut words = text.split(' ');
    let (amount, unit, "ago", None) = (words.next()?, words.next()?, words.next()?, words.next()) else { return None };
    let unit = match unit.strip_suffix('s').unwrap_or(unit) {
        "hour" => Unit::Hours,
        "day" => Unit::Days,
        "week" => Unit::Weeks,
        "month" => Unit::Months,
        "year" => Unit::Years,
        _ => return None,
    };
    let amount = number(amount, 1..=6)?;
    (amount > 0).then_some(Date::Ago { amount, unit })
}

fn date_time(text: &str) -> Option<DateTime> {
    let (date, time) = match text.split_once([' ', 'T']) {
        Some((date, time)) => (date, Some(time)),
        None => (text, None),
    };
    let mut parts = date.split('-');
    let year = u16::try_from(number(parts.next()?, 4..=4)?).ok()?;
    let month = optional(parts.next())?;
    let day = optional(parts.next())?;
    let mut result = DateTime { year, month, day, hour: None, minute: None, second: None };
    if parts.next().is_some() {
        return None;
    }
    if let Some(time) = time {
        let mut parts = time.split(':');
        result.day?;
        result.hour = Some(two_digits(parts.next()?)?);
        result.minute = Some(two_digits(parts.next()?)?);
        result.second = optional(parts.next())?;
        if parts.next().is_some() {
            return None;
        }
    }
    Some(result)
}

/// `Some(None)` for a part that is not there, `None` for one that is wrong.
fn optional(part: Option<&str>) -> Option<Option<u8>> {
    part.map_or(Some(None), |part| two_digits(part).map(Some))
}

fn two_digits(text: &str) -> Option<u8> {
    u8::try_from(number(text, 2..=2)?).ok()
}

fn number(text: &str, digits: std::ops::RangeInclusive<usize>) -> Option<u32> {
    let plain = digits.contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| plain)
}

fn days(year: u16, month: Option<u8>) -> u8 {
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    match month {
        Some(2) if leap => 29,
        Some(2) => 28,
        Some(4 | 6 | 9 | 11) => 30,
        _ => 31,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(year: u16, rest: &[u8]) -> Date {
        let part = |index: usize| rest.get(index).copied();
        let [month, day, hour, minute, second] = [0, 1, 2, 3, 4].map(part);
        Date::At(DateTime { year, month, day, hour, minute, second })
    }

    #[test]
    fn reads_every_form() {
        for (text, date) in [
            ("2023", at(2023, &[])),
            ("2023-06", at(2023, &[6])),
            ("2023-06-07", at(2023, &[6, 7])),
            ("2024-02-29", at(2024, &[2, 29])),
            ("2000-02-29", at(2000, &[2, 29])),
            ("2023-06-07 23:59", at(2023, &[6, 7, 23, 59])),
            ("2023-06-07T00:00:59", at(2023, &[6, 7, 0, 0, 59])),
            ("1 hour ago", Date::Ago { amount: 1, unit: Unit::Hours }),
            ("24 hours ago", Date::Ago { amount: 24, unit: Unit::Hours }),
            ("3 days ago", Date::Ago { amount: 3, unit: Unit::Days }),
            ("1 week ago", Date::Ago { amount: 1, unit: Unit::Weeks }),
            ("12 months ago", Date::Ago { amount: 12, unit: Unit::Months }),
            ("10 years ago", Date::Ago { amount: 10, unit: Unit::Years }),
        ] {
            assert_eq!(text.parse(), Ok(date), "{text}");
        }
    }

    #[test]
    fn refuses_the_others() {
        for text in [
            "",
            "23",
            "20230607",
            "2023-6",
            "2023-06-07 12",
            "2023-06 12:00",
            "2023-06-07 1:00",
            "2023-06-07 12:00Z",
            "2023-06-07T12:00:00+02:00",
            "2023-06-07  12:00",
            "2023/06/07",
            "-2023",
            "+202",
            "yesterday",
            "now",
            "last monday",
            "3 weeks",
            "0 days ago",
            "-1 days ago",
            "3 weeks  ago",
            "3 minutes ago",
            "9999999 days ago",
        ] {
            assert!(text.parse::<Date>().unwrap_err().starts_with("expected a date"), "{text}");
        }
        for (text, message) in [
            ("0000", "there is no year 0: it goes from 1 to 9999"),
            ("2023-13", "there is no month 13: it goes from 1 to 12"),
            ("2023-02-29", "there is no day 29: it goes from 1 to 28"),
            ("1900-02-29", "there is no day 29: it goes from 1 to 28"),
            ("2023-06-31", "there is no day 31: it goes from 1 to 30"),
            ("2023-06-00", "there is no day 0: it goes from 1 to 30"),
            ("2023-06-07 24:00", "there is no hour 24: it goes from 0 to 23"),
            ("2023-06-07 23:60", "there is no minute 60: it goes from 0 to 59"),
            ("2023-06-07 23:59:60", "there is no second 60: it goes from 0 to 59"),
        ] {
            assert_eq!(text.parse::<Date>(), Err(message.to_owned()), "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_a_date_or_refused(text in "\\PC*|[0-9 :T-]{0,20}|[0-9]{1,12} [a-z]{1,6} ago") {
            let _ = text.parse::<Date>();
        }
    }
}
