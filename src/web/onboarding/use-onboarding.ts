import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { storeText } from '../frame/personal-storage.ts';
import { serviceInfo } from '../frame/service-info.ts';
import * as queries from '../live/queries.ts';
import { type Step, stepsOf } from './steps.ts';

export interface OnboardingState {
  /** Undefined when there is nothing to show: all steps are done, or the person has hidden them. */
  steps: Step[] | undefined;
  /** Whether the steps may still appear, which would move the rest of the page. */
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
  const steps = data && stepsOf(projectId, serviceInfo.installUrl, data);
  const isShown = !isHidden && steps?.some(({ isDone }) => !isDone);
  return {
    steps: isShown ? steps : undefined,
    isLoading,
    hide: () => {
      storeText(localStorage, storageKeyOf(projectId), 'hidden');
      setHidden(projectId);
    },
  };
}
