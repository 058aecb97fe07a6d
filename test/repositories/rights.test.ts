import { newId } from '../../src/db/ids.ts';
import { failure } from '../../src/domain/run.ts';
import { type Place, placeOfRepository } from '../../src/github/app/place.ts';
import { postNotice } from '../../src/github/commands/notices.ts';
import { syncTask } from '../../src/github/mirror/sync.ts';
import { lackOfRight, rightProblem } from '../../src/repositories/rights.ts';
import { getRepository } from '../../src/repositories/store.ts';
import { enterRepository, listOpened } from '../../src/runs/directors.ts';
import { followRevisions, reviseTask } from '../../src/runs/operations.ts';
import { endRun, findRun } from '../../src/runs/store.ts';
import { insertTurn } from '../../src/runs/taking-up/turn-store.ts';
import { advanceSprint } from '../../src/sprints/advance-sprint.ts';
import { insertRevision } from '../../src/tasks/work-store.ts';
import { continueTask } from '../../src/worker/split.ts';
import { takeUpConversation } from '../../src/worker/take-up.ts';
import { insertContext } from '../../src/worker/turns.ts';
import { openAcme } from '../support/stand-ins/acme.ts';
import { around, asked, people, repositories, writers } from '../support/stand-ins/named-github.ts';

const acme = openAcme();
const { say, twoPeople } = acme;

test('a run opens another repository only if everybody whose words it follows may write there now', async () => {
  const { em, call, own, secret, task, claimed } = await twoPeople();
  const id = await task('ada');
  await call('ada', 'POST', `/tasks/${id}/start`);
  // The agent will read this text, which bob wrote.
  expect((await call('bob', 'PATCH', `/tasks/${id}`, { description: 'Open secret.' })).status).toBe(200);
  const { run, journal } = await claimed();
  const lack = 'bob has no write permission in the repository secret.';
  expect((await enterRepository(acme.service.app, { run, journal }, secret))?.message).toBe(lack);
  expect(await listOpened(em, run.id, own.id)).toEqual([]);
  writers.add('300 2');
  expect(await enterRepository(acme.service.app, { run, journal }, secret)).toBeUndefined();
  expect(await listOpened(em, run.id, own.id)).toEqual([secret.id]);
  around.isSilent = true;
  const problem = await enterRepository(acme.service.app, { run, journal }, secret);
  expect(problem).toMatchObject({ status: 502, message: expect.stringContaining('GitHub could not be asked') });
});

const lack = { statusCode: 403, message: 'bob has no write permission in the repository secret.' };

/** A task of ada's whose run has opened `secret` and has one turn. `fail` ends the run; `next` claims one that follows. */
async function opened(people: Awaited<ReturnType<typeof twoPeople>>) {
  const { em, call, own, secret, task, claimed } = people;
  const id = await task('ada');
  await call('ada', 'POST', `/tasks/${id}/start`);
  const first = await claimed();
  const { run } = first;
  await insertContext(em, run.id, [{ role: 'system', content: 'be good' }]);
  await enterRepository(acme.service.app, first, secret);
  const usage = { inputTokens: 1, cachedInputTokens: 0, outputTokens: 1, costUsd: 0 };
  await insertTurn(em, run.id, 0, { messages: [], workspace: Buffer.from('x'), usage });
  const fail = () =>
    em.transaction(async (tx) => {
      await endRun(tx, run.id, 'failed', failure('budget', 'too many steps'));
      await tx.query(`update tasks set status = 'ready' where id = $1`, [id]);
    });
  const retry = (who: 'ada' | 'bob') => call(who, 'POST', `/tasks/${id}/retry`);
  const rewind = async (who: 'ada' | 'bob') =>
    (await call(who, 'POST', `/tasks/${id}/rewind`, { runId: run.id, turn: 1 })).body;
  /** Takes up the conversation in a claimed run. Returns its log and its turns. */
  const takeUp = async ({ run: { id: next, ...rest }, journal }: Awaited<ReturnType<typeof claimed>>) => {
    const retrying = <T>(step: () => Promise<T>) => step();
    const about = { task: { repositoryId: own.id } as never, journal, retrying };
    await takeUpConversation(acme.service.app, { id: next, ...rest }, about);
    const log: { text: string }[] = (await call('ada', 'GET', `/runs/${next}/events`)).body;
    const turns: unknown[] = await em.query('select 1 from run_turns where run_id = $1', [next]);
    return { log: log.map(({ text }) => text), turns: turns.length };
  };
  return { id, run, fail, retry, rewind, takeUp };
}

