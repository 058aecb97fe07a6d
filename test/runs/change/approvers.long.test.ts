import { newId } from '../../../src/db/ids.ts';
import { park } from '../../../src/runs/waiting/park.ts';
import { openAcme } from '../../support/stand-ins/acme.ts';

const acme = openAcme();

/** A task whose run waits for an approval. `settings` are what its repository says. */
async function waiting(reason: 'plan' | 'push', settings: object, startedBy: 'ada' | null = 'ada') {
  const people = await acme.twoPeople();
  const { em, call, task, claimed, ids } = people;
  const id = await task('ada');
  await call('ada', 'POST', `/tasks/${id}/start`);
  if (startedBy === null) await em.query('update runs set started_by = null where task_id = $1', [id]);
  const { run, journal } = await claimed();
  await journal.once('settings', async () => settings);
  const plan = { markdown: 'A plan', files: [], checks: [] };
  const wait = { id: newId('wait'), text: 'A plan', options: [], seconds: null };
  await journal.write((tx) => park(acme.service.app, tx, run, { ...wait, reason, ...(reason === 'plan' && { plan }) }));
  const approve = (who: 'ada' | 'bob') => call(who, 'POST', `/tasks/${id}/approve`);
  return { ...people, id, ids, run, approve };
}

test.each([
  ['plan', 'plan'],
  ['push', 'change'],
] as const)('with `approve: others`, who started a task cannot approve its %s, and others can', async (reason, what) => {
  const { approve } = await waiting(reason, { approve: 'others' });
  const refused = await approve('ada');
  expect([refused.status, refused.body.message]).toEqual([
    403,
    `You started this task, and .deckhand.yml says "approve: others": you cannot approve its ${what}. Ask somebody else with write permission.`,
  ]);
  expect((await approve('bob')).status).toBe(200);
});

test('a command is refused with the same words, until the status of the task changes', async () => {
  const { id, em, call } = await waiting('plan', { approve: 'others' });
  const [{ repositoryId }] = await em.query('select repository_id as "repositoryId" from tasks where id = $1', [id]);
  await em.query('delete from handled_commands');
  await em.query('update tasks set issue_repository_id = $2, issue_number = 8 where id = $1', [id, repositoryId]);
  await acme.say(400, 'ada', '/agent approve', 8);
  const notice = async () => (await em.query('select notice from mirrored where task_id = $1', [id]))[0].notice;
  expect(await notice()).toContain('was refused: You started this task, and .deckhand.yml says');
  await call('ada', 'POST', `/tasks/${id}/cancel`);
  expect(await notice()).toBe('');
  await em.query(`update mirrored set notice = 'Checks failed too often.' where task_id = $1`, [id]);
  await call('ada', 'POST', `/tasks/${id}/start`);
  expect(await notice()).toBe('Checks failed too often.');
});

test('without the setting, everybody may approve', async () => {
  const { approve } = await waiting('plan', { approve: 'anyone' });
  expect((await approve('ada')).status).toBe(200);
});

test('who asked for changes did not start the task; who retried it did', async () => {
  const { approve, em, id, run, ids } = await waiting('push', { approve: 'others' });
  const earlier = (kind: string) =>
    em.query(
      `insert into runs (id, task_id, project_id, kind, status, started_by, finished_at)
       select $2, task_id, project_id, $3, 'failed', $4, now() from runs where id = $1`,
      [run.id, newId('run'), kind, ids.bob],
    );
  await earlier('retry');
  expect((await approve('bob')).status).toBe(403);
  await em.query(`delete from runs where kind = 'retry' and task_id = $1`, [id]);
  await earlier('revise');
  expect((await approve('bob')).status).toBe(200);
});

test('of a run that began by itself, who wrote the task counts', async () => {
  const { approve } = await waiting('plan', { approve: 'others' }, null);
  expect((await approve('ada')).status).toBe(403);
  expect((await approve('bob')).status).toBe(200);
});
