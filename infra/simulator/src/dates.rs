//! The authority's clock: Santo Domingo, UTC−04:00 all year, independent of the host's time zone.

use jiff::{
    Timestamp,
    civil::{Date, DateTime},
    tz::Offset,
};

const SANTO_DOMINGO: Offset = Offset::constant(-4);

/// The wall clock in Santo Domingo.
pub(crate) fn local(instant: Timestamp) -> DateTime {
    SANTO_DOMINGO.to_datetime(instant)
}

/// `dd-MM-yyyy`; the schemas tolerate one-digit days and months.
pub(crate) fn parse_date(text: &str) -> Option<Date> {
    let mut parts = text.split('-');
    let (day, month, year) = (parts.next()?, parts.next()?, parts.next()?);
    let fits = |part: &str, least, most| {
        (least..=most).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit())
    };
    if parts.next().is_some() || !fits(day, 1, 2) || !fits(month, 1, 2) || !fits(year, 4, 4) {
        return None;
    }
    Date::new(year.parse().ok()?, month.parse().ok()?, day.parse().ok()?).ok()
}

/// `dd-MM-yyyy HH:mm:ss`.
pub(crate) fn parse_date_time(text: &str) -> Option<DateTime> {
    let (date, time) = text.split_once(' ')?;
    let mut parts = time.split(':');
    let (hour, minute, second) = (parts.next()?, parts.next()?, parts.next()?);
    if parts.next().is_some()
        || [hour, minute, second]
            .iter()
            .any(|part| part.is_empty() || part.len() > 2)
    {
        return None;
    }
    let time = jiff::civil::Time::new(hour.parse().ok()?, minute.parse().ok()?, second.parse().ok()?, 0).ok()?;
    Some(parse_date(date)?.to_datetime(time))
}

/// `yyyy-MM-ddTHH:mm:ssZ`, the universal sortable form of the authentication service.
pub(crate) fn universal(instant: Timestamp) -> String {
    instant.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// `M/d/yyyy h:mm:ss AM`, as real answers print the time of reception.
pub(crate) fn month_first(instant: Timestamp) -> String {
    local(instant).strftime("%-m/%-d/%Y %-I:%M:%S %p").to_string()
}

/// `2019-03-13T14:33:32.8617792-04:00`, the seed's date.
pub(crate) fn with_offset(instant: Timestamp) -> String {
    local(instant).strftime("%Y-%m-%dT%H:%M:%S.%7f-04:00").to_string()
}

/// `dd-MM-yyyy HH:mm:ss`.
pub(crate) fn date_time(instant: Timestamp) -> String {
    local(instant).strftime("%d-%m-%Y %H:%M:%S").to_string()
}

pub(crate) fn day_first(date: Date) -> String {
    date.strftime("%d-%m-%Y").to_string()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

    use super::*;

    #[test]
    fn dates_are_read_day_first_and_checked_against_the_calendar() {
        assert_eq!(parse_date("1-4-2026"), parse_date("01-04-2026"));
        for bad in ["31-02-2026", "2026-04-01", "01/04/2026", "01-04-26", "+1-04-2026", ""] {
            assert_eq!(parse_date(bad), None, "{bad}");
        }
        assert!(parse_date_time("02-04-2026 23:59:59").is_some());
        assert!(parse_date_time("02-04-2026 24:00:00").is_none());
    }

    #[test]
    fn instants_are_printed_in_the_authoritys_forms() {
        let instant: Timestamp = "2023-08-15T10:06:57.861779Z".parse().unwrap();
        assert_eq!(month_first(instant), "8/15/2023 6:06:57 AM");
        assert_eq!(universal(instant), "2023-08-15T10:06:57Z");
        assert_eq!(with_offset(instant), "2023-08-15T06:06:57.8617790-04:00");
        assert_eq!(day_first(local(instant).date()), "15-08-2023");
    }
}
