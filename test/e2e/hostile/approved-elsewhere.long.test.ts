import { until } from '../../../demo/real-service.ts';
import { type Face, openFace, repo, write } from '../../support/face.ts';

let face: Face;
const head = `import assert from 'node:assert/strict';\nimport { test } from 'node:test';\nimport { slugify } from '../src/slugify.js';\n`;
const testOf = (name: string, text: string, expected: string) =>
  `${head}\ntest('${name}', () => {\n  assert.equal(slugify('${text}'), '${expected}');\n});\n`;
const code = (joint: string, strip: string) =>
  `export const slugify = (text) => text${strip}.replace(/ +/g, '${joint}');\n`;
const stripping = ".replace(/[<>]/g, '')";

beforeAll(async () => {
  face = await openFace();
  await face.push('main', 'src/slugify.js', code('-', stripping));
  await face.push('main', 'test/joins.test.js', testOf('joins words', 'a b', 'a-b'));
  await face.push('main', 'test/strips.test.js', testOf('strips markup', '<b>', 'b'));
  await face.push(
    'main',
    '.deckhand.yml',
    'checks: node --test test/joins.test.js test/strips.test.js\nproof: required\n',
  );
  // Somebody weakens dev.
  await face.inClone('main', 'dev', false, async () => {});
  await face.push('dev', 'src/slugify.js', code('-', ''));
  await face.push('dev', 'test/strips.test.js', testOf('strips markup', '<b>', '<b>'));
});
afterAll(() => face.world.close());

test('who accepted that expectations changed for one branch has not accepted more for another', async () => {
  const { world, plays, say, settled, mona, pullOf, taskOf } = face;
  const finish = { name: 'finish', arguments: { summary: 'Done.', nextSteps: [] } };
  const waiting = () =>
    until('the question', async () => {
      const { attention } = (await taskOf(number)) as { attention?: { reason: string; text: string } | null };
      return attention?.reason === 'push' && attention.text;
    });
  const pull = async () =>
    (
      await world.sql<{ base: string; unready: string | null }>(
        'select base_branch as base, unready_sha as unready from pull_requests',
        [],
      )
    )[0];
  plays(
    [write('src/slugify.js', code('+', '')), write('test/joins.test.js', testOf('joins words', 'a b', 'a+b'))],
    [finish],
    [finish],
  );
  const number = await world.issue('/agent create');
  await taskOf(number);
  await say(number, '/agent base dev');
  await until('the base', async () => ((await taskOf(number)) as { base?: string }).base === 'dev');
  await say(number, '/agent start');
  expect(await waiting()).toMatch(/joins words/);
  expect(await waiting()).not.toMatch(/strips markup/);
  await say(number, '/agent approve');
  const task = await settled(number, 'in_review', 1);
  expect((await pull())?.unready).toBeNull();

  // The same files, and the same approval.
  plays([finish], [finish]);
  await say(number, '/agent revise Look again.');
  await settled(number, 'in_review', 2);
  expect((await pull())?.unready).toBeNull();

  await mona('PATCH', `${repo}/pulls/${pullOf(task)}`, { base: 'main' });
  await mona('DELETE', `${repo}/git/refs/heads/dev`);
  await until('the new base', async () => {
    await world.service.api(world.token, 'POST', '/agents/pool/reconcile').catch(() => {});
    return (await pull())?.base === 'main';
  });
  for (const runs of [3, 4]) {
    plays([finish], [finish], [finish]);
    await say(number, `/agent revise Look again, ${runs}.`);
    await settled(number, 'in_review', runs);
    expect([runs, (await pull())?.unready]).toEqual([runs, expect.any(String)]);
  }
});
