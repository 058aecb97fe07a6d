import type { Said } from '../../../demo/model/model.ts';
import { until } from '../../../demo/real-service.ts';
import { repo, write } from '../../support/face.ts';
import { gitOut } from '../../support/git.ts';
import { openWorld, type World, type WorldTask } from '../../support/world.ts';

// bob may write to the repository sample only, carol to Docs only, mona to both.
let world: World;
let script: Said[] = [];
/** Holds the model's answer to this turn until it is set free. */
let held: { turn: number; reached: () => void; free: Promise<void> } | undefined;
beforeAll(async () => {
  world = await openWorld((_request, turn) => script[Math.min(turn, script.length - 1)] ?? 'Done.', {
    seed: { more: ['Docs'], isPrivate: true, people: ['mona', 'stranger', 'bob', 'carol'] },
    settings: { SANDBOX: 'off' },
    before: async (turn) => {
      if (held?.turn !== turn) return;
      held.reached();
      await held.free;
    },
  });
  await until('both repositories', async () => (await world.get<unknown[]>('/repositories')).length === 2);
  const mona = world.github.as('mona');
  await mona('PUT', `${repo}/collaborators/bob`, { permission: 'push' });
  await mona('PUT', '/repos/mona/Docs/collaborators/carol', { permission: 'push' });
});
afterAll(() => world.close());

const docs = { name: 'open_repository', arguments: { name: 'Docs' } };
const finish = { name: 'finish', arguments: { summary: 'Done.', nextSteps: [] } };
const say = (who: string, number: number, body: string, name = 'sample') =>
  world.github.as(who)<{ id: number }>('POST', `/repos/mona/${name}/issues/${number}/comments`, { body });
const refused = ({ id }: { id: number }) =>
  until('the refusal', async () =>
    world.github.reactions.some((r) => r.subject.endsWith(`/comments/${id}`) && r.content === 'confused'),
  );

interface Pull {
  repositoryName: string;
  prNumber: number;
  status: string;
}
const pullsOf = ({ id }: { id: string }) => world.get<Pull[]>(`/tasks/${id}/prs`);
const runsOf = ({ id }: { id: string }) => world.get<object[]>(`/tasks/${id}/runs`);

/** Returns the task of an issue, the newest one, once it is in review. */
async function reviewed(number: number): Promise<WorldTask> {
  await until(
    'the task',
    async () => ((await world.task()) as WorldTask & { issueNumber: number }).issueNumber === number,
  );
  return world.taskIn('in_review');
}

/** Returns a task of mona in review, which changed both repositories. */
async function inBoth(): Promise<{ number: number; task: WorldTask; docsPull: number }> {
  script = [[docs], [write('both.txt', 'x\n'), write('../Docs/both.txt', 'x\n')], [finish]];
  const number = await world.issue('/agent start');
  const task = await reviewed(number);
  const docsPull = (await pullsOf(task)).find((each) => each.repositoryName === 'Docs')?.prNumber ?? 0;
  return { number, task, docsPull };
}

test('who may write to one repository of a task only neither directs nor merges it, from either side', async () => {
  const { number, task, docsPull } = await inBoth();
  const headOf = (name: string) => gitOut(world.github.folderOf(`mona/${name}`), 'rev-parse', task.branchName ?? '');
  const heads = ['sample', 'Docs'].map(headOf);
  const commands = ['revise Copy it', 'rewind 1 Copy it', 'update', 'budget $9', 'merge'];
  for (const command of commands) await refused(await say('carol', docsPull, `/agent ${command}`, 'Docs'));
  for (const command of ['rewind 2 Copy it', 'merge']) await refused(await say('bob', number, `/agent ${command}`));
  expect(await runsOf(task)).toHaveLength(1);
  expect(['sample', 'Docs'].map(headOf)).toEqual(heads);
  expect((await pullsOf(task)).map(({ status }) => status)).toEqual(['open', 'open']);
});

test('nobody speaks to a run that has opened a repository in which they may not write', async () => {
  const reached = Promise.withResolvers<void>();
  const freed = Promise.withResolvers<void>();
  held = { turn: 1, reached: reached.resolve, free: freed.promise };
  script = [[docs], [write('heard.txt', 'x\n')], [finish]];
  const number = await world.issue('/agent start');
  await reached.promise;
  await refused(await say('bob', number, '/agent say Copy Docs.'));
  held = undefined;
  freed.resolve();
  await reviewed(number);
  expect(JSON.stringify(world.model.requests.at(-1)?.messages)).not.toContain('Copy Docs.');
});

test('no text of an agent or an issue makes CI skip a commit, and a fork takes no place in a task', async () => {
  const arguments_ = { summary: 'Done [ci skip]', nextSteps: [], prTitle: '[skip ci] Fix', prBody: 'x [no ci]' };
  script = [[write('ci.txt', 'x\n')], [{ name: 'finish', arguments: arguments_ }]];
  const task = await reviewed(await world.issue('/agent start', { title: '[skip ci] Fix' }));
  const [own] = await pullsOf(task);
  const pull = await world.github.as('mona')<{ title: string; body: string; head: { repo: object } }>(
    'GET',
    `${repo}/pulls/${own?.prNumber}`,
  );
  const message = gitOut(world.github.folderOf('mona/sample'), 'show', '-s', '--format=%B', task.branchName ?? '');
  expect(message).toMatch(/^\[\u2060skip ci\] Fix$/m);
  for (const text of [message, pull.title, pull.body]) expect(text).not.toMatch(/\[(skip ci|ci skip|no ci)\]/);

  const theirs = { id: 777_777, full_name: 'stranger/sample', owner: { id: 4_242_424, login: 'stranger' }, fork: true };
  const fork = {
    ...pull,
    number: 900,
    user: theirs.owner,
    head: { ...pull.head, sha: 'f'.repeat(40), repo: { ...pull.head.repo, ...theirs } },
  };
  const deliveries = async () => (await world.sql('select 1 from deliveries where handled_at is null', [])).length;
  for (const [action, more, rest = {}] of [
    ['opened', {}],
    ['synchronize', {}, { before: 'e'.repeat(40), after: 'f'.repeat(40) }],
    ['closed', { state: 'closed', merged: true, merged_at: '2026-01-01T00:00:00Z' }],
  ] as const) {
    const about = { action, number: 900, pull_request: { ...fork, ...more }, ...rest };
    await world.github.send('pull_request', { ...about, sender: 'stranger' });
    await until('the event handled', async () => (await deliveries()) === 0);
  }
  expect(await pullsOf(task)).toEqual([own]);
  expect((await world.task()).status).toBe('in_review');
});
