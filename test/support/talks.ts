import type { EntityManager } from 'typeorm';
import type { Message } from '../../src/llm/model.ts';
import { insertStep } from '../../src/runs/journal.ts';
import { insertTurn } from '../../src/runs/taking-up/turn-store.ts';
import { insertContext } from '../../src/worker/turns.ts';
import { findStoredFiles } from '../../src/worker/workspace/stored-files.ts';
import type { Answer } from './app.ts';
import { openWorkshop, type Workshop } from './audit/workshop.ts';

interface ShownRun {
  id: string;
  kind: string;
  status: string;
  steps: number;
  costUsd: number | null;
  rewoundFrom: { runId: string; turn: number } | null;
}

const messagesOf = (n: number): Message[] => [
  {
    role: 'assistant',
    content: `turn ${n}`,
    toolCalls: [{ id: 'c', name: 'write_file', arguments: `{"path":"${n}"}` }],
  },
  { role: 'tool', toolCallId: 'c', content: n === 2 ? 'Error: no' : 'written' },
];

/** Opens a service, without workers, for the tests of one file on conversations that people go back to. */
export function openTalks() {
  let shop: Workshop;
  beforeAll(async () => {
    shop = await openWorkshop();
  });
  afterAll(() => shop.close());
  const em = (): EntityManager => shop.service.app.db.manager;
  const call = (method: string, path: string, body?: unknown): Promise<Answer> =>
    shop.service.call(method, path, { token: shop.token, body });
  const runsOf = async (task: string): Promise<ShownRun[]> => (await call('GET', `/tasks/${task}/runs`)).body;
  /** Stores turns of a run, as its worker does. */
  const talk = async (runId: string, count: number, from = 1) => {
    for (let n = from; n < from + count; n++)
      await insertTurn(em(), runId, n - 1, {
        messages: messagesOf(n),
        workspace: Buffer.from(`files ${n}`),
        usage: { inputTokens: 100, cachedInputTokens: 40, outputTokens: 10, costUsd: 0.25 },
      });
    await shop.sql('update runs set steps = $2::int, cost_usd = $2::int * 0.25 where id = $1', [runId, count]);
  };
  return {
    shop: () => shop,
    em,
    call,
    runsOf,
    talk,
    rewind: (task: string, body: object) => call('POST', `/tasks/${task}/rewind`, body),
    sql: (text: string, values: unknown[]) => shop.sql(text, values),
    /** Creates a task whose only run was cancelled after three turns. */
    talkedTask: async () => {
      const task = await shop.startedTask();
      const runId = (await runsOf(task))[0]?.id ?? '';
      await insertContext(em(), runId, [{ role: 'system', content: 'be good' }]);
      for (const name of ['branch', 'settings', 'discussion']) await insertStep(em(), runId, name, { of: name });
      await talk(runId, 3);
      await shop.ask('POST', `/tasks/${task}/cancel`);
      return { task, runId };
    },
    /** Cancels the live run of a task, so that it can be rewound again. Returns the run. */
    ended: async (task: string): Promise<ShownRun> => {
      await shop.ask('POST', `/tasks/${task}/cancel`);
      return (await runsOf(task))[0] as ShownRun;
    },
    filesOf: async (runId: string) => (await findStoredFiles(em(), runId)).join(),
  };
}
