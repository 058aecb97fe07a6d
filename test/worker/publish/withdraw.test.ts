import type { App } from '../../../src/app.ts';
import { StaysReady, withdrawPull } from '../../../src/worker/publish/withdraw.ts';
import type { Work } from '../../../src/worker/work.ts';

const idle = { id: 'PR', headRefOid: 'a', mergeStateStatus: 'CLEAN', isMergeQueueEnabled: true, timelineItems: {} };
const notMerging = { repository: { pullRequest: { ...idle, autoMergeRequest: null, mergeQueueEntry: null } } };
const refused = (type: string | undefined, message: string) =>
  Object.assign(new Error(message), { name: 'GraphqlResponseError', errors: [{ type, message }] });
const noField = refused(undefined, "Field 'isMergeQueueEnabled' doesn't exist on type 'PullRequest'");
const noGraphql = Object.assign(new Error('Not Found'), { name: 'HttpError', status: 404, response: { headers: {} } });

/** Withdraws a pull request before a push, where GitHub answers so, and nothing is known of a merge. */
function withdraw(graphql: () => unknown, autoMerge: object | null) {
  const asked: string[] = [];
  const octokit = {
    graphql: async () => {
      asked.push('graphql');
      return graphql();
    },
    request: async (route: string) => {
      asked.push(route);
      return { data: { auto_merge: autoMerge } };
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
    journal: { recall: async () => undefined },
    signal: new AbortController().signal,
    retrying: (act: () => Promise<unknown>) => act(),
    settings: { checks: [] },
  } as unknown as Work;
  return { asked, done: withdrawPull(app, work, true) };
}
const failing = (error: Error) => () => {
  throw error;
};

test('before a push, GitHub is asked about the open pull requests of the branch', async () => {
  const { asked, done } = withdraw(() => notMerging, null);
  await done;
  expect(asked).toEqual(['graphql']);
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
    expect(asked).toEqual(['graphql', 'GET /repos/{owner}/{repo}/pulls/{pull_number}']);
    await expect(withdraw(failing(error), {}).done).rejects.toThrow('Turn auto-merge off there');
  }
});
