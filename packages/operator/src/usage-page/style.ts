/** The style of all pages, with the colours of packages/site/style/base.css. */
export const STYLE_SHEET = `:root {
  color-scheme: light dark;
  --ground: light-dark(#f6f7f9, #0e1116);
  --surface: light-dark(#fff, #161a21);
  --sunken: light-dark(#e6e9ee, #2b323d);
  --line: light-dark(#dde1e8, #2b323d);
  --edge: light-dark(#858e9c, #6c7686);
  --text: light-dark(#171a21, #eef1f5);
  --muted: light-dark(#566070, #a3adbb);
  --accent: light-dark(#3847d6, #a3adff);
  --on-accent: light-dark(#fff, #11152e);
  --near: light-dark(#a85d00, #f3c66b);
  --warn: light-dark(#7a4d00, #f3c66b);
  --warn-ground: light-dark(#fff3d9, #33270d);
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--text); font: 400 1rem / 1.5 system-ui, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif; }
a { color: var(--accent); text-underline-offset: 2px; }
header { padding: 0.75rem max(1rem, (100% - 72rem) / 2); border-block-end: 1px solid var(--line); background: var(--surface); font-weight: 650; }
header a { color: inherit; text-decoration: none; }
main { padding: 1.5rem max(1rem, (100% - 72rem) / 2) 3rem; }
h1 { margin: 0 0 1rem; font-size: 1.75rem; line-height: 1.2; overflow-wrap: anywhere; }
h2 { margin: 2rem 0 0.75rem; font-size: 1.25rem; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
form { display: flex; flex-wrap: wrap; gap: 0.75rem; align-items: end; margin-block: 1rem; }
label { display: grid; gap: 0.25rem; color: var(--muted); font-size: 0.875rem; }
input, select, button { min-block-size: 2.5rem; max-inline-size: 100%; padding: 0.25rem 0.75rem; border: 1px solid var(--edge); border-radius: 8px; background: var(--surface); color: var(--text); font: inherit; }
button { border-color: var(--accent); background: var(--accent); color: var(--on-accent); font-weight: 600; }
.notice { padding: 0.75rem 1rem; border-radius: 8px; background: var(--warn-ground); color: var(--warn); }
.muted { color: var(--muted); }
.scroll { margin-block: 0.75rem; overflow-x: auto; border: 1px solid var(--line); border-radius: 12px; background: var(--surface); }
table { inline-size: 100%; border-collapse: collapse; font-size: 0.875rem; }
th, td { padding: 0.5rem 0.75rem; border-block-end: 1px solid var(--line); text-align: start; vertical-align: top; }
td { white-space: nowrap; }
td:nth-child(2):not(.figure) { min-inline-size: 8rem; max-inline-size: 20rem; white-space: normal; overflow-wrap: anywhere; }
tbody th { max-inline-size: 20rem; font-weight: 400; overflow-wrap: anywhere; }
tfoot th, tfoot td { border-block-end: 0; font-weight: 650; }
.figure { text-align: end; font-variant-numeric: tabular-nums; }
.chart { display: block; inline-size: 100%; max-inline-size: 56rem; min-inline-size: 36rem; padding: 0.75rem; font-size: 12px; }
.chart text { fill: var(--muted); }
.chart .grid { stroke: var(--line); }
.bar { fill: var(--accent); }
.near { fill: var(--near); }
.track { fill: var(--sunken); }
.share { display: inline-block; inline-size: 6rem; block-size: 0.5rem; margin-inline-end: 0.5rem; border-radius: 4px; }
nav.pages { display: flex; gap: 1rem; align-items: baseline; }
`;
