import type { App } from '../../app.ts';
import { endedNotice } from '../../conversation/tools/command-tools.ts';
import { RunFailed } from '../../domain/run.ts';
import { GitFailed, type MovableSubmodules } from '../../git/engine.ts';
import { HostClosed } from '../../git/remote-url.ts';
import type { Confinement, ToolAnswer, ToolHost } from '../../sandbox/sandbox.ts';
import { refreshRemote } from '../open-work.ts';
import type { Work } from '../work.ts';

interface Moving {
  /** The commands of all repositories of the run. They may change the files of any of them. */
  host: Pick<ToolHost, 'endProcesses'>;
  confinement: Pick<Confinement, 'own'>;
  signal: AbortSignal;
}

/** Where a submodule moves, as the agent or an earlier worker named it. */
interface Move {
  path: string;
  commit: string;
}

/** Moves a submodule because the agent asks for it. Every reason why it cannot be moved becomes an answer. */
export async function moveForAgent(app: App, work: Work, move: Move, moving: Moving): Promise<ToolAnswer> {
  if (work.checkout.submodules === undefined)
    return {
      ok: false,
      text: 'this repository has no submodules in the workspace; .deckhand.yml would have to ask for them',
    };
  try {
    await refreshRemote(app, work);
    const { commit, ended } = await moveTo(work.checkout.submodules, move, moving);
    await work.journal.note('repository', `moved the submodule ${move.path.slice(0, 200)} to ${commit}`);
    const notice = ended.length === 0 ? '' : `\n\n${endedNotice(ended)}`;
    const text = `the submodule is at ${commit} now, in the workspace and in your change; git in the workspace does not show that`;
    return { ok: true, text: text + notice };
  } catch (error) {
    moving.signal.throwIfAborted();
    const isExpected = error instanceof GitFailed || error instanceof HostClosed || error instanceof RunFailed;
    if (!isExpected || (error instanceof RunFailed && error.failure.category === 'sandbox')) throw error;
    return { ok: false, text: error.message };
  }
}

/** Moves submodules again as an earlier worker or run did. @throws RunFailed `repository`, GitFailed, HostClosed */
export async function moveAgain(work: Work, moves: Move[], moving: Moving): Promise<void> {
  const { submodules } = work.checkout;
  for (const move of moves)
    if (submodules !== undefined) await moveTo(submodules, move, moving);
    else
      await work.journal.note(
        'repository',
        `the submodule ${move.path.slice(0, 200)} is not moved to ${move.commit}, because .deckhand.yml does not ask for submodules any more`,
      );
}

async function moveTo(
  submodules: MovableSubmodules,
  { path, commit: revision }: Move,
  { host, confinement }: Moving,
): Promise<{ commit: string; ended: string[] }> {
  let ended: string[] = [];
  const commit = await submodules.move(path, revision, async (folder) => {
    ended = await host.endProcesses();
    await confinement.own(folder);
  });
  return { commit, ended };
}
