// Discs that were drawn once and are put wherever a node is: an image costs less than a circle.

import type { Colours } from "../useColours.ts";

/** A node as any other, one whose neighbours have been asked for, or the one that is chosen. */
export type Look = "plain" | "grown" | "chosen";

export class Stamps {
  readonly #colours: Colours;
  readonly #known = new Map<string, HTMLCanvasElement>();

  constructor(colours: Colours) {
    this.#colours = colours;
  }

  /** The disc of a radius, with its edge. */
  of(radius: number, look: Look, ratio: number): HTMLCanvasElement {
    const key = `${look} ${radius} ${ratio}`;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const made = this.#draw(radius, look, ratio);
    this.#known.set(key, made);
    return made;
  }

  #draw(radius: number, look: Look, ratio: number): HTMLCanvasElement {
    const { panel, accent, text, variable } = this.#colours;
    const edge = look === "plain" ? 1 : 2.5;
    const canvas = document.createElement("canvas");
    canvas.width = canvas.height = Math.ceil((radius + edge + 1) * 2 * ratio);
    const context = canvas.getContext("2d");
    if (context === null) return canvas;
    const middle = canvas.width / 2;
    const disc = (size: number, colour: string) => {
      context.beginPath();
      context.arc(middle, middle, size * ratio, 0, 2 * Math.PI);
      context.fillStyle = colour;
      context.fill();
    };
    disc(radius + edge, { plain: panel, chosen: text, grown: variable }[look]);
    if (look !== "plain") disc(radius + 0.8, panel);
    disc(radius, accent);
    return canvas;
  }
}
