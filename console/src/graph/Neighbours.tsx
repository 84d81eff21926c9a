// What the rules of a relation read, and whose rules read it.

import { seen } from "../parts/Cell.tsx";
import { counted } from "../parts/text.ts";
import { to } from "../session/address.ts";
import { type Dependencies, howText, type Reading } from "./dependencies.ts";

interface NeighboursProps {
  name: string;
  dependencies: Dependencies;
}

export function Neighbours({ name, dependencies: { readings } }: NeighboursProps) {
  const below = readings.filter(({ relation }) => relation === name);
  const above = readings.filter(({ reads }) => reads === name);
  if (below.length === 0 && above.length === 0) return null;
  return (
    <section>
      <h2>What follows from what</h2>
      <Side title={`Its rules read ${counted(below.length, "relation")}`} readings={below} of="reads" />
      <Side title={`Rules of ${counted(above.length, "relation")} read it`} readings={above} of="relation" />
    </section>
  );
}

interface SideProps {
  title: string;
  readings: readonly Reading[];
  /** Which end of the readings is named. */
  of: "reads" | "relation";
}

function Side({ title, readings, of }: SideProps) {
  if (readings.length === 0) return null;
  return (
    <>
      <h3>{title}</h3>
      <ul class="relation-names">
        {readings.map((reading) => (
          <li key={reading[of]}>
            <a href={to("relations", [reading[of]])}>
              <bdi>{seen(reading[of])}</bdi>
            </a>
            <Marks reading={reading} />
          </li>
        ))}
      </ul>
    </>
  );
}

/** What is special about a reading, in words. */
export function Marks({ reading: { hows, isRecursive } }: { reading: Reading }) {
  const how = howText(hows);
  return (
    <>
      {how !== "" && <span class="tag">{how}</span>}
      {isRecursive && <span class="tag">recursive</span>}
    </>
  );
}
