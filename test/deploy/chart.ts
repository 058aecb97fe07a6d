import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { parse, parseAllDocuments } from 'yaml';
import { renderTemplates } from './templates.ts';

const folder = join(import.meta.dirname, '../../deploy/chart');
const read = (name: string) => readFileSync(join(folder, name), 'utf8');

export interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string; labels: Record<string, string>; annotations?: Record<string, string> };
  // biome-ignore lint/suspicious/noExplicitAny: the schemas of Kubernetes check it
  [part: string]: any;
}

type Values = Record<string, unknown>;

const isMap = (value: unknown): value is Values => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Merges values as Helm does: maps are merged, everything else is replaced, and null removes. */
function merged(preset: Values, given: Values): Values {
  const entries = Object.entries(given).map(([name, value]): [string, unknown] => {
    const before = preset[name];
    return [name, isMap(before) && isMap(value) ? merged(before, value) : value];
  });
  return Object.fromEntries(
    Object.entries({ ...preset, ...Object.fromEntries(entries) }).filter(([, v]) => v !== null),
  );
}

const isValid = new Ajv({ allErrors: true }).compile(JSON.parse(read('values.schema.json')));

/** What a template finds in its dot. `given` changes the chart's own values. */
function dotOf(given: Values) {
  const chart = parse(read('Chart.yaml'));
  const values = merged(parse(read('values.yaml')), given);
  if (!isValid(values)) throw new Error(isValid.errors?.map((e) => `${e.instancePath} ${e.message}`).join('\n'));
  return {
    Values: values,
    Chart: { Name: chart.name, Version: chart.version, AppVersion: chart.appVersion },
    Release: { Name: 'deckhand', Namespace: 'agents', Service: 'Helm' },
  };
}

const names = readdirSync(join(folder, 'templates'));
const sources = new Map(names.map((name) => [name, read(`templates/${name}`)]));
const files = ['rules.yaml', 'dashboard.json'];

function manifestsIn(rendered: Iterable<[string, string]>): Manifest[] {
  return (
    [...rendered]
      .filter(([name]) => name.endsWith('.yaml'))
      .sort(([a], [b]) => (a < b ? -1 : 1))
      // As Helm does. In YAML 1.1 `off` is false, and 0440 is octal.
      .flatMap(([, source]) => parseAllDocuments(source, { version: '1.1' }))
      .map((document) => {
        const [problem] = [...document.errors, ...document.warnings];
        if (problem !== undefined) throw problem;
        return document.toJS();
      })
      .filter((manifest) => manifest !== null)
  );
}

/** Returns the manifests of the chart. @throws Error that says why the values are refused */
export function renderChart(given: Values): Manifest[] {
  const Get = (name: string) => (files.includes(name) ? read(name) : '');
  return manifestsIn(renderTemplates(sources, { ...dotOf(given), Files: { Get } }));
}

const goSources = '/usr/share/gocode/src/github.com/Masterminds/sprig';

/** Says why Go cannot render the chart here; undefined if it can. */
export function lackOfGo(): string | undefined {
  if (spawnSync('go', ['version']).status !== 0) return 'go is not installed (golang-go)';
  return existsSync(goSources) ? undefined : 'Sprig is not installed (golang-github-masterminds-sprig-dev)';
}

/** Returns the manifests as Go's own templates make them, with Sprig's functions: what Helm is made of. */
export function renderWithGo(all: Values[]): Manifest[][] {
  const input = {
    templates: Object.fromEntries(sources),
    files: Object.fromEntries(files.map((name) => [name, read(name)])),
    dots: all.map(dotOf),
  };
  const environment = {
    GO111MODULE: 'off',
    GOPATH: '/usr/share/gocode',
    GOFLAGS: '',
    GOCACHE: join(tmpdir(), 'go-cache'),
  };
  const { status, stdout, stderr } = spawnSync('go', ['run', join(import.meta.dirname, 'render.go')], {
    input: JSON.stringify(input),
    env: { ...process.env, ...environment },
    encoding: 'utf8',
    maxBuffer: 64 * 2 ** 20,
  });
  if (status !== 0) throw new Error(stderr);
  return (JSON.parse(stdout) as Record<string, string>[]).map((rendered) => manifestsIn(Object.entries(rendered)));
}
