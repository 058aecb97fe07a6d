import {
  answerComments,
  draftAnswer,
  giveComments,
  hasComments,
  reopenComments,
  saveComment,
} from '../../src/runs/review/store.ts';
import { openTestApp, type TestApp } from '../support/app.ts';

let service: TestApp;
let token: string;
let [taskId, repositoryId] = ['', ''];
const sql = (text: string, values: unknown[] = []) => service.app.db.manager.query(text, values);
beforeAll(async () => {
  service = await openTestApp();
  token = await service.token('ada');
  const make = async (path: string, body: object) => (await service.call('POST', path, { token, body })).body.id;
  const projectId = await make('/projects', { name: 'P' });
  repositoryId = await make('/repositories', { projectId, name: 'app', url: 'https://github.com/acme/app' });
  taskId = await make(`/projects/${projectId}/tasks`, { title: 't', repositoryId });
  await sql(`insert into runs (id, task_id, project_id, kind, status) values ('run_1', $1, $2, 'revise', 'running')`, [
    taskId,
    projectId,
  ]);
  await sql(
    `insert into revisions (id, task_id, run_id, source, cause, text) values ('rev_1', $1, 'run_1', 'review', 'review/1', 'x')`,
    [taskId],
  );
});
afterAll(() => service.close());

const comment = (id: number, threadId: number, more: object = {}) =>
  saveComment(service.app.db.manager, {
    ...{ taskId, repositoryId, path: 'a.ts', line: id, side: 'new', text: `comment ${id}`, author: 'mona' },
    at: new Date(Date.UTC(2026, 0, id)),
    onGitHub: { number: 5, id, threadId, isOutdated: false },
    ...more,
  });
const listed = async (query = '') =>
  (await service.call('GET', `/tasks/${taskId}/review-comments${query}`, { token })).body as {
    id: string;
    state: string;
    answer: string | null;
    text: string;
    round: number;
    told: boolean;
  }[];

test('what people write on lines is listed in full, with what became of it', async () => {
  const em = service.app.db.manager;
  const long = 'word '.repeat(3000);
  const first = await comment(1, 1, { text: long });
  const reply = await comment(2, 1);
  const other = await comment(3, 3);
  await comment(4, 4, { onGitHub: { number: 5, id: 4, threadId: 4, isOutdated: true } });
  // A second reading finds the same comment.
  expect(await comment(1, 1, { text: long })).toBe(first);
  expect((await listed()).map(({ state, round }) => [state, round])).toEqual([
    ...Array.from({ length: 3 }, () => ['open', 1]),
    ['outdated', 1],
  ]);
  expect((await listed('?limit=1'))[0]?.text).toBe(long);
  expect(await hasComments(em, 'run_1')).toBe(false);
  await giveComments(em, [first, reply, other], 'review/1');
  expect((await listed()).map(({ told }) => told)).toEqual([true, true, true, false]);
  expect(await hasComments(em, 'run_1')).toBe(true);
  expect(await draftAnswer(em, 'run_1', reply, 'I did this.')).toBe(true);
  expect(await draftAnswer(em, 'run_1', 'comment_other', 'no')).toBe(false);
  // Nothing is said before the run has succeeded.
  expect((await listed()).map(({ answer }) => answer)).toEqual([null, null, null, null]);
  await answerComments(em, 'run_1', { commits: new Map(), summary: 'It is right.' });
  expect((await listed()).map(({ state, answer }) => [state, answer])).toEqual([
    ['addressed', 'I did this.'],
    ['addressed', 'I did this.'],
    ['open', 'Nothing was changed. It is right.'],
    ['outdated', null],
  ]);
  await answerComments(em, 'run_1', { commits: new Map([[repositoryId, 'abc']]), summary: '' });
  expect((await listed())[2]).toMatchObject({ state: 'addressed', answer: 'Addressed in abc.' });
});

test('what was written after a revision belongs to the next round', async () => {
  await sql(`update runs set status = 'succeeded', finished_at = '2026-01-10' where id = 'run_1'`);
  await comment(20, 20);
  expect((await listed()).at(-1)).toMatchObject({ round: 2, state: 'open' });
});

test('what a run addressed is open again when a rewind has replaced its commits', async () => {
  const em = service.app.db.manager;
  const run = (id: string, kind: string, minutes: number, continues: string | null = null) =>
    sql(
      `insert into runs (id, task_id, project_id, kind, status, continues_run_id, rewound_turn, created_at)
       select $1, id, project_id, $2, 'succeeded', $3, case when $2 = 'rewind' then 1 end, now() + make_interval(mins => $4) from tasks where id = $5`,
      [id, kind, continues, minutes, taskId],
    );
  const addressed = async (number: number, runId: string) => {
    await sql(
      `insert into revisions (id, task_id, run_id, source, cause, text) values ($1, $2, $3, 'review', $1, 'x')`,
      [`of ${runId}`, taskId, runId],
    );
    await giveComments(em, [await comment(number, number)], `of ${runId}`);
    await answerComments(em, runId, { commits: new Map([[repositoryId, runId]]), summary: '' });
  };
  for (const [i, id] of ['run_a', 'run_b', 'run_c'].entries()) {
    await run(id, 'revise', 10 + i);
    await addressed(30 + i, id);
  }
  await run('run_d', 'rewind', 20, 'run_b');
  const shown = async () => (await listed()).slice(-3).map(({ state, answer }) => [state, answer]);
  const kept = ['run_a', 'run_b'].map((id) => ['addressed', `Addressed in ${id}.`]);
  await reopenComments(em, 'run_d', []);
  expect(await shown()).toEqual([...kept, ['addressed', 'Addressed in run_c.']]);
  await reopenComments(em, 'run_d', [repositoryId]);
  expect(await shown()).toEqual([...kept, ['open', null]]);
});
