/** The name of an environment secret, which is also the name of the variable that set-up gets. */
export const secretName = /^[A-Z][A-Z0-9_]{0,63}$/;

/** Variables that the sandbox sets. A repository that changed them would lose the proxy, its home folder or its user. */
const taken = new Set([
  ...['HOME', 'USER', 'LOGNAME', 'SHELL', 'TMPDIR', 'NODE_USE_ENV_PROXY'],
  ...['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'NO_PROXY'],
]);

/** Returns whether the sandbox sets this variable, so that neither `env` nor a secret may have its name. */
export function isTakenVariable(name: string): boolean {
  return taken.has(name.toUpperCase());
}
