/** What the service embeds in each page, whether the person is signed in or not; see src/http/pages.ts. */
interface ServiceInfo {
  signIn: boolean;
  installUrl: string | null;
  /** Whether the browser sent a session, which may have ended since. */
  hasSession: boolean;
}

const content = document.querySelector<HTMLMetaElement>('meta[name="deckhand"]')?.content ?? '';

const unknown: ServiceInfo = { signIn: false, installUrl: null, hasSession: true };

export const serviceInfo: ServiceInfo = content === '' ? unknown : JSON.parse(content);
