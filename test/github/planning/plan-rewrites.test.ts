import type { App } from '../../../src/app.ts';
import { advancePlan } from '../../../src/github/planning/advance-plan.ts';
import { finalizeWizard } from '../../../src/planning/finalize.ts';
import { startWizard, wishForChange } from '../../../src/planning/operations.ts';
import { getSession } from '../../../src/planning/store.ts';
import { openPlanning } from '../../support/planning.ts';
import { planner, plans } from '../../support/stand-ins/planner.ts';

const given = await openPlanning({ ALLOW_PRIVATE_HOSTS: 'true', GITHUB_SERVER_URL: 'https://127.0.0.1:1' });
const { call, service } = given;
const userId: string = (await call('GET', '/me')).body.id;
let shownIn: string;
/** The body of the plan's comment. */
let comment = '';

beforeEach(async () => {
  comment = '';
  shownIn = await connect('open');
  await sql('update repositories set is_installed = true where id = $1', [shownIn]);
  await sql(`delete from installations`);
  await sql(
    `insert into installations (installation_id, account_login, account_id, account_type, status, project_id)
     values (7, 'o', 7, 'User', 'active', $1)`,
    [given.project],
  );
});

/** A client of GitHub that knows one issue, with the comments of the service. */
const octokit = {
  paginate: {
    async *iterator() {
      yield { data: [] };
    },
  },
  request: async (_route: string, { body }: { body: string }) => {
    comment = body;
  },
};
const app: App = {
  ...service.app,
  github: { bot: async () => ({ id: 1 }), asInstallation: async () => octokit } as never,
};
const sql = (text: string, values: unknown[] = []) => service.app.db.manager.query(text, values);
const wizard = (method: string, what: string, body?: unknown) =>
  call(method, `/projects/${given.project}/wizard/${what}`, body);
const connect = async (name: string): Promise<string> =>
  (await call('POST', '/repositories', { projectId: given.project, name, url: `https://127.0.0.1:1/o/${name}` })).body
    .id;
const session = (id: string) => getSession(app.db.manager, given.project, id);
const approve = async (id: string) => finalizeWizard(app, await session(id), userId, {});
const advance = (sessionId: string, goesOn = true) => advancePlan(app, { projectId: given.project, sessionId, goesOn });
/** Returns for each waiting job of a plan whether it continues the plan. The others only update the comment. */
const jobsOf = async (id: string): Promise<boolean[]> =>
  (await sql("select data from pgboss.job where name = 'plan' and data->>'sessionId' = $1", [id])).map(
    ({ data }: { data: { goesOn: boolean } }) => data.goesOn,
  );

const prd = { title: 'By hand', markdown: 'Greet everybody.' };
const plan = { phases: [{ name: 'Core', goal: 'Greet', reason: 'First' }] };
const task = { ref: 'a', title: 'Greet' };
const edit = async (id: string, parts: object) => {
  const { updatedAt } = (await wizard('GET', id)).body;
  return (await wizard('PATCH', id, { ...parts, updatedAt })).status;
};

/** Makes a plan of an issue whose parts are written. */
async function planned(): Promise<string> {
  const issue = { repositoryId: shownIn, number: 5 };
  const { id } = await startWizard(app, given.project, userId, {
    goal: 'g',
    repositoryIds: [],
    issue,
    isAskedLater: true,
  });
  await sql(`update wizard_sessions set status = 'answered' where id = $1`, [id]);
  expect(await edit(id, { prd, plan, tasks: [task] })).toBe(200);
  return id;
}

/** Makes such a plan, and a comment's request to rewrite it. */
async function wished(): Promise<string> {
  const id = await planned();
  await wishForChange(app, await session(id), { wish: 'Shorter', userId }, async () => {});
  await expect(approve(id)).rejects.toThrow('This plan is being rewritten.');
  return id;
}

test('a plan that a person edits while it is rewritten keeps the edit and can be approved', async () => {
  const id = await wished();
  given.meanwhile = async () => expect(await edit(id, { prd: { ...prd, title: 'Mine' } })).toBe(200);
  await advance(id);
  expect(await session(id)).toMatchObject({ status: 'tasks_ready', wish: null, prd: { title: 'Mine' } });
  expect(await jobsOf(id)).toEqual([]);
  await approve(id);
});

test('a requested rewrite still happens after somebody regenerated a part of the plan', async () => {
  const id = await wished();
  given.meanwhile = async () => expect((await wizard('POST', 'generate-prd', { sessionId: id })).status).toBe(200);
  await advance(id);
  expect(await session(id)).toMatchObject({ status: 'prd_ready', wish: 'Shorter' });
  expect(await jobsOf(id)).toEqual([true]);
  await advance(id);
  expect(await session(id)).toMatchObject({ status: 'tasks_ready', wish: null, prd: plans.write_prd });
  await approve(id);
});

test('when the model cannot rewrite a plan, the comment says why and the plan can be approved as it was', async () => {
  const id = await wished();
  given.says = () => ({ status: 400, body: '{"error":{"message":"no credit"}}' });
  await advance(id);
  expect(comment).toContain('The plan could not be continued: The model');
  expect(comment).toContain('approve` creates a sprint');
  expect(await session(id)).toMatchObject({ status: 'tasks_ready', wish: null, prd });
  await approve(id);
});

test('a rewrite that fails half-way keeps the wish, and the next `plan` continues with it', async () => {
  const id = await wished();
  given.meanwhile = async () => {
    given.meanwhile = async () => {
      given.says = () => ({ status: 400, body: '{}' });
    };
  };
  await advance(id);
  expect(comment).toContain('The plan could not be continued');
  // No other job removes the reason from the comment.
  expect(await jobsOf(id)).toEqual([]);
  expect(await session(id)).toMatchObject({ status: 'prd_ready', wish: 'Shorter' });
  given.says = planner;
  await advance(id);
  expect(await session(id)).toMatchObject({ status: 'tasks_ready', wish: null });
});

test('a plan that is deleted while it is rewritten stays deleted', async () => {
  const id = await wished();
  given.meanwhile = async () => expect((await wizard('DELETE', id)).status).toBe(204);
  await advance(id);
  expect((await wizard('GET', id)).status).toBe(404);
});

test('a public issue does not learn the name of a private repository that a task was given to', async () => {
  const id = await planned();
  const [open, secret] = [await connect('website'), await connect('secret')];
  await sql('update repositories set is_private = (id = $1) where project_id = $2', [secret, given.project]);
  const tasks = [
    { ...task, repositoryId: open },
    { ...task, ref: 'b', repositoryId: secret },
  ];
  expect(await edit(id, { tasks })).toBe(200);
  await advance(id, false);
  expect(comment).toContain('`a` Greet, in website');
  expect(comment).toContain('`b` Greet');
  expect(comment).not.toContain('secret');
  // In a private repository the name helps.
  await sql('update repositories set is_private = true where id = $1', [shownIn]);
  await advance(id, false);
  expect(comment).toContain('`b` Greet, in secret');
});
