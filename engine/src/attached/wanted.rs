//! `Wanted`: which rows of an attached relation are read, as a program has no use for the others.

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray};
use arrow::compute::cast;
use arrow::datatypes::{
    DataType as ArrowType, Float64Type, Int64Type, TimeUnit, TimestampMillisecondType, UInt64Type,
};

use crate::data::Value;
use crate::data::lossy::reduced;

/// All rows, or those that meet one of these conditions. Rows that meet none may come all the same.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Wanted(Option<Vec<Vec<Bounds>>>);

/// A column has a value that is no null and not beyond these. A bound is of the type of the column.
#[derive(Debug, Clone, PartialEq)]
pub struct Bounds {
    /// The number of the column.
    pub column: usize,
    /// It is this or greater.
    pub least: Option<Value>,
    /// It is this or less.
    pub greatest: Option<Value>,
}

impl Wanted {
    /// The rows that meet all bounds of one of these.
    pub(crate) fn any_of(mut conditions: Vec<Vec<Bounds>>) -> Wanted {
        if conditions.iter().any(Vec::is_empty) {
            return Wanted::default();
        }
        conditions.dedup();
        Wanted(Some(conditions))
    }

    /// Whether no row is left out.
    pub(crate) fn is_all(&self) -> bool {
        self.0.is_none()
    }

    /// Whether these are among them, as far as that can be told.
    pub(crate) fn covers(&self, other: &Wanted) -> bool {
        match (&self.0, &other.0) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(all), Some(others)) => others.iter().all(|other| all.contains(other)),
        }
    }

    /// The columns that are looked at, in ascending order.
    pub(super) fn columns(&self) -> Vec<usize> {
        let mut columns: Vec<usize> = self.0.iter().flatten().flatten().map(|bounds| bounds.column).collect();
        columns.sort_unstable();
        columns.dedup();
        columns
    }

    /// Whether such a row may be among rows of which the least and the greatest value of a column are these, as far as
    /// they are known.
    pub(super) fn may_be_within(&self, extremes: impl Fn(usize) -> Option<(ArrayRef, ArrayRef)>) -> bool {
        let Some(conditions) = &self.0 else { return true };
        let meets = |bounds: &Bounds| {
            let Some((least, greatest)) = extremes(bounds.column) else { return true };
            may_meet(&least, None, bounds.greatest.as_ref())
                && may_meet(&greatest, bounds.least.as_ref(), None)
        };
        conditions.iter().any(|condition| condition.iter().all(meets))
    }

    /// Which rows are wanted, given their columns.
    pub(super) fn among(&self, rows: usize, column: impl Fn(usize) -> Option<ArrayRef>) -> BooleanArray {
        let Some(conditions) = &self.0 else { return BooleanArray::from(vec![true; rows]) };
        let mut wanted = vec![false; rows];
        for condition in conditions {
            let mut meets = vec![true; rows];
            for Bounds { column: number, least, greatest } in condition {
                let met = column(*number).and_then(|array| met(&array, least.as_ref(), greatest.as_ref()));
                for (all, met) in meets.iter_mut().zip(met.into_iter().flatten()) {
                    *all &= met;
                }
            }
            wanted.iter_mut().zip(meets).for_each(|(wanted, met)| *wanted |= met);
        }
        BooleanArray::from(wanted)
    }

    /// Which of the rows are read, of columns with these names; nothing if no row is left out.
    pub(crate) fn told(&self, names: &[String]) -> Option<String> {
        let bounds = |Bounds { column, least, greatest }: &Bounds| {
            let name = names.get(*column).map_or("?", String::as_str);
            match (least, greatest) {
                (Some(least), Some(greatest)) if least == greatest => format!("{name} = {least}"),
                (Some(least), Some(greatest)) => format!("{least} <= {name} <= {greatest}"),
                (Some(least), None) => format!("{name} >= {least}"),
                (None, Some(greatest)) => format!("{name} <= {greatest}"),
                (None, None) => format!("{name} is not null"),
            }
        };
        let conditions = self.0.as_ref()?;
        if conditions.is_empty() {
            return Some("none of them is read".to_owned());
        }
        let said = |condition: &Vec<Bounds>| condition.iter().map(bounds).collect::<Vec<_>>().join(", ");
        let said = conditions.iter().map(said).collect::<Vec<_>>().join("; or ");
        Some(format!("those are read with {said}"))
    }
}

