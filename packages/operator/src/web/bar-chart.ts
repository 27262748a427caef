import { scaleBand, scaleLinear } from 'd3-scale';
import { html, type Markup } from './html.ts';
import { shownNumber } from './shown-number.ts';

const WIDTH = 720;
const HEIGHT = 220;
const MARGIN = { top: 12, right: 8, bottom: 28, left: 64 };
const TICKS = 4;
/** So many labels fit below the bars. */
const MOST_LABELS = 12;

export interface Bar {
  /** Below the bar, such as "23" of a day. */
  label: string;
  /** What the bar stands for, with its value: "2026-11-23: 1,204 calls". */
  title: string;
  value: number;
}

/**
 * Bars from left to right as SVG. It is styled by the page's stylesheet. The page has the same figures as a table, since an image has
 * only a description.
 */
export function barChart(description: string, bars: readonly Bar[]): Markup {
  const most = Math.max(1, ...bars.map(({ value }) => value));
  const y = scaleLinear([0, most], [HEIGHT - MARGIN.bottom, MARGIN.top]).nice(TICKS);
  const x = scaleBand(
    bars.map((_, index) => index),
    [MARGIN.left, WIDTH - MARGIN.right],
  ).padding(0.2);
  const labelEvery = Math.ceil(bars.length / MOST_LABELS);
  const ticks = y.ticks(TICKS).filter(Number.isInteger);
  return html`<svg class="chart" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${description}">
${ticks.map(
  (tick) => html`<line x1="${MARGIN.left}" x2="${WIDTH - MARGIN.right}" y1="${y(tick)}" y2="${y(tick)}"/>
<text class="value" x="${MARGIN.left - 8}" y="${y(tick) + 4}">${shownNumber(tick)}</text>`,
)}
${bars.map(({ label, title, value }, index) => {
  const [left = 0, top] = [x(index), y(value)];
  return html`<rect x="${left.toFixed(1)}" y="${top.toFixed(1)}" width="${x.bandwidth().toFixed(1)}" height="${(y(0) - top).toFixed(1)}"><title>${title}</title></rect>
${index % labelEvery === 0 ? html`<text class="label" x="${(left + x.bandwidth() / 2).toFixed(1)}" y="${HEIGHT - 8}">${label}</text>` : undefined}`;
})}
</svg>`;
}
