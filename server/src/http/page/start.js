// For a page that came as a whole, with a key in the header of its request; otherwise login.js starts it.

import { start } from './app.js';

start();
