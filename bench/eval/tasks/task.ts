/** The files of a repository, by path. */
export type Files = Map<string, Buffer>;

/** Replaces text that occurs exactly once in a file. */
export interface Edit {
  file: string;
  find: string;
  replace: string;
}

/** Creates a file, or replaces all of it. */
export interface NewFile {
  file: string;
  content: string;
}

export interface Removal {
  file: string;
  isRemoved: true;
}

export type Change = Edit | NewFile | Removal;

export const isEdit = (change: Change): change is Edit => 'find' in change;
export const isRemoval = (change: Change): change is Removal => 'isRemoved' in change;

export type Language = 'JavaScript' | 'Python' | 'shell' | 'C' | 'Perl' | 'awk' | 'make';

/** What makes a task special; the report groups by it. */
export type Trait = 'mutation' | 'written' | 'dependencies' | 'server' | 'large' | 'several files' | 'line endings';

/** A package of the npm registry, fetched when tasks are prepared. */
export interface PinnedPackage {
  name: string;
  version: string;
  /** The integrity that the registry published for this version. */
  integrity: string;
}

/** Returns the files of a pinned package. */
export type Fetch = (pinned: PinnedPackage) => Promise<Files>;

/** A repository with something to do, and the means to judge the result. */
export interface EvalTask {
  id: string;
  title: string;
  /** The words of the issue, in Markdown. */
  issue: string;
  language: Language;
  traits: Trait[];
  /** Programs that the tests need. Without them the task is skipped. */
  programs: readonly string[];
  /** Returns the repository as the agent receives it. */
  repository(fetch: Fetch): Promise<Files>;
  /** The command that people run in the repository. It passes before and after the change. */
  testCommand: string;
  /** A change that solves the task. */
  gold: Change[];
  /** Changes that look like a solution but are none. */
  cheats: Change[][];
  /** Files that are added after the work, over whatever is there, and the command that runs them. */
  hidden: { files: Record<string, string>; command: string };
}

/**
 * The last line that hidden tests print. The exit code alone would not do, because the code under test can end the
 * process with code 0.
 */
export const passedLine = 'the hidden tests passed';
