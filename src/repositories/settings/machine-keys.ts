// The keys of .deckhand.yml that describe the environment of a run.
import { z } from 'zod';
import { egressPort } from '../../domain/settings/egress-port.ts';
import { isTakenVariable, secretName } from '../../domain/settings/environment-secret.ts';
import { problemWithPattern } from './patterns.ts';
import { kindOf, listed, notText, path, text } from './values.ts';

const label = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?';
/** Names only. The last label begins with a letter, which no form of an IPv4 address does. */
const hostPattern = new RegExp(`^(?:\\*\\.${label}\\.)?(?:${label}\\.)*[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$`);

/** These could be names of hosts, but in `.deckhand.yml` they are meant as an empty list. */
const noHosts = new Set(['none', 'no', 'off', 'false']);

const host = text(253)
  .transform((given) => given.toLowerCase())
  .refine((given) => !noHosts.has(given), { error: 'must be the name of a host; write [] for no hosts', abort: true })
  .refine((given) => hostPattern.test(given), {
    error:
      'must be the name of a host such as registry.example.org, *.example.org for its subdomains, or defaults; no address, port or path',
  });

const hosts = listed(host, 100);

/** `defaults` stands for the hosts that set-up may reach when nothing else is given. */
export const network = z
  .strictObject(
    { setup: hosts.default(['defaults']), agent: hosts.default([]) },
    { error: ({ input }) => `must contain hosts such as { setup: [defaults] }, not ${kindOf(input)}` },
  )
  .default({ setup: ['defaults'], agent: [] });

export const image = text(300).refine((given) => /^[A-Za-z0-9][A-Za-z0-9._/:@+-]*$/.test(given), {
  error: 'must be the reference of an image such as registry.example.org/tools:1.2',
});

const secret = text(64).refine((given) => secretName.test(given), {
  error: 'must be the name of an environment secret: capital letters, digits or _, beginning with a letter',
});

export const imageAuth = z.strictObject(
  { username: secret, password: secret },
  { error: ({ input }) => `must contain { username, password }, names of environment secrets, not ${kindOf(input)}` },
);

export const secrets = listed(
  secret.refine((given) => !isTakenVariable(given), { error: 'must not be a variable that the sandbox sets' }),
  50,
).default([]);

const value = z
  .string({ error: ({ input }) => (input === null ? 'must be text; write "" for an empty value' : notText(input)) })
  .max(4000, 'must have at most 4000 characters')
  .refine((given) => !given.includes('\0'), { error: 'must not contain NUL' });

/** The most variables of `env`. */
const maxVariables = 100;

export const env = z
  .record(z.string(), value, {
    error: ({ input }) => `must contain variables such as { MODE: test }, not ${kindOf(input)}`,
  })
  .superRefine((given, context) => {
    const names = Object.keys(given);
    if (names.length > maxVariables) context.addIssue(`must have at most ${maxVariables} variables`);
    for (const name of names) {
      const problem = problemWithVariable(name);
      if (problem !== undefined) context.addIssue({ code: 'custom', path: [name], message: problem });
    }
  })
  .default({});

function problemWithVariable(name: string): string | undefined {
  if (!/^[A-Za-z_][A-Za-z0-9_]{0,99}$/.test(name))
    return 'must be the name of a variable: letters, digits or _, not beginning with a digit';
  return isTakenVariable(name) ? 'must not be a variable that the sandbox sets' : undefined;
}

const service = z.strictObject(
  {
    run: text(2000),
    port: z
      .int({ error: ({ input }) => `must be a port from 1 to 65535, not ${kindOf(input)}` })
      .min(1, 'must be a port from 1 to 65535')
      .max(65_535, 'must be a port from 1 to 65535')
      .refine((given) => given !== egressPort, { error: `must not be ${egressPort}, the port of Deckhand's proxy` })
      .optional(),
  },
  { error: ({ input }) => `must be a command or { run, port }, not ${kindOf(input)}` },
);

/** A command alone is a service without a port to wait for. */
export const services = listed(
  z.preprocess((given) => (typeof given === 'string' ? { run: given } : given), service),
  10,
).default([]);

const glob = path.superRefine((given, context) => {
  const problem = problemWithPattern(given);
  if (problem !== undefined) context.addIssue(problem);
});

/** Undefined means every known lock file and version file. */
export const cache = listed(glob, 100).optional();

/** Undefined means the usual names of test files. */
export const tests = listed(glob, 100).optional();
