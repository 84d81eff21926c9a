// What depends on where in its line a token stands: the end of a statement, and `%` as a comment. Besides, comments that nest,
// the arrow that no number may follow, and the free words of commands. The same rules as engine/src/syntax/lexer.rs,
// parser.rs and parse_command.rs.

#include "tree_sitter/parser.h"

#include <stdlib.h>
#include <string.h>

enum TokenType {
  COMMENT,
  END,
  ARROW,
  COMMAND_WORD,
  COMMAND_QUESTION,
  COMMAND_SIGN,
  CONDITION_BEGINS,
  ERROR_RECOVERY,
};

// Where in its line the next token stands.
enum Position { INSIDE, INDENTED, STARTS_LINE };

// Behind a block comment at the beginning of a line a token stands where the comment does. It is known by the column at which the
// comment ends, and by the character that follows: what is kept here lasts until the next token that this scanner finds.
typedef struct {
  uint32_t column;
  int32_t next;
  uint8_t position;
} Scanner;

void *tree_sitter_stratalog_external_scanner_create(void) { return calloc(1, sizeof(Scanner)); }

void tree_sitter_stratalog_external_scanner_destroy(void *payload) { free(payload); }

unsigned tree_sitter_stratalog_external_scanner_serialize(void *payload, char *buffer) {
  const Scanner *scanner = payload;
  if (scanner->position == INSIDE) {
    return 0;
  }
  memcpy(buffer, scanner, sizeof(Scanner));
  return sizeof(Scanner);
}

void tree_sitter_stratalog_external_scanner_deserialize(void *payload, const char *buffer, unsigned length) {
  Scanner *scanner = payload;
  memset(scanner, 0, sizeof(Scanner));
  if (length == sizeof(Scanner)) {
    memcpy(scanner, buffer, sizeof(Scanner));
  }
}

static void advance(TSLexer *lexer) { lexer->advance(lexer, false); }

static bool is_blank(int32_t c) { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f'; }

// The blanks of Unicode, whatever the locale.
static bool is_wide_blank(int32_t c) {
  return c == 0x85 || c == 0xa0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 ||
         c == 0x202f || c == 0x205f || c == 0x3000 || c == 0xfeff;
}

// Above ASCII all that is no blank counts: whether it is a letter, the lexer knows.
static bool is_name(int32_t c) {
  return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c >= 0x80 && !is_wide_blank(c));
}

static bool is_digit(int32_t c) { return c >= '0' && c <= '9'; }

// Skips blanks. Whether there was a line break among them; `position` is where in its line the next token stands then, and else
// `skipped` how many they were.
static bool skip_blanks(TSLexer *lexer, uint8_t *position, uint32_t *skipped) {
  bool broken = false;
  while (!lexer->eof(lexer)) {
    int32_t c = lexer->lookahead;
    if (c == '\n') {
      lexer->advance(lexer, true);
      c = lexer->lookahead;
      *position = c == ' ' || c == '\t' ? INDENTED : STARTS_LINE;
      broken = true;
    } else if (is_blank(c) || is_wide_blank(c)) {
      lexer->advance(lexer, true);
      (*skipped)++;
    } else {
      break;
    }
  }
  return broken;
}

// Where the next token stands that no line break is before. To ask for the column takes the longer, the longer the line is.
static uint8_t position_in_line(const Scanner *scanner, TSLexer *lexer, uint32_t skipped) {
  if (scanner->position != INSIDE) {
    bool follows = lexer->lookahead == scanner->next && lexer->get_column(lexer) == scanner->column + skipped;
    return follows ? scanner->position : INSIDE;
  }
  // The beginning of the text.
  if (lexer->lookahead == '%' && lexer->get_column(lexer) == skipped) {
    return skipped > 0 ? INDENTED : STARTS_LINE;
  }
  return INSIDE;
}

static void skip_line(TSLexer *lexer) {
  while (!lexer->eof(lexer) && lexer->lookahead != '\n') {
    advance(lexer);
  }
}

// From behind its first `/*`; comments nest.
static void skip_comment(TSLexer *lexer) {
  unsigned depth = 1;
  while (depth > 0 && !lexer->eof(lexer)) {
    int32_t c = lexer->lookahead;
    advance(lexer);
    if (c == '/' && lexer->lookahead == '*') {
      advance(lexer);
      depth++;
    } else if (c == '*' && lexer->lookahead == '/') {
      advance(lexer);
      depth--;
    }
  }
}

static bool found(TSLexer *lexer, enum TokenType type) {
  lexer->mark_end(lexer);
  lexer->result_symbol = type;
  return true;
}

