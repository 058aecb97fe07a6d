import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type OpenAI from 'openai';
import { growingPauseMs } from '../domain/waiting.ts';
import { AnswerStalled, refusedAnswer } from '../errors.ts';
import { type Attributes, currentSpan, type Describe, traced } from '../tracing/traced.ts';
import { hasImages, isBlind, toLeaveOut, withoutParts, withoutRefused } from './adapt.ts';
import { badAnswer } from './bounds.ts';
import { eventsIn } from './events.ts';
import { estimateOf } from './lost.ts';
import { type ModelAnswer, ModelFailed, type ModelSource, type ReplyOptions, type Wire } from './model.ts';
import { openModelLists } from './model-lists.ts';
import { failureOf } from './refusals/failure.ts';
import { AnswerIsError, isOutOfCredit, type Refusal, refusalOf, textIn } from './refusals/refusal.ts';
import { tooLong } from './refusals/too-long.ts';
import type { Asked, Tell, WireFormat } from './wire-format.ts';
import { firstWire, namesOther, other, type WireSetting, wires } from './wires.ts';

/** What a server has shown about one model. */
export interface Learned {
  /** The API that works, once the server has refused the other one. */
  wire?: Wire;
  /** The tokens that fit into a request and its answer. */
  window?: number | undefined;
  /** What later requests leave out because the server refused it: fields, `messages.<field>`, or `images`. */
  refused: Set<string>;
}

/** Beyond this many models the one learned first is forgotten, and learned again when it is used. */
const maxModels = 1000;

/**
 * Remembers, while the process runs, what servers have shown; by base URL, key and model. A gateway may give each key limits of its own,
 * and what it tells one project must not change the requests of others.
 */
function openMemory(): (baseUrl: string, apiKey: string, model: string) => Learned {
  const all = new Map<string, Learned>();
  return (baseUrl, apiKey, model) => {
    const key = JSON.stringify([baseUrl, createHash('sha256').update(apiKey).digest('base64'), model]);
    const known = all.get(key) ?? { refused: new Set() };
    all.set(key, known);
    const [oldest] = all.keys();
    if (all.size > maxModels && oldest !== undefined) all.delete(oldest);
    return known;
  };
}

/**
 * Reads the answer to a request. It may be a stream or whole, whatever was asked for: some servers cannot stream, and
 * some do nothing else. `tell` receives its pieces as they arrive.
 * @throws ModelFailed, Interrupted or AnswerIsError; SyntaxError for broken JSON
 */
export async function readAnswer(
  format: WireFormat,
  model: string,
  response: Response,
  tell: Tell,
): Promise<ModelAnswer> {
  const gathered = async (pieces: AsyncIterable<Uint8Array>) =>
    format.replyOf(model, await format.gather(eventsIn(pieces), tell));
  if (response.body !== null && response.headers.get('content-type')?.includes('event-stream'))
    return gathered(response.body);
  const text = await response.text();
  // Some servers name another type, or none.
  if (/^\s*(?:data|event|id|retry)?:/.test(text)) return gathered(onePiece(text));
  const reply = format.replyOf(model, parsed(text));
  if (reply.text !== '') tell.text(reply.text);
  for (const call of reply.toolCalls) tell.call(call.name, call.arguments);
  return reply;
}

