//! Dates in documents: civil days and civil times of Santo Domingo.

use std::fmt;
use std::str::FromStr;

use ecf_language::{Bilingual, Say};
use jiff::civil::{Date, DateTime};
use jiff::tz::{Offset, offset};
use jiff::{SignedDuration, Timestamp};
use thiserror::Error;

/// Santo Domingo is four hours behind UTC all year. The host's time zone is never used.
pub const SANTO_DOMINGO: Offset = offset(-4);

/// A calendar day, written `dd-MM-yyyy`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fecha(Date);

/// A civil time of Santo Domingo in whole seconds, written `dd-MM-yyyy HH:mm:ss`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FechaHora(DateTime);

/// Why a text is not a date.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum DateError {
    /// The year comes first, as in ISO 8601.
    #[error("{given:?} starts with the year: dates are written dd-MM-yyyy, here {expected}")]
    YearFirst {
        /// The text as received.
        given: String,
        /// The same day in the required form.
        expected: String,
    },
    /// Not in the required form.
    #[error("{given:?} is not a date written {form}")]
    Shape {
        /// The text as received.
        given: String,
        /// The required form.
        form: &'static str,
    },
    /// The day or time does not exist, or the year is outside 1900 to 2099.
    #[error("{given:?} is not in the calendar of the years 1900 to 2099{}", month_end(given))]
    NoSuchDay {
        /// The text as received.
        given: String,
    },
}

impl Say for DateError {
    fn say(&self) -> Bilingual {
        let spanish = match self {
            Self::YearFirst { given, expected } => {
                format!("{given:?} empieza con el año: las fechas se escriben dd-MM-yyyy, aquí {expected}")
            }
            Self::Shape { given, form } => format!("{given:?} no es una fecha escrita {form}"),
            Self::NoSuchDay { given } => match longest_day(given) {
                Some(days) => {
                    format!("{given:?} no está en el calendario de los años 1900 a 2099: ese mes tiene {days} días")
                }
                None => format!("{given:?} no está en el calendario de los años 1900 a 2099"),
            },
        };
        Bilingual::of(self, spanish)
    }
}

impl Fecha {
    /// The form of the text.
    pub const FORM: &'static str = "dd-MM-yyyy";

    /// The calendar day.
    pub const fn date(self) -> Date {
        self.0
    }

    /// The day in Santo Domingo at this instant.
    pub fn at(instant: Timestamp) -> Self {
        Self(SANTO_DOMINGO.to_datetime(instant).date())
    }
}

impl TryFrom<Date> for Fecha {
    type Error = DateError;

    fn try_from(date: Date) -> Result<Self, Self::Error> {
        if (1900..=2099).contains(&date.year()) {
            Ok(Self(date))
        } else {
            Err(DateError::NoSuchDay {
                given: date.to_string(),
            })
        }
    }
}

impl FechaHora {
    /// The form of the text.
    pub const FORM: &'static str = "dd-MM-yyyy HH:mm:ss";

    /// The civil time in Santo Domingo at this instant, truncated to the second.
    pub fn at(instant: Timestamp) -> Self {
        let whole = Timestamp::from_second(instant.as_second()).unwrap_or(instant);
        // `as_second` truncates towards zero, which is the wrong direction before 1970.
        let whole = if whole > instant {
            whole - SignedDuration::from_secs(1)
        } else {
            whole
        };
        Self(SANTO_DOMINGO.to_datetime(whole))
    }

    /// The civil date and time.
    pub const fn civil(self) -> DateTime {
        self.0
    }

    /// The day.
    pub fn fecha(self) -> Fecha {
        Fecha(self.0.date())
    }

    /// The instant of this civil time in Santo Domingo; `None` at the limits of the calendar.
    pub fn instant(self) -> Option<Timestamp> {
        SANTO_DOMINGO.to_timestamp(self.0).ok()
    }
}

/// Day, month and year of `d-M-yyyy`: the schemas accept one digit for day and month.
fn civil_date(text: &str, whole: &str, form: &'static str) -> Result<Date, DateError> {
    let shape = || DateError::Shape {
        given: whole.to_owned(),
        form,
    };
    let mut parts = text.split('-');
    let (Some(day), Some(month), Some(year), None) = (parts.next(), parts.next(), parts.next(), parts.next()) else {
        return Err(shape());
    };
    let number = |part: &str, digits: std::ops::RangeInclusive<usize>| -> Option<i16> {
        (digits.contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit()))
            .then(|| part.parse().ok())
            .flatten()
    };
    let no_such_day = || DateError::NoSuchDay {
        given: whole.to_owned(),
    };
    if let (Some(first), Some(second), Some(last)) = (number(day, 4..=4), number(month, 1..=2), number(year, 1..=2)) {
        let (Ok(month), Ok(day)) = (i8::try_from(second), i8::try_from(last)) else {
            return Err(no_such_day());
        };
        Date::new(first, month, day).map_err(|_| no_such_day())?;
        return Err(DateError::YearFirst {
            given: whole.to_owned(),
            expected: format!("{last:02}-{second:02}-{first:04}"),
        });
    }
    let (Some(day), Some(month), Some(year)) = (number(day, 1..=2), number(month, 1..=2), number(year, 4..=4)) else {
        return Err(shape());
    };
    let (Ok(day), Ok(month)) = (i8::try_from(day), i8::try_from(month)) else {
        return Err(no_such_day());
    };
    if !(1900..=2099).contains(&year) {
        return Err(no_such_day());
    }
    Date::new(year, month, day).map_err(|_| no_such_day())
}

