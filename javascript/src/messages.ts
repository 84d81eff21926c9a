// The messages of the protocol, made by `npm run messages` from the server's /api/asyncapi.yaml. Not to be edited.

import type {Cell} from "./json.js";

export type Message = Request | Reply;
/**
 * What a client sends.
 */
export type Request =
  | LoginMessage
  | AuthenticateMessage
  | ExecuteMessage
  | CheckMessage
  | FormatMessage
  | CompleteMessage
  | InsertMessage
  | QueryMessage
  | InsertFactsMessage
  | RetractFactsMessage
  | AddRuleMessage
  | SubscribeMessage
  | UnsubscribeMessage
  | CancelMessage
  | PingMessage;
/**
 * A password or key: travels as a string, and never shows itself in a log.
 */
export type Secret = string;
/**
 * Chosen by the client and repeated in every reply to that message.
 */
export type RequestId = number | string;
export type Value = Cell;
/**
 * How rows travel.
 */
export type Format = "json" | "arrow";
/**
 * Where queries are evaluated.
 */
export type EvaluationPlace = "auto" | "here" | "cluster";
/**
 * Whose facts are inserted.
 */
export type Scope = "persistent" | "session";
/**
 * What a server sends.
 */
export type Reply =
  | AuthenticatedMessage
  | AuthErrorMessage
  | ResultMessage
  | ResultStartMessage
  | ResultChunkMessage
  | ResultEndMessage
  | WorkingMessage
  | ErrorMessage
  | AckMessage
  | CheckedMessage
  | FormattedMessage
  | CompletionsMessage
  | SubscribedMessage
  | DeltaMessage
  | ProgressMessage
  | UnsubscribedMessage
  | PongMessage
  | PersistentUpdateMessage
  | RuleChangeMessage
  | KgChangeMessage
  | SchemaChangeMessage;
/**
 * Where a row comes from.
 */
export type Provenance = "persistent" | "ephemeral" | "unknown";
/**
 * A kind of reason.
 */
export type ProofKind =
  "fact" | "rule" | "aggregate" | "negation" | "vector_search" | "truncated" | "why_not";
/**
 * Where a fact is stored.
 */
export type FactSource = "edb" | "session";
/**
 * What stands in the way of a rule.
 */
export type BlockerProof =
  | {
      type: "not_stored";
    }
  | {
      type: "head_unification_failed";
      /**
       * What does not fit.
       */
      reason: string;
    }
  | {
      type: "body_atom_failed";
      /**
       * Its place in the body, from 0.
       */
      predicate_index: number;
      /**
       * As written.
       */
      predicate_text: string;
      /**
       * What was tried.
       */
      reason: string;
      /**
       * The condition with values that fulfil those before it; the first few.
       */
      tried: string[];
    }
  | {
      type: "negation_succeeded";
      /**
       * Its place in the body, from 0.
       */
      predicate_index: number;
      /**
       * As written.
       */
      predicate_text: string;
      /**
       * The relation of the fact.
       */
      relation?: string;
      /**
       * Its values.
       */
      matching_tuple?: Value[];
    }
  | {
      type: "aggregate_differs";
      /**
       * What the rule derives for it.
       */
      found: Conclusion[];
    };
/**
 * What a request does that is not answered.
 */
export type WorkState = "waiting" | "running" | "stopping" | "unknown";
/**
 * The stable code of a failure.
 */
export type Code =
  | "invalid_message"
  | "parse_error"
  | "unknown_relation"
  | "arity_mismatch"
  | "type_mismatch"
  | "unknown_function"
  | "unsafe_rule"
  | "unstratifiable"
  | "derived_relation"
  | "attached_relation"
  | "invalid_parameter"
  | "not_found"
  | "already_exists"
  | "access_denied"
  | "limit_exceeded"
  | "timeout"
  | "cancelled"
  | "overloaded"
  | "storage_unavailable"
  | "outcome_unknown"
  | "not_live"
  | "cluster_unavailable"
  | "files_unavailable"
  | "internal"
  | "unused_variable"
  | "cross_product"
  | "rule_differs_only_in"
  | "never_true"
  | "year_beside_times"
  | "precision_lost"
  | "unanswered_query";
/**
 * Whether the program was refused, or only deserves a second look.
 */
export type Severity = "error" | "warning";
/**
 * What something that may be written names.
 */
export type OfferKind = "relation" | "function" | "aggregate" | "variable" | "word";
/**
 * What was done to facts.
 */
