import type { Message } from '../../src/llm/model.ts';
import { fitContext } from '../../src/runs/agent/fit-context.ts';

const result = (i: number, length: number): Message[] => [
  { role: 'assistant', content: '', toolCalls: [{ id: `c${i}`, name: 'read_file', arguments: '{}' }] },
  { role: 'tool', toolCallId: `c${i}`, content: `${i}:`.padEnd(length, 'x') },
];

test('a long conversation keeps every message, but old tool results are truncated', () => {
  const messages: Message[] = [
    { role: 'system', content: 'rules' },
    { role: 'user', content: 'task' },
    ...Array.from({ length: 40 }, (_, i) => result(i, 5000)).flat(),
  ];
  const fitted = fitContext(messages, 100_000);
  expect(fitted).toHaveLength(messages.length);
  expect(JSON.stringify(fitted).length).toBeLessThan(130_000);
  expect(fitted.slice(0, 2)).toEqual(messages.slice(0, 2));
  expect(fitted.slice(-12)).toEqual(messages.slice(-12));
  expect(fitted[3]?.content).toMatch(/^0:x+\n\[… \d+ characters of this earlier result are left out/);
  expect(fitContext(messages, 1_000_000)).toBe(messages);
});
