import { until } from '../../../demo/real-service.ts';
import { type Face, openFace, repo, write } from '../../support/face.ts';
import { gitAsync, gitOut } from '../../support/git.ts';
import type { WorldTask } from '../../support/world.ts';

let face: Face;
beforeEach(async () => {
  face = await openFace();
});
afterEach(() => face.world.close());

const finish = { name: 'finish', arguments: { summary: 'Done.', nextSteps: [] } };
const settings = 'checks: for t in *.test; do sh ./$t || exit 1; done\ntests: ["*.test"]\nproof: required\n';
const change = (name: string) => [
  write(`${name}.sh`, `${name}=yes\n`),
  write(`${name}.test`, `. ./${name}.sh && test "$${name}" = yes\n`),
];

/** Pushes a program and its test to the base branch. */
async function pushGuard(): Promise<void> {
  await face.push('main', 'guard.sh', 'guard=on\n');
  await face.push('main', 'guard.test', '. ./guard.sh && test "$guard" = on\n');
}

interface Run {
  id: string;
  status: string;
  failure: { message: string } | null;
}

/** Starts a task whose first run is proved. */
async function begin() {
  const { world, plays, mona, pullOf, settled } = face;
  plays(change('made'), [finish], [finish]);
  const number = await world.issue('/agent start');
  const task = await settled(number, 'in_review', 1);
  const pull = () => mona<{ body: string; head: { ref: string } }>('GET', `${repo}/pulls/${pullOf(task)}`);
  const proof = () => world.get<{ status: string; reason: string | null }>(`/tasks/${task.id}/proof`);
  expect(await proof()).toMatchObject({ status: 'proved' });
  return { number, pull, proof };
}

test('a proof does not count for a branch that has merged the base since and dropped what came with it', async () => {
  const { plays, push, settled, say, inClone } = face;
  await push('main', 'old.test', 'true\n');
  await push('main', '.deckhand.yml', settings);
  const { number, pull, proof } = await begin();
  // The second run is proved while the base branch is ahead of its branch.
  await pushGuard();
  plays(change('two'), [finish], [finish]);
  await say(number, '/agent revise Write two.');
  await settled(number, 'in_review', 2);
  expect(await proof()).toMatchObject({ status: 'proved' });
  const { head } = await pull();
  await inClone(head.ref, head.ref, false, async (clone) => {
    await gitAsync(clone, 'fetch', '-q', 'origin', 'main');
    await gitAsync(clone, 'merge', '-q', '-s', 'ours', '--no-edit', 'origin/main');
  });
  plays([finish], [finish]);
  await say(number, '/agent revise Look at it once more.');
  await settled(number, 'in_review', 3);
  expect(await proof()).toMatchObject({ status: 'weakened' });
  expect((await pull()).body).toContain('the earlier tests fail with this change');
});

test('what a run left that failed is proved by the run that goes on with it, although that changes nothing', async () => {
  const { world, plays, push, settled, say } = face;
  await push('main', 'old.test', 'true\n');
  await push('main', '.deckhand.yml', settings);
  const budget = (steps: number | null) =>
    world.service.api(world.token, 'PATCH', `/projects/${world.project.id}`, { budgets: { runSteps: steps } });
  await budget(1);
  plays(change('made'));
  const number = await world.issue('/agent start');
  const task = await settled(number, 'in_review', 1);
  const proof = () => world.get<{ status: string }>(`/tasks/${task.id}/proof`);
  expect(await proof()).toMatchObject({ status: 'not_run' });
  await budget(null);
  plays([finish], [finish]);
  await say(number, '/agent retry');
  await settled(number, 'in_review', 2);
  expect(await proof()).toMatchObject({ status: 'proved' });
});

test('nobody goes back to a merge of the base branch that the branch has merged again since', async () => {
  const { world, plays, push, settled, updateBranch, mona, pullOf } = face;
  await push('main', 'old.test', 'true\n');
  await push('main', 'shared.txt', 'one\n');
  await push('main', '.deckhand.yml', settings);
  plays([write('shared.txt', 'ours\n'), ...change('made')], [finish], [finish]);
  const number = await world.issue('/agent start');
  const task = await settled(number, 'in_review', 1);
  const runs = () => world.get<Run[]>(`/tasks/${task.id}/runs`);
  plays([write('shared.txt', 'both\n'), ...change('more')], [finish], [finish]);
  await push('main', 'shared.txt', 'theirs\n');
  await until('the run that merges', async () => {
    await world.service.api(world.token, 'POST', '/agents/pool/reconcile').catch(() => {});
    return (await runs()).length === 2;
  });
  await settled(number, 'in_review', 2);
  const [merging] = await runs();
  await pushGuard();
  const { head } = await mona<{ head: { ref: string } }>('GET', `${repo}/pulls/${pullOf(task)}`);
  await updateBranch(head.ref);
  plays('', change('again'), [finish], [finish]);
  await world.service.api<WorldTask>(world.token, 'POST', `/tasks/${task.id}/rewind`, {
    runId: merging?.id,
    turn: 1,
    text: 'Go on.',
  });
  await until('the run that goes back', async () => (await runs())[0]?.status === 'failed');
  expect((await runs())[0]?.failure?.message).toContain('which the branch has merged again since');
  const folder = world.github.folderOf('mona/sample');
  expect(gitOut(folder, 'ls-tree', '--name-only', head.ref)).toContain('guard.test');
});
