import { until } from '../../../demo/real-service.ts';
import { packFiles } from '../../../src/worker/workspace/pack-files.ts';
import { type Face, openFace, repo, write } from '../../support/face.ts';
import { gitOut } from '../../support/git.ts';
import type { WorldTask } from '../../support/world.ts';

interface Shown extends WorldTask {
  attention: { id: string; reason: string; text: string; options: string[] } | null;
}

let face: Face;
/** Holds the model's answer to this turn until it is set free. */
let held: { turn: number; reached: () => void; free: Promise<void> } | undefined;
beforeAll(async () => {
  const before = async (turn: number) => {
    if (held?.turn !== turn) return;
    held.reached();
    await held.free;
  };
  face = await openFace({ before });
});
afterAll(() => face.world.close());

/** Makes the model wait at a turn of the next run. */
function holdAt(turn: number) {
  const reached = Promise.withResolvers<void>();
  const freed = Promise.withResolvers<void>();
  held = { turn, reached: reached.resolve, free: freed.promise };
  return { reached: reached.promise, free: freed.resolve };
}

const finish = { name: 'finish', arguments: { summary: 'Done.', nextSteps: [] } };
const waitsFor = (number: number, reason: string) =>
  until(`issue ${number} waiting for ${reason}`, async () => {
    const task = (await face.taskOf(number)) as WorldTask & Partial<Shown>;
    return task.attention?.reason === reason && (task as Shown);
  });
const prompts = () => JSON.stringify(face.world.model.requests.at(-1)?.messages);
const labels = async (number: number) => (await face.world.labels(number)).filter((l) => l.startsWith('agent:')).join();

test('by comments: a run hears what people say, pauses after its turn, survives a restart and resumes', async () => {
  const { world, say, plays } = face;
  plays([write('made.txt', 'x\n')], [{ name: 'run_command', arguments: { command: 'cat made.txt' } }], [finish]);
  const { reached, free } = holdAt(1);
  const number = await world.issue('/agent start');
  await reached;
  const spoken = await say(number, '/agent say Mind the tabs.');
  const paused = await say(number, '/agent pause');
  for (const { id } of [spoken, paused])
    await until('the reaction', async () => face.reactionsTo(id).includes('rocket'));
  free();
  await waitsFor(number, 'paused');
  await until('the label', async () => (await labels(number)) === 'agent:in-progress,agent:needs-you');
  await face.told(number, 'Paused by mona.');
  await world.service.stop();
  await world.restart();
  const early = await say(number, '/agent resume');
  await until('the reaction', async () => face.reactionsTo(early.id).includes('rocket'));
  const task = await face.settled(number, 'in_review', 1);
  await until('the label gone', async () => (await labels(number)) === 'agent:in-review');
  expect(prompts()).toContain('[mona says]\\nMind the tabs.');
  expect(await face.fileOn(task.branchName ?? '', 'made.txt')).toBe('x');
  expect(await face.statusComment(number)).toHaveLength(1);
  const late = await say(number, '/agent say Anybody there?');
  await until('the refusal', async () => face.reactionsTo(late.id).includes('confused'));
  await face.told(number, /no unfinished run/);
});

test('by comments: a question with options is answered by number', async () => {
  const { world, say, plays } = face;
  const ask = { name: 'ask_person', arguments: { question: 'Tabs or spaces?', options: ['tabs', 'spaces'] } };
  plays([write('asked.txt', 'x\n'), ask], [finish]);
  const number = await world.issue('/agent start');
  await waitsFor(number, 'question');
  await face.told(number, /- \[ \] 2\. spaces/);
  const wrong = await say(number, '/agent answer 7');
  await until('the refusal', async () => face.reactionsTo(wrong.id).includes('confused'));
  await face.told(number, 'There is no option 7');
  const right = await say(number, '/agent answer 2');
  await until('the reaction', async () => face.reactionsTo(right.id).includes('rocket'));
  const task = await face.settled(number, 'in_review', 1);
  expect(prompts()).toContain('answers \\"Tabs or spaces?\\"]\\nspaces');
  expect(await face.fileOn(task.branchName ?? '', 'asked.txt')).toBe('x');
  expect(await face.statusComment(number)).toHaveLength(1);
});

