import { Minimatch } from 'minimatch';

/** Each further star in one name makes a long name take that many times longer to match. */
const maxStars = 3;

/** What is wrong with a pattern of protected paths, in words for people: it must be quick to match with any path. */
export function problemWithPattern(pattern: string): string | undefined {
  if (pattern.startsWith('!')) return 'must not begin with "!": there are no exceptions from `protected`';
  if (/[@!+?*]\(/.test(pattern))
    return 'must be a name, a folder, or a glob of *, **, ?, [] and {}; not +(…) and the like';
  if (/\{[^}]*\.\./.test(pattern)) return 'must not hold a range such as {1..9}; list what it stands for: {1,2,3}';
  const names = pattern.split('/');
  if (names.some((name) => name === '' || name === '.' || name === '..'))
    return 'must name files or folders of the repository';
  const isQuick =
    pattern.split('**').length - 1 <= maxStars &&
    pattern.split('{').length - 1 <= 1 &&
    names.every((name) => name === '**' || name.split('*').length - 1 <= maxStars);
  return isQuick ? undefined : `must have at most ${maxStars} stars in a name, ${maxStars} ** and one {}`;
}

/** Of some paths those that a pattern names, by itself or as something below it; in any case of letters. */
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
  // A name may hold brackets: `app/[id]/page.tsx` means that very file too.
  const isNamed: Test = (_path, lower) => lower === name || lower.startsWith(`${name}/`);
  if (!/[*?[{\\]/.test(pattern)) return isNamed;
  // Names that begin with a dot are meant too: they need it most. Not by a comment or a "!", which would match nothing.
  const options = { dot: true, nocase: true, noext: true, nocomment: true, nonegate: true, braceExpandMax: 500 };
  const globs = [new Minimatch(pattern, options), new Minimatch(`${pattern}/**`, options)];
  return (path, lower) => isNamed(path, lower) || globs.some((glob) => glob.match(path));
}
