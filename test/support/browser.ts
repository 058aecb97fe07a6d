import type { Browser, BrowserContextOptions, Page, Request } from 'playwright-core';
import { chromiumPath, launchBrowser } from '../../demo/browser.ts';
import { until } from '../../demo/real-service.ts';
import { sessionCookie } from '../../src/http/access/session.ts';
import { openWorld, tokenBySignIn, type World } from './world.ts';

/** Declares a test that is skipped without a browser. In CI a browser is required. */
export function inBrowser(name: string, body: () => Promise<void>, timeoutMs?: number): void {
  const declare = chromiumPath === undefined && !process.env.CI ? test.skip : test;
  declare(name, body, timeoutMs);
}

if (chromiumPath === undefined)
  console.warn('The dashboard is not tested in a browser. On Debian: apt-get install chromium-headless-shell');

let browser: Browser | undefined;

/** Errors that a page logged, including violations of its content security policy. */
export const complaints: string[] = [];

/** The requests of each page that are under way. */
const unanswered = new WeakMap<Page, Set<Request>>();

/** Waits until no request of a page is under way, and what the last ones brought is shown. */
export async function loaded(page: Page): Promise<void> {
  const isQuiet = () => unanswered.get(page)?.size === 0;
  await until('all answers to be shown', async () => {
    if (!isQuiet()) return false;
    await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
    return isQuiet();
  });
}

const desk = { viewport: { width: 1280, height: 800 } };
export const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };

/** Opens a page in a separate browser context, not signed in. */
export async function openPerson(device: BrowserContextOptions = desk): Promise<Page> {
  browser ??= await launchBrowser();
  const context = await browser.newContext({ ...device, reducedMotion: 'reduce' });
  context.setDefaultTimeout(300_000);
  const page = await context.newPage();
  page.on('console', (message) => {
    // What a page logged last may arrive after it was closed, in the next test.
    if (message.type() === 'error' && !page.isClosed())
      complaints.push(`${message.text()} at ${message.location().url}`);
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  const pending = new Set<Request>();
  unanswered.set(page, pending);
  // A stream of events never ends.
  page.on('request', (request) => request.resourceType() !== 'eventsource' && pending.add(request));
  for (const end of ['requestfinished', 'requestfailed'] as const)
    page.on(end as 'requestfinished', (request) => pending.delete(request));
  return page;
}

/** Opens a page with the session of a token, because signing in takes several page loads. */
async function openWithToken(url: string, token: string, device?: BrowserContextOptions): Promise<Page> {
  const page = await openPerson(device);
  await page.context().addCookies([{ name: sessionCookie, value: token, url }]);
  return page;
}

/** Opens a page as the owner of a world, signed in. */
export const openOwner = (
  { service, token }: Pick<World, 'service' | 'token'>,
  device?: BrowserContextOptions,
): Promise<Page> => openWithToken(service.url, token, device);

/** Opens a page as somebody else, signed in. */
export const openOther = async ({ service, github }: World, login: string): Promise<Page> =>
  openWithToken(service.url, await tokenBySignIn(service, github, login));

/**
 * Opens an address of the dashboard as its links do, without loading the program again, which takes most of the time of
 * a page. What was on the page is gone, because another page is shown in between; notices and cached data stay.
 */
export async function visit(page: Page, url: string): Promise<void> {
  if (new URL(page.url()).origin !== new URL(url).origin) {
    await page.goto(url);
    return;
  }
  const follow = (to: string) =>
    page.evaluate(`history.pushState(null, '', ${JSON.stringify(to)}); dispatchEvent(new PopStateEvent('popstate'))`);
  const between = page.getByRole('heading', { name: 'Page not found' });
  await follow('/no/such/page');
  await between.waitFor();
  await follow(url);
  if (!url.endsWith('/no/such/page')) await between.waitFor({ state: 'detached' });
}

/** Call it once in a test file: it closes the browser, calls `close`, and fails every test that leaves a complaint. */
export function watchBrowser(close: () => Promise<void> | undefined): void {
  afterAll(async () => {
    await browser?.close();
    browser = undefined;
    await close();
  });
  beforeEach(() => {
    complaints.length = 0;
  });
  afterEach(() => expect(complaints).toEqual([]));
}

interface Dashboard {
  world: World;
  /** A page of the owner, signed in. */
  page: Page;
  /** The address of the project's pages, which is also that of its part of the API. */
  base: string;
  /** Calls the API as the owner. */
  api<T>(method: string, path: string, body?: object): Promise<T>;
}

/** Call it once in a test file: opens a world without a sandbox, and a page of its owner. Without a browser it opens nothing. */
export async function openDashboard(): Promise<Dashboard> {
  if (chromiumPath === undefined) return {} as Dashboard;
  const world = await openWorld([], { settings: { SANDBOX: 'off' } });
  watchBrowser(() => world.close());
  return {
    world,
    page: await openOwner(world),
    base: `/projects/${world.project.id}`,
    api: (method, path, body) => world.service.api(world.token, method, path, body),
  };
}

/**
 * Returns the longest task of a page's main thread during `act`, in ms of processor time. Unlike elapsed time, it does
 * not depend on other load on the machine.
 */
export async function longestTask(act: () => Promise<void>): Promise<number> {
  if (!browser) throw new Error('no browser is open');
  await browser.startTracing(undefined, { categories: ['toplevel', '__metadata'] });
  await act();
  const { traceEvents } = JSON.parse(String(await browser.stopTracing())) as { traceEvents: TraceEvent[] };
  // The id of the main thread equals the id of its process.
  const pages = new Set(traceEvents.flatMap((e) => (e.args.name === 'CrRendererMain' ? e.pid : [])));
  const isTask = (e: TraceEvent) => e.name === 'ThreadControllerImpl::RunTask' && e.tid === e.pid && pages.has(e.pid);
  const tasks = traceEvents.filter(isTask);
  if (!tasks.some((e) => e.tdur)) throw new Error('the trace has no tasks with their time of the processor');
  return Math.max(...tasks.map((e) => (e.tdur ?? 0) / 1000));
}

/** An event of Chromium's trace. Durations are in µs; `tdur` is the processor time of the thread. */
interface TraceEvent {
  name: string;
  pid: number;
  tid: number;
  tdur?: number;
  args: { name?: string };
}
