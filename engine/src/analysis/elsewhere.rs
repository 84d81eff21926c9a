//! Functions and aggregates that other languages have by other names.

/// What to write here for a function, an aggregate or a condition of another language.
pub(super) fn written_here(name: &str) -> Option<String> {
    let lower = name.to_ascii_lowercase();
    let (_, here) = ELSEWHERE.iter().find(|(names, _)| names.split(' ').any(|other| other == lower))?;
    Some(format!("write `{here}`"))
}

/// Names, and what is written here.
const ELSEWHERE: &[(&str, &str)] = &[
    ("length size char_length strlen cardinality array_length list_length", "len(X)"),
    ("tolower to_lower lcase lowercase", "lower(X)"),
    ("toupper to_upper ucase uppercase", "upper(X)"),
    ("ltrim rtrim btrim strip", "trim(X)"),
    ("substring mid left right", "substr(X, start, length)"),
    ("position strpos instr find indexof", "index_of(X, part)"),
    ("lpad ljust", "pad_left(X, length, fill)"),
    ("rpad rjust", "pad_right(X, length, fill)"),
    ("startswith begins_with prefix", "starts_with(X, start)"),
    ("endswith suffix", "ends_with(X, end)"),
    ("matches match regexp_matches regexp_like regexp rlike similar_to", "regex_match(X, pattern)"),
    ("regexp_replace", "regex_replace(X, pattern, with)"),
    ("regexp_extract regexp_substr", "regex_extract(X, pattern)"),
    ("like ilike glob", "contains(X, part)"),
    ("includes contains_string", "contains(X, part)"),
    ("string_split str_split split_string string_to_array", "split(X, separator)"),
    ("array_contains list_contains list_has member memberchk", "X in L"),
    ("unnest explode unwind flatten", "X in L"),
    ("array_append list_append push", "append(L, X)"),
    ("array_concat list_concat list_cat", "extend(L, M)"),
    ("nth list_element array_extract", "element(L, 0)"),
    ("int integer toint to_integer cast convert try_cast bigint parse_int", "to_int(X)"),
    ("float double real tofloat to_double parse_float number to_number", "to_float(X)"),
    ("str string text tostring to_text to_char varchar", "to_string(X)"),
    ("ceiling", "ceil(X)"),
    ("truncate trunc", "to_int(X)"),
    ("power", "pow(X, 2)"),
    ("ln", "log(X)"),
    ("mod modulo", "X % 2"),
    ("greatest", "max_val(X, Y)"),
    ("least", "min_val(X, Y)"),
    ("ifnull nvl isnull", "coalesce(X, 0)"),
    ("now current_timestamp current_date today getdate", "time_now()"),
    ("date timestamp datetime to_date to_timestamp todatetime", "to_time(X)"),
    ("strftime date_format format_date", "format_time(T, \"%Y-%m-%d\")"),
    ("strptime parse_date str_to_date parse_datetime", "parse_time(X, \"%Y-%m-%d\")"),
    ("extract date_part datepart", "year(T)"),
    ("hour_of", "hour(T)"),
    ("dayofweek day_of_week dow isodow", "weekday(T)"),
    ("dayofyear doy", "day_of_year(T)"),
    ("datediff date_diff age timediff", "time_diff(later, earlier)"),
    ("date_add dateadd timeadd", "time_add(T, days(1))"),
    ("date_sub datesub", "time_sub(T, days(1))"),
    ("interval", "days(1)"),
    ("mean average", "avg<X>"),
    ("countd approx_count_distinct uniq nunique", "count_distinct<X>"),
    ("total", "sum<X>"),
    ("std stdev stddev_samp stddev_pop", "stddev<X>"),
    ("percentile percentile_cont percentile_disc quantile_cont approx_quantile", "quantile<X, 0.9>"),
    ("group_concat listagg string_concat", "string_agg<X, \", \">"),
    ("array_agg list_agg collect_list collect_set make_list findall bagof setof aggregate_all", "collect<X>"),
    ("any_value arbitrary", "any<X>"),
    ("topk top_n topn", "top_k<3, X, Y:desc>"),
    ("order_by orderby sort_by", "?p(X:desc, Y)"),
    ("l2_distance euclidean_distance vec_l2 array_distance", "euclidean(V, W)"),
    ("cosine_distance array_cosine_distance", "cosine(V, W)"),
    ("inner_product dot_product array_inner_product", "dot(V, W)"),
    ("bm25 match_bm25 search fts ts_query", "text_search(\"index\", \"words\", 10, Id, Score)"),
    ("knn nearest vector_search ann", "hnsw_nearest(\"index\", V, 10, Id, Distance)"),
];

#[cfg(test)]
mod tests {
    use super::{ELSEWHERE, written_here};
    use crate::aggregates::Aggregate;
    use crate::functions::ScalarFunction;

    #[test]
    fn names_of_others_are_known_once_and_none_is_ours() {
        let names: Vec<&str> = ELSEWHERE.iter().flat_map(|(names, _)| names.split(' ')).collect();
        let mut once = names.clone();
        once.sort_unstable();
        once.dedup();
        assert_eq!(once.len(), names.len());
        for name in names {
            assert!(ScalarFunction::named(name).is_none() && Aggregate::named(name).is_none(), "{name}");
        }
        assert_eq!(written_here("LENGTH").as_deref(), Some("write `len(X)`"));
        assert_eq!(written_here("nothing"), None);
    }

    #[test]
    fn what_is_written_here_is_there() {
        for (_, here) in ELSEWHERE {
            let name: String = here.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            let known = ScalarFunction::named(&name).is_some()
                || Aggregate::named(&name).is_some()
                || matches!(name.as_str(), "" | "X" | "text_search" | "hnsw_nearest" | "top_k");
            assert!(known, "{here}");
        }
    }
}
