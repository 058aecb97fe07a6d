// Runs in a worker thread (needed-services.ts), because a malicious file could otherwise block the service.

import { parseDocument } from 'yaml';

/** A service of a compose file. */
export interface ComposeService {
  /** The name under which other services reach it. */
  name: string;
  /** The name of its image, without a registry and a version. */
  image: string;
  /** Its variables, with text only, and with the defaults of what Compose would put into it. */
  variables: [name: string, value: string][];
}

const maxAliases = 20;
const maxServices = 50;
const maxVariables = 100;
const maxChars = 500;

/** Reads the services of a compose file; none where it cannot be read. */
export function readCompose(bytes: Uint8Array): ComposeService[] {
  const { services } = mapOf(contentOf(new TextDecoder().decode(bytes)));
  return Object.entries(mapOf(services))
    .slice(0, maxServices)
    .map(([name, value]) => {
      const { image, environment } = mapOf(value);
      return {
        name,
        image: nameOfImage(withDefaults(String(image ?? '').slice(0, maxChars))),
        variables: variablesOf(environment),
      };
    });
}

function contentOf(text: string): unknown {
  try {
    return parseDocument(text, { merge: true, logLevel: 'error', uniqueKeys: false }).toJS({
      maxAliasCount: maxAliases,
    });
  } catch {
    return undefined;
  }
}

function mapOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}

/** `ghcr.io/org/postgres:16@sha256:…` is `postgres`. */
function nameOfImage(image: string): string {
  const [path = ''] = image.split('@', 1);
  return (path.split('/').at(-1) ?? '').split(':', 1)[0] ?? '';
}

/** Variables are a map, or a list of `NAME=value`. */
function variablesOf(environment: unknown): [string, string][] {
  const pairs = Array.isArray(environment)
    ? environment.map((each) => String(each).split(/=(.*)/s, 2))
    : Object.entries(mapOf(environment)).map(([name, value]) => [name, String(value ?? '')]);
  return pairs
    .slice(0, maxVariables)
    .flatMap(([name = '', value = '']) =>
      /^[A-Za-z_]\w{0,99}$/.test(name) && value.length <= maxChars
        ? [[name, withDefaults(value)] as [string, string]]
        : [],
    );
}

/** `${DB_NAME:-app}` is `app` where the variable is not set. A variable without a default stays. */
const withDefaults = (text: string) => text.replace(/\$\{[A-Za-z_]\w*:?-([^${}]*)\}/g, '$1');
