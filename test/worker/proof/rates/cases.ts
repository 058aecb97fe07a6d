import { readFileSync } from 'node:fs';

/** A change of a small repository, as cheats.txt and honest.txt describe it. */
export interface Case {
  name: string;
  checks: string[];
  /** Whether the checks run; the tools of some languages are not on every machine. */
  runs: boolean;
  base: Record<string, string>;
  change: Record<string, string | undefined>;
}

/**
 * Reads the cases of a file. `=== repository x` begins the files that cases named `x: …` have in common, and `=== x: …` a
 * case. In it, `--- path` begins a file of the change, `--- before path` one of the base, and `--- without path` names
 * one that the change removes.
 */
export function casesIn(name: 'cheats' | 'honest'): Case[] {
  const [, ...parts] = readFileSync(new URL(`./${name}.txt`, import.meta.url), 'utf8').split(/^=== /m);
  const common = new Map<string, Record<string, string>>();
  const cases: Case[] = [];
  for (const part of parts) {
    const [head = '', ...files] = part.split(/^--- /m);
    const [title = '', ...settings] = head.trimEnd().split('\n');
    const sections = files.map((file): [string, string] => {
      const end = file.indexOf('\n');
      return [file.slice(0, end), file.slice(end + 1)];
    });
    if (title.startsWith('repository ')) common.set(title.slice('repository '.length), Object.fromEntries(sections));
    else cases.push(caseOf(title, settings, sections, common.get(title.slice(0, title.indexOf(':'))) ?? {}));
  }
  return cases;
}

function caseOf(name: string, settings: string[], files: [string, string][], base: Record<string, string>): Case {
  const before = files.filter(([path]) => path.startsWith('before '));
  const changed = files.filter((file) => !before.includes(file));
  const checks = settings.find((line) => line.startsWith('checks: '))?.slice('checks: '.length);
  return {
    name,
    checks: checks?.split(' && ') ?? [],
    runs: !settings.includes('judged: by what is written'),
    base: { ...base, ...Object.fromEntries(before.map(([path, text]) => [path.slice('before '.length), text])) },
    change: Object.fromEntries(
      changed.map(([path, text]) =>
        path.startsWith('without ') ? [path.slice('without '.length), undefined] : [path, text],
      ),
    ),
  };
}
