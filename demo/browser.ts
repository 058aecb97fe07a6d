import { existsSync } from 'node:fs';
import { type Browser, chromium, type Page } from 'playwright-core';
import { until } from './real-service.ts';

const paths = [
  // Chromium without windows, as Debian packages it: the same pages for about a sixth less processor time.
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
];

/** The path of Chromium as installed by Debian, Ubuntu or Google. */
export const chromiumPath = paths.find((path) => existsSync(path));

export function launchBrowser(): Promise<Browser> {
  if (chromiumPath === undefined)
    throw new Error('Chromium is not installed. On Debian: apt-get install chromium-headless-shell');
  return chromium.launch({
    executablePath: chromiumPath,
    args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--disable-background-networking', '--no-first-run'],
  });
}

/** Signs in through the emulator's pages, as a person would. */
export async function signIn(page: Page, url: string, login: string, returnTo = '/'): Promise<void> {
  await page.goto(`${url}/login?return_to=${encodeURIComponent(returnTo)}`);
  await page.getByRole('link', { name: 'Sign in with GitHub' }).click();
  await page.getByRole('button', { name: new RegExp(login) }).click();
  await page.waitForURL(`${url}${returnTo}`);
}

/** Waits until a page has loaded its data and no animation is running. */
export async function settled(page: Page): Promise<void> {
  await page.getByRole('heading').first().waitFor();
  await page.getByRole('status', { name: 'Loading' }).first().waitFor({ state: 'detached' });
  // A dialog has different colours while it fades in. An animation that follows the position of a scroll bar, as Primer's
  // navigation has, never ends. The promise of an animation that is replaced may stay open, so its state is looked at.
  const isAtRest =
    "document.getAnimations().every((a) => a.playState !== 'running' || a.timeline !== document.timeline || !(a.effect.getComputedTiming().endTime < 1e4))";
  await until('the animations to end', () => page.evaluate(isAtRest));
}
