import { Button, Heading } from '@primer/react';
import { useQuery } from '@tanstack/react-query';
import { Suspense, useState } from 'react';
import { Link } from 'react-router';
import { readApproval } from '../../../domain/waiting.ts';
import * as api from '../../api.ts';
import { Markdown } from '../../display/markdown.tsx';
import { waitNames } from '../../display/names.ts';
import { TimeAgo } from '../../display/times.tsx';
import { May } from '../../forms/may.tsx';
import { notify } from '../../frame/notices.tsx';
import { dropNotice } from '../../frame/shown-notices.ts';
import { lazyPart } from '../../live/load-part.ts';
import * as queries from '../../live/queries.ts';
import { pausesText, type Steering, useSteering } from '../actions/use-steering.ts';

interface Given {
  task: api.Task;
  attention: api.Attention;
}

/** Shows what the run of a task waits for, and what people can do about it. */
export function AttentionBox({ task }: { task: api.Task }) {
  const steering = useSteering(task);
  // An open dialog stays, and says who was first when somebody else decides.
  const [kept, setKept] = useState<api.Attention>();
  const attention = kept ?? task.attention;
  if (attention === null) return null;
  return (
    <section className="box stack page-part" aria-label="Waiting">
      <div className="row">
        <Heading as="h2" variant="small">
          {waitNames[attention.reason]}
        </Heading>
        <span className="grow" />
        <span className="muted">
          <TimeAgo at={attention.since} />
        </span>
      </div>
      <Details task={task} attention={attention} />
      <May>
        <Answers
          key={attention.id}
          task={task}
          attention={attention}
          steering={steering}
          onDialog={(isOpen) => setKept(isOpen ? attention : undefined)}
        />
      </May>
    </section>
  );
}

/** Shows what a run waits for. */
export function Details({ task, attention: { id, reason, text } }: Given) {
  switch (reason) {
    case 'plan':
      return (
        <>
          <Markdown text={text} />
          <PlanDetails taskId={task.id} attentionId={id} text={text} />
        </>
      );
    case 'question':
      return <Markdown text={text} />;
    case 'push':
      return (
        <>
          <ChangeReasons text={text} />
          <CodeList title="Changed files" entries={readApproval(text).files} />
          <Link to={`/tasks/${task.id}?tab=diff`}>View changes</Link>
        </>
      );
    default:
      return (
        <p className="wrap">
          <bdi>{text}</bdi>
        </p>
      );
  }
}

/** Says what an approval of a change allows besides its push, and why it is needed. */
export function ChangeReasons({ text }: { text: string }) {
  const { setup, expectations, findings } = readApproval(text);
  return (
    <>
      {setup.length > 0 && (
        <p>
          Set-up of this change would run its code with the network of set-up. Approving the change allows that, and the
          change is pushed if its checks pass.
        </p>
      )}
      <CodeList title="Why" entries={setup} />
      <ChangedExpectations sentences={expectations} />
      {findings.length > 0 && (
        <p>
          Only a person may allow what was found in this change. Approving the change allows exactly this. Look at each
          place, and request changes if one of them is not meant for the repository.
        </p>
      )}
      <CodeList title="Found in the change" entries={findings} />
    </>
  );
}

/** Says which earlier tests expect something else now. */
function ChangedExpectations({ sentences }: { sentences: string[] }) {
  if (sentences.length === 0) return null;
  return (
    <>
      {sentences.map((sentence) => (
        <p key={sentence} className="wrap">
          <bdi>{sentence}</bdi>
        </p>
      ))}
      <p>The repository requires a proof. Approve the change if its tests expect the right thing now.</p>
    </>
  );
}

const TextChanges = lazyPart(async () => ({ default: (await import('../../forms/text-changes.tsx')).TextChanges }));

/** Shows what a plan names, and how it differs from the plan before it. */
function PlanDetails({ taskId, attentionId, text }: { taskId: string; attentionId: string; text: string }) {
  const { data: [run] = [] } = useQuery(queries.runs(taskId));
  const { data: plan } = useQuery({ ...queries.planDetails(run?.id ?? '', attentionId), enabled: run !== undefined });
  if (plan === undefined) return null;
  return (
    <>
      <CodeList title="Files that will change" entries={plan.files} />
      <CodeList title="Checks" entries={plan.checks} />
      {plan.previous !== undefined && (
        <details>
          <summary>Changes since the previous plan</summary>
          <Suspense>
            <TextChanges before={plan.previous} after={text} label="Changes of the plan" />
          </Suspense>
        </details>
      )}
    </>
  );
}

function CodeList({ title, entries }: { title: string; entries: string[] }) {
  if (entries.length === 0) return null;
  return (
    <div>
      <p className="strong">{title}</p>
      <ul className="bullets">
        {entries.map((entry, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: models may name a file or a check twice
          <li key={i} className="wrap">
            <code>{entry}</code>
          </li>
        ))}
      </ul>
    </div>
  );
}

interface AnswersProps extends Given {
  steering: Steering;
  /** Called when a dialog of these buttons opens or closes. */
  onDialog?(isOpen: boolean): void;
}

