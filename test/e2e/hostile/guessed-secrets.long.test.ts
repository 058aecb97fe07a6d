import { createHash } from 'node:crypto';
import type { Said } from '../../../demo/model/model.ts';
import { until } from '../../../demo/real-service.ts';
import { write } from '../../support/face.ts';
import { openWorld, type World } from '../../support/world.ts';

const weak = 'sunshine1987';
const strong = createHash('sha256').update('a key of Docs').digest('base64url');
const finish: Said = [{ name: 'finish', arguments: { summary: 'Done.', nextSteps: [] } }];

let script: Said[] = [];
let world: World;
beforeAll(async () => {
  world = await openWorld((_request, turn) => script[Math.min(turn, script.length - 1)] ?? 'Done.', {
    seed: { more: ['Docs'] },
  });
  const all = await until('both repositories', async () => {
    const found = await world.get<{ id: string; name: string }[]>('/repositories');
    return found.length === 2 && found;
  });
  const repositories = all.filter(({ name }) => name === 'Docs').map(({ id }) => id);
  for (const [name, value] of [
    ['DB_PASSWORD', weak],
    ['API_KEY', strong],
  ])
    await world.service.api(world.token, 'PUT', `/projects/${world.project.id}/environment-secrets/${name}`, {
      ...{ value, repositories },
    });
});
afterAll(() => world.close());

const guesses = ['sunshine1986', weak, 'sunshine1988'];

test('an agent learns from no refusal and no removed text which guess is the secret of another repository', async () => {
  script = [guesses.map((guess, i) => write(`guess${i}.txt`, `${guess}\n`)), finish];
  await world.issue('/agent start');
  const task = await world.taskIn('in_review');
  const told = JSON.stringify(world.model.requests.at(-1)?.messages);
  expect(told).not.toMatch(/live credential|credential was removed/);
  const [run] = await world.get<{ id: string }[]>(`/tasks/${task.id}/runs`);
  const turns = JSON.stringify(await world.get(`/runs/${run?.id}/turns`));
  for (const guess of guesses) expect(turns).toContain(guess);
});

test('a key of another repository that nobody can guess does not leave', async () => {
  script = [[write('key.txt', `${strong}\n`)], finish];
  await world.issue('/agent start');
  const failed = async () => {
    const tasks = await world.get<{ failure: { message: string } | null }[]>(`/projects/${world.project.id}/tasks`);
    return tasks.find(({ failure }) => failure !== null);
  };
  expect((await until('the refusal', failed)).failure?.message).toBe('key.txt contains a live credential');
});
