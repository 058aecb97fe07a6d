import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { webhookUrl } from './webhook-address.ts';

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

/** Returns the permissions and events of app.yml that an installation lacks, such as `checks: write`, and `push`. */
export function missingFrom({ permissions, events }: Granted): string[] {
  const levelOf = (level = 'none') => levels.indexOf(level);
  const lacks = Object.entries(needed).filter(([name, level]) => levelOf(permissions[name]) < levelOf(level));
  return [...lacks.map((each) => each.join(': ')), ...heard.filter((event) => !events.includes(event))];
}

interface AppFile {
  name: string;
  description: string;
  public: boolean;
  default_permissions: Record<string, string>;
  default_events: string[];
}
