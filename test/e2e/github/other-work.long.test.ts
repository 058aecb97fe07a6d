import { until } from '../../../demo/real-service.ts';
import { type Face, openFace, repo } from '../../support/face.ts';

let face: Face;
beforeAll(async () => {
  face = await openFace({ settings: { SANDBOX: 'off' }, seed: { more: ['other'] } });
});
afterAll(() => face.world.close());

const answered = (number: number, text: string) =>
  until('the answer', async () => (await face.world.comments(number)).find(({ body }) => body.includes(text))?.body);

/** Opens a pull request in the name of mona, from a branch with one more file. Returns its number. */
async function propose(branch: string, body: string): Promise<number> {
  await face.push(branch, `${branch}.txt`, 'x\n', { force: true });
  const fields = { title: branch, body, head: branch, base: 'main' };
  return (await face.mona<{ number: number }>('POST', `${repo}/pulls`, fields)).number;
}

test('an open pull request for the issue holds up a start until somebody writes anyway', async () => {
  const { world, say, settled, next, mona } = face;
  const number = await world.issue('');
  const closing = await propose('by-hand', `Fixes #${number}`);
  const mentioning = await propose('nearby', `See #${number} and #${number}1.`);
  await say(number, '/agent start');
  const text = (await answered(number, 'working on this already')).replaceAll('\u2060', '');
  const link = (pull: number) => `[#${pull}](${world.github.url}/mona/sample/pull/${pull})`;
  expect(text).toContain(
    `${link(closing)} by mona would close this issue, ${link(mentioning)} by mona mentions this issue`,
  );
  expect(text).toContain('`/agent start anyway`');

  // The label means the same. Nobody has seen more of the issue by it.
  await mona('POST', `${repo}/issues/${number}/labels`, { labels: ['agent:run'] });
  await until('the label handled', async () => !(await world.labels(number)).includes('agent:run'));
  expect(await world.get(`/projects/${world.project.id}/tasks`)).toEqual([]);

  // The API says the same of the task.
  await say(number, '/agent create');
  const created = await face.taskOf(number);
  const others = await world.get<{ number: number }[]>(`/tasks/${created.id}/other-work`);
  const of = (number: number, closes: boolean) => {
    const url = `${world.github.url}/mona/sample/pull/${number}`;
    return { repositoryName: 'mona/sample', number, url, author: 'mona', closes };
  };
  expect(others).toEqual([of(closing, true), of(mentioning, false)]);

  next({ 'anyway.txt': 'x\n' });
  await say(number, '/agent start anyway');
  const task = await settled(number, 'in_review', 1);
  // Its own pull request mentions the issue too.
  expect(await world.get(`/tasks/${task.id}/other-work`)).toEqual(others);

  // What is closed, and the pull request of the task itself, hold up nothing.
  await mona('PATCH', `${repo}/pulls/${closing}`, { state: 'closed' });
  await mona('PATCH', `${repo}/pulls/${mentioning}`, { state: 'closed' });
  await say(number, '/agent start');
  const refusal = await until('the refusal', async () =>
    (await world.comments(number)).find(({ body }) => /start` was refused/.test(body) && !/already/.test(body)),
  );
  expect(refusal.body).toContain('in review');
  expect(await face.kinds(task)).toEqual(['start']);
});

test('when GitHub refuses to say who else works on an issue, the start goes on', async () => {
  const { world, say, settled, next } = face;
  const number = await world.issue('');
  await propose('unseen', `Fixes #${number}`);
  world.github.fail((_method, path) =>
    path === '/graphql' ? { status: 403, message: 'Resource not accessible by integration' } : undefined,
  );
  next({ 'unseen.txt': 'x\n' });
  await say(number, '/agent start');
  const { id } = await settled(number, 'in_review', 1);
  expect(await world.get(`/tasks/${id}/other-work`)).toEqual([]);
  world.github.fail(() => undefined);
});

test('a task that a restored backup does not have is made from its open pull request, and not started again', async () => {
  const { world, say, settled, next, taskOf } = face;
  const number = await world.issue('');
  next({ 'kept.txt': 'x\n' });
  await say(number, '/agent start');
  const before = await settled(number, 'in_review', 1);
  // As after a restore: the database is older than the task, and the comment counts as unread.
  await world.sql('delete from tasks where id = $1', [before.id]);
  await world.sql('delete from handled_commands', []);
  await say(number, '/agent start');
  const after = await until('the adopted task', async () => {
    const task = await taskOf(number).catch(() => undefined);
    return task?.status === 'in_review' && task;
  });
  expect(after).toMatchObject({ prUrl: before.prUrl, branchName: before.branchName, runCount: 0 });
  expect(after.id).not.toBe(before.id);
  // The next request continues on its branch.
  next({ 'more.txt': 'x\n' });
  await say(number, '/agent revise Do more.');
  const revised = await settled(number, 'in_review', 1);
  expect(revised.prUrl).toBe(before.prUrl);

  // Where a change needs checks, what they said about it is gone with the task.
  await face.push('main', '.deckhand.yml', 'checks: "true"\n');
  await world.sql('delete from tasks where id = $1', [after.id]);
  await world.sql('delete from handled_commands', []);
  await say(number, '/agent start');
  await until('the adopted task', async () => {
    const task = await taskOf(number).catch(() => undefined);
    return task?.status === 'in_review' && task.id !== after.id;
  });
  const { id } = await taskOf(number);
  await expect(world.service.api(world.token, 'POST', `/tasks/${id}/merge`)).rejects.toThrow(/409/);
});
