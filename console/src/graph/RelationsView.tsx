// The relations of the graph in use: all of them, one, or the indexes over them.

import { Tabs } from "../parts/Tabs.tsx";
import { address, to } from "../session/address.ts";
import "./graph.css";
import type { ViewProps } from "../session/session.ts";
import { IndexList } from "./IndexList.tsx";
import { INDEXES } from "./indexes.ts";
import { RelationList } from "./RelationList.tsx";
import { RelationPage } from "./RelationPage.tsx";

export function RelationsView({ session }: ViewProps) {
  const [name, part] = address.value.parts;
  const tabs = [
    { name: "relations", title: "Relations", href: to("relations") },
    { name: "indexes", title: "Indexes", href: to("relations", [INDEXES]) },
  ];
  return (
    <>
      <Tabs label="Relations and indexes" tabs={tabs} current={name === INDEXES ? "indexes" : "relations"} />
      {name === undefined ? (
        <RelationList session={session} />
      ) : name === INDEXES ? (
        <IndexList session={session} chosen={part} />
      ) : (
        <RelationPage key={name} session={session} name={name} />
      )}
    </>
  );
}
