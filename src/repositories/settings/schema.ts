// The keys of .deckhand.yml that describe the environment of a run.

import { braceExpand, Minimatch } from 'minimatch';
import { z } from 'zod';
import type { RunBudget } from '../../domain/budget.ts';
import { problemWithAllowed } from '../../domain/protected/protected-paths.ts';
import {
  type Approvers,
  approvers,
  branchPattern,
  egressPort,
  isLabel,
  isTakenVariable,
  type MergeMethod,
  mergeMethods,
  noProving,
  type PlanMode,
  type ProveSettings,
  type PushMode,
  planModes,
  pushModes,
  type ReviewMode,
  reviewModes,
  type SetupOfChange,
  secretName,
  setupsOfChange,
} from '../../domain/settings.ts';
import {
  branch,
  type CheckoutSettings,
  checkout,
  commits,
  type PullRequestSettings,
  pullRequest,
  signOff,
  type VerifiedMode,
  verified,
} from './custom-keys.ts';
import { kindOf, listed, notText, text } from './fields.ts';

/** The contents of .deckhand.yml. */
export interface RepositorySettings {
  /** The branch from which tasks start and into which they go; undefined for the default branch. */
  base?: string | undefined;
  /** The OCI image on whose root commands run; without it, the worker's own system. */
  image?: string | undefined;
  /** The environment secrets with the credentials for the image's registry. */
  imageAuth?: { username: string; password: string } | undefined;
  /**
   * Commands that prepare the environment before the agent starts. An empty list stands for the commands that are chosen from
   * the files of the repository.
   */
  setup: string[] | 'none';
  /** What network set-up of a change has. */
  setupOfChange: SetupOfChange;
  /** Labels that a worker must have to carry out runs of this repository. */
  runsOn: string[];
  /** Files whose content decides whether set-up runs again; undefined for the known lock and version files. */
  cache?: string[] | undefined;
  /** The hosts that set-up and the agent may reach. `defaults` stands for the usual hosts of set-up. */
  network: { setup: string[]; agent: string[] };
  /** Variables of all commands. */
  env: Record<string, string>;
  /** Names of the environment secrets that set-up gets as variables. */
  secrets: string[];
  /** Commands that run in the background beside the agent and the checks. */
  services: { run: string; port?: number | undefined }[];
  /** Commands that must pass before a change is proposed. */
  checks: string[];
  /** Patterns of test files; undefined for the usual names. */
  tests?: string[] | undefined;
  /** When agents propose a plan before they change anything. */
  plan: PlanMode;
  /** Whether a person approves a change before it is pushed. */
  push: PushMode;
  /** `others`: who started a task approves neither its plan nor its push, and does not merge it through the service. */
  approve: Approvers;
  /** How pull requests are merged, and whether a merge updates a branch that GitHub requires to be up to date. */
  merge: { method?: MergeMethod | undefined; update: boolean };
  /** Which pull requests of people and other bots are reviewed: those that somebody asks for, all, or none. */
  review: ReviewMode;
  /** `required` makes the pull request of a change that its tests do not prove a draft. */
  proof: 'optional' | 'required';
  /** Whose pull requests are proved besides those of tasks. */
  prove: ProveSettings;
  /** Paths that agents may not change: files, folders and globs. */
  protected: string[];
  /** Files and folders that are protected by default, but that agents may change in this repository. */
  allowed: string[];
  /** The name of the agent to use when a command names none. */
  agent?: string | undefined;
  budget: RunBudget;
  /** Which files a run gets. */
  checkout: CheckoutSettings;
  /** The pattern of the names of our branches. */
  branch: string;
  /** The form of titles and of the messages of commits. */
  commits: 'free' | 'conventional';
  /** Whether our commits are signed off. */
  signOff: boolean;
  /** `auto`: made through GitHub's API where it signs them, so that they are shown as Verified. `never`: pushed as they are. */
  verified: VerifiedMode;
  /** What our pull requests get once they are open. */
  pullRequest: PullRequestSettings;
}