export type RowOperation = "insert" | "delete" | "update";
/**
 * What was done to a derived relation.
 */
export type RuleOperation = "registered" | "dropped";
/**
 * What became of a graph.
 */
export type GraphOperation = "created" | "dropped";
/**
 * What was done to a definition.
 */
export type SchemaOperation = "declared" | "dropped";

/**
 * Says who is there, by password.
 */
export interface LoginMessage {
  type: "login";
  /**
   * The user's name.
   */
  username: string;
  /**
   * The user's password.
   */
  password: Secret;
  /**
   * Repeated in every reply.
   */
  id?: RequestId;
}
/**
 * Says who is there, by API key.
 */
export interface AuthenticateMessage {
  type: "authenticate";
  /**
   * The key.
   */
  api_key: Secret;
  /**
   * Repeated in every reply.
   */
  id?: RequestId;
}
/**
 * Runs a program.
 */
export interface ExecuteMessage {
  type: "execute";
  /**
   * The statements.
   */
  program: string;
  /**
   * A value for each `$name` in the program, by its name.
   */
  params?: {
    [k: string]: Value;
  };
  /**
   * How the rows of a query travel.
   */
  format?: Format;
  /**
   * The longest time to run, in milliseconds: shorter than the server's limit, never longer.
   */
  timeout_ms?: number;
  /**
   * At most so many rows.
   */
  limit?: number;
  /**
   * The program's writes are one transaction: any failure undoes all of it.
   */
  atomic?: boolean;
  /**
   * The program's rules take the place of those of the same heads that there were before.
   */
  replace_rules?: boolean;
  /**
   * Where the program's queries are evaluated.
   */
  place?: EvaluationPlace;
  /**
   * Tells with `working` how far it is, twice a second.
   */
  progress?: boolean;
  /**
   * Repeated in every reply.
   */
  id?: RequestId;
}
/**
 * Says what is wrong with a program, without running anything of it.
 */
export interface CheckMessage {
  type: "check";
  /**
   * The statements. Parameters may have any value.
   */
  program: string;
  /**
   * Repeated in every reply.
   */
  id?: RequestId;
}
/**
 * Writes a program in the one layout that all programs have, without running anything of it.
 */
export interface FormatMessage {
  type: "format";
  /**
   * The statements, with their comments.
   */
  program: string;
  /**
   * Repeated in every reply.
   */
  id?: RequestId;
}
/**
 * Asks what may be written at a place of a program.
 */
export interface CompleteMessage {
  type: "complete";
  /**
   * The statements, however complete they are.
   */
  program: string;
  /**
   * The place, in bytes of UTF-8 from the beginning; the end of the program if there is none.
   */
  offset?: number;
  /**
   * Repeated in every reply.
   */
  id?: RequestId;
}
/**
 * Inserts rows without program text: `rows`, or with the format `arrow` the binary frames that follow.
 */
export interface InsertMessage {
  type: "insert";
  /**
   * The relation to insert into.
   */
  relation: string;
  /**
   * Whose facts these are.
   */
  scope?: Scope;
  /**
   * How the rows travel.
   */
  format?: Format;
  /**
   * The names of the columns of `rows`; without them they go by position.
   */
  columns?: string[];
  /**
   * The rows, where they travel as JSON.
   */
  rows?: Value[][];
  /**
   * Repeated in every reply.
   */
  id?: RequestId;
}
/**
 * Runs a program: `execute` with nothing but the program.
 */
export interface QueryMessage {
  type: "query";
  /**
   * The statements, of which the last query is answered.
   */
  query: string;
  /**
   * Repeated in every reply.
   */
  id?: RequestId;
}
/**
 * Adds facts to the session.
 */
export interface InsertFactsMessage {
  type: "insert_facts";
  /**
   * The relation.
   */
  relation: string;
  /**
   * The facts.
   */
  tuples: Value[][];
  /**
   * Repeated in every reply.
   */
  id?: RequestId;
}
/**
 * Takes facts away from the session.
 */
export interface RetractFactsMessage {
  type: "retract_facts";
  /**
   * The relation.
   */
  relation: string;
  /**
   * The facts.
   */
  tuples: Value[][];
  /**
   * Repeated in every reply.
   */
  id?: RequestId;
}
/**
 * Adds a rule to the session.
 */
