import { type Model, ModelFailed } from '../../src/llm/model.ts';
import { takeStep } from '../../src/planning/plan-step.ts';
import { getSession } from '../../src/planning/store.ts';
import { enterRepository } from '../../src/runs/directors.ts';
import { advanceSprint } from '../../src/sprints/advance-sprint.ts';
import { openAcme } from '../support/stand-ins/acme.ts';
import { around, barred, writers } from '../support/stand-ins/named-github.ts';

const acme = openAcme();

const number = 51;
const task = (ref: string, more: object = {}) => ({
  ref,
  title: `Do ${ref}`,
  description: '',
  owner: null,
  ownerReason: null,
  repositoryId: null,
  dependsOn: [],
  ...more,
});

/** A plan in the issue of `acme/app`, ready for its approval. `by` are the people whose words it follows. */
async function planned(people: Awaited<ReturnType<typeof acme.twoPeople>>, by: string[], tasks: object[]) {
  const { em, own, projectId, ids } = people;
  await em.query('delete from wizard_sessions');
  await em.query('delete from sprints');
  await em.query('delete from tasks');
  await em.query(`delete from handled_commands`);
  await em.query(
    `insert into wizard_sessions (id, project_id, repository_ids, goal, status, created_by, directed_by, steps, prd, plan,
       tasks, issue_repository_id, issue_number, updated_at)
     values ('wiz_1', $1, $2, 'A goal', 'tasks_ready', $3, $4, '[]', '{"title":"t","markdown":"m"}', '{"phases":[]}', $5, $6, $7,
       now() - interval '1 minute')`,
    [projectId, JSON.stringify([own.id]), ids.ada, JSON.stringify(by), JSON.stringify(tasks), own.id, number],
  );
  const status = async () => (await em.query('select status from wizard_sessions'))[0].status;
  return { status };
}

test('a plan is approved only by a comment that was written after its last change', async () => {
  const people = await acme.twoPeople();
  const { em, ids } = people;
  const { status } = await planned(people, [ids.ada], [task('a')]);
  const before = new Date(Date.now() - 5000);
  // bob's wish is written while the comment of ada is under way.
  await em.query(`update wizard_sessions set tasks = $1, version = version + 1, updated_at = now()`, [
    JSON.stringify([task('evil')]),
  ]);
  await acme.say(400, 'ada', '/agent approve', number, before);
  expect(await status()).toBe('tasks_ready');
  await acme.say(400, 'ada', '\n/agent approve', number);
  expect(await status()).toBe('finalized');
});

test('a plan that changes while the permissions of its approver are asked for is not approved', async () => {
  const people = await acme.twoPeople();
  const { em, ids, secret } = people;
  const { status } = await planned(people, [ids.ada], [task('a', { repositoryId: secret.id })]);
  around.happening = async () => {
    around.happening = async () =>
      em.query(`update wizard_sessions set tasks = $1, version = version + 1`, [JSON.stringify([task('evil')])]);
  };
  await acme.say(400, 'ada', '/agent approve', number);
  expect(await status()).toBe('tasks_ready');
});

test('a plan whose first repository is disconnected while its approver is asked about is not approved', async () => {
  const people = await acme.twoPeople();
  const { em, ids, own, secret } = people;
  writers.add('300 2');
  const { status } = await planned(people, [ids.bob], [task('a'), task('b', { repositoryId: secret.id })]);
  await em.query('update wizard_sessions set repository_ids = $1', [JSON.stringify([own.id, secret.id])]);
  // The first question is about bob here, the second about bob in `secret`.
  around.happening = async () => {
    around.happening = async () =>
      // As if it had been disconnected: the tasks without a repository would work in the next one.
      em.query('update wizard_sessions set repository_ids = $1', [JSON.stringify([secret.id])]);
  };
  await acme.say(300, 'bob', '/agent approve', number);
  expect(await status()).toBe('tasks_ready');
});

test('the runs of a planned sprint follow the words of everybody who had a say in the plan', async () => {
  const people = await acme.twoPeople();
  const { ids, projectId, secret, claimed, agents } = people;
  await planned(people, [ids.ada, ids.bob], [task('a', { owner: agents[0]?.id })]);
  await acme.say(400, 'ada', '/agent approve', number);
  await acme.say(400, 'ada', '\n/agent start', number);
  await advanceSprint(acme.service.app, projectId);
  const { run, journal } = await claimed();
  expect([...run.directedBy].sort()).toEqual([ids.ada, ids.bob].sort());
  expect(await enterRepository(acme.service.app, { run, journal }, secret)).toMatchObject({ status: 403 });
});

test('the sprint of a plan is started only with permission in all repositories in which its tasks work', async () => {
  const people = await acme.twoPeople();
  const { em, ids, secret } = people;
  await planned(people, [ids.ada], [task('a'), task('b', { repositoryId: secret.id })]);
  await acme.say(400, 'ada', '/agent approve', number);
  const sprint = async () => (await em.query('select status from sprints'))[0]?.status;
  await acme.say(300, 'bob', '\n/agent start', number);
  expect(await sprint()).toBe('planning');
  await acme.say(400, 'ada', '\n\n/agent start', number);
  expect(await sprint()).toBe('active');
});

test('a subtask that joins a sprint with its parent keeps the people whose words it follows', async () => {
  const { em, call, ids, projectId, task: newTask } = await acme.twoPeople();
  const parent = await newTask('ada');
  const { body: subtask } = await call('bob', 'POST', `/tasks/${parent}/subtasks`, { title: 'Open secret.' });
  const dates = { startDate: '2026-11-01', endDate: '2026-12-31' };
  const sprint = (await call('ada', 'POST', `/projects/${projectId}/sprints`, { name: 's', ...dates })).body.id;
  await call('ada', 'POST', `/sprints/${sprint}/tasks`, { taskId: parent });
  const [{ by }] = await em.query('select directed_by as by from tasks where id = $1', [subtask.id]);
  expect([...by].sort()).toEqual([ids.ada, ids.bob].sort());
});

test('what was read in a repository is not told to people who have no permission there, also once it is disconnected', async () => {
  const people = await acme.twoPeople();
  const { em, call, ids, own, secret, projectId } = people;
  await planned(people, [ids.ada], [task('a')]);
  const both = JSON.stringify([own.id, secret.id]);
  await em.query(`update wizard_sessions set repository_ids = $1, repository_notes = 'The vault opens at noon.'`, [
    both,
  ]);
  // Nobody may read `secret` but ada.
  barred.add('300 2');
  const toldTo = async (askedBy: string) => {
    let told = '';
    const reply: Model['reply'] = async (messages) => {
      told = JSON.stringify(messages);
      throw new ModelFailed('model', 'no');
    };
    const session = await getSession(em, projectId, 'wiz_1');
    const model = { name: 'm', reply, window: () => undefined };
    await expect(takeStep(acme.service.app, model, 'write_plan', session, { askedBy, feedback: '' })).rejects.toThrow();
    return told;
  };
  expect(await toldTo(ids.ada)).toContain('vault');
  expect(await toldTo(ids.bob)).not.toContain('vault');
  await call('ada', 'DELETE', `/repositories/${secret.id}`);
  expect(await toldTo(ids.bob)).not.toContain('vault');
});
