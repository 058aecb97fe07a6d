import { until } from '../../../demo/real-service.ts';
import { type Face, openFace, repo, write } from '../../support/face.ts';
import { gitOut } from '../../support/git.ts';
import type { WorldTask } from '../../support/world.ts';

/** What a person may allow in one change, and what nobody may. */
let face: Face;
beforeAll(async () => {
  face = await openFace({ seed: { people: ['mona', 'bob', 'stranger'] } });
  await face.mona('PUT', `${repo}/collaborators/bob`, { permission: 'maintain' });
});
afterAll(() => face.world.close());

type Shown = WorldTask & { attention: { id: string; reason: string; text: string } | null };
const finish = { name: 'finish', arguments: { summary: 'Done.', nextSteps: [] } };
const waits = (number: number, isOther = (_id: string) => true) =>
  until(`issue ${number} waiting for approval`, async () => {
    const task = (await face.taskOf(number)) as unknown as Shown;
    return task.attention?.reason === 'push' && isOther(task.attention.id) && task;
  });
const prompts = () => JSON.stringify(face.world.model.requests.at(-1)?.messages);

/** Examples of the documentation of AWS, and of a shape that is no key. */
const [first, second] = ['AKIAIOSFODNN7EXAMPLE', 'AKIAI44QH8DHBEXAMPLE'];
const awsAt = (place: string) => `${place} contains what looks like an AWS access key`;

test('a key in a fixture waits for a person, who allows exactly this change, also after a restart; another change asks again', async () => {
  const { world, plays, push, say, told, settled, fileOn } = face;
  await push('main', '.deckhand.yml', 'approve: others\n');
  const pushes = world.github.pushes.length;
  const fixture = (key: string) => write('test/fixtures/aws.txt', `# made up\nkey = ${key}\n`);
  // The review says it once, and the agent leaves it. A request for changes makes it write another key.
  plays([fixture(first), finish], [finish], [fixture(second), finish]);
  const number = await world.issue('/agent start');
  const task = await waits(number);
  expect(task.attention?.text).toBe(
    `An approval also allows what was found in the change:\n${awsAt('test/fixtures/aws.txt:2')}\n\ntest/fixtures/aws.txt`,
  );
  expect(prompts().split('Only a person can allow the following')).toHaveLength(2);
  expect(prompts()).toContain(awsAt('- test/fixtures/aws.txt:2'));
  await told(number, /\*\*Found in the change\*\*\s+- .*test\/fixtures\/aws\.txt:2/);
  const inbox = await world.get<{ taskId: string; text: string }[]>('/me/inbox');
  expect(inbox.find(({ taskId }) => taskId === task.id)?.text).toContain(awsAt('test/fixtures/aws.txt:2'));

  // Neither who may not write, nor who started the task.
  await say(number, '/agent approve', 'stranger');
  await say(number, '/agent approve');
  await told(number, /was refused: You started this task, .* you cannot approve its change/);
  expect((await waits(number)).attention?.id).toBe(task.attention?.id);

  await say(number, '/agent revise Use the other example.', 'bob');
  const again = await waits(number, (id) => id !== task.attention?.id);
  expect(again.attention?.text).toContain(awsAt('test/fixtures/aws.txt:2'));
  // An approval of what was shown before is none of this.
  const { id } = task.attention ?? {};
  await expect(world.service.api(world.token, 'POST', `/tasks/${task.id}/approve`, { id })).rejects.toThrow(/409/);
  expect(world.github.pushes).toHaveLength(pushes);

  await world.service.stop();
  await world.restart();
  await say(number, '/agent approve', 'bob');
  const done = await settled(number, 'in_review', 1);
  expect(done.failure).toBeNull();
  expect(await fileOn(done.branchName ?? '', 'test/fixtures/aws.txt')).toBe(`# made up\nkey = ${second}`);
  await push('main', '.deckhand.yml', '{}\n');
});

test('an environment secret is refused, although it looks like a key that a person may allow', async () => {
  const { world, plays, settled } = face;
  const secret = `/projects/${world.project.id}/environment-secrets/AWS_KEY`;
  await world.service.api(world.token, 'PUT', secret, { value: first });
  plays([write('test/fixtures/aws.txt', `key = ${first}\n`), finish], [finish]);
  const task = await settled(await world.issue('/agent start'), 'ready', 1);
  expect(task.failure).toMatchObject({
    category: 'push_rejected',
    message: 'test/fixtures/aws.txt contains a live credential',
  });
  await world.service.api(world.token, 'DELETE', secret);
});

test('the change of a run that fails is not pushed with a key in it, and the next run continues with it', async () => {
  const { world, plays, say, settled, told } = face;
  plays([write('key.txt', `${first}\n`)], [{ name: 'give_up', arguments: { reason: 'too hard' } }]);
  const number = await world.issue('/agent start');
  await told(number, 'too hard');
  expect((await face.taskOf(number)).branchName).toBeNull();
  plays([finish], [finish]);
  await say(number, '/agent retry');
  await waits(number);
  await say(number, '/agent approve');
  expect((await settled(number, 'in_review', 2)).failure).toBeNull();
});

test('a picture is pushed, and the agent sees that it is there; a program is refused', async () => {
  const { world, plays, settled } = face;
  const make = (path: string, bytes: string) => ({
    name: 'run_command',
    arguments: { command: `mkdir -p docs && printf '${bytes}' > ${path}` },
  });
  plays([make('docs/logo.png', String.raw`\211PNG\r\n\032\n\0\0\0\rIHDR`), finish], [finish]);
  const task = await settled(await world.issue('/agent start'), 'in_review', 1);
  expect(prompts()).toContain('binary files were added: keep them only if the task needs them: docs/logo.png');
  const files = gitOut(world.github.folderOf('mona/sample'), 'ls-tree', '-r', '--name-only', task.branchName ?? '');
  expect(files.split('\n')).toContain('docs/logo.png');
  plays([make('docs/logo.png', String.raw`\177ELF\002\001\001\0`), finish], [finish]);
  const refused = await settled(await world.issue('/agent start'), 'ready', 1);
  expect(refused.failure?.message).toBe('docs/logo.png is a program for Linux (ELF)');
});