export interface AddRuleMessage {
  type: "add_rule";
  /**
   * Exactly one rule.
   */
  rule: string;
  /**
   * Repeated in every reply.
   */
  id?: RequestId;
}
/**
 * Asks to be told the answer to a query, and from then on the rows that come and go.
 */
export interface SubscribeMessage {
  type: "subscribe";
  /**
   * One query, and nothing else.
   */
  query: string;
  /**
   * A value for each `$name` in the query, by its name.
   */
  params?: {
    [k: string]: Value;
  };
  /**
   * How rows travel.
   */
  format?: Format;
  /**
   * No two versions that change the answer are told as one; whoever falls too far behind for that begins anew.
   */
  every_version?: boolean;
  /**
   * Tells now and then up to which version everything is told.
   */
  progress?: boolean;
  /**
   * The answer that is there already: only what has changed since is told, if that is known.
   */
  resume?: Resume;
  /**
   * Repeated in every reply.
   */
  id?: RequestId;
}
/**
 * Where a subscription goes on.
 */
export interface Resume {
  /**
   * The `token` of the `subscribed` before.
   */
  token: string;
  /**
   * The version of the last complete `delta`.
   */
  version: number;
}
/**
 * Ends a subscription.
 */
export interface UnsubscribeMessage {
  type: "unsubscribe";
  /**
   * The number of the subscription.
   */
  subscription: number;
  /**
   * Repeated in every reply.
   */
  id?: RequestId;
}
/**
 * Stops a running or waiting request of the same connection; answered at once.
 */
export interface CancelMessage {
  type: "cancel";
  /**
   * The id of the request to stop.
   */
  target: RequestId;
  /**
   * Repeated in every reply.
   */
  id?: RequestId;
}
/**
 * Asks for a sign of life; answered at once.
 */
export interface PingMessage {
  type: "ping";
  /**
   * Repeated in every reply.
   */
  id?: RequestId;
}
/**
 * The credentials are valid; requests may follow.
 */
export interface AuthenticatedMessage {
  type: "authenticated";
  /**
   * The new session.
   */
  session_id: string;
  /**
   * The graph that it is bound to.
   */
  knowledge_graph: string;
  /**
   * The server's version.
   */
  version: string;
  /**
   * The user's role: `admin`, `editor` or `viewer`.
   */
  role: string;
  /**
   * What the API key of the login opens of what its user may do, if not all of it: `write` or `read`.
   */
  scope?: string;
  /**
   * The number of the last notification before, if the address asks for `last_seq`: what to come back with, if none
   * follows.
   */
  last_seq?: number;
  /**
   * The id of the request, if it had one.
   */
  id?: RequestId;
}
/**
 * The credentials are not valid, or there were none.
 */
export interface AuthErrorMessage {
  type: "auth_error";
  /**
   * What was wrong, without telling what is right.
   */
  message: string;
  /**
   * The id of the request, if it had one.
   */
  id?: RequestId;
}
/**
 * A whole table.
 */
export interface ResultMessage {
  type: "result";
  /**
   * The names of the columns; the one column `message` where the statements had something to say.
   */
  columns: string[];
  /**
   * Names that no two columns share; absent where those of `columns` are such.
   */
  names?: string[];
  /**
   * The rows, each in column order.
   */
  rows: Value[][];
  /**
   * How many rows these are.
   */
  row_count: number;
  /**
   * How many there were before a limit.
   */
  total_count: number;
  /**
   * Whether a limit left rows out.
   */
  truncated: boolean;
  /**
   * How long the request took.
   */
  execution_time_ms: number;
  /**
   * The version of the graph that this is the answer at, or from which on what was written is there.
   */
  version?: number;
  /**
   * Where each row comes from, if the session has facts or rules of its own.
   */
  row_provenance?: Provenance[];
  /**
   * What else there is to know.
   */
  metadata?: Metadata;
  /**
   * The graph that the session is bound to from now on.
   */
  switched_kg?: string;
  /**
   * Why each row is one, if that was asked: one tree a row.
   */
  proof_trees?: ProofTree[];
  /**
   * The id of the request, if it had one.
   */
  id?: RequestId;
}
/**
 * What else there is to know about a result.
 */
export interface Metadata {
  /**
   * Whether the session has facts or rules of its own.
   */
  has_ephemeral?: boolean;
  /**
   * The relations with facts of the session.
   */
  ephemeral_sources?: string[];
  /**
   * What ran, but deserves a second look.
   */
  warnings?: string[];
}
/**
 * Why one row of an answer is one: facts and rules, each fact once.
 */
