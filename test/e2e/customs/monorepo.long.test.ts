import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { until } from '../../../demo/real-service.ts';
import { type Face, openFace, repo, write } from '../../support/face.ts';
import { gitAsync, gitOut } from '../../support/git.ts';
import type { WorldTask } from '../../support/world.ts';

/** A monorepo with Git LFS, of which runs get two folders, with code owners and another base branch. */
let face: Face;
beforeAll(async () => {
  face = await openFace();
  await face.mona('PUT', `${repo}/collaborators/stranger`, { permission: 'push' });
  await pushAll('main', {
    '.deckhand.yml': `base: develop
checkout: { lfs: true, paths: [apps/web, libs/ui] }
checks: grep -q logo libs/ui/logo.bin
branch: of-main/{id}
`,
    '.github/pull_request_template.md': '## Of main\n',
  });
  await pushAll('develop', {
    '.deckhand.yml': 'branch: of-develop/{id}\n',
    '.github/pull_request_template.md': '## Of develop\n',
    '.github/CODEOWNERS': 'apps/web/ @stranger\n',
    '.gitattributes': '*.bin filter=lfs diff=lfs merge=lfs -text\n',
    'apps/web/index.js': 'web\n',
    'apps/api/index.js': 'api\n',
    // Nobody has this object, and no run needs it.
    'apps/api/lost.bin': pointerOf('lost\n'),
    'libs/ui/logo.bin': pointerOf('logo\n'),
  });
  const logo = objectOf('logo\n');
  mkdirSync(dirname(logo), { recursive: true });
  writeFileSync(logo, 'logo\n');
  // The emulator lists no files of pull requests.
  face.world.github.fail((method, path) => {
    const [, number] = /\/pulls\/(\d+)\/files\?/.exec(path) ?? [];
    const ends = method === 'GET' ? branches.get(Number(number)) : undefined;
    if (ends === undefined) return undefined;
    const files = git('diff', '--name-only', ends).split('\n');
    const html = JSON.stringify(files.map((filename) => ({ filename, status: 'modified' })));
    return { status: 200, headers: { 'content-type': 'application/json' }, html };
  });
});
afterAll(() => face.world.close());

/** What pull requests compare, by their number. */
const branches = new Map<number, string>();
const git = (...args: string[]) => gitOut(face.world.github.folderOf('mona/sample'), ...args);
const sha256 = (content: string) => createHash('sha256').update(content).digest('hex');
const pointerOf = (content: string) =>
  `version https://git-lfs.github.com/spec/v1\noid sha256:${sha256(content)}\nsize ${content.length}\n`;
function objectOf(content: string): string {
  const oid = sha256(content);
  const folder = face.world.github.folderOf('mona/sample');
  return join(folder, 'lfs/objects', oid.slice(0, 2), oid.slice(2, 4), oid);
}
/** Commits files on top of main, and pushes them to a branch. */
const pushAll = (to: string, files: Record<string, string>) =>
  face.inClone('main', to, false, async (clone) => {
    for (const [path, content] of Object.entries(files)) {
      mkdirSync(dirname(join(clone, path)), { recursive: true });
      writeFileSync(join(clone, path), content);
    }
    await gitAsync(clone, 'add', '-A');
    await gitAsync(clone, 'commit', '-q', '-m', 'by a person');
  });

interface Readiness {
  pullRequests: { missingOwners: { owners: string[]; paths: string[] }[]; baseBranch: string }[];
  problems: { text: string; blocks: boolean }[];
}
const readiness = (task: { id: string }) => face.world.get<Readiness>(`/tasks/${task.id}/merge-readiness`);
const baseOf = async (number: number) => (await face.taskOf(number)) as unknown as { base: string | null };

let lower: WorldTask;

