import { type Composed, compose } from '../compose.ts';
import { type Config, ConfigError, readConfig } from '../config.ts';
import { freeBytes } from '../db/embedded/reserve.ts';
import { inMegabytes, lowBytes } from '../disk.ts';
import { setupAddress } from '../github/app/stored-app.ts';
import { createLogger } from '../logger.ts';
import { fetchFromModel } from '../outgoing/fetch-from.ts';

type Finding = { what: string; ok: boolean; says: string };

/** `doctor`: one line per check, what is configured and reachable and how to mend the rest; 1 when something is broken. */
export async function doctor(): Promise<number> {
  let config: Config;
  try {
    config = readConfig();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    for (const problem of error.problems) print({ what: 'settings', ok: false, says: problem });
    return 1;
  }
  print({ what: 'settings', ok: true, says: 'can be read' });
  const log = createLogger({ ...config, LOG_LEVEL: 'silent' });
  let composed: Composed;
  try {
    composed = await compose(config, log, { attach: true, isWorker: false, stopping: new AbortController().signal });
  } catch (error) {
    const where = config.DATABASE_URL === undefined ? `embedded, under ${config.DATA_DIR}` : 'DATABASE_URL';
    print({ what: 'database', ok: false, says: `${where}: ${(error as Error).message}` });
    return 1;
  }
  try {
    const findings = [
      node(),
      {
        what: 'database',
        ok: true,
        says: config.DATABASE_URL === undefined ? 'embedded PostgreSQL, up to date' : 'reached, up to date',
      },
      await disk(config),
      sandbox(composed, config),
      await git(composed),
      await github(composed),
      await model(config),
    ];
    findings.forEach(print);
    return findings.every((f) => f.ok) ? 0 : 1;
  } finally {
    await composed.close();
  }
}

function print({ what, ok, says }: Finding): void {
  process.stdout.write(`${ok ? 'ok  ' : 'MEND'}  ${what.padEnd(9)} ${says}\n`);
}

function node(): Finding {
  const isNew = Number(process.versions.node.split('.')[0]) >= 24;
  return {
    what: 'node',
    ok: isNew,
    says: `${process.version}${isNew ? '' : '; 24 or newer is needed: start with npm, which brings its own'}`,
  };
}

async function disk({ DATA_DIR }: Config): Promise<Finding> {
  const free = await freeBytes(DATA_DIR);
  const isLow = free < lowBytes;
  return {
    what: 'disk',
    ok: !isLow,
    says: `${inMegabytes(free)} free for ${DATA_DIR}${isLow ? '; make room there' : ''}`,
  };
}

function sandbox({ app }: Composed, config: Config): Finding {
  const { works, says } = app.sandbox.state;
  return { what: 'sandbox', ok: works || config.SANDBOX === 'off', says };
}

async function git({ app }: Composed): Promise<Finding> {
  const slow = app.git.name === 'isomorphic' ? '; slower than git itself (apt-get install git)' : '';
  return { what: 'git', ok: true, says: `${await app.git.version()}${slow}` };
}

async function github({ app }: Composed): Promise<Finding> {
  const what = 'github';
  if (app.github === undefined)
    return { what, ok: true, says: `no App is configured; make one in a click, once: ${await setupAddress(app)}` };
  try {
    const slug = await app.github.slug();
    return { what, ok: true, says: `the App ${slug} is known at ${app.config.GITHUB_API_URL}` };
  } catch (error) {
    const { status } = error as { status?: number };
    const why = status === 401 ? 'refused the key: APP_ID and PRIVATE_KEY must be of one App' : 'could not be reached';
    return { what, ok: false, says: `${app.config.GITHUB_API_URL} ${why}` };
  }
}

async function model(config: Config): Promise<Finding> {
  const what = 'model';
  const missing = [
    ...(config.OPENAI_API_KEY ? [] : ['OPENAI_API_KEY']),
    ...(config.OPENAI_MODEL ? [] : ['OPENAI_MODEL']),
  ];
  if (missing.length > 0)
    return { what, ok: true, says: `${missing.join(' and ')} unset: each project and agent needs its own` };
  const headers = { Authorization: `Bearer ${config.OPENAI_API_KEY}` };
  const ask = fetchFromModel(10);
  const response = await ask(`${config.OPENAI_BASE_URL}/models`, { headers }).catch(() => undefined);
  const price = Object.hasOwn(config.MODEL_PRICES, config.OPENAI_MODEL)
    ? ''
    : '; no price in MODEL_PRICES, so budgets in dollars do not count';
  if (response?.ok) return { what, ok: true, says: `${config.OPENAI_MODEL} at ${config.OPENAI_BASE_URL}${price}` };
  const why =
    response === undefined ? 'could not be reached' : `answered HTTP ${response.status}; check OPENAI_API_KEY`;
  return { what, ok: false, says: `${config.OPENAI_BASE_URL} ${why}` };
}
