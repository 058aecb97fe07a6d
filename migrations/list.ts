import { Frame1763683200000 } from './0001-frame.ts';

/** All migrations, oldest first; an explicit list, because a glob does not work under every runner. */
export const migrations = [Frame1763683200000];
