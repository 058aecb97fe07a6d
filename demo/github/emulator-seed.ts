import type { SampleParts } from '../sample-repository.ts';
import { spareToken, spareTokens } from './allowance.ts';

/**
 * The account, its repository with the sample project, and people. The emulator grants permissions by GitHub's rules.
 */
export interface Seed extends SampleParts {
  owner: string;
  isOrganization?: boolean;
  repository: string;
  /** Further repositories of the account, with the same content. */
  more?: string[];
  isPrivate?: boolean;
  /** Where GitHub lies on its host, such as `/github` behind a proxy; the root by default. */
  path?: string;
  /** The address under which it shows itself, where that is not the one on which it listens. */
  publicUrl?: string;
  people: string[];
}

export const webhookSecret = 'a-secret-between-the-demo-and-itself';
export const appId = 4242;
export const installationId = 77;
const appSlug = 'deckhand';
const botLogin = `${appSlug}[bot]`;

const permissions = {
  contents: 'write',
  issues: 'write',
  pull_requests: 'write',
  checks: 'write',
  actions: 'read',
  statuses: 'read',
  metadata: 'read',
};

const events = [
  'check_run',
  'check_suite',
  'issue_comment',
  'issue_dependencies',
  'issues',
  'label',
  'organization',
  'pull_request',
  'pull_request_review',
  'pull_request_review_comment',
  'push',
  'release',
  'repository',
  'status',
  'sub_issues',
];

/** Returns the emulator's initial data; `url` is the address that callers use, `privateKey` the App's. */
export function emulatorSeed(
  { owner, isOrganization, repository, more = [], isPrivate, people }: Seed,
  { url, privateKey }: { url: string; privateKey: string },
) {
  const users = [...new Set([owner, ...people])].filter((login) => !(isOrganization && login === owner));
  const scopes = ['repo', 'user', 'admin:org'];
  // A personal account has no permissions of an organization.
  const granted = isOrganization ? { ...permissions, members: 'read' } : permissions;
  const installation = {
    installation_id: installationId,
    account: owner,
    repository_selection: 'all' as const,
    permissions: granted,
  };
  return {
    tokens: Object.fromEntries(users.flatMap((login) => tokensOf(login).map((token) => [token, { login, scopes }]))),
    github: {
      users: [...users, botLogin].map((login) => ({ login, name: login, email: `${login}@example.com` })),
      orgs: isOrganization ? [{ login: owner, members: [{ login: people[0] ?? '', role: 'admin' as const }] }] : [],
      repos: [repository, ...more].map((name) => ({ owner, name, auto_init: false, private: isPrivate ?? false })),
      apps: [
        {
          app_id: appId,
          slug: appSlug,
          name: 'Deckhand',
          private_key: privateKey,
          permissions: { ...permissions, members: 'read' },
          events,
          webhook_url: `${url}/_emulator/webhook`,
          webhook_secret: webhookSecret,
          installations: [installation],
        },
      ],
    },
  };
}

function tokensOf(login: string): string[] {
  const token = `person-${login}`;
  return [token, ...Array.from({ length: spareTokens }, (_, i) => spareToken(token, i + 1))];
}
