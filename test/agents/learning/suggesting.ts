import { type ModelRequest, type Said, startModel, textOf } from '../../../demo/model/model.ts';
import { writeSuggestions } from '../../../src/agents/learning/suggestions.ts';
import type { FailureCategory } from '../../../src/domain/run.ts';
import { openRuns } from '../../support/runs.ts';

export interface Shown {
  area: string;
  suggestion: string;
  priority: string;
  evidence: string[];
  quotes: { runId: string; taskId: string; source: string; text: string; url: string }[];
}

/** Words what the evidence says, group by group, and adds a quotation that nobody said. */
export function worded(request: ModelRequest): Said {
  const groups = [...textOf(request).matchAll(/^# (g\d+): .*\n`+\n(.*)\n/gm)];
  const suggestions = groups.map(([, id, first = '']) => ({
    area: `about ${id}`,
    suggestion: `Mind this: ${first}`,
    groups: [id],
    quotes: [first, 'The agent said that it was bored.'],
  }));
  return [{ name: 'write_suggestions', arguments: { suggestions } }];
}

/** Opens a service with a scripted model, for the tests of one file on suggestions. */
export async function openSuggestions() {
  const talk = { says: (() => 'Sorry.') as (request: ModelRequest) => Said };
  const model = await startModel((request) => talk.says(request));
  const given = openRuns({ OPENAI_API_KEY: 'sk-x', OPENAI_MODEL: 'm', OPENAI_BASE_URL: model.url });
  afterAll(() => model.close());
  const em = () => given.service.app.db.manager;
  const call = (method: string, path: string, body?: unknown, token = given.token) =>
    given.service.call(method, path, { token, body });
  const suggestionsOf = async (agentId: string, query = '') =>
    (await call('GET', `/agents/${agentId}/suggestions${query}`)).body.suggestions;
  let made = 0;
  const work = async (): Promise<number> => {
    const jobs = await em().query(
      `with taken as (delete from pgboss.job where name = 'suggestions' and state = 'created' returning data)
       select data from taken`,
    );
    for (const { data } of jobs) await writeSuggestions(given.service.app, data);
    return jobs.length;
  };
  return {
    talk,
    model,
    given,
    em,
    call,
    newAgent: async (): Promise<string> => (await call('POST', '/agents', { name: `Agent ${++made}` })).body.id,
    fail: (agentId: string, category: FailureCategory, message: string) =>
      given.addRun(em(), {
        agentId,
        status: 'failed',
        failure: { category, message, retryable: false },
        finishedAt: new Date(),
      }),
    suggestionsOf,
    /** Handles the jobs that wait to word suggestions, and returns their number. */
    work,
    /** Reads suggestions until a model has worded them. */
    wordedOf: async (agentId: string) => {
      await suggestionsOf(agentId);
      await work();
      return suggestionsOf(agentId);
    },
  };
}
