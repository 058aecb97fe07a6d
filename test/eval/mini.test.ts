import type { ChatModel } from '../../bench/eval/mini/chat-model.ts';
import { miniLoop } from '../../bench/eval/mini/loop.ts';

const task = { title: 'A title', issue: 'An issue.' };
const submit = 'echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT';

/** A model that gives these answers in order: a command, or text without a call. */
function playing(...answers: (string | { text: string })[]) {
  const seen: string[][] = [];
  const model: ChatModel = async (messages) => {
    seen.push(messages.map((m) => `${m.role}: ${m.content}`));
    const answer = answers[seen.length - 1] ?? { text: 'nothing' };
    const call = (command: string) => ({ name: 'bash', arguments: JSON.stringify({ command }) });
    const calls = typeof answer === 'string' ? [{ id: String(seen.length), function: call(answer) }] : [];
    const message = { role: 'assistant', content: typeof answer === 'string' ? '' : answer.text, tool_calls: calls };
    return { message, inputTokens: 10, cachedInputTokens: 4, outputTokens: 1 };
  };
  return { model, seen };
}

const run = async (command: string) =>
  command === submit
    ? { code: 0, output: 'COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT\n' }
    : { code: command.startsWith('false') ? 1 : 0, output: 'printed' };

test('failing commands are observations, and the submit command ends the run', async () => {
  const { model, seen } = playing('false 1', 'false 2', 'false 3', 'false 4', submit);
  expect(await miniLoop(model, task, run, 10)).toMatchObject({
    how: 'submitted',
    steps: 5,
    inputTokens: 50,
    cachedInputTokens: 20,
  });
  expect(seen[1]?.at(-1)).toBe('tool: <returncode>1</returncode>\n<output>\nprinted</output>');
});

test('three invalid answers in a row end the run, two do not', async () => {
  const text = { text: 'I will do it.' };
  expect(await miniLoop(playing(text, text, 'true', text, text, submit).model, task, run, 10)).toMatchObject({
    how: 'submitted',
  });
  expect(await miniLoop(playing(text, text, text, submit).model, task, run, 10)).toMatchObject({
    how: 'three invalid answers',
    steps: 3,
  });
});

test('the limit of steps ends the run', async () => {
  expect(await miniLoop(playing('true', 'true', 'true').model, task, run, 2)).toMatchObject({ how: 'step limit' });
});

test('a model server that keeps failing ends the run', async () => {
  const model = async () => Promise.reject(new Error('the server is away'));
  expect(await miniLoop(model, task, run, 2)).toMatchObject({ how: 'model failed', detail: 'the server is away' });
});