test('who may not write to what a run has opened does not speak to it, go back to it, or get its conversation', async () => {
  const people = await twoPeople();
  const { em, call, claimed } = people;
  const { id, run, fail, retry, rewind, takeUp } = await opened(people);
  expect((await call('bob', 'POST', `/tasks/${id}/say`, { text: 'Copy it.' })).body).toEqual(lack);
  expect((await call('ada', 'POST', `/tasks/${id}/say`, { text: 'Go on.' })).status).toBe(202);
  await fail();
  expect(await rewind('bob')).toEqual(lack);
  expect((await retry('bob')).status).toBe(200);
  const next = await claimed();
  expect((await findRun(em, next.run.id))?.continuesRunId).toBe(run.id);
  expect(await takeUp(next)).toMatchObject({ log: expect.arrayContaining([`starts over: ${lack.message}`]), turns: 0 });
});

test('nobody speaks to a run, or gets its conversation, once a repository that it has opened is disconnected', async () => {
  const people = await twoPeople();
  const { call, claimed, secret } = people;
  const { id, fail, retry, rewind, takeUp } = await opened(people);
  expect((await call('ada', 'DELETE', `/repositories/${secret.id}`)).status).toBe(204);
  const gone = { statusCode: 403, message: expect.stringContaining('no longer connected') };
  expect((await call('bob', 'POST', `/tasks/${id}/say`, { text: 'Copy it.' })).body).toEqual(gone);
  await fail();
  expect(await rewind('bob')).toEqual(gone);
  await retry('bob');
  const { log, turns } = await takeUp(await claimed());
  expect([log.join(), turns]).toEqual([expect.stringMatching(/starts over: .* no longer connected/), 0]);
});

test('a conversation with a private repository is not taken up where the private repository could not be opened now', async () => {
  const people = await twoPeople();
  const { em, claimed, own } = people;
  const { fail, retry, rewind, takeUp } = await opened(people);
  await fail();
  // The task's repository was private, too, or the project shared private context.
  await em.query('update repositories set is_private = false where id = $1', [own.id]);
  const message = 'The conversation has the content of a private repository, which may not be shown in app.';
  expect(await rewind('ada')).toEqual({ statusCode: 403, message });
  await retry('ada');
  expect(await takeUp(await claimed())).toMatchObject({
    log: expect.arrayContaining([`starts over: ${message}`]),
    turns: 0,
  });
  await em.query('update repositories set is_private = true where id = $1', [own.id]);
});

test('who speaks to a run, or rewrites its task, while its conversation is taken up, is asked about too', async () => {
  const people = await twoPeople();
  const { call, claimed } = people;
  for (const [method, action, body] of [
    ['POST', '/say', { text: 'Copy it.' }],
    ['PATCH', '', { description: 'Copy it.' }],
  ] as const) {
    const { id, fail, retry, takeUp } = await opened(people);
    await fail();
    await retry('ada');
    around.happening = async () =>
      expect([200, 202]).toContain((await call('bob', method, `/tasks/${id}${action}`, body)).status);
    expect(await takeUp(await claimed())).toMatchObject({
      log: expect.arrayContaining([`starts over: ${lack.message}`]),
      turns: 0,
    });
  }
});

test('a run goes back to a turn only if those who asked for changes may write to what was open then', async () => {
  const people = await twoPeople();
  const { em, call, ids } = people;
  const { id, fail, retry, rewind } = await opened(people);
  await fail();
  await retry('ada');
  // Nobody has claimed this run, so its end leaves the message as a request for the next run.
  await call('bob', 'POST', `/tasks/${id}/say`, { text: 'Write all of it into x.txt.' });
  await call('ada', 'POST', `/tasks/${id}/cancel`);
  expect(await rewind('ada')).toEqual(lack);
  await em.query('delete from revisions');
  const revision = { taskId: id, source: 'person', text: 'x', cause: null, askedBy: ids.bob } as const;
  around.happening = () => insertRevision(em, revision);
  expect(await rewind('ada')).toMatchObject({ statusCode: 409, message: expect.stringContaining('just now') });
  await em.query('delete from revisions');
  expect(await rewind('ada')).toMatchObject({ status: 'in_progress' });
});

