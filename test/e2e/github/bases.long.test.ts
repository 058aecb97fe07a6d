import { until } from '../../../demo/real-service.ts';
import { type Face, openFace, repo, write } from '../../support/face.ts';
import { gitOut } from '../../support/git.ts';

interface Based {
  id: string;
  base: string | null;
  branchName: string | null;
  status: string;
}

interface Pull {
  number: number;
  base: { ref: string };
  head: { ref: string; sha: string };
  mergeable: boolean | null;
}

let face: Face;
beforeAll(async () => {
  face = await openFace();
  await face.push('main', '.deckhand.yml', 'base: develop\nsetup: sh prepare.sh\n');
  await face.push('main', '.gitignore', 'ready.txt\n');
  await face.inClone('main', 'develop', false, async () => {});
  await face.push('develop', 'prepare.sh', 'echo by-develop > ready.txt\n');
  await face.push('develop', 'developed.txt', 'here\n');
  await face.inClone('main', 'release', false, async () => {});
  await face.push('release', 'prepare.sh', 'echo by-release > ready.txt\n');
});
afterAll(() => face.world.close());

const api = <T>(method: string, path: string, body?: object): Promise<T> =>
  face.world.service.api(face.world.token, method, path, body) as Promise<T>;
const folder = () => face.world.github.folderOf('mona/sample');
const pullAt = (number: number) => face.mona<Pull>('GET', `${repo}/pulls/${number}`);
/** The files by which a branch differs from the commit where it left another one, as a pull request shows them. */
const changed = (base: string, head: string) =>
  gitOut(folder(), 'diff', '--name-only', `${base}...${head}`).split('\n');

test('tasks start from the base of the repository and go into it, with the settings of the default branch', async () => {
  const { world } = face;
  const { task, pull } = await face.inReview({ 'made.txt': 'x\n' });
  expect((await pullAt(pull)).base.ref).toBe('develop');
  expect(changed('develop', task.branchName ?? '')).toEqual(['made.txt']);
  expect(face.fileOn(task.branchName ?? '', 'developed.txt')).toBe('here');
  expect(await world.get(`/tasks/${task.id}/diff`)).toMatchObject({ baseBranch: 'develop' });
  expect(await world.get(`/tasks/${task.id}`)).toMatchObject({ base: null });
  // A push to the base shows there, and nothing of it in the task.
  await face.push('develop', 'later.txt', 'later\n');
  await api('POST', `/tasks/${task.id}/merge`);
  await face.settled((await world.get<{ issueNumber: number }>(`/tasks/${task.id}`)).issueNumber, 'done', 1);
  expect(gitOut(folder(), 'show', 'develop:made.txt')).toBe('x');
  expect(() => gitOut(folder(), 'show', 'main:made.txt')).toThrow();
});

test('a base has to be a branch of the repository, and stays once the task has a branch', async () => {
  const path = `/projects/${face.world.project.id}/tasks`;
  await expect(api('POST', path, { title: 'x', base: 'nope' })).rejects.toThrow(
    /400.*base must be a branch of the repository sample, not nope/,
  );
  await expect(api('POST', path, { title: 'x', base: 'a..b' })).rejects.toThrow(
    /400.*base must be a valid branch name/,
  );
  await expect(api('POST', `${path}/bulk`, { tasks: [{ title: 'x' }, { title: 'y', base: 'nope' }] })).rejects.toThrow(
    /400.*tasks.1.base must be a branch/,
  );
  const task = await api<Based>('POST', path, { title: 'x', base: 'release' });
  expect(task.base).toBe('release');
  await expect(api('PATCH', `/tasks/${task.id}`, { base: 'nope' })).rejects.toThrow(/400.*base must be a branch/);
  expect(await api('PATCH', `/tasks/${task.id}`, { base: null })).toMatchObject({ base: null });
  await api('DELETE', `/tasks/${task.id}`);
});

test('`/agent base` moves a task, its run works there with the set-up of the trusted base, and then the base is fixed', async () => {
  const { say, settled, plays, pullOf, told } = face;
  const look = { name: 'run_command', arguments: { command: 'cat ready.txt prepare.sh' } };
  plays([write('fixed.txt', 'y\n'), look], [{ name: 'finish', arguments: { summary: 'Done.', nextSteps: [] } }]);
  const number = await face.world.issue('/agent create');
  await face.taskOf(number);
  await say(number, '/agent base nope');
  await told(number, 'base must be a branch of the repository sample, not nope');
  await say(number, '/agent base release');
  await until('its base', async () => ((await face.taskOf(number)) as unknown as Based).base === 'release');
  await say(number, '/agent start');
  const task = await settled(number, 'in_review', 1);
  expect((await pullAt(pullOf(task))).base.ref).toBe('release');
  expect(changed('release', task.branchName ?? '')).toEqual(['fixed.txt']);
  // Whoever may create a branch must not get the network and the secrets of set-up.
  const answers = JSON.stringify(face.world.model.requests.at(-1)?.messages);
  expect(answers).toContain('by-develop\\necho by-release');
  await expect(api('PATCH', `/tasks/${task.id}`, { base: 'develop' })).rejects.toThrow(/409.*its base cannot change/);
});

test('a stacked pull request follows the one below it, and goes where that one went after a squash', async () => {
  const { say, settled, next, pullOf, world } = face;
  const lower = await face.inReview({ 'lower.txt': 'first\n' });
  const branch = lower.task.branchName ?? '';
  next({ 'upper.txt': 'on top\n' });
  const number = await world.issue('/agent create');
  await face.taskOf(number);
  await say(number, `/agent base ${branch}`);
  await until('its base', async () => ((await face.taskOf(number)) as unknown as Based).base === branch);
  await say(number, '/agent start');
  const task = await settled(number, 'in_review', 1);
  const [pull, upper] = [pullOf(task), task.branchName ?? ''];
  expect((await pullAt(pull)).base.ref).toBe(branch);
  expect(changed(branch, upper)).toEqual(['upper.txt']);
  await expect(api('POST', `/tasks/${task.id}/merge`)).rejects.toThrow(/409.*is stacked on .* Merge that one first/);
  // Somebody changes the lower one.
  await face.push(branch, 'lower.txt', 'second\n');
  await until('the change above', async () => {
    const text = face.fileOn(upper, 'lower.txt');
    return text === 'second' && changed(branch, upper).join() === 'upper.txt';
  });
  await until('the merge below', async () => {
    await api('POST', `/tasks/${lower.task.id}/merge`).catch((error) => {
      // The head that was pushed may not be known yet.
      if (!/409/.test(String(error))) throw error;
    });
    return (await face.get(lower.task)).status === 'done';
  });
  await until('the new base', async () => (await pullAt(pull)).base.ref === 'develop');
  await until('its own changes', async () => changed('develop', upper).join() === 'upper.txt');
  await face.told(number, 'is merged. It goes into `develop` now');
  expect(await world.get(`/tasks/${task.id}`)).toMatchObject({ base: 'develop' });
  await until('its diff', async () => {
    const diff = await world.get<{ baseBranch: string; files: { path: string }[] }>(`/tasks/${task.id}/diff`);
    return diff.baseBranch === 'develop' && diff.files.map(({ path }) => path).join() === 'upper.txt';
  });
  await until('the merge', async () => {
    await api('POST', `/tasks/${task.id}/merge`).catch((error) => {
      if (!/409/.test(String(error))) throw error;
    });
    return (await face.get(task)).status === 'done';
  });
  expect(gitOut(folder(), 'show', 'develop:upper.txt')).toBe('on top');
  expect(gitOut(folder(), 'show', 'develop:lower.txt')).toBe('second');
});
