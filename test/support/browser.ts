import { existsSync } from 'node:fs';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';

export const chromiumPath = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((path) =>
  existsSync(path),
);

/** Runs where there is a browser; elsewhere it says what is missing. In CI there has to be one. */
export const inBrowser = chromiumPath === undefined && !process.env.CI ? test.skip : test;
if (chromiumPath === undefined) console.warn('not tried: the dashboard in a browser (apt-get install chromium)');

let browser: Browser | undefined;

/** What a page complained of: errors of its console and breaches of its policy. */
export const complaints: string[] = [];

/** A person before a browser of their own, not signed in. */
export async function openPerson(options: { width?: number; height?: number; dark?: boolean } = {}): Promise<Page> {
  browser ??= await chromium.launch({
    ...(chromiumPath === undefined ? {} : { executablePath: chromiumPath }),
    args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--disable-background-networking', '--no-first-run'],
  });
  const context: BrowserContext = await browser.newContext({
    viewport: { width: options.width ?? 1280, height: options.height ?? 800 },
    colorScheme: options.dark ? 'dark' : 'light',
  });
  context.setDefaultTimeout(10_000);
  const page = await context.newPage();
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(`${message.text()} at ${message.location().url}`);
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  return page;
}

/** Signs in through the emulator, as a person does. */
export async function signIn(page: Page, url: string, login: string, returnTo = '/'): Promise<void> {
  await page.goto(`${url}/login?return_to=${encodeURIComponent(returnTo)}`);
  await page.getByRole('link', { name: 'Sign in with GitHub' }).click();
  await page.getByRole('button', { name: new RegExp(login) }).click();
  await page.waitForURL(`${url}${returnTo}`);
}

export async function closeBrowser(): Promise<void> {
  await browser?.close();
  browser = undefined;
}