test('a task is undone only by who may write to each repository in which something of it was merged', async () => {
  const { em, call, own, secret, task } = await twoPeople();
  const id = await task('ada');
  await em.query(`update tasks set status = 'done' where id = $1`, [id]);
  for (const [number, repository] of [own, secret].entries())
    await em.query(
      `insert into pull_requests (task_id, repository_id, number, url, status, head_branch, head_sha, merged_at)
       values ($1, $2, $3, 'https://github.test/x', 'merged', 'agent/x', $4, now())`,
      [id, repository.id, number + 1, 'd'.repeat(40)],
    );
  expect((await call('bob', 'POST', `/tasks/${id}/undo`)).body).toEqual(lack);
  const { body } = await call('ada', 'GET', `/tasks/${id}/undo`);
  expect(body).toMatchObject({ undoneBy: null, pulls: [{}, {}] });
  expect((await call('ada', 'POST', `/tasks/${id}/undo`)).status).toBe(201);
});

test('the directors of a run count in the later runs of its task, which read its handoff', async () => {
  const { em, call, secret, ids, task, claimed } = await twoPeople();
  const id = await task('ada');
  await call('bob', 'POST', `/tasks/${id}/start`);
  const endIn = async (runId: string, status: string) => {
    await endRun(em, runId, 'succeeded', null);
    await em.query('update tasks set status = $2 where id = $1', [id, status]);
  };
  await endIn((await claimed()).run.id, 'in_review');
  // Nobody starts the next run. Its task is only ada's.
  await reviseTask(acme.service.app, { taskId: id, source: 'conflict', text: 'Merge.', cause: 'x', askedBy: null });
  for (const startedBy of [null, ids.ada]) {
    const { run, journal } = await claimed();
    expect([run.startedBy, run.directedBy]).toEqual([startedBy, expect.arrayContaining([ids.ada, ids.bob])]);
    expect((await enterRepository(acme.service.app, { run, journal }, secret))?.message).toBe(lack.message);
    await endIn(run.id, 'ready');
    await call('ada', 'POST', `/tasks/${id}/start`);
  }
});

test('who rewrites a task while it waits, or during its run, directs the run that follows by itself', async () => {
  const { em, call, ids, task, claimed } = await twoPeople();
  const startedAndRewritten = async () => {
    const id = await task('ada');
    await call('ada', 'POST', `/tasks/${id}/start`);
    const { run } = await claimed();
    await insertContext(em, run.id, [{ role: 'system', content: 'be good' }]);
    return { id, run };
  };
  const rewrite = (id: string) => call('bob', 'PATCH', `/tasks/${id}`, { description: 'Open secret.' });
  const both = [ids.ada, ids.bob];

  const split = await startedAndRewritten();
  await endRun(em, split.run.id, 'succeeded', null);
  expect((await rewrite(split.id)).status).toBe(200);
  await em.query('update tasks set split_by_agent = true where id = $1', [split.id]);
  await continueTask(acme.service.app, split.id);
  expect((await claimed()).run.directedBy).toEqual(both);

  const revised = await startedAndRewritten();
  const revision = { taskId: revised.id, source: 'person', text: 'x', cause: null, askedBy: ids.ada } as const;
  await insertRevision(em, revision);
  await rewrite(revised.id);
  await endRun(em, revised.run.id, 'succeeded', null);
  await em.query(`update tasks set status = 'in_review' where id = $1`, [revised.id]);
  await em.transaction((tx) => followRevisions(acme.service.app, tx, revised.id));
  expect((await claimed()).run.directedBy).toEqual(both);
});

test('who made the agent of a task directs its runs, unless the agent belongs to the project', async () => {
  const { call, secret, ids, task, claimed } = await twoPeople();
  const id = await task('ada');
  const mine = { name: 'Mine', description: 'd', systemPrompt: 'Open secret and copy it.' };
  const owner = (await call('bob', 'POST', '/agents', mine)).body.id;
  expect((await call('bob', 'PATCH', `/tasks/${id}`, { owner })).status).toBe(200);
  await call('ada', 'POST', `/tasks/${id}/start`);
  const { run, journal } = await claimed();
  expect(run.directedBy).toEqual([ids.ada, ids.bob]);
  expect((await enterRepository(acme.service.app, { run, journal }, secret))?.message).toBe(lack.message);
});

test('a run that a sprint starts has the rights of the person who put its task into the sprint', async () => {
  const { call, secret, projectId, ids, task, claimed } = await twoPeople();
  const id = await task('ada');
  const dates = { startDate: '2026-11-01', endDate: '2026-12-31' };
  const sprint = (await call('ada', 'POST', `/projects/${projectId}/sprints`, { name: 's', ...dates })).body.id;
  expect((await call('bob', 'POST', `/sprints/${sprint}/tasks`, { taskId: id })).status).toBe(200);
  await call('ada', 'POST', `/sprints/${sprint}/start`);
  await advanceSprint(acme.service.app, projectId);
  const { run, journal } = await claimed();
  expect([run.startedBy, run.directedBy]).toEqual([ids.ada, [ids.bob]]);
  expect(await enterRepository(acme.service.app, { run, journal }, secret)).toMatchObject({ status: 403 });
  await call('ada', 'DELETE', `/sprints/${sprint}?force=true`);
});

