import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { oracles } from './oracle/rates.ts';

export interface Options {
  command: 'run' | 'verify' | 'list' | 'help';
  /** The real model, or undefined when an oracle takes its place. */
  model: string | undefined;
  baseUrl: string;
  apiKey: string;
  /** The setting OPENAI_API of the service. */
  api: string;
  prices: string;
  oracle: string;
  seed: string;
  /** Beginnings of the ids of the tasks to run; none means all. */
  tasks: string[];
  parallel: number;
  /** The number of runs in all; undefined means one for each task. */
  runs: number | undefined;
  withMini: boolean;
  out: string;
  cache: string;
}

export const usage = `npm run eval                 runs each task once
npm run eval -- verify       checks that each task can be judged
npm run eval -- list         lists the tasks

  --model NAME        a real model; without it an oracle takes its place
  --base-url URL      the server of the model (https://api.openai.com/v1); its key is OPENAI_API_KEY in the environment
  --api NAME          the API to use: auto, responses or chat
  --prices JSON       prices per million tokens, as in the setting MODEL_PRICES
  --oracle NAME       ${Object.keys(oracles).join(', ')} (noisy)
  --seed TEXT         the seed of the oracle's mistakes (1)
  --tasks A,B         only tasks whose ids begin with one of these
  --runs N            the number of runs in all (one for each task)
  --parallel N        runs at the same time (2)
  --no-mini           an oracle runs without the mini loop beside it
  --mini              a real model also runs the mini loop
  --out FOLDER        where results are written, and continued from (eval-results/<model or oracle>)
  --cache FOLDER      where packages are kept
`;

/** Reads the command line. @throws Error that says what is wrong with it */
export function readOptions(args: string[], env: Record<string, string | undefined>): Options {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    allowNegative: true,
    options: {
      model: { type: 'string' },
      'base-url': { type: 'string', default: 'https://api.openai.com/v1' },
      api: { type: 'string', default: 'auto' },
      prices: { type: 'string', default: '{}' },
      oracle: { type: 'string', default: 'noisy' },
      seed: { type: 'string', default: '1' },
      tasks: { type: 'string', default: '' },
      runs: { type: 'string' },
      parallel: { type: 'string', default: '2' },
      mini: { type: 'boolean' },
      out: { type: 'string' },
      cache: { type: 'string', default: join(tmpdir(), 'deckhand-eval-packages') },
      help: { type: 'boolean', default: false },
    },
  });
  const [command = 'run'] = positionals;
  if (command !== 'run' && command !== 'verify' && command !== 'list')
    throw new Error(`There is no command ${command}.`);
  if (oracles[values.oracle] === undefined)
    throw new Error(`There is no oracle ${values.oracle}. Choose one of ${Object.keys(oracles).join(', ')}.`);
  const name = values.model ?? `${values.oracle}-${values.seed}`;
  return {
    command: values.help ? 'help' : command,
    model: values.model,
    baseUrl: values['base-url'],
    apiKey: env.OPENAI_API_KEY ?? 'none',
    api: values.api,
    prices: values.prices,
    oracle: values.oracle,
    seed: values.seed,
    tasks: values.tasks.split(',').filter((id) => id !== ''),
    parallel: wholeNumber('--parallel', values.parallel),
    runs: values.runs === undefined ? undefined : wholeNumber('--runs', values.runs),
    withMini: values.mini ?? values.model === undefined,
    out: resolve(values.out ?? join('eval-results', name.replace(/[^\w.-]/g, '_'))),
    cache: resolve(values.cache),
  };
}

function wholeNumber(name: string, text: string): number {
  const number = Number(text);
  if (!Number.isInteger(number) || number < 1)
    throw new Error(`${name} must be a whole number of at least 1, not ${text}.`);
  return number;
}