export interface ProofTree {
  /**
   * The version of this format.
   */
  version: number;
  /**
   * What is explained.
   */
  query: string;
  /**
   * Where to begin: one node, or several where several proofs were asked for.
   */
  roots: string[];
  /**
   * The nodes by their ids, `n0`, `n1` and so on.
   */
  nodes: {
    [k: string]: ProofNode;
  };
  /**
   * The stored facts that all of it rests on, each once.
   */
  base_facts?: string[];
  /**
   * Of something that does not hold: the fewest stored facts that were found with which it would.
   */
  would_hold_with?: Conclusion[];
}
/**
 * A fact in a proof, or what stands in the place of one.
 */
export interface ProofNode {
  /**
   * What kind of reason there is, and which of the fields say more.
   */
  kind: ProofKind;
  /**
   * What holds.
   */
  conclusion: Conclusion;
  /**
   * Of `fact`: where it is stored.
   */
  source?: FactSource;
  /**
   * The rule.
   */
  rule_id?: string;
  /**
   * The variables of the rule and their values.
   */
  bindings?: {
    [k: string]: Value;
  };
  /**
   * Of `aggregate`: the first of what is aggregated.
   */
  aggregate?: AggregateProof;
  /**
   * Of `aggregate`: all that is aggregated, where it is more than one.
   */
  aggregates?: AggregateProof[];
  /**
   * Of `negation`: what is not there.
   */
  negation?: NegationProof;
  /**
   * Of `vector_search`: the search that has found it.
   */
  vector_search?: SearchProof;
  /**
   * Of `why_not`: what stands in the way.
   */
  why_not?: WhyNot;
  /**
   * Of `truncated`: why it goes no further. Ask `.why` of the conclusion for the rest.
   */
  truncated?: Truncation;
  /**
   * How many rules the smallest proof applies one after the other.
   */
  height: number;
  /**
   * In how many other ways rules derive the same from facts that hold; absent if in none.
   */
  alternatives?: number;
  /**
   * Of a row that was the best of its group for a while only, before a recursion found a better one: the value that took the place
   * of its own.
   */
  replaced_by?: Value;
  /**
   * What it follows from, in the order of the rule's conditions.
   */
  children?: string[];
}
/**
 * `pred(args)`.
 */
export interface Conclusion {
  /**
   * The relation; `?` for the query itself.
   */
  pred: string;
  /**
   * One value a column; of `negation` null also for any.
   */
  args: Value[];
}
/**
 * An aggregate at work.
 */
export interface AggregateProof {
  /**
   * The aggregate.
   */
  fn: string;
  /**
   * The variable that it is taken over.
   */
  value_var: string;
  /**
   * What it gives.
   */
  result: Value;
  /**
   * How many solutions the group has.
   */
  contributing_count: number;
  /**
   * The variables that an input has values of.
   */
  input_columns: string[];
  /**
   * The first inputs; of what is chosen by size, the best come first, so what was just not chosen is seen.
   */
  sample_inputs: Value[][];
  /**
   * All inputs, where they were asked for.
   */
  full_inputs?: Value[][];
}
/**
 * What is not there.
 */
export interface NegationProof {
  /**
   * The condition, with the values that it has here.
   */
  pattern: string;
}
/**
 * A search at work.
 */
export interface SearchProof {
  /**
   * The index.
   */
  index_name: string;
  /**
   * How vectors are compared; absent for a search of texts.
   */
  metric?: string;
  /**
   * How far the row is from what was searched for, or how well it fits.
   */
  distance: Value;
  /**
   * How many rows were searched for.
   */
  k?: number;
}
/**
 * Why something does not hold.
 */
export interface WhyNot {
  /**
   * The relation of the rule that does not derive it; absent for all that there is.
   */
  rule_name?: string;
  /**
   * The number of the rule among those of its relation, from 1.
   */
  clause_index?: number;
  /**
   * The rule.
   */
  clause_text?: string;
  /**
   * What stands in the way.
   */
  blocker?: BlockerProof;
  /**
   * Facts that hold and are nearly the one that is missing.
   */
  nearest?: Conclusion[];
  /**
   * What may be meant.
   */
  hint?: string;
}
/**
 * Why a proof goes no further.
 */
export interface Truncation {
  /**
   * So deep proofs are told.
   */
  depth_limit?: number;
  /**
   * So many nodes are told.
   */
  node_limit?: number;
}
/**
 * A table begins; chunks or binary frames follow.
 */
