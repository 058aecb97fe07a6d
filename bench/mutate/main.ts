import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { startTestPostgres } from '../../test/support/postgres.ts';
import { say } from '../figures.ts';
import { readAccepted, stale } from './accepted.ts';
import { areas } from './areas.ts';
import { goal, resultLine, scoreOf, summary } from './report.ts';
import { mutantsOf, sample } from './sample.ts';
import { tryMutants } from './try-mutants.ts';

// `npm run mutate`: do the tests notice when the code is wrong?

const usage = 'npm run mutate -- [area …] [--seed N] [--per-area N] [--json file]';
const root = resolve(import.meta.dirname, '../..');
const { values, positionals } = readArguments();

const accepted = readAccepted(readFileSync(join(import.meta.dirname, 'accepted.txt'), 'utf8'));
const names = [...new Set(areas.map(({ name }) => name))];
const unknown = positionals.filter((name) => !names.includes(name));
const chosen = names.filter((name) => positionals.length === 0 || positionals.includes(name));
const [seed, size] = [Number(values.seed), Number(values['per-area'])];

if (unknown.length > 0) refuse(`There is no area ${unknown.join(', ')}. Choose from ${names.join(', ')}.`);
else if (!Number.isInteger(seed) || !Number.isInteger(size) || size < 1)
  refuse('--seed and --per-area must be whole numbers, and --per-area at least 1.');
else await measure();

function readArguments() {
  const options = {
    seed: { type: 'string', default: '1' },
    'per-area': { type: 'string', default: '25' },
    json: { type: 'string', default: join(tmpdir(), 'deckhand-mutate.json') },
  } as const;
  try {
    return parseArgs({ allowPositionals: true, options });
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n\n${usage}\n`);
    process.exit(2);
  }
}

async function measure(): Promise<void> {
  const left = stale(
    accepted,
    areas.flatMap((area) => mutantsOf(area, root)),
  );
  for (const key of left) say(`accepted.txt names a mutant that the code no longer has; delete it: ${key}`);
  const entriesOf = (name: string) => areas.filter((area) => area.name === name);
  const sampled = chosen.flatMap((name) => {
    const drawn = sample(entriesOf(name), root, accepted, seed, size);
    say(`${name}: ${Math.min(size, drawn.all)} of ${drawn.all} mutants`);
    return drawn.sampled;
  });
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => stop.abort(new Error('Interrupted.')));
  const postgres = await startTestPostgres();
  try {
    const results = await tryMutants(sampled, {
      root,
      postgresUrl: postgres.url,
      slots: 2,
      signal: stop.signal,
      tellUsual: (area, ms) => say(`${area}: its tests take ${(ms / 1000).toFixed(1)} s`),
      tell: (result, progress) => say(resultLine(result, progress)),
    });
    const scores = chosen.map((name) => scoreOf(name, results));
    await writeFile(values.json, JSON.stringify({ seed, scores, results }, null, 2));
    say(`\n${summary(scores, results)}\n\nThe results are in ${values.json}.`);
    if (left.length > 0 || scores.some(({ share }) => share < goal)) process.exitCode = 1;
  } catch (error) {
    if (!stop.signal.aborted) throw error;
    say('Interrupted.');
    process.exitCode = 130;
  } finally {
    await postgres.stop();
  }
}

function refuse(message: string): void {
  process.stderr.write(`${message}\n`);
  process.exitCode = 2;
}
