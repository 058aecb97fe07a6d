import { getCompileCacheDir } from 'node:module';
import { dirname } from 'node:path';

/**
 * Returns the variable with which a process or thread uses the compile cache of this process, if it has one. With it, a
 * thread starts with half the processor time, because Node need not remove the types of its modules again.
 */
export function sharedCompileCache(): Record<string, string> {
  const ofThisVersion = getCompileCacheDir();
  return ofThisVersion === undefined ? {} : { NODE_COMPILE_CACHE: dirname(ofThisVersion) };
}
