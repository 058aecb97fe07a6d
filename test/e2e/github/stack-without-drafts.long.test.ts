import { until } from '../../../demo/real-service.ts';
import { type Face, openFace, repo } from '../../support/face.ts';
import { gitOut } from '../../support/git.ts';

let face: Face;
beforeAll(async () => {
  face = await openFace();
});
afterAll(() => face.world.close());

const folder = () => face.world.github.folderOf('mona/sample');
const api = <T>(method: string, path: string, body?: object): Promise<T> =>
  face.world.service.api(face.world.token, method, path, body) as Promise<T>;

test('a change in a stack that is not ready stays so when its base is merged into it, until a person changes it', async () => {
  const { world, say, settled, next, pullOf, push } = face;
  await push('main', '.deckhand.yml', 'proof: required\nchecks: ["true"]\n');
  const lower = await face.inReview({ 'lower.txt': 'first\n' });
  const branch = lower.task.branchName ?? '';
  // A person has marked it as ready.
  await face.mona('PATCH', `${repo}/pulls/${lower.pull}`, { draft: false });
  next({ 'upper.txt': 'nobody checked this\n' });
  const number = await world.issue('/agent create');
  await face.taskOf(number);
  await say(number, `/agent base ${branch}`);
  await until('its base', async () => ((await face.taskOf(number)) as unknown as { base: string }).base === branch);
  await say(number, '/agent start');
  const task = await settled(number, 'in_review', 1);
  const [pull, upper] = [pullOf(task), task.branchName ?? ''];
  const stored = async () => {
    const rows = await world.sql<{ unready_sha: string | null; head_sha: string; status: string }>(
      'select unready_sha, head_sha, status from pull_requests where task_id = $1',
      [task.id],
    );
    return rows[0];
  };
  // A repository without drafts has an ordinary pull request here, which only the service refuses to merge.
  await world.sql(`update pull_requests set status = 'open' where task_id = $1`, [task.id]);
  await face.mona('PATCH', `${repo}/pulls/${pull}`, { draft: false });
  const head = () => gitOut(folder(), 'rev-parse', upper);
  const ofRun = head();
  expect(await stored()).toEqual({ unready_sha: ofRun, head_sha: ofRun, status: 'open' });

  // Somebody changes the lower one, which is merged into the upper one.
  await push(branch, 'lower.txt', 'second\n');
  await until('the change above', async () => {
    const now = head();
    return now !== ofRun && (await stored())?.head_sha === now;
  });
  const onLower = head();
  expect((await stored())?.unready_sha).toBe(onLower);

  await until('the merge below', async () => {
    await api('POST', `/tasks/${lower.task.id}/merge`).catch((error) => {
      if (!/409/.test(String(error))) throw error;
    });
    return (await face.get(lower.task)).status === 'done';
  });
  const isMoved = async () =>
    (await face.mona<{ base: { ref: string } }>('GET', `${repo}/pulls/${pull}`)).base.ref === 'main';
  await until('the move', isMoved);
  await until('its new head', async () => {
    const now = head();
    return now !== onLower && (await stored())?.head_sha === now;
  });
  expect(gitOut(folder(), 'show', `${head()}:lower.txt`)).toBe('second');
  expect((await stored())?.unready_sha).toBe(head());
  await expect(api('POST', `/tasks/${task.id}/merge`)).rejects.toThrow(/409.*is not ready/);

  await push(upper, 'upper.txt', 'a person wrote this\n');
  await until('the merge', async () => {
    await api('POST', `/tasks/${task.id}/merge`).catch((error) => {
      if (!/409/.test(String(error))) throw error;
    });
    return (await face.get(task)).status === 'done';
  });
  expect(gitOut(folder(), 'show', 'main:upper.txt')).toBe('a person wrote this');
});
