//! The codes of findings about single fields, given once and kept for good. The codes of the fiscal rules are in
//! [`rules::CATALOGUE`](crate::rules::CATALOGUE).
//!
//! A test holds the tables in `docs/errors.md` and `docs/es/errores.md` against them.

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $code:literal;)+) => {
        $($(#[$doc])* pub const $name: &str = $code;)+

        /// All of them.
        pub const ALL: &[&str] = &[$($name),+];
    };
}

codes! {
    /// `ESTRUCTURA-01`: a mandatory field is missing.
    MISSING = "ESTRUCTURA-01";
    /// `ESTRUCTURA-02`: the field is not allowed in this type.
    NOT_ALLOWED = "ESTRUCTURA-02";
    /// `ESTRUCTURA-03`: an element stands more often than allowed.
    TOO_MANY = "ESTRUCTURA-03";
    /// `ESTRUCTURA-04`: no field has this name.
    UNKNOWN_FIELD = "ESTRUCTURA-04";
    /// `ESTRUCTURA-05`: an object is due.
    NOT_AN_OBJECT = "ESTRUCTURA-05";
    /// `ESTRUCTURA-06`: a text or a number is due.
    NOT_A_VALUE = "ESTRUCTURA-06";
    /// `ESTRUCTURA-10`: a text is empty.
    EMPTY_TEXT = "ESTRUCTURA-10";
    /// `ESTRUCTURA-11`: a text is too long.
    TEXT_TOO_LONG = "ESTRUCTURA-11";
    /// `ESTRUCTURA-12`: a text has forbidden characters.
    FORBIDDEN_CHARACTERS = "ESTRUCTURA-12";
    /// `ESTRUCTURA-13`: a text has the wrong form.
    WRONG_FORM = "ESTRUCTURA-13";
    /// `ESTRUCTURA-14`: a code is not in its catalogue.
    NOT_IN_CATALOGUE = "ESTRUCTURA-14";
    /// `ESTRUCTURA-15`: a type is none of the ten.
    UNKNOWN_TYPE = "ESTRUCTURA-15";
    /// `ESTRUCTURA-20`: a decimal cannot be read.
    NOT_A_DECIMAL = "ESTRUCTURA-20";
    /// `ESTRUCTURA-21`: a decimal has too many decimals.
    TOO_MANY_DECIMALS = "ESTRUCTURA-21";
    /// `ESTRUCTURA-22`: a decimal has too many digits.
    TOO_MANY_DIGITS = "ESTRUCTURA-22";
    /// `ESTRUCTURA-23`: a decimal has the wrong sign.
    WRONG_SIGN = "ESTRUCTURA-23";
    /// `ESTRUCTURA-24`: a whole number cannot be read.
    NOT_AN_INTEGER = "ESTRUCTURA-24";
    /// `ESTRUCTURA-25`: a whole number is out of range.
    OUT_OF_RANGE = "ESTRUCTURA-25";
    /// `ESTRUCTURA-30`: a date cannot be read.
    NOT_A_DATE = "ESTRUCTURA-30";
    /// `ESTRUCTURA-31`: a date with time cannot be read.
    NOT_A_DATE_TIME = "ESTRUCTURA-31";
    /// `ESTRUCTURA-32`: an RNC cannot be read.
    NOT_AN_RNC = "ESTRUCTURA-32";
    /// `ESTRUCTURA-33`: an e-NCF cannot be read.
    NOT_AN_ENCF = "ESTRUCTURA-33";
    /// `ESTRUCTURA-34`: the number of a modified receipt cannot be read.
    NOT_AN_NCF = "ESTRUCTURA-34";
    /// `ESTRUCTURA-40`: TipoeCF is not the type of the receipt.
    OTHER_TYPE = "ESTRUCTURA-40";
    /// `ESTRUCTURA-41`: the number's type is not that of the receipt.
    NUMBER_OF_OTHER_TYPE = "ESTRUCTURA-41";
    /// `ESTRUCTURA-42`: the payload's number is not the assigned one.
    OTHER_NUMBER = "ESTRUCTURA-42";
    /// `ESTRUCTURA-43`: the expiry of the payload's number is not the assigned one.
    OTHER_EXPIRY = "ESTRUCTURA-43";
    /// `ESTRUCTURA-50`: in received XML: an element is out of order.
    OUT_OF_ORDER = "ESTRUCTURA-50";
    /// `ESTRUCTURA-51`: in received XML: an element is empty.
    EMPTY_ELEMENT = "ESTRUCTURA-51";
    /// `ESTRUCTURA-52`: in received XML: an element has an attribute.
    HAS_ATTRIBUTE = "ESTRUCTURA-52";
    /// `ESTRUCTURA-53`: in received XML: an element is in a namespace.
    HAS_NAMESPACE = "ESTRUCTURA-53";
    /// `ESTRUCTURA-54`: in received XML: text stands between elements.
    STRAY_TEXT = "ESTRUCTURA-54";
    /// `AVISO-01`: the payload was wrapped in `ECF`.
    WRAPPED = "AVISO-01";
    /// `AVISO-02`: another name or shape was taken for the right one.
    ALIAS = "AVISO-02";
    /// `AVISO-03`: line breaks were replaced.
    LINE_BREAKS = "AVISO-03";
    /// `AVISO-04`: the check digit of an RNC does not fit.
    CHECK_DIGIT = "AVISO-04";
    /// `AVISO-05`: FechaHoraFirma was ignored.
    FIRMA_IGNORED = "AVISO-05";
    /// `AVISO-06`: the anonymous buyer was filled in.
    ANONYMOUS_BUYER = "AVISO-06";
}
