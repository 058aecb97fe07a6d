import type { Action, Call, Dialect } from './actions.ts';
import { brokenJson } from './broken-json.ts';
import { chance, choice } from './chance.ts';
import type { Conversation } from './conversation.ts';
import type { Rates } from './rates.ts';
import { invalidCall, slipped } from './slips.ts';

/** One answer of a model. `isCut` means that it reached the limit of its length. */
export interface Answer {
  text: string;
  calls: Call[];
  isCut: boolean;
}

const narrations = [
  'I have found the place. Next I will change it and run the tests.',
  'The cause is clear now. Let me make the change.',
  'Now I will look at the file and correct it.',
] as const;

/**
 * Returns the answer of a policy to a conversation. `key` stands for the policy's seed and the conversation's place in
 * it; the same key gives the same answer.
 */
export function answerOf(
  action: Action,
  conversation: Conversation,
  dialect: Dialect,
  { rates, key }: { rates: Rates; key: string },
): Answer {
  const happens = (rate: number, what: string) => chance(what, key) < rate;
  if (happens(rates.narration, 'narration'))
    return { text: choice([...narrations], 'text', key), calls: [], isCut: false };
  const errs = happens(conversation.lastFailed ? rates.errorAfterError : rates.error, 'error');
  const { name, arguments: given } = dialect.write(action);
  const wanted = [{ name, arguments: JSON.stringify(given) }];
  const repeated = lastRepeatable(conversation);
  let calls = errs ? slipped(action, dialect, key) : wanted;
  if (!errs && repeated !== undefined && happens(rates.repetition, 'repetition')) calls = [repeated];
  if (happens(rates.invalidCall, 'invalid')) calls = [invalidCall(action, dialect, key)];
  if (happens(rates.brokenJson, 'json'))
    calls = calls.map((call) => ({ ...call, arguments: brokenJson(call.arguments, key) }));
  if (happens(rates.overlong, 'overlong')) return cut(calls, key);
  return { text: sayingOf(action), calls, isCut: false };
}

/** An answer that ends in the middle: of its text, or of its last call. */
function cut(calls: Call[], key: string): Answer {
  const long = 'Let me think about every possibility in turn. '.repeat(50);
  if (chance('cut', key) < 0.5) return { text: long, calls: [], isCut: true };
  const half = (text: string) => text.slice(0, Math.floor(text.length / 2));
  return { text: '', calls: calls.map((call) => ({ ...call, arguments: half(call.arguments) })), isCut: true };
}

/** The last call, if repeating it can do no harm: a second edit might apply to the new text. */
function lastRepeatable({ attempts }: Conversation): Call | undefined {
  const last = attempts.at(-1);
  const isReading = last !== undefined && !last.failed && /^(list|read|search|run)/.test(last.name);
  return isReading ? { name: last.name, arguments: last.arguments } : undefined;
}

function sayingOf(action: Action): string {
  return action.do === 'edit' ? 'I change the place that causes it.' : '';
}
