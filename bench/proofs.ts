import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { type DemoGitHub, startGitHub } from '../demo/github/github.ts';
import { startModel } from '../demo/model/model.ts';
import { type RunningService, startService, until } from '../demo/real-service.ts';
import { demoSettings, freePort } from '../demo/settings.ts';
import { webhookUrl } from '../src/github/app/manifest.ts';
import { changesOf } from './corpus/changes.ts';
import { isInstalled, samples } from './corpus/main.ts';
import type { Files, Sample } from './corpus/sample.ts';
import { median, say } from './figures.ts';

const run = promisify(execFile);
const git = async (folder: string, ...args: string[]) =>
  (
    await run('git', ['-c', 'core.autocrlf=false', '-c', 'user.name=Mona', '-c', 'user.email=m@example.com', ...args], {
      cwd: folder,
    })
  ).stdout.trim();

/** A service without a model, whose App is installed on the repositories of the corpus. */
interface Place {
  github: DemoGitHub;
  service: RunningService;
  token: string;
  root: string;
}

interface Proof {
  headSha: string;
  status: string;
  reason: string | null;
  seconds: number;
}

/** What the checks of people's pull requests said about the changes of a repository. */
interface Outcome {
  all: number;
  wrong: string[];
  /** How many times as long as the bare tests each check took. */
  ratios: number[];
}

/**
 * Opens a pull request by hand for each change of the corpus whose truth is known, and compares what the check run Deckhand
 * proof says, and how long it took, with the truth and with the tests alone. `only` is a part of a name. The tests of the
 * corpus take a second, of which a check is mostly its fixed part; with `seconds`, the checks compute for that long before.
 */
export async function proofsOfPeople(only = '', seconds = '0'): Promise<void> {
  const usable = samples.filter(
    ({ name, language, needs, submodules, expected }) =>
      name.includes(only) &&
      language !== undefined &&
      submodules === undefined &&
      expected.checks.length > 0 &&
      needs.every(isInstalled),
  );
  const chosen = usable.filter(({ files }) => Object.keys(files).length <= maxFiles);
  for (const { name } of usable.filter((each) => !chosen.includes(each)))
    say(`${name} is not tried: the emulator of GitHub takes minutes to read its files`);
  const place = await openPlace(chosen.map(({ name }) => name));
  const before = Number(seconds) > 0 ? [await computingFor(Number(seconds))] : [];
  const outcomes: Outcome[] = [];
  say(`${'repository'.padEnd(24)}${'bare tests'.padEnd(12)}${'check'.padEnd(10)}changes`);
  try {
    for (const sample of chosen) outcomes.push(await proveAll(place, sample, before));
  } finally {
    await place.service.stop();
    await place.github.close();
    await rm(place.root, { recursive: true, force: true });
  }
  const ratios = outcomes.flatMap((outcome) => outcome.ratios);
  const all = outcomes.reduce((sum, outcome) => sum + outcome.all, 0);
  const wrong = outcomes.reduce((sum, outcome) => sum + outcome.wrong.length, 0);
  say(`said rightly       ${all - wrong} of ${all}`);
  say(`time               ${median(ratios).toFixed(1)} times the bare tests (median)`);
}

/** The emulator looks through all files of a repository for each of them. */
const maxFiles = 5_000;

async function openPlace(names: string[]): Promise<Place> {
  const root = await mkdtemp(join(tmpdir(), 'deckhand-proofs-'));
  const [repository = '', ...more] = names;
  const github = await startGitHub({ owner: 'mona', repository, more, people: ['mona'] });
  const model = await startModel([]);
  const {
    OPENAI_API_KEY: _key,
    OPENAI_MODEL: _model,
    ...settings
  } = demoSettings({
    github,
    model,
    port: await freePort(),
    dataDir: join(root, 'data'),
  });
  await model.close();
  github.deliverTo(webhookUrl(settings.BASE_URL ?? ''));
  const service = await startService({ ...settings, LOG_LEVEL: 'error' });
  const token = await service.token('mona');
  await until('the repositories', async () => (await listRepositories(service, token)).length === names.length);
  return { github, service, token, root };
}

