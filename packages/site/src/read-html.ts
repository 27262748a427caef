/** What is read out of the HTML of pages, when the gateway has filled in its parts. */

/** A part of a page under a heading, for the search. */
export interface Section {
  /** The page's title. */
  page: string;
  heading: string;
  /** Where it is, from the gateway's root. */
  path: string;
  text: string;
}

/** What the search leaves out: links to what it has anyway, and the long examples. */
const LEFT_OUT = /<(nav|figcaption|details|svg)\b.*?<\/\1>/gs;

/** Returns the sections of a page of the documentation, in order. */
export function sectionsOf(html: string, path: string): Section[] {
  const [main = ''] = /<main .*<\/main>/s.exec(html) ?? [];
  const [, ...parts] = main.replaceAll(LEFT_OUT, '').split(/<h[123](?=[ >])/);
  let page = '';
  return parts.map((part) => {
    const [, id, heading = '', rest = ''] = /^(?: id="([^"]*)")?>(.*?)<\/h\d>(.*)$/s.exec(part) ?? [];
    page ||= textOf(heading);
    const to = `${path.slice(1)}${id === undefined ? '' : `#${id}`}`;
    return { page, heading: textOf(heading), path: to, text: textOf(rest) };
  });
}

function textOf(html: string): string {
  const text = html
    .replaceAll(/<\/?(?:a|code|em|small|span|strong)\b[^>]*>/g, '')
    .replaceAll(/<[^>]*>/g, ' ');
  return unescaped(text).replaceAll(/\s+/g, ' ').trim();
}

/** Returns in Markdown what the gateway has written in HTML: the errors and the reference. */
export function markdownOf(html: string): string {
  const markdown = html
    .replaceAll(/<(nav|figcaption)\b.*?<\/\1>/gs, '')
    .replaceAll(
      /<pre><code class="language-(\w+)">(.*?)<\/code><\/pre>/gs,
      (_, language: string, code: string) =>
        ['\n```', language, '\n', code.replaceAll(/<[^>]*>/g, ''), '```\n'].join(''),
    )
    .replaceAll(
      /<h(\d)[^>]*>(.*?)<\/h\d>/gs,
      (_, level: string, text: string) => `\n${'#'.repeat(Number(level))} ${text}\n\n`,
    )
    .replaceAll(/<a href="#[^"]*">(.*?)<\/a>/gs, '$1')
    .replaceAll(/<a href="([a-z]+:[^"]*)">(.*?)<\/a>/gs, '[$2]($1)')
    .replaceAll(/<a href="([^"#]*)([^"]*)">(.*?)<\/a>/gs, '[$3]($1.md$2)')
    .replaceAll(/<\/?code>/g, '`')
    .replaceAll(/<\/?strong>/g, '**')
    .replaceAll(/<(?:li|dt)>/g, '- ')
    .replaceAll(/<dd[^>]*>/g, '\n  ')
    .replaceAll(/<\/(?:dl|p|summary|ul)>/g, '\n\n')
    .replaceAll(/<[^>]*>/g, '');
  return unescaped(markdown).replaceAll(/\n{3,}/g, '\n\n');
}

const CHARACTERS: Readonly<Record<string, string>> = {
  lt: '<',
  gt: '>',
  quot: '"',
  amp: '&',
  '#39': "'",
  '#x27': "'",
};

function unescaped(html: string): string {
  return html.replaceAll(/&(lt|gt|quot|amp|#39|#x27);/g, (_, name: string) => CHARACTERS[name] ?? '');
}
