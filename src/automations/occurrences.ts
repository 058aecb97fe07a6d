import { z } from 'zod';
import type { AutomationEvent, Fields, Trigger } from '../domain/automations/automation.ts';

/** An account, as events name it. */
export interface Account {
  id: number;
  login: string;
  type?: string | undefined;
  avatar_url?: string | undefined;
}

/** Something that happened on GitHub, as far as automations need it. */
export interface Occurrence {
  event: AutomationEvent;
  /** The same for all deliveries about the same thing, such as the failed checks of one commit. */
  key: string;
  /** Who did it. */
  sender: Account;
  /** Who wrote what it is about; null for nobody, or a deleted account. */
  author: Account | null;
  /** The label that was added, or those with which it was opened. */
  labels: string[];
  branches: string[];
  fields: Fields;
  /** What may be the work of an automation's task. */
  issue: number | null;
  pulls: number[];
  headBranch: string | null;
  sha: string | null;
}

const User = z.object({
  id: z.number(),
  login: z.string().max(100),
  type: z.string().optional(),
  avatar_url: z.string().optional(),
});
const text = z.string().nullish();
const Labels = z.array(z.object({ name: z.string() })).optional();
const Subject = {
  number: z.number().int().positive().max(2_147_483_647),
  title: z.string(),
  body: text,
  html_url: z.string(),
  user: User.nullish(),
  labels: Labels,
};
const Label = z.object({ name: z.string() }).optional();

const Issues = z.object({
  action: z.enum(['opened', 'labeled']),
  issue: z.object(Subject),
  label: Label,
  sender: User,
  // Only of an issue that was transferred: the person who moved it did not write it.
  changes: z.undefined().optional(),
});
const Pulls = z.object({
  action: z.enum(['opened', 'labeled']),
  pull_request: z.object({ ...Subject, head: z.object({ ref: z.string() }), base: z.object({ ref: z.string() }) }),
  label: Label,
  sender: User,
});
const Failed = z.enum(['failure', 'timed_out']);
const Suite = z.object({ head_sha: z.string(), head_branch: text });
const CheckSuite = z.object({
  action: z.literal('completed'),
  check_suite: Suite.extend({ conclusion: Failed, app: z.object({ name: z.string() }).nullish() }),
  sender: User,
});
const CheckRun = z.object({
  action: z.literal('completed'),
  check_run: z.object({
    name: z.string(),
    conclusion: Failed,
    html_url: text,
    head_sha: z.string(),
    check_suite: z.object({ head_branch: text }).nullish(),
  }),
  sender: User,
});
const Status = z.object({
  state: z.enum(['failure', 'error']),
  sha: z.string(),
  context: z.string(),
  target_url: text,
  branches: z.array(z.object({ name: z.string() })).default([]),
  sender: User,
});
const Release = z.object({
  action: z.literal('published'),
  release: z.object({
    id: z.number(),
    tag_name: z.string(),
    target_commitish: z.string().optional(),
    name: text,
    body: text,
    html_url: z.string(),
    author: User.nullish(),
  }),
  sender: User,
});
const Commit = z.object({ message: z.string() });
const Push = z.object({
  ref: z.string().startsWith('refs/heads/'),
  before: z.string(),
  after: z.string(),
  deleted: z.literal(false).optional(),
  compare: text,
  head_commit: Commit.nullish(),
  commits: z.array(Commit).optional(),
  sender: User,
});

/** A payload of GitHub, with the id of its delivery. */
interface Delivery {
  guid: string;
  event: string;
  payload: unknown;
}

/** Reads what happened from a delivery; undefined for what no automation waits for. */
export function readOccurrence({ guid, event, payload }: Delivery): Occurrence | undefined {
  const read = readers[event];
  return read?.(payload, guid);
}

/** How many days the rehearsal of an automation looks back. Deliveries that could have caused one keep their payload for so long. */
export const rehearsalDays = 7;

/** The names that GitHub has for the events of automations. */
export const heardAs: Record<AutomationEvent, string[]> = {
  'issue.opened': ['issues'],
  'issue.labeled': ['issues'],
  'pull_request.opened': ['pull_request'],
  'pull_request.labeled': ['pull_request'],
  'checks.failed': ['check_suite', 'check_run', 'status'],
  'release.published': ['release'],
  push: ['push'],
};

const nothing = { author: null, labels: [], branches: [], issue: null, pulls: [], headBranch: null, sha: null };

