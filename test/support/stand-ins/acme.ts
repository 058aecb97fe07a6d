import { Repositories } from '../../../src/db/tables/project.ts';
import type { RunRow } from '../../../src/db/tables/run.ts';
import { syncInstallation } from '../../../src/github/app/installation.ts';
import { handleCommands } from '../../../src/github/commands/handle-commands.ts';
import { insertMember } from '../../../src/projects/member-store.ts';
import { type Journal, openJournal } from '../../../src/runs/journal.ts';
import { claimRun } from '../../../src/worker/lease/lease-store.ts';
import { openTestApp, type TestApp } from '../app.ts';
import { appSettings } from '../github-app.ts';
import type { FakeGitHub } from './fake-github.ts';
import { installations, openNamedGitHub, people, resetNames, shown, writers } from './named-github.ts';

/**
 * Call it once in a test file: opens a service, without workers, whose App is installed on two repositories of acme, `app`
 * and `secret`.
 */
export function openAcme() {
  const given = {} as { service: TestApp };
  let github: FakeGitHub;
  beforeAll(async () => {
    github = await openNamedGitHub();
    given.service = await openTestApp({ ...appSettings(github.url), OPENAI_API_KEY: 'sk-x', OPENAI_MODEL: 'm' });
  });
  beforeEach(async () => {
    resetNames();
    await syncInstallation(given.service.app, installations[0] as (typeof installations)[0], true);
  });
  afterAll(async () => {
    await given.service.close();
    github.close();
  });
  /** Handles a comment of a person on an issue of `acme/app`, by default one that was written a second later. `shows` changes the issue. */
  const say = (id: number, login: string, body: string, number = 1, writtenAt = aSecondLater(), shows: object = {}) =>
    handleCommands(given.service.app, {
      installationId: 1,
      repository: { id: 1, private: true, full_name: 'acme/app' },
      issue: {
        ...{ number, title: 'An issue', body: '', url: `${github.url}/acme/app/issues/${number}`, isPull: false },
        ...shows,
      },
      sender: shown(id, login),
      body,
      commentId: number * 1000,
      writtenAt: writtenAt.toISOString(),
    });
  return Object.assign(given, { say, twoPeople: () => twoPeople(given.service) });
}

/** People look for at least a second before they write. */
const aSecondLater = () => new Date(Date.now() + 1000);

/** ada may write to both repositories of acme, bob only to the one of the tasks. Both are members of the project. */
async function twoPeople(service: TestApp) {
  people.set(300, 'bob').set(400, 'ada');
  for (const pair of ['400 1', '400 2', '300 1']) writers.add(pair);
  const em = service.app.db.manager;
  const tokens = { ada: await service.token('ada'), bob: await service.token('bob') };
  const call = (who: keyof typeof tokens, method: string, path: string, body?: object) =>
    service.call(method, path, { token: tokens[who], body });
  const [{ projectId }]: [{ projectId: string }] = await em.query(
    'select project_id as "projectId" from installations where account_id = 7',
  );
  const [own, secret] = await Promise.all(
    [1, 2].map((githubId) => em.findOneByOrFail(Repositories, { githubId, projectId })),
  );
  if (own === undefined || secret === undefined) throw new Error('the repositories are not connected');
  const idOfUser = async (who: keyof typeof tokens): Promise<string> => (await call(who, 'GET', '/me')).body.id;
  const ids = { ada: await idOfUser('ada'), bob: await idOfUser('bob') };
  await em.query('delete from members where user_id = any($1)', [Object.values(ids)]);
  for (const userId of Object.values(ids)) await insertMember(em, { projectId, userId, role: 'admin', addedBy: null });
  const agents: { id: string }[] = (await call('ada', 'GET', `/agents?projectId=${projectId}`)).body;
  const task = async (who: keyof typeof tokens): Promise<string> => {
    // Of other tests, too, so that no other run is claimed.
    await em.query('delete from tasks');
    const body = { title: 't', owner: agents[0]?.id, repositoryId: own.id };
    return (await call(who, 'POST', `/projects/${projectId}/tasks`, body)).body.id;
  };
  /** Claims the run that somebody has started, as a worker does. */
  const claimed = async (): Promise<{ run: RunRow; journal: Journal }> => {
    const run = (await claimRun(em, 30))?.run as RunRow;
    return { run, journal: openJournal(service.app, run) };
  };
  return { em, call, own, secret, projectId, ids, agents, task, claimed };
}
