import type { Message, ToolCall } from '../../../llm/model.ts';

/** One of the model's answers and what followed it, until the next answer. */
export interface Exchange {
  text: string;
  calls: ToolCall[];
  /** The results by the id of their call. Some servers use the same ids in every answer. */
  results: Map<string, string>;
  /** What the host said to the model after the results. */
  remarks: string[];
}

/** Divides a conversation into the model's answers. What comes before the first answer is left out. */
export function exchangesOf(messages: Message[]): Exchange[] {
  const exchanges: Exchange[] = [];
  for (const message of messages) {
    const current = exchanges.at(-1);
    if (message.role === 'assistant')
      exchanges.push({ text: message.content, calls: message.toolCalls, results: new Map(), remarks: [] });
    else if (message.role === 'tool') current?.results.set(message.toolCallId, message.content);
    else current?.remarks.push(message.content);
  }
  return exchanges;
}
