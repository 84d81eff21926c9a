// The picture in the page: it holds the canvas, lets the nodes find their places, and follows hand and camera.
//
// It draws at most once a frame, and only when something has changed.

import type { Colours } from "../useColours.ts";
import type { Point } from "./camera.ts";
import { listen } from "./hand.ts";
import { Layout, type Places } from "./layout.ts";
import { Lens } from "./lens.ts";
import type { Network } from "./network.ts";
import { Painter, type Scene } from "./paint.ts";
import { byImportance, radiusOf } from "./shapes.ts";
import { beginOf, type Known } from "./start.ts";

/** What the page is told. */
export interface Told {
  onChoose(node: number | undefined): void;
  onExpand(node: number): void;
  /** Whether the nodes are still on their way. */
  onBusy(isBusy: boolean): void;
}

/** The layout takes so long before what came of it is drawn; where drawing takes long, longer. */
const SLICE_MILLISECONDS = 9;
const LONG_SLICE_MILLISECONDS = 24;
const MANY = 1_000;
/** When nothing has moved for so long, details are drawn. */
const REST_MILLISECONDS = 140;
/** More pixels than this for one of the page cannot be told apart. */
const FINEST = 2;
/** So near to a node one has to be, in pixels. */
const REACH = 5;
const REACH_OF_FINGERS = 14;

export class Board {
  readonly #canvas: HTMLCanvasElement;
  readonly #told: Told;
  readonly #stop: () => void;
  readonly #watch: ResizeObserver;
  readonly #lens = new Lens();
  #colours: Colours;
  #painter: Painter;
  #network: Network | undefined;
  #places: Places = { xs: new Float32Array(0), ys: new Float32Array(0) };
  #order: Uint32Array = new Uint32Array(0);
  #radii: Float32Array = new Float32Array(0);
  #layout: Layout | undefined;
  #hovered: number | undefined;
  #chosen: number | undefined;
  #dragged: number | undefined;
  #isGrown: (node: number) => boolean = () => false;
  /** Changes with whatever the picture shows, but for the camera and the focus. */
  #version = 0;
  #frame = 0;
  #rest: ReturnType<typeof setTimeout> | undefined;

