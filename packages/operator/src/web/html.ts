/** A text that is HTML. Only `html` makes it, so no other text gets into a page unescaped. */
export class Markup {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Value = string | number | Markup | undefined | readonly Value[];

/** HTML from a template. Texts and numbers in it are escaped, and undefined is nothing. */
export function html(template: TemplateStringsArray, ...values: readonly Value[]): Markup {
  return new Markup(template.map((part, index) => part + textOf(values[index])).join(''));
}

function textOf(value: Value): string {
  if (value === undefined) return '';
  if (value instanceof Markup) return value.text;
  if (typeof value === 'object') return value.map(textOf).join('');
  return String(value)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}
