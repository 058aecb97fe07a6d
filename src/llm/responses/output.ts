import type { ResponseInputItem } from 'openai/resources/responses/responses';
import { z } from 'zod';
import type { ToolCall } from '../model.ts';

/** The output of an earlier answer, with everything that the server sent. */
export interface ResponsesKept {
  /** The model that wrote it. Another model could not use it. */
  model: string;
  output: ResponseInputItem[];
}

const message = z.object({
  type: z.literal('message'),
  content: z.array(
    z.union([
      z.object({ type: z.literal('output_text'), text: z.string() }),
      z.object({ type: z.literal('refusal'), refusal: z.string() }),
      z.object({ type: z.string() }),
    ]),
  ),
});

const functionCall = z.object({
  type: z.literal('function_call'),
  call_id: z.string().min(1),
  name: z.string(),
  arguments: z
    .union([z.string(), z.looseObject({}).transform((given) => JSON.stringify(given))])
    .nullish()
    .transform((given) => given ?? '{}'),
});

/** Reasoning and other items. Deckhand does not read them; it stores them and sends them back. */
const other = z.object({ type: z.string().refine((type) => type !== 'message' && type !== 'function_call') });

export const outputItem = z.union([message, functionCall, other]);

export interface ReadOutput {
  text: string;
  refusal: string;
  calls: ToolCall[];
}

/** Returns the text and the calls in the items of an answer. Items of other types have none. */
export function readOutput(output: unknown[]): ReadOutput {
  const read: ReadOutput = { text: '', refusal: '', calls: [] };
  for (const each of output) {
    const call = functionCall.safeParse(each).data;
    if (call !== undefined) read.calls.push({ id: call.call_id, name: call.name, arguments: call.arguments });
    for (const part of message.safeParse(each).data?.content ?? []) {
      if ('text' in part) read.text += part.text;
      if ('refusal' in part) read.refusal += part.refusal;
    }
  }
  return read;
}
