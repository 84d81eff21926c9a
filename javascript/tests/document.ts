// The server's AsyncAPI document, of which only holders of an API key may read.

import type { LocalServer } from "./local-server.js";

export async function documentOf(server: LocalServer): Promise<string> {
  const db = await server.connect();
  const key = (await db.execute(".apikey create documents")).cell(0, 0);
  db.close();
  const url = `${server.url.replace("ws:", "http:")}/api/asyncapi.yaml`;
  const answer = await fetch(url, { headers: { Authorization: `Bearer ${key}` } });
  if (!answer.ok) throw new Error(`${url}: ${answer.status}`);
  return answer.text();
}
