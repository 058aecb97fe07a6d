import { Minimatch } from 'minimatch';

/**
 * Maximum number of `*` in one name, and of `**` in one pattern. The time to match grows exponentially with the number
 * of stars.
 */
const maxStars = 3;

/** Returns what is wrong with a pattern of protected paths, or undefined. A valid pattern matches any path quickly. */
export function problemWithPattern(pattern: string): string | undefined {
  if (pattern.startsWith('!')) return 'must not begin with "!": `protected` has no exceptions';
  if (/[@!+?*]\(/.test(pattern))
    return 'must be a name, a folder, or a glob of *, **, ?, [] and {}; not +(…) and the like';
  if (/\{[^}]*\.\./.test(pattern)) return 'must not contain a range such as {1..9}; list the values: {1,2,3}';
  const names = pattern.split('/');
  if (names.some((name) => name === '' || name === '.' || name === '..'))
    return 'must name files or folders of the repository';
  const isQuick =
    pattern.split('**').length - 1 <= maxStars &&
    pattern.split('{').length - 1 <= 1 &&
    names.every((name) => name === '**' || name.split('*').length - 1 <= maxStars);
  return isQuick ? undefined : `must have at most ${maxStars} stars in a name, ${maxStars} ** and one {}`;
}

/** Returns the paths that match a pattern or lie below a folder that matches one. Ignores letter case. */
export function pathsMatching(patterns: string[], paths: string[]): string[] {
  const tests = patterns.map(compiled);
  return paths.filter((path) => {
    const lower = path.toLowerCase();
    return tests.some((test) => test(path, lower));
  });
}

type Test = (path: string, lower: string) => boolean;

function compiled(pattern: string): Test {
  const name = pattern.toLowerCase();
  // A file name may contain brackets, so `app/[id]/page.tsx` also matches the file of exactly this name.
  const isNamed: Test = (_path, lower) => lower === name || lower.startsWith(`${name}/`);
  if (!/[*?[{\\]/.test(pattern)) return isNamed;
  // Hidden files match too, because they need protection most. A leading # or ! has no special meaning; otherwise such
  // a pattern would match nothing.
  const options = { dot: true, nocase: true, noext: true, nocomment: true, nonegate: true, braceExpandMax: 500 };
  const globs = [new Minimatch(pattern, options), new Minimatch(`${pattern}/**`, options)];
  return (path, lower) => isNamed(path, lower) || globs.some((glob) => glob.match(path));
}
