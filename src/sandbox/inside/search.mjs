import { access, constants, stat } from 'node:fs/promises';
import { relative } from 'node:path';
import { StringDecoder } from 'node:string_decoder';
import { execute } from './execute.mjs';
import { missing } from './files.mjs';
import { glob } from './gitignore.mjs';
import { globIn, newRoom, walk } from './listing.mjs';
import { inside, meantPath } from './paths.mjs';
import { fitting } from './show.mjs';
import { ToolError } from './tool-error.mjs';

const [searchSeconds, searchKilobytes] = [20, 500_000];
/** Lines shown of one file and in all; characters shown of a line; characters of file names in one command. */
const [maxPerFile, maxLines, lineChars, batchChars] = [20, 200, 400, 100_000];
/** Where ripgrep is installed. It is named by its whole path, because a repository could put another one in the PATH. */
const ripgrepPaths = ['/usr/bin/rg', '/usr/local/bin/rg'];

/** Returns ripgrep's path, or undefined where it is not installed. */
export async function findRipgrep() {
  for (const path of ripgrepPaths)
    if (
      await access(path, constants.X_OK).then(
        () => true,
        () => false,
      )
    )
      return path;
  return undefined;
}

/** The commands print `path NUL number : line`. Neither reads a configuration or runs anything of the repository. */
function commandOf(ripgrep, { pattern, regex, ignoreCase }) {
  const most = String(maxPerFile + 1);
  const flags = ignoreCase ? ['-i'] : [];
  if (ripgrep === undefined)
    return ['/bin/grep', '-nIHZ', '-s', regex ? '-E' : '-F', ...flags, '-m', most, '-e', pattern, '--'];
  const fixed = ['--no-config', '--no-ignore', '--no-messages', '--no-mmap', '--color=never', '--no-heading', '-j2'];
  const shape = ['-nH0', '--sort=path', `--max-count=${most}`, regex ? '--regexp' : '-Fe'];
  return [ripgrep, ...fixed, ...flags, ...shape, pattern, '--'];
}

/**
 * Finds lines in the files that git does not ignore, grouped by file. The service decides which files are searched, so
 * ripgrep and grep find the same.
 */
export async function search(root, args, ripgrep) {
  const given = await find(root, args, ripgrep);
  if (given.count > 0 || args.regex === true || !/[\\|*+?^$[(]/.test(args.pattern)) return shown(given);
  // A search without a match is useless, so try the other meaning and say so.
  const other = await find(root, { ...args, regex: true }, ripgrep).catch(() => given);
  return other.count === 0 ? shown(given) : `[no line contains this text; as a regular expression:]\n${shown(other)}`;
}

async function find(root, { pattern, path = '.', regex = false, ignoreCase = false, include }, ripgrep) {
  const { files, room } = await filesToSearch(root, path === '' ? '.' : path, include);
  const found = { files: new Map(), count: 0, isCut: false, isPartial: false };
  const command = commandOf(ripgrep, { pattern, regex, ignoreCase });
  const until = performance.now() + searchSeconds * 1000;
  for (const batch of batches(files)) {
    const ms = until - performance.now();
    if (ms <= 0) throw tooSlow();
    const lines = lineReader((line) => keep(found, line));
    const ended = await execute(root, [...command, ...batch], { kilobytes: searchKilobytes, ms, take: lines });
    if (ended.timedOut) throw tooSlow();
    if (found.isCut) break;
    // 1 means that nothing matched. grep answers 2 as well when one of the files cannot be read.
    if (ended.code > 1 && ended.complaint !== '')
      throw new ToolError(`search failed: ${ended.complaint.slice(0, 500)}`);
    if (ended.code === null) throw new ToolError('search failed: the pattern needs too much memory');
  }
  found.isPartial = room.isUsedUp;
  return found;
}

const tooSlow = () => new ToolError(`search took over ${searchSeconds} s; name a smaller path or a simpler pattern`);

/** Returns the files to search, relative to the root. The path may be a file, a folder or a glob. */
async function filesToSearch(root, given, include) {
  const room = newRoom();
  const pattern = await globIn(root, given);
  const path = await meantPath(root, given);
  const start = pattern?.start ?? (await inside(root, path));
  const found = await stat(start).catch(() => undefined);
  if (found === undefined) throw new ToolError(await missing(root, path));
  if (found.isFile()) return { files: [`./${relative(root, start)}`], room };
  const isWanted = include === undefined ? () => true : glob(include.includes('/') ? include : `**/${include}`);
  const files = [];
  for await (const { path: below, entry } of walk(root, start, { room }))
    if (entry.isFile() && (pattern?.fits(below) ?? true) && isWanted(below)) files.push(`./${below}`);
  return { files, room };
}

/** Splits the names into lists that fit into one command. */
function* batches(files) {
  let batch = [];
  let chars = 0;
  for (const file of files) {
    if (chars + file.length > batchChars) {
      yield batch;
      [batch, chars] = [[], 0];
    }
    batch.push(file);
    chars += file.length + 1;
  }
  if (batch.length > 0) yield batch;
}

/** Splits output into lines and gives them to `take`. Of an overlong line it keeps the beginning. */
function lineReader(take) {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  return (chunk) => {
    const lines = (rest + decoder.write(chunk)).split('\n');
    rest = lines.pop().slice(0, 10_000);
    return lines.every((line) => take(line) !== false);
  };
}

/** Keeps a line of output. Returns false when there are enough. */
function keep(found, line) {
  const [, path, number, text] = /^\.\/([^\0]+)\0(\d+):(.*)$/s.exec(line) ?? [];
  if (path === undefined) return true;
  const lines = found.files.get(path) ?? [];
  found.files.set(path, lines);
  lines.push(
    lines.length === maxPerFile ? `  [more than ${maxPerFile} lines of this file match]` : shownLine(number, text),
  );
  found.count += 1;
  found.isCut = found.count >= maxLines;
  return !found.isCut;
}

function shownLine(number, text) {
  const line = text.replace(/\r$/, '');
  return `${number.padStart(6)}\t${line.length > lineChars ? `${line.slice(0, lineChars)}[…]` : line}`;
}

function shown({ files, count, isCut, isPartial }) {
  if (count === 0) return isPartial ? 'no match in the files searched; name a smaller path' : 'no match';
  const lines = [...files].flatMap(([path, matches]) => [path, ...matches]);
  const fitted = fitting(lines);
  const isShort = isCut || isPartial || fitted.length < lines.length;
  return [...fitted, ...(isShort ? ['[there is more; narrow the search by a path or a longer pattern]'] : [])].join(
    '\n',
  );
}
