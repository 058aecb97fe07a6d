/** The lines of a changed program that tests may reach, counted from 1. */
export interface Lines {
  /** Those that were added or changed, and do something when they run. */
  lines: number[];
  /** Those before which others were removed. */
  cuts: number[];
}

/** The most lines of one program that are looked for. */
const maxLines = 400;

/** Returns the lines of a program that a change added, changed or cut. */
export function changedLines(hunks: { newStart: number; lines: string[] }[]): Lines {
  const found: Lines = { lines: [], cuts: [] };
  for (const { newStart, lines } of hunks) {
    let at = newStart;
    for (const [i, line] of lines.entries()) {
      const next = lines[i + 1]?.[0];
      if (line.startsWith('-') && next !== '-' && next !== '+') found.cuts.push(at);
      if (line.startsWith('+') && doesSomething.test(line.slice(1))) found.lines.push(at);
      // A line that begins with a backslash only says that the file has no line end at its end.
      if (/^[+ ]/.test(line)) at += 1;
    }
  }
  return { lines: found.lines.slice(0, maxLines), cuts: found.cuts.slice(0, maxLines) };
}

/** A line that is no comment, and has more than brackets. */
const doesSomething = /^(?!\s*(\/\/|\/?\*|#))(?=.*\w)/;

/** The languages in which it can be seen what tests reach. */
const languages: [string, RegExp][] = [
  ['JavaScript', /\.[cm]?[jt]sx?$/],
  ['Python', /\.py$/],
];

/** Returns the language of a program if it can be seen what tests reach in it. */
export function watchedLanguage(path: string): string | undefined {
  return languages.find(([, name]) => name.test(path))?.[0];
}

/** Returns whether a program only declares types, so that nothing of it is loaded. */
export function onlyDeclares(path: string, text: string): boolean {
  return (
    /\.d\.[cm]?ts$/.test(path) ||
    (/\.[cm]?tsx?$/.test(path) && !/\b(function|const|let|var|class|enum)\b|=>/.test(text))
  );
}

/** Tools that measure coverage themselves, and whose figures would be wrong if others measured it too. */
const measuring = /\b(c8|nyc|coverage|NODE_V8_COVERAGE|monocart|kcov|(--|pytest-)cov)\b|--cov\b/;

/** Returns whether commands measure coverage. */
export function measuresCoverage(commands: string[]): boolean {
  return commands.some((command) => measuring.test(command));
}

/** How a program starts others, or runs code in a way that hides which file it is from. */
const starting =
  /\b(child_process|worker_threads|cluster|execa|cross-spawn|zx|node-pty|playwright|puppeteer|selenium|webdriver\w*|testcontainers|esbuild|rollup|webpack|vm)['"/]|\b(subprocess|multiprocessing|ProcessPoolExecutor|pexpect|selenium|playwright|docker|runpy|settrace|setprofile|concurrent\.interpreters)\b|\bos\.(system|popen|fork|posix_spawn|spawn\w+|exec\w+)\b|(?<![.\w])(exec|compile)\(|\bBun\.spawn|\bDeno\.Command/;

/** Returns whether a program may run code that is not seen: in a process that is killed, or compiled from a text. */
export function mayRunUnseen(text: string): boolean {
  return starting.test(text);
}

/** What the processes of a run of tests said when they ended. Their paths are those of the repository. */
export interface Sighting {
  /** The files of the repository that were loaded. */
  loaded: string[];
  /** The changed programs in which a changed line ran, or which were compiled, so that their lines cannot be told. */
  reached: string[];
  /** Whether a file outside the repository was loaded that may be a copy of a changed program. */
  outside: boolean;
}

/**
 * Returns whether the new tests were seen to run and no changed line was. False if anything may have been missed: the
 * coverage can only make a verdict stricter, and its absence says nothing.
 */
export function reachesNothing({ loaded, reached, outside }: Sighting, programs: string[], tests: string[]): boolean {
  if (reached.length > 0 || outside || programs.length === 0) return false;
  const wanted = new Set(programs.map(watchedLanguage));
  const seen = new Set(loaded);
  const ofLanguage = tests.filter((path) => wanted.has(watchedLanguage(path)));
  const covered = new Set(ofLanguage.map(watchedLanguage));
  return covered.size === wanted.size && ofLanguage.every((path) => seen.has(path));
}
