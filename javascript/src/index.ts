// The public face of the package.

export type { Watch, Working } from "./call.js";
export {
  Client,
  type ConnectOptions,
  connect,
  type ExecuteOptions,
  type InsertOptions,
  type QueryOptions,
  type RequestOptions,
  type Session,
} from "./client.js";
export { Column, type ColumnType } from "./column.js";
export * from "./errors.js";
export type { Change, Events, EventsOptions, Gap } from "./events.js";
export type { Data, Inserted } from "./insert.js";
export type { Cell } from "./json.js";
export type { State } from "./link.js";
export type { Live, LiveChange, LiveOptions } from "./live.js";
export type * as messages from "./messages.js";
export type {
  Conclusion,
  EvaluationPlace,
  Offer,
  ProofNode,
  ProofTree,
  Provenance,
  WorkState,
} from "./messages.js";
export type { Params } from "./requests.js";
export { Result } from "./result.js";
export { onlyReads } from "./retry.js";
export { type Row, Rows } from "./rows.js";
export type { Socket, SocketClass } from "./socket.js";
export type { ResultStream } from "./stream.js";
export { Float, float, type Input, type Value } from "./values.js";
