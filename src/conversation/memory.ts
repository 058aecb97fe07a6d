import type { Message, Model, ModelAnswer, ToolSpec } from '../llm/model.ts';

/** Longest prompt in characters, about 100,000 tokens: longer ones cost more and help little. */
const contextChars = 400_000;
/** After a cut, the remaining turns fill at most this share of the space for turns, so that the next cut is far off. */
const keptShare = 0.45;
/** Longest summary in characters, and as a share of the longest prompt. */
const maxSummaryChars = 8000;
const summaryShare = 0.125;
/** An image counts as this many characters. Servers bill it by its size on screen, not by its bytes. */
const imageChars = 6000;

/** What prompts leave out of a conversation. It stays the same until the next cut, so prompts keep their beginning. */
export interface Cut {
  /** Messages before this index are left out, except the opening. The message at the index begins a turn. */
  upTo: number;
  /** Stands in place of the messages that are left out. */
  summary: string;
  /** Set when the last turn alone is too long: results before the index `upTo` are shortened to `chars` characters. */
  shortened?: { upTo: number; chars: number };
}

/** Returns the number of messages before the first turn: the system prompt and the task. Every prompt has them. */
export function openingLength(messages: Message[]): number {
  const first = messages.findIndex((m) => m.role === 'assistant');
  return first < 0 ? messages.length : first;
}

/** Returns the messages to send: the opening, the summary, and the turns since the cut. */
export function promptOf(messages: Message[], cut: Cut | undefined): Message[] {
  if (cut === undefined) return messages;
  const { upTo, summary, shortened } = cut;
  const opening = messages.slice(0, openingLength(messages));
  const rest = messages.slice(upTo).map((m, i) => (i + upTo < (shortened?.upTo ?? 0) ? shorten(m, shortened) : m));
  return summary === ''
    ? [...opening, ...rest]
    : [...opening, { role: 'user', content: summaryMessage(summary) }, ...rest];
}

function summaryMessage(summary: string): string {
  return `[Earlier turns of this conversation are left out. These notes replace them.]\n\n${summary}`;
}

/**
 * Decides what to leave out so that the prompt becomes much shorter than `limit` characters; `overhead` are the
 * characters sent besides messages. Turns are left out whole, because a call without its result is invalid. Returns
 * undefined when the prompt fits, or when nothing more can be left out. The summary is the caller's.
 */
export function planCut(
  messages: Message[],
  cut: Cut | undefined,
  limit: number,
  overhead = 0,
): Omit<Cut, 'summary'> | undefined {
  const length = (some: Message[]) => some.reduce((sum, m) => sum + lengthOf(m), 0);
  if (overhead + length(promptOf(messages, cut)) <= limit) return undefined;
  const begins = openingLength(messages);
  const fixed = overhead + length(messages.slice(0, begins)) + summaryLimit(limit);
  const turns = messages.flatMap((m, i) => (m.role === 'assistant' && i >= (cut?.upTo ?? begins) ? [i] : []));
  const last = turns.at(-1);
  if (last === undefined) return undefined;
  const found = turns.find((i) => length(messages.slice(i)) <= (limit - fixed) * keptShare) ?? last;
  const plan =
    fixed + length(messages.slice(found)) <= limit ? { upTo: found } : shortenLast(messages, last, limit - fixed);
  const isSame = plan.upTo === (cut?.upTo ?? begins) && plan.shortened?.chars === cut?.shortened?.chars;
  return isSame ? undefined : plan;
}

/** Returns how long a summary may be when prompts have at most `limit` characters. */
export function summaryLimit(limit: number): number {
  return Math.min(maxSummaryChars, Math.floor(limit * summaryShare));
}

/** Characters that a shortened result keeps at least. With fewer, the turn is left out as well. */
const leastChars = 200;

function shortenLast(messages: Message[], last: number, limit: number): Omit<Cut, 'summary'> {
  const turn = messages.slice(last);
  const results = turn.filter((m) => m.role === 'tool');
  const others = turn.filter((m) => m.role !== 'tool').reduce((sum, m) => sum + lengthOf(m), 0);
  // A tenth is left for the marks where results were cut.
  const chars = Math.floor(((limit - others) * 0.9) / Math.max(1, results.length)) - markChars;
  if (chars < leastChars) return { upTo: messages.length };
  return { upTo: last, shortened: { upTo: messages.length, chars } };
}

