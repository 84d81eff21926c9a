// From what the server tells to the class of the error.

import {
  AccessDenied,
  AlreadyExists,
  ArityMismatch,
  AttachedRelation,
  AuthError,
  Cancelled,
  ClusterUnavailable,
  ConnectionLost,
  DerivedRelation,
  type ErrorDetails,
  FilesUnavailable,
  Internal,
  InvalidMessage,
  InvalidParameter,
  LimitExceeded,
  NotFound,
  NotLive,
  OutcomeUnknown,
  Overloaded,
  ParseError,
  QueryTimeout,
  SessionLost,
  StorageUnavailable,
  StratalogError,
  TypeMismatch,
  UnknownFunction,
  UnknownRelation,
  UnsafeRule,
  Unstratifiable,
} from "./errors.js";
import type { Failure } from "./messages.js";

const CLASSES = [
  ConnectionLost,
  SessionLost,
  AuthError,
  InvalidMessage,
  ParseError,
  UnknownRelation,
  UnknownFunction,
  ArityMismatch,
  TypeMismatch,
  UnsafeRule,
  Unstratifiable,
  DerivedRelation,
  AttachedRelation,
  InvalidParameter,
  ClusterUnavailable,
  FilesUnavailable,
  NotLive,
  NotFound,
  AlreadyExists,
  AccessDenied,
  LimitExceeded,
  QueryTimeout,
  Cancelled,
  Overloaded,
  StorageUnavailable,
  OutcomeUnknown,
  Internal,
];

/** The help of every write whose end nobody saw. */
export const LOOK_FIRST = "it was sent, and may have taken effect or not: look before you send it again";

/** The error of a code. */
function errorOf(code: string, message: string, details: ErrorDetails = {}): StratalogError {
  const Found = CLASSES.find((known) => known.code === code) ?? StratalogError;
  return new Found(message, { ...details, code });
}

/** The error that the server tells. */
export function errorOfFailure(failure: Failure, program?: string): StratalogError {
  return errorOf(failure.code, failure.message, {
    help: failure.help,
    span: failure.span,
    diagnostics: failure.diagnostics,
    statementIndex: failure.statement_index,
    limit: failure.limit,
    retryAfter: failure.retry_after_ms,
    program,
  });
}
