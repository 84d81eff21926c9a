// One step of the layout, over plain arrays; the package has types only for graphs of its own.

declare module "graphology-layout-forceatlas2/iterate.js" {
  interface Settings {
    linLogMode: boolean;
    outboundAttractionDistribution: boolean;
    adjustSizes: boolean;
    edgeWeightInfluence: number;
    scalingRatio: number;
    strongGravityMode: boolean;
    gravity: number;
    slowDown: number;
    barnesHutOptimize: boolean;
    barnesHutTheta: number;
  }
  export default function iterate(settings: Settings, nodes: Float32Array, edges: Float32Array): object;
}
