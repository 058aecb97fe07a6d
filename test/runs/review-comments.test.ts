import { answerComments, draftAnswer, giveComments, hasComments, saveComment } from '../../src/runs/review/store.ts';
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
