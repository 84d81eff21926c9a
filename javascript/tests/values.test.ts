import assert from "node:assert/strict";
import test from "node:test";
import { type Data, float, InvalidParameter, type Value } from "@stratalog/client";
import { serverForTests, withClient } from "./harness.js";

const server = await serverForTests();

/** What comes back of the only column, by the number of the row. */
async function backAndForth(data: readonly (readonly [number, unknown])[]): Promise<[string, Value[]]> {
  let found: [string, Value[]] = ["", []];
  await withClient(server, async (db) => {
    await db.insert("p", data as Data);
    const result = await db.query("?p(N:asc, X)");
    found = [result.types[1] ?? "", result.columns[1]?.toArray() ?? []];
  });
  return found;
}

const COLUMNS: [string, unknown[], Value[]?][] = [
  ["int", [0, -5, 2n ** 63n - 1n, -(2n ** 63n), Number.MAX_SAFE_INTEGER, 2n ** 53n, null]],
  ["float", [0.1, -2, 1e300, 5e-324, null]],
  ["float", [float(2), float(2 ** 60), 3], [2, 2 ** 60, 3]],
  ["string", ["", "ä😀\u0000", 'quote " and \\', null]],
  ["bool", [true, false, null]],
  ["timestamp", [new Date(0), new Date("2026-11-21T18:30:00.123Z"), new Date(-1), null]],
  ["vector", [Float32Array.of(1, 0.5), Float32Array.of(-1, 0.1), null]],
  ["vector", [Float32Array.of(1, 0.5), Float32Array.of(-1)]],
  [
    "vector",
    [
      [1, 0.5],
      [2, 3],
    ],
    [Float32Array.of(1, 0.5), Float32Array.of(2, 3)],
  ],
  ["vector_int8", [Int8Array.of(1, -128), Int8Array.of(127, 0), null]],
  ["list", [["a", "b"], [], ["a", [1, 2], [], 2n ** 63n - 1n, 2.5, true, null], null]],
  ["null", [null, undefined], [null, null]],
  [
    "any",
    [1, "a", 2.5, true, null, [1, 2], Float32Array.of(0.1), ["x", [1, 2]], 2n ** 63n - 1n],
    [1, "a", 2.5, true, null, Float32Array.of(1, 2), Float32Array.of(0.1), ["x", [1, 2]], 2n ** 63n - 1n],
  ],
  ["any", [2n ** 60n, 0.5]],
];

for (const [type, values, expected] of COLUMNS) {
  test(`a column of ${type} comes back: ${String(values[0])}`, async () => {
    const rows = values.map((value, number) => [number, value] as const);
    assert.deepEqual(await backAndForth(rows), [type, expected ?? values]);
  });
}

test("lists of numbers are lists where the column is declared so", () =>
  withClient(server, async (db) => {
    await db.execute("+p(n: int, x: list)");
    await db.insert("p", [
      [1, [1, 2n ** 63n - 1n]],
      [2, [0.5]],
      [3, []],
      [4, ["a", Float32Array.of(1)]],
    ]);
    const result = await db.query("?p(N:asc, X)");
    assert.deepEqual(result.column("x").toArray(), [
      [1, 2n ** 63n - 1n],
      [0.5],
      [],
      ["a", Float32Array.of(1)],
    ]);
    // An answer goes in again as it is.
    await db.insert("q", result);
    assert.deepEqual((await db.query("?q(N:asc, X)")).rows(), result.rows());
  }));

test("a time that no Date can hold is its milliseconds, exactly", () =>
  withClient(server, async (db) => {
    await db.execute("+p(at: timestamp)");
    await db.execute("+p[($a), ($b)]", { params: { a: 8_640_000_000_000_001, b: 2n ** 62n } });
    const result = await db.query("?p(At:asc)");
    assert.deepEqual(result.types, ["timestamp"]);
    assert.deepEqual(result.rows(), [[8_640_000_000_000_001], [2n ** 62n]]);
  }));

test("parameters are what they look like", () =>
  withClient(server, async (db) => {
    const params = {
      int: 2,
      float: float(2),
      half: 0.5,
      large: 2n ** 63n - 1n,
      text: 'a" \\ ä😀',
      yes: true,
      nothing: null,
      vector: Float32Array.of(0.1, 2),
      names: ["a", "b"],
    };
    await db.execute(
      "+v[(1, $int), (2, $float), (3, $half), (4, $large), (5, $text), (6, $yes), (7, $nothing), (8, $vector), (9, $names)]",
      { params },
    );
    const kinds = await db.query("?v(N:asc, X)");
    assert.deepEqual(kinds.column("X").toArray(), [
      2,
      2,
      0.5,
      2n ** 63n - 1n,
      'a" \\ ä😀',
      true,
      null,
      Float32Array.of(0.1, 2),
      ["a", "b"],
    ]);
    // As text of the language, an int and a float look different.
    assert.deepEqual(kinds.column("X").vector.get(0), "2");
    assert.deepEqual(kinds.column("X").vector.get(1), "2.0");
    await db.insert("n", [1, 2, 3]);
    assert.deepEqual((await db.query("?n(X), X in $ids", { params: { ids: [1, 3, 5] } })).rows(), [[1], [3]]);
    await db.insert("seen", [new Date(1000), new Date(3000)]);
    const late = await db.query("?seen(At), At > $since", { params: { since: new Date(2000) } });
    assert.deepEqual(late.rows(), [[new Date(3000)]]);
  }));

