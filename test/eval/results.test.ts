import { appendFile, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readOptions } from '../../bench/eval/options.ts';
import { histogram } from '../../bench/eval/report/charts.ts';
import { pageOf } from '../../bench/eval/report/page.ts';
import { rateOf } from '../../bench/eval/report/statistics.ts';
import { summaryOf } from '../../bench/eval/report/summary.ts';
import { lostBy, planJobs, type RunResult } from '../../bench/eval/results/result.ts';
import { openResults } from '../../bench/eval/results/results-file.ts';
import { writtenTasks } from '../../bench/eval/tasks/all.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'deckhand-test-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const result = (run: number, given: Partial<RunResult> = {}): RunResult => ({
  loop: 'deckhand',
  task: writtenTasks[0]?.id ?? '',
  run,
  resolved: true,
  loss: null,
  proposed: 'ready',
  testsPassed: true,
  steps: 5,
  inputTokens: 100,
  cachedInputTokens: 40,
  outputTokens: 10,
  costUsd: null,
  seconds: 2,
  ...given,
});

test.each([
  [0, 10, 0, 0.2775],
  [5, 10, 0.2366, 0.7634],
  [10, 10, 0.7225, 1],
  [199, 200, 0.9722, 0.9991],
  [0, 0, 0, 1],
])('%i of %i has the Wilson interval %d to %d', (count, of, low, high) => {
  const rate = rateOf(count, of);
  expect(rate.low).toBeCloseTo(low, 4);
  expect(rate.high).toBeCloseTo(high, 4);
});

test('an evaluation that was killed while it wrote continues with the runs that are missing', async () => {
  const first = await openResults(folder, { seed: '1' });
  await first.add(result(0));
  await first.add(result(1, { loop: 'mini' }));
  await appendFile(join(folder, 'results.jsonl'), '{"loop":"deckhand","run":2,"resol');
  const second = await openResults(folder, { seed: '1' });
  expect(second.results).toEqual([result(0), result(1, { loop: 'mini' })]);
  expect([second.has('deckhand', 0), second.has('mini', 0), second.has('deckhand', 2)]).toEqual([true, false, false]);
  await second.add(result(2));
  const lines = (await readFile(join(folder, 'results.jsonl'), 'utf8')).trimEnd().split('\n');
  expect(lines.map((line) => JSON.parse(line).run)).toEqual([0, 1, 2]);
});

test('results of other settings are not continued', async () => {
  await openResults(folder, { seed: '1' });
  await expect(openResults(folder, { seed: '2' })).rejects.toThrow('other settings');
});

test('runs are spread over the tasks', () => {
  const tasks = writtenTasks.slice(0, 3);
  expect(planJobs(tasks, 5).map(({ task, run }) => [tasks.indexOf(task), run])).toEqual([
    [0, 0],
    [1, 1],
    [2, 2],
    [0, 3],
    [1, 4],
  ]);
});

test('runs that were lost for the same reason have the same rule', () => {
  const rules = [
    'model: the model made 3 errors in a row; the last one: Error: a.js does not exist',
    'model: the model made 4 errors in a row; the last one: Error: b',
  ].map((message) => lostBy(message).rule);
  expect(rules).toEqual(['model: the model made n errors in a row', 'model: the model made n errors in a row']);
});

test('the summary counts losses and unfinished work', () => {
  const lost = { rule: 'model: stuck', detail: '<b>' };
  const all = [
    result(0),
    result(1, { resolved: false, loss: lost, proposed: 'none', testsPassed: null }),
    result(2, { resolved: false, loss: { rule: 'the hidden tests fail', detail: '' }, testsPassed: false, steps: 11 }),
    result(0, { loop: 'mini' }),
  ];
  const summary = summaryOf('deckhand', all, writtenTasks);
  expect(summary.resolved).toMatchObject({ count: 1, of: 3 });
  expect(summary.unfinishedReady).toBe(1);
  expect(summary.losses.map(({ rule, runs }) => [rule, runs.length])).toEqual([
    ['model: stuck', 1],
    ['the hidden tests fail', 1],
  ]);
  expect(summary.steps).toEqual({ sum: 21, median: 5, p90: 11 });
  expect(summary.cachedInputTokens.sum).toBe(120);
  const page = pageOf({ model: 'a <model>', isOracle: false, seed: '1', tasks: 3, skipped: [], loops: [summary] }, all);
  expect(page).not.toMatch(/<b>|a <model>|https?:|src=|href=/);
  expect(page).toContain('role="img" aria-label=');
});

test('a histogram covers all values', () => {
  expect(histogram([])).toEqual([]);
  expect(histogram([3, 3, 4])).toEqual([
    { name: '3', count: 2 },
    { name: '4', count: 1 },
  ]);
  expect(histogram([1, 30]).reduce((sum, { count }) => sum + count, 0)).toBe(2);
});

test('the command line is read, and mistakes are named', () => {
  expect(readOptions(['verify', '--tasks', 'a,b'], {})).toMatchObject({ command: 'verify', tasks: ['a', 'b'] });
  expect(readOptions(['--model', 'm'], { OPENAI_API_KEY: 'k' })).toMatchObject({ apiKey: 'k', withMini: false });
  expect(readOptions(['--no-mini'], {})).toMatchObject({ model: undefined, withMini: false, oracle: 'noisy' });
  expect(() => readOptions(['--oracle', 'x'], {})).toThrow('There is no oracle x');
  expect(() => readOptions(['--runs', '0'], {})).toThrow('--runs must be a whole number');
  expect(() => readOptions(['fly'], {})).toThrow('There is no command fly');
});
