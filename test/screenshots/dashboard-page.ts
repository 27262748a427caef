import type { Panel } from '../../deploy/dashboards/grafana.ts';

/** A line of a panel: its name in the legend, and its values over time. */
export interface Series {
  name: string;
  /** Seconds since 1970, and the value. */
  points: readonly { at: number; value: number }[];
}

export interface DrawnPanel extends Panel {
  series: readonly Series[];
}

export interface DrawnRow {
  title: string;
  panels: readonly DrawnPanel[];
}

/** The period that is drawn, in seconds since 1970. */
export interface Period {
  from: number;
  to: number;
}

const WIDTH = 380;
const HEIGHT = 150;
const LEFT = 56;
const MOST_IN_LEGEND = 8;
const DAY_S = 86_400;
const COLOURS = ['#2f6fde', '#d9822b', '#2a9d6f', '#b3408f', '#7a5cd1', '#c2410c', '#0e7c86', '#6b7280'];

const STYLE = `
  body { margin: 20px; width: 1240px; font: 13px/1.4 system-ui, sans-serif; color: #171a21; background: #fff; }
  h1 { font-size: 20px; margin: 0 0 8px; }
  h2 { font-size: 14px; margin: 16px 0 8px; }
  section { display: grid; grid-template-columns: repeat(6, 1fr); gap: 12px; }
  article { grid-column: span 2; border: 1px solid #d9dde5; border-radius: 6px; padding: 8px 10px; }
  article.stat { grid-column: span 1; }
  h3 { font-size: 13px; margin: 0 0 4px; }
  .stat p { font-size: 24px; margin: 4px 0; color: #2a9d6f; }
  .none { color: #6b7280; }
  ul { margin: 0; padding: 0; list-style: none; display: flex; flex-wrap: wrap; gap: 2px 12px; color: #4b5563; font-size: 12px; }
  li::before { content: ''; display: inline-block; width: 10px; height: 3px; margin: 0 5px 3px 0; background: var(--colour); }
  text { font-size: 11px; fill: #6b7280; }
`;

/** Returns a dashboard as a page: its rows, and in each the panels in the order and grid of Grafana. */
export function dashboardPage(title: string, rows: readonly DrawnRow[], period: Period): string {
  const drawn = rows.map(
    (row) =>
      `<h2>${escaped(row.title)}</h2><section>${row.panels.map((panel) => panelOf(panel, period)).join('')}</section>`,
  );
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>${escaped(title)}</title><style>${STYLE}</style><h1>${escaped(title)}</h1>${drawn.join('')}</html>`;
}

function panelOf({ title, unit, stat, series }: DrawnPanel, period: Period): string {
  const drawn = series.filter(({ points }) => points.length > 0);
  const content =
    drawn.length === 0
      ? '<p class="none">no data</p>'
      : stat
        ? lastOf(drawn, unit)
        : linesOf(drawn, unit, period);
  return `<article${stat ? ' class="stat"' : ''}><h3>${escaped(title)}</h3>${content}</article>`;
}

function lastOf([first]: readonly Series[], unit: string): string {
  return `<p>${inUnit(first?.points.at(-1)?.value ?? 0, unit)}</p>`;
}

function linesOf(series: readonly Series[], unit: string, { from, to }: Period): string {
  const highest = Math.max(...series.flatMap(({ points }) => points.map(({ value }) => value))) || 1;
  const x = (at: number) => LEFT + ((at - from) / (to - from)) * (WIDTH - LEFT);
  const y = (value: number) => HEIGHT - 18 - (value / highest) * (HEIGHT - 30);
  const grid = [0, highest / 2, highest].map(
    (tick) =>
      `<line x1="${LEFT}" x2="${WIDTH}" y1="${y(tick)}" y2="${y(tick)}" stroke="#e5e7eb"/><text x="${LEFT - 6}" y="${y(tick) + 4}" text-anchor="end">${inUnit(tick, unit)}</text>`,
  );
  const lines = series.map(
    ({ points }, index) =>
      `<polyline fill="none" stroke="${colourOf(index)}" stroke-width="1.5" points="${points.map(({ at, value }) => `${x(at).toFixed(1)},${y(value).toFixed(1)}`).join(' ')}"/>`,
  );
  const times = [from, to].map(
    (at, index) =>
      `<text x="${x(at)}" y="${HEIGHT - 3}" text-anchor="${index === 0 ? 'start' : 'end'}">${new Date(at * 1_000).toISOString().slice(11, 19)}</text>`,
  );
  const names = series
    .slice(0, MOST_IN_LEGEND)
    .map(({ name }, index) => `<li style="--colour: ${colourOf(index)}">${escaped(name)}</li>`);
  const more = series.length - MOST_IN_LEGEND;
  return `<svg viewBox="0 0 ${WIDTH} ${HEIGHT}">${grid.join('')}${lines.join('')}${times.join('')}</svg><ul>${names.join('')}${more > 0 ? `and ${more} more` : ''}</ul>`;
}

function colourOf(index: number): string {
  return COLOURS[index % COLOURS.length] ?? '';
}

/** Returns a value in one of the units that the dashboards use, as Grafana names them. */
function inUnit(value: number, unit: string): string {
  const rounded = (number: number) => Number(number.toPrecision(3)).toLocaleString('en');
  if (unit === 's' && value >= DAY_S) return `${rounded(value / DAY_S)} d`;
  if (unit === 's') return value < 1 ? `${rounded(value * 1_000)} ms` : `${rounded(value)} s`;
  if (unit === 'bytes') return `${rounded(value / 1e6)} MB`;
  if (unit === 'percentunit') return `${rounded(value * 100)} %`;
  return unit === 'reqps' || unit === 'ops' ? `${rounded(value)}/s` : rounded(value);
}

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}
