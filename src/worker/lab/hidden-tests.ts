import type { App } from '../../app.ts';
import { isUsualTestFile } from '../../domain/proof/tests/test-files.ts';
import { RunFailed } from '../../domain/run.ts';
import type { Change, FileInTree } from '../../git/engine.ts';
import type { TrialItem } from '../../lab/trial-store.ts';
import { remoteFor } from '../../repositories/credentials.ts';
import { openCheckout } from '../../repositories/reader.ts';
import { pathsMatching } from '../../repositories/settings/repository-settings.ts';
import { decidingFiles, withScriptsOf } from '../proof/deciding.ts';
import type { Work } from '../work.ts';

const absent = '000000';

/** What the hidden tests are: files to put over those of the agent. */
interface Hidden {
  /** The tests of the solution, and those of its other files that the agent changed too. */
  files: Map<string, { mode: string; content: Buffer }>;
  /** All paths that the solution changes. */
  changed: Set<string>;
}

/**
 * Returns the tree that decides about a run of a trial: the files of the agent, with the tests of the solution in place of its
 * own. What decides how tests run is as in the solution, too, so an agent cannot switch tests off.
 */
export async function treeWithHiddenTests(app: App, work: Work, item: TrialItem, tree: string): Promise<string> {
  const { checkout, branch } = work;
  const base = await checkout.treeOf(branch.from);
  const own = await checkout.changes(base, tree);
  const isTest = await testsAmong(
    work,
    own.map(({ path }) => path),
  );
  const deciding = new Set(await decidingOf(work, own, isTest));
  const replaced = own.filter(({ path }) => isTest(path) || deciding.has(path));
  const { files, changed } = await readHidden(
    app,
    work,
    item,
    replaced.map(({ path }) => path),
  );
  const put: FileInTree[] = replaced.filter(({ path }) => !changed.has(path)).map(asBefore);
  for (const [path, { mode, content }] of files)
    put.push({ path, mode, oid: mode === absent ? absent : await checkout.writeBlob(content) });
  return checkout.replaceFiles(tree, put);
}

const asBefore = ({ path, oldMode, oldOid }: Change): FileInTree => ({ path, mode: oldMode, oid: oldOid });

async function testsAmong({ settings: { tests } }: Work, paths: string[]): Promise<(path: string) => boolean> {
  if (tests === undefined) return isUsualTestFile;
  const found = await pathsMatching('tests', tests, paths);
  return (path) => found.has(path);
}

/** Returns the files that the agent changed and that decide how tests run. */
async function decidingOf(work: Work, changes: Change[], isTest: (path: string) => boolean): Promise<string[]> {
  const { checkout, settings, environment, branch } = work;
  const { checks } = settings;
  const base = await checkout.treeOf(branch.from);
  const doubt = () => {};
  const commands = await withScriptsOf(checkout, base, checks, doubt);
  const before = [
    ...environment.plan.commands.map(({ command }) => command),
    ...settings.services.map(({ run }) => run),
  ];
  const others = before.length === 0 ? [] : await withScriptsOf(checkout, base, before, doubt);
  return decidingFiles({ checkout, base, checks, commands, others, changes, isTest, doubt });
}

/** Larger tests are not read; items with such tests cannot be judged. */
const maxBytes = 5_000_000;

/**
 * Reads the tests of the solution in a folder of its own, so that the folder in which the code of the agent runs has nothing
 * else of the solution. `also` are further paths that are wanted as they are in the solution.
 * @throws RunFailed `repository` when a commit no longer exists
 */
async function readHidden(app: App, work: Work, item: TrialItem, also: string[]): Promise<Hidden> {
  const { repository, credential, retrying, signal } = work;
  const remote = await retrying(() => remoteFor(app, repository, credential, { contents: 'read' }));
  const { checkout, remove } = await openCheckout(app, remote, signal);
  try {
    for (const commit of [item.baseSha, item.solutionSha])
      if (!(await retrying(() => checkout.fetchCommit(commit))))
        throw new RunFailed('repository', `the commit ${commit} of the item no longer exists`);
    const [from, to] = [await checkout.treeOf(item.baseSha), await checkout.treeOf(item.solutionSha)];
    const changes = await checkout.changes(from, to);
    const wanted = new Set([...item.tests, ...also]);
    const hidden = changes.filter(({ path }) => wanted.has(path));
    const blobs = await checkout.readBlobs(
      hidden.filter(({ newMode }) => newMode !== absent).map(({ newOid }) => newOid),
      maxBytes,
    );
    const files = new Map<string, { mode: string; content: Buffer }>();
    for (const { path, newMode: mode, newOid } of hidden) {
      const content = mode === absent ? Buffer.alloc(0) : blobs.get(newOid);
      if (content === undefined) throw new RunFailed('repository', `the test ${path} of the item cannot be read`);
      files.set(path, { mode, content });
    }
    return { files, changed: new Set(changes.map(({ path }) => path)) };
  } finally {
    await remove();
  }
}
