import type { App } from '../../app.ts';

const everyMs = 60_000;
const maxRemembered = 10_000;

/**
 * Returns a function that records when a token was last used, at most once a minute per token, without delaying the
 * request.
 */
export function tokenUse(app: App, clock = Date.now): (tokenId: string) => void {
  const noted = new Map<string, number>();
  return (tokenId) => {
    const now = clock();
    if (now - (noted.get(tokenId) ?? 0) < everyMs) return;
    if (noted.size >= maxRemembered) noted.clear();
    noted.set(tokenId, now);
    app.db
      .prepared('token use', 'update api_tokens set last_used_at = now() where id = $1', [tokenId])
      .catch((error) => app.log.warn({ err: error }, 'the last use of a token was not recorded'));
  };
}
