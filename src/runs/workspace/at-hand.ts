import type { App } from '../../app.ts';
import type { RepositoryRow } from '../../db/tables.ts';
import { mayReveal } from '../../domain/private-content.ts';
import { RunFailed } from '../../domain/run.ts';
import { GitFailed } from '../../git/engine.ts';
import { HostClosed } from '../../git/remote-url.ts';
import { findProject } from '../../projects/store.ts';
import { listProjectRepositories } from '../../repositories/store.ts';
import type { RestoredFile, ToolAnswer, ToolHost } from '../../sandbox/sandbox.ts';
import type { Assignment } from '../agent/assignment.ts';
import { readInstructions } from '../agent/instructions.ts';
import { openWork } from '../open-work.ts';
import type { Patience } from '../publish/patience.ts';
import type { Work } from '../publish/publish.ts';
import { changedFiles, type Signals } from './workspace.ts';

/** The tools of a run over all repositories that it has opened: the task's own at `.`, each other at `../<name>/`. */
export interface AtHand {
  host: ToolHost;
  /** Opens again what an earlier worker had opened. */
  reopen(): Promise<void>;
  /** What differs from where the run began, by repository; the task's own is ''. */
  files(): Promise<Record<string, RestoredFile[]>>;
  restore(files: Record<string, RestoredFile[]>): Promise<void>;
}

/** The repositories of the project that a run may open besides its own, by what may be shown where (decisions, section 3). */
export async function openable(app: App, { repository }: Pick<Work, 'repository'>): Promise<RepositoryRow[]> {
  const all = await listProjectRepositories(app.db.manager, repository.projectId);
  const project = await findProject(app.db.manager, repository.projectId);
  // A run writes to every repository that it opens, so what it reads in one may show in the other.
  const mayMix = (r: RepositoryRow) => mayReveal(r, repository, project) && mayReveal(repository, r, project);
  return all.filter((r) => r.id !== repository.id && mayMix(r));
}

export function repositoriesAtHand(app: App, given: Assignment, work: Work, own: ToolHost, signals: Signals): AtHand {
  const hosts = new Map<string, ToolHost>();
  const open = async (repository: RepositoryRow, patience: Patience): Promise<Work> => {
    const shared = { journal: work.journal, signals, patience: work.patience };
    const other = await patience(() => openWork(app, given, repository, shared));
    work.also.push(other);
    // What lets us into one repository must not leave by another.
    for (const each of [work, ...work.also]) each.secrets = [...new Set([...work.secrets, ...other.secrets])];
    hosts.set(repository.name, other.host);
    own.mount(repository.name, other.checkout.workTree, other.checkout.gitDir);
    return other;
  };
  const openNamed = async (name: string): Promise<ToolAnswer> => {
    const known = await openable(app, work);
    const wanted = known.find((r) => r.name.toLowerCase() === name.trim().toLowerCase());
    if (wanted === undefined) {
      const names = known.map((r) => r.name).join(', ') || 'none';
      return { ok: false, text: `there is no repository ${name.slice(0, 100)} to open; there are: ${names}` };
    }
    if (hosts.has(wanted.name)) return { ok: true, text: `it is open at ../${wanted.name}/` };
    try {
      // An agent that is told at once can do something else.
      const other = await open(wanted, (step) => step());
      await work.journal.note('repository', `opened ${wanted.name}`);
      const map = await hosts.get(wanted.name)?.call('list_files', { depth: 2 });
      const instructions = await readInstructions(other.checkout, other.baseHead);
      return { ok: true, text: [`open at ../${wanted.name}/`, map?.text, instructions].filter(Boolean).join('\n\n') };
    } catch (error) {
      signals.tools.throwIfAborted();
      const isTheirs = error instanceof GitFailed || error instanceof HostClosed || error instanceof RunFailed;
      if (!isTheirs) throw error;
      return { ok: false, text: `${wanted.name} could not be opened: ${error.message}` };
    }
  };
  const byId = (id: string) => (id === '' ? own : hosts.get(nameOf(work, id)));
  return {
    host: {
      ...own,
      call: async (tool, args) => {
        if (tool === 'open_repository') return openNamed((args as { name: string }).name);
        const { path } = args as { path?: string };
        const [, name, rest] = /^\.\.\/+([^/]+)\/*(.*)$/s.exec(path ?? '') ?? [];
        if (name === undefined) return own.call(tool, args);
        const host = hosts.get(name);
        if (host === undefined)
          return { ok: false, text: `../${name} is not open; open_repository opens a connected repository` };
        const answer = await host.call(tool, { ...args, path: rest || '.' });
        return { ...answer, text: `[in ../${name}/]\n${answer.text}` };
      },
      close: async () => {
        for (const host of [own, ...hosts.values()]) await host.close();
      },
    },
    reopen: async () => {
      for (const step of await work.journal.steps('branch ')) {
        const repository = (await listProjectRepositories(app.db.manager, work.repository.projectId)).find(
          (r) => r.id === step.slice('branch '.length),
        );
        if (repository !== undefined) await open(repository, work.patience);
      }
    },
    files: async () => {
      const files: Record<string, RestoredFile[]> = { '': await changedFiles(work) };
      for (const other of work.also) files[other.repository.id] = await changedFiles(other);
      return files;
    },
    restore: async (files) => {
      for (const [id, changed] of Object.entries(files)) await byId(id)?.restore(changed);
    },
  };
}

function nameOf({ also }: Work, repositoryId: string): string {
  return also.find((w) => w.repository.id === repositoryId)?.repository.name ?? '';
}
