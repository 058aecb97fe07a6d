/** What the service embeds in each page for everybody, whether signed in or not; see src/http/pages/dashboard.ts. */
interface ServiceInfo {
  signIn: boolean;
  installUrl: string | null;
}

const content = document.querySelector<HTMLMetaElement>('meta[name="deckhand"]')?.content ?? '';

export const serviceInfo: ServiceInfo = content === '' ? { signIn: false, installUrl: null } : JSON.parse(content);
