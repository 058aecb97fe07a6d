import type { ResponseInputItem } from 'openai/resources/responses/responses';
import { z } from 'zod';
import { answerWithin, keptWithin, maxCalls, tooManyCalls } from '../bounds.ts';
import { isFields } from '../merge.ts';
import { type ModelAnswer, ModelFailed, type ToolCall } from '../model.ts';
import { AnswerIsError, malformedAnswer } from '../refusals/refusal.ts';
import { usage } from '../usage.ts';
import { Interrupted } from '../wire-format.ts';

/** The output of an earlier answer, with everything that the server sent. */
export interface ResponsesKept {
  /** The model that wrote it. Another model could not use it. */
  model: string;
  output: ResponseInputItem[];
}

const message = z.object({
  type: z.literal('message'),
  content: z
    .array(
      z.union([
        z.object({ type: z.literal('output_text'), text: z.string() }),
        z.object({ type: z.literal('refusal'), refusal: z.string() }),
        z.object({ type: z.string() }),
      ]),
    )
    .max(maxCalls),
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

const outputItem = z.union([message, functionCall, other]);

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

/** The fields that the service reads. */
const answer = z.object({
  status: z.string().nullish(),
  output: z.array(outputItem).max(maxCalls),
  incomplete_details: z.object({ reason: z.string().nullish() }).nullish().catch(null),
  usage,
});

/**
 * Reads a response.
 * @throws ModelFailed for other data, and for a refusal of the model; AnswerIsError when the server reports an error in
 * place of an answer; Interrupted when it ended early
 */
export function responsesReply(model: string, response: unknown): ModelAnswer {
  if (isFields(response) && response.error != null) throw new AnswerIsError(response.error);
  const { data, error } = answer.safeParse(response);
  if (error?.issues[0]?.code === 'too_big') throw tooManyCalls();
  if (data === undefined) throw malformedAnswer('Response', error.issues[0]?.path, response);
  // The items as they came; those in `data` have only the fields that the schema names.
  const { output } = response as { output: unknown[] };
  const { text, refusal, calls } = readOutput(output);
  const reason = data.incomplete_details?.reason;
  failOnReason(data.status, reason, { refusal, isEmpty: text === '' && calls.length === 0 });
  const isCut = data.status === 'incomplete';
  return answerWithin({
    text,
    toolCalls: calls,
    ...(isCut || endsInReasoning(output) ? {} : keptWithin('responses', { model, output })),
    ...data.usage,
    isCut,
  });
}

/** The API refuses reasoning that nothing follows, as in an answer that was cut. */
function endsInReasoning(output: unknown[]): boolean {
  const last = output.at(-1);
  return last === undefined || (isFields(last) && last.type === 'reasoning');
}

function failOnReason(
  status: string | null | undefined,
  reason: string | null | undefined,
  { refusal, isEmpty }: { refusal: string; isEmpty: boolean },
): void {
  if (reason === 'content_filter')
    throw new ModelFailed(
      'model',
      "the model server's content filter stopped the answer; describe the task differently, or use another model",
    );
  if (isEmpty && refusal !== '')
    throw new ModelFailed(
      'model',
      `the model refused to answer; describe the task differently, or use another model. It said: ${refusal.slice(0, 500)}`,
    );
  if (status === 'failed' || status === 'cancelled')
    throw new Interrupted(`the model server stopped the answer (${status})`);
}