test('a change of two folders of the monorepo waits for the code owner who is named', async () => {
  const { world, plays, say, settled, told, mona, pullOf } = face;
  const finish = { name: 'finish', arguments: { summary: 'Done.', nextSteps: [] } };
  const remove = { name: 'run_command', arguments: { command: 'cat libs/ui/logo.bin; rm -r apps/api' } };
  plays(
    [write('apps/web/index.js', 'better\n'), write('apps/web/icon.bin', 'icon\n'), write('apps/api/index.js', 'no\n')],
    [write('libs/fresh/index.js', 'new\n')],
    [finish],
    // What was refused is corrected, and the run goes on.
    [remove],
    [finish],
    [finish],
  );
  const number = await world.issue('/agent start');
  lower = await settled(number, 'in_review', 1);
  const said = JSON.stringify(world.model.requests.at(-1)?.messages);
  for (const text of ['apps/api/index.js is in the way of what', '## Of develop', '[exit code 0]'])
    expect(said).toContain(text);
  expect(said).not.toContain('## Of main');
  // The file is that of the default branch, the template that of the base branch.
  expect(lower.branchName).toBe(`of-main/${lower.id.slice(-8)}`);
  const branch = lower.branchName ?? '';
  const pull = await mona<{ base: { ref: string }; body: string }>('GET', `${repo}/pulls/${pullOf(lower)}`);
  expect([pull.base.ref, pull.body.split('\n')[0]]).toEqual(['develop', '## Of develop']);
  const changed = git('diff', '--name-only', `develop...${branch}`);
  expect(changed).toBe('apps/web/icon.bin\napps/web/index.js\nlibs/fresh/index.js');
  expect(`${git('show', `${branch}:apps/web/icon.bin`)}\n`).toBe(pointerOf('icon\n'));
  expect(readFileSync(objectOf('icon\n'), 'utf8')).toBe('icon\n');

  branches.set(pullOf(lower), `develop...${branch}`);
  world.github.rare.isBlocked = true;
  const before = await readiness(lower);
  expect(before.pullRequests[0]?.missingOwners).toMatchObject([{ owners: ['@stranger'] }]);
  expect(before.problems.map(({ text }) => text)).toContainEqual(
    expect.stringMatching(
      /review of sample #\d+ by a code owner is missing: @stranger for apps\/web\/icon.bin and 1 more/,
    ),
  );
  await say(number, '/agent merge when ready');
  await told(number, 'Waiting to be merged');
});

test('a task stacked on it goes into the base when its owner has reviewed it, and is checked again there', async () => {
  const { world, next, say, settled, told, as, pullOf, get } = face;
  const branch = lower.branchName ?? '';
  next({ 'libs/ui/second.bin': 'second\n' });
  const upperNumber = await world.issue('/agent create');
  await face.taskOf(upperNumber);
  await say(upperNumber, `/agent base ${branch}`);
  await until('its base', async () => (await baseOf(upperNumber)).base === branch);
  await say(upperNumber, '/agent start');
  const upper = await settled(upperNumber, 'in_review', 1);
  await say(upperNumber, '/agent merge when ready');
  await told(upperNumber, /is stacked on .*, which is not merged. Merge that one first/);

  await as('stranger')('POST', `${repo}/pulls/${pullOf(lower)}/reviews`, { event: 'APPROVE', body: '' });
  await until('the owner', async () => (await readiness(lower)).pullRequests[0]?.missingOwners.length === 0);
  world.github.rare.isBlocked = false;
  await world.github.merges.settle();
  await until('done', async () => (await get(lower)).status === 'done');

  await told(upperNumber, 'It goes into `develop` now');
  const upperBranch = upper.branchName ?? '';
  await until(
    'its own change',
    async () => git('diff', '--name-only', `develop...${upperBranch}`) === 'libs/ui/second.bin',
  );
  // Its checks are void. A retry is only for failures, so the text names what helps.
  await say(upperNumber, '/agent merge');
  await told(upperNumber, /not checked for the branch into which it goes.* Request changes to start another run/);
  await say(upperNumber, '/agent retry');
  await told(upperNumber, '`/agent retry` was refused');
  next({ 'libs/ui/second.bin': 'better\n' });
  await say(upperNumber, '/agent revise Better.');
  await settled(upperNumber, 'in_review', 2);
  await say(upperNumber, '/agent merge');
  await until('done', async () => (await get(upper)).status === 'done');
  expect(`${git('show', 'develop:libs/ui/second.bin')}\n`).toBe(pointerOf('better\n'));
  expect(git('show', 'develop:apps/api/index.js')).toBe('api');
});
