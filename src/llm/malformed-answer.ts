import { badAnswer } from './bounds.ts';
import type { ModelFailed } from './model.ts';
import { textIn } from './refusals/refusal.ts';

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
