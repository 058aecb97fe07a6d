import type { Message } from '../../src/llm/model.ts';
import { fitContext } from '../../src/runs/fit-context.ts';
import { isProtected, parseSettings } from '../../src/runs/repository-settings.ts';

const result = (i: number, length: number): Message[] => [
  { role: 'assistant', content: '', toolCalls: [{ id: `c${i}`, name: 'read_file', arguments: '{}' }] },
  { role: 'tool', toolCallId: `c${i}`, content: `${i}:`.padEnd(length, 'x') },
];

test('a long conversation is told with old results cut, the newest whole, every call answered', () => {
  const messages: Message[] = [
    { role: 'system', content: 'rules' },
    { role: 'user', content: 'task' },
    ...Array.from({ length: 40 }, (_, i) => result(i, 5000)).flat(),
  ];
  const told = fitContext(messages, 100_000);
  expect(told).toHaveLength(messages.length);
  expect(JSON.stringify(told).length).toBeLessThan(130_000);
  expect(told.slice(0, 2)).toEqual(messages.slice(0, 2));
  expect(told.slice(-12)).toEqual(messages.slice(-12));
  expect(told[3]?.content).toMatch(/^0:x+\n\[… \d+ characters of this earlier result are left out/);
  expect(fitContext(messages, 1_000_000)).toBe(messages);
});

test.each([
  ['a: [', /not valid YAML/],
  ['checks: 7', /checks/],
  ['cheks: x', /cheks/],
  ['budget: { steps: -1 }', /budget.steps/],
  ['- x', /the file/],
  ['agent: ""', /agent/],
  ['protected: ["+(a|aa)+(a|aa)b"]', /without \+/],
  ['protected: ["*a*a*a*a*b"]', /at most 3 stars in a name/],
])('settings %j are refused', (text, wanted) => {
  expect(() => parseSettings(text)).toThrow(wanted);
});

test('protected paths: a name, a folder, a glob', () => {
  const settings = parseSettings('protected: [LICENSE, ./infra/, "**/*.lock", .github/CODEOWNERS]');
  const guarded = ['LICENSE', 'infra/a/b.tf', 'infra', 'a/b/yarn.lock', 'yarn.lock', '.github/CODEOWNERS'];
  const hidden = ['infra/.env', 'Infra/x', '.cache/a.lock', 'license'];
  guarded.push(...hidden);
  expect(guarded.filter((path) => !isProtected(settings, path))).toEqual([]);
  expect(['LICENSE.md', 'infrared/x', 'src/infra/x', 'a.locked'].filter((path) => isProtected(settings, path))).toEqual(
    [],
  );
});
