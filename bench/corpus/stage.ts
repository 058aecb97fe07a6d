import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { type ModelRequest, type Said, startModel, textOf } from '../../demo/model/model.ts';
import { type RunningService, startService } from '../../demo/real-service.ts';
import { settingsWithoutApp } from '../settings.ts';
import { serve } from '../small-github.ts';
import type { Change } from './changes.ts';
import type { Files, Sample } from './sample.ts';

const person = ['-c', 'user.name=T', '-c', 'user.email=t@example.com', '-c', 'protocol.file.allow=always'];
const git = (folder: string, ...args: string[]) => promisify(execFile)('git', [...person, '-C', folder, ...args]);

/** A git host with the repositories of the corpus, a model that makes their changes, and the real service. */
export interface Stage {
  service: RunningService;
  token: string;
  /** Adds a repository with its submodules. Returns its URL. */
  add(sample: Sample): Promise<string>;
  /** Commits files to the default branch of a repository. */
  commit(sample: Sample, files: Files): Promise<void>;
  /** Makes the model write a change in the tasks with its title. */
  play(title: string, change: Change): void;
  close(): Promise<void>;
}

export async function openStage(): Promise<Stage> {
  const root = await mkdtemp(join(tmpdir(), 'deckhand-corpus-'));
  const changes = new Map<string, Change>();
  const model = await startModel((request, turn) => answerTo(request, turn, changes));
  const host = await serve((name) => join(root, `${name.split('/')[1]}.git`));
  const dataDir = join(root, 'data');
  await mkdir(dataDir);
  const settings = await settingsWithoutApp({ databaseUrl: '', dataDir, hostUrl: host.url, modelUrl: model.url });
  const { DATABASE_URL: _embedded, ...rest } = settings;
  const service = await startService({ ...rest, GIT_HOSTS: new URL(host.url).origin, ALLOW_PRIVATE_HOSTS: 'true' });
  return {
    service,
    token: await service.token('bench'),
    add: async (sample) => {
      await makeRepository(root, sample.name, sample);
      return `${host.url}/corpus/${sample.name}`;
    },
    commit: (sample, files) => commitTo(root, sample.name, files),
    play: (title, change) => void changes.set(title, change),
    close: async () => {
      await service.stop();
      await model.close();
      host.close();
      await rm(root, { recursive: true, force: true });
    },
  };
}

/** Writes the files of the change that the task is called after, and finishes; a review is answered with another `finish`. */
function answerTo(request: ModelRequest, turn: number, changes: Map<string, Change>): Said {
  const text = textOf(request);
  // One title may be the end of another.
  const named = [...changes].filter(([title]) => text.includes(title));
  const [, change] = named.sort(([one], [other]) => other.length - one.length)[0] ?? [];
  if (change === undefined || turn > 0)
    return [{ name: 'finish', arguments: { summary: 'Made the change.', nextSteps: [] } }];
  return Object.entries(change.files).map(([path, content]) => ({
    name: 'write_file',
    arguments: { path, content: String(content) },
  }));
}

async function makeRepository(
  root: string,
  name: string,
  { files, submodules = [] }: Pick<Sample, 'files' | 'submodules'>,
): Promise<void> {
  const [work, bare] = [join(root, name), join(root, `${name}.git`)];
  await writeAll(work, files);
  await git(work, 'init', '-q', '-b', 'main');
  for (const { path, ...each } of submodules) {
    await makeRepository(root, `${name}-${path}`, each);
    await git(work, 'submodule', '--quiet', 'add', join(root, `${name}-${path}.git`), path);
    // People name submodules beside their repository like this.
    await git(work, 'config', '-f', '.gitmodules', `submodule.${path}.url`, `../${name}-${path}`);
  }
  await git(work, '-c', 'core.autocrlf=false', 'add', '-A');
  await git(work, 'commit', '-q', '-m', 'first');
  await git(work, 'clone', '-q', '--bare', work, bare);
  await git(bare, 'config', 'uploadpack.allowAnySHA1InWant', 'true');
  await storeLarge(bare, files);
}

/** Stores the contents of the pointers that the corpus has. */
async function storeLarge(bare: string, files: Files): Promise<void> {
  const content = 'ten bytes!';
  const oid = createHash('sha256').update(content).digest('hex');
  if (!Object.values(files).some((text) => String(text).includes(`oid sha256:${oid}`))) return;
  await writeAll(join(bare, 'lfs/objects', oid.slice(0, 2), oid.slice(2, 4)), { [oid]: content });
}

async function commitTo(root: string, name: string, files: Files): Promise<void> {
  const [work, bare] = [join(root, name), join(root, `${name}.git`)];
  await writeAll(work, files);
  await git(work, 'add', '-A');
  await git(work, 'commit', '-q', '-m', 'settings');
  await git(work, 'push', '-q', bare, 'main');
}

async function writeAll(folder: string, files: Files): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    await mkdir(join(folder, dirname(path)), { recursive: true });
    await writeFile(join(folder, path), content);
  }
}
