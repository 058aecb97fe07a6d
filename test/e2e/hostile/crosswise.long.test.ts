import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '../../../demo/real-service.ts';
import { type Face, openFace, repo, write } from '../../support/face.ts';
import { gitAsync, gitOut } from '../../support/git.ts';

let face: Face;
beforeEach(async () => {
  face = await openFace();
});
afterEach(() => face.world.close());

interface Run {
  id: string;
  status: string;
  failure: { message: string } | null;
}

test('a rewind drops nothing that the base branch brought before both were merged into each other', async () => {
  const { world, plays, push, settled, updateBranch, mona, pullOf, inClone } = face;
  await push('main', '.deckhand.yml', 'checks: git --version\n');
  const finish = { name: 'finish', arguments: { summary: 'Done.', nextSteps: [] } };
  plays([write('made.txt', 'made\n')], [finish]);
  const task = await settled(await world.issue('/agent start'), 'in_review', 1);
  const { head } = await mona<{ head: { ref: string; sha: string } }>('GET', `${repo}/pulls/${pullOf(task)}`);
  // The commit of the base is older than the one of the branch, so git names the other common ancestor first.
  await inClone('main', 'main', false, async (clone) => {
    writeFileSync(join(clone, 'guard.txt'), 'on\n');
    await gitAsync(clone, 'add', '-A');
    const [tree, parent] = [await gitAsync(clone, 'write-tree'), await gitAsync(clone, 'rev-parse', 'HEAD')];
    const by = 'm <m@example.com> 1764000000 +0000';
    const text = `tree ${tree.trim()}\nparent ${parent.trim()}\nauthor ${by}\ncommitter ${by}\n\nguard\n`;
    writeFileSync(join(clone, '.git/guard'), text);
    await gitAsync(
      clone,
      'reset',
      '-q',
      '--hard',
      (await gitAsync(clone, 'hash-object', '-t', 'commit', '-w', '.git/guard')).trim(),
    );
  });
  await updateBranch(head.ref);
  await inClone('main', 'main', false, async (clone) => {
    await gitAsync(clone, 'fetch', '-q', 'origin', head.ref);
    await gitAsync(clone, 'merge', '-q', '--no-ff', '--no-edit', head.sha);
  });
  const folder = world.github.folderOf('mona/sample');
  expect(gitOut(folder, 'merge-base', '--all', 'main', head.ref).split('\n')[0]).toBe(head.sha);
  const runs = () => world.get<Run[]>(`/tasks/${task.id}/runs`);
  const [first] = await runs();
  plays([write('again.txt', 'again\n')], [finish]);
  await world.service.api(world.token, 'POST', `/tasks/${task.id}/rewind`, {
    runId: first?.id,
    turn: 1,
    text: 'Go on.',
  });
  const last = await until('the run that goes back', async () => {
    const [run, ...earlier] = await runs();
    return earlier.length === 1 && ['failed', 'succeeded'].includes(run?.status ?? '') && run;
  });
  expect(last).toMatchObject({ status: 'failed', failure: { message: expect.stringContaining('crosswise') } });
  expect(gitOut(folder, 'ls-tree', '--name-only', head.ref)).toContain('guard.txt');
});
