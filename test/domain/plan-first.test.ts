import type { RunKind } from '../../src/domain/run.ts';
import { type PlanMode, planModeOf } from '../../src/domain/settings.ts';

type Approved = 'in this run' | 'before' | undefined;

test.each<[RunKind, boolean | null, PlanMode, Approved, PlanMode]>([
  ['start', null, 'never', undefined, 'never'],
  ['start', null, 'always', undefined, 'always'],
  ['start', null, 'large', undefined, 'large'],
  ['start', true, 'never', undefined, 'always'],
  ['start', false, 'always', undefined, 'never'],
  ['start', null, 'always', 'in this run', 'never'],
  ['start', null, 'always', 'before', 'always'],
  ['retry', null, 'always', undefined, 'always'],
  ['retry', null, 'always', 'before', 'never'],
  ['retry', true, 'never', undefined, 'always'],
  ['revise', true, 'always', undefined, 'never'],
  ['continue', true, 'always', undefined, 'never'],
  ['revise', null, 'large', undefined, 'large'],
  ['continue', null, 'large', undefined, 'large'],
  ['continue', null, 'large', 'before', 'never'],
  ['revise', true, 'large', undefined, 'large'],
  ['revise', false, 'large', undefined, 'never'],
  ['fix', null, 'large', undefined, 'never'],
])('a run of kind %s with planFirst %s, plan: %s and a plan approved %s: %s', (kind, planFirst, repository, approved, mode) => {
  expect(planModeOf({ kind, planFirst, repository, approved })).toBe(mode);
});
