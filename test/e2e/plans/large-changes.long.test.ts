import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Said } from '../../../demo/model/model.ts';
import { until } from '../../../demo/real-service.ts';
import { type Face, openFace, repo, write } from '../../support/face.ts';
import { gitAsync } from '../../support/git.ts';
import type { WorldTask } from '../../support/world.ts';

// With `plan: large`, no way of ending, splitting, merging or revising makes a large change ready without an approved plan.

let face: Face;
/** What the model plays in the runs that begin next, one after the other; each begins with its turn 0. */
let runs: Said[][] = [];
beforeAll(async () => {
  const before = async (turn: number) => {
    const next = turn === 0 ? runs.shift() : undefined;
    if (next !== undefined) face.plays(...next);
  };
  face = await openFace({ before, settings: { SANDBOX: 'off' } });
  await face.push('main', '.deckhand.yml', 'plan: large\n');
});
afterAll(() => face.world.close());

const finish = { name: 'finish', arguments: { summary: 'Done.', nextSteps: [] } };
const files = (count: number) => Array.from({ length: count }, (_, n) => write(`large-${n}.txt`, 'x\n'));
const plan = { name: 'propose_plan', arguments: { markdown: 'Write many files.', files: ['large-*.txt', 'typo.txt'] } };
const givesUp = Array<string>(5).fill('I am done.');
/** Writes many files, and proposes a plan when `finish` is refused for the lack of one. */
const writesMany = [files(9), [finish], [plan], [...files(9), finish], [finish]];

const waitsForPlan = (number: number) =>
  until(`issue ${number} waiting for a plan`, async () => {
    const task = (await face.taskOf(number)) as WorldTask & Partial<{ attention: { reason: string } | null }>;
    return task.attention?.reason === 'plan' && task;
  });
const ended = (number: number, count: number, status: string) =>
  until(`run ${count} of issue ${number} to end`, async () => {
    const task = await face.taskOf(number);
    return task.runCount === count && task.status === status && task;
  });
async function changedFiles(task: WorldTask): Promise<string[]> {
  const diff = await face.world.get<{ files: { path: string }[] }>(`/tasks/${task.id}/diff`);
  return diff.files.map(({ path }) => path);
}

test('a run that continues after its subtasks proposes a plan', async () => {
  const split = { name: 'create_subtasks', arguments: { subtasks: [{ title: 'Look', description: 'Look around.' }] } };
  runs = [[[split]], [[finish], [finish]], writesMany];
  const number = await face.world.issue('/agent start');
  const waiting = await waitsForPlan(number);
  expect(waiting.prUrl).toBeNull();
  await face.say(number, '/agent approve');
  expect(await changedFiles(await ended(number, 2, 'in_review'))).toHaveLength(9);
});

test('a revision does not push what an earlier run could not, without a plan', async () => {
  runs = [[files(3), ...givesUp]];
  const number = await face.world.issue('/agent start');
  await ended(number, 1, 'in_review');
  runs = [[files(9), ...givesUp]];
  await face.say(number, '/agent retry Go on.');
  const before = await ended(number, 2, 'in_review');
  expect(await changedFiles(before)).toHaveLength(3);
  runs = [[[write('typo.txt', 'x\n')], [finish], [plan], [finish], [finish]]];
  await face.say(number, '/agent revise Mend the typo.');
  const waiting = await waitsForPlan(number);
  expect(await changedFiles(waiting)).toHaveLength(3);
  await face.say(number, '/agent approve');
  await ended(number, 3, 'in_review');
});

test('what a merge of the base branch brings does not count', async () => {
  runs = [[[write('CLASH.md', 'agent\n')], [finish], [finish]]];
  const number = await face.world.issue('/agent start');
  await ended(number, 1, 'in_review');
  runs = [givesUp];
  await face.inClone('main', 'main', false, async (clone) => {
    for (let n = 0; n < 8; n++) writeFileSync(join(clone, `base-${n}.txt`), 'x\n');
    writeFileSync(join(clone, 'CLASH.md'), 'person\n');
    await gitAsync(clone, 'add', '-A');
    await gitAsync(clone, 'commit', '-q', '-m', 'by a person');
  });
  await ended(number, 2, 'in_review');
  runs = [[[write('CLASH.md', 'both\n')], [finish], [finish]]];
  await face.say(number, '/agent retry');
  const merged = await until('the merge', async () => {
    const task = await ended(number, 3, 'in_review');
    return (task as { failure?: object | null }).failure === null && task;
  });
  expect(await changedFiles(merged)).toEqual(['CLASH.md']);
});

test('a large change without an approved plan is not pushed, however its run ends, and waits for a plan in the next one', async () => {
  const { world, say, mona } = face;
  runs = [[files(8), [finish], ...givesUp]];
  const number = await world.issue('/agent start');
  await ended(number, 1, 'ready');
  runs = [[[write('large-0.txt', 'y\n')], [finish], ...givesUp]];
  await say(number, '/agent retry Go on.');
  await ended(number, 2, 'ready');
  const branches = await mona<{ name: string }[]>('GET', `${repo}/branches?per_page=100`);
  expect(branches.filter(({ name }) => name.includes(`/${number}-`))).toEqual([]);
  runs = [[[plan], [write('large-0.txt', 'z\n')], [finish], [finish]]];
  await say(number, '/agent retry With a plan.');
  await waitsForPlan(number);
  await say(number, '/agent approve');
  expect(await changedFiles(await ended(number, 3, 'in_review'))).toHaveLength(8);
});
