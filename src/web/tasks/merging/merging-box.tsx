import { Button, Heading } from '@primer/react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import * as api from '../../api.ts';
import { TimeAgo } from '../../display/times.tsx';
import { May } from '../../forms/may.tsx';
import { notifyError } from '../../frame/notices.tsx';
import { putTask } from '../../live/put-task.ts';

/** Says that GitHub merges the pull requests of a task when they are ready, and lets people take that back. */
export function MergingBox({ task }: { task: api.Task }) {
  const client = useQueryClient();
  const { mutate, isPending } = useMutation({
    mutationFn: async () => {
      await api.stopMergingTask(task.id);
      return api.getTask(task.id);
    },
    onSuccess: (now) => putTask(client, now),
    onError: notifyError,
  });
  const { merging } = task;
  if (merging === null) return null;
  return (
    <section className="box stack tight page-part" aria-label="Merging">
      <div className="row">
        <Heading as="h2" variant="small">
          {merging.state === 'queued' ? 'In the merge queue' : 'Merges when ready'}
        </Heading>
        <span className="grow" />
        <span className="muted">
          <TimeAgo at={merging.since} />
        </span>
      </div>
      <p className="wrap">
        <bdi>{merging.reason}</bdi> A new commit takes it back.
      </p>
      <May>
        <div>
          <Button loading={isPending} onClick={() => mutate()}>
            Do not merge
          </Button>
        </div>
      </May>
    </section>
  );
}
