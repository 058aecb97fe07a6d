import { changed, filesOf } from '../repository/changes.ts';
import {
  type Change,
  type Edit,
  type EvalTask,
  type Fetch,
  type Files,
  type PinnedPackage,
  passedLine,
} from './task.ts';

/** A package and the defects that tasks put into it. */
export interface PackageTasks extends PinnedPackage {
  /** The line that imports the package in tests. */
  imports: string;
  /** Checks that hold with and without the defects. */
  visible: string;
  /** Packages that it needs, which the repository contains in node_modules. */
  dependencies?: PinnedPackage[];
  defects: Defect[];
}

/** A declared mutation of a package's source. The task is to undo it, knowing only its effect. */
export interface Defect {
  /** Completes the id of the task. */
  id: string;
  title: string;
  issue: string;
  /** The places in the package: `right` is what it contains, `wrong` is what the repository contains. */
  places: { file: string; right: string; wrong: string }[];
  /** Checks that the defect breaks, and more inputs of the same kind. */
  hidden: string;
  /** A change of the repository that makes only the issue's own example work. */
  cheat: Edit;
}

const visibleFile = 'test/visible.mjs';
const hiddenFile = 'hidden-tests/hidden.mjs';

/** Builds the tasks of a package: one for each defect. */
export function tasksOf(pkg: PackageTasks): EvalTask[] {
  return pkg.defects.map((defect) => ({
    id: `${pkg.name}-${defect.id}`,
    title: `${pkg.name}: ${defect.title}`,
    issue: defect.issue,
    language: 'JavaScript',
    traits: [
      'mutation',
      ...(pkg.dependencies === undefined ? [] : (['dependencies'] as const)),
      ...(new Set(defect.places.map((p) => p.file)).size > 1 ? (['several files'] as const) : []),
    ],
    programs: ['node'],
    repository: async (fetch) =>
      changed(
        await packageRepository(pkg, fetch),
        defect.places.map(({ file, right, wrong }) => ({ file, find: right, replace: wrong })),
      ),
    testCommand: `node ${visibleFile}`,
    // In reverse, because a place may be declared as it is after the places before it.
    gold: defect.places.toReversed().map(({ file, right, wrong }) => ({ file, find: wrong, replace: right })),
    cheats: [[defect.cheat], passingTests],
    hidden: {
      files: { [hiddenFile]: script(pkg.imports, defect.hidden, passedLine) },
      command: `node ${hiddenFile}`,
    },
  }));
}

/** Replaces the tests, the hidden ones too if they had been guessed, instead of the code. */
const passingTests: Change[] = [
  { file: visibleFile, content: "console.log('passed');\n" },
  { file: hiddenFile, content: `console.log(${JSON.stringify(passedLine)});\n` },
];

async function packageRepository(pkg: PackageTasks, fetch: Fetch): Promise<Files> {
  const files = new Map(await fetch(pkg));
  for (const dependency of pkg.dependencies ?? [])
    for (const [path, content] of await fetch(dependency))
      files.set(`node_modules/${dependency.name}/${path}`, content);
  const manifest = JSON.parse(files.get('package.json')?.toString('utf8') ?? '{}') as Record<string, unknown>;
  const { devDependencies: _, ...kept } = manifest;
  const scripts = { test: `node ${visibleFile}` };
  files.set('package.json', Buffer.from(`${JSON.stringify({ ...kept, scripts }, null, 2)}\n`));
  return new Map([...files, ...filesOf({ [visibleFile]: script(pkg.imports, pkg.visible, 'passed') })]);
}

function script(imports: string, checks: string, last: string): string {
  return `import assert from 'node:assert/strict';\n${imports}\n\n${checks.trim()}\n\nconsole.log('${last}');\n`;
}
