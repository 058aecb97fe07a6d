import type { App } from '../../../src/app.ts';
import { StaysReady, withdrawPull } from '../../../src/worker/publish/withdraw.ts';
import type { Work } from '../../../src/worker/work.ts';

const idle = { id: 'PR', headRefOid: 'a', mergeStateStatus: 'CLEAN', isMergeQueueEnabled: true, timelineItems: {} };
const notMerging = { repository: { pullRequest: { ...idle, autoMergeRequest: null, mergeQueueEntry: null } } };
const refused = (type: string | undefined, message: string) =>
  Object.assign(new Error(message), { name: 'GraphqlResponseError', errors: [{ type, message }] });
const noField = refused(undefined, "Field 'isMergeQueueEnabled' doesn't exist on type 'PullRequest'");
const noGraphql = Object.assign(new Error('Not Found'), { name: 'HttpError', status: 404, response: { headers: {} } });

const listing = 'GET /repos/{owner}/{repo}/pulls';
/** A pull request of the branch, as GitHub lists it. */
const listed = (number: number) => ({
  ...{ number, html_url: `https://github.com/acme/r/pull/${number}`, state: 'open', node_id: `PR_${number}` },
  ...{ head: { ref: 'agent/x', sha: 'a', repo: { id: 1 } }, base: { ref: 'release', repo: { id: 1 } } },
});

/**
 * Withdraws a pull request before a push, where GitHub answers so, and nothing is known of a merge. `open` are the numbers of
 * the open pull requests of the branch.
 */
function withdraw(
  graphql: (query: string, about: { number?: number }) => unknown,
  autoMerge: object | null,
  open = [2],
) {
  const asked: string[] = [];
  const notes: string[] = [];
  const octokit = {
    graphql: async (query: string, about: { number?: number }) => {
      asked.push('graphql');
      return graphql(query, about);
    },
    request: async (route: string) => {
      asked.push(route);
      return { headers: {}, data: route === listing ? open.map(listed) : { auto_merge: autoMerge } };
    },
  };
  const em = {
    query: async () => [
      { number: 1, status: 'merged', headBranch: 'agent/x' },
      { number: 2, status: 'open', headBranch: 'agent/x' },
      { number: 3, status: 'open', headBranch: 'agent/y' },
    ],
    findBy: async () => em.query(),
    find: async () => em.query(),
    findOneBy: async () => null,
  };
  const app = { githubWithToken: () => octokit, db: { manager: em } } as unknown as App;
  const work = {
    credential: { kind: 'git-token', token: 't', owner: 'acme', repo: 'r' },
    branch: { name: 'agent/x', continues: true },
    task: { id: 'task_1', repositoryId: 'repo_1' },
    repository: { id: 'repo_1' },
    journal: { recall: async () => undefined, note: async (_type: string, text: string) => notes.push(text) },
    signal: new AbortController().signal,
    retrying: (act: () => Promise<unknown>) => act(),
    settings: { checks: [] },
  } as unknown as Work;
  return { asked, notes, done: withdrawPull(app, work, true) };
}
const failing = (error: Error) => () => {
  throw error;
};

test('before a push, GitHub is asked about the open pull requests of the branch', async () => {
  const { asked, done } = withdraw(() => notMerging, null);
  await done;
  expect(asked).toEqual(['graphql', listing]);
});

test('nothing is pushed while GitHub does not say whether it merges', async () => {
  for (const error of [refused('FORBIDDEN', 'Resource not accessible'), new Error('lost')]) {
    const { done } = withdraw(failing(error), null);
    await expect(done).rejects.toThrow(`nothing was pushed, because GitHub may merge the pull request`);
    await expect(done).rejects.toBeInstanceOf(StaysReady);
  }
});

test('where a host has no merge queue, only auto-merge stops a push', async () => {
  for (const error of [noField, noGraphql]) {
    const { asked, done } = withdraw(failing(error), null);
    await done;
    expect(asked).toEqual(['graphql', 'GET /repos/{owner}/{repo}/pulls/{pull_number}', listing]);
    await expect(withdraw(failing(error), {}).done).rejects.toThrow('Turn auto-merge off there');
  }
});

test('the merges of pull requests that somebody else opened from the branch are taken back, too', async () => {
  const waiting = new Set([5, 6]);
  const pullOf = (number: number) => ({
    ...notMerging.repository.pullRequest,
    ...{ id: String(number), autoMergeRequest: waiting.has(number) ? { enabledAt: null } : null },
  });
  const github = (query: string, { number = 0, id }: { number?: number; id?: string }) => {
    if (!query.includes('disablePullRequestAutoMerge')) return { repository: { pullRequest: pullOf(number) } };
    waiting.delete(Number(id));
    return {};
  };
  const { notes, done } = withdraw(github, null, [2, 5, 6]);
  await done;
  expect([...waiting]).toEqual([]);
  expect(notes).toEqual(
    [5, 6].map((number) => expect.stringContaining(`took back the merge of https://github.com/acme/r/pull/${number}`)),
  );
});

test('nothing is pushed while GitHub does not list the pull requests of the branch', async () => {
  const refusing = withdraw(() => notMerging, null, { map: failing(new Error('lost')) } as never);
  await expect(refusing.done).rejects.toThrow('nothing was pushed, because GitHub may merge the pull request');
});
