import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { githubApiVersion } from '../../src/outgoing/fetch-from.ts';
import { readDescription } from './description.ts';
import { checkEvents, type SentEvent } from './events.ts';
import {
  answerProblems,
  type Exchange,
  fieldsIn,
  headerProblems,
  operationOf,
  parsed,
  placeOf,
  requestProblems,
} from './exchange.ts';
import { graphqlProblems } from './graphql.ts';
import { Schemas } from './schemas.ts';
import { usedOperations } from './source.ts';
import { examplesIn } from './webhook-variants.ts';

const versions = { newest: githubApiVersion, enterprise: '2022-11-28' };

export interface Report {
  operations: number;
  requests: number;
  answers: number;
  fields: number;
  /** How many different events the emulator sent. */
  events: number;
  /** How many of GitHub's example events, and variants of them, were handled. */
  examples: number;
  variants: number;
  /** What is wrong, with the operation and the test files. */
  problems: string[];
}

/**
 * Holds the recorded requests and answers of a test run against GitHub's description. After a complete run, an operation
 * of the source that no test sent is a problem too.
 */
export function reportOn(folder: string, isComplete: boolean): Report {
  const lines = readdirSync(folder)
    .filter((file) => file.endsWith('.jsonl'))
    .flatMap((file) => linesOf(join(folder, file)));
  const exchanges = lines.filter((line) => !('event' in line)) as Exchange[];
  const sentEvents = lines.filter((line) => 'event' in line) as SentEvent[];
  const [examples, variants] = examplesIn(folder);
  const description = readDescription(versions.newest);
  const schemas = new Schemas(description);
  const found = new Map<string, Set<string>>();
  const sent = new Set<string>();
  const report: Report = {
    operations: 0,
    requests: exchanges.length,
    answers: 0,
    fields: 0,
    events: sentEvents.length,
    examples,
    variants,
    problems: [],
  };
  const note = (file: string, name: string, problems: string[], what: string) => {
    for (const problem of problems) {
      const files = found.get(`${name}: ${what}: ${problem}`) ?? new Set<string>();
      found.set(`${name}: ${what}: ${problem}`, files.add(basename(file)));
    }
  };
  for (const { file, name, problems } of checkEvents(sentEvents)) note(file, name, problems, 'event of the emulator');
  for (const exchange of exchanges) {
    const { method, url, text, status, file } = exchange;
    const { path, isGraphql } = placeOf(url);
    const say = note.bind(undefined, file);
    if (isGraphql) {
      sent.add('POST /graphql');
      say('POST /graphql', [...headerProblems(exchange, versions), ...documentProblems(exchange)], 'request');
      continue;
    }
    const operation = operationOf(description, exchange);
    if (operation === undefined) {
      say(`${method} ${path}`, ['GitHub has no such operation'], 'request');
      continue;
    }
    sent.add(operation.name);
    say(
      operation.name,
      [...headerProblems(exchange, versions), ...requestProblems(operation, exchange, schemas)],
      'request',
    );
    if (status === undefined) continue;
    report.answers++;
    report.fields += fieldsIn(parsed(text ?? ''));
    say(operation.name, answerProblems(operation, exchange, schemas), `answer of the stand-in (${status})`);
  }
  report.operations = sent.size;
  report.problems = [...found].map(([problem, files]) => `${problem} [${[...files].slice(0, 4).join(', ')}]`).sort();
  if (isComplete)
    for (const name of usedOperations())
      if (!sent.has(name)) report.problems.push(`${name}: the service uses it, but no test sends it to a stand-in`);
  return report;
}

/** A client that was killed while it sent has no complete body, and got no answer. */
function documentProblems({ body, status }: Exchange): string[] {
  const asked = parsed(body);
  if (asked === undefined) return status === undefined ? [] : ['its body is not JSON'];
  return graphqlProblems(asked as Parameters<typeof graphqlProblems>[0]);
}

function linesOf(file: string): (Exchange | SentEvent)[] {
  const lines = readFileSync(file, 'utf8').split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Exchange | SentEvent);
}
