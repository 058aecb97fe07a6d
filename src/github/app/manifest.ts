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

interface AppFile {
  name: string;
  description: string;
  public: boolean;
  default_permissions: Record<string, string>;
  default_events: string[];
}
