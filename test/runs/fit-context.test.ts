import type { Message } from '../../src/llm/model.ts';
import { fitContext } from '../../src/runs/agent/fit-context.ts';

const result = (i: number, length: number): Message[] => [
  { role: 'assistant', content: '', toolCalls: [{ id: `c${i}`, name: 'read_file', arguments: '{}' }] },
  { role: 'tool', toolCallId: `c${i}`, content: `${i}:`.padEnd(length, 'x') },
];

test('a long conversation keeps every message, but old tool results are cut', () => {
  const messages: Message[] = [
    { role: 'system', content: 'rules' },
    { role: 'user', content: 'task' },
    ...Array.from({ length: 40 }, (_, i) => result(i, 5000)).flat(),
  ];
  const told = fitContext(messages, 100_000);
  expect(told).toHaveLength(messages.length);
  expect(JSON.stringify(told).length).toBeLessThan(130_000);
  expect(told.slice(0, 2)).toEqual(messages.slice(0, 2));
  expect(told.slice(-12)).toEqual(messages.slice(-12));
  expect(told[3]?.content).toMatch(/^0:x+\n\[… \d+ characters of this earlier result are left out/);
  expect(fitContext(messages, 1_000_000)).toBe(messages);
});
