import { createHash } from 'node:crypto';
import { TypeID, typeid } from 'typeid-js';

/** The prefixes of our identifiers. They are TypeIDs, which sort by the time they were created. */
export type IdPrefix =
  | 'proj'
  | 'task'
  | 'repo'
  | 'agent'
  | 'user'
  | 'run'
  | 'tok'
  | 'recon'
  | 'handoff'
  | 'rev'
  | 'comment'
  | 'sprint'
  | 'wiz'
  | 'msg'
  | 'wait'
  | 'said'
  | 'trial'
  | 'audit'
  | 'hook'
  | 'step'
  | 'auto'
  | 'note'
  | 'proof'
  | 'item';

/** Creates an identifier such as `task_01h455vb4pex5vsknk084sn02q`. */
export function newId(prefix: IdPrefix): string {
  return typeid(prefix).toString();
}

/** Derives an identifier from a string. It does not sort by time. */
export function idFrom(prefix: IdPrefix, text: string): string {
  const bytes = createHash('sha256').update(text).digest().subarray(0, 16);
  return TypeID.fromUUIDBytes(prefix, bytes).toString();
}
