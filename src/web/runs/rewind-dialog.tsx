import { useNavigate } from 'react-router';
import * as api from '../api.ts';
import { TextDialog } from '../forms/text-dialog.tsx';
import { useSteering } from '../tasks/waiting/use-steering.ts';

/** Asks what the agent should do differently, goes back to a turn, and opens the page of the new run. */
export function RewindDialog(props: { task: api.Task; runId: string; turn: number; onClose(): void }) {
  const { task, runId, turn, onClose } = props;
  const { mutateAsync } = useSteering(task);
  const navigate = useNavigate();
  const rewind = (text: string) =>
    mutateAsync(async (id) => {
      const rewound = await api.rewindTask(id, { runId, turn, ...(text === '' ? {} : { text }) });
      const [newest] = await api.listRuns(id, { limit: 1 });
      if (newest !== undefined) await navigate(`/tasks/${id}/runs/${newest.id}`);
      return rewound;
    });
  return (
    <TextDialog
      title={`Rewind to turn ${turn}`}
      about={runId}
      hint={`A new run continues with the conversation and the files as they were after turn ${turn}. Its commit undoes all later changes on the branch, including those by people. Nothing is pushed by force.`}
      label="What should the agent do differently? (optional)"
      submit="Rewind"
      onSubmit={rewind}
      onClose={onClose}
    />
  );
}
