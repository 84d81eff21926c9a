// Answers about answers: why a row is one, why a fact does not hold, and what would come and go, if.

import type { ComponentType } from "preact";
import { Tabs } from "../parts/Tabs.tsx";
import { address, to } from "../session/address.ts";
import { About } from "./About.tsx";
import { IfView } from "./IfView.tsx";
import { ImpactView } from "./ImpactView.tsx";
import { NotView } from "./NotView.tsx";
import { kept, RowView } from "./RowView.tsx";
import "./why.css";
import type { ViewProps } from "../session/session.ts";

const WAYS: readonly { name: string; title: string; View: ComponentType<ViewProps> }[] = [
  { name: "row", title: "Why", View: RowView },
  { name: "not", title: "Why not", View: NotView },
  { name: "if", title: "What if", View: IfView },
  { name: "impact", title: "Impact", View: ImpactView },
];

/** What goes along from one to the other: what somebody has typed. */
const TYPED = ["q", "p", "fact", "changes"];

export function WhyView({ session }: ViewProps) {
  const { parts, values } = address.value;
  const chosen = WAYS.find(({ name }) => name === parts[0]);
  const tabs = WAYS.map(({ name, title }) => ({ name, title, href: to("why", [name], kept(values, TYPED)) }));
  const View = chosen?.View ?? About;
  return (
    <div class="why">
      <h1 class={chosen === undefined ? "" : "unseen"}>{chosen?.title ?? "Why, why not, what if"}</h1>
      <Tabs label="What is asked" tabs={tabs} current={chosen?.name ?? ""} />
      <View key={chosen?.name ?? ""} session={session} />
    </div>
  );
}
