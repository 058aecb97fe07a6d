import type { ChatMessage } from '../../../src/web/api.ts';
import { isStored } from '../../../src/web/chat/use-conversation.ts';

const message = (id: string, by: string | null): ChatMessage => ({
  id,
  role: by === null ? 'assistant' : 'user',
  author: by === null ? null : { id: by, login: by },
  text: id,
  at: '2026-01-01T00:00:00Z',
});
const before = [message('m1', 'mona'), message('m2', null)];

test('a message is stored once the history has a later one of the same person', () => {
  const sent = { after: 'm2' };
  expect(isStored(before, sent, 'mona')).toBe(false);
  expect(isStored([...before, message('m3', 'hubot'), message('m4', null)], sent, 'mona')).toBe(false);
  expect(isStored([...before, message('m3', 'mona'), message('m4', null)], sent, 'mona')).toBe(true);
  expect(isStored([message('m0', 'mona'), ...before], sent, 'mona')).toBe(false);
});

test('the first message of a conversation counts, unless the history was not loaded when it was sent', () => {
  expect(isStored([], { after: 'none' }, 'mona')).toBe(false);
  expect(isStored(before, { after: 'none' }, 'mona')).toBe(true);
  expect(isStored(before, { after: undefined }, 'mona')).toBe(false);
});
