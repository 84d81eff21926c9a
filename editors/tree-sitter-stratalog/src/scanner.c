// What depends on where in its line a token stands: the end of a statement, and `%` as a comment. Besides, comments that nest,
// the arrow that no number may follow, and the free words of commands. The same rules as engine/src/syntax/lexer.rs,
// parser.rs and parse_command.rs.

#include "tree_sitter/parser.h"

#include <stdlib.h>
#include <wctype.h>

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

// A comment does not change where the token behind it stands; so it is kept, with the column at which that holds.
typedef struct {
  uint32_t column;
  uint8_t position;
} Scanner;

void *tree_sitter_stratalog_external_scanner_create(void) { return calloc(1, sizeof(Scanner)); }

void tree_sitter_stratalog_external_scanner_destroy(void *payload) { free(payload); }

unsigned tree_sitter_stratalog_external_scanner_serialize(void *payload, char *buffer) {
  const Scanner *scanner = payload;
  buffer[0] = (char)scanner->position;
  for (int byte = 0; byte < 4; byte++) {
    buffer[1 + byte] = (char)(scanner->column >> (8 * byte));
  }
  return 5;
}

void tree_sitter_stratalog_external_scanner_deserialize(void *payload, const char *buffer, unsigned length) {
  Scanner *scanner = payload;
  scanner->position = INSIDE;
  scanner->column = 0;
  if (length == 5) {
    scanner->position = (uint8_t)buffer[0];
    for (int byte = 0; byte < 4; byte++) {
      scanner->column |= (uint32_t)(uint8_t)buffer[1 + byte] << (8 * byte);
    }
  }
}

static void advance(TSLexer *lexer) { lexer->advance(lexer, false); }

static bool is_blank(int32_t c) { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f'; }

static bool is_name(int32_t c) { return c == '_' || iswalnum((wint_t)c); }

static bool is_digit(int32_t c) { return c >= '0' && c <= '9'; }

// Skips blanks and tells where in its line the next token stands.
static uint8_t skip_blanks(TSLexer *lexer, uint8_t position) {
  while (!lexer->eof(lexer)) {
    int32_t c = lexer->lookahead;
    if (c == '\n') {
      lexer->advance(lexer, true);
      c = lexer->lookahead;
      position = c == ' ' || c == '\t' ? INDENTED : STARTS_LINE;
    } else if (is_blank(c) || c == 0xfeff || (c >= 0x80 && iswspace((wint_t)c))) {
      lexer->advance(lexer, true);
    } else {
      break;
    }
  }
  return position;
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

static bool comment(Scanner *scanner, TSLexer *lexer, uint8_t position) {
  found(lexer, COMMENT);
  scanner->position = position;
  scanner->column = lexer->get_column(lexer);
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
  if (lexer->eof(lexer)) {
    return false;
  }
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
  uint32_t column = lexer->get_column(lexer);
  uint8_t position = column == 0 ? STARTS_LINE : column == scanner->column ? scanner->position : INSIDE;
  position = skip_blanks(lexer, position);
  scanner->position = INSIDE;
  bool in_command = valid[COMMAND_WORD] && !valid[ERROR_RECOVERY];

  if (lexer->eof(lexer)) {
    return valid[END] && found(lexer, END);
  }
  if (lexer->lookahead == '%' && position != INSIDE) {
    skip_line(lexer);
    return comment(scanner, lexer, position);
  }
  if (lexer->lookahead == '/') {
    lexer->mark_end(lexer);
    advance(lexer);
    if (lexer->lookahead == '/') {
      skip_line(lexer);
      return comment(scanner, lexer, position);
    }
    if (lexer->lookahead == '*') {
      advance(lexer);
      skip_comment(lexer);
      return comment(scanner, lexer, position);
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
