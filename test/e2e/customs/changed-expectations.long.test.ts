import { until } from '../../../demo/real-service.ts';
import { readApproval } from '../../../src/domain/waiting.ts';
import { type Face, openFace, repo, write } from '../../support/face.ts';
import type { WorldTask } from '../../support/world.ts';

/** A repository that requires a proof, and a test whose expectation changes on purpose. */
let face: Face;
const testOf = (expected: string) =>
  `import assert from 'node:assert/strict';\nimport { test } from 'node:test';\nimport { slugify } from '../src/slugify.js';\n\ntest('joins words', () => {\n  assert.equal(slugify('A b'), '${expected}');\n});\n`;
const codeOf = (joint: string) =>
  `export const slugify = (text) => text.toLowerCase().trim().replace(/[^a-z0-9]+/g, '${joint}');\n`;
beforeAll(async () => {
  face = await openFace();
  await face.push('main', 'src/slugify.js', codeOf('-'));
  await face.push('main', 'test/joins.test.js', testOf('a-b'));
  await face.push('main', '.deckhand.yml', 'checks: node --test test/joins.test.js\nproof: required\n');
});
afterAll(() => face.world.close());

interface Waiting extends WorldTask {
  attention: { id: string; reason: string; text: string } | null;
}
const finish = { name: 'finish', arguments: { summary: 'Done.', nextSteps: [] } };
const sentence = 'Expectations changed on purpose: these earlier tests fail with it: joins words.';

test('an expectation that changes waits for a person, whose approval is for this tree and no other', async () => {
  const { world, plays, say, settled, told, mona, pullOf, taskOf } = face;
  const waits = (number: number, before?: string) =>
    until('a change to approve', async () => {
      const task = (await taskOf(number)) as WorldTask as Waiting;
      const { attention } = task;
      return attention?.reason === 'push' && attention.id !== before && { ...task, attention };
    });
  const pull = (task: WorldTask) => mona<{ draft: boolean; body: string }>('GET', `${repo}/pulls/${pullOf(task)}`);
  const turn = (joint: string) => [
    write('src/slugify.js', codeOf(joint)),
    write('test/joins.test.js', testOf(`a${joint}b`)),
    finish,
  ];
  plays(turn('_'), [finish], turn('+'), [finish]);
  const pushes = world.github.pushes.length;
  const number = await world.issue('/agent start');
  const { id, attention } = await waits(number);
  expect(readApproval(attention.text)).toEqual({
    setup: [],
    expectations: [sentence],
    findings: [],
    files: ['src/slugify.js', 'test/joins.test.js'],
  });
  expect(world.github.pushes).toHaveLength(pushes);
  // The agent is not accused of weakening tests.
  expect(JSON.stringify(world.model.requests)).not.toContain('The earlier tests fail with your change.');
  expect(await world.get(`/tasks/${id}/proof`)).toMatchObject({ status: 'changed', oldTestsPass: false });
  await told(number, sentence);

  // Another change is another tree, so the person is asked again.
  await say(number, '/agent revise Join them with a plus.');
  const second = await waits(number, attention.id);
  expect(second.attention.text).toContain(sentence);
  await say(number, '/agent approve');
  const task = await settled(number, 'in_review', 1);
  expect(await pull(task)).toMatchObject({ draft: false, body: expect.stringContaining(`🔁 ${sentence}`) });
  expect(face.fileOn(task.branchName ?? '', 'test/joins.test.js')).toContain("'a+b'");

  // So is the change of a later run.
  plays(turn('~'), [finish]);
  await say(number, '/agent revise Join them with a tilde.');
  await waits(number, second.attention.id);
  expect(face.fileOn(task.branchName ?? '', 'test/joins.test.js')).toContain("'a+b'");
  await say(number, '/agent approve');
  const after = await settled(number, 'in_review', 2);
  expect((await pull(after)).draft).toBe(false);

  // A run that changes nothing keeps what a person approved.
  plays([finish], [finish]);
  await say(number, '/agent revise Look again.');
  await settled(number, 'in_review', 3);
  expect((await pull(after)).draft).toBe(false);
});
