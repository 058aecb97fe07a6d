import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { isClosedHost } from '../../host/closed-address.ts';

export const webhookPath = '/api/github/webhooks';

/** Returns the address to which GitHub delivers the webhooks of this service. */
export function webhookUrl(baseUrl: string): string {
  return `${baseUrl}${webhookPath}`;
}

/**
 * Tells the operator why GitHub could not deliver webhooks to this service, and what to do about it. Returns undefined
 * when the address is fine. github.com refuses to create an App whose webhook address is not public. A GitHub
 * Enterprise Server may share a private network with this service, but never its loopback address.
 */
export function webhookProblem(config: { BASE_URL: string; GITHUB_SERVER_URL: string }): string | undefined {
  const host = hostOf(config.BASE_URL);
  if (!isClosedHost(host) || (!isLoopback(host) && !isOnPublicInternet(hostOf(config.GITHUB_SERVER_URL))))
    return undefined;
  return `GitHub refuses to create an App with the webhook address ${webhookUrl(config.BASE_URL)}, because it cannot reach it. Set BASE_URL to an https address that is reachable from the internet, such as that of a tunnel to this machine (cloudflared or ngrok), and restart the service.`;
}

function hostOf(address: string): string {
  return new URL(address).hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
}

function isLoopback(host: string): boolean {
  return /^(127\.[\d.]+|0\.0\.0\.0|::1?|(.+\.)?localhost)$/.test(host);
}

function isOnPublicInternet(serverHost: string): boolean {
  return serverHost === 'github.com' || serverHost.endsWith('.ghe.com');
}

/**
 * Builds the manifest from which GitHub creates the App: app.yml plus the addresses of this service (docs.github.com,
 * "Registering a GitHub App from a manifest").
 */
export function manifestFrom(appYml: string, baseUrl: string): object {
  const { name, description, public: isPublic, default_permissions, default_events } = parse(appYml) as AppFile;
  return {
    name,
    description,
    url: baseUrl,
    public: isPublic,
    hook_attributes: { url: webhookUrl(baseUrl), active: true },
    redirect_url: `${baseUrl}/setup/callback`,
    callback_urls: [`${baseUrl}/login/callback`],
    setup_url: `${baseUrl}/installed`,
    default_permissions,
    default_events,
  };
}

/** What an installation grants, as GitHub lists it. */
export interface Granted {
  permissions: Record<string, string>;
  events: string[];
}

const levels = ['none', 'read', 'write', 'admin'];
const { default_permissions: needed, default_events: heard } = parse(
  readFileSync(new URL('../../../app.yml', import.meta.url), 'utf8'),
) as AppFile;

/** Permissions and events that GitHub grants only for an organization, so a personal account cannot accept them. */
const ofOrganizations = ['members', 'organization'];

/**
 * Returns the permissions and events of app.yml that the installation of an account lacks, such as `checks: write`, and
 * `push`.
 */
export function missingFrom({ permissions, events }: Granted, isOrganization: boolean): string[] {
  const levelOf = (level = 'none') => levels.indexOf(level);
  const exists = (name: string) => isOrganization || !ofOrganizations.includes(name);
  const lacks = Object.entries(needed).filter(([name, level]) => levelOf(permissions[name]) < levelOf(level));
  return [
    ...lacks.filter(([name]) => exists(name)).map((each) => each.join(': ')),
    ...heard.filter((event) => exists(event) && !events.includes(event)),
  ];
}

interface AppFile {
  name: string;
  description: string;
  public: boolean;
  default_permissions: Record<string, string>;
  default_events: string[];
}