const listRepositories = (service: RunningService, token: string) =>
  service.api<{ id: string; name: string }[]>(token, 'GET', '/repositories');

/** Returns a command that computes for about so many seconds where nothing else does: the same work, however long it takes. */
async function computingFor(seconds: number): Promise<string> {
  const hash = (bytes: number) => `head -c ${bytes} /dev/zero | sha256sum`;
  const sample = 500_000_000;
  const began = performance.now();
  await run('bash', ['-c', hash(sample)]);
  return hash(Math.round((sample * seconds * 1000) / (performance.now() - began)));
}

async function proveAll(place: Place, sample: Sample, before: string[]): Promise<Outcome> {
  const { name, files, expected, language } = sample;
  const folder = join(place.root, name);
  await mkdir(folder);
  await git(folder, 'init', '-q', '-b', 'main');
  const { setup } = expected;
  const checks = [...before, ...expected.checks];
  const settings = `setup: ${JSON.stringify(setup)}\nchecks: ${JSON.stringify(checks)}\nprove: { everyone: true, minutesPerDay: 1440 }\n`;
  await push(place, name, 'main', { ...files, '.deckhand.yml': settings });
  const bare = await bareSeconds(folder, setup, checks);
  const outcome: Outcome = { all: 0, wrong: [], ratios: [] };
  const took: number[] = [];
  for (const [i, change] of (language === undefined ? [] : changesOf(language)).entries()) {
    await git(folder, 'checkout', '-q', '-f', '-B', `change-${i}`, 'main');
    const sha = await push(place, name, `change-${i}`, change.files);
    const { status, reason, seconds } = await proofOf(place, name, { branch: `change-${i}`, sha });
    outcome.all += 1;
    took.push(seconds);
    outcome.ratios.push(seconds / bare);
    if (status !== change.truth) outcome.wrong.push(`${change.name}: ${status} (${reason}), not ${change.truth}`);
  }
  const right = `${outcome.all - outcome.wrong.length} of ${outcome.all} right`;
  say(`${name.padEnd(24)}${`${bare.toFixed(1)} s`.padEnd(12)}${`${median(took).toFixed(1)} s`.padEnd(10)}${right}`);
  for (const each of outcome.wrong) say(`    ${each}`);
  return outcome;
}

/** Commits files and shows them on GitHub. Returns the commit. */
async function push({ github, root }: Place, name: string, branch: string, files: Files): Promise<string> {
  const folder = join(root, name);
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), content);
  }
  await git(folder, 'add', '-A');
  await git(folder, 'commit', '-q', '-m', branch);
  await git(folder, 'push', '-q', '-f', github.folderOf(`mona/${name}`), `HEAD:refs/heads/${branch}`);
  await github.showBranches(`mona/${name}`);
  return git(folder, 'rev-parse', 'HEAD');
}

/** Returns how long the tests take by themselves, after set-up, in seconds: the median of three. */
async function bareSeconds(folder: string, setup: string[], checks: string[]): Promise<number> {
  const shell = (command: string) => run('bash', ['-c', command], { cwd: folder, maxBuffer: 50_000_000 });
  for (const command of setup) await shell(command);
  const seconds: number[] = [];
  for (let i = 0; i < 3; i++) {
    const began = performance.now();
    for (const command of checks) await shell(command);
    seconds.push((performance.now() - began) / 1000);
  }
  return median(seconds);
}

/** Opens a pull request and waits for what the check says about it. */
async function proofOf(
  { github, service, token }: Place,
  name: string,
  { branch, sha }: { branch: string; sha: string },
): Promise<Proof> {
  await github.as('mona')('POST', `/repos/mona/${name}/pulls`, { title: branch, head: branch, base: 'main' });
  const id = (await listRepositories(service, token)).find((each) => each.name === name)?.id;
  return until(
    `the proof of ${branch} of ${name}`,
    async () => {
      const proofs = await service.api<Proof[]>(token, 'GET', `/repositories/${id}/proofs`);
      return proofs.find(
        ({ headSha, status }) => headSha === sha && !['queued', 'running', 'waiting'].includes(status),
      );
    },
    1_200_000,
  );
}
