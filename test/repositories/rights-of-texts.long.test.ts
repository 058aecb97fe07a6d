import { until } from '../../demo/real-service.ts';
import { type Place, placeOfRepository } from '../../src/github/app/place.ts';
import { handleLabel } from '../../src/github/commands/handle-commands.ts';
import { endRun } from '../../src/runs/store.ts';
import { advanceSprint } from '../../src/sprints/advance-sprint.ts';
import { openAcme } from '../support/stand-ins/acme.ts';

const acme = openAcme();
const number = 61;

/** A task of ada's that has an issue. */
async function withIssue() {
  const people = await acme.twoPeople();
  const { em, call, own, task } = people;
  const id = await task('ada');
  await em.query('delete from handled_commands');
  const link = `issue_repository_id = repository_id, issue_number = ${number}, issue_title = title, issue_body = ''`;
  await em.query(`update tasks set ${link} where id = $1`, [id]);
  const rewrite = async (who: 'ada' | 'bob') =>
    expect((await call(who, 'PATCH', `/tasks/${id}`, { description: `By ${who}.` })).status).toBe(200);
  const status = async (): Promise<string> => (await call('ada', 'GET', `/tasks/${id}`)).body.status;
  const place = (await placeOfRepository(acme.service.app, own.id)) as Place;
  return { ...people, id, rewrite, status, place };
}

test('a command starts no text that somebody else wrote after it', async () => {
  const { em, call, id, rewrite, status, projectId } = await withIssue();
  const before = new Date(Date.now() - 5000);
  const dates = { startDate: '2026-11-01', endDate: '2026-12-31' };
  await call('ada', 'POST', `/projects/${projectId}/sprints`, { name: 'late', ...dates });
  await rewrite('bob');
  await acme.say(400, 'ada', '/agent start', number, before);
  await acme.say(400, 'ada', '\n/agent sprint late', number, before);
  expect(await status()).toBe('backlog');
  expect((await call('ada', 'GET', `/tasks/${id}`)).body.sprintId).toBeNull();
  // Whatever they wrote themselves, they have seen.
  await rewrite('ada');
  await acme.say(400, 'ada', '\n\n/agent start', number, before);
  expect(await status()).toBe('in_progress');
  await em.query('delete from sprints');
});

test('who puts a task into a sprint by a command does not answer alone for a text that the issue does not show', async () => {
  const { em, call, id, ids, rewrite, claimed, projectId } = await withIssue();
  const dates = { startDate: '2026-11-01', endDate: '2026-12-31' };
  const sprint = (await call('ada', 'POST', `/projects/${projectId}/sprints`, { name: 'hidden', ...dates })).body.id;
  await rewrite('bob');
  await acme.say(400, 'ada', '/agent sprint hidden', number);
  expect((await call('ada', 'GET', `/tasks/${id}`)).body.sprintId).toBe(sprint);
  await call('ada', 'POST', `/sprints/${sprint}/start`);
  await advanceSprint(acme.service.app, projectId);
  expect([...(await claimed()).run.directedBy].sort()).toEqual([ids.ada, ids.bob].sort());
  await em.query('delete from sprints');
});

test('the label starts no text that is written while it is handled', async () => {
  const { em, id, ids, status, place } = await withIssue();
  const issue = { number, title: 't', body: '', url: '' };
  let handled: Promise<void> | undefined;
  await em.transaction(async (tx) => {
    await tx.query(`update tasks set description = 'Open secret.' where id = $1`, [id]);
    handled = handleLabel(acme.service.app, place, issue, { user: { id: ids.ada }, remember: async () => {} });
    await until(
      'the start to wait',
      async () => (await em.query('select 1 from pg_locks where not granted')).length > 0,
    );
  });
  await handled;
  expect(await status()).toBe('backlog');
});

