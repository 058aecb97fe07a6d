import { z } from 'zod';
import { isDay, Timestamp, titleText, wholeNumber } from '../../http/shapes.ts';

export const AskInChat = z.strictObject({ message: titleText(10_000) });

const timePattern = /^(\d{4}-\d\d-\d\d)T\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-](0\d|1[0-4]):?\d\d)$/;

/** Returns the time of an ISO 8601 text with a zone. `Date.parse` alone accepts February 30 and a zone such as +20:00. */
function timeIn(text: string): Date | undefined {
  const day = timePattern.exec(text)?.[1];
  const time = new Date(text);
  return day === undefined || !isDay(day) || Number.isNaN(time.getTime()) ? undefined : time;
}

export const HistoryQuery = z.strictObject({
  limit: wholeNumber(1, 100)
    .default(100)
    .meta({ override: { type: 'integer', minimum: 1, maximum: 100, default: 100 }, description: 'messages' }),
  before: z
    .string()
    .max(100, 'must be the id of a message or a time such as 2026-01-15T09:30:00Z')
    .transform((text, ctx) => {
      const before = /^msg_[0-9a-z]{26}$/.test(text) ? text : timeIn(text);
      if (before !== undefined) return before;
      ctx.addIssue({ code: 'custom', message: 'must be the id of a message or a time such as 2026-01-15T09:30:00Z' });
      return z.NEVER;
    })
    .optional()
    .meta({
      override: { type: 'string', maxLength: 100 },
      description: 'the id of a message or a time; the messages before it are returned',
    }),
});

export const ChatMessage = z
  .object({
    id: z.string(),
    at: Timestamp,
    role: z.enum(['user', 'assistant']),
    author: z
      .object({ id: z.string(), login: z.string() })
      .nullable()
      .meta({ description: 'null for the agent and for deleted accounts' }),
    text: z.string(),
  })
  .meta({ id: 'ChatMessage' });
