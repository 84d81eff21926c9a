import assert from "node:assert/strict";
import test from "node:test";
import type { Client } from "@stratalog/client";
import { RecordBatch, Table, tableFromArrays } from "apache-arrow";
import { serverForTests, withClient } from "./harness.js";

const server = await serverForTests();
const MANY = 200_000;

/** Count, sum and largest text of a relation of many rows. */
async function sum(db: Client): Promise<unknown[]> {
  const result = await db.query("?count<N>, sum<N>, max<T> <- many(N, T, _)");
  return result.row(0);
}

const SUM = [MANY, (MANY * (MANY - 1)) / 2, "name 99999"];

test("many rows go in as arrays", () =>
  withClient(server, async (db) => {
    const rows = Array.from({ length: MANY }, (_, n) => [n, `name ${n}`, n / 2]);
    const done = await db.insert("many", rows);
    assert.deepEqual([done.inserted, done.duplicates], [MANY, 0]);
    assert.deepEqual(await sum(db), SUM);
  }));

test("many rows go in as objects", () =>
  withClient(server, async (db) => {
    function* rows() {
      for (let n = 0; n < MANY; n += 1) yield { n, text: `name ${n}`, half: n / 2 };
    }
    assert.equal((await db.insert("many", rows())).inserted, MANY);
    assert.deepEqual(await sum(db), SUM);
    assert.deepEqual((await db.query("?many(N, T, H)", { limit: 1 })).names, ["n", "text", "half"]);
  }));

test("many rows go in as an Arrow table, and an answer goes in again", () =>
  withClient(server, async (db) => {
    const table = tableFromArrays({
      n: BigInt64Array.from({ length: MANY }, (_, n) => BigInt(n)),
      text: Array.from({ length: MANY }, (_, n) => `name ${n}`),
      half: Float64Array.from({ length: MANY }, (_, n) => n / 2),
    });
    assert.equal((await db.insert("many", table)).inserted, MANY);
    assert.deepEqual(await sum(db), SUM);
    const answer = await db.query("?many(N, T, H)");
    assert.deepEqual(answer.types, ["int", "string", "float"]);
    assert.equal((await db.insert("again", answer)).inserted, MANY);
    assert.equal((await db.insert("again", answer.table)).duplicates, MANY);
  }));

test("tables of several batches, with a dictionary, without rows, and one batch alone", () =>
  withClient(server, async (db) => {
    const first = tableFromArrays({ text: ["a", "b", "a"] });
    const numbers = tableFromArrays({ n: Int32Array.of(1, 2) });
    assert.equal(
      (await db.insert("n", numbers.concat(tableFromArrays({ n: Int32Array.of(3) })))).inserted,
      3,
    );
    assert.deepEqual((await db.query("?n(X:asc)")).rows(), [[1], [2], [3]]);
    assert.equal((await db.insert("t", first)).inserted, 2);
    assert.deepEqual((await db.query("?t(X:asc)")).rows(), [["a"], ["b"]]);
    const [batch] = first.batches;
    assert.ok(batch instanceof RecordBatch);
    assert.equal((await db.insert("u", batch)).inserted, 2);
    assert.equal((await db.insert("w", new Table(first.schema, []))).inserted, 0);
  }));

test("columns go by name where both sides have names", () =>
  withClient(server, async (db) => {
    await db.execute("+owns(owner: string, owned: string, share: float)");
    await db.insert("owns", [{ share: 1, owned: "nuts", owner: "bolts" }]);
    await db.insert("owns", [["acme", "bolts", 0.5]]);
    await db.insert("owns", [[0.25, "eve", "nuts"]], { columns: ["share", "owner", "owned"] });
    await db.insert("owns", [{ owner: "bob", owned: "bolts", share: 0.1, note: "?" }], {
      columns: ["owner", "owned", "share"],
    });
    assert.deepEqual((await db.query("?owns(A:asc, B, C)")).rows(), [
      ["acme", "bolts", 0.5],
      ["bob", "bolts", 0.1],
      ["bolts", "nuts", 1],
      ["eve", "nuts", 0.25],
    ]);
    await assert.rejects(db.insert("owns", [{ owner: "bob" }]), { code: "arity_mismatch" });
  }));

test("what is missing is null, and rows that do not fit together are refused", () =>
  withClient(server, async (db) => {
    await db.insert("p", [{ a: 1, b: "x" }, { a: 2 }, { a: 3, b: undefined }]);
    assert.deepEqual((await db.query("?p(A:asc, B)")).column("b").toArray(), ["x", null, null]);
    await assert.rejects(db.insert("p", [{ a: 1 }, { b: 2 }]), /row 1 has b, which the first row has not/);
    await assert.rejects(db.insert("p", [{ a: 1 }, [2] as never]), /row 1 is no object/);
    await assert.rejects(db.insert("p", [[1, 2], [3]]), /row 1 has 1 values, the first 2/);
    await assert.rejects(db.insert("p", [[1]], { columns: ["a", "b"] }), /there are names of columns 2/);
    await assert.rejects(db.insert("p", 5 as never), /cannot insert this/);
    await assert.rejects(db.insert("p", "text" as never), /cannot insert this/);
    assert.deepEqual(await db.insert("p", []), { inserted: 0, duplicates: 0, version: 1, warnings: [] });
  }));

test("objects of any class are rows", () =>
  withClient(server, async (db) => {
    class City {
      readonly name: string;
      readonly people: number;
      constructor(name: string, people: number) {
        this.name = name;
        this.people = people;
      }
    }
    interface Town {
      name: string;
      people: number;
    }
    const towns: Town[] = [{ name: "Hallstatt", people: 731 }];
    await db.insert("place", [new City("Oslo", 717_710)]);
    await db.insert("place", towns);
    assert.deepEqual((await db.query("?place(Name:asc, N)")).objects(), [
      { name: "Hallstatt", people: 731 },
      { name: "Oslo", people: 717_710 },
    ]);
    await assert.rejects(db.insert("place", [new Map()]), /row 0 has no names/);
  }));

test("one insert is one commit, and a fault in late rows leaves nothing", () =>
  withClient(server, async (db) => {
    await db.execute("+p(n: int)");
    const rows = Array.from({ length: 100_000 }, (_, n): [number | string] => [n]);
    rows.push(["late"]);
    await assert.rejects(db.insert("p", rows), { code: "type_mismatch" });
    // Found only when its batch is made: what was sent before is taken back.
    const half = Array.from({ length: 100_000 }, (_, n): [string] => [`${n}`]);
    half.push(["\ud800"]);
    await assert.rejects(db.insert("q", half), /row 100000, column 0: .*half of a character/);
    assert.equal((await db.query("?p(X)")).rowCount, 0);
    await assert.rejects(db.query("?q(X)"), { code: "unknown_relation" });
  }));

test("facts of the session stay with it", () =>
  withClient(server, async (db) => {
    await db.insert("mine", [1, 2], { scope: "session" });
    assert.equal((await db.query("?mine(X)")).rowCount, 2);
    const other = await server.connect({ kg: db.kg });
    await assert.rejects(other.query("?mine(X)"), { code: "unknown_relation" });
    other.close();
  }));

test("a warning of the server comes along", () =>
  withClient(server, async (db) => {
    await db.insert("p", [{ a: 1, b: 2 }]);
    assert.match((await db.insert("p", [{ c: 3, d: 4 }])).warnings.join(), /position/);
  }));
