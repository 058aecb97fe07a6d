import type { BrowserContext, CDPSession, Page } from 'playwright-core';

/** What it cost to open a page for the first time. */
export interface Load {
  /** Until the first paint of anything, such as the outline of the page, in ms since the navigation began. */
  firstMs: number;
  /** Until the content was in the document, in ms since the navigation began. */
  contentMs: number;
  /** Bytes on the wire, compressed and with headers. */
  scriptBytes: number;
  allBytes: number;
  /** Requests to the REST API, without event streams. */
  requests: number;
  streams: number;
}

/** Counts what a page receives. Only the network domain of the DevTools protocol tells compressed sizes. */
interface Traffic {
  scriptBytes: number;
  allBytes: number;
  /** Addresses of requests to the REST API. */
  requests: string[];
  streams: string[];
}

/** Counts the traffic of a page from now on. */
export async function watchTraffic(page: Page): Promise<{ traffic: Traffic; session: CDPSession }> {
  const session = await page.context().newCDPSession(page);
  const traffic: Traffic = { scriptBytes: 0, allBytes: 0, requests: [], streams: [] };
  const types = new Map<string, string>();
  await session.send('Network.enable');
  session.on('Network.requestWillBeSent', ({ requestId, type, request }) => {
    types.set(requestId, type ?? 'Other');
    const { pathname, search } = new URL(request.url);
    if (!pathname.startsWith('/api/v1/')) return;
    (type === 'EventSource' ? traffic.streams : traffic.requests).push(pathname.slice('/api/v1'.length) + search);
  });
  session.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    traffic.allBytes += encodedDataLength;
    if (types.get(requestId) === 'Script') traffic.scriptBytes += encodedDataLength;
  });
  return { traffic, session };
}

/** Notes when the content of a page first appears, seen from within the page. */
const noteContent = (selector: string) => `
  new MutationObserver((_changes, observer) => {
    if (document.querySelector(${JSON.stringify(selector)}) === null) return;
    observer.disconnect();
    window.contentAt = performance.now();
  }).observe(document, { childList: true, subtree: true });`;

/** A slow mobile connection. */
const slowNetwork = { offline: false, latency: 400, downloadThroughput: 50_000, uploadThroughput: 50_000 };

/**
 * Opens a page of a signed-in person with an empty cache, and waits until it shows `selector` and the network is quiet. `slow`
 * stands for a latency of 400 ms and 50 kB/s.
 */
export async function loadCold(context: BrowserContext, url: string, selector: string, slow = false): Promise<Load> {
  const page = await context.newPage();
  try {
    const { traffic, session } = await watchTraffic(page);
    await session.send('Network.clearBrowserCache');
    if (slow) await session.send('Network.emulateNetworkConditions', slowNetwork);
    await page.addInitScript(noteContent(selector));
    await page.goto(url);
    await page.locator(selector).first().waitFor();
    await quiet(traffic);
    const { scriptBytes, allBytes, requests, streams } = traffic;
    const contentMs = Number(await page.evaluate('window.contentAt'));
    const firstMs = Number(await page.evaluate(`performance.getEntriesByName('first-contentful-paint')[0].startTime`));
    return { firstMs, contentMs, scriptBytes, allBytes, requests: requests.length, streams: streams.length };
  } finally {
    await page.close();
  }
}

const quietMs = 700;

/** Waits until nothing has been received for a while. Streams never become idle, so they do not count. */
export async function quiet(traffic: Traffic): Promise<void> {
  let before = '';
  for (;;) {
    const now = `${traffic.allBytes} ${traffic.requests.length}`;
    if (now === before) return;
    before = now;
    await new Promise((resolve) => setTimeout(resolve, quietMs));
  }
}
