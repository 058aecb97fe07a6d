import { verbs } from '../../src/github/commands/verbs.ts';
import { endRun } from '../../src/runs/store.ts';
import { openAcme } from '../support/stand-ins/acme.ts';
import { asked } from '../support/stand-ins/named-github.ts';

const acme = openAcme();
const number = 81;

type Shop = Awaited<ReturnType<typeof acme.twoPeople>> & { id: string };

/** A task of ada's with an issue. */
async function withTask(): Promise<Shop> {
  const people = await acme.twoPeople();
  const { em, own, task } = people;
  await em.query('delete from wizard_sessions');
  for (const table of ['handled_commands', 'mirrored']) await em.query(`delete from ${table}`);
  const id = await task('ada');
  await em.query(
    `update tasks set issue_repository_id = $2, issue_number = $3, issue_url = 'u', issue_title = 't', issue_body = ''
     where id = $1`,
    [id, own.id, number],
  );
  return { ...people, id };
}

const start = async ({ call, id, claimed }: Shop) => {
  await call('ada', 'POST', `/tasks/${id}/start`);
  return claimed();
};
const waiting = (reason: string) => async (shop: Shop) => {
  const { run } = await start(shop);
  await shop.em.query(
    `update runs set status = 'waiting', wait_id = 'wait_1', wait_reason = $2, wait_text = 'Well?', wait_options = '[]',
       waiting_since = now() where id = $1`,
    [run.id, reason],
  );
};
const ended = async (shop: Shop) => {
  const { run } = await start(shop);
  await endRun(shop.em, run.id, 'failed', null);
  await shop.em.query(`update tasks set status = 'ready' where id = $1`, [shop.id]);
};
const rewritten = async ({ call, id }: Shop) => {
  await call('bob', 'PATCH', `/tasks/${id}`, { description: 'By bob.' });
};
/** Replaces the task by a plan for a sprint. */
const planned =
  (status: string, more: object) =>
  async ({ em, own, projectId, ids, id }: Shop) => {
    await em.query('delete from tasks where id = $1', [id]);
    const plan = { steps: [], tasks: null, result: null, ...more };
    await em.query(
      `insert into wizard_sessions (id, project_id, repository_ids, goal, status, created_by, directed_by, steps, tasks, result,
       issue_repository_id, issue_number)
     values ('wiz_1', $1, $2, 'A goal', $3, $4, '[]', $5, $6, $7, $8, $9)`,
      [
        ...[projectId, JSON.stringify([own.id]), status, ids.ada, JSON.stringify(plan.steps)],
        ...[plan.tasks && JSON.stringify(plan.tasks), plan.result && JSON.stringify(plan.result), own.id, number],
      ],
    );
  };
const question = { id: 'step_x', question: 'Which?', options: [{ id: 'step_x_1', label: 'One' }], answer: null };
const sprint = { sprint: { id: 'sprint_1', name: 'S' }, tasks: [] };

/** What appears after a command was written, so that its writer cannot mean it. */
const unseen: [command: string, appears: (shop: Shop) => Promise<unknown>][] = [
  ['start', rewritten],
  ['start', planned('finalized', { result: sprint })],
  ['retry', ended],
  [
    'retry',
    async (shop) => {
      await ended(shop);
      await shop.em.query(`update runs set finished_at = finished_at - interval '1 hour'`);
      await rewritten(shop);
    },
  ],
  ['update issue', rewritten],
  ['rewind 1', ended],
  ['answer yes', waiting('question')],
  ['answer 1', planned('collecting', { steps: [question] })],
  ['answer 1', planned('collecting', { steps: [{ ...question, askedAt: new Date().toISOString() }] })],
  ['approve', waiting('plan')],
  ['approve', waiting('push')],
  ['approve', planned('tasks_ready', { tasks: [] })],
  ['revise no', waiting('plan')],
  ['revise no', waiting('push')],
  ['resume', waiting('paused')],
  [
    'resume',
    async (shop) => {
      await start(shop);
      await shop.call('ada', 'POST', `/tasks/${shop.id}/pause`);
    },
  ],
  ['cancel', planned('tasks_ready', { tasks: [] })],
  [
    'sprint S',
    async (shop) => {
      const days = { startDate: '2026-01-01', endDate: '2026-01-02' };
      await shop.call('ada', 'POST', `/projects/${shop.projectId}/sprints`, { name: 'S', ...days });
      await rewritten(shop);
    },
  ],
  [
    'undo',
    async ({ em, id }) => {
      await em.query(`update tasks set status = 'done', done_at = now() where id = $1`, [id]);
    },
  ],
  [
    'merge',
    async ({ em, own, id }) => {
      await em.query(`update tasks set status = 'in_review' where id = $1`, [id]);
      await em.query(
        `insert into pull_requests (task_id, repository_id, number, url, status, head_branch, head_sha)
         values ($1, $2, 82, 'u', 'open', 'agent/x', 's')`,
        [id, own.id],
      );
    },
  ],
];

/**
 * Verbs that say in their own words what they are about, or that only stop or show something: `cancel` and `pause` stop
 * whatever runs, because that is what they are for.
 */
const ownWords = [
  ...[
    'help',
    'status',
    'create',
    'assign',
    'say',
    'pause',
    'subtask',
    'base',
    'depends',
    'budget',
    'plan',
    'ask',
    'setup',
    'review',
    'prove',
    'fix',
    'quote',
  ],
];

test('each verb either says what it is about, or does not act on what its writer cannot have seen', () => {
  const acting = new Set(unseen.map(([command]) => command.split(' ')[0]));
  expect([...acting, ...ownWords].sort()).toEqual(Object.keys(verbs).sort());
});

test.each(unseen)('%s, written before that appeared (%#)', async (command, appears) => {
  const shop = await withTask();
  const { em } = shop;
  await appears(shop);
  const tables = ['runs', 'wizard_sessions', 'run_messages', 'sprint_history'];
  const state = async () =>
    Promise.all([
      ...tables.map((table) => em.query(`select * from ${table} order by 1`)),
      em.query('select id, sprint_id, status, description from tasks order by 1'),
    ]);
  const before = await state();
  await acme.say(400, 'ada', `/agent ${command}`, number, new Date(Date.now() - 60_000), { title: 't' });
  expect(await state()).toEqual(before);
  const [told] = await em.query('select notice from mirrored');
  const replies = asked.map(({ body }) => body.body);
  expect([told?.notice, ...replies].join()).toMatch(/after this command was written|changed in the meantime/);
});

test.each<['ada' | 'bob', boolean]>([
  ['bob', false],
  ['ada', true],
])('approve in the second in which %s changed the plan: %s', async (who, isApproved) => {
  const shop = await withTask();
  const tasks = [{ title: 'One', description: '', dependsOn: [] }];
  await planned('tasks_ready', { tasks })(shop);
  const second = new Date(Math.floor(Date.now() / 1000) * 1000 - 60_000);
  await shop.em.query('update wizard_sessions set updated_by = $1, updated_at = $2', [
    shop.ids[who],
    new Date(second.getTime() + 500),
  ]);
  await acme.say(400, 'ada', '/agent approve', number, second, { title: 't' });
  const [session] = await shop.em.query('select status from wizard_sessions');
  expect(session.status).toBe(isApproved ? 'finalized' : 'tasks_ready');
});
