import type { Message, Model, Reply, ToolSpec } from '../../../llm/model.ts';
import { type Cut, contextChars, promptLength } from './fit-context.ts';

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
export function measure(memory: Memory, prompt: Message[], tools: ToolSpec[], { inputTokens }: Reply): void {
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
