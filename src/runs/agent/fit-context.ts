import type { Message } from '../../llm/model.ts';

/** About 100,000 tokens: what the windows of current models hold with room for an answer. */
export const contextChars = 400_000;
/** The last messages are what the model works with; they stay as they are. */
const keptMessages = 12;
const headChars = 400;

/**
 * The conversation within a length: of old tool results only the beginning is told, oldest first. The stored transcript
 * keeps them whole; what was cut can be read again with the tools.
 */
export function fitContext(messages: Message[], limit = contextChars): Message[] {
  let length = messages.reduce((sum, m) => sum + lengthOf(m), 0);
  if (length <= limit) return messages;
  const last = messages.length - keptMessages;
  return messages.map((message, i) => {
    if (length <= limit || i >= last || message.role !== 'tool' || message.content.length <= 2 * headChars)
      return message;
    const content = `${message.content.slice(0, headChars)}\n[… ${message.content.length - headChars} characters of this earlier result are left out; ask again if they matter …]`;
    length -= message.content.length - content.length;
    return { ...message, content };
  });
}

function lengthOf(message: Message): number {
  const calls = message.role === 'assistant' ? message.toolCalls : [];
  return message.content.length + calls.reduce((sum, call) => sum + call.arguments.length, 0);
}
