import { Frame1763683200000 } from './0001-frame.ts';
import { Subtasks1763769600000 } from './0002-subtasks.ts';
import { AgentHistory1763856000000 } from './0003-agent-history.ts';
import { Idempotency1763942400000 } from './0004-idempotency.ts';
import { SignIn1764028800000 } from './0005-sign-in.ts';

/** All migrations, oldest first; an explicit list, because a glob does not work under every runner. */
export const migrations = [
  Frame1763683200000,
  Subtasks1763769600000,
  AgentHistory1763856000000,
  Idempotency1763942400000,
  SignIn1764028800000,
];
