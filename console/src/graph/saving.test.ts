import assert from "node:assert/strict";
import { test } from "node:test";
import type { Client } from "@stratalog/client";
import { addClause, removeClause, replaceClauses } from "./saving.ts";

/** A client whose graph has these clauses, and that notes what it is asked to run. */
function client(clauses: string[]) {
  const ran: { program: string; options: unknown }[] = [];
  const execute = async (program: string, options?: unknown) => {
    if (program.startsWith(".rule def")) return { column: () => ({ toArray: () => clauses }) };
    ran.push({ program, options });
    return { messages: [], warnings: [] };
  };
  return { client: { execute } as unknown as Client, ran };
}

const before = ["p(X) <- q(X)", "p(X) <- r(X)"];

test("all clauses are replaced in one step", async () => {
  const { client: db, ran } = client(before);
  await replaceClauses(db, "p", before, ["+p(X) <- q(X), X > 1", "p(X) <- r(X)"]);
  assert.deepEqual(ran, [
    { program: "+p(X) <- q(X), X > 1\n+p(X) <- r(X)", options: { replaceRules: true, atomic: true } },
  ]);
});

test("without clauses the rules are dropped", async () => {
  const { client: db, ran } = client(before);
  await replaceClauses(db, "p", before, []);
  assert.deepEqual(ran, [{ program: "-p", options: undefined }]);
});

test("nothing is written over what somebody else has changed", async () => {
  const { client: db, ran } = client([...before, "p(X) <- s(X)"]);
  await assert.rejects(replaceClauses(db, "p", before, ["p(X) <- q(X)"]), /somebody has changed/);
  await assert.rejects(removeClause(db, "p", before, 1), /somebody has changed/);
  assert.deepEqual(ran, []);
});

test("a clause of another relation, or what is none, is not sent", async () => {
  const { client: db, ran } = client(before);
  await assert.rejects(replaceClauses(db, "p", before, ["q(X) <- p(X)"]), TypeError);
  await assert.rejects(addClause(db, "p(1)", "p"), TypeError);
  assert.deepEqual(ran, []);
});

test("a clause is removed by its number, and added as one that stays", async () => {
  const { client: db, ran } = client(before);
  await removeClause(db, "p", before, 2);
  await addClause(db, "p(X) <-\ns(X)", "p");
  assert.deepEqual(
    ran.map(({ program }) => program),
    [".rule remove p 2", "+p(X) <-\n  s(X)"],
  );
});