test("a value that cannot be sent is refused before anything is sent, with its place", () =>
  withClient(server, async (db) => {
    const ask = (value: unknown) => db.query("?p($x)", { params: { x: value as never } });
    await assert.rejects(ask(2 ** 53), (problem) => {
      assert.ok(problem instanceof InvalidParameter);
      assert.match(problem.message, /\$x: 9007199254740992 is beyond 2\^53/);
      return true;
    });
    await assert.rejects(ask({ a: 1 }), /a value of type Object cannot be stored/);
    await assert.rejects(ask(undefined), /a value of type undefined cannot be stored/);
    await assert.rejects(db.insert("p", [[1], [2 ** 60]]), {
      name: "RangeError",
      message: /row 1, column 0: 1152921504606847000 is beyond 2\^53/,
    });
    await assert.rejects(
      db.insert("p", [{ a: 1 }, { a: 2n ** 63n }]),
      /row 1, column a: 9223372036854775808 does not fit/,
    );
    await assert.rejects(db.insert("p", ["a", "b\udc00"]), /row 1, column 0: .*half of a character/);
    await assert.rejects(db.insert("p", [new Date(0), 1]), /times beside values of other types/);
    await assert.rejects(db.query("?p(X)"), { code: "unknown_relation" });
  }));

test("rows are read by index, name and as objects", () =>
  withClient(server, async (db) => {
    await db.execute("+person(name: string, age: int)");
    await db.insert("person", [
      { name: "ada", age: 36 },
      { age: 41, name: "bob" },
    ]);
    const result = await db.query("?person(Name:asc, Age)");
    assert.deepEqual(result.names, ["name", "age"]);
    assert.deepEqual(result.row(1), ["bob", 41]);
    assert.equal(result.cell(0, 1), 36);
    assert.deepEqual([...result.column("age")], [36, 41]);
    assert.deepEqual(
      result.objects<{ name: string }>().map(({ name }) => name),
      ["ada", "bob"],
    );
    assert.equal(result.table.numRows, 2);
    assert.throws(() => result.row(2), /there is no row 2: there are 2/);
    assert.throws(() => result.cell(0, 2), /there is no column 2/);
    assert.throws(() => result.column("size"), /there is no column size: there are name, age/);
    assert.throws(() => result.scalar(), /expected one value/);
    assert.equal((await db.query("?count<X> <- person(X, _)")).scalar(), 2);
    const none = await db.query('?person("cleo", Age)');
    assert.deepEqual([none.rowCount, none.rows(), none.names], [0, [], ["name", "age"]]);
  }));

test("rows that need something of the session are told apart, and that is no column", () =>
  withClient(server, async (db) => {
    await db.insert("p", [1]);
    assert.deepEqual((await db.query("?p(X)")).provenance, []);
    await db.insert("p", [2], { scope: "session" });
    const result = await db.query("?p(X:asc)");
    assert.deepEqual([result.rows(), result.names], [[[1], [2]], ["X"]]);
    assert.deepEqual(result.provenance, ["persistent", "ephemeral"]);
    for await (const batch of await db.stream("?p(X:asc)")) assert.deepEqual(batch.rows(), [[1], [2]]);
    // A column of that name is a column.
    await db.insert("q", [{ a: 1, _provenance: "x" }]);
    assert.deepEqual((await db.query("?q(A, B)")).rows(), [[1, "x"]]);
  }));

test("an answer tells its limit, its warnings and its version", () =>
  withClient(server, async (db) => {
    const written = await db.insert("n", [1, 2, 3]);
    const result = await db.query("?n(X:desc)", { limit: 2 });
    assert.deepEqual(result.rows(), [[3], [2]]);
    assert.deepEqual([result.rowCount, result.totalCount, result.truncated], [2, 3, true]);
    assert.equal(result.version, written.version);
    const rule = await db.execute("+big(X) <- heavy(X)");
    assert.deepEqual(rule.messages, ["registered a rule for big"]);
    assert.match((await db.query("?big(X)")).warnings.join(), /heavy/);
  }));
