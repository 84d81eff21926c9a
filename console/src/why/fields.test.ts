import assert from "node:assert/strict";
import { test } from "node:test";
import { factOfFields, fieldsOfFact } from "./fields.ts";

const columns = ["string", "int", "float", "timestamp", "any"].map((type, place) => ({
  name: `c${place}`,
  type,
}));

test("what is typed is written as its column has it", () => {
  const inputs = ['a "b"', "1", "2", "2024-01-05", "x"];
  assert.equal(
    factOfFields({ relation: "p", inputs }, columns),
    'p("a \\"b\\"", 1, 2.0, t"2024-01-05", "x")',
  );
  assert.equal(factOfFields({ relation: "p", inputs: ["", "", "", "", ""] }, columns), "p(_, _, _, _, _)");
  assert.equal(
    factOfFields({ relation: "p", inputs: ["1", "one", "", "", "list(1)"] }, columns),
    'p("1", "one", _, _, list(1))',
  );
});

test("fields say what stands in a fact", () => {
  assert.deepEqual(fieldsOfFact('p("a \\"b\\"", 1, _, t"2024-01-05", "x")', columns), {
    relation: "p",
    inputs: ['a "b"', "1", "", "2024-01-05", '"x"'],
  });
  assert.deepEqual(fieldsOfFact("?p(X)", columns), { relation: "p", inputs: [""] });
  assert.equal(fieldsOfFact("p(1), q(2)", columns), undefined);
  assert.equal(fieldsOfFact("p", columns), undefined);
});
