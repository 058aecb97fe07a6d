import { type Limits, nearLimits, type Spent } from '../../../domain/budget.ts';
import type { Message } from '../../../llm/model.ts';
import { ofLastRun } from '../context/continuation.ts';

/** Every warning begins like this, so that it is found in the conversation and not given twice. */
export const warningOpening = '[Limits of this run] ';

/**
 * Returns the warning about the limits that are almost used up, except those that the model was warned about in this run
 * already. A limit that people changed since then is a new one.
 */
export function limitWarning(limits: Limits, spent: Spent, messages: Message[]): Message[] {
  const given = ofLastRun(messages).flatMap((m) =>
    m.role === 'user' && m.content.startsWith(warningOpening) ? [m.content] : [],
  );
  const due = nearLimits(limits, spent).filter(
    ({ unit, value }) => !given.some((text) => text.includes(` of ${value} ${unit} are used`)),
  );
  if (due.length === 0) return [];
  const used = due.map(({ unit, used, value }) => `${used} of ${value} ${unit} are used`).join(', ');
  const content = `${warningOpening}${used}. When a limit is reached, the run ends and what you have is kept as unfinished work. Bring the change to an end now, or call finish with what works and name the rest in nextSteps.`;
  return [{ role: 'user', content }];
}
