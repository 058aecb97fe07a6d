import { Button, Flash } from '@primer/react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import * as api from '../../api.ts';
import { plural } from '../../display/formats.ts';
import { QueryResult } from '../../display/query-result.tsx';
import { Section } from '../../display/sections.tsx';
import { submitOnce } from '../../forms/submit.ts';
import { notify } from '../../frame/notices.tsx';
import { errorMessage } from '../../live/errors.ts';
import * as agentQueries from '../../live/queries/agents.ts';
import { refetchAgents } from '../../live/refetch-changes.ts';
import { verdictText } from '../../trials/trial-texts.ts';
import { RolloutField, rolloutOf } from './new-version.tsx';

type Measure = api.Comparison['measures'][number];
type Estimate = NonNullable<Measure['later']>;

const names: Record<Measure['measure'], string> = {
  success: 'Success rate',
  cost: 'Cost per task',
  time: 'Working time per task',
  revisions: 'Revisions per task',
};
const formats: Record<Measure['measure'], (value: number) => string> = {
  success: (value) => `${Math.round(value * 100)}%`,
  cost: (value) => `${value < 0 ? '−' : ''}$${Math.abs(value).toFixed(2)}`,
  time: (value) => `${value.toFixed(1)} min`,
  revisions: (value) => value.toFixed(2),
};
const verdicts: Record<Measure['verdict'], string> = {
  better: 'Better',
  worse: 'Worse',
  chance: 'Chance can explain it',
  too_few: 'Too few tasks',
};

/** Compares a version of an agent with the one before it, and sets how many tasks the newest one takes. */
export function Comparison({ agent }: { agent: api.Agent }) {
  const query = useQuery(agentQueries.comparison(agent.id));
  return (
    <Section title={`Compared with version ${agent.version - 1}`}>
      <QueryResult query={query} rows={3}>
        {(comparison) => (
          <>
            <p>{comparison.sentence}</p>
            {agent.isNewest && agent.rollout === 100 && isEmpty(comparison) && (
              <p>
                With a rollout of 100%, version {agent.version - 1} takes no more tasks. Set a lower rollout to let both
                versions take tasks.
              </p>
            )}
            {comparison.earlier.tasks + comparison.later.tasks > 0 && <ComparisonTable comparison={comparison} />}
            {comparison.trial !== null && <TrialOfBoth comparison={comparison} trial={comparison.trial} />}
            <p className="muted small">
              Counts tasks that began while both versions were in use and that one version did alone. Intervals are 95%,
              and 99% for the differences in cost, time and revisions. They become narrower with more tasks.
            </p>
          </>
        )}
      </QueryResult>
      {agent.isNewest && <Rollout key={agent.rollout} agent={agent} />}
    </Section>
  );
}

const isEmpty = ({ measures }: api.Comparison) => measures.every(({ verdict }) => verdict === 'too_few');

function TrialOfBoth({
  comparison: { earlier, later },
  trial,
}: {
  comparison: api.Comparison;
  trial: NonNullable<api.Comparison['trial']>;
}) {
  return (
    <p>
      In a trial on {plural(trial.of, 'earlier change')}, version {earlier.version} solved {trial.earlier.solved} and
      version {later.version} solved {trial.later.solved}.{' '}
      {verdictText({ ...trial, pairs: trial.of }, `Version ${later.version}`)}
    </p>
  );
}

function ComparisonTable({ comparison: { earlier, later, measures } }: { comparison: api.Comparison }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable area must be reachable with the keyboard
    <section className="comparison-table" tabIndex={0} aria-label="Comparison of both versions">
      <table className="table">
        <thead>
          <tr>
            <th scope="col">Measure</th>
            <th scope="col">Version {earlier.version}</th>
            <th scope="col">Version {later.version}</th>
            <th scope="col">Difference</th>
            <th scope="col">Verdict</th>
          </tr>
        </thead>
        <tbody>
          <tr>
            <th scope="row">Finished tasks</th>
            <td>{earlier.tasks}</td>
            <td>{later.tasks}</td>
            <td />
            <td />
          </tr>
          {measures.map((row) => (
            <tr key={row.measure}>
              <th scope="row">{names[row.measure]}</th>
              <td>{withInterval(row.earlier, formats[row.measure])}</td>
              <td>{withInterval(row.later, formats[row.measure])}</td>
              <td>{withInterval(row.difference, formats[row.measure])}</td>
              <td>{verdicts[row.verdict]}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function withInterval(estimate: Estimate | null, format: (value: number) => string): string {
  if (estimate === null) return '–';
  return `${format(estimate.value)} (${format(estimate.low)} to ${format(estimate.high)})`;
}

function Rollout({ agent }: { agent: api.Agent }) {
  const client = useQueryClient();
  const [text, setText] = useState(String(agent.rollout));
  const save = useMutation({
    mutationFn: () => api.updateAgent(agent.id, { rollout: Number(text) }),
    onSuccess: async () => {
      await Promise.all([refetchAgents(client), client.invalidateQueries({ queryKey: ['comparison'] })]);
      notify('Rollout saved', 'success');
    },
  });
  return (
    <form className="stack" onSubmit={submitOnce(save, () => rolloutOf(text) !== undefined)}>
      {save.error && <Flash variant="danger">{errorMessage(save.error)}</Flash>}
      <RolloutField version={agent.version} text={text} onChange={setText} />
      <div className="row">
        <Button type="submit" loading={save.isPending} disabled={rolloutOf(text) === agent.rollout}>
          Save rollout
        </Button>
      </div>
    </form>
  );
}
