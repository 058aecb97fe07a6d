import { openTestApp, type TestApp } from '../support/app.ts';

let service: TestApp;
let token: string;
let project: string;
const call = (method: string, path: string, body?: unknown) =>
  service.call(method, path, { token, ...(body === undefined ? {} : { body }) });
const sql = (text: string, values: unknown[] = []) => service.app.db.manager.query(text, values);
const onboarding = async () => (await call('GET', `/projects/${project}/onboarding`)).body;
const connect = async (name: string, more: object = {}): Promise<string> => {
  const repository = { projectId: project, name, url: `https://127.0.0.1:1/o/${name}`, ...more };
  return (await call('POST', '/repositories', repository)).body.id;
};

beforeAll(async () => {
  service = await openTestApp({ ALLOW_PRIVATE_HOSTS: 'true' });
  token = await service.token('octocat');
});
beforeEach(async () => {
  await sql('delete from installations');
  project = (await call('POST', '/projects', { name: 'P' })).body.id;
});
afterAll(() => service.close());

test('a step of the checklist is done as soon as what it asks for exists', async () => {
  const ahead = {
    hasGitAccess: false,
    repositoryId: null,
    isEnvironmentTried: false,
    hasModel: false,
    hasDoneTask: false,
  };
  expect(await onboarding()).toEqual(ahead);
  await call('POST', `/projects/${project}/git-token`, { token: 'ghp_x' });
  const first = await connect('first', { isPrimary: false });
  expect(await onboarding()).toEqual({ ...ahead, hasGitAccess: true, repositoryId: first });
  const primary = await connect('primary', { isPrimary: true });
  expect((await onboarding()).repositoryId).toBe(primary);
  const trial = `insert into environment_trials (id, repository_id, status, finished_at) values ($1, $2, $3, now())`;
  await sql(trial, ['trial_1', first, 'failed']);
  expect((await onboarding()).isEnvironmentTried).toBe(false);
  await sql(trial, ['trial_2', first, 'ready']);
  expect((await onboarding()).isEnvironmentTried).toBe(true);
  // A key without a model is not enough.
  await call('POST', `/projects/${project}/model-token`, { token: 'sk-x' });
  expect((await onboarding()).hasModel).toBe(false);
  const [agent] = (await call('GET', `/agents?projectId=${project}`)).body;
  await call('PATCH', `/agents/${agent.id}`, { model: 'm' });
  expect((await onboarding()).hasModel).toBe(true);
  const { id } = (await call('POST', `/projects/${project}/tasks`, { title: 't' })).body;
  expect((await onboarding()).hasDoneTask).toBe(false);
  await call('PATCH', `/tasks/${id}`, { status: 'done' });
  expect(Object.values(await onboarding())).toEqual([true, primary, true, true, true]);
});

test('an installed App counts as access to git, also the App of another account', async () => {
  const setStatus = (status: string) =>
    sql(
      `insert into installations (installation_id, account_login, account_id, account_type, status, project_id)
       values (7, 'o', 7, 'User', $2, $1) on conflict (account_id) do update set status = $2`,
      [project, status],
    );
  const repository = await connect('r');
  expect((await onboarding()).hasGitAccess).toBe(false);
  // Another account's installation has read the repository.
  await sql('update repositories set github_id = 1 where id = $1', [repository]);
  expect((await onboarding()).hasGitAccess).toBe(true);
  await setStatus('suspended');
  expect((await onboarding()).hasGitAccess).toBe(false);
  await setStatus('active');
  expect((await onboarding()).hasGitAccess).toBe(true);
});

test('a model and a key of the service are enough for the step of the model', async () => {
  const other = await openTestApp({ OPENAI_API_KEY: 'sk-x', OPENAI_MODEL: 'm' });
  const as = { token: await other.token('octocat') };
  const { id } = (await other.call('POST', '/projects', { ...as, body: { name: 'P' } })).body;
  expect((await other.call('GET', `/projects/${id}/onboarding`, as)).body.hasModel).toBe(true);
  await other.close();
});
