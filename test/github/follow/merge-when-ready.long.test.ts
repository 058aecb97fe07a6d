import { openTestApp, type TestApp } from '../../support/app.ts';
import { appSettings } from '../../support/github-app.ts';
import { type FakeGitHub, openFakeGitHub } from '../../support/stand-ins/fake-github.ts';

let github: FakeGitHub;
let service: TestApp;
let token: string;
let projectId: string;
let repository: string;

/** The pull request as this GitHub has it. */
const calm = () => ({
  ...{ hasQueue: true, isQueued: false, times: 0, stops: 0 },
  refusal: undefined as string | undefined,
  isHidden: false,
});
let pull = calm();
/** How many requests are answered before one is lost, and whether GitHub carries that one out. */
let losing: { after: number; isDone: boolean } | undefined;
const head = 'c'.repeat(40);

function graphql(query: string): object {
  if (query.includes('enqueuePullRequest')) {
    if (pull.refusal !== undefined) return { data: null, errors: [{ type: 'UNPROCESSABLE', message: pull.refusal }] };
    if (pull.isQueued) return { data: null, errors: [{ type: 'UNPROCESSABLE', message: 'is already queued' }] };
    Object.assign(pull, { isQueued: true, times: pull.times + 1 });
    return { data: { enqueuePullRequest: { mergeQueueEntry: { id: 'MQE' } } } };
  }
  if (query.includes('enablePullRequestAutoMerge'))
    return {
      data: null,
      errors: [{ type: 'UNPROCESSABLE', message: 'Auto merge is not allowed for this repository' }],
    };
  if (query.includes('dequeuePullRequest')) {
    Object.assign(pull, { isQueued: false, stops: pull.stops + 1 });
    // GitHub reports failures of what it has done.
    return { data: { dequeuePullRequest: null }, errors: [{ type: 'UNPROCESSABLE', message: 'Failed to remove PR' }] };
  }
  if (pull.isHidden)
    return {
      data: { repository: { pullRequest: null } },
      errors: [{ type: 'FORBIDDEN', message: 'Resource not accessible by integration' }],
    };
  const entry = pull.isQueued ? { enqueuedAt: '2026-11-24T10:00:00Z', state: 'QUEUED' } : null;
  const shown = {
    ...{
      id: 'PR_1',
      headRefOid: head,
      baseRefName: 'main',
      mergeStateStatus: 'CLEAN',
      isMergeQueueEnabled: pull.hasQueue,
    },
    ...{ autoMergeRequest: null, mergeQueueEntry: entry, timelineItems: { nodes: [] } },
  };
  return { data: { repository: { pullRequest: shown } } };
}

beforeAll(async () => {
  let body = '';
  github = await openFakeGitHub(
    [
      [/^GET \/app\/installations/, () => []],
      [/^GET \/users\/ada$/, () => ({ id: 1, login: 'ada', type: 'User', avatar_url: '' })],
      [
        /^(GET|POST|PUT) (\S+)/,
        ([, method, path = ''], res) => {
          const isLost = losing !== undefined && losing.after-- === 0;
          const answer = isLost && losing?.isDone === false ? {} : answerTo(method ?? '', path, body);
          if (isLost) {
            losing = undefined;
            res.statusCode = 502;
            return { message: 'lost' };
          }
          return answer;
        },
      ],
    ],
    (_req, given) => {
      body = given;
    },
  );
  service = await openTestApp(appSettings(github.url));
  token = await service.token('ada');
  const post = async (path: string, more: object) => (await service.call('POST', path, { token, body: more })).body;
  projectId = (await post('/projects', { name: 'P' })).id;
  await post(`/projects/${projectId}/git-token`, { token: 'ghp_x' });
  repository = (await post('/repositories', { projectId, name: 'r', url: `${github.url}/o/r` })).id;
});
afterAll(async () => {
  await service.close();
  github.close();
});
beforeEach(() => {
  pull = calm();
  losing = undefined;
});

