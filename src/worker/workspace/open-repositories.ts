import type { App } from '../../app.ts';
import { readInstructions } from '../../conversation/briefing/instructions.ts';
import type { Trees } from '../../conversation/ending.ts';
import type { RepositoryRow } from '../../db/tables/project.ts';
import { RunFailed } from '../../domain/run.ts';
import { startAll } from '../../environment/command-access.ts';
import { GitFailed } from '../../git/engine.ts';
import { HostClosed } from '../../git/remote-url.ts';
import { lackOfRight, openable, whyNotBeside } from '../../repositories/rights.ts';
import { listProjectRepositories } from '../../repositories/store.ts';
import { directorsOf, enterRepository, listOpened } from '../../runs/directors.ts';
import { earlierStep } from '../../runs/journal.ts';
import type { ToolAnswer, ToolHost } from '../../sandbox/sandbox.ts';
import { openWork } from '../open-work.ts';
import type { RetryPolicy } from '../retry.ts';
import { type Assignment, allWorks, type Work } from '../work.ts';
import { moveAgain, moveForAgent } from './move-submodule.ts';
import type { ChangedFiles } from './pack-files.ts';
import { filesBetween, ownRepository, separateMoves } from './stored-files.ts';
import type { Signals } from './workspace.ts';

/**
 * The tools of a run for all repositories that it has opened: the task's own at `.`, the others at `../<name>/`.
 */
export interface OpenRepositories {
  host: ToolHost;
  /**
   * Opens the repositories again that an earlier worker of this run, or the run that it continues, had opened.
   * @throws RunFailed if the agent knows the content of one that may not be opened any more, or in which its directors may not write
   */
  reopen(): Promise<void>;
  /**
   * Opens these repositories unless they are open, and puts them into this order.
   * @throws RunFailed when one of them cannot be opened
   */
  openAll(repositoryIds: string[]): Promise<void>;
  /**
   * Returns the files that changed since they were last stored or, with `whole`, since the run began. `markStored` has
   * to be called once they are stored; until then they count as changed. `judged` are trees that were read already.
   */
  changes(since: 'last' | 'whole', judged?: Trees): Promise<{ files: ChangedFiles; markStored: () => void }>;
  /** Writes the files of an earlier worker or run. They count as stored. */
  restore(files: ChangedFiles): Promise<void>;
}

/** Returns whether a run may get a text that was written by somebody who knew the content of some repositories. */
export type MayRead = (repositoryIds: (string | null)[]) => Promise<boolean>;

/**
 * Returns a function that says whether a run may get such a text: it may if it could open these repositories. It counts as
 * having opened them then, so who wants to direct it later needs the permission there, too.
 */
export function readingRights(
  app: App,
  { run, journal, repository }: Pick<Work, 'run' | 'journal' | 'repository'>,
): MayRead {
  const known = new Map<string | null, boolean>([[repository.id, true]]);
  return async (repositoryIds) => {
    for (const id of repositoryIds) {
      if (!known.has(id)) {
        const found = (await openable(app, repository)).find((each) => each.id === id);
        known.set(id, found !== undefined && (await enterRepository(app, { run, journal }, found)) === undefined);
      }
      if (known.get(id) !== true) return false;
    }
    return true;
  };
}