export interface ResultStartMessage {
  type: "result_start";
  /**
   * The names of the columns: what stands in them, where nothing is declared.
   */
  columns: string[];
  /**
   * Names that no two columns share; absent where those of `columns` are such.
   */
  names?: string[];
  /**
   * How many rows there were before a limit.
   */
  total_count: number;
  /**
   * Whether a limit left rows out.
   */
  truncated: boolean;
  /**
   * How long the request took, without sending.
   */
  execution_time_ms: number;
  /**
   * The version of the graph that this is the answer at.
   */
  version?: number;
  /**
   * `arrow` where binary frames follow; absent where chunks follow.
   */
  format?: Format;
  /**
   * What else there is to know.
   */
  metadata?: Metadata;
  /**
   * The graph that the session is bound to from now on.
   */
  switched_kg?: string;
  /**
   * Why each row is one, if that was asked: one tree a row.
   */
  proof_trees?: ProofTree[];
  /**
   * The id of the request, if it had one.
   */
  id?: RequestId;
}
/**
 * Some rows of a table.
 */
export interface ResultChunkMessage {
  type: "result_chunk";
  /**
   * At most 500 rows.
   */
  rows: Value[][];
  /**
   * Where each of them comes from, if the session has facts or rules of its own.
   */
  row_provenance?: Provenance[];
  /**
   * The number of the chunk, from 0.
   */
  chunk_index: number;
  /**
   * The id of the request, if it had one.
   */
  id?: RequestId;
}
/**
 * A table is complete.
 */
export interface ResultEndMessage {
  type: "result_end";
  /**
   * How many rows were sent.
   */
  row_count: number;
  /**
   * In how many chunks or binary frames.
   */
  chunk_count: number;
  /**
   * The id of the request, if it had one.
   */
  id?: RequestId;
}
/**
 * How far a request is whose answer is not there yet.
 */
export interface WorkingMessage {
  type: "working";
  /**
   * What it does.
   */
  state: WorkState;
  /**
   * Milliseconds since its turn came.
   */
  elapsed_ms: number;
  /**
   * Rounds of recursions that are done. Nobody knows before how many there will be.
   */
  rounds: number;
  /**
   * Rows that rules have found so far.
   */
  rows: number;
  /**
   * Bytes that it holds now.
   */
  memory_bytes: number;
  /**
   * The id of the request, if it had one.
   */
  id?: RequestId;
}
/**
 * The request failed.
 */
export interface ErrorMessage {
  type: "error";
  /**
   * What went wrong, for a program.
   */
  code: Code;
  /**
   * What went wrong, in one sentence.
   */
  message: string;
  /**
   * What to do about it.
   */
  help?: string;
  /**
   * Where in the program.
   */
  span?: Place;
  /**
   * Which statement of the program, from 0.
   */
  statement_index?: number;
  /**
   * Everything that was found, in the order of the text.
   */
  diagnostics?: Annotation[];
  /**
   * The same for parse errors, in the short form that older clients read.
   */
  validation_errors?: ValidationError[];
  /**
   * The limit that was reached.
   */
  limit?: LimitReached;
  /**
   * When trying again makes sense.
   */
  retry_after_ms?: number;
  /**
   * The notifications that were missed.
   */
  gap?: Gap;
  /**
   * The id of the request, if it had one.
   */
  id?: RequestId;
}
/**
 * A place in the program as it was sent: lines and columns from 1 in characters, offset and length in bytes.
 */
export interface Place {
  /**
   * Line, from 1.
   */
  line: number;
  /**
   * Column in characters, from 1.
   */
  column: number;
  /**
   * Length in bytes.
   */
  length: number;
  /**
   * Offset of the first byte.
   */
  offset: number;
}
/**
 * One thing that was found in a program.
 */
export interface Annotation {
  /**
   * Error or warning.
   */
  severity: Severity;
  /**
   * The stable code.
   */
  code: Code;
  /**
   * One sentence.
   */
  message: string;
  /**
   * What to do about it.
   */
  help?: string;
  /**
   * The cause.
   */
  span?: Place;
  /**
   * Further places, with what they contribute.
   */
  labels?: Label[];
  /**
   * What to write instead, where that is known; of several, each is a way of its own.
   */
  fixes?: Replacement[];
}
/**
 * A further place with what it contributes.
 */
