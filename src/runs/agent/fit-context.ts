import type { Message } from '../../llm/model.ts';

/** About 100,000 tokens. The context windows of current models hold that and leave room for a reply. */
export const contextChars = 400_000;
/** The last messages are never cut, because the model is working with them. */
const keptMessages = 12;
/** Characters kept from the beginning of a result that is cut. */
const headChars = 400;

/**
 * Shortens a conversation to about `limit` characters. Cuts old tool results to their beginning, oldest first. The
 * database keeps the whole results, and the model can call the tool again.
 */
export function fitContext(messages: Message[], limit = contextChars): Message[] {
  let length = messages.reduce((sum, m) => sum + lengthOf(m), 0);
  if (length <= limit) return messages;
  const last = messages.length - keptMessages;
  return messages.map((message, i) => {
    if (length <= limit || i >= last || message.role !== 'tool' || message.content.length <= 2 * headChars)
      return message;
    const content = `${message.content.slice(0, headChars)}\n[… ${message.content.length - headChars} characters of this earlier result are left out; call the tool again if you need them …]`;
    length -= message.content.length - content.length;
    return { ...message, content };
  });
}

function lengthOf(message: Message): number {
  const calls = message.role === 'assistant' ? message.toolCalls : [];
  return message.content.length + calls.reduce((sum, call) => sum + call.arguments.length, 0);
}
