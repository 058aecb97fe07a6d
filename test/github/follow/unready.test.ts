import type { App, Octokit } from '../../../src/app.ts';
import type { PullRequestRow } from '../../../src/db/tables/task.ts';
import { lookAtHead, unreadyAfter } from '../../../src/github/follow/refresh-pull.ts';

const bot = '7+deckhand[bot]@users.noreply.github.com';
/** The commits of a repository: who made each, and what it follows. */
const commits: Record<string, [email: string, ...parents: string[]]> = {
  unchecked: ['somebody@example.com', 'base'],
  merge: [bot, 'unchecked', 'base2'],
  'second merge': [bot, 'merge', 'base3'],
  'of a run': ['deckhand@users.noreply.github.com', 'merge'],
  'of a person': ['mona@example.com', 'unchecked'],
  'merge of that': [bot, 'of a person', 'base2'],
  'first of the branch': [bot],
  'merge on it': [bot, 'of a run', 'base3'],
  'of a deleted task': [bot, 'base'],
};
const octokit = {
  request: async (_path: string, { commit_sha: sha }: { commit_sha: string }) => {
    const [email, ...parents] = commits[sha] ?? [];
    if (email === undefined) throw Object.assign(new Error('Not Found'), { status: 404 });
    return { data: { sha, author: { email }, parents: parents.map((parent) => ({ sha: parent })) } };
  },
} as unknown as Octokit;
const app = {
  github: { bot: async () => ({ id: 7, login: 'deckhand[bot]' }) },
  db: {
    manager: {
      query: async (_sql: string, [sha, task]: [string, string | null]) =>
        sha === 'of a run' && task !== 'another' ? [{}] : [],
    },
  },
} as unknown as App;

const look = (pull: PullRequestRow, headSha: string) =>
  lookAtHead(app, octokit, { owner: 'o', repo: 'r' }, pull, headSha);

test.each([
  ['merge', true],
  ['second merge', true],
  ['of a run', true],
  ['of a person', false],
  ['merge of that', false],
  ['first of the branch', false],
  ['gone', false],
])('a head that is %s on top of a commit that is not ready: %s', async (headSha, isStill) => {
  const pull = { taskId: 't', headSha: 'unchecked', unreadySha: 'unchecked' } as PullRequestRow;
  expect((await look(pull, headSha)).isStill).toBe(isStill);
  expect((await look({ ...pull, unreadySha: null }, headSha)).isStill).toBe(false);
});

test.each([
  ['of a run', 't', false],
  ['of a run', 'another', true],
  ['merge on it', 'another', true],
  ['of a deleted task', 't', true],
  ['merge', 't', false],
  ['of a person', 't', false],
  ['merge of that', 't', false],
  ['gone', 't', false],
])('a head that is %s is one of another task than %s: %s', async (headSha, taskId, isOther) => {
  const pull = { taskId, headSha: 'unchecked', unreadySha: null } as PullRequestRow;
  for (const unreadySha of [null, 'gone'])
    expect((await look({ ...pull, unreadySha }, headSha)).isOfOther).toBe(isOther);
  expect((await look({ ...pull, headSha }, headSha)).isOfOther).toBe(false);
});

test('a long chain of our merges is not ready, because its beginning is not read', async () => {
  for (let i = 0; i < 25; i++) commits[`m${i}`] = [bot, `m${i + 1}`, 'base2'];
  const pull = { taskId: 't', headSha: 'unchecked', unreadySha: 'unchecked' } as PullRequestRow;
  expect(await look(pull, 'm0')).toEqual({ isStill: true, isOfOther: true });
  expect(await look({ ...pull, unreadySha: null }, 'm0')).toEqual({ isStill: false, isOfOther: true });
});

test('only a mark of a person lifts that the head is not ready, and not while it moves to another base', () => {
  const none = { isStill: false, wasUnready: false, isUnproved: false, merge: undefined };
  const now = { status: 'open' as const, headSha: 'h', ...none };
  const open = { status: 'open' as const, headSha: 'h', unreadySha: 'h' };
  const draft = { ...open, status: 'draft' as const };
  const merge = { from: 'h', to: 'm' };
  expect(unreadyAfter(open, now)).toBe('h');
  expect(unreadyAfter(open, { ...now, merge })).toBe('m');
  expect(unreadyAfter(open, { ...now, merge: { from: 'by a person', to: 'm' } })).toBe('h');
  expect(unreadyAfter({ ...open, unreadySha: null }, { ...now, merge })).toBeNull();
  expect(unreadyAfter({ ...open, unreadySha: 'before' }, { ...now, isStill: true, merge })).toBe('m');
  expect(unreadyAfter({ ...open, unreadySha: null }, { ...now, wasUnready: true })).toBe('h');
  expect(unreadyAfter(draft, now)).toBeNull();
  // The person looked at another commit. This one was pushed since.
  expect(unreadyAfter({ ...draft, headSha: 'before' }, now)).toBe('h');
  expect(unreadyAfter(draft, { ...now, merge })).toBeNull();
  expect(unreadyAfter(draft, { ...now, isUnproved: true })).toBe('h');
  expect(unreadyAfter({ ...open, unreadySha: null }, { ...now, isUnproved: true, merge })).toBe('m');
});