static bool block_comment(Scanner *scanner, TSLexer *lexer, uint8_t position) {
  found(lexer, COMMENT);
  if (position == INSIDE) {
    return true;
  }
  scanner->column = lexer->get_column(lexer);
  while (!lexer->eof(lexer) && (is_blank(lexer->lookahead) || is_wide_blank(lexer->lookahead))) {
    advance(lexer);
  }
  if (!lexer->eof(lexer) && lexer->lookahead != '\n') {
    scanner->next = lexer->lookahead;
    scanner->position = position;
  }
  return true;
}

// Skips a name and the blanks behind it. Answers what follows (a line break where nothing does), or 0 if there is no name.
static int32_t skip_name(TSLexer *lexer) {
  if (!is_name(lexer->lookahead) || is_digit(lexer->lookahead)) {
    return 0;
  }
  while (is_name(lexer->lookahead)) {
    advance(lexer);
  }
  while (lexer->lookahead == ' ' || lexer->lookahead == '\t' || lexer->lookahead == '\r') {
    advance(lexer);
  }
  return lexer->eof(lexer) ? '\n' : lexer->lookahead;
}

// Whether a line that begins with this can only be the start of a statement: `?`, `.why`, `+name(`, `-name`. Looks ahead.
static bool starts_statement(TSLexer *lexer) {
  int32_t first = lexer->lookahead;
  if (first == '?') {
    return true;
  }
  if (first != '.' && first != '+' && first != '-') {
    return false;
  }
  advance(lexer);
  if (first == '.') {
    return !is_digit(lexer->lookahead);
  }
  int32_t after = skip_name(lexer);
  return after == '(' || after == '[' || (first == '-' && after == '\n');
}

// A word of a command ends at a blank; strings are words of their own, or parts of one.
static bool command_word(TSLexer *lexer) {
  while (!lexer->eof(lexer) && lexer->lookahead != '\n' && !is_blank(lexer->lookahead)) {
    bool quoted = lexer->lookahead == '"';
    advance(lexer);
    while (quoted && !lexer->eof(lexer) && lexer->lookahead != '\n') {
      int32_t c = lexer->lookahead;
      advance(lexer);
      if (c == '\\' && lexer->lookahead != '\n') {
        advance(lexer);
      }
      quoted = c != '"';
    }
  }
  return found(lexer, COMMAND_WORD);
}

bool tree_sitter_stratalog_external_scanner_scan(void *payload, TSLexer *lexer, const bool *valid) {
  Scanner *scanner = payload;
  uint8_t position = INSIDE;
  uint32_t skipped = 0;
  if (!skip_blanks(lexer, &position, &skipped)) {
    position = position_in_line(scanner, lexer, skipped);
  }
  scanner->position = INSIDE;
  bool in_command = valid[COMMAND_WORD] && !valid[ERROR_RECOVERY];

  if (lexer->eof(lexer)) {
    return valid[END] && found(lexer, END);
  }
  if (lexer->lookahead == '%' && position != INSIDE) {
    skip_line(lexer);
    return found(lexer, COMMENT);
  }
  if (lexer->lookahead == '/') {
    lexer->mark_end(lexer);
    advance(lexer);
    if (lexer->lookahead == '/') {
      skip_line(lexer);
      return found(lexer, COMMENT);
    }
    if (lexer->lookahead == '*') {
      advance(lexer);
      skip_comment(lexer);
      return block_comment(scanner, lexer, position);
    }
    return in_command && (position != STARTS_LINE) && command_word(lexer);
  }
  if (valid[END] && position == STARTS_LINE) {
    lexer->mark_end(lexer);
    lexer->result_symbol = END;
    // Behind a comma a statement goes on, wherever the line begins, unless that can be nothing but another statement.
    return !valid[CONDITION_BEGINS] || valid[ERROR_RECOVERY] || starts_statement(lexer);
  }
  if (position != STARTS_LINE && !valid[ERROR_RECOVERY]) {
    if (lexer->lookahead == '?' && valid[COMMAND_QUESTION]) {
      advance(lexer);
      return found(lexer, COMMAND_QUESTION);
    }
    if ((lexer->lookahead == '+' || lexer->lookahead == '-') && valid[COMMAND_SIGN]) {
      advance(lexer);
      lexer->mark_end(lexer);
      lexer->result_symbol = COMMAND_SIGN;
      int32_t after = skip_name(lexer);
      // Behind a condition, `- f` subtracts.
      if (after != 0 && (in_command || after == '(' || after == '[')) {
        return true;
      }
      return in_command && command_word(lexer);
    }
    if (in_command) {
      return command_word(lexer);
    }
  }
  if (valid[ARROW] && lexer->lookahead == '<') {
    advance(lexer);
    if (lexer->lookahead != '-') {
      return false;
    }
    advance(lexer);
    // `X <-5` compares.
    lexer->mark_end(lexer);
    lexer->result_symbol = ARROW;
    return !is_digit(lexer->lookahead) && lexer->lookahead != '.';
  }
  return false;
}
