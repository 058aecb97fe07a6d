import { setImmediate } from 'node:timers/promises';
import { warningAbout } from '../../src/agents/model-names.ts';
import { openModelLists } from '../../src/llm/model-lists.ts';

type Asked = Parameters<typeof openModelLists>[0];

/** Answers each request with the next of these; an Error is thrown. Counts the requests of each key. */
function serverOf(...answers: unknown[]) {
  const asked: string[] = [];
  const connect = ((key: string) => ({
    get: async () => {
      asked.push(key);
      const answer = answers.length > 1 ? answers.shift() : answers[0];
      if (answer instanceof Error) throw answer;
      return answer;
    },
  })) as unknown as Asked;
  return { asked, lists: openModelLists(connect) };
}
const listOf = (...names: unknown[]) => ({ object: 'list', data: names.map((id) => ({ id })) });

test('a list is read once for each key, sorted, and without what is no name', async () => {
  const { asked, lists } = serverOf(listOf('b', 'a', 'a', 7, '', 'x'.repeat(201)));
  expect(await Promise.all([lists('one', 1000), lists('one', 1000)])).toEqual([
    ['a', 'b'],
    ['a', 'b'],
  ]);
  expect(await lists('one', 0)).toEqual(['a', 'b']);
  expect(await lists('two', 1000)).toEqual(['a', 'b']);
  expect(asked).toEqual(['one', 'two']);
});

test.each([
  [new Error('404')],
  [{ data: [] }],
  [{ models: ['a'] }],
  [null],
  ['<html>'],
])('of a server that answers %j nothing is known, and it is not asked again at once', async (answer) => {
  const { asked, lists } = serverOf(answer);
  expect([await lists('k', 1000), await lists('k', 1000)]).toEqual([undefined, undefined]);
  expect(asked).toEqual(['k']);
});

test('nobody waits longer than they want for a server that does not answer', async () => {
  let answer = (_list: unknown) => {};
  const get = () =>
    new Promise((resolve) => {
      answer = resolve;
    });
  const lists = openModelLists((() => ({ get })) as unknown as Asked);
  expect([await lists('k', 0), await lists('k', 1)]).toEqual([undefined, undefined]);
  answer(listOf('late'));
  await setImmediate();
  expect(await lists('k', 0)).toEqual(['late']);
});

test('the warning names the nearest model of the list, and is only about models that are not in it', () => {
  const names = ['gpt-5', 'gpt-5-mini', 'Qwen3-Coder', 'llama3:latest'];
  const warning = (nearest: string, model: string) =>
    `The model server does not list ${model}. The nearest name that it lists is ${nearest}.`;
  expect(warningAbout('gpt-5-mni', names)).toBe(warning('gpt-5-mini', 'gpt-5-mni'));
  expect(warningAbout('qwen3-coder', names)).toBe(warning('Qwen3-Coder', 'qwen3-coder'));
  expect([warningAbout('gpt-5', names), warningAbout('llama3', names), warningAbout('x', undefined)]).toEqual([
    null,
    null,
    null,
  ]);
});
