import { type Html, html } from '@brand-data/runtime/html';
import { scaleBand, scaleLinear } from 'd3-scale';
import { figure } from '../text/reports.ts';

const WIDTH = 720;
const HEIGHT = 220;
const LEFT = 64;
const TOP = 12;
const BOTTOM = 28;
const TICKS = 4;
/** More names than this would overlap, so only every second, third … one is drawn. */
const MOST_NAMES = 12;

interface Bar {
  name: string;
  value: number;
}

/**
 * Returns a chart with one bar for each name, as SVG that takes its colours from the page's style. A table with the same figures
 * has to stand beside it, because a screen reader reads only the label.
 */
export function barChart(label: string, bars: readonly Bar[]): Html {
  const x = scaleBand(
    bars.map(({ name }) => name),
    [LEFT, WIDTH],
  ).padding(0.25);
  const highest = Math.max(1, ...bars.map(({ value }) => value));
  const y = scaleLinear([0, highest], [HEIGHT - BOTTOM, TOP]).nice(TICKS);
  const ticks = y.ticks(TICKS).filter(Number.isInteger);
  const lines = ticks.map(
    (tick) =>
      html`<line class="grid" x1="${LEFT}" x2="${WIDTH}" y1="${y(tick)}" y2="${y(tick)}"/><text x="${LEFT - 8}" y="${y(tick) + 4}" text-anchor="end">${figure(tick)}</text>`,
  );
  const every = Math.ceil(bars.length / MOST_NAMES);
  const drawn = bars.map(({ name, value }, place) => {
    const left = x(name) ?? LEFT;
    const height = y(0) - y(value);
    const text =
      place % every === 0
        ? html`<text x="${left + x.bandwidth() / 2}" y="${HEIGHT - 8}" text-anchor="middle">${name}</text>`
        : undefined;
    return html`<rect class="bar" x="${left}" y="${y(value)}" width="${x.bandwidth()}" height="${height}"/>${text}`;
  });
  return html`<div class="scroll" tabindex="0" role="group" aria-label="${label}"><svg class="chart" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${label}. The table has the figures.">${lines}${drawn}</svg></div>`;
}

/** Returns a bar that is filled to this share, from 0 to 1, and is full beyond. The share has to stand beside it as text. */
export function shareBar(share: number): Html {
  const filled = Math.min(1, share) * 100;
  return html`<svg class="share" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true"><rect class="track" width="100" height="8"/><rect class="${share >= 0.8 ? 'bar near' : 'bar'}" width="${filled}" height="8"/></svg>`;
}