test('by comments: a plan is revised and approved; the pull request lists what it did not name', async () => {
  const { world, say, plays } = face;
  const propose = (markdown: string) => ({ name: 'propose_plan', arguments: { markdown, files: ['planned.txt'] } });
  const sneak = { name: 'run_command', arguments: { command: 'echo x > sneaked.txt' } };
  plays(
    [write('early.txt', 'x\n'), sneak, propose('I will add *two* files.')],
    [propose('I will add one file.')],
    [write('planned.txt', 'x\n'), write('unplanned.txt', 'x\n')],
    [finish],
  );
  const number = await world.issue('/agent start plan');
  const first = await waitsFor(number, 'plan');
  await until('the label', async () => (await labels(number)) === 'agent:in-progress,agent:needs-you');
  await face.told(number, /I will add \*two\* files/);
  await say(number, '/agent revise One is enough.');
  const second = await until('another plan', async () => {
    const task = await waitsFor(number, 'plan');
    return task.attention?.id !== first.attention?.id && task;
  });
  expect(second.attention?.text).toBe('I will add one file.');
  expect(prompts()).toContain('asks for another plan]\\nOne is enough.');
  expect(prompts()).toContain('a person has to approve a plan');
  await say(number, '/agent approve');
  const task = await face.settled(number, 'in_review', 1);
  const pull = await face.mona<{ body: string }>('GET', `${repo}/pulls/${face.pullOf(task)}`);
  expect(pull.body).toContain('### Changed files that the plan does not name\n- unplanned.txt');
  const { files } = await world.get<{ files: { path: string }[] }>(`/tasks/${task.id}/diff`);
  expect(files.map((f) => f.path)).toEqual(['planned.txt', 'unplanned.txt']);
  expect(await face.statusComment(number)).toHaveLength(1);
  const twice = await say(number, '/agent approve');
  await until('the refusal', async () => face.reactionsTo(twice.id).includes('confused'));
});

test('by comments: a change waits for approval, is corrected, and exactly what was approved is pushed', async () => {
  const { world, say, plays } = face;
  const project = `/projects/${world.project.id}`;
  const set = (push: string) => world.service.api(world.token, 'PATCH', project, { push });
  await set('approved');
  plays([write('held.txt', 'one\n')], [finish], [finish], [write('held.txt', 'two\n')], [finish]);
  const number = await world.issue('/agent start');
  const first = await waitsFor(number, 'push');
  expect(first).toMatchObject({ attention: { text: 'held.txt' }, branchName: null, prUrl: null });
  await face.told(number, '- held.txt');
  const diff = await world.get<{ files: { path: string; hunks: { lines: string[] }[] }[] }>(`/tasks/${first.id}/diff`);
  expect(diff.files.map((f) => [f.path, f.hunks[0]?.lines])).toEqual([['held.txt', ['+one']]]);
  await say(number, '/agent revise Write two.');
  await until('another change', async () => (await waitsFor(number, 'push')).attention?.id !== first.attention?.id);
  expect(prompts()).toContain('asks for another change]\\nWrite two.');
  await say(number, '/agent approve');
  const task = await face.settled(number, 'in_review', 1);
  expect(await face.fileOn(task.branchName ?? '', 'held.txt')).toBe('two');
  const log = await world.get<{ type: string }[]>(
    `/runs/${(await world.get<{ id: string }[]>(`/tasks/${task.id}/runs`))[0]?.id}/events`,
  );
  expect(log.filter(({ type }) => type === 'push')).toHaveLength(1);
  expect(await face.statusComment(number)).toHaveLength(1);
  // A run that fails pushes nothing, and the next one continues with its files.
  plays([write('kept.txt', 'x\n')], [{ name: 'give_up', arguments: { reason: 'too hard' } }]);
  const other = await world.issue('/agent start');
  await face.told(other, 'too hard');
  expect((await face.taskOf(other)).branchName).toBeNull();
  plays([{ name: 'read_file', arguments: { path: 'kept.txt' } }], [finish]);
  await say(other, '/agent retry');
  await waitsFor(other, 'push');
  await say(other, '/agent approve');
  const done = await face.settled(other, 'in_review', 2);
  expect(await face.fileOn(done.branchName ?? '', 'kept.txt')).toBe('x');
  await set('free');
});