/// Whether a value may lie between bounds. A null or no number stands for one that is not known.
fn may_meet(value: &ArrayRef, least: Option<&Value>, greatest: Option<&Value>) -> bool {
    let is_known = |value: &ArrayRef| {
        let float = value.as_primitive_opt::<Float64Type>();
        !value.is_null(0) && float.is_none_or(|float| !float.value(0).is_nan())
    };
    match plain(value).filter(is_known) {
        Some(value) => met(&value, least, greatest).is_none_or(|met| met.first() != Some(&false)),
        None => true,
    }
}

/// Which values lie between bounds; nothing if that is not known of such values.
fn met(array: &ArrayRef, least: Option<&Value>, greatest: Option<&Value>) -> Option<Vec<bool>> {
    let array = &plain(array)?;
    let bounds = [least, greatest];
    match array.data_type() {
        ArrowType::Int64 => within(array.as_primitive::<Int64Type>().iter(), bounds, int),
        // Of which some are beyond our integers.
        ArrowType::UInt64 => {
            let values = array.as_primitive::<UInt64Type>().iter();
            within(values.map(|value| value.map(i128::from)), bounds, |bound| int(bound).map(i128::from))
        }
        ArrowType::Float64 => within(array.as_primitive::<Float64Type>().iter(), bounds, float),
        ArrowType::Timestamp(TimeUnit::Millisecond, _) => {
            within(array.as_primitive::<TimestampMillisecondType>().iter(), bounds, time)
        }
        ArrowType::Boolean => within(array.as_boolean().iter(), bounds, boolean),
        ArrowType::Utf8 => within(array.as_string::<i32>().iter(), bounds, text),
        ArrowType::LargeUtf8 => within(array.as_string::<i64>().iter(), bounds, text),
        ArrowType::Utf8View => within(array.as_string_view().iter(), bounds, text),
        _ => None,
    }
}

fn int(bound: &Value) -> Option<i64> {
    if let Value::Int(bound) = bound { Some(*bound) } else { None }
}

fn float(bound: &Value) -> Option<f64> {
    if let Value::Float(bound) = bound { Some(*bound) } else { None }
}

fn time(bound: &Value) -> Option<i64> {
    if let Value::Timestamp(bound) = bound { Some(*bound) } else { None }
}

fn boolean(bound: &Value) -> Option<bool> {
    if let Value::Bool(bound) = bound { Some(*bound) } else { None }
}

fn text(bound: &Value) -> Option<&str> {
    if let Value::Text(bound) = bound { Some(bound) } else { None }
}

/// The same values as they are read, in one of a few types.
fn plain(array: &ArrayRef) -> Option<ArrayRef> {
    let (array, _) = reduced(array).ok()?;
    let nulls = array.null_count();
    let plain = match array.data_type() {
        ArrowType::Dictionary(_, values) => plain(&cast(&array, values).ok()?),
        found if found.is_integer() && *found != ArrowType::UInt64 => cast(&array, &ArrowType::Int64).ok(),
        found if found.is_floating() => cast(&array, &ArrowType::Float64).ok(),
        ArrowType::Date32 | ArrowType::Date64 | ArrowType::Timestamp(..) => {
            cast(&array, &ArrowType::Timestamp(TimeUnit::Millisecond, None)).ok()
        }
        _ => Some(array),
    };
    // What is beyond the times that there are is no null.
    plain.filter(|plain| plain.null_count() == nulls)
}

