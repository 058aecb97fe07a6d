import { Flash, FormControl, TextInput } from '@primer/react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'react-router';
import * as api from '../api.ts';
import { plural } from '../display/formats.ts';
import { FormButtons, FormDialog } from '../forms/form-dialog.tsx';
import { SelectField } from '../forms/select-field.tsx';
import { submitOnce } from '../forms/submit.ts';
import { notify } from '../frame/notices.tsx';
import { errorMessage } from '../live/errors.ts';
import * as agentQueries from '../live/queries/agents.ts';
import * as repositoryQueries from '../live/queries/repositories.ts';
import { amountOf, countOf, estimateText, proposedBudget, tooFewText } from './trial-texts.ts';

interface Props {
  projectId: string;
  agent: api.Agent;
  /** A prompt that the agent does not have yet, which is compared with its own. */
  systemPrompt?: string;
  /** What is chosen at first. */
  against?: string | undefined;
  repositoryId?: string;
  /** Lets the person try another agent instead. */
  onAgent?(id: string): void;
  onStarted?(trial: api.AgentTrial): void;
  onClose(): void;
}

/** Starts a trial of an agent on earlier changes of a repository. Shows before what it will probably cost. */
export function TryDialog(props: Props) {
  const { agent, against, onClose } = props;
  const repositories = useQuery(repositoryQueries.repositories(props.projectId));
  return (
    <FormDialog
      title={`Try ${against === undefined ? agent.name : 'both agents'} on your own changes`}
      onClose={onClose}
    >
      {repositories.error && <Flash variant="danger">{errorMessage(repositories.error)}</Flash>}
      {repositories.data?.length === 0 && <p>Connect a repository first.</p>}
      {repositories.data !== undefined && repositories.data.length > 0 && (
        <TryForm {...props} repositories={repositories.data} />
      )}
    </FormDialog>
  );
}

type FormProps = Props & { repositories: api.RepositoryEntry[] };

interface Chosen {
  repositoryId: string;
  items: string;
  against: string;
  model: string;
  budget: string | undefined;
}

/** What was chosen in the form, what it will cost, and the start of the trial. */
function useTrialForm(props: FormProps) {
  const { repositories, agent, systemPrompt, onStarted, onClose } = props;
  const client = useQueryClient();
  const primary = repositories.find(({ isPrimary }) => isPrimary) ?? repositories[0];
  const [wanted, choose] = useState<Chosen>({
    ...{ repositoryId: props.repositoryId ?? primary?.id ?? '', items: '20', model: '', budget: undefined },
    against: systemPrompt === undefined ? (props.against ?? '') : agent.id,
  });
  // With the same prompt and the same model, an agent cannot be compared with itself.
  const isItself = wanted.against === agent.id && wanted.model === '' && systemPrompt === undefined;
  const chosen = isItself ? { ...wanted, against: '' } : wanted;
  const items = countOf(chosen.items);
  const model = chosen.model.trim();
  const asked = {
    items: items ?? 1,
    ...(chosen.against === '' ? {} : { against: chosen.against }),
    ...(model === '' ? {} : { model }),
  };
  const estimate = useQuery({
    ...agentQueries.trialEstimate(agent.id, chosen.repositoryId, asked),
    enabled: items !== undefined,
  });
  const budget = chosen.budget ?? proposedBudget(estimate.data);
  const costUsd = amountOf(budget);
  const start = useMutation({
    mutationFn: () =>
      api.startTrial(agent.id, {
        ...asked,
        repositoryId: chosen.repositoryId,
        ...(systemPrompt === undefined ? {} : { systemPrompt }),
        budget: { costUsd: costUsd ?? 0 },
      }),
    onSuccess: async (trial) => {
      await client.invalidateQueries({ queryKey: ['trials'] });
      notify('Trial started', 'success');
      onStarted?.(trial);
      onClose();
    },
  });
  const set = (change: Partial<Chosen>) => choose({ ...chosen, ...change });
  return { chosen, set, items, budget, costUsd, estimate, start };
}

