import { resolve } from 'node:path';
import type { Command } from 'commander';
import { getMe } from '../../api.ts';
import { service } from '../../connection.ts';
import { DeckhandError } from '../../errors.ts';
import { askToken } from '../ask-token.ts';
import { type Context, optionsOf, withExamples } from '../context.ts';
import { CommandFailed, UsageError } from '../failures.ts';
import { loginPath, readLogin, removeLogin, writeLogin } from '../login-file.ts';
import { findProject } from '../session.ts';

export function accountCommands(program: Command, context: Context): void {
  const login = program
    .command('login')
    .description('Keep the address of a service and your token')
    .argument('[address]', 'such as https://deckhand.example.com; DECKHAND_URL by default')
    .addHelpText(
      'after',
      `
The token comes from DECKHAND_TOKEN, from standard input, or is typed and not shown. Create one in the dashboard, under
"API tokens". It is checked, and kept in a file that only you may read.`,
    )
    .action((address: string | undefined, _options, command: Command) => logIn(context, address, command));
  withExamples(
    login,
    'deckhand login https://deckhand.example.com',
    'deckhand login https://deckhand.example.com --project shop < token.txt',
    'deckhand login https://deckhand.corp.example --ca /etc/ssl/corp-ca.pem',
  );
  const logout = program
    .command('logout')
    .description('Forget the token that "deckhand login" keeps')
    .action(async () => {
      const existed = await removeLogin(context.env);
      const text = existed
        ? 'Logged out. The token stays valid until it expires or you revoke it in the dashboard, under "API tokens".'
        : 'You were not logged in.';
      context.terminal.print({ loggedOut: existed }, () => text);
    });
  withExamples(logout, 'deckhand logout');
}

async function logIn({ terminal, env }: Context, address: string | undefined, command: Command): Promise<void> {
  const { url: option, project: wanted, ca } = optionsOf(command);
  if (address !== undefined && option !== undefined && address !== option)
    throw new UsageError(`Two addresses were given: ${address} and ${option}. Give one.`);
  const given = address ?? option ?? (env.DECKHAND_URL || (await readLogin(env).catch(() => undefined))?.url);
  if (given === undefined)
    throw new UsageError('Give the address of the service: deckhand login https://deckhand.example.com');
  const url = given.replace(/(?:\/api\/v1)?\/*$/, '');
  if (!/^https?:\/\//.test(url) || !URL.canParse(url))
    throw new UsageError(`The address must look like https://deckhand.example.com; ${given} was given.`);
  if (isOpen(new URL(url)))
    terminal.advise('Warning: the address begins with http://, so others on the network can read your token.');
  const token = await askToken(env, url);
  terminal.hide(token);
  const at = service({ url, token });
  const { login, scopes } = await whoAmI(url, token);
  const project = wanted === undefined ? undefined : await findProject(at, wanted);
  const path = await writeLogin(env, {
    url,
    token,
    ...(project === undefined ? {} : { project: project.id }),
    ...(ca === undefined ? {} : { ca: resolve(ca) }),
  });
  const value = { url, login, scopes, project: project?.id ?? null, file: path };
  const allows = tokenAllows[scopes] ?? '';
  terminal.print(value, () => `Logged in to ${url} as ${login}. ${allows}The token is kept in ${loginPath(env)}.`);
}

/** Replies that Deckhand does not give to this request, with any token. */
const foreign = [404, 405, 406, 410, 415, 501];

/** Finds whose token it is. @throws CommandFailed for an address that is not that of Deckhand, saying what is there */
async function whoAmI(url: string, token: string): Promise<{ login: string; scopes: string }> {
  let found = 'nothing';
  const send: typeof fetch = async (...request) => {
    const response = await fetch(...request);
    const [type = ''] = (response.headers.get('content-type') ?? '').split(';');
    found = `HTTP ${response.status}${type === '' ? '' : ` and ${type}`}`;
    return response;
  };
  const me: { login?: unknown; scopes?: unknown } | undefined = await getMe(service({ url, token, fetch: send })).catch(
    (error) => {
      if (!(error instanceof DeckhandError)) return undefined;
      // A web page instead of an API has no status of its own.
      if (foreign.includes(error.status) || (error.status === 0 && found.endsWith('text/html'))) return undefined;
      throw error;
    },
  );
  if (typeof me?.login === 'string') return { login: me.login, scopes: String(me.scopes) };
  throw new CommandFailed(
    `${url} does not answer as Deckhand does: GET ${url}/api/v1/me got ${found}. Open the address in a browser, where it should show Deckhand; if it does, the proxy in front of it has to pass on /api, too.`,
  );
}

/** What to say about a token that does not allow everything. */
const tokenAllows: Partial<Record<string, string>> = {
  read: 'The token has the read scope: it changes nothing. ',
  write: 'The token has the write scope: it changes no settings. ',
};

/** Returns whether a token to this address crosses a network without encryption. */
const isOpen = ({ protocol, hostname }: URL) =>
  protocol === 'http:' && !/^(?:localhost|127\.[\d.]+|\[::1\])$/.test(hostname);
