// The first page: by which address the server is reached from here, and how it is.

import "./style.css";

const address = location.origin.replace(/^http/, "ws");
for (const place of document.getElementsByClassName("address")) place.textContent = address;

async function tellHealth(place: HTMLElement): Promise<void> {
  try {
    const { data } = await (await fetch("health", { cache: "no-store" })).json();
    place.textContent = `It is ${data.status}, and its version is ${data.version}.`;
    place.className = data.status === "healthy" ? "good" : "warning";
  } catch {
    place.textContent = "It does not answer at the moment.";
    place.className = "warning";
  }
}

const health = document.getElementById("health");
if (health !== null) void tellHealth(health);
