import { openAcme } from '../../support/stand-ins/acme.ts';

const acme = openAcme();

test('requests for changes that wait for a run have an end, which leaves the task as it is', async () => {
  const { em, call, task, claimed } = await acme.twoPeople();
  const id = await task('ada');
  await call('ada', 'POST', `/tasks/${id}/start`);
  await claimed();
  const on = (path: string, text: string) => ({ path, line: 1, side: 'new', quote: 'q', text });
  const comments = (path: string, text: string, count: number) => Array.from({ length: count }, () => on(path, text));
  const revise = (body: object) => call('ada', 'POST', `/tasks/${id}/revise`, body);

  const tooWide = await revise({ comments: comments('p'.repeat(4000), 'x', 30) });
  expect([tooWide.status, tooWide.body.message]).toEqual([
    400,
    expect.stringContaining('100000 characters in their paths'),
  ]);
  const large = { comments: comments('src/a.ts', 'x'.repeat(9000), 6) };
  const statuses: number[] = [];
  for (let i = 0; i < 12; i++) statuses.push((await revise(large)).status);
  const refused = await revise(large);
  expect(statuses.slice(0, 5)).toEqual([200, 200, 200, 200, 200]);
  expect([refused.status, refused.body.message]).toEqual([
    409,
    expect.stringMatching(
      /^\d requests for changes wait for the run to end, .* Wait for the run to end, or cancel it\.$/,
    ),
  ]);
  const waiting = await em.query('select text from revisions where task_id = $1 and run_id is null', [id]);
  expect(waiting).toHaveLength(statuses.filter((status) => status === 200).length);
  expect((await revise({ text: 'A short one.' })).status).toBe(200);

  const timeline = (await call('ada', 'GET', `/tasks/${id}/timeline?limit=1`)).body;
  expect(timeline).toEqual([expect.objectContaining({ type: 'revise', text: 'A short one.' })]);
});
