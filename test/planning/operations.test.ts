import type { App } from '../../src/app.ts';
import { listAuditRecords } from '../../src/audit/records.ts';
import { answerWizard, askNext, currentStep, startWizard, wishForChange } from '../../src/planning/operations.ts';
import { getSession, type Session } from '../../src/planning/store.ts';
import { openTestApp, type TestApp } from '../support/app.ts';

let service: TestApp;
let userId: string;
let projectId: string;
let repositoryId: string;
const sql = (text: string) => service.app.db.manager.query(text);

beforeAll(async () => {
  service = await openTestApp({ ALLOW_PRIVATE_HOSTS: 'true' });
  const token = await service.token('octocat');
  const made = async (path: string, body: object) => (await service.call('POST', path, { token, body })).body.id;
  projectId = await made('/projects', { name: 'P' });
  repositoryId = await made('/repositories', { projectId, name: 'r', url: 'https://127.0.0.1:1/o/r' });
  userId = (await service.call('GET', '/me', { token })).body.id;
});
afterAll(() => service.close());

const begin = (more: Partial<Parameters<typeof startWizard>[3]> = {}) =>
  startWizard(service.app, projectId, userId, { goal: 'g', ...more });
const answer = (session: Session, also?: Parameters<typeof answerWizard>[4], app = service.app) => {
  const stepId = currentStep(session)?.id ?? '';
  return answerWizard(app, session, { stepId, selectedOptionIds: [], customText: 'x' }, {}, also);
};
const planJobs = () => sql(`select data, singleton_key as key from pgboss.job where name = 'plan'`);

test('a session plans for the repository that was given, or else for the primary one', async () => {
  await sql('update repositories set is_primary = true');
  expect((await begin()).repositoryIds).toEqual([repositoryId]);
  await sql('update repositories set is_primary = false');
  expect((await begin({ repositoryId })).repositoryIds).toEqual([repositoryId]);
  expect((await begin()).repositoryIds).toEqual([]);
  await expect(begin({ repositoryId: 'repo_x' })).rejects.toMatchObject({ status: 400 });
});

test('a session needs a member of the project, unless it begins without a question', async () => {
  const stranger = (await service.call('GET', '/me', { token: await service.token('hubot') })).body.id;
  const start = (isAskedLater: boolean) => startWizard(service.app, projectId, stranger, { goal: 'g', isAskedLater });
  await expect(start(false)).rejects.toMatchObject({ status: 403 });
  expect(await start(true)).toMatchObject({ steps: [], createdBy: stranger });
});

test('the next question is for a member, unless it is asked later', async () => {
  const stranger = (await service.call('GET', '/me', { token: await service.token('hubot') })).body.id;
  const session = await begin();
  const given = { stepId: currentStep(session)?.id ?? '', selectedOptionIds: [], customText: 'x' };
  const answerBy = (isAskedLater: boolean) =>
    answerWizard(service.app, { ...session }, given, { answeredBy: stranger, isAskedLater });
  await expect(answerBy(false)).rejects.toMatchObject({ status: 403 });
  expect(await answerBy(true)).toMatchObject({ id: session.id });
});

test('what changes together with a session is committed with it, or neither is', async () => {
  const count = async () => (await sql('select count(*)::int as n from wizard_sessions'))[0].n;
  const before = await count();
  const fails = async () => {
    throw new Error('no');
  };
  await expect(startWizard(service.app, projectId, userId, { goal: 'g' }, fails)).rejects.toThrow('no');
  expect(await count()).toBe(before);
  const seen: string[] = [];
  const session = await startWizard(service.app, projectId, userId, { goal: 'g' }, async (em, id) => {
    seen.push((await getSession(em, projectId, id)).id);
  });
  await expect(answer({ ...session }, fails)).rejects.toThrow('no');
  expect((await getSession(service.app.db.manager, projectId, session.id)).steps).toHaveLength(1);
  await answer(session, async (em, id) => {
    seen.push(`${(await getSession(em, projectId, id)).steps.length} steps of ${id}`);
  });
  expect(seen).toEqual([session.id, `2 steps of ${session.id}`]);
});

