import { isHostName } from '../host-names.ts';
import { ask } from './ask.ts';
import { certificateVariables } from './certificates.ts';
import { apt, cargo } from './files.ts';
import { bundler, go, npm, pip, yarn } from './registries.ts';

/** What one tool on this machine is configured to use. */
export interface Registries {
  /** Addresses of registries, with credentials if the configuration has them; or host names. */
  addresses: string[];
  /** Variables that hand a configured registry to the tool in a sandbox, without credentials. */
  variables?: Record<string, string>;
  /** Variables that name files with certificates. They are handed on if sandboxes can read the files. */
  certificates?: Record<string, string>;
}

export interface ToolsConfiguration {
  hosts: string[];
  variables: Record<string, string>;
}

/**
 * Reads which registries the tools on this machine use. The names of public registries are written nowhere in this
 * program, so a machine that is configured for a mirror needs no further setting. A tool that is not installed or does
 * not answer is left out.
 */
export async function toolsConfiguration(environment: Record<string, string>): Promise<ToolsConfiguration> {
  const asking = ask(environment);
  const found = await Promise.all([
    ...[npm, yarn, pip, go, bundler].map((tool) => tool(asking, environment)),
    cargo(environment),
    apt(),
  ]);
  const hosts = found.flatMap(({ addresses }) => addresses.map(hostOf)).filter((host) => host !== undefined);
  return {
    hosts: [...new Set(hosts)],
    variables: Object.assign(
      await certificateVariables(Object.assign({}, ...found.map(({ certificates }) => certificates), environment)),
      ...found.map(({ variables }) => variables),
    ),
  };
}

/** Returns the host of an address, or undefined for files and numeric addresses, which no list can allow. */
function hostOf(address: string): string | undefined {
  // Not `direct` and `off`, which Go puts into its lists.
  if (address.includes('.') && isHostName(address)) return address;
  const url = URL.canParse(address) ? new URL(address) : undefined;
  return url !== undefined && /^https?:$/.test(url.protocol) && isHostName(url.hostname) ? url.hostname : undefined;
}
