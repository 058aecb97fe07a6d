import type { Browser, Page } from 'playwright-core';
import { chromiumPath, launchBrowser } from '../../src/demo/browser.ts';

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

export async function closeBrowser(): Promise<void> {
  await browser?.close();
  browser = undefined;
}
