import type { Said } from '../../../demo/model/model.ts';
import { until } from '../../../demo/real-service.ts';
import { write } from '../../support/face.ts';
import { gitOut } from '../../support/git.ts';
import { type Killable, testKillPoints } from '../../support/kill-points.ts';
import type { WorldTask } from '../../support/world.ts';

/** Each change adds another file, because the changes before it are merged. */
let count = 0;
const script = (turn: number): Said =>
  turn === 0
    ? [write(`made-${count}.txt`, 'x\n')]
    : [{ name: 'finish', arguments: { summary: 'Done.', nextSteps: [] } }];

interface Task extends WorldTask {
  issueNumber: number;
  merging: { state: string } | null;
}

/** Makes a task in review, while nothing hinders its merge. */
async function inReview({ world, get }: Killable): Promise<Task> {
  count++;
  Object.assign(world.github.rare, { requires: undefined, isBlocked: false });
  const number = await world.issue('/agent start');
  return until(`the task of issue ${number} in review`, async () => {
    const all = await get<Task[]>(`/projects/${world.project.id}/tasks?limit=100`);
    const task = all.find(({ issueNumber }) => issueNumber === number);
    return task?.status === 'in_review' && task;
  });
}

/** Asks until the service knows that GitHub merges the task. A killed service may have asked GitHub already. */
async function ask(service: Killable, task: Task, state: string): Promise<void> {
  await until(`merging ${state}`, async () => {
    await service.tryPost(`/tasks/${task.id}/merge`, { when: 'ready' });
    return (await service.get<Task>(`/tasks/${task.id}`)).merging?.state === state;
  });
}

const done = (service: Killable, task: Task) =>
  until('done', async () => {
    const now = await service.get<Task>(`/tasks/${task.id}`);
    return now.status === 'done' && now;
  });

async function expectMergedOnce(service: Killable, task: Task): Promise<void> {
  const { world, get } = service;
  expect([task.failure, task.merging]).toEqual([null, null]);
  expect(await get(`/tasks/${task.id}/runs`)).toMatchObject([{ kind: 'start', status: 'succeeded' }]);
  expect(await get(`/tasks/${task.id}/prs`)).toMatchObject([{ status: 'merged' }]);
  const mona = world.github.as('mona');
  const on = '/repos/mona/sample/commits';
  const commits = await mona<{ commit: { message: string } }[]>('GET', `${on}?sha=main&per_page=100`);
  const [number] = /\d+$/.exec(task.prUrl ?? '') ?? [];
  // GitHub's squash ends with the number of the pull request.
  expect(commits.filter(({ commit }) => commit.message.trim().endsWith(`(#${number})`))).toHaveLength(1);
  const head = gitOut(world.github.folderOf('mona/sample'), 'rev-parse', task.branchName ?? '');
  let shown = '';
  await until('one label, one comment and one check that say so', async () => {
    await get('/me');
    const labels = (await world.labels(task.issueNumber)).filter((name) => name.startsWith('agent:'));
    const own = (await world.comments(task.issueNumber)).filter(({ user }) => user.login === 'deckhand[bot]');
    const { check_runs: checks } = await mona<{ check_runs: { conclusion: string; output: { title: string } }[] }>(
      'GET',
      `${on}/${head}/check-runs`,
    );
    const bodies = own.map(({ body }) => body);
    shown = JSON.stringify({ labels, bodies, checks });
    const says = /^<!-- deckhand:status -->\n### \S+ Done\n(?!.*merge queue|.*Waiting to be).* \(merged\) /s;
    const isComment = bodies.length === 1 && says.test(bodies[0] ?? '');
    const isCheck = checks.length === 1 && checks[0]?.conclusion === 'success' && checks[0].output.title === '✅ Done';
    return labels.join() === 'agent:done' && isComment && isCheck;
  }).catch((error: Error) => {
    throw new Error(`${error.message}; there is ${shown}`);
  });
}

const game = {
  script: (_request: object, turn: number) => script(turn),
  prepare: async () => {},
  expectOneOfEach: expectMergedOnce,
  rehearsals: 2,
  ofEveryRun: /graphql$/,
};

testKillPoints('a change that the merge queue merges while the service is down: the task is done once', {
  ...game,
  play: async (service, begin) => {
    const { merges, rare } = service.world.github;
    const task = await inReview(service);
    begin();
    Object.assign(rare, { requires: 'queue', allowsAutoMerge: false });
    await ask(service, task, 'queued');
    service.kill();
    await merges.settle();
    return done(service, task);
  },
  // The second request asks for the merge.
  few: [{ kind: 'after', name: 'POST /graphql', nth: 1 }],
});

const merged = /^commit of pull_requests, tasks$/;

testKillPoints('killed when GitHub tells that it has merged what had to wait: the task is done once', {
  ...game,
  play: async (service, begin) => {
    const { merges, rare } = service.world.github;
    const task = await inReview(service);
    begin();
    Object.assign(rare, { isBlocked: true, allowsAutoMerge: true });
    await ask(service, task, 'waiting');
    rare.isBlocked = false;
    await merges.settle();
    return done(service, task);
  },
  few: [
    { kind: 'before', name: merged },
    { kind: 'after', name: merged },
    { kind: 'lost', name: /^POST .*\/labels$/ },
  ],
});