async function* onePiece(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

/** @throws ModelFailed when the answer is not JSON; SyntaxError when it begins like JSON, so that it is repeated */
function parsed(text: string): unknown {
  if (/^\s*[[{]/.test(text)) return JSON.parse(text);
  const said = text.trim() === '' ? 'It was empty' : `The server said: ${textIn(text)}`;
  throw badAnswer(`is neither an event stream nor JSON; check OPENAI_BASE_URL. ${said}`);
}

/** A client with its own retries turned off. */
type Client = Pick<OpenAI, 'get' | 'post' | 'baseURL'>;

export interface ModelServer {
  /** Creates the client for a key. */
  connect: (key: string) => Client;
  /** Time limit for an answer, including retries and pauses. */
  seconds: number;
  /** The setting OPENAI_API. */
  api: WireSetting;
  /** Removes the given key and all other secrets from what a server says. */
  clean: (text: string, key: string) => string;
}

/** Connects to models at OpenAI or any compatible server, through its Responses or its Chat Completions API. */
export function openaiModels(server: ModelServer): ModelSource {
  const memory = openMemory();
  return {
    names: openModelLists(server.connect),
    withKey: (name, key, preset = {}) => {
      const client = server.connect(key);
      const learned = memory(client.baseURL, key, name);
      const called: Called = { server, client, name, key, learned };
      return {
        name,
        reply: (messages, tools, signal, options) =>
          recorded(called, { ...preset, ...options, messages, tools }, (asked) => reply(called, asked, signal)),
        window: () => learned.window,
      };
    },
  };
}

interface Called {
  server: ModelServer;
  client: Client;
  name: string;
  key: string;
  learned: Learned;
}

/** Makes a request a span, by the semantic conventions of OpenTelemetry for generative AI, without any content. */
function recorded(
  { name, client }: Called,
  asked: Asked,
  ask: (asked: Asked) => Promise<ModelAnswer>,
): Promise<ModelAnswer> {
  const { hostname, port, protocol } = URL.parse(client.baseURL) ?? {};
  const attributes = {
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': 'openai',
    'gen_ai.request.model': name,
    'gen_ai.request.max_tokens': asked.maxOutputTokens,
    'server.address': hostname,
    'server.port': Number(port || (protocol === 'http:' ? 80 : 443)),
  };
  const act = async (describe: Describe) => {
    const answer = await ask(asked);
    describe(attributesOf(answer));
    return answer;
  };
  return traced(`chat ${name}`, attributes, act, 'client');
}

function attributesOf({ isCut, toolCalls, wire, ...tokens }: ModelAnswer): Attributes {
  const reason = toolCalls.length > 0 ? 'tool_calls' : 'stop';
  return {
    'gen_ai.response.finish_reasons': [isCut ? 'length' : reason],
    'gen_ai.usage.input_tokens': tokens.inputTokens,
    'gen_ai.usage.output_tokens': tokens.outputTokens,
    'gen_ai.usage.cache_read.input_tokens': tokens.cachedInputTokens,
    'gen_ai.usage.cache_creation.input_tokens': tokens.cacheWriteTokens,
    'openai.api.type': wire === 'chat' ? 'chat_completions' : wire,
  };
}

interface Limits {
  signal: AbortSignal;
  /** The deadline, on the clock of `performance.now()`. */
  endsAt: number;
}

async function reply(called: Called, asked: Asked, outer: AbortSignal): Promise<ModelAnswer> {
  const { server, key, learned, client } = called;
  const over = AbortSignal.timeout(1000 * server.seconds);
  const signal = AbortSignal.any([outer, over]);
  const endsAt = performance.now() + 1000 * server.seconds;
  const attempt: Attempt = { wire: learned.wire ?? firstWire(server.api, client.baseURL), leftOut: new Set() };
  try {
    return await adapted(called, asked, attempt, { signal, endsAt });
  } catch (error) {
    outer.throwIfAborted();
    // A server that sends very fast keeps timers from firing.
    const isOver = over.aborted || performance.now() > endsAt;
    const { wire, stalled } = attempt;
    if (isOver && stalled === undefined)
      throw new ModelFailed(
        'model',
        `the model server's answer was not complete after ${server.seconds} s; raise MODEL_ANSWER_SECONDS, or use a faster model`,
      );
    const clean = (text: string) => server.clean(text, key);
    // A stream that stalls twice runs into the time limit, but the server is the cause.
    const model = { name: called.name, host: hostOf(client.baseURL) };
    throw failureOf(isOver ? stalled : error, { wire, setting: server.api, model, clean });
  }
}

function hostOf(baseUrl: string): string {
  return URL.parse(baseUrl)?.host ?? 'the model server';
}

/** How one request is being made. */
interface Attempt {
  wire: Wire;
  /** The refusal of the first API, once the other one is tried. */
  refusedBy?: { error: unknown; wire: Wire };
  /** What this request leaves out, beside what the server is known to refuse. */
  leftOut: Set<string>;
  /** A stream of this request that stalled. */
  stalled?: AnswerStalled;
}

/** Makes a request, and repeats it without what the server refuses. Every change is made only once, so this ends. */
async function adapted(called: Called, asked: Asked, attempt: Attempt, limits: Limits): Promise<ModelAnswer> {
  const { learned, name } = called;
  for (;;) {
    const { wire, leftOut } = attempt;
    const refused = new Set([...learned.refused, ...leftOut]);
    const given = withoutParts(withinWindow(asked, learned), refused);
    const body = withoutRefused({ ...wires[wire].request(name, given) }, refused);
    const isFinal = (refusal: Refusal) =>
      tooLong(refusal) !== undefined || toLeaveOut(refusal, body, given.messages) !== undefined;
    try {
      const send = (tell: Tell) =>
        sent(called, wire, body, { tell, onLost: asked.onLost, ...limits }).catch((error: unknown) => {
          if (error instanceof AnswerStalled) attempt.stalled = error;
          throw error;
        });
      const answer = await repeated(send, asked, { ...limits, isFinal });
      if (attempt.refusedBy !== undefined) learned.wire = wire;
      return { ...answer, isCut: answer.isCut || hasReachedLimit(answer, body), wire };
    } catch (error) {
      if (changes(called, attempt, error, { given, body })) continue;
      throw attempt.refusedBy?.wire === attempt.wire ? attempt.refusedBy.error : error;
    }
  }
}

/** Changes the attempt, or what is known of the server, after a refusal. Returns false when nothing can be changed. */
function changes(
  { learned, server }: Called,
  attempt: Attempt,
  error: unknown,
  { given, body }: { given: Asked; body: Record<string, unknown> },
): boolean {
  const refusal = refusalOf(error);
  const long = tooLong(refusal);
  if (refusal.status === 413 && given.messages.some(hasImages)) {
    // Images are most of the bytes, and a shorter conversation would still have them.
    attempt.leftOut.add('images');
    return true;
  }
  if (long !== undefined) {
    learned.window = long.window ?? learned.window;
    const isShorter = withinWindow(given, learned) !== given && !attempt.leftOut.has('length');
    // Once is enough, even if the server names a smaller window each time.
    attempt.leftOut.add('length');
    return isShorter;
  }
  const leftOut = toLeaveOut(refusal, body, given.messages);
  if (leftOut === 'kept' || leftOut === 'images') {
    // What is learned counts for everybody who uses this key, so it must not follow from what one of them sent.
    (leftOut === 'images' && isBlind(refusal) ? learned.refused : attempt.leftOut).add(leftOut);
    return true;
  }
  if (server.api === 'auto' && isWrongWire(refusal, attempt.wire)) return switched(attempt, learned, error);
  if (attempt.refusedBy !== undefined && isAnswered(refusal)) learned.wire = attempt.wire;
  if (leftOut === undefined) return false;
  learned.refused.add(leftOut);
  return true;
}

/** Tries the other API, once. When that is refused too, goes back to the first one and its refusal. */
function switched(attempt: Attempt, learned: Learned, error: unknown): boolean {
  const { wire, refusedBy } = attempt;
  if (learned.wire !== undefined) return false;
  attempt.refusedBy ??= { error, wire };
  attempt.wire = other(wire);
  return refusedBy === undefined;
}

function isWrongWire({ status = 0, text }: Refusal, wire: Wire): boolean {
  return status === 404 || status === 405 || (status >= 400 && status < 500 && namesOther(wire, text));
}

/** The API exists, because it refused the request for another reason than its address. */
function isAnswered({ status = 0 }: Refusal): boolean {
  return status >= 400 && status < 500 && status !== 429;
}

/** vLLM and others refuse a limit of the answer that leaves no room for the conversation. */
function withinWindow(asked: Asked, { window }: Learned): Asked {
  const most = window === undefined ? Number.POSITIVE_INFINITY : Math.max(256, Math.floor(window / 4));
  return (asked.maxOutputTokens ?? 0) > most ? { ...asked, maxOutputTokens: most } : asked;
}

/**
 * vLLM calls an answer complete that was cut in the middle of a call, https://github.com/vllm-project/vllm/issues/53269.
 * A longer answer is not cut: its server ignores the limit.
 */
function hasReachedLimit({ outputTokens }: ModelAnswer, body: Record<string, unknown>): boolean {
  const limit = body.max_output_tokens ?? body.max_completion_tokens ?? body.max_tokens;
  return outputTokens === limit;
}

interface Sending extends Limits {
  tell: Tell;
  onLost: Asked['onLost'];
}

async function sent(called: Called, wire: Wire, body: Record<string, unknown>, sending: Sending): Promise<ModelAnswer> {
  const { client, name, server } = called;
  const { signal, tell, onLost } = sending;
  signal.throwIfAborted();
  const options = { body, stream: body.stream === true, signal, timeout: 1000 * server.seconds };
  let [isAnswered, chars] = [false, 0];
  const counted: Tell = {
    text: (piece) => {
      chars += piece.length;
      tell.text(piece);
    },
    call: (called, piece) => {
      chars += piece.length;
      tell.call(called, piece);
    },
  };
  try {
    const response = await client.post(wires[wire].path, options).asResponse();
    isAnswered = true;
    return await readAnswer(wires[wire], name, response, counted);
  } catch (error) {
    // A server that was still thinking has sent nothing. An error in place of an answer costs nothing.
    if ((isAnswered || signal.aborted) && !(error instanceof AnswerIsError)) onLost?.(estimateOf(body, chars));
    throw error;
  }
}

const maxRetries = 4;
const firstPauseMs = 500;
const longestPauseMs = 8000;
/** When a server asks for a longer pause, the caller decides: a run is parked and leaves its slot to others. */
const longestAskedMs = 20_000;

interface RetryLimits {
  signal: AbortSignal;
  endsAt: number;
  /** Returns whether a refusal is final for this request although its status may be temporary. */
  isFinal: (refusal: Refusal) => boolean;
}

/**
 * Retries temporary failures a few times, but not after `endsAt`. Pauses as long as the server asks, or else longer
 * each time. A stream that breaks after its first text is repeated only if `onRestart` can say so.
 */
async function repeated<T>(
  send: (tell: Tell) => Promise<T>,
  { onText, onCall, onRestart }: ReplyOptions,
  { signal, endsAt, isFinal }: RetryLimits,
): Promise<T> {
  let isTold = false;
  const tell: Tell = {
    text: (piece) => {
      isTold ||= onText !== undefined;
      onText?.(piece);
    },
    call: (name, piece) => {
      isTold ||= onCall !== undefined;
      onCall?.(name, piece);
    },
  };
  for (let retries = 0; ; retries++)
    try {
      return await send(tell);
    } catch (error) {
      const pauseMs = pauseAfter(error, retries, isFinal);
      const isShown = isTold && onRestart === undefined;
      if (pauseMs === undefined || isShown || signal.aborted || performance.now() + pauseMs > endsAt) throw error;
      currentSpan()?.note('retry', { 'deckhand.pause.ms': pauseMs });
      await sleep(pauseMs, undefined, { signal });
      if (isTold) onRestart?.();
      isTold = false;
    }
}

/** Returns the pause before the next try, or undefined when there is none. */
function pauseAfter(error: unknown, retries: number, isFinal: RetryLimits['isFinal']): number | undefined {
  if (error instanceof ModelFailed || refusedAnswer(error) !== undefined || retries === maxRetries) return undefined;
  const refusal = refusalOf(error);
  if (!isTemporary(refusal) || isFinal(refusal)) return undefined;
  const pauseMs = refusal.retryAfterMs ?? growingPauseMs(retries, firstPauseMs, longestPauseMs);
  return pauseMs > longestAskedMs ? undefined : pauseMs;
}

/** Without a status the server could not be reached, or its answer ended early. A used-up quota does not pass. */
function isTemporary(refusal: Refusal): boolean {
  const { status } = refusal;
  if (isOutOfCredit(refusal)) return false;
  return status === undefined || status === 408 || status === 409 || status === 429 || status >= 500;
}
