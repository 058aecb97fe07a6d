import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '../../demo/real-service.ts';
import { type Face, openFace, repo, write } from '../support/face.ts';
import { gitAsync, gitOut } from '../support/git.ts';

let face: Face;
/** What happens before the model's next answer. */
let before: (() => Promise<unknown>) | undefined;
beforeAll(async () => {
  face = await openFace({
    before: async () => {
      const act = before;
      before = undefined;
      await act?.();
    },
    seed: { more: ['Docs'], isPrivate: true },
  });
  await until('both repositories', async () => (await face.world.get<unknown[]>('/repositories')).length === 2);
});
afterAll(() => face.world.close());

const finish = { name: 'finish', arguments: { summary: 'Done.', nextSteps: [] } };
// Programs that start at once: a proof may take only as long as its checks.
const settings = 'checks: for t in *.test; do sh ./$t || exit 1; done\ntests: ["*.test"]\nproof: required\n';
const passing = '. ./made.sh && test "$made" = yes\n';

/** Pushes a file to a branch of the other repository, by default its main branch. */
async function pushToDocs(path: string, content: string, branch: string | null = null): Promise<void> {
  const clone = mkdtempSync(join(tmpdir(), 'deckhand-clone-'));
  const url = `${face.world.github.url.replace('http://', 'http://x:person-mona@')}/mona/Docs.git`;
  await gitAsync(clone, 'clone', '-q', ...(branch === null ? [] : ['-b', branch]), url, '.');
  writeFileSync(join(clone, path), content);
  await gitAsync(clone, 'add', '-A');
  await gitAsync(clone, 'commit', '-q', '-m', 'by a person');
  await gitAsync(clone, 'push', '-q', 'origin', 'HEAD');
  rmSync(clone, { recursive: true, force: true });
}

test('a proof in one repository says nothing about the change in another', async () => {
  const { world, plays, push, settled, mona, pullOf, say } = face;
  for (const each of [(p: string, c: string) => push('main', p, c), pushToDocs]) {
    await each('old.test', 'true\n');
    await each('.deckhand.yml', settings);
  }
  plays([write('made.sh', 'made=no\n'), finish], [finish]);
  const number = await world.issue('/agent start');
  const task = await settled(number, 'in_review', 1);
  const pull = () => mona<{ draft: boolean; body: string }>('GET', `${repo}/pulls/${pullOf(task)}`);
  expect(await pull()).toMatchObject({ draft: true, body: expect.stringContaining('Not proved by tests') });
  const docs = { name: 'open_repository', arguments: { name: 'Docs' } };
  plays([docs], [write('../Docs/made.sh', 'made=yes\n'), write('../Docs/made.test', passing), finish], [finish]);
  await say(number, '/agent revise Also in Docs.');
  await settled(number, 'in_review', 2);
  const pulls = await world.get<{ repositoryName: string; status: string }[]>(`/tasks/${task.id}/prs`);
  expect(pulls.map(({ repositoryName, status }) => [repositoryName, status])).toEqual([
    ['sample', 'draft'],
    ['Docs', 'open'],
  ]);
  expect(await pull()).toMatchObject({ draft: true, body: expect.stringContaining('Not proved by tests') });
  const proof = () => world.get(`/tasks/${task.id}/proof`);
  expect(await proof()).toMatchObject({ status: 'no_tests' });

  // A person pushes to Docs. A run that proves the change here, without opening Docs, does not hide that.
  await pushToDocs('late.txt', 'x\n', task.branchName);
  const late = { status: 'not_run', reason: expect.stringMatching(/^in the repository Docs, the branch has commits/) };
  plays([write('made.sh', 'made=yes\n'), write('made.test', passing), finish], [finish]);
  await say(number, '/agent revise Prove it here.');
  await settled(number, 'in_review', 3);
  expect(await pull()).toMatchObject({ draft: false });
  expect(await proof()).toMatchObject(late);
  await until('the status comment', async () =>
    (await world.comments(number)).some(({ body }) => body.includes('in the repository Docs, the branch has commits')),
  );
  await push('main', '.deckhand.yml', '{}\n');
});

test('a run makes ready only the commit that it checked', async () => {
  const { world, plays, push, settled, mona, pullOf, say } = face;
  await push('main', '.deckhand.yml', settings);
  plays([write('made.txt', 'x\n'), finish], [finish]);
  const number = await world.issue('/agent start');
  const task = await settled(number, 'in_review', 1);
  const branch = task.branchName ?? '';
  const isDraft = async () => (await mona<{ draft: boolean }>('GET', `${repo}/pulls/${pullOf(task)}`)).draft;
  expect(await isDraft()).toBe(true);
  await push('main', '.deckhand.yml', 'checks: test ! -e late.txt\n');
  plays([finish]);
  // A person pushes while the run, which changes nothing, works on what was there before.
  before = () => push(branch, 'late.txt', 'x\n');
  await say(number, '/agent revise Look again.');
  await settled(number, 'in_review', 2);
  expect(gitOut(world.github.folderOf('mona/sample'), 'show', `${branch}:late.txt`)).toBe('x');
  expect(await isDraft()).toBe(true);
  // What it checked is not shown for the other commit either.
  const shown = async () => (await world.get<{ runChecks: unknown[] }>(`/tasks/${task.id}/merge-readiness`)).runChecks;
  await until('no results for other commits', async () => (await shown()).length === 0);
  plays([{ name: 'delete_file', arguments: { path: 'late.txt' } }, finish], [finish]);
  await say(number, '/agent revise Remove it.');
  await settled(number, 'in_review', 3);
  expect(await isDraft()).toBe(false);
  expect(await shown()).toEqual([{ name: 'test ! -e late.txt', passed: true }]);
  await push('main', '.deckhand.yml', '{}\n');
});
