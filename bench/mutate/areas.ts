import { globSync } from 'node:fs';

/**
 * Code whose mistakes would be grave, and the tests that must notice them. Entries of the same name form one area, so
 * that the tests of one part need not run for the mutants of another.
 */
export interface Area {
  name: string;
  /** Patterns from the root of the repository; `file#name,name` means only these functions of a file. */
  sources: string[];
  /** Test files, the quick ones first. None of them may need the built dashboard. */
  tests: string[];
}

export const areas: Area[] = [
  {
    name: 'domain',
    sources: ['src/domain/*.ts', 'src/domain/text/*.ts'],
    tests: [
      'test/domain/{,text/}*.test.ts',
      'test/repositories/settings.long.test.ts',
      'test/worker/{objection,scan-change}.test.ts',
      'test/docs/documents.test.ts',
    ],
  },
  {
    name: 'markdown',
    sources: ['src/markdown/{cmark-gfm,commands,github-view,html,shown-text}.ts'],
    tests: ['test/markdown/{commands,shown-text,random-texts,cmark-gfm}.test.ts'],
  },
  { name: 'domain', sources: ['src/domain/proof/{,manifests/}*.ts'], tests: ['test/domain/proof/*.test.ts'] },
  {
    name: 'domain',
    sources: ['src/domain/{protected/*,secrets}.ts'],
    tests: [
      'test/domain/{protected-paths,secrets/*,name-links}.test.ts',
      'test/worker/{objection,scan-change}.test.ts',
    ],
  },
  { name: 'domain', sources: ['src/domain/forecast/*.ts'], tests: ['test/domain/forecast/*.test.ts'] },
  { name: 'domain', sources: ['src/domain/learning/*.ts'], tests: ['test/domain/learning/*.test.ts'] },
  {
    name: 'access',
    sources: ['src/http/access/*.ts'],
    tests: ['test/http/access.test.ts', 'test/projects/tokens.test.ts'],
  },
  {
    name: 'claims',
    sources: ['src/worker/lease/lease-store.ts'],
    tests: ['test/worker/{claims,working}.test.ts', 'test/worker/fair-claims.long.test.ts'],
  },
  { name: 'claims', sources: ['src/runs/journal.ts'], tests: ['test/runs/journal.test.ts'] },
  {
    name: 'claims',
    sources: ['src/runs/live-runs.ts', 'src/worker/lease/{run-clock,work-on-runs}.ts'],
    tests: ['test/worker/working.test.ts'],
  },
  { name: 'claims', sources: ['src/worker/lease/reconcile.ts'], tests: ['test/worker/reconcile.test.ts'] },
  { name: 'claims', sources: ['src/runs/store.ts'], tests: ['test/runs/store.test.ts', 'test/worker/claims.test.ts'] },
  {
    name: 'scan-change',
    sources: ['src/worker/leaving/*.ts', 'src/worker/plan.ts#findUnplanned', 'src/conversation/planned-files.ts'],
    tests: ['test/worker/{objection,scan-change}.test.ts', 'test/conversation/planned-files.test.ts'],
  },
  { name: 'closed-addresses', sources: ['src/git/remote-url.ts'], tests: ['test/git/remote-url.test.ts'] },
  {
    name: 'idempotency',
    sources: ['src/http/idempotency.ts', 'src/db/presence.ts'],
    tests: [
      'test/http/repeated/once.test.ts',
      'test/planning/repeated-streams.long.test.ts',
      'test/http/repeated/idempotency.test.ts',
    ],
  },
  {
    name: 'idempotency',
    sources: ['src/db/ambient.ts'],
    tests: ['test/db/schema.test.ts', 'test/queue/queue.test.ts', 'test/http/repeated/idempotency.test.ts'],
  },
  {
    name: 'retention',
    sources: [
      'src/jobs.ts#removeOld,inPortions',
      'src/github/delivery-store.ts#deleteOldDeliveries',
      'src/projects/events.ts#forgetOldEvents',
      'src/runs/journal.ts#deleteOldEvents',
      'src/runs/taking-up/turn-store.ts#deleteOldTurns',
    ],
    tests: ['test/retention.test.ts', 'test/runs/journal.test.ts'],
  },
  {
    name: 'retention',
    sources: ['src/http/idempotency.ts#forgetOldKeys'],
    tests: ['test/http/repeated/idempotency.test.ts'],
  },
  {
    name: 'retention',
    sources: ['src/github/app/one-time.ts#deleteOldSignIns'],
    tests: ['test/github/login.test.ts'],
  },
  {
    name: 'budgets',
    sources: ['src/domain/{budget,remedies}.ts'],
    tests: ['test/domain/{budget,remedies,text}.test.ts', 'test/conversation/loop.test.ts'],
  },
  {
    name: 'budgets',
    sources: ['src/projects/budgets.ts'],
    tests: ['test/projects/projects.test.ts', 'test/tasks/changes.test.ts'],
  },
  {
    name: 'figures',
    sources: ['src/agents/figures-store.ts', 'src/domain/agent.ts'],
    tests: ['test/domain/agent-figures.test.ts', 'test/agents/figures.test.ts'],
  },
  {
    name: 'figures',
    sources: ['src/sprints/figures-store.ts', 'src/domain/sprint.ts'],
    tests: ['test/domain/burndown.test.ts', 'test/sprints/figures.test.ts'],
  },
  {
    name: 'wizard',
    sources: ['src/domain/wizard.ts', 'src/planning/operations.ts'],
    tests: [
      'test/domain/{wizard,task}.test.ts',
      'test/planning/{operations,wizard,shared-plans,create-sprint}.test.ts',
    ],
  },
  {
    name: 'live-updates',
    sources: ['src/web/live/{put-task,refetch-changes}.ts'],
    tests: ['test/web/without-browser/live.test.ts'],
  },
];

/** Source files, each with the functions that count; none means the whole file. @throws when a pattern finds nothing */
export function sourcesOf({ sources }: Area, root: string): { file: string; functions: string[] }[] {
  return sources.flatMap((source) => {
    const [pattern = '', functions] = source.split('#');
    return existing(pattern, root).map((file) => ({ file, functions: functions?.split(',') ?? [] }));
  });
}

/** @throws when a pattern finds nothing */
export function testsOf({ tests }: Area, root: string): string[] {
  return tests.flatMap((pattern) => existing(pattern, root));
}

function existing(pattern: string, root: string): string[] {
  const files = globSync(pattern, { cwd: root }).sort();
  if (files.length === 0) throw new Error(`no file matches ${pattern}; correct bench/mutate/areas.ts`);
  return files;
}
