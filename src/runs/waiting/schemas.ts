import { z } from 'zod';
import { IdText, titleText } from '../../http/shapes.ts';

/** The longest text that a person says to an agent. */
const maxText = 10_000;

export const SayToRun = z.strictObject({ text: titleText(maxText) });

/** The `id` of the attention that somebody acts on. A later one is refused. */
const seenId = IdText.optional().meta({ description: 'the id of `attention`; another one is refused' });

export const ApproveRun = z.strictObject({ id: seenId });

export const AnswerRun = z.strictObject({ text: titleText(maxText), id: seenId });

export const Accepted = z.object({}).meta({ id: 'Accepted', description: 'The request was accepted' });