test('by comments: set-up of a change waits for approval, and the same finish is judged again after a restart', async () => {
  const { world, say, plays, push } = face;
  const project = `/projects/${world.project.id}`;
  await world.service.api(world.token, 'PATCH', project, { push: 'approved' });
  const settings = [
    'setup: test ! -e bootstrap.sh || sh bootstrap.sh',
    'cache: bootstrap.sh',
    'network: { setup: [packages.example.org] }',
    'checks: test -e bootstrapped',
  ];
  await push('main', '.deckhand.yml', `${settings.join('\n')}\n`);
  await push('main', '.gitignore', 'bootstrapped\n');
  // The host does not exist, which is another answer than that it is not allowed.
  const script = 'curl -s http://packages.example.org/ | grep -q "not allowed" && exit 1\ntouch bootstrapped\n';
  plays([write('bootstrap.sh', script), finish], [finish]);
  const number = await world.issue('/agent start');
  const { attention } = await waitsFor(number, 'push');
  const [reason, ...files] = attention?.text.split('\n') ?? [];
  expect(reason).toMatch(/sh bootstrap\.sh: it failed without the network of set-up; refused: packages\.example\.org$/);
  expect(files).toEqual(['', 'bootstrap.sh']);
  await face.told(number, 'Set-up of this change would run its code with the network of set-up.');
  const asked = world.model.requests.length;
  await world.service.stop();
  await world.restart();
  await say(number, '/agent approve');
  const task = await face.settled(number, 'in_review', 1);
  expect(task.failure).toBeNull();
  expect(await face.fileOn(task.branchName ?? '', 'bootstrap.sh')).toContain('touch bootstrapped');
  // Neither the model nor a person was asked again.
  expect(world.model.requests).toHaveLength(asked);
  await push('main', '.deckhand.yml', '{}\n');
  await world.service.api(world.token, 'PATCH', project, { push: 'free' });
});

test('people without write permission steer nothing', async () => {
  const { world, say, plays, mona } = face;
  await mona('PUT', `${repo}/collaborators/stranger`, { permission: 'pull' });
  plays([write('other.txt', 'x\n')], [finish]);
  const { reached, free } = holdAt(0);
  const number = await world.issue('/agent start');
  await reached;
  await say(number, '/agent pause', 'stranger');
  await say(number, '/agent say Stop!', 'stranger');
  const last = await say(number, '/agent status');
  await until('the reaction', async () => face.reactionsTo(last.id).includes('rocket'));
  free();
  await face.settled(number, 'in_review', 1);
  expect(prompts()).not.toContain('Stop!');
});

test('a change that is not exactly the judged and approved one is not pushed', async () => {
  const { world, say, plays } = face;
  const project = `/projects/${world.project.id}`;
  await world.service.api(world.token, 'PATCH', project, { push: 'approved' });
  plays([write('held.txt', 'one\n')], [finish], [finish]);
  const number = await world.issue('/agent start');
  const { id } = await waitsFor(number, 'push');
  // Whatever the reason, the files that the next worker restores are other ones.
  const other = await packFiles({ '': [{ path: 'held.txt', mode: '100644', content: btoa('two\n') }] });
  await world.sql(
    `update run_turns set workspace = $2 where workspace is not null and run_id in (select id from runs where task_id = $1)`,
    [id, other],
  );
  await say(number, '/agent approve');
  const task = await face.settled(number, 'ready', 1);
  expect(task.failure).toMatchObject({
    category: 'internal',
    message: expect.stringMatching(/not restored as they were judged/),
  });
  expect(task.branchName).toBeNull();
  await world.service.api(world.token, 'PATCH', project, { push: 'free' });
});

