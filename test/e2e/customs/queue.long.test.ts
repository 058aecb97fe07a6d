import { until } from '../../../demo/real-service.ts';
import { type Face, openFace, repo, write } from '../../support/face.ts';
import { gitOut } from '../../support/git.ts';

/** A repository with commitlint, a template, squash merges only, and a merge queue. */
let face: Face;
beforeAll(async () => {
  face = await openFace({ settings: { SANDBOX: 'off' } });
  const { push, mona, world } = face;
  const rules = {
    'type-enum': [2, 'always', ['feat', 'fix']],
    'scope-enum': [2, 'always', ['api', 'web']],
    'scope-empty': [2, 'never'],
    'header-max-length': [2, 'always', 40],
  };
  await push('main', '.commitlintrc.json', JSON.stringify({ extends: ['@commitlint/config-conventional'], rules }));
  await push('main', '.github/pull_request_template.md', '## Summary\n\n## Checklist\n\n- [ ] Tests\n- [ ] Docs\n');
  await mona('PATCH', repo, { allow_merge_commit: false, allow_rebase_merge: false });
  world.github.rare.requires = 'queue';
});
afterAll(() => face.world.close());

interface Pull {
  title: string;
  body: string;
}
const finish = (more: object) => ({ name: 'finish', arguments: { summary: 'Done.', nextSteps: [], ...more } });
const told = () => JSON.stringify(face.world.model.requests.at(-1)?.messages);
const pullOf = (task: Parameters<Face['pullOf']>[0]) => face.mona<Pull>('GET', `${repo}/pulls/${face.pullOf(task)}`);
const git = (...args: string[]) => gitOut(face.world.github.folderOf('mona/sample'), ...args);
/** Lets the queue merge. The emulator's queue makes a merge commit. */
const mergeQueue = async () => {
  await face.mona('PATCH', repo, { allow_merge_commit: true });
  await face.world.github.merges.settle();
  await face.mona('PATCH', repo, { allow_merge_commit: false });
};

test('the agent learns the scopes, fills the template, and the queue merges what `merge` may not', async () => {
  const { world, plays, say, settled, told: shown, get, statusComment } = face;
  const body = '## Summary\n\nSays hello.\n\n## Checklist\n\n- [x] Tests\n- [ ] Docs';
  plays(
    [write('web/hello.js', 'hi\n')],
    [finish({ title: 'Add hello' })],
    [finish({ title: 'feat(web): hello', body })],
  );
  const number = await world.issue('/agent start', { title: 'Say hello' });
  const task = await settled(number, 'in_review', 1);
  expect(told()).toContain('scope may not be empty');
  expect(told()).toContain('The types are feat, fix. The scopes are api, web.');
  expect(told()).toContain('finish has no `body`: fill in the template .github/pull_request_template.md');
  const pull = await pullOf(task);
  expect(pull.title).toBe('feat(web): hello');
  expect(pull.body.startsWith(`${body}\n`)).toBe(true);
  expect(git('log', '-1', '--format=%s', task.branchName ?? '')).toBe('feat(web): hello');
  await say(number, '/agent merge');
  await shown(number, 'was refused: The base branch requires a merge queue. Use "merge when ready" instead');
  await say(number, '/agent merge when ready');
  await shown(number, 'In the merge queue');
  // The refusal is no longer true.
  await until('no refusal', async () => !(await statusComment(number))[0]?.body.includes('was refused'));
  await mergeQueue();
  await until('done', async () => (await get(task)).status === 'done');
  expect(git('log', '-1', '--format=%s', 'main')).toMatch(/^feat\(web\): hello/);
});

test('a repaired title has the scope of a changed folder, and a change that the queue drops is merged later', async () => {
  const { world, plays, next, say, settled, told: shown, get } = face;
  const title = 'Fix The Long Farewell Of All Our Pages.';
  plays([write('src/api/bye.js', 'bye\n')], [finish({ title })], [finish({ title })]);
  const number = await world.issue('/agent start', { title: 'Say bye' });
  const task = await settled(number, 'in_review', 1);
  const repaired = (await pullOf(task)).title;
  expect(repaired).toMatch(/^fix\(api\): [^.]+$/);
  expect(repaired.length).toBeLessThanOrEqual(40);
  await say(number, '/agent merge when ready');
  await shown(number, 'In the merge queue');
  next({ 'src/api/bye.js': 'goodbye\n' });
  await world.github.merges.dequeue('mona/sample', face.pullOf(task), 'CI_FAILURE');
  await settled(number, 'in_review', 2);
  await shown(number, /\*\*Not merged\*\*: .* out of its merge queue: checks failed/);
  // The message of the second commit follows the rules, and the pull request keeps its title.
  expect(git('log', '-1', '--format=%s', task.branchName ?? '')).toMatch(/^(feat|fix)\(api\): /);
  expect((await pullOf(task)).title).toBe(repaired);
  await say(number, '/agent merge when ready');
  await shown(number, 'In the merge queue');
  await mergeQueue();
  await until('done', async () => (await get(task)).status === 'done');
  expect(git('show', 'main:src/api/bye.js')).toBe('goodbye');
});
