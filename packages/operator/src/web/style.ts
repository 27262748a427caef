/** The stylesheet of the operators' pages, for light and dark screens. */
export const STYLE = `
:root {
  color-scheme: light dark;
  --ground: light-dark(#f6f7f9, #0e1116);
  --surface: light-dark(#fff, #161a21);
  --line: light-dark(#dde1e8, #2b323d);
  --edge: light-dark(#858e9c, #6c7686);
  --text: light-dark(#171a21, #eef1f5);
  --muted: light-dark(#566070, #a3adbb);
  --accent: light-dark(#3847d6, #a3adff);
  --on-accent: light-dark(#fff, #11152e);
  --warn: light-dark(#7a4d00, #f3c66b);
  --bad: light-dark(#a81f2d, #ff9ea6);
}
* { box-sizing: border-box; }
body {
  margin: 0;
  background: var(--ground);
  color: var(--text);
  font: 400 1rem / 1.5 system-ui, "Segoe UI", Roboto, "Helvetica Neue", "DejaVu Sans", sans-serif;
}
header, main { padding: 0.75rem max(1rem, (100% - 72rem) / 2); }
header {
  display: flex;
  flex-wrap: wrap;
  gap: 0.25rem 1.5rem;
  align-items: center;
  justify-content: space-between;
  border-block-end: 1px solid var(--line);
  background: var(--surface);
}
header form { display: flex; gap: 1rem; align-items: center; }
main { display: grid; gap: 1.5rem; padding-block: 1.5rem 3rem; min-inline-size: 0; }
main > * { min-inline-size: 0; }
h1, h2, p, dl, dd { margin: 0; overflow-wrap: anywhere; }
h1 { font-size: 1.75rem; line-height: 1.2; }
h2 { font-size: 1.25rem; }
a { color: var(--accent); text-underline-offset: 2px; }
.home { color: inherit; font-weight: 650; text-decoration: none; }
.muted { color: var(--muted); }
.warning { color: var(--warn); }
.error { color: var(--bad); }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
form.filter { display: flex; flex-wrap: wrap; gap: 0.75rem; align-items: end; }
label { display: grid; gap: 0.25rem; min-inline-size: 0; max-inline-size: 100%; color: var(--muted); font-size: 0.875rem; }
input, button {
  min-inline-size: 0;
  max-inline-size: 100%;
  padding: 0.4375rem 0.75rem;
  border: 1px solid var(--edge);
  border-radius: 8px;
  background: var(--surface);
  color: var(--text);
  font: inherit;
}
button { border-color: var(--accent); background: var(--accent); color: var(--on-accent); cursor: pointer; }
header button { padding-block: 0.125rem; border-color: var(--edge); background: none; color: var(--text); }
.scroll { overflow-x: auto; border: 1px solid var(--line); border-radius: 12px; background: var(--surface); }
table { inline-size: 100%; border-collapse: collapse; font-size: 0.9375rem; }
th, td { padding: 0.5rem 0.875rem; border-block-end: 1px solid var(--line); text-align: start; white-space: nowrap; }
tbody tr:last-child td, tbody tr:last-child th { border-block-end: 0; }
th { font-weight: 600; }
tfoot td, tfoot th { border-block-start: 2px solid var(--line); border-block-end: 0; font-weight: 600; }
.number { text-align: end; font-variant-numeric: tabular-nums; }
meter { inline-size: 7rem; block-size: 0.875rem; vertical-align: middle; }
.chart { display: block; inline-size: 100%; min-inline-size: 36rem; padding: 0.75rem; }
.chart rect { fill: var(--accent); }
.chart line { stroke: var(--line); }
.chart text { fill: var(--muted); font-size: 12px; }
.chart .value { text-anchor: end; }
.chart .label { text-anchor: middle; }
`;