function TryForm(props: FormProps) {
  const { projectId, agent, against, systemPrompt, onAgent, onClose, repositories } = props;
  const { chosen, set, items, budget, costUsd, estimate, start } = useTrialForm(props);
  const agents = useQuery(agentQueries.agentsOf(projectId));
  const hasItems = estimate.data !== undefined && estimate.data.items > 0;
  const tried = [agent.id, chosen.against].filter(Boolean).join();
  const page = `/projects/${projectId}/repositories/${chosen.repositoryId}/benchmark?try=${tried}`;
  return (
    <form
      className="stack"
      onSubmit={submitOnce(start, () => hasItems && costUsd !== undefined && items !== undefined)}
    >
      {start.error && <Flash variant="danger">{errorMessage(start.error)}</Flash>}
      <p className="muted">
        {against === undefined ? 'The agent makes' : 'The agents make'} earlier changes of the repository again, each
        from the commit before it. Hidden tests of the real change decide whether each attempt succeeded. Nothing is
        pushed.
      </p>
      <SelectField
        label="Repository"
        emptyOption={undefined}
        value={chosen.repositoryId}
        options={repositories}
        onSelect={(repositoryId) => set({ repositoryId })}
      />
      {estimate.data?.items === 0 && <NoBenchmark page={page} />}
      {onAgent !== undefined && (
        <SelectField label="Agent" emptyOption={undefined} value={agent.id} options={agents.data} onSelect={onAgent} />
      )}
      <SelectField
        label="Compare with"
        emptyOption={systemPrompt === undefined ? 'Nothing' : undefined}
        value={chosen.against}
        options={agents.data?.filter(({ id }) => systemPrompt !== undefined || id !== agent.id || chosen.model !== '')}
        onSelect={(against) => set({ against })}
      />
      {systemPrompt === undefined && (
        <ModelField agent={agent} model={chosen.model} onChange={(model) => set({ model })} />
      )}
      <AmountField
        label="Items"
        text={chosen.items}
        problem={items === undefined ? 'Enter a whole number from 1 to 100.' : undefined}
        onChange={(text) => set({ items: text })}
      />
      <AmountField
        label="Budget ($)"
        text={budget}
        problem={costUsd === undefined ? 'Enter an amount of at most 10000, such as 7.50.' : undefined}
        caption="The trial ends when it is used up."
        onChange={(text) => set({ budget: text })}
      />
      <EstimateNote query={estimate} isComparison={chosen.against !== ''} asked={items} />
      <FormButtons submit="Start trial" isBusy={start.isPending} isDisabled={!hasItems} onCancel={onClose} />
    </form>
  );
}

/** `page` is where the benchmark is made; it then offers this trial again. */
function NoBenchmark({ page }: { page: string }) {
  return (
    <Flash variant="warning">
      This repository has no benchmark yet. Make one on <Link to={page}>the page Benchmark</Link> first.
    </Flash>
  );
}

interface NoteProps {
  query: { data?: api.TrialEstimate | undefined; error: unknown };
  isComparison: boolean;
  /** How many items the person wants. */
  asked: number | undefined;
}

function EstimateNote({ query, isComparison, asked = 0 }: NoteProps) {
  if (query.error) return <Flash variant="danger">{errorMessage(query.error)}</Flash>;
  const { data } = query;
  if (data === undefined) return <p className="muted">Estimating the cost…</p>;
  if (data.items === 0) return null;
  const cost = estimateText(data);
  const tooFew = isComparison ? tooFewText(data.items) : undefined;
  return (
    <>
      {tooFew !== undefined && <Flash variant="warning">{tooFew}</Flash>}
      <p role="status">
        {data.items < asked && 'The benchmark has only '}
        {plural(data.items, 'item')}.{' '}
        {cost === undefined ? data.reason : `Probably ${cost}, from ${plural(data.runs, 'earlier run')}.`}
      </p>
    </>
  );
}

function ModelField({ agent, model, onChange }: { agent: api.Agent; model: string; onChange(model: string): void }) {
  return (
    <FormControl>
      <FormControl.Label>Model</FormControl.Label>
      <TextInput
        block
        maxLength={200}
        placeholder={agent.model}
        value={model}
        onChange={(event) => onChange(event.target.value)}
      />
      <FormControl.Caption>Leave it empty for the agent's own.</FormControl.Caption>
    </FormControl>
  );
}

function AmountField(props: {
  label: string;
  text: string;
  problem: string | undefined;
  caption?: string;
  onChange(text: string): void;
}) {
  const { label, text, problem, caption, onChange } = props;
  return (
    <FormControl>
      <FormControl.Label>{label}</FormControl.Label>
      <TextInput
        inputMode="decimal"
        value={text}
        validationStatus={problem === undefined ? undefined : 'error'}
        onChange={(event) => onChange(event.target.value)}
      />
      {problem !== undefined && <FormControl.Validation variant="error">{problem}</FormControl.Validation>}
      {caption !== undefined && <FormControl.Caption>{caption}</FormControl.Caption>}
    </FormControl>
  );
}