test('a command directs a task only with permission in the repository in which the task works', async () => {
  const { em, call, secret, task } = await twoPeople();
  const id = await task('ada');
  const link =
    'update tasks set issue_repository_id = repository_id, issue_number = 31, repository_id = $2 where id = $1';
  await em.query(link, [id, secret.id]);
  const statusOf = async () => (await call('ada', 'GET', `/tasks/${id}`)).body.status;
  await say(300, 'bob', '/agent start', 31);
  expect(await statusOf()).toBe('backlog');
  // On another line, because a command is handled once for its place in a comment.
  await say(400, 'ada', '\n/agent start', 31);
  expect(await statusOf()).toBe('in_progress');
});

test('a refusal names no private repository where everybody reads it', async () => {
  const { em, own, secret, task } = await twoPeople();
  const id = await task('ada');
  const elsewhere = 'issue_repository_id = repository_id, issue_number = 32, repository_id = $2';
  await em.query(`update tasks set ${elsewhere} where id = $1`, [id, secret.id]);
  await say(300, 'bob', '/agent start', 32);
  const place = await placeOfRepository(acme.service.app, own.id);
  const draft = `The pull request ${secret.url}/pull/3 is a draft.\n- ../secret/a b.ts is protected\nThe repository secret: its branch release-x differs`;
  const shown = async (isPrivate: boolean) => {
    await em.query('update repositories set is_private = $2 where id = $1', [own.id, isPrivate]);
    asked.length = 0;
    await syncTask(acme.service.app, { taskId: id, recheck: true });
    const repository = { ...own, isPrivate };
    await postNotice(acme.service.app, { ...place, repository } as Place, { number: 33, isPull: false }, draft);
    return asked.filter(({ path }) => /\/comments(\/\d+)?$/.test(path)).map(({ body }) => String(body.body));
  };
  const [status, reply] = await shown(true);
  expect(status).toContain('bob has no write permission in the repository secret.');
  expect(reply).toContain('a b.ts is protected');
  expect(reply).toContain(draft.split('\n')[0]);
  const texts = await shown(false);
  expect(texts[0]).toContain('bob has no write permission in another repository of the project.');
  expect(texts[1]).toContain('The pull request (in a private repository; the page of the task says more)');
  expect(texts[1]).toContain('a file in a private repository; the page of the task shows it');
  expect(texts[1]).toContain('nother repository of the project; the page of the task says more');
  expect(texts.join()).not.toMatch(/secret|release-x/);
});

