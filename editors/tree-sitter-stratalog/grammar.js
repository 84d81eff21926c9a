/**
 * Programs of Stratalog, as `engine/src/syntax` reads them: every program that is right has one tree without errors. Some that
 * are wrong have one too, since an editor rather colours than judges; `stratalog lsp` judges.
 *
 * A statement ends before a token that starts its line, unless brackets are open or the line above ended with `,` or `<-`:
 * src/scanner.c knows that, and what a comment is.
 */

/// <reference types="tree-sitter-cli/dsl" />
// @ts-check

const separated = (item) => seq(item, repeat(seq(",", item)), optional(","));
const listed = (item) => optional(separated(item));

module.exports = grammar({
  name: "stratalog",

  externals: ($) => [
    $.comment,
    $._end,
    $._arrow,
    $.command_word,
    $._command_question,
    $._command_sign,
    // Never there: where it would be valid, a condition may begin, so a comma or an arrow stands before.
    $._condition_begins,
    $._error_recovery,
  ],

  extras: ($) => [/[\s\u00a0\ufeff]/, $.comment],

  word: ($) => $.word,

  supertypes: ($) => [$.expression],

  inline: ($) => [$._literal, $._name],

  conflicts: ($) => [
    // `?p(X), ...`: a goal, or what is computed for a column.
    [$.goal, $.call],
    // `(p(X)) ...`: a condition in brackets, or a number.
    [$.atom, $.call],
  ],

  rules: {
    source_file: ($) => repeat(seq($._statement, $._end)),

    _statement: ($) =>
      choice(
        $.fact,
        $.facts,
        $.rule,
        $.declaration,
        $.type_declaration,
        $.rule_removal,
        $.query,
        $.command,
      ),

    // Statements

    fact: ($) => seq(optional($.sign), alias($._made, $.atom)),

    facts: ($) =>
      seq(
        optional($.sign),
        field("relation", alias($._name, $.relation)),
        "[",
        listed(choice($.tuple, $._head_term)),
        "]",
      ),

    tuple: ($) => seq("(", listed($._head_term), ")"),

    rule: ($) => seq(field("head", $.heads), alias($._arrow, "<-"), field("body", $.body)),

    heads: ($) => seq($._head, repeat(seq(",", $._head)), optional(",")),

    _head: ($) => seq(optional($.sign), alias($._made, $.atom)),

    rule_removal: ($) => seq($.sign, field("relation", alias($._name, $.relation))),

    sign: () => choice("+", "-"),

    declaration: ($) =>
      seq(
        optional($.sign),
        field("relation", alias($._name, $.relation)),
        "(",
        separated($.column),
        ")",
      ),

    column: ($) => seq(field("name", alias($._name, $.column_name)), ":", field("type", $._type)),

    type_declaration: ($) =>
      seq("type", field("name", alias($.variable, $.type_name)), ":", field("type", $._type)),

    _type: ($) => choice($.type, $.record_type),

    type: ($) =>
      prec.right(
        seq(
          field("name", alias($._name, $.type_name)),
          optional(seq("[", choice($.number, $._type), "]")),
          repeat($.refinement),
        ),
      ),

    record_type: ($) => prec.right(seq("{", listed($.column), "}", repeat($.refinement))),

    refinement: ($) => seq("(", repeat($._refining), ")"),

    _refining: ($) =>
      choice(
        $._name,
        $.number,
        $.string,
        $.list,
        "+",
        "-",
        ",",
        ":",
        "=",
        "!=",
        "<",
        "<=",
        ">",
        ">=",
        $.refinement,
      ),

    query: ($) => seq("?", $._query),

    _query: ($) =>
      choice(
        seq(field("goal", $.goal), optional(seq(",", optional(field("body", $.conjunction))))),
        seq(
          field("columns", $.projection),
          alias($._arrow, "<-"),
          field("body", $.body),
        ),
      ),

    goal: ($) => seq(field("relation", alias($._name, $.relation)), field("arguments", $.arguments)),

    projection: ($) => separated(seq($._head_term, optional($.order))),

    order: () => seq(":", choice("asc", "desc")),

    // Commands are words; some have a question or changes behind them.

    command: ($) =>
      seq(
        ".",
        choice(
          seq(field("name", alias(choice($._name, "?"), $.command_name)), repeat($.command_word)),
          seq(
            field(
              "name",
              alias(
                choice("explain", "profile", "why", "why_not", "what_if", "impact", "debug"),
                $.command_name,
              ),
            ),
            repeat($.command_word),
            repeat(field("change", $.change)),
            optional(field("query", alias($._asked, $.query))),
          ),
        ),
      ),

    _asked: ($) => seq(alias($._command_question, "?"), $._query),

    change: ($) =>
      prec.right(
        seq(
          alias($._command_sign, $.sign),
          choice(
            alias($._made, $.atom),
            // The rules of that name.
            field("relation", alias($._name, $.relation)),
            seq(field("relation", alias($._name, $.relation)), "[", listed(choice($.tuple, $._head_term)), "]"),
            seq(
              alias($._change_heads, $.heads),
              alias($._arrow, "<-"),
              field("body", $.body),
            ),
          ),
        ),
      ),

    _change_heads: ($) => seq(alias($._made, $.atom), repeat(seq(",", $._head)), optional(",")),

    // Conditions

    body: ($) => seq($.conjunction, repeat(seq(choice("or", "OR"), $.conjunction))),

    conjunction: ($) => seq($._condition, repeat(seq(",", $._condition)), optional(",")),

    _condition: ($) =>
      choice($.atom, $.negation, $.comparison, $.membership, $.group, $._condition_begins),

    negation: ($) => seq("!", choice($.atom, $.group)),

    group: ($) => seq("(", $.body, ")"),

    comparison: ($) =>
      seq(
        field("left", $.expression),
        field("operator", choice("=", "!=", "<", "<=", ">", ">=")),
        field("right", $.expression),
      ),

    membership: ($) => seq(field("left", $.expression), "in", field("right", $.expression)),

    atom: ($) => seq(field("relation", alias($._name, $.relation)), field("arguments", $.arguments)),

    arguments: ($) => seq("(", listed(seq($.expression, optional($.order))), ")"),

    // Of a fact or a head. There, `(name: type` begins a declaration.
    _made: ($) =>
      seq(
        field("relation", alias($._name, $.relation)),
        field("arguments", alias($.head_arguments, $.arguments)),
      ),

    head_arguments: ($) => seq("(", listed($._head_term), ")"),

    // Terms

    _head_term: ($) => choice($.expression, $.aggregate),

    aggregate: ($) =>
      seq(
        field("function", alias($._name, $.function)),
        "<",
        separated(seq($.expression, optional($.order))),
        ">",
      ),

    expression: ($) =>
      choice(
        $.binary,
        $.call,
        $.parenthesized,
        $.list,
        $.variable,
        $.placeholder,
        $.parameter,
        $._literal,
      ),

    binary: ($) =>
      choice(
        prec.left(1, seq($.expression, field("operator", choice("+", "-")), $.expression)),
        prec.left(2, seq($.expression, field("operator", choice("*", "/", "%")), $.expression)),
      ),

    call: ($) => seq(field("function", alias($._name, $.function)), field("arguments", $.arguments)),

    // In brackets of rows, `(1)` is a row.
    parenthesized: ($) => prec(-1, seq("(", $.expression, ")")),

    list: ($) => seq("[", listed($.expression), "]"),

    _literal: ($) => choice($.number, $.signed_number, $.string, $.timestamp, $.boolean, $.null),

    signed_number: ($) => seq(choice("+", "-"), $.number),

    number: () => /\d+(\.\d*)?([eE][+-]?\d+)?|\.\d+([eE][+-]?\d+)?/,

    string: () => /"([^"\\]|\\[\s\S])*"/,

    timestamp: () => /t"([^"\\]|\\[\s\S])*"/,

    boolean: () => choice("true", "false"),

    null: () => "null",

    parameter: () => /\$[\p{L}\p{Nl}_0-9][\p{L}\p{Nl}\p{Nd}\p{No}_]*/,

    placeholder: () => "_",

    _name: ($) => choice($.word, $.variable, alias("type", $.word)),

    word: () => /[\p{Ll}\p{Lo}\p{Lm}\p{Lt}\p{Nl}][\p{L}\p{M}\p{Nl}\p{Nd}\p{No}_]*/,

    variable: () => /\p{Lu}[\p{L}\p{M}\p{Nl}\p{Nd}\p{No}_]*|_[\p{L}\p{M}\p{Nl}\p{Nd}\p{No}_]+/,
  },
});