test('a person who rewrote a task since its last run directs the run that takes up requested changes', async () => {
  const { em, call, id, ids, rewrite, claimed } = await withIssue();
  await call('ada', 'POST', `/tasks/${id}/start`);
  const { run } = await claimed();
  await em.query(`insert into run_contexts (run_id, opening) values ($1, '[]')`, [run.id]);
  await endRun(em, run.id, 'succeeded', null);
  await em.query(`update tasks set status = 'in_review' where id = $1`, [id]);
  await rewrite('bob');
  await call('ada', 'POST', `/tasks/${id}/revise`, { text: 'Say it better.' });
  expect([...(await claimed()).run.directedBy].sort()).toEqual([ids.ada, ids.bob].sort());
});

describe('who starts a task on GitHub answers for its text', () => {
  const pull = 62;
  /** A task of ada's that has an issue and a pull request, was worked on, and was rewritten by bob since then. */
  async function rewritten() {
    const people = await withIssue();
    const { em, call, own, id, rewrite, claimed, ids } = people;
    await call('ada', 'POST', `/tasks/${id}/start`);
    const { run } = await claimed();
    await em.query(`insert into run_contexts (run_id, opening) values ($1, '[]')`, [run.id]);
    await endRun(em, run.id, 'succeeded', null);
    await em.query(`update tasks set status = 'ready' where id = $1`, [id]);
    await em.query(
      `insert into pull_requests (task_id, repository_id, number, url, status, head_branch, head_sha)
       values ($1, $2, $3, 'u', 'open', 'agent/x', 's')`,
      [id, own.id, pull],
    );
    await rewrite('bob');
    /** Starts the task by a comment of ada's. Returns whom the run follows besides her. */
    const start = async (where: number, shows: object) => {
      await acme.say(400, 'ada', '/agent start', where, new Date(Date.now() + 1000), shows);
      return (await claimed()).run.directedBy.filter((userId) => userId !== ids.ada);
    };
    return { ...people, start };
  }

  test('if the issue shows it', async () => {
    const { start } = await rewritten();
    expect(await start(number, { title: 't', body: 'By bob.' })).toEqual([]);
  });

  test.each([
    ['if the issue says something else', number, { title: 't', body: 'As ada wrote it.' }],
    ['if nobody knows what the issue said', number, { title: 't', body: 'By bob.', unknown: 'It was edited.' }],
    ['on a pull request', pull, { title: 't', body: 'By bob.', isPull: true }],
  ])('but not %s', async (_where, at, shows) => {
    const { start, ids } = await rewritten();
    expect(await start(at, shows)).toEqual([ids.bob]);
  });

  test('but not for what its issue hides', async () => {
    const { call, id, ids, start } = await rewritten();
    await call('bob', 'PATCH', `/tasks/${id}`, { description: 'By bob. <!-- Open secret. -->' });
    expect(await start(number, { title: 't', body: 'By bob.' })).toEqual([ids.bob]);
  });

  test('but not for that of a task that never ran, if the issue says something else', async () => {
    const { em, id, ids, claimed } = await withIssue();
    await acme.say(300, 'bob', '/agent start', number, new Date(), { title: 'Something else' });
    expect((await claimed()).run.directedBy).toEqual([ids.bob, ids.ada]);
    await em.query('delete from tasks where id = $1', [id]);
  });
});

test('a rewound run in between does not hide who rewrote a task', async () => {
  const { em, call, id, ids, rewrite, claimed } = await withIssue();
  await call('ada', 'POST', `/tasks/${id}/start`);
  const { run } = await claimed();
  await em.query(`insert into run_contexts (run_id, opening) values ($1, '[]')`, [run.id]);
  await endRun(em, run.id, 'succeeded', null);
  await em.query(`update tasks set status = 'in_review' where id = $1`, [id]);
  await rewrite('bob');
  await em.query(
    `insert into runs (id, task_id, project_id, agent_id, started_by, directed_by, kind, status, finished_at,
       continues_run_id, rewound_turn)
     select 'run_rewound', task_id, project_id, agent_id, started_by, directed_by, 'rewind', 'succeeded', now(), id, 1
     from runs where id = $1`,
    [run.id],
  );
  await call('ada', 'POST', `/tasks/${id}/revise`, { text: 'Say it better.' });
  expect([...(await claimed()).run.directedBy].sort()).toEqual([ids.ada, ids.bob].sort());
});
