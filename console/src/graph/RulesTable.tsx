// The rules as a list: the same as the picture of them, in words.

import { seen } from "../parts/Cell.tsx";
import { to } from "../session/address.ts";
import type { Dependencies, Reading } from "./dependencies.ts";
import { Marks } from "./Neighbours.tsx";
import type { PictureRelation } from "./picture.ts";
import { Wide } from "./Wide.tsx";

interface RulesTableProps {
  relations: readonly PictureRelation[];
  dependencies: Dependencies;
}

export function RulesTable({ relations, dependencies: { readings } }: RulesTableProps) {
  const read = new Map<string, Reading[]>();
  for (const reading of readings)
    read.set(reading.relation, [...(read.get(reading.relation) ?? []), reading]);
  const derived = relations.filter(({ stratum }) => stratum !== undefined);
  derived.sort((a, b) => (a.stratum ?? 0) - (b.stratum ?? 0) || (a.name < b.name ? -1 : 1));
  return (
    <Wide label="Rules">
      <table class="relation-table">
        <thead>
          <tr>
            <th scope="col">Relation</th>
            <th scope="col" class="right">
              Stratum
            </th>
            <th scope="col">What there is of it</th>
            <th scope="col">Its rules read</th>
          </tr>
        </thead>
        <tbody>
          {derived.map(({ name, stratum, about }) => (
            <tr key={name}>
              <th scope="row">
                <a href={to("rules", [name])}>
                  <bdi>{seen(name)}</bdi>
                </a>
              </th>
              <td class="right">{stratum}</td>
              <td>{about}</td>
              <td>
                <ul class="relation-names">
                  {(read.get(name) ?? []).map((reading) => (
                    <li key={reading.reads}>
                      <a href={to("relations", [reading.reads])}>
                        <bdi>{seen(reading.reads)}</bdi>
                      </a>
                      <Marks reading={reading} />
                    </li>
                  ))}
                </ul>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Wide>
  );
}
