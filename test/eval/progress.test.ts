import { openProgress } from '../../bench/eval/report/progress.ts';

test('people see what the runs are doing while none of them ends', async () => {
  const lines: string[] = [];
  let now = 0;
  const progress = openProgress(
    (line) => lines.push(line),
    () => now,
  );
  progress.remind();
  expect(lines).toEqual([]);
  const end = Promise.withResolvers<string>();
  const run = progress.follow('deckhand', 'js-sum', (tell) => {
    tell('waiting for its model, HTTP 429');
    return end.promise;
  });
  now = 65_000;
  progress.remind();
  expect(lines.splice(0)).toEqual([
    expect.stringMatching(/deckhand js-sum: waiting for its model, HTTP 429 \(65 s\)$/),
  ]);
  // A line about another run shows that the evaluation is alive.
  progress.say('one ended');
  progress.remind();
  expect(lines.splice(0)).toEqual(['one ended']);
  progress.remind();
  expect(lines.splice(0)).toHaveLength(1);
  end.resolve('done');
  expect(await run).toBe('done');
  progress.remind();
  expect(lines).toEqual([]);
});

test('a run that fails is no longer shown', async () => {
  const lines: string[] = [];
  const progress = openProgress((line) => lines.push(line));
  await expect(
    progress.follow('mini', 'x', async () => {
      throw new Error('broken');
    }),
  ).rejects.toThrow('broken');
  progress.remind();
  expect(lines).toEqual([]);
});