describe('a repository whose URL an admin changed', () => {
  /** Changes the URL of `secret` as bob, who may not write there on GitHub. The project has a token of its own. */
  async function moved(...names: string[]) {
    const people = await twoPeople();
    const { em, call, secret, projectId } = people;
    await call('ada', 'POST', `/projects/${projectId}/git-token`, { token: 'ghp_of_the_project' });
    const github = secret.url.slice(0, -'acme/secret'.length);
    for (const name of names) {
      const { status, body } = await call('bob', 'PATCH', `/repositories/${secret.id}`, { url: github + name });
      expect([status, body.url]).toEqual([200, github + name]);
    }
    return { ...people, secret: await getRepository(em, secret.id) };
  }
  afterEach(async () => {
    await acme.service.app.db.manager.query('delete from project_secrets');
  });

  test('is the same one if only the letter case differs, with the permissions that GitHub names', async () => {
    const { ids, secret } = await moved('Acme/SECRET');
    expect(secret).toMatchObject({ isInstalled: true, connectedBy: null, githubId: 2 });
    expect(await lackOfRight(acme.service.app, [ids.bob], secret, 'write')).toBe(lack.message);
    expect(await lackOfRight(acme.service.app, [ids.ada], secret, 'write')).toBeUndefined();
  });

  test('is asked about on GitHub also before the next comparison, whatever token the project uses for it', async () => {
    const { em, ids, secret } = await moved('acme/other', 'acme/secret');
    expect(secret).toMatchObject({ isInstalled: false, connectedBy: ids.bob });
    expect(await lackOfRight(acme.service.app, [ids.bob], secret, 'write')).toBe(lack.message);
    expect(await lackOfRight(acme.service.app, [ids.ada], secret, 'write')).toBeUndefined();
    // The installation does not cover this one, so GitHub cannot be asked.
    repositories.delete('acme/secret');
    expect(await lackOfRight(acme.service.app, [ids.bob], secret, 'write')).toBeUndefined();
    await em.query('delete from members where user_id = $1', [ids.bob]);
    expect(await lackOfRight(acme.service.app, [ids.bob], secret, 'write')).toBe(lack.message);
  });

  test('gets no secrets and servers that were set while its URL changed', async () => {
    const { em, call, secret, projectId } = await twoPeople();
    repositories.set('acme/third', 3).set('acme/renamed', 2);
    for (const id of [2, 3]) writers.add(`400 ${id}`);
    const to = (name: string) => ({ url: secret.url.replace('acme/secret', name) });
    around.happening = async () => {
      expect((await call('ada', 'PATCH', `/repositories/${secret.id}`, to('acme/third'))).status).toBe(200);
      const set = { value: 'of the third', repositories: [secret.id] };
      await call('ada', 'PUT', `/projects/${projectId}/environment-secrets/OF_THIRD`, set);
      expect(await em.query('select 1 from environment_secret_repositories')).toHaveLength(1);
      const server = { name: 'tracker', url: 'https://mcp.example.com/mcp' };
      const servers = [
        { ...server, repositories: [secret.id] },
        { ...server, name: 'docs' },
      ];
      expect((await call('ada', 'PUT', `/projects/${projectId}/mcp-servers`, servers)).status).toBe(200);
    };
    await call('ada', 'PATCH', `/repositories/${secret.id}`, to('acme/renamed'));
    expect(around.happening).toBeUndefined();
    expect(await em.query('select 1 from environment_secret_repositories')).toHaveLength(0);
    const { body } = await call('ada', 'GET', `/projects/${projectId}/mcp-servers`);
    expect(body).toMatchObject([{ repositories: [] }, { repositories: [] }]);
    await call('ada', 'PUT', `/projects/${projectId}/mcp-servers`, []);
  });
});

test('a repository that a run has opened does not become another one', async () => {
  const people = await twoPeople();
  const { em, call, secret } = people;
  const { id, fail } = await opened(people);
  const url = secret.url.replace('acme/secret', 'bob/mine');
  const move = () => call('bob', 'PATCH', `/repositories/${secret.id}`, { url });
  expect((await move()).body).toMatchObject({ statusCode: 409, message: expect.stringContaining('has read') });
  await fail();
  expect((await move()).status).toBe(409);
  expect((await call('bob', 'POST', `/tasks/${id}/retry`)).status).toBe(200);
  // The same repository may have been renamed.
  repositories.delete('acme/secret');
  repositories.set('acme/renamed', 2);
  const renamed = { url: secret.url.replace('acme/secret', 'acme/renamed') };
  expect((await call('ada', 'PATCH', `/repositories/${secret.id}`, renamed)).status).toBe(200);
  await em.query('delete from tasks');
  expect((await move()).status).toBe(200);
  expect((await call('ada', 'DELETE', `/repositories/${secret.id}`)).status).toBe(204);
});

test('nobody has the permission of another repository that has the name of the connected one', async () => {
  const { ids, secret } = await twoPeople();
  repositories.set('acme/secret', 3);
  writers.add('300 3').add('400 3');
  expect(await lackOfRight(acme.service.app, [ids.bob], secret, 'write')).toBe(lack.message);
});

test('where GitHub cannot be asked, the role in the project counts; nobody known has no right', async () => {
  const { em, ids, own } = await twoPeople();
  const elsewhere = { ...own, id: newId('repo'), url: 'https://git.example.org/o/r', isInstalled: false };
  expect(await lackOfRight(acme.service.app, [ids.ada, ids.bob], elsewhere, 'write')).toBeUndefined();
  await em.query('delete from members where user_id = $1', [ids.bob]);
  expect(await lackOfRight(acme.service.app, [ids.ada, ids.bob], elsewhere, 'write')).toContain(
    'bob has no write permission',
  );
  expect(await rightProblem(acme.service.app, [], own, 'write')).toMatchObject({ status: 403 });
  // bob may read on GitHub, and somebody whom GitHub does not know may not.
  expect(await lackOfRight(acme.service.app, [ids.bob], own, 'read')).toBeUndefined();
  people.delete(300);
  expect(await lackOfRight(acme.service.app, [ids.bob], own, 'read')).toContain('bob has no read permission');
});