export interface Label {
  /**
   * The place.
   */
  span: Place;
  /**
   * What it contributes.
   */
  text: string;
}
/**
 * A text in the place of another.
 */
export interface Replacement {
  /**
   * What goes; nothing, where its length is 0.
   */
  span: Place;
  /**
   * What comes.
   */
  text: string;
}
/**
 * A parse error in short.
 */
export interface ValidationError {
  /**
   * Line of the program, from 1.
   */
  line: number;
  /**
   * Which statement, from 0.
   */
  statement_index: number;
  /**
   * One sentence.
   */
  error: string;
}
/**
 * A limit that was reached.
 */
export interface LimitReached {
  /**
   * Its name, as in the configuration.
   */
  name: string;
  /**
   * Its value.
   */
  value: number;
}
/**
 * Notifications that a client has perhaps missed: the first and the last number.
 */
export interface Gap {
  /**
   * The first.
   */
  from: number;
  /**
   * The last.
   */
  to: number;
}
/**
 * What was asked for is done.
 */
export interface AckMessage {
  type: "ack";
  /**
   * What was done, in one sentence.
   */
  message: string;
  /**
   * The id of the request, if it had one.
   */
  id?: RequestId;
}
/**
 * What was found in a program.
 */
export interface CheckedMessage {
  type: "checked";
  /**
   * All errors and warnings, in the order of the statements; none where there is nothing to say.
   */
  diagnostics: Annotation[];
  /**
   * The id of the request, if it had one.
   */
  id?: RequestId;
}
/**
 * A program in the layout that all programs have.
 */
export interface FormattedMessage {
  type: "formatted";
  /**
   * The program: the same statements and comments.
   */
  program: string;
  /**
   * The id of the request, if it had one.
   */
  id?: RequestId;
}
/**
 * What may be written at a place.
 */
export interface CompletionsMessage {
  type: "completions";
  /**
   * What may be written, each once; none where that is not known.
   */
  offers: Offer[];
  /**
   * The id of the request, if it had one.
   */
  id?: RequestId;
}
/**
 * Something that may be written.
 */
export interface Offer {
  /**
   * What stands there afterwards, from where what is typed of it begins; with the bracket that has to follow.
   */
  text: string;
  /**
   * How many bytes before the place are what is typed of it.
   */
  typed: number;
  /**
   * What it names.
   */
  kind: OfferKind;
  /**
   * Its columns, or what it does.
   */
  about?: string;
}
/**
 * A subscription has begun; `delta` follows.
 */
export interface SubscribedMessage {
  type: "subscribed";
  /**
   * Its number, which is in all that is told of it on this connection.
   */
  subscription: number;
  /**
   * The names of the columns: what stands in them, where nothing is declared.
   */
  columns: string[];
  /**
   * Names that no two columns share; absent where those of `columns` are such.
   */
  names?: string[];
  /**
   * The graph that is asked, also when the session is bound to another one later.
   */
  knowledge_graph: string;
  /**
   * The version at which what is told first is the answer.
   */
  version: number;
  /**
   * Whether the rows of before are still right: no `reset` follows, only what has changed.
   */
  resumed: boolean;
  /**
   * What to go on with after the connection is lost, with the version of the last complete `delta`.
   */
  token: string;
  /**
   * What else there is to know.
   */
  metadata?: Metadata;
  /**
   * The id of the request, if it had one.
   */
  id?: RequestId;
}
/**
 * The rows that have come and gone, or with `reset` all that there are.
 */
export interface DeltaMessage {
  type: "delta";
  /**
   * The number of the subscription.
   */
  subscription: number;
  /**
   * The version of the rows that this changes; absent with `reset`.
   */
  from?: number;
  /**
   * The version at which the rows are the answer afterwards.
   */
  version: number;
  /**
   * Whether `added` are all rows, in the place of those that were there.
   */
  reset?: boolean;
  /**
   * How rows travel, if not as JSON: one binary frame follows, an Arrow stream of its own, in which the first column
   * `_diff` is 1 for a row that was added, -1 for one that was removed.
   */
  format?: Format;
  /**
   * Rows that were not there.
   */
  added?: Value[][];
  /**
   * Rows that are not there any more.
   */
  removed?: Value[][];
  /**
   * Whether no other part follows.
   */
  last: boolean;
  /**
   * The id of the request, if it had one.
   */
  id?: RequestId;
}
/**
 * Everything up to and with a version is told.
 */
