import { type Moved, synchronized } from '../events.ts';
import { mergeBranches } from '../front-pulls.ts';
import type { BranchMove } from './git-data.ts';
import { branchesIn, type Call, feedOthers, feedPush, gitIn, pullCommit, pullRefs, refsOf } from './git-objects.ts';
import type { GitHost } from './git-server.ts';
import type { LfsHost } from './lfs-server.ts';
import { refusedWorkflows, rejection } from './workflow-rule.ts';

/** A push that was received. `refs` has all branches after the push, newest commit first. */
export interface Push {
  repository: string;
  token: string;
  refs: string[];
}

/** The fields of `POST /repos/{owner}/{repo}/merges`. */
type AskedMerge = Record<string, string>;

interface Merging {
  /** Moves a branch as a call of the API does, which `act` carries out in the emulator. Reports it as a push. */
  movingBranch(name: string, token: string, to: BranchMove, act: () => Promise<Response>): Promise<Response>;
  /** Merges a branch into another one, and reports it as a push. */
  merge(
    name: string,
    token: string,
    asked: AskedMerge,
    by: { id: number; login: string },
  ): ReturnType<typeof mergeBranches>;
  /** Runs work that moves branches, and reports it as a push of the App. */
  moving<T>(name: string, work: () => Promise<T>): Promise<T>;
}

/** What git over HTTP needs from the front. */
interface AroundGit {
  /** `owner/name` of each repository. */
  names: string[];
  pushes: Push[];
  /** A token with all permissions on the repositories. */
  ownerToken: string;
  folderOf(name: string): string;
  call(method: string, path: string, authorization: string): Promise<Response>;
  caller(token: string): Call;
  /** Runs one synchronization of refs between git and the emulator at a time. */
  alone<T>(work: () => Promise<T>): Promise<T>;
  sendAbout(name: string, event: string, payload: object): Promise<void>;
}

/** Returns the callbacks of the git server. They keep the emulator's refs equal to git's, and report pushes. */
export function gitHostOf(around: AroundGit): GitHost & LfsHost & Merging {
  const { names, pushes, ownerToken, folderOf, call, caller, alone } = around;
  return {
    find: async (name, token) => {
      if (!names.includes(name)) return undefined;
      const response = await call('GET', `/repos/${name}`, token === undefined ? '' : `token ${token}`);
      return response.ok ? folderOf(name) : undefined;
    },
    mayPush: async (name, token) => {
      const response = await call('GET', `/repos/${name}`, `token ${token}`);
      const { permissions } = (await response.json()) as { permissions?: { push?: boolean } };
      return response.ok && permissions?.push !== false;
    },
    beforeAdvertising: (name) => alone(() => pullRefs(folderOf(name), name, caller(ownerToken))),
    push: async (name, token, receive) => {
      let moved: Moved | undefined;
      // A synchronization between the two steps would move the refs back to what the emulator knows.
      const output = await alone(async () => {
        const before = await refsOf(folderOf(name));
        const received = await receive();
        const refused = await refusedPush(folderOf(name), token, before);
        if (refused !== undefined) return refused;
        moved = { before, after: await refsOf(folderOf(name)) };
        await feedOthers(folderOf(name), name, caller(token));
        if (!isMoved(moved)) return received;
        pushes.push({ repository: name, token, refs: await branchesIn(folderOf(name)) });
        await feedPush(folderOf(name), name, caller(token));
        return received;
      });
      if (moved !== undefined) await tellOfPush(around, name, token, moved);
      return output;
    },
    movingBranch: async (name, token, { ref, sha }, act) => {
      const folder = folderOf(name);
      let moved: Moved | undefined;
      const answer = await alone(async () => {
        const before = await refsOf(folder);
        await pullCommit(folder, name, sha, caller(ownerToken));
        if (token.startsWith('ghs_')) {
          const refused = await refusedWorkflows(folder, before, new Map([...before, [ref, sha]]));
          if (refused.size > 0)
            return Response.json({ message: 'Resource not accessible by integration' }, { status: 403 });
        }
        const answer = await act();
        if (!answer.ok) return answer;
        await gitIn(folder, ['update-ref', ref, sha]);
        pushes.push({ repository: name, token, refs: await branchesIn(folder) });
        moved = { before, after: await refsOf(folder) };
        return answer;
      });
      if (moved !== undefined) await tellOfPush(around, name, token, moved);
      return answer;
    },
    moving: async (name, work) => {
      const before = await refsOf(folderOf(name));
      const result = await alone(work);
      await alone(() => feedPush(folderOf(name), name, caller(ownerToken)));
      await tellOfPush(around, name, 'ghs_x', { before, after: await refsOf(folderOf(name)) });
      return result;
    },
    merge: async (name, token, asked, by) => {
      const { made, moved } = await alone(async () => {
        const before = await refsOf(folderOf(name));
        const made = await mergeBranches(folderOf(name), asked, by);
        if ('sha' in made) await feedPush(folderOf(name), name, caller(token));
        return { made, moved: { before, after: await refsOf(folderOf(name)) } };
      });
      if ('sha' in made) await tellOfPush(around, name, token, moved);
      return made;
    },
  };
}

function isMoved({ before, after }: Moved): boolean {
  return before.size !== after.size || [...after].some(([ref, sha]) => before.get(ref) !== sha);
}

/** Takes back a push that GitHub would refuse to the App, and returns the answer to it. */
async function refusedPush(folder: string, token: string, before: Map<string, string>): Promise<Buffer | undefined> {
  if (!token.startsWith('ghs_')) return undefined;
  const refused = await refusedWorkflows(folder, before, await refsOf(folder));
  for (const ref of refused.keys()) {
    const old = before.get(ref);
    await gitIn(folder, ['update-ref', ...(old === undefined ? ['-d', ref] : [ref, old])]);
  }
  return refused.size === 0 ? undefined : rejection(refused);
}

async function tellOfPush(around: AroundGit, name: string, token: string, moved: Moved): Promise<void> {
  const read = async (path: string, by: string) => (await around.call('GET', path, `token ${by}`)).json();
  const pusher = token.startsWith('ghs_') ? undefined : ((await read('/user', token)) as object);
  const call: Call = (_method, path) => read(path, around.ownerToken) as never;
  for (const event of await synchronized(name, moved, pusher, call))
    await around.sendAbout(name, 'pull_request', event);
}
