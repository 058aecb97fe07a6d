import { CheckCircleFillIcon, CircleIcon, DotFillIcon } from '@primer/octicons-react';
import { Heading } from '@primer/react';
import { memo } from 'react';
import type { PlanStep } from './log/timeline.ts';

const icons = {
  todo: <CircleIcon aria-label="To do" />,
  doing: <DotFillIcon aria-label="In progress" className="state-doing" />,
  done: <CheckCircleFillIcon aria-label="Done" className="state-ok" />,
};

/** Shows the agent's plan as a checklist. */
export const PlanSteps = memo(function PlanSteps({ steps, isLive }: { steps: PlanStep[]; isLive: boolean }) {
  if (steps.length === 0) return null;
  const done = steps.filter(({ status }) => status === 'done').length;
  return (
    <section className="box run-plan" aria-labelledby="plan-heading">
      <Heading as="h2" variant="small" id="plan-heading">
        Plan <span className="muted small">{`${done} of ${steps.length} done`}</span>
      </Heading>
      <ol className="plain-list stack tight">
        {steps.map(({ text, status }, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the whole plan is replaced at once
          <li key={i} className="row top-aligned-row">
            {/* Nobody works on a step of a run that has ended. */}
            {icons[status === 'doing' && !isLive ? 'todo' : status] ?? icons.todo}
            <bdi className={status === 'doing' && isLive ? 'wrap strong' : 'wrap'}>{text}</bdi>
          </li>
        ))}
      </ol>
    </section>
  );
});
