import { element } from '@brand-data/client/source/dom';

/**
 * Tabs with one panel. The arrow keys, Home and End choose a tab, as the ARIA Authoring Practices describe it.
 *
 * @param tabs `content` makes the panel's content each time that the tab is chosen
 * @param options.id begins the ids of the tabs and of the panel
 * @param options.onChoice called with the name of each tab that the visitor chooses
 */
export function tabsView(
  tabs: readonly { name: string; content: () => Node }[],
  options: { id: string; label: string; chosen: string; onChoice: (name: string) => void },
): HTMLElement {
  const { id, label, onChoice } = options;
  const panel = element('div', { id: `${id}-panel`, role: 'tabpanel' });
  const buttons = tabs.map(({ name }, index) => {
    const attributes = { id: `${id}-tab-${index}`, type: 'button', role: 'tab', 'aria-controls': panel.id };
    return element('button', attributes, name);
  });
  const choose = (chosen: number) => {
    for (const [index, button] of buttons.entries()) {
      button.setAttribute('aria-selected', String(index === chosen));
      button.tabIndex = index === chosen ? 0 : -1;
    }
    panel.setAttribute('aria-labelledby', `${id}-tab-${chosen}`);
    panel.replaceChildren(tabs[chosen]?.content() ?? '');
  };
  const chooseByHand = (index: number) => {
    choose(index);
    onChoice(tabs[index]?.name ?? '');
  };
  for (const [index, button] of buttons.entries())
    button.addEventListener('click', () => chooseByHand(index));
  const list = element('div', { role: 'tablist', 'aria-label': label }, ...buttons);
  list.addEventListener('keydown', (event) => {
    const now = buttons.findIndex((button) => button.matches(':focus'));
    const next = { ArrowLeft: now - 1, ArrowRight: now + 1, Home: 0, End: buttons.length - 1 }[event.key];
    if (next === undefined || now < 0) return;
    event.preventDefault();
    const index = (next + buttons.length) % buttons.length;
    chooseByHand(index);
    buttons[index]?.focus();
  });
  const chosen = tabs.findIndex(({ name }) => name === options.chosen);
  choose(Math.max(0, chosen));
  return element('div', { class: 'tabs' }, list, panel);
}
