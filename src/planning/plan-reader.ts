import type { App } from '../app.ts';
import type { RepositoryRow } from '../db/tables/project.ts';
import { openReader, type Reader } from '../repositories/reader.ts';
import type { ToolAnswer } from '../sandbox/sandbox.ts';

/** At most this many repositories are open at once, because each one has a clone and a sandbox. */
const maxOpen = 5;

/** Reads the repositories of a plan. The first one is at `.`, the others are at `../<name>/`. */
export interface PlanReader {
  call(tool: string, args: object): Promise<ToolAnswer>;
  folderOf(repository: RepositoryRow): string;
  close(): Promise<void>;
}

/** Opens a reader for the users in `readers`. A repository is cloned by the first call that needs it. */
export function openPlanReader(
  app: App,
  { repositories, readers }: { repositories: RepositoryRow[]; readers: string[] },
  signal: AbortSignal,
): PlanReader {
  const open = new Map<RepositoryRow, Reader>();
  const readerOf = (repository: RepositoryRow): Reader | undefined => {
    const known = open.get(repository);
    if (known !== undefined || open.size >= maxOpen) return known;
    const made = openReader(app, { repository, branch: null, readers }, signal);
    open.set(repository, made);
    return made;
  };
  return {
    folderOf: (repository) => (repository === repositories[0] ? '.' : `../${repository.name}/`),
    call: async (tool, args) => {
      const { path } = args as { path?: string };
      const [, name, rest] = /^\.\.\/+([^/]+)\/*(.*)$/s.exec(path ?? '') ?? [];
      const named = (each: RepositoryRow) => each.name.toLowerCase() === name?.toLowerCase();
      const repository = name === undefined ? repositories[0] : repositories.find(named);
      if (repository === undefined)
        return { ok: false, text: `there is no repository ../${name}; ${allOf(repositories)}` };
      const reader = readerOf(repository);
      if (reader === undefined)
        return { ok: false, text: `at most ${maxOpen} repositories can be read in one step; go on with those` };
      return reader.call(tool, name === undefined ? args : { ...args, path: rest || '.' });
    },
    close: async () => {
      for (const reader of open.values()) await reader.close();
    },
  };
}

function allOf(repositories: RepositoryRow[]): string {
  return `there are: ${repositories.map(({ name }) => `../${name}/`).join(', ') || 'none'}`;
}
