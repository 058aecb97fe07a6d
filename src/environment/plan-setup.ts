import { pathsMatching } from '../repositories/settings/repository-settings.ts';
import { type DetectedCommand, detectSetup, isKnownCacheFile } from './detect.ts';
import { secretNamed } from './image.ts';
import { keyOf, ownSystem } from './key.ts';
import type { Room } from './room.ts';
import type { OpenSecret } from './secrets/operations.ts';

/** What set-up of a commit does, and under which key its result is kept. */
export interface SetupPlan {
  commit: string;
  /** A command is left out where its program is missing. */
  commands: (Pick<DetectedCommand, 'command'> & Partial<DetectedCommand>)[];
  /** The commands were chosen from the files of the repository. Their failure does not fail a run. */
  isDetected: boolean;
  key: string;
  /** The files that decide whether set-up runs again, with the ids of their contents. */
  files: Map<string, string>;
  /** The secrets that set-up gets as variables. */
  secrets: OpenSecret[];
}

/** Decides what set-up does. @throws RunFailed `setup` when .deckhand.yml names a secret of another repository, or none */
export async function planSetup(
  { repository, checkout, settings, image }: Room,
  commit: string,
  known: OpenSecret[],
): Promise<SetupPlan> {
  const all = await checkout.files(commit);
  const isDetected = settings.setup.length === 0;
  const commands: SetupPlan['commands'] = isDetected
    ? detectSetup(all.keys())
    : settings.setup.map((command) => ({ command }));
  const secrets = [...new Set(settings.secrets)].map((name) => secretNamed(known, name));
  const files = await cacheFilesIn(all, settings.cache);
  const key = keyOf({
    projectId: repository.projectId,
    repositoryId: repository.id,
    system: image?.digest ?? (await ownSystem()),
    commands: commands.map(({ command }) => command),
    env: settings.env,
    hosts: settings.network.setup,
    secrets,
    files: [...files].map(([path, oid]) => ({ path, oid })),
  });
  return { commit, commands, isDetected, key, files, secrets };
}

/** Returns the files that decide whether set-up runs again, by path. */
export async function cacheFilesIn(
  files: Map<string, { oid: string }>,
  patterns: string[] | undefined,
): Promise<Map<string, string>> {
  const paths = [...files.keys()];
  const chosen =
    patterns === undefined ? paths.filter(isKnownCacheFile) : await pathsMatching('cache', patterns, paths);
  return new Map([...chosen].map((path) => [path, files.get(path)?.oid ?? '']));
}
