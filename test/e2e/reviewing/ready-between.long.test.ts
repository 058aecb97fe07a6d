import { until } from '../../../demo/real-service.ts';
import { type Face, openFace, repo, write } from '../../support/face.ts';

let face: Face;
beforeAll(async () => {
  // The branch moves this long after GitHub has signed the commit.
  face = await openFace({ settings: { GITHUB_WRITE_INTERVAL_MS: '250' } });
  await face.push('main', '.deckhand.yml', 'checks: test ! -f bad.txt\n');
});
afterAll(() => face.world.close());

interface Checks {
  check_runs: { name: string; conclusion: string | null }[];
}

test('a pull request that a person marks as ready before the push is a draft when unchecked commits are pushed', async () => {
  const { world, mona, plays } = face;
  const first = await face.inReview({ 'made.txt': 'x\n' });
  let marked: Promise<unknown> | undefined;
  world.github.fail((method: string, path: string) => {
    if (method === 'POST' && path.endsWith('/git/commits'))
      marked ??= mona('PATCH', `${repo}/pulls/${first.pull}`, { draft: false });
    return undefined;
  });
  plays(
    [write('bad.txt', 'bad\n')],
    [{ name: 'create_subtasks', arguments: { subtasks: [{ title: 'Part', description: 'A part' }] } }],
    [{ name: 'ask_person', arguments: { question: 'Go on?', options: [] } }],
  );
  await face.say(first.number, '/agent revise More.');
  await until('the task is split', async () => (await face.get(first.task)).status === 'waiting_on_subtasks');
  expect(marked).toBeDefined();
  await marked;
  const pull = await mona<{ draft: boolean; head: { sha: string; ref: string } }>('GET', `${repo}/pulls/${first.pull}`);
  expect(face.fileOn(pull.head.ref, 'bad.txt')).toBe('bad');
  expect(pull.draft).toBe(true);
  // Nothing has checked this commit.
  const conclusion = await until('its check run', async () => {
    const { check_runs } = await mona<Checks>('GET', `${repo}/commits/${pull.head.sha}/check-runs`);
    return check_runs.find(({ name }) => name === 'deckhand')?.conclusion;
  });
  expect(conclusion).toBe('action_required');
});

test.each([
  ['its base changes', (number: number) => face.mona('PATCH', `${repo}/pulls/${number}`, { base: 'release' })],
  [
    'somebody pushes',
    async (number: number) => {
      const pull = await face.mona<{ head: { ref: string } }>('GET', `${repo}/pulls/${number}`);
      await face.push(pull.head.ref, 'bad.txt', 'bad\n');
    },
  ],
])('a draft whose checks pass now stays one if %s while the run publishes its commit', async (what, change) => {
  const { world, mona, plays } = face;
  await face.inClone('main', 'release', true, async () => {});
  plays(
    [write('bad.txt', 'bad\n'), write('other.txt', `${what}\n`)],
    ...Array(3).fill([{ name: 'finish', arguments: { summary: 'Done.', nextSteps: [] } }]),
  );
  const number = await world.issue('/agent start');
  const failed = await until('a failed run', async () => {
    const task = await face.taskOf(number);
    return task.failure !== null && task.prUrl !== null && task;
  });
  const pull = face.pullOf(failed);
  // Once the branch has moved, the next write has to wait; the branch or base changes after the run has looked at both.
  let slow: Promise<unknown> | undefined;
  let changed: Promise<unknown> | undefined;
  world.github.fail((method: string, path: string) => {
    if (method === 'PATCH' && path.includes('/git/refs/'))
      slow ??= world.sql(`update github_pace set next_write_at = now() + interval '5 s'`, []);
    if (slow !== undefined && method === 'GET' && path.endsWith(`/pulls/${pull}`)) changed ??= change(pull);
    return undefined;
  });
  plays(
    [{ name: 'run_command', arguments: { command: 'rm bad.txt' } }],
    [{ name: 'finish', arguments: { summary: 'Done.', nextSteps: [] } }],
  );
  await face.say(number, '/agent retry');
  await face.settled(number, 'in_review', 2);
  await Promise.all([slow, changed]);
  expect(changed).toBeDefined();
  const now = await mona<{ draft: boolean; head: { sha: string } }>('GET', `${repo}/pulls/${pull}`);
  expect(now.draft).toBe(true);
  await until('its check run', async () => {
    const { check_runs } = await mona<Checks>('GET', `${repo}/commits/${now.head.sha}/check-runs`);
    return check_runs.find(({ name }) => name === 'deckhand')?.conclusion;
  });
});
