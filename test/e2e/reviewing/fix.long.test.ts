import { offers } from '../../../demo/model/model.ts';
import { until } from '../../../demo/real-service.ts';
import { gitOut } from '../../support/git.ts';
import { type Open, openReviewWorld } from './review-world.ts';

let world: Open;
afterEach(() => world.close());

const repo = '/repos/mona/sample';
const say = (number: number, body: string, who = 'mona') =>
  world.github.as(who)<{ id: number }>('POST', `${repo}/issues/${number}/comments`, { body });
const headOf = (branch: string) => gitOut(world.github.folderOf('mona/sample'), 'rev-parse', branch);
const comments = async (number: number) => (await world.comments(number)).map(({ body }) => body);

/** An agent that writes one file, and calls finish until that is accepted. */
const writer = (_request: unknown, turn: number) =>
  turn === 0
    ? [{ name: 'create_file', arguments: { path: 'src/fixed.js', content: 'export const fixed = 1;\n' } }]
    : [{ name: 'finish', arguments: { summary: 'Added the file.', nextSteps: [], title: 'Add the missing file' } }];

test('fix makes a commit on the branch of a person, and leaves their pull request as it is', async () => {
  world = await openReviewWorld(writer);
  const number = await world.pull('theirs', { 'src/a.js': 'export const a = 1;\n' });
  const before = headOf('theirs');
  await say(number, '/agent fix add the missing file');
  const told = await until('what was pushed', async () =>
    (await comments(number)).find((body) => body.includes('Pushed ')),
  );
  expect(told).toContain('Added the file.');
  expect(headOf('theirs^')).toBe(before);
  expect(gitOut(world.github.folderOf('mona/sample'), 'show', 'theirs:src/fixed.js')).toBe('export const fixed = 1;');
  const pull = await world.github.as('mona')<{ title: string; body: string }>('GET', `${repo}/pulls/${number}`);
  expect(pull).toMatchObject({ title: 'Change of theirs', body: 'please look' });
  expect(JSON.stringify(world.model.requests[0])).toContain('Asked for: add the missing file');
});

test('fix is refused to people without write permission, and on the default branch', async () => {
  world = await openReviewWorld(writer);
  const number = await world.pull('theirs', { 'src/a.js': 'export const a = 1;\n' });
  const before = headOf('theirs');
  await say(number, '/agent fix it', 'stranger');
  await world.push('other', { 'src/b.js': 'export const b = 1;\n' });
  await world.push('main', { 'src/c.js': 'export const c = 1;\n' });
  const { number: back } = await world.github.as('mona')<{ number: number }>('POST', `${repo}/pulls`, {
    title: 'Back',
    head: 'main',
    base: 'other',
  });
  await say(back, '/agent fix it');
  expect(
    await until('the refusal', async () => (await comments(back)).find((body) => body.includes('was refused'))),
  ).toContain('default branch');
  expect(headOf('theirs')).toBe(before);
  expect(world.model.requests).toEqual([]);
});

test('a push that lost the race is told, and overwrites nothing', async () => {
  let isHeld = false;
  let go = () => {};
  const held = new Promise<void>((resolve) => {
    go = resolve;
  });
  world = await openReviewWorld(writer, {
    before: async (turn) => {
      if (turn > 0) isHeld = true;
      if (turn > 0) await held;
    },
  });
  const number = await world.pull('theirs', { 'src/a.js': 'export const a = 1;\n' });
  await say(number, '/agent fix add the missing file');
  await until('the agent', async () => isHeld && world.model.requests.some((request) => offers(request, 'finish')));
  const theirs = await world.push('theirs', { 'src/a.js': 'export const a = 2;\n' });
  go();
  const told = await until('the failure', async () =>
    (await comments(number)).find((body) => body.includes('The fix of')),
  );
  expect(told).toContain('got other commits while the agent worked');
  expect(headOf('theirs')).toBe(theirs);
});