/** Combines the tools of all repositories of a run. `own` are the tools of the task's own repository. */
export function combineRepositories(
  app: App,
  given: Assignment,
  work: Work,
  own: ToolHost,
  signals: Signals,
): OpenRepositories {
  const others = otherRepositories(app, given, work, own, signals);
  const services = servicesOf(work);
  /** The tree of each repository as it was last stored. */
  const storedTrees = new Map<Work, string>();
  const endProcesses = async () => {
    const names = await Promise.all([own, ...others.hosts.values()].map((host) => host.endProcesses()));
    services.haveEnded();
    return names.flat();
  };
  const moving = { host: { endProcesses }, confinement: signals.confinement, signal: signals.tools };
  return {
    host: {
      ...own,
      call: async (tool, args) => {
        if (tool === 'open_repository') return others.openNamed((args as { name: string }).name);
        if (tool === 'set_submodule') {
          const { path, commit } = args as { path: string; commit: string };
          const { name, rest } = placeOf(path);
          const found = name === undefined ? work : work.others.find(({ repository }) => repository.name === name);
          if (found === undefined) return notOpen(name);
          return moveForAgent(app, found, { path: rest, commit }, moving);
        }
        if (tool !== 'run_command' && tool !== 'start_process') return callWhere(own, others.hosts, tool, args);
        const problem = await services.startAgain(signals.tools);
        const answer = await own.call(tool, args);
        return problem === undefined ? answer : { ...answer, text: `${problem}\n${answer.text}` };
      },
      endProcesses,
      close: async () => {
        for (const host of [own, ...others.hosts.values()]) await host.close();
      },
    },
    reopen: others.reopen,
    openAll: others.openAll,
    changes: async (since, judged = {}) => {
      const files: ChangedFiles = {};
      const trees = new Map<Work, string>();
      for (const each of allWorks(work)) {
        const tree = judged[each.repository.id] ?? (await each.checkout.snapshot());
        trees.set(each, tree);
        files[each === work ? ownRepository : each.repository.id] = await filesBetween(
          each.checkout,
          (since === 'last' ? storedTrees.get(each) : undefined) ?? each.startTree,
          tree,
        );
      }
      return {
        files,
        markStored: () => {
          for (const [each, tree] of trees) storedTrees.set(each, tree);
        },
      };
    },
    restore: async (files) => {
      for (const [id, changed] of Object.entries(files)) {
        const each = id === ownRepository ? work : work.others.find(({ repository }) => repository.id === id);
        if (each === undefined) continue;
        const { moves, files: rest } = separateMoves(changed);
        // First, because the files may put something in the place of a folder.
        await moveAgain(each, moves, moving);
        await (each === work ? own : others.hosts.get(each.repository.name))?.restore(rest);
      }
      for (const each of allWorks(work)) storedTrees.set(each, await each.checkout.snapshot());
    },
  };
}

/** The services of all repositories of a run. They end with each judgement, and start again before the next command. */
function servicesOf(work: Work) {
  const ended = new Set<Work>();
  return {
    haveEnded: () => {
      for (const each of allWorks(work)) ended.add(each);
    },
    /** Starts those that have ended, once. Returns what the agent should know when they do not start. */
    startAgain: async (signal: AbortSignal): Promise<string | undefined> => {
      const works = [...ended];
      ended.clear();
      try {
        for (const { environment, host } of works) await startAll(environment.context, host.machine, signal);
        return undefined;
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof RunFailed)) throw error;
        return `[the services ended before your change was read, and did not start again: ${error.message}]`;
      }
    },
  };
}

/** Calls a tool in the repository that the call's path points to. */
async function callWhere(own: ToolHost, hosts: Map<string, ToolHost>, tool: string, args: object): Promise<ToolAnswer> {
  const { path = '' } = args as { path?: string };
  const { name, rest } = placeOf(path);
  if (name === undefined) return own.call(tool, args);
  const host = hosts.get(name);
  if (host === undefined) return notOpen(name);
  const answer = await host.call(tool, { ...args, path: rest });
  return { ...answer, text: `[in ../${name}/]\n${answer.text}` };
}