const readers: Record<string, (payload: unknown, guid: string) => Occurrence | undefined> = {
  issues: (payload, guid) => {
    const read = Issues.safeParse(payload).data;
    if (read === undefined) return undefined;
    const { action, issue, label, sender } = read;
    const number = issue.number;
    const about = { ...nothing, sender, author: issue.user ?? null, issue: number };
    return { ...about, ...openedOrLabeled('issue', action, issue, label?.name, guid) };
  },
  pull_request: (payload, guid) => {
    const read = Pulls.safeParse(payload).data;
    if (read === undefined) return undefined;
    const { action, pull_request: pull, label, sender } = read;
    const [branch, base] = [pull.head.ref, pull.base.ref];
    const told = openedOrLabeled('pull_request', action, pull, label?.name, guid);
    return {
      ...{ ...nothing, sender, author: pull.user ?? null, pulls: [pull.number], branches: [base], headBranch: branch },
      ...told,
      fields: { ...told.fields, 'pull_request.branch': branch, 'pull_request.base': base },
    };
  },
  check_suite: (payload) => {
    const read = CheckSuite.safeParse(payload).data;
    if (read === undefined) return undefined;
    const { head_sha: sha, head_branch: branch, app } = read.check_suite;
    return failedChecks({
      sha,
      branches: branch ? [branch] : [],
      name: app?.name,
      url: undefined,
      sender: read.sender,
    });
  },
  check_run: (payload) => {
    const read = CheckRun.safeParse(payload).data;
    if (read === undefined) return undefined;
    const { head_sha: sha, check_suite: suite, name, html_url: url } = read.check_run;
    const branch = suite?.head_branch;
    return failedChecks({ sha, branches: branch ? [branch] : [], name, url, sender: read.sender });
  },
  status: (payload) => {
    const read = Status.safeParse(payload).data;
    if (read === undefined) return undefined;
    const { sha, context: name, target_url: url, branches, sender } = read;
    return failedChecks({ sha, branches: branches.map((branch) => branch.name), name, url, sender });
  },
  release: (payload) => {
    const read = Release.safeParse(payload).data;
    if (read === undefined) return undefined;
    const { id, tag_name: tag, name, body, html_url: url, author, target_commitish } = read.release;
    return {
      ...{ ...nothing, event: 'release.published', key: `release ${id}`, sender: read.sender, author: author ?? null },
      branches: target_commitish === undefined ? [] : [target_commitish],
      fields: prefixed('release', { tag, name: name ?? tag, body: body ?? '', url, author: author?.login }),
    };
  },
  push: (payload, guid) => {
    const read = Push.safeParse(payload).data;
    if (read === undefined) return undefined;
    const { ref, before, after, compare, head_commit, commits = [], sender } = read;
    const branch = ref.slice('refs/heads/'.length);
    const messages = [head_commit, ...commits].flatMap((commit) => commit?.message ?? []);
    const told = { branch, before, after, url: compare ?? undefined, author: sender.login };
    return {
      ...{ ...nothing, event: 'push', key: `delivery ${guid}`, sender, author: sender, sha: after },
      ...{ branches: [branch], headBranch: branch, pulls: messages.flatMap(pullsIn) },
      fields: prefixed('push', { ...told, message: head_commit?.message ?? '' }),
    };
  },
};

interface ReadSubject {
  number: number;
  title: string;
  body?: string | null | undefined;
  html_url: string;
  user?: Account | null | undefined;
  labels?: { name: string }[] | undefined;
}

/** Returns what is the same for issues and pull requests. */
function openedOrLabeled(
  kind: 'issue' | 'pull_request',
  action: 'opened' | 'labeled',
  { number, title, body, html_url: url, user, labels = [] }: ReadSubject,
  label: string | undefined,
  guid: string,
): Pick<Occurrence, 'event' | 'key' | 'labels' | 'fields'> {
  const names = labels.map(({ name }) => name);
  const told = { number: String(number), title, body: body ?? '', url, author: user?.login, labels: names.join(', ') };
  return {
    event: `${kind}.${action}`,
    // It is opened once. A label can be added again.
    key: action === 'opened' ? `${kind} ${number} opened` : `delivery ${guid}`,
    labels: action === 'opened' ? names : label === undefined ? [] : [label],
    fields: { ...prefixed(kind, told), ...(label === undefined ? {} : { label }) },
  };
}

interface FailedChecks {
  sha: string;
  branches: string[];
  name: string | undefined;
  url: string | null | undefined;
  sender: Account;
}

/** Several checks of a commit may fail. They are one occurrence. */
function failedChecks({ sha, branches, name, url, sender }: FailedChecks): Occurrence {
  const told = { commit: sha, branch: branches.join(', '), name, url: url ?? undefined };
  return {
    ...{ ...nothing, event: 'checks.failed', key: `checks ${sha}`, sender, branches, sha },
    headBranch: branches[0] ?? null,
    fields: prefixed('checks', told),
  };
}

function prefixed(kind: string, fields: Record<string, string | undefined>): Fields {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [`${kind}.${name}`, value]));
}

/** Returns the pull requests that the first line of a commit message names, as GitHub writes it when it merges. */
function pullsIn(message: string): number[] {
  const [line = ''] = message.slice(0, 300).split('\n');
  return [...line.matchAll(/\(#(\d{1,9})\)|pull request #(\d{1,9})/g)].map(([, squashed, merged]) =>
    Number(squashed ?? merged),
  );
}

/** Returns whether an automation waits for what happened. */
export function isFor(on: Trigger, occurrence: Occurrence): boolean {
  if (!('event' in on) || on.event !== occurrence.event) return false;
  const { label, author, branch } = on;
  const isSame = (a: string, b: string) => a.toLowerCase() === b.toLowerCase();
  return (
    (label === undefined || occurrence.labels.some((name) => isSame(name, label))) &&
    (author === undefined || (occurrence.author !== null && isSame(occurrence.author.login, author))) &&
    (branch === undefined || occurrence.branches.includes(branch))
  );
}
