// Everything that can go wrong, as one tree below `StratalogError`.
//
// The server answers a failed request with a stable code; each code has a class here, and a code that this version does
// not know becomes a plain `StratalogError` with that code. `String(error)` shows the place in the program.

import { excerpt } from "./excerpt.js";

/** A place in the program as it was sent: `line` and `column` in characters from 1, the others in bytes of UTF-8. */
export interface Span {
  readonly line: number;
  readonly column: number;
  readonly length: number;
  readonly offset: number;
}

/** One thing that the server found in a program. */
export interface Diagnostic {
  readonly severity: "error" | "warning";
  readonly code: string;
  readonly message: string;
  readonly help?: string | undefined;
  readonly span?: Span | undefined;
  /** Further places, with what they contribute. */
  readonly labels?: readonly { readonly span: Span; readonly text: string }[] | undefined;
  /** What to write in which place instead, where that is known; each is a way of its own. */
  readonly fixes?: readonly { readonly span: Span; readonly text: string }[] | undefined;
}

/** What is known beside the message. */
export interface ErrorDetails {
  code?: string | undefined;
  help?: string | undefined;
  span?: Span | undefined;
  diagnostics?: readonly Diagnostic[] | undefined;
  statementIndex?: number | undefined;
  limit?: { readonly name: string; readonly value: number } | undefined;
  retryAfter?: number | undefined;
  program?: string | undefined;
  uncertain?: boolean | undefined;
  cause?: unknown;
}

/** The root of the tree, and the class of a code that this version does not know. */
export class StratalogError extends Error {
  static readonly code: string = "error";
  override readonly name: string = "StratalogError";
  /** Stable; docs/errors.md has all of them. */
  readonly code: string;
  /** What to do. */
  readonly help: string | undefined;
  /** The cause in the program. */
  readonly span: Span | undefined;
  /** Everything that was found, in the order of the text. */
  readonly diagnostics: readonly Diagnostic[];
  /** Which statement of the program, from 0. */
  readonly statementIndex: number | undefined;
  /** The limit that was reached. */
  readonly limit: { readonly name: string; readonly value: number } | undefined;
  /** Milliseconds after which trying again makes sense. */
  readonly retryAfter: number | undefined;
  /** The text that the spans point into. */
  readonly program: string | undefined;
  /** Whether a write was sent that may have taken effect or not. */
  readonly uncertain: boolean;

  constructor(message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = details.code ?? new.target.code;
    this.help = details.help;
    this.span = details.span;
    this.diagnostics = details.diagnostics ?? [];
    this.statementIndex = details.statementIndex;
    this.limit = details.limit;
    this.retryAfter = details.retryAfter;
    this.program = details.program;
    this.uncertain = details.uncertain ?? false;
  }

  /** The message, the lines of the program that it is about with marks under the places, and the help. */
  override toString(): string {
    const only: Diagnostic = { severity: "error", code: this.code, message: this.message, span: this.span };
    const findings = this.diagnostics.length > 0 ? this.diagnostics : [only];
    const lines = [`${this.name}: ${this.message}`];
    findings.forEach((finding, number) => {
      if (number > 0 || finding.message !== this.message)
        lines.push(`${finding.severity}: ${finding.message}`);
      lines.push(...excerpt(this.program, finding));
      const help = finding.help ?? (number === 0 ? this.help : undefined);
      if (help !== undefined) lines.push(`  = help: ${help}`);
    });
    return lines.join("\n");
  }
}

/**
 * The connection is closed or could not be opened. `uncertain` tells whether a write was on its way: then it may have
 * taken effect or not. Otherwise nothing was sent, or what was sent only reads.
 */
export class ConnectionLost extends StratalogError {
  static override readonly code: string = "connection_lost";
  override readonly name: string = "ConnectionLost";
}

/**
 * The client is connected again, but to a new session: facts and rules of the old one are gone. Nothing was sent; the
 * next request goes to the new session.
 */
export class SessionLost extends ConnectionLost {
  static override readonly code: string = "session_lost";
  override readonly name = "SessionLost";
}

/** The credentials are missing or not valid. */
export class AuthError extends StratalogError {
  static override readonly code: string = "auth_error";
  override readonly name = "AuthError";
}

/** The server did not accept the form of a message, or the client that of an answer. */
export class InvalidMessage extends StratalogError {
  static override readonly code: string = "invalid_message";
  override readonly name = "InvalidMessage";
}

