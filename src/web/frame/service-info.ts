/** What the service tells anybody with its pages; see src/http/dashboard.ts. */
export interface About {
  signIn: boolean;
  installUrl: string | null;
}

const content = document.querySelector<HTMLMetaElement>('meta[name="deckhand"]')?.content ?? '';

export const about: About = content === '' ? { signIn: false, installUrl: null } : JSON.parse(content);