/** Returns the repository that a path points to, unless it is the task's own, and the path inside it. */
function placeOf(path: string): { name: string | undefined; rest: string } {
  const [, name, rest = path] = /^\.\.\/+([^/]+)\/*(.*)$/s.exec(path) ?? [];
  return { name, rest: rest || '.' };
}

function notOpen(name = ''): ToolAnswer {
  return { ok: false, text: `../${name} is not open; open_repository opens a connected repository` };
}

/** Manages the repositories besides the task's own: holds their tools by name and opens more of them. */
function otherRepositories(app: App, given: Assignment, work: Work, own: ToolHost, signals: Signals) {
  const hosts = new Map<string, ToolHost>();
  const open = async (repository: RepositoryRow, retrying: RetryPolicy): Promise<Work> => {
    const shared = { journal: work.journal, signals, retrying: work.retrying };
    const other = await retrying(() => openWork(app, given, repository, shared));
    work.others.push(other);
    // The credentials of one repository must not be pushed to another. All share one list, which grows with each credential.
    work.secrets.push(...other.secrets.filter((secret) => !work.secrets.includes(secret)));
    other.secrets = work.secrets;
    hosts.set(repository.name, other.host);
    own.mount(repository.name, other.checkout.workTree, other.checkout.gitDir);
    return other;
  };
  const openNamed = async (name: string): Promise<ToolAnswer> => {
    const known = await openable(app, work.repository);
    const wanted = known.find((r) => r.name.toLowerCase() === name.trim().toLowerCase());
    if (wanted === undefined) {
      const names = known.map((r) => r.name).join(', ') || 'none';
      return { ok: false, text: `this run cannot open a repository ${name.slice(0, 100)}; it can open: ${names}` };
    }
    if (hosts.has(wanted.name)) return { ok: true, text: `it is already open at ../${wanted.name}/` };
    const problem = await enterRepository(app, work, wanted);
    if (problem !== undefined) {
      await work.journal.note('repository', `the repository ${wanted.name} was not opened: ${problem.message}`);
      return { ok: false, text: `${wanted.name} cannot be opened: ${problem.message} Go on without it.` };
    }
    try {
      // Without retries: an agent that learns of the failure immediately can do something else.
      const other = await open(wanted, (step) => step());
      await work.journal.note('repository', `opened the repository ${wanted.name}`);
      const map = await other.host.call('list_files', { depth: 2 });
      const instructions = await readInstructions(other.checkout, other.baseHead);
      return {
        ok: true,
        text: [`open at ../${wanted.name}/`, other.environment.told, map.text, instructions]
          .filter(Boolean)
          .join('\n\n'),
      };
    } catch (error) {
      signals.tools.throwIfAborted();
      const isExpected = error instanceof GitFailed || error instanceof HostClosed || error instanceof RunFailed;
      if (!isExpected) throw error;
      return { ok: false, text: `${wanted.name} could not be opened: ${error.message}` };
    }
  };
  const reopen = async (): Promise<void> => {
    const prefixes = ['branch ', `${earlierStep} `];
    const named = await Promise.all(
      prefixes.map(async (prefix) => (await work.journal.steps(prefix)).map((step) => step.slice(prefix.length))),
    );
    const ids = named.flat();
    // Others are those whose content the agent knows from texts, such as the handoff of an earlier run.
    const opened = new Set([...ids, ...(await listOpened(app.db.manager, work.run.id, work.repository.id))]);
    const known = opened.size === 0 ? [] : await listProjectRepositories(app.db.manager, work.repository.projectId);
    // Whatever the agent does from now on may have what it read there.
    const failed = (why: string) => new RunFailed('repository', `the run has opened another repository. ${why}`);
    const why = await whyNotBeside(app, work.repository.id, [...opened]);
    if (why !== undefined) throw failed(why);
    for (const id of opened) {
      const repository = known.find((each) => each.id === id);
      if (repository === undefined) throw failed('It is no longer connected to the project.');
      const directors = await directorsOf(app.db.manager, work.run.id);
      const lack = await work.retrying(() => lackOfRight(app, directors, repository, 'write'));
      if (lack !== undefined) throw failed(lack);
      if (ids.includes(id)) await open(repository, work.retrying);
    }
  };
  return { hosts, openNamed, reopen, openAll: openingAll(app, work, open) };
}

/** Returns a function that opens repositories without which a run cannot do its work; see `OpenRepositories`. */
function openingAll(
  app: App,
  work: Work,
  open: (repository: RepositoryRow, retrying: RetryPolicy) => Promise<Work>,
): OpenRepositories['openAll'] {
  return async (ids) => {
    const known = await openable(app, work.repository);
    for (const id of ids) {
      if (allWorks(work).some(({ repository }) => repository.id === id)) continue;
      const wanted = known.find((each) => each.id === id);
      if (wanted === undefined)
        throw new RunFailed(
          'repository',
          `a repository of this task is not connected any more, or may not be opened together with ${work.repository.name}`,
        );
      const problem = await enterRepository(app, work, wanted);
      if (problem !== undefined) throw new RunFailed('repository', problem.message);
      await open(wanted, work.retrying);
      await work.journal.note('repository', `opened the repository ${wanted.name}`);
    }
    const placeOf = ({ repository }: Work) => ids.indexOf(repository.id);
    work.others.sort((a, b) => placeOf(a) - placeOf(b));
  };
}