  constructor(canvas: HTMLCanvasElement, colours: Colours, told: Told) {
    this.#canvas = canvas;
    this.#told = told;
    this.#colours = colours;
    this.#painter = new Painter(colours);
    this.#watch = new ResizeObserver(() => this.#resize());
    this.#watch.observe(canvas);
    this.#stop = listen(canvas, {
      nodeAt: (at, isFinger) =>
        this.#lens.nodeAt(this.#places, this.#radii, at, isFinger ? REACH_OF_FINGERS : REACH),
      onHover: (node) => this.#hover(node),
      onDrag: (node, to) => this.#drag(node, to),
      onDrop: () => {
        this.#dragged = undefined;
        this.#want();
      },
      onMove: (by) => this.move(by),
      onZoom: (at, factor) => this.zoom(factor, at),
      onChoose: (node) => told.onChoose(node),
      onTwice: (node) => told.onExpand(node),
    });
  }

  /** Whether nothing was shown yet. */
  get isEmpty(): boolean {
    return this.#network === undefined;
  }

  /** Where the nodes are. */
  get places(): Places {
    return this.#places;
  }

  /** Where the nodes are, by their keys. */
  get known(): Known {
    const { xs, ys } = this.#places;
    return new Map(
      this.#network?.nodes.map(({ key }, node) => [key, { x: xs[node] ?? 0, y: ys[node] ?? 0 }]),
    );
  }

  /**
   * Shows a graph. Nodes that are there already begin where they are, and stay there if none is new; where it has grown, they
   * stay in any case.
   */
  show(network: Network, hasGrown: boolean, known: Known = this.known): void {
    const { xs, ys, isKnown } = beginOf(network, known);
    const before = isKnown.reduce((sum, each) => sum + each, 0);
    const isNew = before < network.nodes.length;
    const fixed = hasGrown && before > 0 ? isKnown : undefined;
    this.#network = network;
    this.#places = { xs, ys };
    this.#version += 1;
    this.#order = byImportance(network);
    this.#radii = Float32Array.from(network.nodes.keys(), (node) => radiusOf(network, node));
    this.#hovered = undefined;
    this.#dragged = undefined;
    // What has grown grows where one looks; another graph is seen as a whole.
    if (hasGrown) this.#lens.isMoved = true;
    else if (before === 0) this.#lens.isMoved = false;
    this.#lens.follow(this.#places);
    this.#run(isNew ? new Layout(network, this.#places, fixed) : undefined);
  }

  /** Lets all nodes find their places again. */
  arrange(): void {
    if (this.#network === undefined) return;
    this.#places = beginOf(this.#network, new Map());
    this.#version += 1;
    this.#run(new Layout(this.#network, this.#places));
    this.fit();
  }

  colour(colours: Colours): void {
    this.#colours = colours;
    this.#painter = new Painter(colours);
    this.#want();
  }

  /** Which node is chosen, and of which the neighbours have been asked for. */
  mark(chosen: number | undefined, isGrown: (node: number) => boolean): void {
    this.#chosen = chosen;
    this.#version += 1;
    this.#isGrown = isGrown;
    this.#want();
  }

  /** Moves the plane so that a node can be seen, if it cannot. */
  reveal(node: number): void {
    if (this.#lens.reveal({ x: this.#places.xs[node] ?? 0, y: this.#places.ys[node] ?? 0 })) this.#stir();
  }

  zoom(factor: number, at?: Point): void {
    this.#lens.zoom(factor, at);
    this.#stir();
  }

  move(by: Point): void {
    this.#lens.move(by);
    this.#stir();
  }

  /** Shows all of it. */
  fit(): void {
    this.#lens.isMoved = false;
    this.#lens.follow(this.#places);
    this.#want();
  }

  /** What can be seen, as a picture with all details, at twice its size. */
  png(): Promise<Blob> {
    const { width, height } = this.#lens.size;
    const canvas = document.createElement("canvas");
    canvas.width = width * 2;
    canvas.height = height * 2;
    const context = canvas.getContext("2d", { alpha: false });
    if (context === null || this.#network === undefined)
      return Promise.reject(new Error("there is no picture"));
    const scene = this.#scene(this.#network, false);
    new Painter(this.#colours).paint(context, { ...scene, ratio: 2, focus: this.#chosen });
    return new Promise((done, failed) => {
      canvas.toBlob((blob) => (blob === null ? failed(new Error("the picture is too large")) : done(blob)));
    });
  }

  close(): void {
    this.#stop();
    this.#watch.disconnect();
    cancelAnimationFrame(this.#frame);
    clearTimeout(this.#rest);
  }

  #hover(node: number | undefined): void {
    if (node === this.#hovered) return;
    this.#hovered = node;
    this.#canvas.style.cursor = node === undefined ? "grab" : "pointer";
    this.#want();
  }

  #drag(node: number, to: Point): void {
    const { x, y } = this.#lens.toPlane(to);
    this.#places.xs[node] = x;
    this.#places.ys[node] = y;
    this.#version += 1;
    this.#layout?.hold(node, x, y);
    this.#dragged = node;
    this.#lens.isMoved = true;
    this.#want();
  }

  #resize(): void {
    const { clientWidth: width, clientHeight: height } = this.#canvas;
    if (width === 0 || height === 0) return;
    this.#lens.size = { width, height };
    this.#canvas.width = Math.round(width * this.#ratio);
    this.#canvas.height = Math.round(height * this.#ratio);
    this.#lens.follow(this.#places);
    // What was drawn is gone, and the browser would show that.
    cancelAnimationFrame(this.#frame);
    this.#draw();
  }

  /** Draws without details, and with them when it is quiet. */
  #stir(): void {
    clearTimeout(this.#rest);
    this.#rest = setTimeout(() => {
      this.#rest = undefined;
      this.#want();
    }, REST_MILLISECONDS);
    this.#want();
  }

  #run(layout: Layout | undefined): void {
    this.#layout = layout?.isDone === false ? layout : undefined;
    this.#told.onBusy(this.#layout !== undefined);
    this.#want();
  }

  #want(): void {
    if (this.#frame === 0) this.#frame = requestAnimationFrame(() => this.#draw());
  }

  #draw(): void {
    this.#frame = 0;
    const context = this.#canvas.getContext("2d", { alpha: false });
    if (context === null) return;
    if (this.#layout !== undefined) this.#settle(this.#layout);
    // Who wants less movement sees the nodes when they have found their places.
    const isHidden = this.#layout !== undefined && matchMedia("(prefers-reduced-motion: reduce)").matches;
    if (this.#network === undefined || isHidden) {
      context.setTransform(1, 0, 0, 1, 0, 0);
      context.fillStyle = this.#colours.panel;
      context.fillRect(0, 0, this.#canvas.width, this.#canvas.height);
      return;
    }
    const isSettling = this.#layout !== undefined;
    const isMoving = isSettling || this.#rest !== undefined || this.#dragged !== undefined;
    this.#painter.paint(
      context,
      this.#scene(this.#network, isMoving),
      isSettling ? undefined : this.#dragged,
    );
  }

  /** As many steps as a frame has room for. */
  #settle(layout: Layout): void {
    const isLong = this.#places.xs.length > MANY;
    const end = performance.now() + (isLong ? LONG_SLICE_MILLISECONDS : SLICE_MILLISECONDS);
    this.#version += 1;
    do layout.step(this.#places);
    while (!layout.isDone && performance.now() < end);
    this.#lens.follow(this.#places);
    if (layout.isDone) this.#run(undefined);
    else this.#want();
  }

  #scene(network: Network, isQuick: boolean): Scene {
    const { camera, size, grow } = this.#lens;
    return {
      network,
      places: this.#places,
      order: this.#order,
      radii: this.#radii,
      camera,
      size,
      ratio: this.#ratio,
      grow,
      version: this.#version,
      focus: this.#dragged ?? this.#hovered ?? this.#chosen,
      chosen: this.#chosen,
      isGrown: this.#isGrown,
      isQuick,
    };
  }

  get #ratio(): number {
    return Math.min(FINEST, devicePixelRatio || 1);
  }
}
