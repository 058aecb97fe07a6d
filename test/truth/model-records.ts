import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { VERSION } from 'openai/version';
import { fieldsIn } from './exchange.ts';
import { type Api, requestChecker } from './model-api.ts';

/** A request of the service to a server that stands in for models. */
export interface ModelRequest {
  /** The test file that was running. */
  file: string;
  api: Api;
  body: string;
}

export interface ModelReport {
  /** The version of the client library whose types are the description. */
  version: string;
  requests: number;
  fields: number;
  /** How many events of streams were read, and of how many types. */
  events: number;
  types: number;
  problems: string[];
}

type Counts = Pick<ModelReport, 'events' | 'types'>;

const requestEnding = '.models';
const eventEnding = '-events.json';

/** Notes how many events of an API were read, for the summary of the run. */
export function noteEvents(api: Api, counts: Counts): void {
  const folder = process.env.GITHUB_RECORDS;
  if (folder !== undefined) writeFileSync(join(folder, `${api}${eventEnding}`), JSON.stringify(counts));
}

/** Holds the recorded requests to model servers against the types of the client library. */
export function modelReportOn(folder: string): ModelReport {
  const requests = filesIn(folder, requestEnding).flatMap(requestsIn);
  const found = new Map<string, Set<string>>();
  const check = requests.length > 0 ? requestChecker() : () => [];
  let fields = 0;
  for (const { file, api, body } of requests) {
    const sent = JSON.parse(body) as Record<string, unknown>;
    fields += fieldsIn(sent);
    for (const problem of check(api, sent)) {
      const what = `${api}: request: ${problem}`;
      found.set(what, (found.get(what) ?? new Set<string>()).add(basename(file)));
    }
  }
  const problems = [...found].map(([problem, files]) => `${problem} [${[...files].slice(0, 4).join(', ')}]`).sort();
  return { version: VERSION, requests: requests.length, fields, ...eventsIn(folder), problems };
}

function filesIn(folder: string, ending: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((file) => file.endsWith(ending))
    .map((file) => join(folder, file));
}

function requestsIn(path: string): ModelRequest[] {
  const lines = readFileSync(path, 'utf8').split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as ModelRequest);
}

function eventsIn(folder: string): Counts {
  const sum = { events: 0, types: 0 };
  for (const path of filesIn(folder, eventEnding)) {
    const { events, types } = JSON.parse(readFileSync(path, 'utf8')) as Counts;
    sum.events += events;
    sum.types += types;
  }
  return sum;
}
