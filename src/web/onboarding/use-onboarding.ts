import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { storeText } from '../frame/personal-storage.ts';
import { serviceInfo } from '../frame/service-info.ts';
import * as queries from '../live/queries.ts';
import { isComplete, type Step, stepsOf } from './steps.ts';

export interface OnboardingState {
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
  const { data, isLoading } = useQuery({ ...queries.onboarding(projectId), enabled: !isHidden });
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
