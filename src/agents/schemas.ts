import { z } from 'zod';
import { longText, Timestamp, titleText } from '../http/shapes.ts';

const status = z.enum(['available', 'busy', 'offline']);

export const Agent = z
  .object({
    id: z.string(),
    projectId: z.string().nullable(),
    name: z.string(),
    description: z.string(),
    team: z.string(),
    model: z.string(),
    systemPrompt: z.string(),
    status,
    currentTaskId: z.string().nullable(),
    createdAt: Timestamp,
  })
  .meta({ id: 'Agent' });

export const AgentEntry = z
  .object({ id: z.string(), name: z.string(), team: z.string(), status })
  .meta({ id: 'AgentEntry' });

const shortText = longText(200).transform((s) => s.trim());

export const CreateAgent = z.strictObject({
  name: titleText(),
  description: longText().default(''),
  team: shortText.default(''),
  model: shortText.default(''),
  systemPrompt: longText().default(''),
});