/// The number of days of the month, when the day in `d-M-yyyy` exceeds it.
fn longest_day(given: &str) -> Option<i8> {
    let mut parts = given.split('-').map(str::parse::<i16>);
    let (Some(Ok(day)), Some(Ok(month)), Some(Ok(year)), None) =
        (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return None;
    };
    let first = i8::try_from(month)
        .ok()
        .and_then(|month| Date::new(year, month, 1).ok());
    first
        .map(Date::days_in_month)
        .filter(|days| day <= 31 && day > i16::from(*days))
}

fn month_end(given: &str) -> String {
    longest_day(given).map_or_else(String::new, |days| format!(": that month has {days} days"))
}

impl FromStr for Fecha {
    type Err = DateError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        // An ISO instant is a frequent mistake: the hint is derived from the day before its `T`.
        let day = text.split_once('T').map_or(text, |(day, _)| day);
        match civil_date(day, text, Self::FORM) {
            Ok(_) if day.len() != text.len() => Err(DateError::Shape {
                given: text.to_owned(),
                form: Self::FORM,
            }),
            result => result.map(Self),
        }
    }
}

impl FromStr for FechaHora {
    type Err = DateError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let shape = || DateError::Shape {
            given: text.to_owned(),
            form: Self::FORM,
        };
        let (day, time) = text.split_once([' ', 'T']).ok_or_else(shape)?;
        let date = civil_date(day, text, Self::FORM)?;
        let mut parts = [0_i8; 3];
        let mut given = time.split(':');
        for part in &mut parts {
            let digits = given.next().ok_or_else(shape)?;
            if !(1..=2).contains(&digits.len()) || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
                return Err(shape());
            }
            *part = digits.parse().map_err(|_| shape())?;
        }
        if given.next().is_some() || text.contains('T') {
            return Err(shape());
        }
        let [hour, minute, second] = parts;
        let time = jiff::civil::Time::new(hour, minute, second, 0)
            .map_err(|_| DateError::NoSuchDay { given: text.to_owned() })?;
        Ok(Self(date.to_datetime(time)))
    }
}

impl fmt::Display for Fecha {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:02}-{:02}-{:04}", self.0.day(), self.0.month(), self.0.year())
    }
}

impl fmt::Debug for Fecha {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Fecha({self})")
    }
}

impl fmt::Display for FechaHora {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (date, time) = (self.0.date(), self.0.time());
        write!(f, "{:02}-{:02}-{:04} ", date.day(), date.month(), date.year())?;
        write!(f, "{:02}:{:02}:{:02}", time.hour(), time.minute(), time.second())
    }
}

impl fmt::Debug for FechaHora {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FechaHora({self})")
    }
}

text_serde!(Fecha, FechaHora);

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_day_is_read_and_printed_with_two_digits() {
        assert_eq!("1-2-2026".parse::<Fecha>().unwrap().to_string(), "01-02-2026");
        assert_eq!(
            "29-02-2028".parse::<Fecha>().unwrap().date(),
            Date::constant(2028, 2, 29)
        );
    }

    #[test]
    fn a_day_that_is_not_in_the_calendar_is_refused() {
        for bad in [
            "31-02-2026",
            "29-02-2027",
            "00-01-2026",
            "01-13-2026",
            "01-01-1899",
            "01-01-2100",
            "99-01-2026",
        ] {
            assert!(
                matches!(bad.parse::<Fecha>(), Err(DateError::NoSuchDay { .. })),
                "{bad}"
            );
        }
        for bad in ["", "1/2/2026", "01-02-26", "01-02-2026 ", "01022026", "a-b-cdef"] {
            assert!(matches!(bad.parse::<Fecha>(), Err(DateError::Shape { .. })), "{bad}");
        }
    }

    #[test]
    fn an_iso_date_is_told_how_to_be_written() {
        for given in ["2026-11-27", "2026-11-27T10:00:00Z"] {
            let error = given.parse::<Fecha>().unwrap_err();
            assert!(
                error
                    .to_string()
                    .ends_with("dates are written dd-MM-yyyy, here 27-11-2026"),
                "{error}"
            );
        }
    }

    #[test]
    fn an_instant_is_told_in_santo_domingo_and_cut_to_the_second() {
        let instant: Timestamp = "2026-01-01T03:59:59.999Z".parse().unwrap();
        let told = FechaHora::at(instant);
        assert_eq!(told.to_string(), "31-12-2025 23:59:59");
        assert_eq!(told.instant(), Some("2026-01-01T03:59:59Z".parse().unwrap()));
        assert_eq!(Fecha::at(instant), told.fecha());
    }

    #[test]
    fn a_civil_instant_is_read_or_refused() {
        assert_eq!(
            "1-2-2026 9:5:7".parse::<FechaHora>().unwrap().to_string(),
            "01-02-2026 09:05:07"
        );
        for bad in [
            "01-02-2026",
            "01-02-2026 24:00:00",
            "01-02-2026 10:00",
            "01-02-2026T10:00:00",
            "01-02-2026 1:2:3:4",
        ] {
            assert!(bad.parse::<FechaHora>().is_err(), "{bad}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused_and_never_panics(text in "\\PC{0,24}") {
            let _ = text.parse::<Fecha>();
            let _ = text.parse::<FechaHora>();
        }

        #[test]
        fn every_second_is_read_back_from_its_text(second in -2_000_000_000_i64..4_000_000_000) {
            let told = FechaHora::at(Timestamp::from_second(second).unwrap());
            prop_assert_eq!(told.to_string().parse(), Ok(told));
            prop_assert_eq!(told.instant().map(Timestamp::as_second), Some(second));
        }
    }
}
