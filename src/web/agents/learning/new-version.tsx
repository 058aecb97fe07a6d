import { Button, Flash, FormControl, Textarea } from '@primer/react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useNavigate } from 'react-router';
import * as api from '../api.ts';
import { FormButtons, FormDialog } from '../forms/form-dialog.tsx';
import { submitOnce } from '../forms/submit-once.ts';
import { errorMessage } from '../live/errors.ts';
import * as queries from '../live/queries.ts';

/** Creates the next version of an agent, from a list of improvements or from a new prompt. */
export function NewVersion({ projectId, agent }: { projectId: string; agent: api.Agent }) {
  const suggestions = useQuery(queries.suggestions(agent.id));
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button variant="primary" onClick={() => setOpen(true)}>
        New version
      </Button>
      {isOpen && (
        <FormDialog title={`New version of ${agent.name}`} onClose={() => setOpen(false)} width="xlarge">
          <VersionForm
            projectId={projectId}
            agent={agent}
            suggestions={(suggestions.data?.suggestions ?? []).map((s) => s.suggestion)}
            onClose={() => setOpen(false)}
          />
        </FormDialog>
      )}
    </>
  );
}

function VersionForm(props: { projectId: string; agent: api.Agent; suggestions: string[]; onClose(): void }) {
  const { projectId, agent, suggestions, onClose } = props;
  const client = useQueryClient();
  const navigate = useNavigate();
  const [improvements, setImprovements] = useState(() => suggestions.join('\n'));
  const [prompt, setPrompt] = useState(agent.systemPrompt);
  const create = useMutation({
    mutationFn: () => {
      const lines = improvements.split('\n').filter((line) => line.trim() !== '');
      return api.evolveAgent(agent.id, {
        ...(lines.length > 0 ? { improvements: lines } : {}),
        ...(prompt === agent.systemPrompt ? {} : { newSystemPrompt: prompt }),
      });
    },
    onSuccess: async (created) => {
      await client.invalidateQueries({ queryKey: ['agents'] });
      await client.invalidateQueries({ queryKey: ['agent'] });
      onClose();
      await navigate(`/projects/${projectId}/agents/${created.id}`);
    },
  });
  return (
    <form className="stack" onSubmit={submitOnce(create)}>
      {create.error && <Flash variant="danger">{errorMessage(create.error)}</Flash>}
      <FormControl>
        <FormControl.Label>Improvements</FormControl.Label>
        <Textarea block rows={4} value={improvements} onChange={(event) => setImprovements(event.target.value)} />
        <FormControl.Caption>One per line. They are added to the system prompt as a list.</FormControl.Caption>
      </FormControl>
      <FormControl>
        <FormControl.Label>System prompt</FormControl.Label>
        <Textarea block rows={8} value={prompt} onChange={(event) => setPrompt(event.target.value)} />
      </FormControl>
      <p className="muted">
        Unfinished tasks move to the new version. You can still read version {agent.version} afterwards.
      </p>
      <FormButtons submit="Create version" isBusy={create.isPending} onCancel={onClose} />
    </form>
  );
}
