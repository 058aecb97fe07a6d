import './learning.css';
import { Button, Flash, FormControl, Textarea, TextInput } from '@primer/react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useNavigate } from 'react-router';
import * as api from '../../api.ts';
import { revealHidden } from '../../display/hidden-characters.ts';
import { FormButtons, FormDialog } from '../../forms/form-dialog.tsx';
import { submitOnce } from '../../forms/submit.ts';
import { useDraft } from '../../forms/use-draft.ts';
import { errorMessage } from '../../live/errors.ts';
import * as agentQueries from '../../live/queries/agents.ts';
import { refetchAgents } from '../../live/refetch-changes.ts';
import { TryFirst } from '../../trials/try-first.tsx';

interface Props {
  projectId: string;
  agent: api.Agent;
  onClose(): void;
}

/** Creates the next version of an agent, from a list of improvements or from a new prompt. */
export function NewVersion({ projectId, agent }: Omit<Props, 'onClose'>) {
  const suggestions = useQuery(agentQueries.suggestions(agent.id));
  const [isOpen, setOpen] = useState(false);
  const close = () => setOpen(false);
  return (
    <>
      <Button variant="primary" onClick={() => setOpen(true)}>
        New version
      </Button>
      {isOpen && (
        <FormDialog title={`New version of ${agent.name}`} onClose={close} width="xlarge">
          <VersionSteps
            projectId={projectId}
            agent={agent}
            suggestions={(suggestions.data?.suggestions ?? []).map((s) => s.suggestion)}
            onClose={close}
          />
        </FormDialog>
      )}
    </>
  );
}

/** First asks what should change, then shows the new prompt before it is accepted. */
function VersionSteps({ suggestions, ...props }: Props & { suggestions: string[] }) {
  const { agent, onClose } = props;
  const kept = useDraft(`new version ${agent.id}`, {
    improvements: suggestions.join('\n'),
    prompt: agent.systemPrompt,
    /** The trial of this prompt, once it was started. */
    trial: '',
  });
  const draft = kept.value;
  const close = () => {
    kept.clear();
    onClose();
  };
  const preview = useMutation({
    mutationFn: async () => {
      const improvements = draft.improvements.split('\n').filter((line) => line.trim() !== '');
      const shown = await api.evolveAgent(agent.id, {
        ...(improvements.length > 0 ? { improvements } : {}),
        ...(draft.prompt === agent.systemPrompt ? {} : { newSystemPrompt: draft.prompt }),
        preview: true,
      });
      return shown as api.PromptPreview;
    },
  });
  if (preview.data !== undefined)
    return (
      <Accept
        {...props}
        preview={preview.data}
        trialId={draft.prompt === preview.data.systemPrompt ? draft.trial : ''}
        onTried={(trial, prompt) => kept.set({ improvements: '', prompt, trial })}
        onClose={close}
        onBack={() => preview.reset()}
      />
    );
  return (
    <form className="stack" onSubmit={submitOnce(preview)}>
      {preview.error && <Flash variant="danger">{errorMessage(preview.error)}</Flash>}
      <FormControl>
        <FormControl.Label>Improvements</FormControl.Label>
        <Textarea
          block
          rows={4}
          value={draft.improvements}
          onChange={(event) => kept.set({ ...draft, improvements: event.target.value })}
        />
        <FormControl.Caption>
          One per line. The model works them into the system prompt. If you edit the prompt below, or without a model,
          they are added to it as a list.
        </FormControl.Caption>
      </FormControl>
      <FormControl>
        <FormControl.Label>System prompt</FormControl.Label>
        <Textarea
          block
          rows={8}
          value={draft.prompt}
          onChange={(event) => kept.set({ ...draft, prompt: event.target.value })}
        />
      </FormControl>
      <FormButtons submit="Preview changes" isBusy={preview.isPending} onCancel={close} />
    </form>
  );
}

