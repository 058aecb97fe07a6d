import { cp, mkdir, mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gitIn } from './github/git/git-objects.ts';

const sample = fileURLToPath(new URL('./sample-repository', import.meta.url));
/** Files that give the sample project a dependency. It is packed in the repository, so that no network is needed. */
const dependency = fileURLToPath(new URL('./sample-dependency', import.meta.url));

/** Tells Deckhand to run the tests of the sample project before each push, so that changes get a proof. */
const checks = fileURLToPath(new URL('./sample-checks', import.meta.url));

/** A template of issues, which the dialog of a new task offers. */
const template = fileURLToPath(new URL('./sample-template', import.meta.url));

const person = ['-c', 'user.name=Sample', '-c', 'user.email=sample@example.com'];

/** What the sample project has besides its code and tests. */
export interface SampleParts {
  /** A dependency, which set-up installs. */
  hasDependency?: boolean;
  /** A `.deckhand.yml` whose check is the project's tests. */
  hasChecks?: boolean;
  /** A template of issues. */
  hasTemplate?: boolean;
}

/** Creates a bare repository whose first commit is the sample project. Prepares the files in a folder in `root`. */
export async function makeSampleRepository(
  folder: string,
  root: string,
  { hasDependency = false, hasChecks = false, hasTemplate = false }: SampleParts = {},
): Promise<void> {
  await mkdir(folder, { recursive: true });
  await gitIn(folder, ['init', '--quiet', '--bare', '--initial-branch=main']);
  await gitIn(folder, ['config', 'uploadpack.allowAnySHA1InWant', 'true']);
  const work = await mkdtemp(join(root, 'seed-'));
  await cp(sample, work, { recursive: true });
  if (hasDependency) await cp(dependency, work, { recursive: true });
  if (hasChecks) await cp(checks, work, { recursive: true });
  if (hasTemplate) await cp(template, work, { recursive: true });
  const at = [`--git-dir=${folder}`, `--work-tree=${work}`, ...person];
  await gitIn(work, [...at, 'add', '--all']);
  await gitIn(work, [...at, 'commit', '--quiet', '-m', 'A first version']);
}
