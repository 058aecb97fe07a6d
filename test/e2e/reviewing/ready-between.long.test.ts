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