test('unchecked commits reach a pull request only as a draft, and never with the results of others', async () => {
  const { world, plays, push, say, settled, mona, pullOf, fileOn, told: shows } = face;
  const { github, service } = world;
  await push('main', '.deckhand.yml', 'checks:\n  - grep -q good made.txt\n');
  plays([write('made.txt', 'good\n'), finish], [finish]);
  const number = await world.issue('/agent start');
  const task = await settled(number, 'in_review', 1);
  const pull = () => mona<{ draft: boolean; body: string }>('GET', `${repo}/pulls/${pullOf(task)}`);
  const file = () => fileOn(task.branchName ?? '', 'made.txt');
  const giveUp = { name: 'give_up', arguments: { reason: 'too hard' } };
  // The answers to the requests for a draft, and the order of these requests and of pushes.
  let answers: ({ status: number; message?: string } | undefined)[] = [];
  let asked: string[] = [];
  github.fail((method, path, _token, query) => {
    if (method === 'GIT' && path.includes('git-receive-pack')) asked.push('push');
    if (!query.includes('convertPullRequestToDraft')) return undefined;
    const answer = answers.length > 1 ? answers.shift() : answers[0];
    asked.push(`draft ${answer?.status ?? 'made'}`);
    return answer;
  });
  plays([write('made.txt', 'bad\n'), giveUp]);
  const unsupported = { status: 422, message: 'Draft pull requests are not supported in this repository.' };
  for (const [i, refusal] of [{ status: 403 }, unsupported, { status: 200 }].entries()) {
    answers = [refusal];
    await say(number, '/agent revise Do more.');
    const after = await settled(number, 'in_review', 2 + i);
    expect(after.failure).toMatchObject({
      category: 'gave_up',
      message: expect.stringMatching(/^too hard; nothing was pushed, because .* could not become a draft: /),
    });
    expect([asked.includes('push'), file(), (await pull()).draft]).toEqual([false, 'good', false]);
    expect((await pull()).body).toContain('✅ `grep -q good made.txt`');
  }
  await shows(number, 'nothing was pushed');
  // The next run continues with the files. GitHub answers again at its third request.
  plays([giveUp]);
  [answers, asked] = [[{ status: 502 }, { status: 502 }, undefined], []];
  await say(number, '/agent revise Do more.');
  await settled(number, 'in_review', 5);
  expect(asked.slice(0, 4)).toEqual(['draft 502', 'draft 502', 'draft made', 'push']);
  expect(file()).toBe('bad');
  const { draft, body } = await pull();
  expect([draft, body.includes('✅'), body.includes('⚠️ The newest commits were not checked.')]).toEqual([
    true,
    false,
    true,
  ]);
  await expect(service.api(world.token, 'POST', `/tasks/${task.id}/merge`)).rejects.toThrow(/409.*draft/);
  const [stored] = await world.sql('select unready_sha from pull_requests where task_id = $1', [task.id]);
  const head = gitOut(github.folderOf('mona/sample'), 'rev-parse', task.branchName ?? '');
  expect(stored).toEqual({ unready_sha: head });
  // A person may decide that it is ready.
  await mona('PATCH', `${repo}/pulls/${pullOf(task)}`, { draft: false });
  const problems = async () =>
    (await world.get<{ problems: { blocks: boolean }[] }>(`/tasks/${task.id}/merge-readiness`)).problems;
  await until('no problem that blocks', async () => {
    await service.api(world.token, 'POST', '/agents/pool/reconcile');
    return (await problems()).every(({ blocks }) => !blocks);
  });
  github.fail(() => undefined);
  await push('main', '.deckhand.yml', '{}\n');
});
