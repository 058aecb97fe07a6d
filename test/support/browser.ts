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
