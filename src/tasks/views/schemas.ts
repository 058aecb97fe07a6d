import { z } from 'zod';
import { longText } from '../../http/shapes.ts';

export const SavedView = z.object({ name: z.string(), query: z.string() }).meta({
  id: 'SavedView',
  description: 'Filters and sorting of a board under a name. Each person has their own in each project',
});

export const SaveView = z.strictObject({
  query: longText(1000).meta({ description: 'the query of the address of the board' }),
});
