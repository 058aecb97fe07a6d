import { approvalText, assertWaits, chosenOption, readApproval } from '../../src/domain/waiting.ts';

const since = new Date('2026-01-01T12:00:00.900Z');
const plan = { id: 'wait_2', reason: 'plan' as const, since };
const changed = 'This changed in the meantime; read the new one';

test.each<[string, Parameters<typeof assertWaits>, string | undefined]>([
  ['without an id', [plan, ['plan', 'push'], 'be approved', {}], undefined],
  ['with its id', [plan, ['plan', 'push'], 'be approved', { id: 'wait_2' }], undefined],
  ['with an older id', [plan, ['plan', 'push'], 'be approved', { id: 'wait_1' }], changed],
  ['with an id after it ended', [null, ['plan', 'push'], 'be approved', { id: 'wait_2' }], changed],
  [
    'in a comment of the same second',
    [plan, ['plan'], 'x', { writtenAt: new Date('2026-01-01T12:00:00Z') }],
    undefined,
  ],
  ['in an older comment', [plan, ['plan'], 'x', { writtenAt: new Date('2026-01-01T11:59:59Z') }], changed],
  [
    'for something else',
    [plan, ['question'], 'be answered', {}],
    'Only a task that waits for an answer can be answered; this one waits for approval of its plan.',
  ],
  [
    'where nothing waits',
    [null, ['plan', 'push'], 'be approved', {}],
    'Only a task that waits for approval of its plan or waits for approval of its change can be approved; this one waits for nobody.',
  ],
])('acting on what a run waits for, %s', (_what, given, refusal) => {
  const act = () => assertWaits(...given);
  if (refusal === undefined) act();
  else expect(act).toThrow(refusal);
});

test.each([
  ['2', ['PostgreSQL', 'SQLite'], 'SQLite'],
  ['both', ['PostgreSQL', 'SQLite'], 'both'],
  ['2', [], '2'],
  ['2\nand keep\nthe old one', ['PostgreSQL', 'SQLite'], 'SQLite\nand keep\nthe old one'],
  ['2 and keep the old one', ['PostgreSQL', 'SQLite'], '2 and keep the old one'],
])('the answer %s to the options %j', (answer, options, read) => {
  expect(chosenOption(answer, options)).toBe(read);
});

test.each(['0', '3', '99999999'])('there is no option %s', (answer) => {
  expect(() => chosenOption(`${answer}\nplease`, ['a', 'b'])).toThrow(`There is no option ${answer}.`);
  expect(() => chosenOption(answer, ['a', 'b'])).toThrow(
    `There is no option ${answer}. Choose from 1 to 2, or answer in your own words.`,
  );
});

test('the text of an approval has its parts, and says in words what an approval allows', () => {
  const files = ['a.pem', 'An approval also allows what was found in the change:'];
  for (const [setup, expectations] of [
    [[], []],
    [['a lock file changed', 'another one'], []],
    [[], ['Expectations changed on purpose: these earlier tests fail with it: a']],
  ] as [string[], string[]][])
    for (const findings of [[], ['a.pem:1 contains what looks like a private key', 'b contains x']])
      for (const some of [files, []]) {
        const asked = { setup, expectations, findings, files: some };
        expect(readApproval(approvalText(asked))).toEqual(asked);
      }
  expect(approvalText({ setup: [], expectations: [], findings: ['a.pem:1 contains x'], files: ['a.pem'] })).toBe(
    'An approval also allows what was found in the change:\na.pem:1 contains x\n\na.pem',
  );
});
