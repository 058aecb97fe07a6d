/**
 * Returns whether a task belongs to the percentage of tasks that a new version of an agent takes. The same version and
 * task always give the same answer, a higher percentage only adds tasks, and each version gets a share of its own.
 */
export function isInRollout(versionId: string, taskId: string, rollout: number): boolean {
  return shareOf(`${versionId} ${taskId}`) * 100 < rollout;
}

/** Hashes a text to a number from 0 to 1, without 1: FNV-1a, then the mixing steps of MurmurHash3. */
function shareOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  // FNV alone maps ids that differ only in their last characters to neighbouring numbers.
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32;
}
