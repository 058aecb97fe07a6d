import './onboarding.css';
import { CheckCircleFillIcon, CircleIcon } from '@primer/octicons-react';
import { Button, Heading } from '@primer/react';
import { queryOptions, useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { Link } from 'react-router';
import { hasRole } from '../../domain/agent.ts';
import * as api from '../api.ts';
import { storeText } from '../frame/personal-storage.ts';
import { serviceInfo } from '../frame/service-info.ts';
import * as queries from '../live/queries.ts';
import { isComplete, type Step, stepsOf } from './steps.ts';

/**
 * Shows the steps for the newest project that the person can work in, or for the first one that they will create. Those who only
 * view projects can do none of the steps.
 */
export function OnboardingOfNewest() {
  const { data: projects } = useQuery(queries.projects());
  const newest = projects?.find(({ role }) => hasRole(role, 'member'));
  if (projects === undefined || (newest === undefined && projects.length > 0)) return null;
  return newest === undefined ? (
    <Checklist title="Get started" steps={stepsOf(undefined, serviceInfo.installUrl)} />
  ) : (
    <OfProject key={newest.id} id={newest.id} name={newest.name} />
  );
}

function OfProject({ id, name }: { id: string; name: string }) {
  const { steps, hide } = useOnboarding(id);
  return steps && <Checklist title={`Get started with ${name}`} steps={steps} onHide={hide} />;
}

function Checklist({ title, steps, onHide }: { title: string; steps: Step[]; onHide?: () => void }) {
  return (
    <section className="box onboarding" aria-label="Get started">
      <div className="row wrap-row">
        <Heading as="h2" variant="small">
          <bdi>{title}</bdi>
        </Heading>
        <Progress steps={steps} />
        <span className="grow" />
        {onHide && <HideButton onHide={onHide} />}
      </div>
      <ul>
        {steps.map((step) => (
          <li key={step.title}>
            {step.isDone ? (
              <>
                <CheckCircleFillIcon className="step-done" aria-label="Done:" /> <s className="muted">{step.title}</s>
              </>
            ) : (
              <>
                <CircleIcon className="step-open" aria-label="To do:" /> <StepLink step={step} />
              </>
            )}
          </li>
        ))}
      </ul>
      <p className="muted small">
        Only proof of pull requests? That needs no model and no task: commit <code>prove: everyone</code> and{' '}
        <code>checks</code> in .deckhand.yml to the default branch.
      </p>
    </section>
  );
}

/**
 * Shows the next step of a project in a line, for pages that need their space. Until it is known, the line is empty: what is
 * below it must not move when it appears.
 */
export function NextStep({ onboarding: { steps, isLoading, hide } }: { onboarding: OnboardingState }) {
  const next = steps?.find(({ isDone }) => !isDone);
  if (isLoading) return <div className="onboarding next-step" />;
  if (steps === undefined || next === undefined) return null;
  return (
    <section className="onboarding next-step row wrap-row" aria-label="Get started">
      <span className="strong">Get started</span>
      <Progress steps={steps} />
      <span>
        Next: <StepLink step={next} />
      </span>
      <span className="grow" />
      <HideButton onHide={hide} />
    </section>
  );
}

function Progress({ steps }: { steps: Step[] }) {
  return (
    <span className="muted" role="status">
      {steps.filter(({ isDone }) => isDone).length} of {steps.length} done
    </span>
  );
}

function HideButton({ onHide }: { onHide: () => void }) {
  return (
    <Button size="small" variant="invisible" onClick={onHide}>
      Hide checklist
    </Button>
  );
}

function StepLink({ step: { title, why, to } }: { step: Step }) {
  return (
    <>
      {to.startsWith('http') ? <a href={to}>{title}</a> : <Link to={to}>{title}</Link>}{' '}
      <span className="muted">{why}</span>
    </>
  );
}

/** How often the checklist of a new project is fetched while it is not complete. Most of its steps have no events. */
const onboardingPollMs = 5000;

/** Which steps to its first finished task a project has behind it. */
const onboarding = (id: string) =>
  queryOptions({
    queryKey: ['onboarding', id],
    queryFn: () => api.getOnboarding(id),
    refetchInterval: ({ state }) => (state.data !== undefined && isComplete(state.data) ? false : onboardingPollMs),
  });

interface OnboardingState {
  /** Undefined when there is nothing to show: all steps are done, or the person has hidden them. */
  steps: Step[] | undefined;
  /** Whether the steps may still appear. */
  isLoading: boolean;
  hide(): void;
}

const storageKeyOf = (projectId: string) => `deckhand-onboarding-${projectId}`;
const isStored = (projectId: string) => localStorage.getItem(storageKeyOf(projectId)) !== null;

/** Returns the steps to the first finished task of a project until they are done or the person hides them. */
export function useOnboarding(projectId: string): OnboardingState {
  const [hidden, setHidden] = useState<string>();
  const isHidden = hidden === projectId || isStored(projectId);
  const { data, isLoading } = useQuery({ ...onboarding(projectId), enabled: !isHidden });
  const isOver = data !== undefined && isComplete(data);
  useEffect(() => {
    // Once all steps are done, this browser does not ask again.
    if (isOver) storeText(localStorage, storageKeyOf(projectId), 'done');
  }, [isOver, projectId]);
  return {
    steps: data === undefined || isHidden || isOver ? undefined : stepsOf(projectId, serviceInfo.installUrl, data),
    isLoading,
    hide: () => {
      storeText(localStorage, storageKeyOf(projectId), 'hidden');
      setHidden(projectId);
    },
  };
}
