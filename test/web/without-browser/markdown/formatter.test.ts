import { mock } from 'node:test';
import { openFormatter } from '../../../../src/web/markdown/formatter.ts';
import { type Formatted, parse } from '../../../../src/web/markdown/parse.ts';

/** A worker that does what the test says. */
interface Stand {
  asked: string[];
  isOpen: boolean;
  said: (message: 'ready' | Formatted) => void;
  failed: () => void;
}

let workers: Stand[];
/** What the listeners were told, in order. */
let told: string[];
let formatter: ReturnType<typeof openFormatter>;

beforeEach(() => {
  mock.timers.enable({ apis: ['setInterval'] });
  workers = [];
  told = [];
  formatter = openFormatter((said, failed) => {
    const worker: Stand = { asked: [], isOpen: true, said, failed };
    workers.push(worker);
    return {
      postMessage: (text: string) => void worker.asked.push(text),
      terminate: () => {
        worker.isOpen = false;
      },
    };
  });
});
afterEach(() => mock.timers.reset());

const format = (text: string, name = text) =>
  formatter.format(text, (formatted) => told.push(formatted === 'costly' ? `${name} costly` : name));

/** Returns the worker that was opened as the given one. */
function worker(at: number): Stand {
  const found = workers[at];
  if (found === undefined) throw new Error(`there are ${workers.length} workers`);
  return found;
}

/** Lets time pass in the steps in which a page that does not stand still notices it. */
function pass(ms: number): void {
  for (let passed = 0; passed < ms; passed += 100) mock.timers.tick(100);
}

test('texts are formatted one after the other in one worker, which is opened for the first', () => {
  expect(workers).toEqual([]);
  for (const text of ['a', 'b', 'c']) format(text);
  expect(worker(0).asked).toEqual([]);
  worker(0).said('ready');
  expect(worker(0).asked).toEqual(['a']);
  worker(0).said(parse('a'));
  worker(0).said(parse('b'));
  expect(worker(0).asked).toEqual(['a', 'b', 'c']);
  worker(0).said('costly');
  expect(told).toEqual(['a', 'b', 'c costly']);
  format('d');
  expect(worker(0).asked).toEqual(['a', 'b', 'c', 'd']);
  expect(workers).toHaveLength(1);
});

test('a text that takes a second is costly, and the next ones have their whole time in a new worker', () => {
  for (const text of ['slow', 'b', 'c']) format(text);
  // Loading the worker is not the time of the text.
  pass(5000);
  worker(0).said('ready');
  pass(900);
  expect(worker(0).isOpen).toBe(true);
  pass(100);
  expect(worker(0).isOpen).toBe(false);
  expect(told).toEqual(['slow costly']);
  expect(formatter.known('slow')).toBe('costly');
  worker(1).said('ready');
  // What the first worker still says is not about the text of the second one.
  worker(0).said(parse('slow'));
  worker(0).failed();
  pass(900);
  worker(1).said(parse('b'));
  pass(900);
  worker(1).said(parse('c'));
  pass(5000);
  expect(told).toEqual(['slow costly', 'b', 'c']);
  expect([worker(1).asked, worker(1).isOpen, workers.length]).toEqual([['b', 'c'], true, 2]);
});

test('the same text is formatted once, and its tree is remembered', () => {
  format('a', 'first');
  format('a', 'second');
  worker(0).said('ready');
  expect(formatter.known('a')).toBeUndefined();
  const tree = parse('a');
  worker(0).said(tree);
  expect(told).toEqual(['first', 'second']);
  expect(worker(0).asked).toEqual(['a']);
  expect(formatter.known('a')).toBe(tree);
});

test('at most 30 texts are remembered, those that came last', () => {
  for (let i = 0; i <= 30; i++) format(`text ${i}`);
  worker(0).said('ready');
  for (let i = 0; i <= 30; i++) worker(0).said(parse('a'));
  expect(formatter.known('text 0')).toBeUndefined();
  expect([formatter.known('text 1'), formatter.known('text 30')]).toEqual([parse('a'), parse('a')]);
});

test('a text that is no longer shown is not formatted, unless its turn has come or it is shown elsewhere', () => {
  const [a, b, c] = [format('a'), format('b'), format('c', 'c here')];
  format('c', 'c there');
  for (const leave of [a, b, c]) leave();
  worker(0).said('ready');
  worker(0).said(parse('a'));
  worker(0).said(parse('c'));
  expect(worker(0).asked).toEqual(['a', 'c']);
  expect(told).toEqual(['a', 'c there']);
  c();
  b();
  format('b');
  expect(worker(0).asked).toEqual(['a', 'c', 'b']);
});

test('a worker that fails gives up its text only', () => {
  for (const text of ['a', 'b']) format(text);
  worker(0).said('ready');
  worker(0).failed();
  worker(1).said('ready');
  worker(1).said(parse('b'));
  expect(told).toEqual(['a costly', 'b']);
  expect(worker(0).isOpen).toBe(false);
});

test('when the worker cannot be loaded, all texts are given up until they are shown again', () => {
  for (const text of ['a', 'b']) format(text);
  worker(0).failed();
  expect(told).toEqual(['a costly', 'b costly']);
  expect(workers).toHaveLength(1);
  expect(formatter.known('a')).toBeUndefined();
  format('a');
  worker(1).said('ready');
  worker(1).said(parse('a'));
  expect(told).toEqual(['a costly', 'b costly', 'a']);
});
