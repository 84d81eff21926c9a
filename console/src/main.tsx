// Starts the console.

import { render } from "preact";
import { App } from "./shell/App.tsx";
import { keepFocus } from "./shell/focus.ts";
import "./theme.css";
import "./shell/shell.css";
import "./parts/top.css";
import "./parts/door.css";
import "./parts/failure.css";
import "./parts/parts.css";

keepFocus();
const place = document.getElementById("app");
if (place !== null) render(<App />, place);
