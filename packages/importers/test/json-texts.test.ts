import fc from 'fast-check';
import { expect, test } from 'vitest';
import { itemsOfList } from '../src/formats/json-texts.ts';

test('the items of a JSON list are what they are, each with its line', () => {
  fc.assert(
    fc.property(
      fc.array(fc.jsonValue({ maxDepth: 3 }), { maxLength: 8 }),
      fc.constantFrom(undefined, 2),
      (values, indent) => {
        const json = JSON.stringify(values, null, indent);
        const items = itemsOfList(json) ?? [];
        expect(items.map((item) => JSON.parse(item.text))).toEqual(JSON.parse(json));
        for (const { text: item, line } of items)
          expect(
            json
              .split('\n')
              .slice(line - 1)
              .join('\n')
              .trim(),
          ).toContain(item.split('\n')[0]);
      },
    ),
  );
});

test('an item of a JSON list that is malformed does not lose the others', () => {
  expect(itemsOfList('[\n{"a": 1},\n{"b": },\n{"c": "]"}\n]')).toEqual([
    { text: '{"a": 1}', line: 2 },
    { text: '{"b": }', line: 3 },
    { text: '{"c": "]"}', line: 4 },
  ]);
  expect(itemsOfList('{"a": []}')).toBeUndefined();
});