test('a plan made in an issue is shown there after each answer, any other nowhere', async () => {
  // Whether GitHub is connected matters, but it must not be asked.
  const connected = { ...service.app, github: {} } as App;
  await answer(await begin(), undefined, connected);
  const session = await begin({ issue: { repositoryId, number: 7 } });
  await answer(session);
  expect(await planJobs()).toEqual([]);
  await answer(session, undefined, connected);
  const data = { projectId, sessionId: session.id, goesOn: false };
  expect(await planJobs()).toEqual([{ data, key: session.id }]);
});

/** Does something as an operation of the user, and returns its record in the audit log of the project. */
async function recordOf(act: () => Promise<unknown>) {
  const object = { type: 'wizard' as const, id: 'unknown', projectId };
  await service.app.audit.during({ userId, via: 'token', action: 'wizard.start', object }, act);
  const [record] = await listAuditRecords(service.app.db.manager, projectId, { limit: 1, offset: 0 });
  return record;
}

test('the audit log has the goal, the answers and the wishes of a session', async () => {
  let session = {} as Session;
  const started = await recordOf(async () => {
    session = await begin({ goal: 'Greet people' });
  });
  expect(started).toMatchObject({
    object: { type: 'wizard', id: session.id },
    detail: { goal: [null, 'Greet people'] },
  });
  const step = currentStep(session)?.id ?? '';
  expect((await recordOf(() => answer(session)))?.detail).toEqual({ [step]: [null, 'x'] });
  const again = { stepId: step, selectedOptionIds: [session.steps[0]?.options[0]?.id ?? ''], customText: 'y' };
  const corrected = await recordOf(async () => {
    await answerWizard(service.app, session, again);
  });
  expect(corrected?.detail).toEqual({ [step]: ['x', `${session.steps[0]?.options[0]?.label}; y`] });
  const wished = await recordOf(() => wishForChange(service.app, session, { wish: 'Shorter', userId }, async () => {}));
  expect(wished?.detail).toEqual({ wish: [null, 'Shorter'] });
});

const stored = ({ id }: Session) => getSession(service.app.db.manager, projectId, id);

test('a wish is stored together with what else is written', async () => {
  const session = await begin();
  await wishForChange(service.app, session, { wish: 'Shorter', userId }, async (em, id) => {
    expect((await getSession(em, projectId, id)).wish).toBe('Shorter');
  });
  expect((await stored(session)).wish).toBe('Shorter');
});

test('the next question of a session is asked once it has no open one, until enough is known', async () => {
  const session = await begin({ isAskedLater: true });
  expect(session.steps).toEqual([]);
  expect(await askNext(service.app, session)).toBe(true);
  expect((await stored(session)).steps).toHaveLength(1);
  expect(await askNext(service.app, session)).toBe(false);
  expect((await stored(session)).steps).toHaveLength(1);
  for (let questions = 1; currentStep(session) !== undefined; questions++) {
    const stepId = currentStep(session)?.id ?? '';
    const given = { stepId, selectedOptionIds: [], customText: 'x' };
    await answerWizard(service.app, session, given, { isAskedLater: true });
    expect(await askNext(service.app, session)).toBe(questions < 5);
  }
  expect(await stored(session)).toMatchObject({ status: 'answered' });
});

test('the refusal of an unknown step names the open one', async () => {
  const session = await begin();
  const unknown = (of: Session) =>
    answerWizard(service.app, of, { stepId: 'nope', selectedOptionIds: [], customText: 'x' });
  await expect(unknown(session)).rejects.toThrow(`the open step is ${currentStep(session)?.id}`);
  await expect(unknown(await begin({ isAskedLater: true }))).rejects.toThrow('no step is open');
});
