/** The most files and changed lines of a change that becomes a task. Larger ones are several tasks, or generated. */
const [maxFiles, maxLines] = [25, 800];

/** What a change of the past is, as far as its files tell. */
export interface PastChange {
  /** How many commits it has as parents. */
  parents: number;
  files: ChangedFile[];
  /** Added and removed lines of all files; undefined if they were not counted, because there are too many files. */
  lines: number | undefined;
}

export interface ChangedFile {
  path: string;
  /** The modes in git before and after, `000000` where it does not exist. */
  oldMode: string;
  newMode: string;
  isTest: boolean;
  /** Whether it is a program. */
  isProgram: boolean;
  /** Whether it decides about set-up, such as a lock file. */
  isSetup: boolean;
  isBinary: boolean;
}

const [absent, submodule, link] = ['000000', '160000', '120000'];

/** Why a change was dropped without being tried. The page groups changes by these sentences. */
export const droppedBecause = {
  first: 'It is the first commit.',
  empty: 'It changes no file.',
  tooLarge: `It changes more than ${maxFiles} files or ${maxLines} lines.`,
  submodule: 'It moves a submodule.',
  binary: 'It changes a binary file.',
  link: 'It changes a symbolic link.',
  setup: 'It changes what set-up installs, such as a lock file.',
  noTests: 'It adds or changes no test.',
  noCode: 'It changes no program outside the tests.',
} as const;

/** Returns why a change cannot become a task; undefined if trying its tests decides. */
export function whyDropped({ parents, files, lines }: PastChange): string | undefined {
  if (parents === 0) return droppedBecause.first;
  if (files.length === 0) return droppedBecause.empty;
  // What most changes lack comes first, because it says more than their size.
  if (!files.some(({ isTest, newMode }) => isTest && newMode !== absent)) return droppedBecause.noTests;
  if (!files.some(({ isTest, isProgram }) => isProgram && !isTest)) return droppedBecause.noCode;
  if (files.length > maxFiles || lines === undefined || lines > maxLines) return droppedBecause.tooLarge;
  const has = (mode: string) => files.some(({ oldMode, newMode }) => oldMode === mode || newMode === mode);
  if (has(submodule)) return droppedBecause.submodule;
  if (files.some(({ isSetup }) => isSetup)) return droppedBecause.setup;
  if (has(link)) return droppedBecause.link;
  return files.some(({ isBinary }) => isBinary) ? droppedBecause.binary : undefined;
}
