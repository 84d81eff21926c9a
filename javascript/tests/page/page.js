// What the test of the browser runs in a page: the client as a bundle has it.

import * as client from "@stratalog/client";

globalThis.client = client;
