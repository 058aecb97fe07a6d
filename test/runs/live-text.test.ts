import { mock } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { safeLength } from '../../src/domain/secrets.ts';
import { openLiveText } from '../../src/runs/live-text.ts';

const secret = 'hunter2-hunter2';
const token = `ghp_${'a1B2'.repeat(10)}`;

function open(secrets: string[] = [secret]) {
  const told: { topic: string; size: number; turn: number; text: string; restarts?: boolean }[] = [];
  const tell = async (topic: string, message: string) => {
    told.push({ topic, size: Buffer.byteLength(message), ...JSON.parse(message) });
  };
  const live = openLiveText({ tell }, 'run_1', () => secrets);
  return { live, told, text: () => told.map((t) => t.text).join('') };
}

beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }));
afterEach(() => mock.timers.reset());
/** Lets the time for collecting text pass, and the text be sent. */
async function collect() {
  mock.timers.tick(250);
  await setImmediate();
}

test('text is collected and sent a few times a second, with its turn', async () => {
  const { live, told } = open();
  const { onText } = live.ofTurn(() => 3);
  for (const word of 'One two three four '.split(/(?<= )/)) onText(word);
  expect(told).toEqual([]);
  await collect();
  expect(told).toEqual([{ topic: 'text run_1', size: expect.any(Number), turn: 3, text: 'One two three four ' }]);
  onText('five');
  await live.end();
  expect(told.at(-1)).toMatchObject({ turn: 3, text: 'five' });
});

test.each([
  ['a secret', secret],
  ['something that looks like a token', token],
  ['a secret with spaces', 'correct horse battery staple'],
])('%s is not shown, wherever the pieces are cut', async (_what, hidden) => {
  for (let cut = 1; cut < hidden.length; cut++) {
    const { live, text } = open([secret, 'correct horse battery staple']);
    const { onText } = live.ofTurn(() => 0);
    onText(`It is ${hidden.slice(0, cut)}`);
    await collect();
    onText(`${hidden.slice(cut)} and more. `);
    await collect();
    await live.end();
    expect(text()).toBe('It is [a credential was removed] and more. ');
  }
});

test('a message fits into a notification, and a turn shows at most 100,000 characters', async () => {
  const { live, told, text } = open();
  const { onText } = live.ofTurn(() => 0);
  onText('\u0001'.repeat(90_000));
  onText('é '.repeat(90_000));
  await live.end();
  expect(text()).toHaveLength(100_000);
  expect(Math.max(...told.map((t) => t.size))).toBeLessThan(7900);
  onText('next turn ');
  await live.end();
  expect(text().endsWith('next turn ')).toBe(true);
});

test('an answer that begins again says so once', async () => {
  const { live, told } = open();
  const { onText, onRestart } = live.ofTurn(() => 1);
  onText('Wrong ');
  await collect();
  onText('lost ');
  onRestart();
  onText('Right ');
  await live.end();
  expect(told.map(({ text, restarts }) => [text, restarts])).toEqual([
    ['Wrong ', undefined],
    ['Right ', true],
  ]);
});

test('a database that is away does not disturb the run', async () => {
  const live = openLiveText({ tell: () => Promise.reject(new Error('away')) }, 'run_1', () => []);
  live.ofTurn(() => 0).onText('text ');
  await expect(live.end()).resolves.toBeUndefined();
});

test('only complete words can be searched for credentials', () => {
  expect(safeLength('one two', [])).toBe(4);
  expect(safeLength('one', [])).toBe(0);
  expect(safeLength('日本語', [])).toBe(3);
  expect(safeLength('pass word ', ['word is x'])).toBe(5);
});
