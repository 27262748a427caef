import { spawnSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { BrandType, ImageKind, ImagesAdminServiceClient } from '@brand-data/contracts';
import { callUnary, connectChannel } from '@brand-data/runtime';
import { channelAs } from '@brand-data/runtime/test/channel-as.ts';
import { temporaryFolder } from '@brand-data/testing/temporary-folder';
import {
  siApple,
  siAudi,
  siBmw,
  siDhl,
  siFedex,
  siFerrari,
  siGithub,
  siGoogle,
  siIkea,
  siLidl,
  siMcdonalds,
  siMeta,
  siNetflix,
  siNike,
  siNotion,
  siPaypal,
  siShell,
  siSnapchat,
  siSony,
  siSpotify,
  siTesla,
  siTiktok,
  siToyota,
  siUber,
  siUps,
  siVisa,
  siX,
  siYoutube,
} from 'simple-icons';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestStack, type TestStack } from '../stack/index.ts';
import { chromium } from './browser.ts';
import { callerOf } from './caller.ts';
import { TestOperator } from './operator.ts';
import { type Browser, startBrowser } from './page.ts';
import { type Cell, pixelsIn, type SeenLogo, seeLogo } from './seen-logo.ts';

/** Set it to a folder to keep the screenshots and look at them. */
const KEPT = process.env.SCREENSHOTS;

/** Marks that are black, white, very light, very dark, and in colours between. */
const ICONS = [
  siApple,
  siNike,
  siX,
  siUber,
  siSony,
  siNotion,
  siGithub,
  siTiktok,
  siSnapchat,
  siMcdonalds,
  siGoogle,
  siMeta,
  siNetflix,
  siSpotify,
  siYoutube,
  siTesla,
  siToyota,
  siBmw,
  siIkea,
  siLidl,
  siFerrari,
  siUps,
  siFedex,
  siDhl,
  siVisa,
  siPaypal,
  siShell,
  siAudi,
];

/** Drawings with several colours: white with a colour, pale ones, and one that is faint on both pages. */
const DRAWINGS = {
  'white and pale yellow':
    '<rect width="30" height="60" fill="#fff"/><rect x="30" width="30" height="60" fill="#fffbe0"/>',
  'black and navy':
    '<circle cx="30" cy="30" r="30"/><rect x="20" y="20" width="20" height="20" fill="#001040"/>',
  'white and black': '<rect width="28" height="60" fill="#fff"/><rect x="32" width="28" height="60"/>',
  'grey and silver':
    '<rect width="60" height="28" fill="#999"/><rect y="32" width="60" height="28" fill="#ddd"/>',
};

/** Names in eleven scripts, a name without letters, and wide letters. */
const NAMES = [
  'Waverley Woodworks',
  'Mill',
  '7-Eleven',
  '3M',
  'Österreichische Post',
  'Газпром Нефть',
  'Εθνική Τράπεζα',
  'Դավիթ Բեկ',
  'საქართველოს ბანკი',
  'בנק הפועלים',
  'الراجحي',
  'ธนาคารกรุงเทพ',
  'टाटा मोटर्स',
  'ЩИТ ЖУК',
  '!',
  'İş',
  'Iota',
  '三菱商事',
];
/** Monograms have outlines for all other scripts. A browser draws Japanese letters with a font of its machine. */
const JAPANESE = '三菱商事';
const hasJapaneseFont = spawnSync('fc-list', [':lang=ja'], { encoding: 'utf8' }).stdout?.trim() !== '';
if (!hasJapaneseFont)
  process.stderr.write('\nSKIPPED: the letters of a Japanese monogram, for which this machine has no font\n');

const SIDE = 96;
const PITCH = 112;
const COLUMNS = 10;
/** Pixels of the screen for one of the page, as on most phones and laptops. */
const SCALE = 2;
const PAGES = { light: [255, 255, 255], dark: [17, 17, 17] } as const;

