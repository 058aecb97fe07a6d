import { z } from 'zod';
import { Timestamp, titleText, wholeNumber } from '../../http/shapes.ts';

export const AskInChat = z.strictObject({ message: titleText(10_000) });

const isTimeOrId = (text: string) =>
  /^msg_[0-9a-z]{26}$/.test(text) ||
  (/^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:?\d\d)$/.test(text) && !Number.isNaN(Date.parse(text)));

export const HistoryQuery = z.strictObject({
  limit: wholeNumber(1, 100)
    .default(100)
    .meta({ override: { type: 'integer', minimum: 1, maximum: 100, default: 100 }, description: 'messages' }),
  before: z
    .string()
    .max(100, 'must be the id of a message or a time such as 2026-01-15T09:30:00Z')
    .refine(isTimeOrId, 'must be the id of a message or a time such as 2026-01-15T09:30:00Z')
    .optional()
    .meta({ description: 'the id of a message or a time; the messages before it are returned' }),
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
