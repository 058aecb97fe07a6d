import type { Checkout } from '../../../src/git/engine.ts';
import { findTemplates } from '../../../src/repositories/customs/customs.ts';
import { filledTemplate, missingFrom, templateOf } from '../../../src/repositories/customs/fill-template.ts';
import { timeOf } from '../../support/machine/processor-time.ts';

/** A checkout whose commit has these files. */
const checkoutOf = (files: Record<string, string | 'too large'>) =>
  ({
    listFolder: async (_commit: string, folder: string) => {
      const prefix = folder === '' ? '' : `${folder}/`;
      const inside = Object.keys(files).filter((path) => path.startsWith(prefix));
      return [...new Set(inside.map((path) => path.slice(prefix.length).split('/')[0] ?? ''))];
    },
    readFile: async (_commit: string, path: string) => {
      const file = files[path];
      return file === undefined || file === 'too large' ? file : Buffer.from(file);
    },
  }) as unknown as Checkout;
const find = (files: Record<string, string | 'too large'>) => findTemplates(checkoutOf(files), 'c');

test.each([
  ['pull_request_template.md'],
  ['PULL_REQUEST_TEMPLATE.md'],
  ['Pull_Request_Template.txt'],
  ['docs/pull_request_template.md'],
  ['.github/PULL_REQUEST_TEMPLATE.TXT'],
  ['.github/PULL_REQUEST_TEMPLATE/fix.md'],
  ['docs/pull_request_template/fix.txt'],
  ['PULL_REQUEST_TEMPLATE/fix.md'],
])('the template %s is found', async (path) => {
  expect(await find({ [path]: '\ufeff# A\r\ntext\r\n', 'README.md': 'x', 'docs/a.md': 'y' })).toEqual({
    templates: [{ path, text: '# A\ntext', cut: 0 }],
    notes: [],
  });
});

test('the file that GitHub would use comes first, then those of the folders', async () => {
  const { templates } = await find({
    'pull_request_template.md': 'root',
    '.github/pull_request_template.md': 'first',
    '.github/PULL_REQUEST_TEMPLATE/b.md': 'b',
    '.github/PULL_REQUEST_TEMPLATE/a.md': 'a',
    '.github/PULL_REQUEST_TEMPLATE/config.yml': 'no',
  });
  expect(templates.map(({ text }) => text)).toEqual(['first', 'a', 'b']);
});

test('large templates are cut at a line, and empty ones are none', async () => {
  const { templates, notes } = await find({ 'pull_request_template.md': `# A\n${'a line\n'.repeat(30_000)}` });
  expect(templates[0]?.text.length).toBeLessThanOrEqual(16_000);
  expect(templates[0]?.text.endsWith('a line')).toBe(true);
  expect(templates[0]?.cut).toBeGreaterThan(190_000);
  expect(notes).toEqual([expect.stringMatching(/^of the template pull_request_template\.md, only the first \d+ char/)]);
  expect(await find({ 'pull_request_template.md': 'too large' })).toEqual({
    templates: [],
    notes: ['the template pull_request_template.md is too large and is not used'],
  });
  expect((await find({ 'pull_request_template.md': ' \n' })).templates).toEqual([]);
});

const templateFrom = (text: string) => ({ path: 't.md', text, cut: 0 });
const template = templateFrom(`<!-- Thanks! Fill this in. -->
## What
<!-- what changes -->

## Why

## Checklist
- [ ] I added tests
- [ ] I ran the tests
`);

test('a filled template stays as the agent wrote it', () => {
  const body = '## What\nA greeting.\n\n## Why\nAsked for.\n\n## Checklist\n- [x] I added tests\n- [ ] I ran the tests';
  expect(filledTemplate(template, body)).toBe(body);
  expect(missingFrom(template, body)).toEqual({ headings: [], boxes: [] });
});

test('missing headings and boxes come back in their place, without ticks', () => {
  const body = '<!-- Thanks! -->\n## Why\nAsked for.\n\n## Extra\nMore.\n\n### Checklist:\n* [X] I ran the **tests**';
  expect(filledTemplate(template, body)).toBe(
    '## What\n\n## Why\nAsked for.\n\n## Extra\nMore.\n\n### Checklist:\n* [X] I ran the **tests**\n- [ ] I added tests',
  );
  expect(missingFrom(template, body)).toEqual({ headings: ['## What'], boxes: ['- [ ] I added tests'] });
});

test('a body without any heading becomes the text under the first one', () => {
  expect(filledTemplate(template, 'Only a summary.')).toBe(
    '## What\n\nOnly a summary.\n\n## Why\n\n## Checklist\n\n- [ ] I added tests\n- [ ] I ran the tests',
  );
});

test('boxes that are ticked in the template come back unticked; moved ones are not doubled', () => {
  const given = templateFrom('- [x] I agree\n\n## A\n- [ ] Yes\n- [ ] No\n\n## B\n- [ ] Yes\n');
  expect(filledTemplate(given, 'Hello\n\n## A\n- [x] No\n\n## B\n- [x] Yes\n- [x] I agree')).toBe(
    'Hello\n\n## A\n- [x] No\n- [ ] Yes\n\n## B\n- [x] Yes\n- [x] I agree',
  );
  expect(filledTemplate(given, '## B\n\n## A')).toBe(
    '- [ ] I agree\n\n## B\n\n- [ ] Yes\n\n## A\n\n- [ ] Yes\n- [ ] No',
  );
});

test('blocks of code hold no headings, and an open one is closed', () => {
  const given = templateFrom('## Log\n```\n# not a heading\n- [ ] not a box\n```\n**Notes**\n');
  expect(filledTemplate(given, '## Log\n```\n# x')).toBe('## Log\n```\n# x\n```\n\n**Notes**');
});

test('the template that fits a body is chosen', () => {
  const [fix, feature] = [templateFrom('## Bug\n## Fix'), templateFrom('## Feature\n## Design')];
  expect(templateOf([fix, feature], '## Feature\nx')).toBe(feature);
  expect(templateOf([fix, feature], 'x')).toBe(fix);
  expect(templateOf([], 'x')).toBeUndefined();
});

test('hostile bodies and templates take little time', () => {
  const many = `${'# a\n- [ ] b\n'.repeat(5000)}${'<!--'.repeat(5000)}`;
  const began = performance.now();
  filledTemplate(templateFrom(many.slice(0, 16_000)), many);
  expect(performance.now() - began).toBeLessThan(1000);
});

test('boxes whose text begins after many spaces take little time', async () => {
  const line = `- [ ] ${' '.repeat(15_900)}\u2028x\u2028y`;
  const given = templateFrom(line);
  const took = await timeOf(() => {
    for (let i = 0; i < 10; i++) templateOf([given], line);
  });
  // Each took 0.4 s.
  expect(took).toBeLessThan(1000);
});
