import type { App } from '../../app.ts';
import { GitFailed } from '../../git/engine.ts';
import { hostProblem, openAddress } from '../../git/remote-url.ts';
import { hostRules } from '../../repositories/credentials.ts';

/**
 * Returns a function that finds the address to connect to for the URL of an MCP server or an attachment, by the rules
 * for repository URLs. It throws for URLs and addresses that these rules refuse. Call it before every request, because
 * settings and names change.
 */
export function checkedAddress(app: App) {
  const rules = hostRules(app);
  return async (url: URL) => {
    const problem = hostProblem(url, rules);
    if (problem !== undefined) throw new Error(`the address ${problem}`);
    return openAddress(url, rules).catch((error) => {
      throw error instanceof GitFailed ? new Error(error.message.replace(/^git: /, '')) : error;
    });
  };
}
