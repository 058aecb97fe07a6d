import type { ReasoningEffort } from '../domain/settings.ts';

/** A tool call as the model wrote it. The arguments are a string that has not been parsed yet. */
export interface ToolCall {
  id: string;
  name: string;
  arguments: string;
}

/** An API through which models are called. */
export type Wire = 'responses' | 'chat';

/**
 * What a server sent besides text and calls, such as reasoning items and signatures. Stored with the turn and sent back
 * unchanged to the same API. It is not sent to the other API, which could not read it.
 */
export interface ServerItems {
  wire: Wire;
  items: unknown;
}

/** A picture, its bytes in base64. */
export interface Image {
  mediaType: 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp';
  base64: string;
}

export type Message =
  | { role: 'system'; content: string }
  | { role: 'user'; content: string; images?: Image[] }
  | { role: 'assistant'; content: string; toolCalls: ToolCall[]; kept?: ServerItems }
  | { role: 'tool'; toolCallId: string; content: string };

export interface ToolSpec {
  name: string;
  description: string;
  /** JSON Schema of the arguments. */
  parameters: Record<string, unknown>;
}

export interface ModelAnswer {
  text: string;
  toolCalls: ToolCall[];
  kept?: ServerItems;
  /** All input tokens, those read from the server's cache or written to it included. */
  inputTokens: number;
  cachedInputTokens: number;
  cacheWriteTokens: number;
  outputTokens: number;
  /** The answer reached the token limit and is incomplete. */
  isCut: boolean;
  /** The API through which the answer came. */
  wire?: Wire;
}

/** Returns an answer as a message of the conversation, with everything that has to be sent back. */
export function messageOf({ text, toolCalls, kept }: ModelAnswer): Extract<Message, { role: 'assistant' }> {
  return { role: 'assistant', content: text, toolCalls, ...(kept === undefined ? {} : { kept }) };
}

/** Why a model did not answer. `context` means that the conversation is longer than the model accepts. */
export type ModelFault = 'auth' | 'rate_limit' | 'model' | 'context';

export interface FailureDetails {
  /** The server is overloaded or limits the rate, so the same request may succeed later. */
  isTransient?: boolean;
  /** How long the server asks to wait, in milliseconds. */
  retryAfterMs?: number | undefined;
}

/**
 * The model did not answer, even after retries. The message ends in the server's own words where it sent any, at most
 * 500 characters and without secrets.
 */
export class ModelFailed extends Error {
  readonly fault: ModelFault;
  readonly isTransient: boolean;
  readonly retryAfterMs: number | undefined;

  constructor(fault: ModelFault, message: string, { isTransient = false, retryAfterMs }: FailureDetails = {}) {
    super(message);
    this.name = 'ModelFailed';
    this.fault = fault;
    this.isTransient = isTransient;
    this.retryAfterMs = retryAfterMs;
  }
}

/** How much a model may think and write. */
export interface Effort {
  /** How long the model reasons; the server's default without it. */
  effort?: ReasoningEffort | undefined;
  /** The longest answer in tokens, reasoning included; the server's default without it. */
  maxOutputTokens?: number | undefined;
}

export interface ReplyOptions extends Effort {
  /** The function that the model must call. */
  force?: string;
  /** Receives the text as it arrives. */
  onText?: (piece: string) => void;
  /** Receives the arguments of each call as they arrive, as pieces of JSON. */
  onCall?: (name: string, piece: string) => void;
  /**
   * Called when a stream breaks after its first text and the answer begins again. Without it, such a stream is not
   * repeated, because the text was already shown.
   */
  onRestart?: () => void;
  /** Called with an estimate for each request whose answer did not arrive whole: the server bills it all the same. */
  onLost?: (lost: Tokens) => void;
}

/** The tokens of an answer, as the server counts them; see `Reply`. */
export type Tokens = Pick<ModelAnswer, 'inputTokens' | 'cachedInputTokens' | 'cacheWriteTokens' | 'outputTokens'>;

/** A model together with an API key. */
export interface Model {
  name: string;
  /** Requests the model's next message. @throws ModelFailed, or the reason of the signal */
  reply(messages: Message[], tools: ToolSpec[], signal: AbortSignal, options?: ReplyOptions): Promise<ModelAnswer>;
  /**
   * The tokens that fit into one request and its answer, as the server stated them when it refused a request.
   * Undefined until then.
   */
  window(): number | undefined;
}

export interface ModelSource {
  /** Returns a model that is called with the given key. `preset` applies to every request that does not say otherwise. */
  withKey(name: string, key: string, preset?: Effort): Model;
  /**
   * Returns the names of the models that the server lists for a key, sorted. Waits only if nothing is known of them yet, and
   * not longer than `maxWaitMs`. Undefined if that is not enough, or if the server gives no list.
   */
  names(key: string, maxWaitMs: number): Promise<string[] | undefined>;
}
