//! Rates of the additional taxes. The excise rates on alcohol and tobacco change each quarter, from 2027 on each year
//! (Ley 30-26). A rate is found by the day of issue, independent of the length of its period.

use jiff::civil::{Date, date};
use rust_decimal::Decimal;

use crate::catalogue::{ImpuestoClass, TipoImpuesto};
use crate::{Environment, Fecha};

/// Goods with a common specific rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum IscGroup {
    /// Codes 006 to 018, pesos per litre of absolute alcohol.
    Alcohol,
    /// Codes 019 and 020, pesos per packet of 20 cigarettes.
    Cigarrillos20,
    /// Codes 021 and 022, pesos per packet of 10 cigarettes.
    Cigarrillos10,
}

/// A specific rate and the days when it is in force, both included.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IscRate {
    /// The goods.
    pub group: IscGroup,
    /// The first day; `None`: no start.
    pub since: Option<Date>,
    /// The last day; `None`: the end is not known.
    pub until: Option<Date>,
    /// The rate in pesos per unit of the group.
    pub tasa: Decimal,
}

/// The specific rates of the excise taxes, by date.
///
/// A rate that is not in the table is not guessed: a receipt of that day must state its TasaImpuestoAdicional.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct IscRates {
    /// A later entry takes precedence over an earlier one.
    entries: Vec<IscRate>,
}

/// The published rates (resolutions DDG-AR1-2025-00006 and DDG-AR1-2026-00068, by the press), in hundredths of a peso.
/// Unknown are those of January to June 2026, and that of packets of ten from July to September 2026.
const PUBLISHED: [(IscGroup, Date, Date, u32); 11] = [
    (IscGroup::Alcohol, date(2025, 7, 1), date(2025, 9, 30), 73_757),
    (IscGroup::Alcohol, date(2025, 10, 1), date(2025, 12, 31), 74_560),
    (IscGroup::Alcohol, date(2026, 7, 1), date(2026, 9, 30), 76_429),
    (IscGroup::Alcohol, date(2026, 10, 1), date(2026, 12, 31), 76_865),
    (IscGroup::Cigarrillos20, date(2025, 7, 1), date(2025, 9, 30), 6_239),
    (IscGroup::Cigarrillos20, date(2025, 10, 1), date(2025, 12, 31), 6_307),
    (IscGroup::Cigarrillos20, date(2026, 7, 1), date(2026, 9, 30), 6_465),
    (IscGroup::Cigarrillos20, date(2026, 10, 1), date(2026, 12, 31), 6_502),
    (IscGroup::Cigarrillos10, date(2025, 7, 1), date(2025, 9, 30), 3_120),
    (IscGroup::Cigarrillos10, date(2025, 10, 1), date(2025, 12, 31), 3_153),
    (IscGroup::Cigarrillos10, date(2026, 10, 1), date(2026, 12, 31), 3_251),
];

/// The rate for alcohol in the authority's own certification receipts, for any date, in hundredths of a peso.
const ALCOHOL_IN_TESTS: u32 = 63_385;

impl IscRates {
    /// The rates that the environment expects: the published ones, and outside production one constant for alcohol.
    pub fn of(environment: Environment) -> Self {
        let published = PUBLISHED.map(|(group, since, until, hundredths)| IscRate {
            group,
            since: Some(since),
            until: Some(until),
            tasa: Decimal::new(hundredths.into(), 2),
        });
        let rates = Self {
            entries: published.into(),
        };
        match environment {
            Environment::Ecf => rates,
            Environment::TesteCF | Environment::CerteCF => rates.with(IscRate {
                group: IscGroup::Alcohol,
                since: None,
                until: None,
                tasa: Decimal::new(ALCOHOL_IN_TESTS.into(), 2),
            }),
        }
    }

    /// Adds a rate, which takes precedence over existing ones.
    #[must_use]
    pub fn with(mut self, rate: IscRate) -> Self {
        self.entries.push(rate);
        self
    }

    /// The rate of a tax on a day: a percentage, or pesos per unit for codes 006 to 022. `None` when it is not known.
    pub fn tasa(&self, tipo_impuesto: TipoImpuesto, fecha_emision: Option<Fecha>) -> Option<Decimal> {
        let group = match rate_of(tipo_impuesto) {
            RateOf::Law(rate) => return Some(rate),
            RateOf::Resolutions(group) => group,
        };
        let in_force = |rate: &&IscRate| {
            let within =
                |day: Date| rate.since.is_none_or(|since| since <= day) && rate.until.is_none_or(|until| day <= until);
            rate.group == group
                && fecha_emision.map_or(rate.since.is_none() && rate.until.is_none(), |day| within(day.date()))
        };
        self.entries.iter().rev().find(in_force).map(|rate| rate.tasa)
    }

