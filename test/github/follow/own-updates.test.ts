import type { App, Octokit } from '../../../src/app.ts';
import { isOwnUpdate } from '../../../src/github/follow/merging/update-branch.ts';

const [agreed, updated, merged, tip] = ['a', 'b', 'c', 'd'].map((each) => each.repeat(40)) as [
  string,
  string,
  string,
  string,
];
const update = { from: agreed, to: updated, base: 'main', head: 'agent/x' };
const bot = { id: 7, login: 'deckhand[bot]' };
const made = {
  message: "Merge branch 'main' into agent/x",
  author: { email: '7+deckhand[bot]@users.noreply.github.com' },
  committer: { name: 'GitHub', email: 'noreply@github.com' } as { name: string | null; email: string } | null,
  signature: { isValid: true, wasSignedByGitHub: true } as object | null,
  parents: { nodes: [{ oid: agreed }, { oid: merged }] as object[] },
};

/** Asks about a commit that GitHub shows like this. */
async function judged(
  object: object | null,
  { status = 'behind', ref = { target: { oid: tip } } as object | null } = {},
) {
  const asked: unknown[] = [];
  const octokit = {
    graphql: async (_query: string, { sha, base }: Record<string, string>) => {
      asked.push(sha, base);
      return { repository: { object, ref } };
    },
    request: async (_path: string, { basehead }: { basehead: string }) => {
      asked.push(basehead);
      return { data: { status } };
    },
  } as unknown as Octokit;
  const app = { github: { bot: async () => bot } } as unknown as App;
  return { is: await isOwnUpdate(app, octokit, { owner: 'o', repo: 'r' }, update), asked };
}

test('a merge of the base that GitHub made for our bot is an update, and the base is the branch, not a tag', async () => {
  expect(await judged(made)).toEqual({ is: true, asked: [updated, 'refs/heads/main', `${tip}...${merged}`] });
  expect((await judged({ ...made, message: `${made.message}\n` }, { status: 'identical' })).is).toBe(true);
  const onServer = { name: 'GitHub Enterprise', email: 'noreply@git.example.com' };
  expect((await judged({ ...made, committer: onServer })).is).toBe(true);
});

test.each<[string, object | null]>([
  ['that GitHub does not show', null],
  ['with the trailer of runs', { ...made, message: `${made.message}\n\nTask: task_1` }],
  ['of another base', { ...made, message: "Merge branch 'evil' into agent/x" }],
  ['into another branch', { ...made, message: "Merge branch 'main' into agent/other" }],
  ['of somebody else', { ...made, author: { email: '17+deckhand[bot]@users.noreply.github.com' } }],
  ['committed by another', { ...made, committer: { name: 'mona', email: 'noreply@github.com' } }],
  ['committed by nobody', { ...made, committer: null }],
  ['without a signature', { ...made, signature: null }],
  ['with a signature that is not of GitHub', { ...made, signature: { isValid: true, wasSignedByGitHub: false } }],
  ['of another commit', { ...made, parents: { nodes: [{ oid: merged }, { oid: agreed }] } }],
  ['without a merge', { ...made, parents: { nodes: [{ oid: agreed }] } }],
  ['of three commits', { ...made, parents: { nodes: [{ oid: agreed }, { oid: merged }, { oid: tip }] } }],
])('a commit %s is no update', async (_what, object) => {
  expect((await judged(object)).is).toBe(false);
});

test.each([['ahead'], ['diverged']])('a merge of what is %s of the base is no update', async (status) => {
  expect((await judged(made, { status })).is).toBe(false);
});

test('nothing is an update when the base is gone', async () => {
  expect((await judged(made, { ref: null })).is).toBe(false);
});