interface AcceptProps extends Props {
  preview: api.PromptPreview;
  /** The trial of this prompt; empty if it was not tried. */
  trialId: string;
  onTried(trialId: string, prompt: string): void;
  onBack(): void;
}

function Accept(props: AcceptProps) {
  const { projectId, agent, preview, trialId, onTried, onClose, onBack } = props;
  const client = useQueryClient();
  const navigate = useNavigate();
  const [rollout, setRollout] = useState('100');
  const create = useMutation({
    mutationFn: () =>
      api.evolveAgent(agent.id, {
        newSystemPrompt: preview.systemPrompt,
        rollout: Number(rollout),
        ...(trialId === '' ? {} : { trial: trialId }),
      }) as Promise<api.Agent>,
    onSuccess: async (created) => {
      await refetchAgents(client);
      onClose();
      await navigate(`/projects/${projectId}/agents/${created.id}`);
    },
  });
  return (
    <form className="stack" onSubmit={submitOnce(create, () => rolloutOf(rollout) !== undefined)}>
      {create.error && <Flash variant="danger">{errorMessage(create.error)}</Flash>}
      <PromptDiff diff={preview.diff} />
      {preview.diff !== '' && (
        <TryFirst
          projectId={projectId}
          agent={agent}
          systemPrompt={preview.systemPrompt}
          trialId={trialId}
          onTried={(id) => onTried(id, preview.systemPrompt)}
        />
      )}
      <RolloutField version={agent.version + 1} text={rollout} onChange={setRollout} />
      <p className="muted">
        Unfinished tasks move to the new version. You can still read version {agent.version} afterwards.
      </p>
      <div className="row">
        <Button onClick={onBack}>Back</Button>
      </div>
      <FormButtons submit="Create version" isBusy={create.isPending} onCancel={onClose} />
    </form>
  );
}

const kinds: Record<string, { className: string; label: string }> = {
  '+': { className: 'diff-added', label: 'Added: ' },
  '-': { className: 'diff-removed', label: 'Removed: ' },
};

/** Shows a unified diff of two system prompts, without its file names. */
function PromptDiff({ diff }: { diff: string }) {
  if (diff === '') return <p className="muted">The system prompt stays the same.</p>;
  const lines = diff
    .replace(/\n$/, '')
    .split('\n')
    .slice(2)
    .map((text, at) => ({ text, key: `${at}` }));
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable area must be reachable with the keyboard
    <section className="prompt-diff" tabIndex={0} aria-label="Changes of the system prompt">
      {lines.map(({ text, key }) => {
        const kind = kinds[text.charAt(0)];
        return (
          <div key={key} className={`wrap ${kind?.className ?? (text.startsWith('@@') ? 'muted' : '')}`}>
            {kind !== undefined && <span className="sr-only">{kind.label}</span>}
            {revealHidden(text)}
          </div>
        );
      })}
    </section>
  );
}

/** Returns the percentage that a text stands for, or undefined. */
export function rolloutOf(text: string): number | undefined {
  return /^\d{1,3}$/.test(text) && Number(text) <= 100 ? Number(text) : undefined;
}

/** The share of tasks that a version of an agent takes. */
export function RolloutField(props: { version: number; text: string; onChange(text: string): void }) {
  const { version, text, onChange } = props;
  return (
    <FormControl>
      <FormControl.Label>Rollout (%)</FormControl.Label>
      <TextInput
        type="number"
        min={0}
        max={100}
        step={1}
        value={text}
        validationStatus={rolloutOf(text) === undefined ? 'error' : undefined}
        onChange={(event) => onChange(event.target.value)}
      />
      {rolloutOf(text) === undefined && (
        <FormControl.Validation variant="error">Enter a whole number from 0 to 100.</FormControl.Validation>
      )}
      <FormControl.Caption>
        The share of tasks that version {version} takes. Below 100, version {version - 1} takes the others.
      </FormControl.Caption>
    </FormControl>
  );
}
