import { z } from 'zod';
import { type CharCount, maxCalls, tooManyCalls } from '../bounds.ts';
import { mergeFields } from '../merge.ts';
import type { Tell } from '../wire-format.ts';
import { unknownCallFields } from './answer.ts';

/** Arguments are text. Compatible servers send them as plain JSON too. */
const argumentText = z.union([z.string(), z.looseObject({}).transform((given) => JSON.stringify(given))]).nullish();

/** What is called. In the API from before November 2023 this was the only call of an answer. */
export const called = z.looseObject({ name: z.string().nullish(), arguments: argumentText });

/** A piece of a call in a stream. */
export const callPart = z.looseObject({
  index: z.int().min(0).nullish().catch(null),
  id: z.string().nullish().catch(null),
  type: z.string().nullish().catch(null),
  function: called.nullish(),
});

type CallPart = z.output<typeof callPart>;

interface Call {
  id: string;
  name: string;
  /** Only `custom` matters: a call of a tool that is no function. */
  type: string;
  arguments: string;
  extra: Record<string, unknown>;
  /** The first piece had a name and all arguments, so another piece with both is another call. */
  isWhole: boolean;
}

/** The calls of a streamed answer, assembled piece by piece. */
export class StreamedCalls {
  readonly #count: CharCount;
  readonly #tell: Pick<Tell, 'call'>;
  /** The calls by their index. A call that begins at the index of another one replaces it here, but not in `#calls`. */
  readonly #open = new Map<number, Call>();
  readonly #calls: Call[] = [];

  constructor(count: CharCount, tell: Pick<Tell, 'call'>) {
    this.#count = count;
    this.#tell = tell;
  }

  /** @throws ModelFailed when there are too many calls, or they are too long */
  add(part: CallPart): void {
    const call = this.#callOf(part);
    // Some servers repeat the id and the name in every piece, and some make up a new id each time.
    call.id ||= this.#count.counted(part.id);
    call.type ||= part.type ?? '';
    call.name = this.#count.counted(part.function?.name) || call.name;
    const piece = this.#count.counted(part.function?.arguments);
    call.arguments += piece;
    if (piece !== '') this.#tell.call(call.name, piece);
    mergeFields(call.extra, unknownCallFields(part), this.#count);
  }

  /** Returns the calls as an answer that is not streamed has them. */
  all(): { function: object }[] {
    return this.#calls.map(({ id, name, type, arguments: args, extra }) => ({
      ...extra,
      id,
      ...(type === 'custom' ? { type } : {}),
      function: { name, arguments: args },
    }));
  }

  /** Returns the call that a piece continues or begins. Without an index it can only continue the last one. */
  #callOf(part: CallPart): Call {
    const { index } = part;
    const open = index == null ? this.#calls.at(-1) : this.#open.get(index);
    if (open !== undefined && isContinued(open, part)) return open;
    if (this.#calls.length >= maxCalls || (index ?? 0) >= maxCalls) throw tooManyCalls();
    const isWhole = Boolean(part.function?.name) && isObject(part.function?.arguments ?? '');
    const call = { id: '', name: '', type: '', arguments: '', extra: {}, isWhole };
    if (index != null) this.#open.set(index, call);
    this.#calls.push(call);
    return call;
  }
}

/**
 * Returns whether a piece continues a call. Gemini sends each call whole, with a new id and always with index 0; others
 * send whole calls without an id.
 */
function isContinued(open: Call, { id, function: called }: CallPart): boolean {
  if (!called?.name || open.name === '') return true;
  if (id && open.id !== '') return id === open.id;
  return called.name === open.name && !(open.isWhole && called.arguments);
}

function isObject(text: string): boolean {
  if (!text.trimStart().startsWith('{')) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