describe.skipIf(chromium === undefined)('50 logos in Chromium', () => {
  let stack: TestStack;
  /** The URL of the big image of each record's logo, in the order of ICONS, DRAWINGS and NAMES. */
  let logos: { name: string; url: string; isMonogram: boolean }[];
  let folder: string;
  let browser: Browser;

  beforeAll(async () => {
    folder = KEPT ?? (await temporaryFolder());
    await mkdir(folder, { recursive: true });
    browser = await startBrowser(folder);
    stack = await startTestStack({ gateways: 1 });
    const operator = new TestOperator(stack);
    const images = connectChannel(
      ImagesAdminServiceClient,
      stack.operator.images,
      channelAs('bds', 'images'),
    );
    try {
      const { operatorToken } = stack.operator;
      const options = { deadlineMs: 20_000, operatorToken, waitForReady: true };
      const store = async (name: string, svg: string) => {
        const light = { $case: 'file' as const, value: Buffer.from(svg) };
        const request = { kind: ImageKind.LOGO, light, darkFile: undefined, dryRun: false };
        const { big, small } = await callUnary(images, images.putImage, request, options);
        return { name, images: { logo: { big, small } } };
      };
      const known = [];
      for (const { title, svg, hex } of ICONS)
        known.push(await store(title, svg.replace('<svg ', `<svg fill="#${hex}" `)));
      for (const [name, shapes] of Object.entries(DRAWINGS))
        known.push(
          await store(name, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 60 60">${shapes}</svg>`),
        );
      const records = [...known, ...NAMES.map((name) => ({ name }))];
      await operator.putBrands(
        records.map((record, index) => ({
          id: `logo-${index}`,
          type: BrandType.BRAND,
          description: 'Made up.',
          category: 'brand',
          rank: 1,
          domains: [`logo-${index}.example.com`],
          ...record,
        })),
      );
      const { token } = await operator.newAccount(1_000);
      const [gateway] = stack.gateways;
      const caller = callerOf(gateway ?? { url: '' });
      logos = [];
      for (const [index, { name }] of records.entries()) {
        const answer = await caller.brand(`logo-${index}.example.com`, token);
        const { images: shown } = (await answer.json()) as { images: { logo: { big: { url: string } } } };
        logos.push({ name, url: shown.logo.big.url, isMonogram: index >= known.length });
      }
    } finally {
      images.close();
      operator.close();
    }
  });
  afterAll(() => Promise.all([stack?.stop(), browser?.stop()]));

  describe.each([
    ['light', PAGES.light],
    ['dark', PAGES.dark],
  ] as const)('on a %s page', (theme, page) => {
    let seen: (SeenLogo & { name: string; isMonogram: boolean })[];

    beforeAll(async () => {
      const [width, height] = [PITCH * COLUMNS, PITCH * Math.ceil(logos.length / COLUMNS)];
      const tags = logos.map(({ url }, index) => imageAt(`${url}?theme=${theme}`, cellAt(index)));
      const html = `<!doctype html><body style="margin:0;background:rgb(${page})">${tags.join('\n')}</body>`;
      const shown = await browser.newPage();
      await shown.show({ theme, width, height, scale: SCALE });
      const file = join(folder, `${theme}.html`);
      await writeFile(file, html);
      await shown.open(`file://${file}`);
      await shown.evaluate('Promise.all([...document.images].map((image) => image.decode()))');
      const png = await shown.screenshot('png');
      await writeFile(join(folder, `${theme}.png`), png);
      const pixels = await pixelsIn(png);
      seen = logos.map((logo, index) => ({
        ...logo,
        ...seeLogo(pixels, onScreen(cellAt(index)), page),
      }));
    });

    test('there are 50 or more, and none is blank', () => {
      const blank = seen.filter(({ painted }) => painted < 0.03).map(({ name }) => name);
      expect(seen.length).toBeGreaterThanOrEqual(50);
      expect(blank).toEqual([]);
    });

    test('95 % of what each paints has a contrast of 3 or more, or stands on a plate that has', () => {
      const faint = seen.filter(({ readable }) => readable < 0.95);
      expect(faint.map(({ name, readable }) => `${name}: ${readable.toFixed(2)}`)).toEqual([]);
    });

    const isWrong = ({ painted, white }: SeenLogo) =>
      painted < 0.9 || (theme === 'dark' && (white < 0.015 || white > 0.3));

    test('each monogram shows white letters on a plate that fills the square', () => {
      const monograms = seen.filter(({ isMonogram }) => isMonogram);
      expect(monograms.length).toBe(NAMES.length);
      expect(monograms.filter((logo) => logo.name !== JAPANESE && isWrong(logo))).toEqual([]);
    });

    test.skipIf(!hasJapaneseFont)('a Japanese monogram shows white letters in the same way', () => {
      expect(seen.filter(({ name }) => name === JAPANESE).map(isWrong)).toEqual([false]);
    });
  });
});

function cellAt(index: number): Cell {
  const margin = (PITCH - SIDE) / 2;
  const [column, row] = [index % COLUMNS, Math.floor(index / COLUMNS)];
  return { left: column * PITCH + margin, top: row * PITCH + margin, side: SIDE };
}

function onScreen({ left, top, side }: Cell): Cell {
  return { left: left * SCALE, top: top * SCALE, side: side * SCALE };
}

/** Returns an image in the middle of its cell, with a pixel of the page around it. */
function imageAt(url: string, { left, top, side }: Cell): string {
  const place = `position:absolute;left:${left + 1}px;top:${top + 1}px;width:${side - 2}px;height:${side - 2}px`;
  return `<img src="${url}" style="${place};object-fit:contain">`;
}
