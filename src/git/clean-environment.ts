import type { NextHop } from '../host/proxies.ts';
import { leastBytesPerSecond, type Remote, silenceSeconds } from './engine.ts';

/**
 * Returns the settings of every call. They take precedence over the configuration of the repository and the machine.
 */
function settings(remote: Remote | undefined): [string, string][] {
  const always: [string, string][] = [
    ['core.hooksPath', '/dev/null'],
    ['core.fsmonitor', 'false'],
    ['core.attributesFile', '/dev/null'],
    ['core.excludesFile', '/dev/null'],
    ['core.quotePath', 'false'],
    ['credential.helper', ''],
    ['protocol.allow', 'never'],
    ['protocol.https.allow', 'always'],
    ['protocol.http.allow', remote?.url.startsWith('http:') ? 'always' : 'never'],
    ['http.followRedirects', 'false'],
    ['http.lowSpeedLimit', String(leastBytesPerSecond)],
    ['http.lowSpeedTime', String(remote?.patienceSeconds ?? silenceSeconds)],
    ['gc.auto', '0'],
    // Always keep fetched objects as a pack, because only packs are cached.
    ['fetch.unpackLimit', '1'],
    ['maintenance.auto', 'false'],
    ['commit.gpgSign', 'false'],
    ['push.gpgSign', 'false'],
    ['submodule.recurse', 'false'],
    ['fetch.recurseSubmodules', 'false'],
    ['safe.directory', '*'],
  ];
  if (remote?.resolved !== undefined) always.push(['http.curloptResolve', remote.resolved]);
  if (remote?.proxy !== undefined) always.push(...proxySettings(remote.proxy));
  if (remote?.certificates !== undefined)
    always.push(['http.sslCAInfo', remote.certificates], ['http.proxySSLCAInfo', remote.certificates]);
  if (remote?.token !== undefined) {
    const basic = Buffer.from(`x-access-token:${remote.token}`).toString('base64');
    always.push([`http.${new URL(remote.url).origin}/.extraHeader`, `Authorization: Basic ${basic}`]);
  }
  return always;
}

/** Git asks for a password that is missing, even if it is empty, and tries methods that other parts do not know. */
function proxySettings({ href }: NextHop): [string, string][] {
  const url = new URL(href);
  const user = url.username === '' && url.password === '' ? '' : `${url.username}:${url.password}@`;
  return [
    ['http.proxy', `${url.protocol}//${user}${url.host}`],
    ['http.proxyAuthMethod', 'basic'],
  ];
}

/**
 * Returns an environment with only our settings and the credentials for that remote, and nothing else of this machine.
 */
export function cleanEnvironment(remote: Remote | undefined): Record<string, string> {
  const configured = settings(remote);
  return {
    PATH: '/usr/local/bin:/usr/bin:/bin',
    LC_ALL: 'C',
    HOME: '/nonexistent',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_TERMINAL_PROMPT: '0',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_CONFIG_COUNT: String(configured.length),
    ...Object.fromEntries(
      configured.flatMap(([key, value], i) => [
        [`GIT_CONFIG_KEY_${i}`, key],
        [`GIT_CONFIG_VALUE_${i}`, value],
      ]),
    ),
  };
}
