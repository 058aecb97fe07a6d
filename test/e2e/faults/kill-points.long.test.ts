import type { ModelRequest, Said } from '../../../demo/model/model.ts';
import { until } from '../../../demo/real-service.ts';
import { handsOf, write } from '../../support/face.ts';
import { gitOut } from '../../support/git.ts';
import { type Killable, testKillPoints } from '../../support/kill-points.ts';
import { expectShownOnce } from '../../support/shown-once.ts';
import type { WorldTask } from '../../support/world.ts';

const command = (text: string) => ({ name: 'run_command', arguments: { command: text } });
/** Files that replace links and folders, and the other way round, must be there again after each pause and each kill. */
const change =
  'ln -s README.md link.txt && rm -rf data/d.txt && echo file > data/d.txt && mkdir -p a/b && ln -s ../../package.json a/b/up';
const later = 'grep x made.txt && rm link.txt && echo plain > link.txt';
const ask = { name: 'ask_person', arguments: { question: 'Which one?', options: ['this', 'that'] } };
const finish = { name: 'finish', arguments: { summary: 'Done.', nextSteps: [] } };
const script: Said[] = [
  [write('made.txt', 'x\n'), write('test/made.sh', 'grep x made.txt\n')],
  [command(change)],
  [command(later), ask],
  [finish],
];
/** A shell starts faster than the test runner of Node, and they run five times. */
const checks = 'for each in test/*.sh; do test ! -e $each || sh $each || exit 1; done';
const busy: Said = { status: 429, headers: { 'retry-after': '0.01' } };

/** The turn that the model refuses at first, and how often it still does so in the current run, which parks the run. */
const refusedTurn = 2;
let refusals = 0;
/** How many requests the model had before the current run. */
let askedBefore = 0;
/** The answers are streamed whenever the service asks for it. A run is parked once, after the client's own retries. */
const answer = (_request: ModelRequest, turn: number) =>
  turn === refusedTurn && refusals-- > 0 ? busy : (script[Math.min(turn, script.length - 1)] ?? 'Done.');

const turnOf = ({ messages }: ModelRequest) => messages.filter(({ role }) => role === 'assistant').length;

interface Shown extends WorldTask {
  issueNumber: number;
  attention: { id: string; reason: string } | null;
}

/** Answers the question and approves the change. What arrived before a fault is refused the second time. */
async function react({ tryPost }: Killable, { id, attention }: Shown): Promise<void> {
  if (attention === null || attention.reason === 'model') return;
  const [verb, body] = attention.reason === 'question' ? ['answer', { text: '2' }] : ['approve', {}];
  await tryPost(`/tasks/${id}/${verb}`, { ...body, id: attention.id });
}

async function play(service: Killable, begin: () => void): Promise<Shown> {
  begin();
  refusals = 5;
  const { world } = service;
  askedBefore = world.model.requests.length;
  const number = await world.issue('/agent start');
  const inReview = async () => {
    const all = await service.get<Shown[]>(`/projects/${world.project.id}/tasks?limit=100`);
    const task = all.find((t) => t.issueNumber === number);
    if (task !== undefined) await react(service, task);
    return task?.status === 'in_review' && task;
  };
  return until(`the task of issue ${number} in review`, inReview, 600_000);
}

/** After a fault at one of the model's refusals, fewer of them are left, so the run may go on without being parked. */
async function expectOneOfEach(service: Killable, task: Shown, isFaulty: boolean): Promise<void> {
  const { world, get } = service;
  expect(task.failure).toBeNull();
  const runs = await get<{ id: string; status: string }[]>(`/tasks/${task.id}/runs`);
  expect(runs.map((r) => r.status)).toEqual(['succeeded']);
  const log = await get<{ type: string; data: { reason?: string } }[]>(`/runs/${runs[0]?.id}/events`);
  const waits = log.flatMap(({ type, data }) => (type === 'waiting' ? [data.reason] : []));
  expect(waits.filter((reason) => reason !== 'model')).toEqual(['question', 'push']);
  expect(waits.length).toBeGreaterThanOrEqual(isFaulty ? 2 : 3);
  expect(waits.length).toBeLessThanOrEqual(3);
  // The model was asked for each turn once, or once more for the turn at which there was a fault.
  const asked = world.model.requests.slice(askedBefore).map((request) => turnOf(request));
  const again = asked.filter((turn, i) => turn !== refusedTurn && asked.indexOf(turn) !== i);
  expect(again.length).toBeLessThanOrEqual(isFaulty ? 1 : 0);
  // The model read the answer once, and the change was pushed as it was approved.
  const prompt = JSON.stringify(world.model.requests.at(-1)?.messages);
  expect(prompt.split('answers \\"Which one?\\"]\\nthat')).toHaveLength(2);
  expect((await get<{ handoffs: unknown[] }>(`/tasks/${task.id}/handoffs`)).handoffs).toHaveLength(1);
  // A proof that is repeated after a fault says the same: links of a change leave a doubt.
  const reason = 'a/b/up decides how the tests run';
  expect(await get(`/tasks/${task.id}/proof`)).toMatchObject({ status: 'unproved', reason });
  expect(await get<unknown[]>(`/tasks/${task.id}/prs`)).toHaveLength(1);
  const audit = await get<{ action: string; object: { id: string } }[]>(
    `/projects/${world.project.id}/audit?limit=100`,
  );
  const actions = audit.filter(({ object }) => object.id === task.id).map(({ action }) => action);
  expect(actions).toEqual(['task.propose', 'task.approve', 'task.answer', 'task.start']);
  await expectShownOnce(service, task, 1);
  const [folder, branch] = [world.github.folderOf('mona/sample'), task.branchName ?? ''];
  expect(gitOut(folder, 'diff', '--summary', '--no-renames', `main...${branch}`).split(/\n */)).toEqual([
    'create mode 120000 a/b/up',
    'create mode 100644 data/d.txt',
    'delete mode 100644 data/d.txt/one.txt',
    'create mode 100644 link.txt',
    'create mode 100644 made.txt',
    'create mode 100644 test/made.sh',
  ]);
  expect(gitOut(folder, 'show', `${branch}:link.txt`)).toBe('plain');
  expect(gitOut(folder, 'show', `${branch}:README.md`)).toBe(gitOut(folder, 'show', 'main:README.md'));
}

testKillPoints(
  'killed before or after any external effect, or with its response lost, a run makes one branch, one pull request, one handoff',
  {
    script: answer,
    prepare: async (world) => {
      await world.service.api(world.token, 'PATCH', `/projects/${world.project.id}`, { push: 'approved' });
      await handsOf(world).push('main', 'data/d.txt/one.txt', 'one\n');
      // Checks and a proof are steps of the run too.
      await handsOf(world).push('main', '.deckhand.yml', `checks: ${JSON.stringify(checks)}\n`);
    },
    play,
    expectOneOfEach,
    // The first run also does one-time work: it creates labels and handles events from before the start.
    rehearsals: 2,
    ofEveryRun: /^(GIT|model|commit of (run_steps|run_turns|handoffs))/,
    few: [
      { kind: 'lost', name: /^GIT .*upload-pack/ },
      { kind: 'before', name: /^model 2/ },
      { kind: 'lost', name: /^GIT .*receive-pack/ },
      { kind: 'after', name: /^POST .*\/pulls$/ },
    ],
  },
);