const markChars = 100;

function shorten(message: Message, shortened: Cut['shortened']): Message {
  const chars = shortened?.chars ?? 0;
  if (message.role !== 'tool' || message.content.length <= chars + markChars) return message;
  const half = Math.floor(chars / 2);
  const left = message.content.length - 2 * half;
  const content = `${message.content.slice(0, half)}\n[… ${left} characters left out; call the tool again for them …]\n${message.content.slice(-half)}`;
  return { ...message, content };
}

/** Returns the size of a message in characters, including its calls. An image counts as `imageChars`. */
function lengthOf(message: Message): number {
  if (message.role === 'user') return message.content.length + imageChars * (message.images?.length ?? 0);
  if (message.role !== 'assistant') return message.content.length;
  const calls = message.toolCalls.reduce((sum, call) => sum + call.name.length + call.arguments.length, 0);
  const kept = message.kept === undefined ? 0 : JSON.stringify(message.kept.items).length;
  return message.content.length + calls + kept;
}

/** Returns the size of a prompt in characters, including the tools. */
export function promptLength(messages: Message[], tools: ToolSpec[]): number {
  return messages.reduce((sum, m) => sum + lengthOf(m), JSON.stringify(tools).length);
}

/** What a conversation has learned about the prompts that its model accepts. Stored with the run. */
export interface Learned {
  cut: Cut | undefined;
  /** Longer prompts than this many characters were refused. */
  limitChars: number | undefined;
}

export interface Memory extends Learned {
  /** Characters per token, measured with the last answer. */
  charsPerToken: number | undefined;
  /** Stores a change of what was learned. */
  keep(learned: Learned): Promise<void>;
}

/** Creates a memory that lasts as long as the conversation. */
export function newMemory(): Memory {
  return { cut: undefined, limitChars: undefined, charsPerToken: undefined, keep: async () => {} };
}

/** Plausible numbers of characters per token: from languages without an alphabet to prose in English. */
const [leastRatio, mostRatio] = [1, 4];
/** Characters per token, assumed until the first answer: source code and English. */
export const usualRatio = 3;
/** Tokens of the window that are reserved for the answer, but at most this share of the window. */
const answerTokens = 32_000;
const answerShare = 0.25;

/** Learns from an answer how many characters make a token of this model. */
export function measure(memory: Memory, prompt: Message[], tools: ToolSpec[], { inputTokens }: ModelAnswer): void {
  if (inputTokens <= 0) return;
  const ratio = promptLength(prompt, tools) / inputTokens;
  memory.charsPerToken = Math.min(mostRatio, Math.max(leastRatio, ratio));
}

/** Returns how many characters a prompt may have. */
export function limitOf(memory: Memory, model: Model): number {
  const window = model.window();
  const { limitChars = contextChars, charsPerToken = usualRatio } = memory;
  if (window === undefined) return Math.min(contextChars, limitChars);
  const tokens = window - Math.min(answerTokens, Math.floor(window * answerShare));
  return Math.min(contextChars, limitChars, Math.floor(tokens * charsPerToken));
}

/**
 * The share of the turns that a refusal leaves: 0.9 for the first refusal if the server named its window, otherwise
 * half.
 */
const [slightly, byHalf] = [0.9, 0.5];
/** A prompt whose turns have fewer characters cannot become shorter, so its refusal teaches nothing. */
const leastTurns = 1000;

/**
 * Learns from a refusal that the model accepts only shorter prompts. `fixed` is the part of the prompt's `length` that
 * cannot be left out.
 */
export function lowerLimit(
  memory: Memory,
  model: Model,
  { length, fixed, isFirst }: { length: number; fixed: number; isFirst: boolean },
): void {
  const turns = length - fixed;
  if (turns < leastTurns) return;
  const share = isFirst && model.window() !== undefined ? slightly : byHalf;
  memory.limitChars = Math.min(limitOf(memory, model), fixed + Math.floor(turns * share));
}
