import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

/** A part of GitHub's OpenAPI description, or a JSON schema. */
export type Json = { [name: string]: Json | undefined } & { $ref?: string; enum?: unknown[]; required?: string[] };

/** One operation of GitHub's REST API. */
export interface Operation {
  /** Such as `GET /repos/{owner}/{repo}`. */
  name: string;
  path: string;
  parameters: { name: string; in: string; required?: boolean; schema: Json }[];
  body: Json | undefined;
  isBodyRequired: boolean;
  /** Answers by status. */
  responses: Record<string, { content?: Record<string, { schema?: Json }> }>;
  isDeprecated: boolean;
  isForApps: boolean;
  /** Whether GitHub's text demands the App's own token, a JWT. */
  needsJwt: boolean;
}

/** What GitHub demands of Apps, per operation and event; see the file for its sources. */
export const demands = JSON.parse(readFileSync(new URL('./permissions.json', import.meta.url), 'utf8')) as {
  operations: Record<string, string[]>;
  mutations: Record<string, string[]>;
  events: Record<string, string[]>;
  always: string[];
};

interface Document {
  paths: Record<string, Record<string, Json>>;
  components: { schemas: Record<string, Json> };
}

/** Reads the description of api.github.com as it is in a version of the API. Takes about half a second. */
export function readDescription(version: string) {
  const file = createRequire(import.meta.url).resolve('@octokit/openapi');
  const document = JSON.parse(readFileSync(new URL('generated/api.github.com.json', `file://${file}`), 'utf8'));
  asOf(document, version);
  return new Description(document as Document);
}

/** Finds operations and schemas in GitHub's description. */
export class Description {
  private readonly document: Document;
  private readonly operations = new Map<string, Operation>();
  private readonly patterns: [RegExp, path: string][];

  constructor(document: Document) {
    this.document = document;
    // Literal paths first: `/issues/comments/{id}` before `/issues/{number}/comments`.
    const paths = Object.keys(document.paths).sort((a, b) => count(a) - count(b) || b.length - a.length);
    this.patterns = paths.map((path) => [new RegExp(`^${path.replace(/\{[^}]+\}/g, wildcardOf)}$`), path]);
  }

  schema(name: string): Json | undefined {
    return this.document.components.schemas[name];
  }

  /** Follows references. */
  resolve(part: Json): Json {
    let found = part;
    while (found.$ref !== undefined) {
      const names = found.$ref.slice(2).split('/');
      found = names.reduce((at, name) => at[name] as Json, this.document as unknown as Json);
    }
    return found;
  }

  /** Finds the operation by its name, such as `GET /repos/{owner}/{repo}`. */
  named(name: string): Operation | undefined {
    const [method = '', path = ''] = name.split(' ');
    const known = this.operations.get(name);
    const item = this.document.paths[path];
    const found = item?.[method.toLowerCase()];
    if (known !== undefined || item === undefined || found === undefined) return known;
    const made = this.operationOf(name, path, item, found);
    this.operations.set(name, made);
    return made;
  }

  /** Finds the operation of a request. */
  at(method: string, path: string): Operation | undefined {
    for (const [pattern, template] of this.patterns) {
      const found = pattern.test(path) ? this.named(`${method} ${template}`) : undefined;
      if (found !== undefined) return found;
    }
    return undefined;
  }

  private operationOf(name: string, path: string, item: Record<string, Json>, found: Json): Operation {
    const listed = [
      ...((item.parameters ?? []) as unknown as Json[]),
      ...((found.parameters ?? []) as unknown as Json[]),
    ];
    const body = found.requestBody && this.resolve(found.requestBody);
    const github = found['x-github'] as unknown as { enabledForGitHubApps?: boolean };
    const responses = Object.entries((found.responses ?? {}) as Record<string, Json>);
    return {
      name,
      path,
      parameters: listed.map((each) => this.resolve(each)) as never,
      body: (body?.content as Json | undefined)?.['application/json']?.schema,
      isBodyRequired: Boolean(body?.required),
      responses: Object.fromEntries(responses.map(([status, each]) => [status, this.resolve(each)])) as never,
      isDeprecated: Boolean(found.deprecated),
      // The description says no for replies to review comments, which GitHub's list of permissions has.
      isForApps: github.enabledForGitHubApps === true || (demands.operations[name] ?? []).length > 0,
      needsJwt: /must use a \[JWT\]|must use a JWT/.test(String(found.description)),
    };
  }
}

const count = (path: string) => path.split('{').length;
/** Paths of files and branches may contain slashes. */
const wildcardOf = (name: string) => (['{path}', '{ref}', '{basehead}'].includes(name) ? '.+' : '[^/]+');

/** Applies the breaking changes of versions up to this one, which the description lists where they apply. */
function asOf(part: Json, version: string): void {
  if (typeof part !== 'object' || part === null) return;
  const changes = (part['x-github-breaking-changes'] ?? []) as unknown as { patch: Json | Edit[]; version: string }[];
  for (const { patch, version: since } of changes) if (since <= version) apply(part, patch);
  for (const each of Object.values(part)) asOf(each as Json, version);
}

interface Edit {
  op: string;
  path: string;
  value?: unknown;
}

/** Applies a change: a list of edits (RFC 6902), or an object that is merged (RFC 7396). */
function apply(target: Json, patch: Json | Edit[]): void {
  const edits = Array.isArray(patch) ? patch : [];
  if (!Array.isArray(patch)) merge(target, patch);
  for (const { op, path, value } of edits) {
    const names = path.split('/').slice(1);
    const last = names.pop() ?? '';
    const at = names.reduce<Json | undefined>((found, name) => found?.[name], target);
    if (at === undefined) continue;
    if (op === 'remove') Reflect.deleteProperty(at, last);
    else Reflect.set(at, last, value);
  }
}

function merge(target: Json, patch: Json): void {
  for (const [name, value] of Object.entries(patch)) {
    const old = target[name];
    if (value === null) Reflect.deleteProperty(target, name);
    else if (isObject(value) && isObject(old)) merge(old, value);
    else Reflect.set(target, name, value);
  }
}

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
