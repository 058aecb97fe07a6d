import { z } from 'zod';
import { titleText } from '../../http/shapes.ts';

/** The longest text that a person says to an agent. */
const maxText = 10_000;

export const SayToRun = z.strictObject({ text: titleText(maxText) });

export const Accepted = z.object({}).meta({ id: 'Accepted', description: 'The request was accepted' });
