import type { ToolSpec } from '../../../src/llm/model.ts';
import { type Call, type ChatMessage, messagesOf, toolsOf } from './chat.ts';
import type { Fields } from './serve.ts';

/**
 * The sample conversation that every server completes: two calls at once, one more after their results, then an answer
 * in words. The arguments are not those of strict schemas, because `note` is optional.
 */
export const question = 'What is (6 times 7) plus (2 times 3)?';
export const finalText = 'The result is 48.';

export const multiply: ToolSpec = {
  name: 'multiply',
  description: 'Multiply two numbers.',
  parameters: {
    type: 'object',
    properties: { a: { type: 'number' }, b: { type: 'number' }, note: { type: 'string' } },
    required: ['a', 'b'],
    additionalProperties: false,
  },
};
export const add: ToolSpec = { ...multiply, name: 'add', description: 'Add two numbers.' };

/** Carries out a call of the sample. */
export function calculate(name: string, args: string): string {
  const { a, b } = JSON.parse(args) as { a: number; b: number };
  return String(name === 'multiply' ? a * b : a + b);
}

const call = (id: string, name: string, a: number, b: number): Call => ({
  id,
  type: 'function',
  function: { name, arguments: JSON.stringify({ a, b }) },
});

/** The calls of each turn; none means the answer in words. */
const turns = [
  [call('call_1', 'multiply', 6, 7), call('call_2', 'multiply', 2, 3)],
  [call('call_3', 'add', 42, 6)],
  [],
];

/** Returns the calls of the next turn, after as many turns as the conversation has. */
export function nextCalls(turn: number): Call[] {
  return structuredClone(turns[Math.min(turn, turns.length - 1)] ?? []);
}

/** Returns the next message of the sample. Refuses nothing: that is what the rules of each server do before. */
export function nextMessage(body: Fields): ChatMessage {
  const turn = messagesOf(body).filter((m) => m.role === 'assistant').length;
  const calls = toolsOf(body).length > 0 ? nextCalls(turn) : [];
  if (calls.length === 0) return { role: 'assistant', content: finalText };
  return { role: 'assistant', content: null, tool_calls: calls };
}

/** What the servers report as usage; the numbers differ by turn. */
export const usageOf = (turn: number) => ({
  input: 1000 + 200 * turn,
  cached: 800 * Math.min(turn, 1),
  output: 50 + turn,
});
