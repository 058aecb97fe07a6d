import type { Octokit } from '../../../src/app.ts';
import { addAll } from '../../../src/worker/publish/pull-details.ts';

const wanted = {
  labels: ['Bot', 'agent'],
  assignees: ['mona', 'ghost'],
  reviewers: ['mona', 'deckhand[bot]', 'Acme/core', 'other/team'],
  draft: 'auto' as const,
};

interface Pull {
  labels: { name: string }[];
  assignees: { login: string }[];
  requested_reviewers: { login: string }[];
  requested_teams: { slug: string }[];
  body: string;
}

/** A GitHub with one pull request. It dies in the middle of the write that `dies` counts, after that took effect. */
function githubWith({ dies = 0 }: { dies?: number } = {}) {
  const pull: Pull = { labels: [], assignees: [], requested_reviewers: [], requested_teams: [], body: 'text' };
  const writes: string[] = [];
  const refuse = (status: number) => Promise.reject(Object.assign(new Error('refused'), { status }));
  const acts: Record<string, (given: Record<string, unknown>) => unknown> = {
    labels: ({ labels }) => pull.labels.push(...(labels as string[]).map((name) => ({ name }))),
    assignees: ({ assignees }) => {
      if ((assignees as string[]).includes('ghost')) return refuse(404);
      pull.assignees.push(...(assignees as string[]).map((login) => ({ login })));
    },
    requested_reviewers: ({ reviewers, team_reviewers }) => {
      if ((reviewers as string[]).some((login) => login !== 'mona')) return refuse(422);
      pull.requested_reviewers.push(...(reviewers as string[]).map((login) => ({ login })));
      pull.requested_teams.push(...(team_reviewers as string[]).map((slug) => ({ slug })));
    },
    '{pull_number}': ({ body }) => Object.assign(pull, { body }),
  };
  const request = async (route: string, given: Record<string, unknown>) => {
    if (!route.startsWith('GET ')) {
      await acts[route.slice(route.lastIndexOf('/') + 1)]?.(given);
      if (writes.push(route) === dies) throw new Error('killed');
    }
    return { data: structuredClone(pull) };
  };
  return { octokit: { request } as unknown as Octokit, pull, writes };
}

const place = { owner: 'acme', repo: 'r', number: 7, request: { signal: new AbortController().signal } };

test('what GitHub refuses is left out one by one, and named', async () => {
  const { octokit, pull } = githubWith();
  const left = await addAll(octokit, place, wanted);
  expect(left).toEqual([
    'the assignee ghost, whom GitHub does not let be assigned here',
    'the reviewer other/team, a team of another organization',
    'the reviewer deckhand[bot], whom GitHub does not accept here',
  ]);
  expect(pull).toEqual({
    labels: [{ name: 'Bot' }, { name: 'agent' }],
    assignees: [{ login: 'mona' }],
    requested_reviewers: [{ login: 'mona' }],
    requested_teams: [{ slug: 'core' }],
    body: `text\n\n> [!NOTE]\n> This pull request goes without ${left.join('; ')}.`,
  });
});

test.each([1, 2, 3, 4, 5])('a worker killed after write %i leaves nothing that the next one doubles', async (dies) => {
  const { octokit, pull, writes } = githubWith({ dies });
  await expect(addAll(octokit, place, wanted)).rejects.toThrow('killed');
  await addAll(octokit, place, wanted);
  const whole = githubWith();
  await addAll(whole.octokit, place, wanted);
  expect(pull).toEqual(whole.pull);
  expect(writes).toHaveLength(5);
});

test('the note stands inside the folded part below a template', async () => {
  const { octokit, pull } = githubWith();
  pull.body = 'text\n\n<details><summary>Deckhand</summary>\n\nx\n\n</details>';
  await addAll(octokit, place, { ...wanted, labels: [], assignees: [], reviewers: ['other/team'] });
  expect(pull.body).toMatch(/x\n\n> \[!NOTE\]\n> This pull request goes without .*\.\n\n<\/details>$/);
});
