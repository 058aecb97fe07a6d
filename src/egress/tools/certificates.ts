import { access } from 'node:fs/promises';

/** The variables by which tools find certificates of authorities. npm, pip and Node have their own. */
const names = [
  'NODE_EXTRA_CA_CERTS',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
  'REQUESTS_CA_BUNDLE',
  'PIP_CERT',
  'CURL_CA_BUNDLE',
  'GIT_SSL_CAINFO',
  'CARGO_HTTP_CAINFO',
  'BUNDLE_SSL_CA_CERT',
  'npm_config_cafile',
];

/** Folders of the machine that sandboxes can read under the same path. */
const visible = /^\/(etc\/ssl\/certs|usr)\//;

/**
 * Returns the variables for certificates that this process has, if a sandbox can read their files. Certificates in other
 * places have to be added to the machine's own (`update-ca-certificates`).
 */
export async function certificateVariables(environment: Record<string, string>): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const name of names) {
    const path = environment[name];
    if (path === undefined || !visible.test(`${path}/`)) continue;
    const isThere = await access(path).then(
      () => true,
      () => false,
    );
    if (isThere) found[name] = path;
  }
  return found;
}
