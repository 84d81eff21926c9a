//! The quotes around a field: whether they are closed, and nothing stands behind them. `csv-core` takes whatever comes.

/// Where in a field with quotes its bytes lead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quotes {
    /// There are none, or they are behind.
    Outside,
    Inside,
    /// A quote that ends the field, or is the first of two.
    Closing,
    /// Something stood behind the closing quote.
    Stray,
}

impl Quotes {
    /// After these bytes, which follow the opening quote.
    pub(super) fn after(self, bytes: &[u8], delimiter: u8) -> Quotes {
        bytes.iter().fold(self, |quotes, byte| match (quotes, *byte) {
            (Quotes::Inside, b'"') => Quotes::Closing,
            (Quotes::Closing, b'"') => Quotes::Inside,
            (Quotes::Closing, b'\n' | b'\r') => Quotes::Outside,
            (Quotes::Closing, byte) if byte == delimiter => Quotes::Outside,
            (Quotes::Closing, _) => Quotes::Stray,
            (quotes, _) => quotes,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_ends_behind_its_quotes() {
        let after = |bytes: &[u8]| Quotes::Inside.after(bytes, b',');
        assert_eq!(after(b"a, b"), Quotes::Inside);
        assert_eq!(after(b"a\"\"b"), Quotes::Inside);
        assert_eq!(after(b"a\""), Quotes::Closing);
        assert_eq!(after(b"a\","), Quotes::Outside);
        assert_eq!(after(b"a\"\r"), Quotes::Outside);
        assert_eq!(after(b"a\" ,"), Quotes::Stray);
        assert_eq!(after(b"a\"\"").after(b"\"x", b','), Quotes::Stray);
    }
}
