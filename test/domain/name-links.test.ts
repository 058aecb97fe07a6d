import { cleanStream } from '../../src/domain/secrets.ts';
import { mentionsIn, withLinks } from '../../src/domain/text/name-links.ts';

const id = 'task_01m7xxm447fap8m1vcx47q1cwc';
const targets = {
  task: (given: string) => (given === id ? { title: 'Fix *it*', url: '/t' } : undefined),
  numbered: (number: number) => (number === 12 ? '/i' : undefined),
  file: (path: string, line: number | undefined) => (path === 'src/a.ts' ? `/f${line ?? ''}` : undefined),
};

test.each([
  [`Do ${id} first.`, 'Do [Fix \\*it\\*](/t) first.'],
  [`Do \`${id}\`, then ${id}x.`, `Do [Fix \\*it\\*](/t), then ${id}x.`],
  ['#12 and #13, not a#12 or &#12;', '[#12](/i) and #13, not a#12 or &#12;'],
  ['See src/a.ts:3, src/b.ts and ./src/a.ts.', 'See [src/a.ts:3](/f3), src/b.ts and [./src/a.ts](/f).'],
  ['`src/a.ts` and `a.ts`', '[`src/a.ts`](/f) and `a.ts`'],
  [
    `[#12](x) and https://host/#12 and https://host/src/a.ts`,
    '[#12](x) and https://host/#12 and https://host/src/a.ts',
  ],
  ['```\n#12\n```\n#12', '```\n#12\n```\n[#12](/i)'],
  ['``a `#12` b``', '``a `#12` b``'],
  ['``a b`` #12', '``a b`` #12'],
  ['````\n```\n#12\n```` x\n#12\n````\n#12', '````\n```\n#12\n```` x\n#12\n````\n[#12](/i)'],
])('the names in %j become links', (text, linked) => {
  expect(withLinks(text, targets)).toBe(linked);
});

test('what a text mentions is told by kind', () => {
  expect(mentionsIn(`${id} and \`${id}\`, \`task_x\`, #7, src/a.ts:3`)).toEqual({
    taskIds: [id],
    numbers: [7],
    paths: ['task_x', 'src/a.ts'],
  });
});

test('the title of a linked task is cut', () => {
  const title = 'x'.repeat(101);
  expect(withLinks(id, { ...targets, task: () => ({ title, url: '/t' }) })).toBe(`[${'x'.repeat(100)}](/t)`);
});

test('each name is looked up once, and their number is limited', () => {
  const many = Array.from({ length: 300 }, (_, i) => `#${i + 1} src/f${i}.ts`).join(' ');
  const { numbers, paths } = mentionsIn(`#1 ${many}`);
  expect([numbers.length, new Set(numbers).size, paths.length]).toEqual([50, 50, 50]);
});

test('a secret that arrives in pieces is removed', () => {
  const sent: string[] = [];
  const stream = cleanStream((text) => sent.push(text), ['correct horse']);
  for (const piece of ['It is cor', 'rect ho', 'rse, yes', '.']) stream.add(piece);
  stream.end();
  expect(sent.join('')).toBe('It is [a credential was removed], yes.');
});
