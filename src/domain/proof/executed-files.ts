/** Programs that run the file in their arguments. */
const interpreters =
  /^(node|nodejs|bun|deno|tsx|ts-node|(ba|da|z|k)?sh|\.|source|python[\d.]*|pypy\d*|ruby|perl|php|lua|pwsh|Rscript|g?make|just|task|rake)$/;
/** Programs that run the command in their arguments. */
const wrappers = /^(env|time|nice|nohup|exec|command|sudo|xargs|npx|timeout|stdbuf|xvfb-run|then|else|do|!|\d+[smh]?)$/;
/** Options whose value is a file that decides how a program works. */
const fileOptions = /^--(require|import|loader|experimental-loader|config\w*|rcfile|file|makefile|reporter|setup\w*)$/;
/** The same options as single letters, which mean something else to other programs. */
const shortOptions = /^-(r|c|f|p)$/;
const testRunners = /^(jest|vitest|mocha|ava|tap|tape|c8|nyc|karma|cypress|playwright|pytest|phpunit|rspec|prove)$/;

/**
 * Finds the files that shell commands run or are configured with. `isFile` says which paths are files of the repository.
 * A file that a command only reads, such as one that a linter checks, does not count.
 */
export function filesRunBy(text: string, isFile: (path: string) => boolean): Set<string> {
  const found = new Set<string>();
  let folder = '';
  for (const command of text.split(/[\n;&|(){}`]+/)) {
    const [program = '', ...args] = wordsOf(command);
    if (program === 'cd') folder = plain(`${args[0] ?? ''}/`);
    // The program may itself be a file of the repository.
    const words = [program, ...filesAmong(program, args)];
    const paths = [...words.flatMap((word) => pathsOf(word, folder)), ...modulesOf(program, args, folder)];
    for (const path of paths.map(plain).filter(isFile)) found.add(path);
  }
  return found;
}

/** Returns the arguments of a program that it runs, or that configure it. */
function filesAmong(program: string, args: string[]): string[] {
  const runsAll = interpreters.test(program) && !args.includes('--check');
  const isForFile = (option: string) =>
    fileOptions.test(option) || (testRunners.test(program) && shortOptions.test(option));
  return args.flatMap((word, i) => {
    const [option = '', value = ''] = word.startsWith('-') ? word.split('=') : [args[i - 1] ?? '', word];
    return runsAll || isForFile(option) ? value : [];
  });
}

/** Returns the paths that a word may stand for: Node finds a file without its ending, and one in a folder. */
function pathsOf(word: string, folder: string): string[] {
  return ['', '.js', '/index.js', '/__main__.py'].flatMap((end) => [word + end, folder + word + end]);
}

/**
 * Returns the files that Python may run for `-m`. It looks into the current folder first, so a file there may also take
 * the place of a test runner.
 */
function modulesOf(program: string, args: string[], folder: string): string[] {
  const name = /^(python|pypy)/.test(program) ? args[args.indexOf('-m') + 1] : undefined;
  if (name === undefined || !args.includes('-m')) return [];
  const path = name.replaceAll('.', '/');
  return ['.py', '/__main__.py', '/__init__.py'].flatMap((end) => [path + end, folder + path + end]);
}

/** Splits a simple command into words, without the variables and the wrappers before its program. */
function wordsOf(command: string): string[] {
  const words = command
    .replace(/["'@]/g, ' ')
    .split(/\s+/)
    .filter((word) => word !== '');
  const first = words.findIndex((word) => !/^\w+=/.test(word) && !wrappers.test(word));
  return first < 0 ? [] : words.slice(first);
}

/** Returns a path without `.` and `..`. */
function plain(path: string): string {
  const parts: string[] = [];
  for (const part of path.split('/'))
    if (part === '..') parts.pop();
    else if (part !== '.' && part !== '') parts.push(part);
  return parts.join('/') + (path.endsWith('/') && parts.length > 0 ? '/' : '');
}

/** Package managers, which run scripts of package.json by name. */
const managers = /\b(npm|pnpm|yarn|bun|node --run|run-s|run-p|npm-run-all|turbo|nx|lerna)\b/;
/** At most this many commands are followed, because scripts may name each other. */
const maxFollowed = 200;

/** Returns the commands together with the scripts of package.json that they run. */
export function withScripts(commands: string[], scripts: Record<string, string>): string[] {
  const all = [...commands];
  const left = new Map(Object.entries(scripts));
  for (let at = 0; at < all.length && at < maxFollowed; at++)
    for (const name of scriptsNamedIn(all[at] ?? '', [...left.keys()])) {
      all.push(left.get(name) ?? '');
      left.delete(name);
    }
  return all;
}

/** Returns which scripts a command runs, those before and after a script included. */
function scriptsNamedIn(command: string, names: string[]): string[] {
  if (!managers.test(command)) return [];
  const words = new Set(command.split(/[\s;&|"']+/));
  if (words.has('t') || words.has('tst')) words.add('test');
  return names.filter((name) => words.has(name) || words.has(name.replace(/^(pre|post)/, '')));
}
