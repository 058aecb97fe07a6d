import type { Browser, Page } from 'playwright-core';
import { chromiumPath, launchBrowser, signIn } from '../../src/demo/browser.ts';
import type { World } from './world.ts';

/** Runs where there is a browser; elsewhere it says what is missing. In CI there has to be one. */
export const inBrowser = chromiumPath === undefined && !process.env.CI ? test.skip : test;
if (chromiumPath === undefined) console.warn('not tried: the dashboard in a browser (apt-get install chromium)');

let browser: Browser | undefined;

/** What a page complained of: errors of its console and breaches of its policy. */
export const complaints: string[] = [];

/** A person before a browser of their own, not signed in. */
export async function openPerson(): Promise<Page> {
  browser ??= await launchBrowser();
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  context.setDefaultTimeout(10_000);
  const page = await context.newPage();
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(`${message.text()} at ${message.location().url}`);
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  return page;
}

/** The owner of a world before a browser, signed in. */
export async function openOwner({ service }: Pick<World, 'service'>): Promise<Page> {
  const page = await openPerson();
  await signIn(page, service.url, 'mona');
  return page;
}

/** To be called once in a test file: ends the browser and what `close` ends, and no test may leave a complaint. */
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

/**
 * The longest that one task kept a page from answering while `act` went on, in ms of the processor: what else the machine
 * does meanwhile makes a page late too, but that is not the page's doing.
 */
export async function longestTask(act: () => Promise<void>): Promise<number> {
  if (!browser) throw new Error('no browser is open');
  await browser.startTracing(undefined, { categories: ['toplevel', '__metadata'] });
  await act();
  const { traceEvents } = JSON.parse(String(await browser.stopTracing())) as { traceEvents: TraceEvent[] };
  // The main thread of a process has the number of the process.
  const pages = new Set(traceEvents.flatMap((e) => (e.args.name === 'CrRendererMain' ? e.pid : [])));
  const isTask = (e: TraceEvent) => e.name === 'ThreadControllerImpl::RunTask' && e.tid === e.pid && pages.has(e.pid);
  const tasks = traceEvents.filter(isTask);
  if (!tasks.some((e) => e.tdur)) throw new Error('the trace has no tasks with their time of the processor');
  return Math.max(...tasks.map((e) => (e.tdur ?? 0) / 1000));
}

/** As Chromium's trace has it, durations in µs; `tdur` is that of the thread. */
interface TraceEvent {
  name: string;
  pid: number;
  tid: number;
  tdur?: number;
  args: { name?: string };
}
