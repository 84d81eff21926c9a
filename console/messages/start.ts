// For a page that came as a whole, with a key in the header of its request; otherwise login.ts starts it.

import "./style.css";
import { start } from "./app.tsx";

start();
