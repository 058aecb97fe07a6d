import { typeid } from 'typeid-js';

/** The prefixes of our identifiers; the rest is a TypeID, sortable by the time it was made. */
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
  | 'sprint'
  | 'wiz'
  | 'msg';

/** A new identifier such as `task_01h455vb4pex5vsknk084sn02q`. */
export function newId(prefix: IdPrefix): string {
  return typeid(prefix).toString();
}
