import { type ModelAnswer, ModelFailed } from '../../src/llm/model.ts';
import { readAnswer } from '../../src/llm/openai.ts';
import { AnswerIsError, refusalOf } from '../../src/llm/refusals/refusal.ts';
import { Interrupted } from '../../src/llm/wire-format.ts';
import { wires } from '../../src/llm/wires.ts';
import { textOf } from '../llm/servers/serve.ts';
import type { Declarations } from './declarations.ts';
import type { Json } from './description.ts';
import { type Api, exampleOf } from './model-api.ts';

/** What the reader of a stream said: the answer or the failure, and what it passed on before that. */
export interface Read {
  text: string;
  calls: string;
  reply?: ModelAnswer;
  /** The stream ended, or the server stopped, before the answer was complete. */
  isInterrupted?: boolean;
  /** An error of the server, with the status that it stands for. */
  error?: { status: number | undefined; text: string };
  failure?: string;
}

/** Feeds a stream to the reader of an API, as a server sends it. */
async function readStream(api: Api, events: (object | string)[]): Promise<Read> {
  const told = { text: '', calls: '' };
  const tell = {
    text: (piece: string) => {
      told.text += piece;
    },
    call: (name: string, piece: string) => {
      told.calls += `${name}:${piece};`;
    },
  };
  const headers = { 'content-type': 'text/event-stream' };
  const response = new Response(events.map(textOf).join(''), { headers });
  try {
    return { ...told, reply: await readAnswer(wires[api], 'm', response, tell), ...told };
  } catch (error) {
    if (error instanceof Interrupted) return { ...told, isInterrupted: true };
    if (error instanceof ModelFailed) return { ...told, failure: error.message };
    if (!(error instanceof AnswerIsError)) throw error;
    const { status, text } = refusalOf(error);
    return { ...told, error: { status, text } };
  }
}

export type Example = Record<string, unknown>;

/** Opens a reader that counts the events that it gets. */
export function openReader(declarations: Declarations) {
  let events = 0;
  const types = new Set<string>();
  return {
    read: (api: Api, stream: (object | string)[]): Promise<Read> => {
      events += stream.length;
      for (const each of stream)
        types.add(typeof each === 'object' && 'type' in each ? String(each.type) : typeof each);
      return readStream(api, stream);
    },
    /** Returns a well-formed value with what is required, and one with every field. */
    examples: (schema: Json | undefined) =>
      schema === undefined
        ? []
        : (['required', 'all'] as const).map((extent) => exampleOf(declarations, schema, extent) as Example),
    counts: () => ({ events, types: types.size }),
  };
}

/** Returns what people and the run see of an answer; not what is kept for the server. */
export function seen({ reply, ...rest }: Read) {
  if (reply === undefined) return rest;
  const { kept: _, toolCalls, ...more } = reply;
  return { ...rest, ...more, toolCalls };
}