/// Which values lie between bounds, of which each may be missing; nothing if one is of another type.
fn within<'b, T: PartialOrd>(
    values: impl Iterator<Item = Option<T>>,
    bounds: [Option<&'b Value>; 2],
    read: impl Fn(&'b Value) -> Option<T>,
) -> Option<Vec<bool>> {
    let bounds = bounds.map(|bound| bound.map(&read));
    if bounds.iter().any(|bound| matches!(bound, Some(None))) {
        return None;
    }
    let [least, greatest] = bounds.map(Option::flatten);
    let is_within = |value: T| {
        least.as_ref().is_none_or(|least| value >= *least)
            && greatest.as_ref().is_none_or(|greatest| value <= *greatest)
    };
    Some(values.map(|value| value.is_some_and(is_within)).collect())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{Date32Array, Float32Array, Int32Array, StringArray, UInt64Array};

    use super::*;

    fn bounds(column: usize, least: Option<Value>, greatest: Option<Value>) -> Bounds {
        Bounds { column, least, greatest }
    }

    fn among(wanted: &Wanted, columns: &[ArrayRef]) -> Vec<bool> {
        let found = wanted.among(columns[0].len(), |column| columns.get(column).cloned());
        found.values().iter().collect()
    }

    #[test]
    fn rows_are_wanted_that_meet_one_of_the_conditions() {
        let numbers: ArrayRef = Arc::new(Int32Array::from(vec![Some(1), Some(2), None, Some(4)]));
        let texts: ArrayRef = Arc::new(StringArray::from(vec!["a", "b", "a", "c"]));
        let columns = [numbers, texts];
        let of = |conditions| among(&Wanted::any_of(conditions), &columns);
        let is_two = bounds(0, Some(Value::Int(2)), Some(Value::Int(2)));
        let after_a = bounds(1, Some(Value::text("aa")), None);
        let is_a = bounds(1, Some(Value::text("a")), Some(Value::text("a")));
        assert_eq!(of(vec![vec![is_two.clone()]]), [false, true, false, false]);
        assert_eq!(
            of(vec![vec![after_a, bounds(0, Some(Value::Int(3)), None)]]),
            [false, false, false, true]
        );
        assert_eq!(of(vec![vec![is_two.clone()], vec![is_a]]), [true, true, true, false]);
        // No null meets a bound, and a bound of another type is none.
        assert_eq!(of(vec![vec![bounds(0, None, Some(Value::Int(9)))]]), [true, true, false, true]);
        assert_eq!(of(vec![vec![bounds(0, Some(Value::text("x")), None)]]), [true; 4]);
        assert_eq!(of(vec![vec![is_two], vec![]]), [true; 4]);
        assert_eq!(of(vec![]), [false; 4]);
    }

    #[test]
    fn values_of_other_widths_are_compared_as_they_are_read() {
        let large: ArrayRef = Arc::new(UInt64Array::from(vec![1, u64::MAX]));
        assert_eq!(met(&large, Some(&Value::Int(2)), None), Some(vec![false, true]));
        let small: ArrayRef = Arc::new(Float32Array::from(vec![0.5, -0.0]));
        assert_eq!(met(&small, Some(&Value::Float(0.0)), Some(&Value::Float(0.0))), Some(vec![false, true]));
        let days: ArrayRef = Arc::new(Date32Array::from(vec![0, 2]));
        assert_eq!(met(&days, Some(&Value::Timestamp(86_400_001)), None), Some(vec![false, true]));
    }

    #[test]
    fn extremes_tell_where_no_such_row_is() {
        let wanted = Wanted::any_of(vec![vec![bounds(0, Some(Value::Int(5)), Some(Value::Int(7)))]]);
        let within = |least: Option<i32>, greatest: Option<i32>| {
            let array = |value| Arc::new(Int32Array::from(vec![value])) as ArrayRef;
            wanted.may_be_within(|_| Some((array(least), array(greatest))))
        };
        assert!(within(Some(1), Some(5)) && within(Some(7), Some(9)) && within(Some(6), Some(6)));
        assert!(!within(Some(1), Some(4)) && !within(Some(8), Some(9)));
        assert!(within(None, Some(5)) && !within(None, Some(4)) && within(None, None));
        assert!(wanted.may_be_within(|_| None));
        assert!(Wanted::default().may_be_within(|_| None));
    }

    #[test]
    fn what_is_wanted_of_more_covers_what_is_wanted_of_less() {
        let one = vec![bounds(0, Some(Value::Int(1)), None)];
        let other = vec![bounds(1, None, Some(Value::Int(2)))];
        let (few, more) = (Wanted::any_of(vec![one.clone()]), Wanted::any_of(vec![one, other]));
        assert!(more.covers(&few) && !few.covers(&more));
        assert!(Wanted::default().covers(&more) && !more.covers(&Wanted::default()));
        let names = ["a".to_owned(), "b".to_owned()];
        assert_eq!(more.told(&names).as_deref(), Some("those are read with a >= 1; or b <= 2"));
        assert_eq!(Wanted::any_of(Vec::new()).told(&names).as_deref(), Some("none of them is read"));
        assert_eq!(Wanted::default().told(&names), None);
    }
}