/** The program cannot run as it is written. */
export class ProgramError extends StratalogError {
  override readonly name: string = "ProgramError";
}

/** The text is not a program. */
export class ParseError extends ProgramError {
  static override readonly code: string = "parse_error";
  override readonly name = "ParseError";
}

/** A query names a relation that nobody has defined. */
export class UnknownRelation extends ProgramError {
  static override readonly code: string = "unknown_relation";
  override readonly name = "UnknownRelation";
}

/** The program calls a function that does not exist. */
export class UnknownFunction extends ProgramError {
  static override readonly code: string = "unknown_function";
  override readonly name = "UnknownFunction";
}

/** A relation is used with the wrong number of columns. */
export class ArityMismatch extends ProgramError {
  static override readonly code: string = "arity_mismatch";
  override readonly name = "ArityMismatch";
}

/** A value does not have the type of its column. */
export class TypeMismatch extends ProgramError {
  static override readonly code: string = "type_mismatch";
  override readonly name = "TypeMismatch";
}

/** A variable is not bound, so that some answer could be infinite. */
export class UnsafeRule extends ProgramError {
  static override readonly code: string = "unsafe_rule";
  override readonly name = "UnsafeRule";
}

/** A relation depends on its own negation, or on an aggregate of itself. */
export class Unstratifiable extends ProgramError {
  static override readonly code: string = "unstratifiable";
  override readonly name = "Unstratifiable";
}

/** Facts cannot be written into a relation that rules define. */
export class DerivedRelation extends ProgramError {
  static override readonly code: string = "derived_relation";
  override readonly name = "DerivedRelation";
}

/** Only questions read a relation whose rows are in attached files, and nobody writes it. */
export class AttachedRelation extends ProgramError {
  static override readonly code: string = "attached_relation";
  override readonly name = "AttachedRelation";
}

/** A parameter is missing, left over, or not a value that can be sent. */
export class InvalidParameter extends ProgramError {
  static override readonly code: string = "invalid_parameter";
  override readonly name = "InvalidParameter";
}

/** A question is to be evaluated by a cluster that the server does not have or its graph does not use. */
export class ClusterUnavailable extends StratalogError {
  static override readonly code: string = "cluster_unavailable";
  override readonly name = "ClusterUnavailable";
}

/** Files that were attached as a relation cannot be read, or have changed. */
export class FilesUnavailable extends StratalogError {
  static override readonly code: string = "files_unavailable";
  override readonly name = "FilesUnavailable";
}

/** What was subscribed to cannot be told live. */
export class NotLive extends ProgramError {
  static override readonly code: string = "not_live";
  override readonly name = "NotLive";
}

/** A graph, rule, relation, index, user or key of this name does not exist. */
export class NotFound extends StratalogError {
  static override readonly code: string = "not_found";
  override readonly name = "NotFound";
}

/** The name is taken. */
export class AlreadyExists extends StratalogError {
  static override readonly code: string = "already_exists";
  override readonly name = "AlreadyExists";
}

/** The user may not do this here. */
export class AccessDenied extends StratalogError {
  static override readonly code: string = "access_denied";
  override readonly name = "AccessDenied";
}

/** A limit of the server was reached; `limit` names it. */
export class LimitExceeded extends StratalogError {
  static override readonly code: string = "limit_exceeded";
  override readonly name = "LimitExceeded";
}

/** The request took longer than its time limit and was stopped. */
export class QueryTimeout extends StratalogError {
  static override readonly code: string = "timeout";
  override readonly name = "QueryTimeout";
}

/** The request was stopped on demand. */
export class Cancelled extends StratalogError {
  static override readonly code: string = "cancelled";
  override readonly name = "Cancelled";
}

/** The server has too much to do; `retryAfter` says when to come back. */
export class Overloaded extends StratalogError {
  static override readonly code: string = "overloaded";
  override readonly name = "Overloaded";
}

/** The server cannot write to, or read from, its disk. */
export class StorageUnavailable extends StratalogError {
  static override readonly code: string = "storage_unavailable";
  override readonly name = "StorageUnavailable";
}

/** The server cannot tell whether the write took effect. */
export class OutcomeUnknown extends StratalogError {
  static override readonly code: string = "outcome_unknown";
  override readonly name = "OutcomeUnknown";
  override readonly uncertain = true;
}

/** A fault of the server; the message carries a reference into its log. */
export class Internal extends StratalogError {
  static override readonly code: string = "internal";
  override readonly name = "Internal";
}
