/** A JSON value as it stands in a text. */
export interface JsonText {
  text: string;
  /** The line that it begins on, from 1. */
  line: number;
}

/**
 * The items of a JSON list, each as it stands, so that one that is malformed does not lose the others; undefined: the
 * text is no list. Brackets inside strings do not count. What follows a bracket that is closed too early is one item
 * more, and no JSON.
 */
export function itemsOfList(text: string): JsonText[] | undefined {
  const [opening = ''] = /^\s*\[/.exec(text) ?? [];
  if (opening === '') return undefined;
  const items: JsonText[] = [];
  let line = 1;
  let counted = 0;
  let begin = opening.length;
  let depth = 0;
  const take = (end: number) => {
    const item = text.slice(begin, end);
    const at = begin + (item.length - item.trimStart().length);
    for (let next = text.indexOf('\n', counted); next >= 0 && next < at; next = text.indexOf('\n', counted)) {
      line++;
      counted = next + 1;
    }
    if (item.trim() !== '') items.push({ text: item.trim(), line });
    begin = end + 1;
  };
  STEPS.lastIndex = begin;
  for (let step = STEPS.exec(text); step !== null; step = STEPS.exec(text)) {
    const [mark] = step;
    if (mark === '{' || mark === '[') depth++;
    else if (mark === '}' || (mark === ']' && depth > 0)) depth--;
    else if (mark === ',' && depth === 0) take(step.index);
    else if (mark === ']') {
      take(step.index);
      break;
    }
  }
  take(text.length);
  return items;
}

/** Strings whole; an escaped quote does not end one, the end of a line does. */
const STEPS = /"[^"\\\n]*(?:\\.[^"\\\n]*)*"?|[[\]{},]/g;
