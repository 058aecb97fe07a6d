import { APIError } from 'openai';
import { retryAfterMs } from '../../domain/waiting.ts';
import { badAnswer } from '../bounds.ts';
import { isFields } from '../merge.ts';
import type { ModelFailed } from '../model.ts';

/** What a server said when it refused a request, from whichever shape it used. */
export interface Refusal {
  /** Undefined when there was no HTTP answer, or it ended early. */
  status: number | undefined;
  /** The server's own code and type, such as `context_length_exceeded`; empty without one. */
  code: string;
  /** The field that it refuses; empty when it names none. */
  param: string;
  /** Everything that it said, in one line. */
  text: string;
  retryAfterMs: number | undefined;
  /** The fields of the error, for numbers such as llama.cpp's `n_ctx`. */
  fields: Record<string, unknown>;
}

/** The server answered with status 200 and an error in the body. */
export class AnswerIsError extends Error {
  readonly error: unknown;

  constructor(error: unknown) {
    super('the answer is an error');
    this.name = 'AnswerIsError';
    this.error = error;
  }
}

/** The type of an error whose body is a web page, as proxies and firewalls send it. */
export const pageType = 'web_page';

export function isPage({ fields }: Refusal): boolean {
  return fields.type === pageType;
}

/** Reads an error of the client library, or an AnswerIsError. */
export function refusalOf(thrown: unknown): Refusal {
  const { status, headers } = thrown instanceof APIError ? thrown : {};
  const error: unknown = thrown instanceof APIError || thrown instanceof AnswerIsError ? thrown.error : undefined;
  const fields = isFields(error) ? error : {};
  const text = textIn(error);
  const code = [fields.code, fields.type].filter((each) => typeof each === 'string').join(' ');
  return {
    status: status ?? statusIn(fields),
    code,
    param: typeof fields.param === 'string' ? fields.param : '',
    text,
    retryAfterMs: pauseAsked(headers, text),
    fields,
  };
}

const hasNoCredit = /insufficient_quota|billing_hard_limit|credit balance is too low|insufficient (?:balance|credits)/i;

/** Returns whether the account must be topped up. OpenAI reports this with status 429, like limits that pass. */
export function isOutOfCredit({ status, code, text }: Refusal): boolean {
  return status === 402 || (status === 429 && hasNoCredit.test(`${code} ${text}`));
}

/** Statuses for the codes that errors inside of a stream or of an answer have in place of one. */
const statuses: [RegExp, number][] = [
  [/rate_limit|too_many_requests|insufficient_quota/, 429],
  [/overloaded|server_error|internal|unavailable|timeout/, 503],
  [/auth|invalid_api_key/, 401],
  [/./, 400],
];

function statusIn({ code, type, status }: Record<string, unknown>): number | undefined {
  // OpenRouter sends the status as a number, LiteLLM as a string.
  const number = [code, status].map(Number).find((each) => Number.isInteger(each) && each >= 400 && each < 600);
  if (number !== undefined) return number;
  const named = [code, type].filter((each) => typeof each === 'string' && each !== '' && each !== 'error').join(' ');
  return statuses.find(([pattern]) => pattern.test(named))?.[1];
}

/** Azure and OpenAI also say the pause in milliseconds; Groq, Gemini and OpenAI say it in words. */
function pauseAsked(headers: Headers | undefined, text: string): number | undefined {
  const ms = Number(headers?.get?.('retry-after-ms') ?? Number.NaN);
  if (Number.isFinite(ms) && ms >= 0) return ms;
  const asked = retryAfterMs(headers?.get?.('retry-after'));
  if (asked !== undefined) return asked;
  const [, words = ''] = pauseInWords.exec(text) ?? [];
  const parts = [...words.matchAll(/(\d+(?:\.\d+)?) ?(ms|h|m|s)/gi)];
  return parts.length === 0 ? undefined : parts.reduce((sum, [, number, unit]) => sum + Number(number) * msIn(unit), 0);
}

/** Such as "try again in 7m12.5s", "retry in 34s" and "try again in 5 minutes". */
const pauseInWords =
  /\b(?:try again|retry) in ((?:\d+(?:\.\d+)? ?(?:ms|h|m|s|hours?|min(?:ute)?s?|sec(?:ond)?s?)(?![a-z]) ?){1,4})/i;

function msIn(unit = 's'): number {
  return { ms: 1, s: 1000, m: 60_000, h: 3_600_000 }[unit.toLowerCase()] ?? 1000;
}

/** How deep an error may be wrapped: a gateway quotes the JSON of its provider. */
const maxDepth = 5;

/** The texts of one error are read up to this many characters in all. */
const maxText = 20_000;

/**
 * Returns what an error says, in one line. Servers send `{ error: { message } }`, `{ error: "…" }`, `{ message }`,
 * `{ detail: [ … ] }` (FastAPI) and lists of these (Gemini); OpenRouter quotes its provider in `metadata.raw`.
 */
export function textIn(error: unknown): string {
  return textWithin(error, { left: maxText }, 0);
}

function textWithin(error: unknown, budget: { left: number }, depth: number): string {
  const lineOf = (text: string) => {
    const read = text.slice(0, budget.left);
    budget.left -= read.length;
    return inOneLine(read);
  };
  if (typeof error === 'string') return lineOf(error);
  if (depth > maxDepth) return '';
  const within = (each: unknown) => textWithin(each, budget, depth + 1);
  if (Array.isArray(error)) return error.slice(0, 3).map(within).filter(Boolean).join('; ');
  if (!isFields(error)) return '';
  const { metadata, loc, msg } = error;
  if (Array.isArray(loc) && typeof msg === 'string') {
    const place = loc.slice(0, 20).filter((each) => typeof each === 'string' || typeof each === 'number');
    return lineOf(`${place.join('.')}: ${msg}`);
  }
  let said = '';
  for (const each of [error.message, error.error, error.detail, error.msg, error.errors]) said ||= within(each);
  const raw = isFields(metadata) ? within(parsed(metadata.raw)) : '';
  return [said, raw].filter(Boolean).join(': ');
}

function parsed(text: unknown): unknown {
  try {
    return typeof text === 'string' ? JSON.parse(text) : text;
  } catch {
    return text;
  }
}

function inOneLine(text: string): string {
  return withoutTags(text)
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim();
}

/** Removes the tags of a web page, and what stands in its scripts and styles. */
function withoutTags(text: string): string {
  let hidden: string | undefined;
  return text
    .split(/(<[^<>]{1,500}>)/)
    .map((piece, i) => {
      if (i % 2 === 0) return hidden === undefined ? piece : '';
      const [, end = '', name = ''] = /^<(\/?)(script|style)\b/i.exec(piece) ?? [];
      if (end === '' && name !== '') hidden ??= name.toLowerCase();
      else if (name.toLowerCase() === hidden) hidden = undefined;
      return ' ';
    })
    .join('');
}

/** Characters that are shown of what a server said. */
const maxSaid = 500;

/**
 * Builds the failure for an answer that is not a `form`. Some gateways report their errors in such an answer, with
 * status 200.
 */
export function malformedAnswer(form: string, where: PropertyKey[] | undefined, data: unknown): ModelFailed {
  const part = where?.join('.') || 'the answer itself';
  const said = textIn(data).slice(0, maxSaid);
  return badAnswer(
    `is not a ${form}: ${part} is missing or malformed; check OPENAI_BASE_URL and OPENAI_API${said === '' ? '' : `. The server said: ${said}`}`,
  );
}
