import { Button, Flash, FormControl, Textarea } from '@primer/react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useNavigate } from 'react-router';
import * as api from '../../api.ts';
import { FormButtons, FormDialog } from '../../forms/form-dialog.tsx';
import { submitOnce } from '../../forms/submit.ts';
import { useDraft } from '../../forms/use-draft.ts';
import { errorMessage } from '../../live/errors.ts';
import * as queries from '../../live/queries.ts';
import { refetchAgents } from '../../live/refetch-changes.ts';
import { PromptDiff } from './prompt-diff.tsx';
import { RolloutField, rolloutOf } from './rollout-field.tsx';

interface Props {
  projectId: string;
  agent: api.Agent;
  onClose(): void;
}

/** Creates the next version of an agent, from a list of improvements or from a new prompt. */
export function NewVersion({ projectId, agent }: Omit<Props, 'onClose'>) {
  const suggestions = useQuery(queries.suggestions(agent.id));
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
    return <Accept {...props} preview={preview.data} onClose={close} onBack={() => preview.reset()} />;
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

function Accept(props: Props & { preview: api.PromptPreview; onBack(): void }) {
  const { projectId, agent, preview, onClose, onBack } = props;
  const client = useQueryClient();
  const navigate = useNavigate();
  const [rollout, setRollout] = useState('100');
  const create = useMutation({
    mutationFn: () =>
      api.evolveAgent(agent.id, {
        newSystemPrompt: preview.systemPrompt,
        rollout: Number(rollout),
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