    /// All known rates of a tax with the first and the last day of each; a percentage fixed by law has neither.
    pub fn periods(&self, tipo_impuesto: TipoImpuesto) -> Vec<(Option<Date>, Option<Date>, Decimal)> {
        match rate_of(tipo_impuesto) {
            RateOf::Law(rate) => vec![(None, None, rate)],
            RateOf::Resolutions(group) => {
                let rates = self.entries.iter().filter(|rate| rate.group == group);
                rates.map(|rate| (rate.since, rate.until, rate.tasa)).collect()
            }
        }
    }
}

/// Where the rate of a tax comes from.
enum RateOf {
    /// A percentage fixed by law.
    Law(Decimal),
    /// Resolutions of the authority for these goods.
    Resolutions(IscGroup),
}

fn rate_of(tipo_impuesto: TipoImpuesto) -> RateOf {
    match (tipo_impuesto.class(), tipo_impuesto.code()) {
        (ImpuestoClass::Otros, code) => RateOf::Law(otros(code)),
        (ImpuestoClass::AdValoremAlcohol, _) => RateOf::Law(Decimal::TEN),
        (ImpuestoClass::AdValoremTabaco, _) => RateOf::Law(Decimal::from(20)),
        (ImpuestoClass::EspecificoAlcohol, _) => RateOf::Resolutions(IscGroup::Alcohol),
        (ImpuestoClass::EspecificoTabaco, "019" | "020") => RateOf::Resolutions(IscGroup::Cigarrillos20),
        (ImpuestoClass::EspecificoTabaco, _) => RateOf::Resolutions(IscGroup::Cigarrillos10),
    }
}

/// The percentages of taxes other than excise, as in table I of the format.
fn otros(code: &str) -> Decimal {
    Decimal::from(match code {
        "002" => 2,
        "003" => 16,
        "005" => 17,
        _ => 10,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tasa(rates: &IscRates, code: &str, day: Option<&str>) -> Option<String> {
        rates
            .tasa(code.parse().unwrap(), day.map(|day| day.parse().unwrap()))
            .map(|rate| rate.to_string())
    }

    #[test]
    fn specific_rates_go_by_the_day_and_an_unknown_one_is_not_guessed() {
        let rates = IscRates::of(Environment::Ecf);
        for (code, day, expected) in [
            ("006", "30-09-2025", Some("737.57")),
            ("018", "01-10-2025", Some("745.60")),
            ("006", "01-01-2026", None),
            ("006", "30-06-2026", None),
            ("006", "01-07-2026", Some("764.29")),
            ("013", "30-09-2026", Some("764.29")),
            ("006", "01-10-2026", Some("768.65")),
            ("018", "31-12-2026", Some("768.65")),
            ("006", "01-01-2027", None),
            ("019", "31-12-2025", Some("63.07")),
            ("019", "01-07-2026", Some("64.65")),
            ("020", "27-11-2026", Some("65.02")),
            ("021", "30-09-2026", None),
            ("022", "01-10-2026", Some("32.51")),
            ("022", "01-07-2025", Some("31.20")),
            ("021", "30-06-2025", None),
        ] {
            assert_eq!(tasa(&rates, code, Some(day)).as_deref(), expected, "{code} {day}");
        }
        assert_eq!(tasa(&rates, "006", None), None);
    }

    #[test]
    fn a_rate_may_hold_for_a_year() {
        let rates = IscRates::of(Environment::Ecf).with(IscRate {
            group: IscGroup::Alcohol,
            since: Some(date(2027, 1, 1)),
            until: Some(date(2027, 12, 31)),
            tasa: Decimal::new(78_000, 2),
        });
        for (day, expected) in [
            ("31-12-2026", Some("768.65")),
            ("01-01-2027", Some("780.00")),
            ("31-12-2027", Some("780.00")),
            ("01-01-2028", None),
        ] {
            assert_eq!(tasa(&rates, "006", Some(day)).as_deref(), expected, "{day}");
        }
    }

    #[test]
    fn the_test_environments_have_one_rate_for_alcohol() {
        for environment in [Environment::TesteCF, Environment::CerteCF] {
            let rates = IscRates::of(environment);
            assert_eq!(tasa(&rates, "006", Some("01-10-2025")).as_deref(), Some("633.85"));
            assert_eq!(tasa(&rates, "006", None).as_deref(), Some("633.85"));
            assert_eq!(tasa(&rates, "019", Some("01-10-2025")).as_deref(), Some("63.07"));
        }
    }

    #[test]
    fn percentages_do_not_depend_on_the_day_and_an_added_rate_goes_first() {
        let rates = IscRates::of(Environment::Ecf).with(IscRate {
            group: IscGroup::Cigarrillos20,
            since: Some(date(2026, 1, 1)),
            until: None,
            tasa: Decimal::new(6_400, 2),
        });
        for (code, expected) in [
            ("001", "10"),
            ("002", "2"),
            ("003", "16"),
            ("004", "10"),
            ("005", "17"),
            ("023", "10"),
            ("036", "20"),
        ] {
            assert_eq!(tasa(&rates, code, None).as_deref(), Some(expected), "{code}");
        }
        assert_eq!(tasa(&rates, "020", Some("27-11-2026")).as_deref(), Some("64.00"));
    }
}
