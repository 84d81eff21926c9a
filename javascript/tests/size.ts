// `npm run size`: how large the client is in a page.

import { sizes } from "./bundle.js";

const { alone, withArrow } = await sizes();
console.log(`minified and compressed: ${alone.toFixed(1)} kB, with apache-arrow ${withArrow.toFixed(1)} kB`);
