import type { Confinement } from '../sandbox/sandbox.ts';
import type { RefusedHost } from './command-access.ts';
import type { SetupPlan } from './plan-setup.ts';
import type { CommandResult, MissingProgram, SetupContext } from './setup-context.ts';

/** The environment of a repository for one run. */
export interface Environment {
  /** `none`: nothing had to be set up. `failed`: a detected set-up failed, so nothing of it is used. */
  how: 'restored' | 'set up' | 'failed' | 'none';
  plan: SetupPlan;
  /** What it was prepared with, and the image that commands run on. */
  context: SetupContext;
  /** The commands that ran to prepare it; none for one that was restored. */
  commands: CommandResult[];
  /** The commands that did not run, because their program is not installed. */
  missing: MissingProgram[];
  /** The hosts that they could not reach. */
  refused: RefusedHost[];
  seconds: number;
  /** What the agent should know about its environment. */
  told: string;
  /**
   * Puts what set-up made into a workspace and its home folder. No process may work there yet. The user of `confinement`
   * owns it afterwards.
   */
  placeInto(workTree: string, confinement: Pick<Confinement, 'own'>): Promise<void>;
  /** Removes a folder while the run goes on; `remove` waits for it. */
  removeLater(folder: string): void;
  /** Removes the files of this run, but not the results that are kept for later runs. */
  remove(): Promise<void>;
}
