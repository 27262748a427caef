import { html, type TemplateResult } from 'lit-html';

/**
 * Tabs with one panel. The arrow keys, Home and End choose a tab, as the ARIA Authoring Practices describe it.
 *
 * @param panels by the names of their tabs
 * @param options.id begins the ids of the tabs and of the panel
 * @param options.onChoice shows the tabs again, with the one that the visitor has chosen
 */
export function tabsView(
  panels: Readonly<Record<string, () => TemplateResult>>,
  {
    id,
    label,
    chosen,
    onChoice,
  }: { id: string; label: string; chosen: string; onChoice: (name: string) => void },
): TemplateResult {
  const names = Object.keys(panels);
  const shown = Math.max(0, names.indexOf(chosen));
  const onKey = (event: KeyboardEvent) => {
    const next = { ArrowLeft: shown - 1, ArrowRight: shown + 1, Home: 0, End: -1 }[event.key];
    const name = next === undefined ? undefined : names.at(next % names.length);
    if (name === undefined) return;
    event.preventDefault();
    onChoice(name);
    document.getElementById(`${id}-tab-${names.indexOf(name)}`)?.focus();
  };
  const tabs = names.map(
    (name, index) =>
      html`<button id="${id}-tab-${index}" type="button" role="tab" aria-controls="${id}-panel" aria-selected=${index === shown} tabindex=${index === shown ? 0 : -1} @click=${() => onChoice(name)}>${name}</button>`,
  );
  return html`<div class="tabs">
<div role="tablist" aria-label=${label} @keydown=${onKey}>${tabs}</div>
<div id="${id}-panel" role="tabpanel" aria-labelledby="${id}-tab-${shown}">${panels[names[shown] ?? '']?.()}</div>
</div>`;
}