export interface ProgressMessage {
  type: "progress";
  /**
   * The graph.
   */
  knowledge_graph: string;
  /**
   * All that this connection has subscribed to on it is told up to and with this version.
   */
  version: number;
  /**
   * The id of the request, if it had one.
   */
  id?: RequestId;
}
/**
 * A subscription has ended: it was asked for, or there is no answer any more.
 */
export interface UnsubscribedMessage {
  type: "unsubscribed";
  /**
   * The number of the subscription.
   */
  subscription: number;
  /**
   * The version since which there is no answer.
   */
  version?: number;
  /**
   * Why there is none.
   */
  error?: Failure;
  /**
   * The id of the request, if it had one.
   */
  id?: RequestId;
}
/**
 * The body of an `error` message.
 */
export interface Failure {
  /**
   * What went wrong, for a program.
   */
  code: Code;
  /**
   * What went wrong, in one sentence.
   */
  message: string;
  /**
   * What to do about it.
   */
  help?: string;
  /**
   * Where in the program.
   */
  span?: Place;
  /**
   * Which statement of the program, from 0.
   */
  statement_index?: number;
  /**
   * Everything that was found, in the order of the text.
   */
  diagnostics?: Annotation[];
  /**
   * The same for parse errors, in the short form that older clients read.
   */
  validation_errors?: ValidationError[];
  /**
   * The limit that was reached.
   */
  limit?: LimitReached;
  /**
   * When trying again makes sense.
   */
  retry_after_ms?: number;
  /**
   * The notifications that were missed.
   */
  gap?: Gap;
}
/**
 * The sign of life that was asked for.
 */
export interface PongMessage {
  type: "pong";
  /**
   * The id of the request, if it had one.
   */
  id?: RequestId;
}
/**
 * Facts that stay were inserted or deleted.
 */
export interface PersistentUpdateMessage {
  type: "persistent_update";
  /**
   * The graph.
   */
  knowledge_graph: string;
  /**
   * The relation; `multiple` for an update.
   */
  relation: string;
  /**
   * What was done.
   */
  operation: RowOperation;
  /**
   * To how many facts.
   */
  count: number;
  /**
   * When, in milliseconds since 1970, by the server's clock.
   */
  timestamp_ms: number;
  /**
   * Its number: each is greater than those before it, also after a restart of the server.
   */
  seq: number;
  /**
   * The session that made the change.
   */
  session_id?: string;
  /**
   * The id of the request, if it had one.
   */
  id?: RequestId;
}
/**
 * A derived relation has more clauses, or fewer.
 */
export interface RuleChangeMessage {
  type: "rule_change";
  /**
   * The graph.
   */
  knowledge_graph: string;
  /**
   * The derived relation.
   */
  rule_name: string;
  /**
   * What was done.
   */
  operation: RuleOperation;
  /**
   * When, in milliseconds since 1970, by the server's clock.
   */
  timestamp_ms: number;
  /**
   * Its number: each is greater than those before it, also after a restart of the server.
   */
  seq: number;
  /**
   * The session that made the change.
   */
  session_id?: string;
  /**
   * The id of the request, if it had one.
   */
  id?: RequestId;
}
/**
 * A graph was created or dropped.
 */
export interface KgChangeMessage {
  type: "kg_change";
  /**
   * The graph.
   */
  knowledge_graph: string;
  /**
   * What was done.
   */
  operation: GraphOperation;
  /**
   * When, in milliseconds since 1970, by the server's clock.
   */
  timestamp_ms: number;
  /**
   * Its number: each is greater than those before it, also after a restart of the server.
   */
  seq: number;
  /**
   * The session that made the change.
   */
  session_id?: string;
  /**
   * The id of the request, if it had one.
   */
  id?: RequestId;
}
/**
 * A relation or type was declared, or a relation dropped.
 */
export interface SchemaChangeMessage {
  type: "schema_change";
  /**
   * The graph.
   */
  knowledge_graph: string;
  /**
   * The relation or type.
   */
  entity: string;
  /**
   * What was done.
   */
  operation: SchemaOperation;
  /**
   * When, in milliseconds since 1970, by the server's clock.
   */
  timestamp_ms: number;
  /**
   * Its number: each is greater than those before it, also after a restart of the server.
   */
  seq: number;
  /**
   * The session that made the change.
   */
  session_id?: string;
  /**
   * The id of the request, if it had one.
   */
  id?: RequestId;
}