/** A path relative to the root of the repository. Removes a leading `/` or `./` and a trailing `/`. */
const path = text(500).transform((given) => given.replace(/^\.?\//, '').replace(/\/$/, ''));

/**
 * Maximum number of `*` in one name, and of `**` in one pattern. The time to match grows exponentially with the number
 * of stars.
 */
const maxStars = 3;

/** Returns what is wrong with a pattern of protected paths, or undefined. A valid pattern matches any path quickly. */
export function problemWithPattern(pattern: string): string | undefined {
  if (pattern.startsWith('!')) return 'must not begin with "!": `protected` has no exceptions';
  if (/[@!+?*]\(/.test(pattern))
    return 'must be a name, a folder, or a glob of *, **, ?, [] and {}; not +(…) and the like';
  if (/\{[^{}]*\.\./.test(pattern)) return 'must not contain a range such as {1..9}; list the values: {1,2,3}';
  const names = pattern.split('/');
  if (names.some((name) => name === '' || name === '.' || name === '..'))
    return 'must name files or folders of the repository';
  const isQuick =
    pattern.split('**').length - 1 <= maxStars &&
    pattern.split('{').length - 1 <= 1 &&
    names.every((name) => name === '**' || name.split('*').length - 1 <= maxStars);
  return isQuick ? undefined : `must have at most ${maxStars} stars in a name, ${maxStars} ** and one {}`;
}

/** Returns the paths that match a pattern or lie below a folder that matches one. Ignores letter case. */
export function pathsMatching(patterns: string[], paths: string[]): string[] {
  const tests = patterns.map(compiled);
  return paths.filter((path) => {
    const lower = path.toLowerCase();
    return tests.some((test) => test(path, lower));
  });
}

/** Returns the paths that, if they were folders, could contain files that match a pattern. Ignores letter case. */
export function pathsAbove(patterns: string[], paths: string[]): string[] {
  const folders = new Set(patterns.flatMap((pattern) => braceExpand(pattern, globOptions)).flatMap(foldersIn));
  const globs = [...folders].filter((folder) => isGlob(folder)).map((folder) => new Minimatch(folder, globOptions));
  return paths.filter((path) => folders.has(path.toLowerCase()) || globs.some((glob) => glob.match(path)));
}

/**
 * Returns the folders that a pattern names, in lower case: `a` and `a/b` for `a/b/*.txt`. A leading `**` is left out, because it matches every
 * folder.
 */
function foldersIn(pattern: string): string[] {
  const names = pattern.toLowerCase().split('/').slice(0, -1);
  const first = names.findIndex((name) => name !== '**');
  return first < 0 ? [] : names.slice(first).map((_, i) => names.slice(0, first + i + 1).join('/'));
}

const isGlob = (pattern: string) => /[*?[{\\]/.test(pattern);

type Test = (path: string, lower: string) => boolean;

// Hidden files match too, because they need protection most. A leading # or ! has no special meaning; otherwise such
// a pattern would match nothing.
const globOptions = { dot: true, nocase: true, noext: true, nocomment: true, nonegate: true, braceExpandMax: 500 };

function compiled(pattern: string): Test {
  const name = pattern.toLowerCase();
  // A file name may contain brackets, so `app/[id]/page.tsx` also matches the file of exactly this name.
  const isNamed: Test = (_path, lower) => lower === name || lower.startsWith(`${name}/`);
  if (!isGlob(pattern)) return isNamed;
  const globs = [new Minimatch(pattern, globOptions), new Minimatch(`${pattern}/**`, globOptions)];
  return (path, lower) => isNamed(path, lower) || globs.some((glob) => glob.match(path));
}

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
const network = z
  .strictObject(
    { setup: hosts.default(['defaults']), agent: hosts.default([]) },
    { error: ({ input }) => `must contain hosts such as { setup: [defaults] }, not ${kindOf(input)}` },
  )
  .default({ setup: ['defaults'], agent: [] });

const image = text(300).refine((given) => /^[A-Za-z0-9][A-Za-z0-9._/:@+-]*$/.test(given), {
  error: 'must be the reference of an image such as registry.example.org/tools:1.2',
});

const secret = text(64).refine((given) => secretName.test(given), {
  error: 'must be the name of an environment secret: capital letters, digits or _, beginning with a letter',
});

const imageAuth = z.strictObject(
  { username: secret, password: secret },
  { error: ({ input }) => `must contain { username, password }, names of environment secrets, not ${kindOf(input)}` },
);

const secrets = listed(
  secret.refine((given) => !isTakenVariable(given), { error: 'must not be a variable that the sandbox sets' }),
  50,
).default([]);

const value = z
  .string({ error: ({ input }) => (input === null ? 'must be text; write "" for an empty value' : notText(input)) })
  .max(4000, 'must have at most 4000 characters')
  .refine((given) => !given.includes('\0'), { error: 'must not contain NUL' });

/** The most variables of `env`. */
const maxVariables = 100;

const env = z
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
const services = listed(
  z.preprocess((given) => (typeof given === 'string' ? { run: given } : given), service),
  10,
).default([]);

const glob = path.superRefine((given, context) => {
  const problem = problemWithPattern(given);
  if (problem !== undefined) context.addIssue(problem);
});

/** Undefined means every known lock file and version file. */
const cache = listed(glob, 100).optional();

/** Undefined means the usual names of test files. */
const tests = listed(glob, 100).optional();

const pattern = path.superRefine((given, context) => {
  const problem = problemWithPattern(given);
  if (problem !== undefined) context.addIssue(problem);
});

const allowed = path.superRefine((given, context) => {
  const problem = /[*?[\]{}]/.test(given)
    ? 'must be the exact path of a file or a folder, without *, ?, [] or {}'
    : (problemWithLocation(given) ?? problemWithAllowed(given));
  if (problem !== undefined) context.addIssue(problem);
});

function problemWithLocation(given: string): string | undefined {
  const isInside = given.split('/').every((name) => name !== '' && name !== '.' && name !== '..');
  return isInside ? undefined : 'must name a file or a folder of the repository';
}

const merge = z
  .strictObject(
    {
      method: z.enum(mergeMethods, 'must be merge, squash or rebase').optional(),
      update: z.boolean({ error: ({ input }) => `must be true or false, not ${kindOf(input)}` }).default(true),
    },
    { error: ({ input }) => `must contain { method, update }, not ${kindOf(input)}` },
  )
  .default({ update: true });

const prove = z
  .preprocess(
    (given) => (given === 'ours' || given === 'everyone' ? { everyone: given === 'everyone' } : given),
    z.strictObject(
      {
        everyone: z
          .literal([true, false, 'required'], { error: 'must be true, false or required' })
          .default(noProving.everyone),
        minutesPerDay: z
          .number({ error: ({ input }) => `must be a number, not ${kindOf(input)}` })
          .min(1, 'must be from 1 to 1440')
          .max(1440, 'must be from 1 to 1440')
          .default(noProving.minutesPerDay),
      },
      {
        error: ({ input }) =>
          `must be ours, everyone, or keys such as { everyone: true, minutesPerDay: 60 }, not ${typeof input === 'string' ? `"${input.slice(0, 30)}"` : kindOf(input)}`,
      },
    ),
  )
  .default(noProving);

const positive = z
  .number({ error: ({ input }) => `must be a number, not ${kindOf(input)}` })
  .positive('must be more than 0');

const workerLabel = text(50)
  .toLowerCase()
  .refine(isLabel, 'must be a label of letters, digits, ., _ or -, such as gpu');

const runsOn = listed(workerLabel, 10)
  .transform((given) => [...new Set(given)].sort())
  .default([]);

const base = text(255).regex(branchPattern, 'must be the name of a branch');

export const Settings = z
  .strictObject({
    image: image.optional(),
    imageAuth: imageAuth.optional(),
    // Runs store the settings, and for earlier versions an empty list in the file meant the same as none.
    setup: listed(text(2000), 20)
      .transform((list) => (list.length === 0 ? ('none' as const) : list))
      .default([]),
    runsOn,
    cache,
    network,
    env,
    secrets,
    services,
    checks: listed(text(2000), 20).default([]),
    tests,
    plan: z.enum(planModes, 'must be never, always or large').default('never'),
    push: z.enum(pushModes, 'must be free or approved').default('free'),
    approve: z.enum(approvers, 'must be anyone or others').default('anyone'),
    merge,
    setupOfChange: z.enum(setupsOfChange, 'must be packages, approved or closed').default('packages'),
    proof: z.enum(['optional', 'required'], 'must be optional or required').default('optional'),
    prove,
    review: z.enum(reviewModes, 'must be asked, everyone or off').default('asked'),
    protected: listed(pattern, 200).default([]),
    allowed: listed(allowed, 200).default([]),
    base: base.optional(),
    agent: text(200).optional(),
    budget: z
      .strictObject(
        { minutes: positive, steps: positive, tokens: positive, costUsd: positive },
        { error: ({ input }) => `must contain limits such as { minutes: 20 }, not ${kindOf(input)}` },
      )
      .partial()
      .default({}),
    checkout,
    branch,
    commits,
    signOff,
    verified,
    pullRequest,
  })
  .superRefine((given, context) => {
    for (const name of given.secrets)
      if (Object.hasOwn(given.env, name))
        context.addIssue({ code: 'custom', path: ['env', name], message: 'must not have the name of a secret' });
    if (given.imageAuth !== undefined && given.image === undefined)
      context.addIssue({ code: 'custom', path: ['imageAuth'], message: 'can be given only together with image' });
  });

/** The keys inside the values of some keys, for messages about unknown ones. */
export const innerKeys: Record<string, string[]> = {
  budget: ['minutes', 'steps', 'tokens', 'costUsd'],
  checkout: ['submodules', 'lfs', 'paths'],
  imageAuth: ['username', 'password'],
  merge: ['method', 'update'],
  network: ['setup', 'agent'],
  prove: ['everyone', 'minutesPerDay'],
  pullRequest: ['labels', 'reviewers', 'assignees', 'draft'],
  services: ['run', 'port'],
};