/** Does what a person has decided, and says so. */
type Decide = (said: string, act: (taskId: string) => Promise<api.Task>) => Promise<unknown>;

/** Shows the buttons with which people decide what a run waits for. */
export function Answers(props: AnswersProps) {
  const { task, attention, steering, onDialog } = props;
  const { mutateAsync, isPending } = steering;
  const { id, reason } = attention;
  const decide: Decide = (said, act) =>
    mutateAsync(async (taskId) => {
      const changed = await act(taskId);
      notify(`${said}: ${task.title}`, 'success');
      return changed;
    });
  // The refusal has been shown.
  const decideNow: (...given: Parameters<Decide>) => void = (...given) => void decide(...given).catch(() => {});
  switch (reason) {
    case 'plan':
    case 'push':
      return <Approval {...props} decide={decide} />;
    case 'question':
      return (
        <Choices
          task={task}
          attention={attention}
          onDialog={onDialog}
          isDisabled={isPending}
          onAnswer={(text) => decide('Answered', (taskId) => api.answerTask(taskId, { text, id }))}
        />
      );
    case 'paused':
      return (
        <div>
          <Button
            variant="primary"
            // It keeps the focus, which a disabled button would lose.
            inactive={isPending}
            aria-disabled={isPending}
            data-next-focus
            onClick={() => {
              if (isPending) return;
              dropNotice(pausesText);
              decideNow('Resumed the run', (taskId) => api.resumeTask(taskId));
            }}
          >
            Resume run
          </Button>
        </div>
      );
    default:
      return null;
  }
}

const RequestChangesDialog = lazyPart(async () => ({
  default: (await import('../review/request-changes-dialog.tsx')).RequestChangesDialog,
}));
// Comparing texts needs a library that most visits do without.
const EditPlanDialog = lazyPart(async () => ({ default: (await import('./edit-plan-dialog.tsx')).EditPlanDialog }));

/** Shows the buttons with which people approve a plan or a change, or ask for another one. */
function Approval(props: AnswersProps & { decide: Decide }) {
  const { task, attention, steering, onDialog, decide } = props;
  const [dialog, setDialog] = useState<'edit' | 'revise'>();
  const show = (next: typeof dialog) => {
    setDialog(next);
    onDialog?.(next !== undefined);
  };
  const { id, reason } = attention;
  const isPlan = reason === 'plan';
  const approve = () =>
    decide(isPlan ? 'Approved the plan' : 'Approved the change', (taskId) => api.approveTask(taskId, { id }));
  return (
    <div className="row wrap-row">
      {/* The refusal has been shown. */}
      <Button variant="primary" disabled={steering.isPending} onClick={() => void approve().catch(() => {})}>
        {isPlan ? 'Approve plan' : 'Approve change'}
      </Button>
      {isPlan && (
        <Button disabled={steering.isPending} onClick={() => show('edit')}>
          Edit plan
        </Button>
      )}
      <Button disabled={steering.isPending} onClick={() => show('revise')}>
        Request changes
      </Button>
      <Suspense>
        {dialog === 'edit' && (
          <EditPlanDialog
            task={task}
            attention={attention}
            onSubmit={(plan) => decide('Approved your plan', (taskId) => api.approveTask(taskId, { id, plan }))}
            onClose={() => show(undefined)}
          />
        )}
        {dialog === 'revise' && (
          <RequestChangesDialog
            task={task}
            onSubmit={(request) => decide('Requested changes', (taskId) => api.reviseTask(taskId, request))}
            onClose={() => show(undefined)}
          />
        )}
      </Suspense>
    </div>
  );
}

const TaskTextDialog = lazyPart(async () => ({ default: (await import('./task-text-dialog.tsx')).TaskTextDialog }));

function Choices(props: {
  task: Pick<api.Task, 'id' | 'title'>;
  attention: api.Attention;
  isDisabled: boolean;
  onAnswer(text: string): Promise<unknown>;
  onDialog: ((isOpen: boolean) => void) | undefined;
}) {
  const { task, attention, isDisabled, onAnswer, onDialog } = props;
  const [isOpen, setOpen] = useState(false);
  const show = (isShown: boolean) => {
    setOpen(isShown);
    onDialog?.(isShown);
  };
  return (
    <div className="row wrap-row">
      {attention.options.map((option, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: models may offer an option twice
        <Button key={i} disabled={isDisabled} onClick={() => void onAnswer(String(i + 1)).catch(() => {})}>
          {option}
        </Button>
      ))}
      <Button disabled={isDisabled} onClick={() => show(true)}>
        {attention.options.length === 0 ? 'Answer' : 'Answer in your own words'}
      </Button>
      <Suspense>
        {isOpen && (
          <TaskTextDialog
            taskId={task.id}
            title="Answer the question"
            subtitle={task.title}
            label="Your answer"
            submit="Send answer"
            about={attention.id}
            isRequired
            onSubmit={onAnswer}
            onClose={() => show(false)}
          >
            <Markdown text={attention.text} />
          </TaskTextDialog>
        )}
      </Suspense>
    </div>
  );
}
