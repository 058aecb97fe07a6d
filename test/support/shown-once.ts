import { until } from '../../demo/real-service.ts';
import { gitOut } from './git.ts';
import type { Killable } from './kill-points.ts';
import type { WorldTask } from './world.ts';

/**
 * Expects that a task in review has one branch with this many commits, one pull request, one label and one comment on
 * GitHub.
 */
export async function expectShownOnce(
  { world, get }: Killable,
  { id, issueNumber, branchName }: WorldTask & { issueNumber: number },
  commits: number,
): Promise<void> {
  const folder = world.github.folderOf('mona/sample');
  const ofTask = `refs/heads/agent/${id.slice(-8)}*`;
  expect(gitOut(folder, 'for-each-ref', '--format=%(refname:short)', ofTask)).toBe(branchName);
  expect(gitOut(folder, 'rev-list', '--count', `main..${branchName}`)).toBe(`${commits}`);
  const pulls = await world.github.as('mona')<{ head: { ref: string } }[]>(
    'GET',
    '/repos/mona/sample/pulls?state=all&per_page=100',
  );
  expect(pulls.filter((p) => p.head.ref === branchName)).toHaveLength(1);
  let shown = '';
  await until('one label and one comment', async () => {
    await get('/me');
    const labels = (await world.labels(issueNumber)).filter((l) => l.startsWith('agent:'));
    const own = (await world.comments(issueNumber)).filter((c) => c.user.login === 'deckhand[bot]');
    shown = `${labels.join()} and ${own.map((c) => c.body).join('\n---\n')}`;
    return labels.join() === 'agent:in-review' && own.length === 1;
  }).catch((error: Error) => {
    throw new Error(`${error.message}; there is ${shown}`);
  });
}