function answerTo(method: string, path: string, body: string): unknown {
  if (path === '/graphql') return graphql(JSON.parse(body).query);
  if (path.endsWith('/pulls/7'))
    return {
      ...{ number: 7, state: 'open', merged_at: null, mergeable: true, mergeable_state: 'clean', additions: 1 },
      ...{ auto_merge: null, head: { sha: head, ref: 'agent/x' }, base: { sha: 'b'.repeat(40), ref: 'main' } },
    };
  return path === '/repos/o/r' && method === 'GET' ? { id: 1, private: false } : undefined;
}

const sql = (text: string, values: unknown[] = []) => service.app.db.manager.query(text, values);

async function inReview(): Promise<string> {
  const made = await service.call('POST', `/projects/${projectId}/tasks`, { token, body: { title: 'T' } });
  const id = made.body.id as string;
  await sql(`update tasks set status = 'in_review' where id = $1`, [id]);
  await sql('delete from pull_requests');
  await sql(
    `insert into pull_requests (task_id, repository_id, number, url, status, head_branch, head_sha)
     values ($1, $2, 7, $3, 'open', 'agent/x', $4)`,
    [id, repository, `${github.url}/o/r/pull/7`, head],
  );
  return id;
}
const ask = (id: string, key?: string) =>
  service.call('POST', `/tasks/${id}/merge`, {
    token,
    body: { when: 'ready' },
    ...(key === undefined ? {} : { headers: { 'Idempotency-Key': key } }),
  });
const actions = async (id: string): Promise<string[]> =>
  (
    await sql(`select action from audit_records where object_id = $1 and action like '%merg%' order by number`, [id])
  ).map((each: { action: string }) => each.action);

const steps = Array.from({ length: 8 }, (_, i) => i);
test.each(
  steps.flatMap((step) => [[step, false] as const, [step, true] as const]),
)('when answer %i is lost, done: %s, the same request asked again queues it once, with one record', async (after, isDone) => {
  const id = await inReview();
  losing = { after, isDone };
  for (let tries = 0; tries < 4; tries++) if ((await ask(id, `key ${after} ${isDone}`)).status === 202) break;
  const { merging } = (await service.call('GET', `/tasks/${id}`, { token })).body;
  expect([merging?.state, pull.times]).toEqual(['queued', 1]);
  expect(await actions(id)).toEqual(['task.merge']);
});

test('taking it back believes what GitHub shows, not what it reports', async () => {
  const id = await inReview();
  const stop = () => service.call('DELETE', `/tasks/${id}/merge`, { token });
  expect((await stop()).status).toBe(409);
  await ask(id);
  expect((await stop()).status).toBe(204);
  expect([pull.isQueued, pull.stops]).toEqual([false, 1]);
  expect(await actions(id)).toEqual(['task.merge', 'task.stop_merging']);
});

test('a queue that refuses is answered with the reason and a remedy', async () => {
  const id = await inReview();
  pull.refusal = 'Pull request is not mergeable';
  const { status, body } = await ask(id);
  expect([status, body.message]).toEqual([409, expect.stringMatching(/does not allow auto-merge/)]);
  expect((await service.call('GET', `/tasks/${id}`, { token })).body.merging).toBeNull();
});

test('that GitHub does not say what it does to merge a pull request is answered with its reason', async () => {
  const id = await inReview();
  pull.isHidden = true;
  const reason = expect.stringMatching(/does not say .*pull\/7.*: .*Resource not accessible by integration/);
  expect(await ask(id)).toMatchObject({ status: 409, body: { message: reason } });
  pull.isHidden = false;
  await ask(id);
  pull.isHidden = true;
  const stopped = await service.call('DELETE', `/tasks/${id}/merge`, { token });
  expect(stopped).toMatchObject({ status: 409, body: { message: reason } });
});
