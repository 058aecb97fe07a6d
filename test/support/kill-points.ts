import { accessSync, constants, readdirSync, readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { basename, join } from 'node:path';
import type { Seed } from '../../demo/github/emulator-seed.ts';
import type { Script } from '../../demo/model/model.ts';
import { until } from '../../demo/real-service.ts';
import { folderOfResults } from '../../src/environment/keep/unpacked.ts';
import { commandsIn } from './machine/processes.ts';
import { isThorough } from './thorough.ts';
import { openSeparateWorld, type SeparateWorld, type World } from './world.ts';

/** A service that is killed in a test. */
export interface Killable {
  world: SeparateWorld;
  /** Calls the service. If it was killed, which may also happen after the run, restarts it first. */
  get<T>(path: string): Promise<T>;
  /** Sends a request that may fail, because the service is killed or has carried it out already. */
  tryPost(path: string, body: object): Promise<void>;
  /** Kills the service now. The next `get` restarts it. */
  kill(): void;
}

/** What is played again and again, each time with another fault. */
interface Game<Played> {
  script: Script;
  /** What GitHub has besides the sample repository. */
  seed?: Partial<Seed>;
  prepare(world: World): Promise<void>;
  /** Plays once. The points are the calls and commits after `begin`. */
  play(service: Killable, begin: () => void): Promise<Played>;
  /** Expects that nothing was done twice and nothing is lost. `isFaulty` says whether a fault was injected. */
  expectOneOfEach(service: Killable, played: Played, isFaulty: boolean): Promise<void>;
  /** How often to play without a fault. The last time shows the points. */
  rehearsals: number;
  /** The points that occur every time. */
  ofEveryRun: RegExp;
  /** The faults of a run that is not thorough, which injects them one after the other while it plays once. */
  few: Fault[];
}

/**
 * A fault: the service is killed before or after a call or commit, or only the response is lost. A point is the nth call
 * of a name, because concurrent calls have no fixed order.
 */
interface Case {
  kind: 'before' | 'after' | 'lost';
  name: string;
  nth: number;
}

/** A case, or a fault at the next call whose name matches. */
type Fault = Case | { kind: Case['kind']; name: RegExp };

/**
 * Every external call and every commit is a point. A thorough run tests all of them, any other a few. `KILL_POINTS` selects
 * the points whose name contains it, such as `lost commit`.
 */
const asked = process.env.KILL_POINTS;
const testsEach = isThorough || asked !== undefined;
/** The emulator limits the calls per hour, so another one is started after this many cases. */
const casesOfAWorld = 40;

const nameOf = (fault: Fault) => `${fault.kind} ${fault.name}${'nth' in fault ? `, number ${fault.nth + 1}` : ''}`;

/** Declares a test that plays a game with a fault at each of its points. */
export function testKillPoints<Played>(name: string, game: Game<Played>): void {
  let service: Faulty | undefined;
  const open = async () => {
    await service?.world.close();
    service = undefined;
    service = await openFaulty(game);
    return service;
  };
  afterAll(() => service?.world.close());
  test(name, async () => {
    let now = await open();
    const plays = testsEach ? (await casesOf(now, game)).map((each) => [each]) : [game.few];
    const wrong: (string | undefined)[] = [];
    for (const [i, each] of plays.entries()) {
      if (i > 0 && i % casesOfAWorld === 0) now = await open();
      wrong.push(await problemOf(now, game, each));
    }
    expect([wrong.filter(Boolean), now.foundFolders()]).toEqual([[], true]);
  }, 3_600_000);
}

/** Returns all cases, or those requested by name. */
async function casesOf<Played>(service: Faulty, game: Game<Played>): Promise<Case[]> {
  for (let i = 0; i < game.rehearsals; i++) await playWith(service, game);
  const points = service.points();
  expect(points.length).toBeGreaterThan(20);
  const cases = (['before', 'after', 'lost'] as const).flatMap((kind) => points.map((at) => ({ kind, ...at })));
  return cases.filter((each) => nameOf(each).includes(asked ?? ''));
}

async function playWith<Played>(service: Faulty, game: Game<Played>, faults: Fault[] = []): Promise<void> {
  const played = await game.play(service, () => service.begin(faults));
  await game.expectOneOfEach(service, played, faults.length > 0);
}

/** Plays with these faults. Returns what is wrong afterwards, with the end of the service's log. */
async function problemOf<Played>(service: Faulty, game: Game<Played>, faults: Fault[]): Promise<string | undefined> {
  const began = performance.now();
  const names = faults.map(nameOf).join(', then ');
  try {
    await playWith(service, game, faults);
    await service.expectNothingLeft();
    if (service.left() === 0) return undefined;
    const problem = `${names}: ${service.left()} not reached`;
    process.stderr.write(`${problem}\n`);
    // Concurrent work sometimes takes fewer steps, so a point of the first runs may not occur again.
    const isSure = faults.every((fault) => !('nth' in fault) || game.ofEveryRun.test(fault.name));
    return isSure ? problem : undefined;
  } catch (error) {
    const left = `${(error as Error).message} (${service.left()} faults were not reached)`;
    const problem = `${names}: ${left}\n${service.world.service.log().slice(-2000)}`;
    process.stderr.write(`${problem}\n`);
    return problem;
  } finally {
    service.disarm();
    if (testsEach) process.stderr.write(`${names}: ${Math.round(performance.now() - began)} ms\n`);
  }
}

type Leftovers = ReturnType<typeof openLeftovers>;
interface Faulty extends Killable, Injection, Pick<Leftovers, 'expectNothingLeft' | 'foundFolders'> {}

interface Injection {
  /** Forgets the calls so far. From now on they are points, at which these faults are injected in this order. */
  begin(faults: Fault[]): void;
  disarm(): void;
  /** Returns how many faults were not injected. */
  left(): number;
  /** Returns the points since `begin`. */
  points(): Pick<Case, 'name' | 'nth'>[];
}

async function openFaulty({
  script,
  seed = {},
  prepare,
}: Pick<Game<never>, 'script' | 'seed' | 'prepare'>): Promise<Faulty> {
  let isKilled = false;
  const kill = () => {
    isKilled = true;
    leftovers.note();
    world.service.process.kill('SIGKILL');
  };
  const { due, ...injection } = openInjection(kill);
  // Calls that a killed service had sent may still arrive.
  const dueNow = (name: string) => (isKilled ? undefined : due(name));
  const world = await openSeparateWorld(script, {
    seed,
    before: async (turn) => {
      dueNow(`model ${turn}`);
    },
    onCommit: (statements) => {
      const name = nameOfCommit(statements);
      const found = name === undefined ? undefined : dueNow(name);
      return found === undefined || found === 'lost' ? found : 'refused';
    },
  });
  const get = <T>(path: string): Promise<T> =>
    until(`an answer to ${path}`, async () => {
      if (isKilled) {
        isKilled = false;
        await world.kill();
        await world.restart();
      }
      return world.get<T>(path).catch(() => undefined);
    });
  const tryPost = async (path: string, body: object) => {
    await world.service.api(world.token, 'POST', path, body).catch(() => undefined);
  };
  const leftovers = openLeftovers(world, get);
  await prepare(world);
  world.github.fail((method, path) => dueNow(`${method} ${path.replace(/agent%2F\w{8}|[0-9a-f]{40}|\d+/g, '#')}`));
  return { world, get, tryPost, kill, ...injection, ...leftovers };
}

const isAt = (fault: Fault, name: string, nth: number) =>
  'nth' in fault ? name === fault.name && nth === fault.nth : fault.name.test(name);

/** Counts the calls to GitHub, git and the model, and the commits, and injects faults at some of them. */
function openInjection(kill: () => void) {
  let calls: string[] = [];
  let faults: Fault[] = [];
  const injection: Injection = {
    begin: (next) => {
      [calls, faults] = [[], [...next]];
    },
    disarm: () => {
      faults = [];
    },
    left: () => faults.length,
    points: () => calls.map((name, i) => ({ name, nth: calls.slice(0, i).filter((c) => c === name).length })),
  };
  /** Returns the fault of a call: none, refused after the kill, or executed with its response lost. */
  const due = (name: string) => {
    const nth = calls.filter((c) => c === name).length;
    calls.push(name);
    const [fault] = faults;
    if (fault === undefined || !isAt(fault, name, nth)) return undefined;
    faults.shift();
    if (fault.kind !== 'lost') kill();
    return fault.kind === 'before' ? { status: 502 } : ('lost' as const);
  };
  return { ...injection, due };
}

/** Looks for what killed services leave on the machine. */
function openLeftovers(world: SeparateWorld, get: Killable['get']) {
  const killed: number[] = [];
  /** Their workspace folders. */
  const theirs = new Set<string>();
  return {
    /** Notes the folders of the service, which is about to be killed. */
    note: () => {
      const { pid = 0 } = world.service.process;
      killed.push(pid);
      for (const folder of foldersOf(world, [pid])) theirs.add(folder);
    },
    /** Returns whether the folders of killed services were found. Otherwise the test looks in the wrong place. */
    foundFolders: () => killed.length === 0 || theirs.size > 0,
    /**
     * Expects that no workspace and no process of a killed service is left. Its processes have its folders in their
     * arguments.
     */
    expectNothingLeft: () =>
      until('the leftovers of killed services to be gone', async () => {
        await get('/me');
        const isRunning = [...theirs].some((folder) => commandsIn(`/runs/${basename(folder)}/`).length > 0);
        const own = foldersOf(world, [world.service.process.pid ?? 0]);
        const isClear = own.every((folder) =>
          readdirSync(folder).every((name) => ['owner', folderOfResults].includes(name)),
        );
        return !isRunning && foldersOf(world, killed).length === 0 && isClear;
      }),
  };
}

/** The tables of a task and its run. The order of commits to other tables depends on the clock. */
const ofRuns =
  /\b(?:into|update|from)\s+"?(tasks|task_\w+|runs|run_\w+|handoffs|proofs|pull_requests|undone_pulls|agents)\b/i;

/** What a statement with parts writes, that of the whole first. */
const writtenByParts =
  /\b(?:insert into|update)\s+"?(tasks|task_\w+|runs|run_\w+|handoffs|proofs|pull_requests|undone_pulls|agents)\b/gi;

function tablesOf(statement: string): string[] {
  if (!/^\s*with\b/i.test(statement)) return [ofRuns.exec(statement)?.[1] ?? []].flat();
  return [...statement.matchAll(writtenByParts)].map(([, table = '']) => table).reverse();
}

function nameOfCommit(statements: string[]): string | undefined {
  const tables = statements.flatMap(tablesOf);
  return tables.length === 0 ? undefined : `commit of ${[...new Set(tables)].join(', ')}`;
}

/** Returns the workspace folders of these processes. */
function foldersOf({ settings }: World, pids: number[]): string[] {
  const places = ['/var/lib/deckhand/work', `/var/tmp/deckhand-${process.getuid?.()}`, settings.DATA_DIR ?? ''];
  // Where root ran a service before, an ordinary user may not read root's folders.
  const all = places.map((place) => join(place, 'runs')).filter(isReadable);
  const folders = all.flatMap((place) => readdirSync(place).map((name) => join(place, name)));
  return folders.filter((folder) => pids.some((pid) => textOf(join(folder, 'owner')) === `${hostname()}-${pid}`));
}

function isReadable(place: string): boolean {
  try {
    accessSync(place, constants.R_OK | constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
