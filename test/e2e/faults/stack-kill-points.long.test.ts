import type { Said } from '../../../demo/model/model.ts';
import { until } from '../../../demo/real-service.ts';
import { write } from '../../support/face.ts';
import { gitOut } from '../../support/git.ts';
import { type Killable, testKillPoints } from '../../support/kill-points.ts';
import type { World, WorldTask } from '../../support/world.ts';

/** The file that the next run writes. Each play has files of its own, because those before it are merged. */
let file = '';
let count = 0;
const script = (turn: number): Said =>
  turn === 0 ? [write(file, 'x\n')] : [{ name: 'finish', arguments: { summary: 'Done.', nextSteps: [] } }];

interface Task extends WorldTask {
  issueNumber: number;
  base: string | null;
}

interface Stack {
  lower: Task;
  upper: Task;
  /** The commits that `upper` has before `lower` is merged. */
  commits: string[];
}

const repo = '/repos/mona/sample';
const folderOf = (world: Pick<World, 'github'>) => world.github.folderOf('mona/sample');
const numberOf = ({ prUrl }: WorldTask) => Number(/\d+$/.exec(prUrl ?? '')?.[0]);
/** The commits of a branch that main does not have. */
const own = ({ world }: Killable, branch: string) =>
  gitOut(folderOf(world), 'log', '--format=%H', `main..${branch}`).split('\n').filter(Boolean);
const changed = ({ world }: Killable, branch: string) =>
  gitOut(folderOf(world), 'diff', '--name-only', `main...${branch}`).split('\n');

/** Makes a task in review whose run writes a file. */
async function inReview({ world, get }: Killable, writes: string, base?: string): Promise<Task> {
  file = writes;
  const number = await world.issue(base === undefined ? '/agent start' : '/agent create');
  const taskWith = (what: string, isSo: (task: Task) => boolean) =>
    until(`the task of issue ${number} ${what}`, async () => {
      const all = await get<Task[]>(`/projects/${world.project.id}/tasks?limit=100`);
      return all.find((task) => task.issueNumber === number && isSo(task));
    });
  const say = (body: string) => world.github.as('mona')('POST', `${repo}/issues/${number}/comments`, { body });
  if (base !== undefined) {
    await taskWith('exists', () => true);
    await say(`/agent base ${base}`);
    await taskWith(`on ${base}`, (task) => task.base === base);
    await say('/agent start');
  }
  return taskWith('in review', ({ status }) => status === 'in_review');
}

testKillPoints('the change below is merged and the one above moves to main: each once, and nothing is lost', {
  script: (_request: object, turn: number) => script(turn),
  prepare: async () => {},
  rehearsals: 2,
  ofEveryRun: /^PATCH .*\/pulls\/#$/,
  play: async (service, begin): Promise<Stack> => {
    const { world, get, tryPost } = service;
    count++;
    const lower = await inReview(service, `lower-${count}.txt`);
    const upper = await inReview(service, `upper-${count}.txt`, lower.branchName ?? '');
    const commits = own(service, upper.branchName ?? '');
    expect(changed(service, upper.branchName ?? '')).toEqual([`lower-${count}.txt`, `upper-${count}.txt`]);
    begin();
    await until('the merge below', async () => {
      await tryPost(`/tasks/${lower.id}/merge`, {});
      return (await get<Task>(`/tasks/${lower.id}`)).status === 'done';
    });
    await until('the move to main', async () => {
      const { base } = await get<Task>(`/tasks/${upper.id}`);
      const pull = await world.github.as('mona')<{ base: { ref: string } }>('GET', `${repo}/pulls/${numberOf(upper)}`);
      return base === 'main' && pull.base.ref === 'main' && changed(service, upper.branchName ?? '').length === 1;
    });
    return { lower, upper: await get<Task>(`/tasks/${upper.id}`), commits };
  },
  expectOneOfEach: async (service, { lower, upper, commits }) => {
    const { world, get, tryPost } = service;
    const mona = world.github.as('mona');
    const branch = upper.branchName ?? '';
    expect([upper.status, upper.failure]).toEqual(['in_review', null]);
    expect(changed(service, branch)).toEqual([`upper-${count}.txt`]);
    // Its own commits are still there, with one merge of the base on top of them.
    const now = own(service, branch);
    expect(now).toEqual(expect.arrayContaining(commits));
    expect(now).toHaveLength(commits.length + 1);
    const merged = gitOut(folderOf(world), 'log', '--format=%s', 'main').split('\n');
    expect(merged.filter((subject) => subject.endsWith(`(#${numberOf(lower)})`))).toHaveLength(1);
    await until('the note, once', async () => {
      await get('/me');
      const comments = await mona<{ body: string }[]>('GET', `${repo}/issues/${numberOf(upper)}/comments`);
      return comments.filter(({ body }) => body.includes('It goes into `main` now')).length === 1;
    });
    for (const task of [lower, upper])
      expect(await get(`/tasks/${task.id}/runs`)).toMatchObject([{ kind: 'start', status: 'succeeded' }]);
    await until('the merge above', async () => {
      await tryPost(`/tasks/${upper.id}/merge`, {});
      return (await get<Task>(`/tasks/${upper.id}`)).status === 'done';
    });
    expect(gitOut(folderOf(world), 'show', `main:upper-${count}.txt`)).toBe('x');
  },
  few: [
    { kind: 'after', name: /^PUT .*\/pulls\/#\/merge$/ },
    { kind: 'before', name: /^PATCH .*\/pulls\/#$/ },
    { kind: 'after', name: /^PATCH .*\/pulls\/#$/ },
    { kind: 'lost', name: /^POST .*\/merges$/ },
  ],
});
