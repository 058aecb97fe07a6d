import type { Onboarding } from '../api.ts';

/** A step to the first finished task of a project. */
export interface Step {
  title: string;
  isDone: boolean;
  /** Says why the step is needed. */
  why: string;
  /** The page on which it is done; an address of GitHub begins with https. */
  to: string;
}

const nothing: Onboarding = {
  hasGitAccess: false,
  repositoryId: null,
  isEnvironmentTried: false,
  hasModel: false,
  hasDoneTask: false,
};

/** Returns the steps of a project. Without a project, none of them is done. */
export function stepsOf(
  projectId: string | undefined,
  installUrl: string | null,
  { hasGitAccess, repositoryId, isEnvironmentTried, hasModel, hasDoneTask }: Onboarding = nothing,
): Step[] {
  const project = projectId === undefined ? '/projects' : `/projects/${projectId}`;
  const pageOf = (page: string) => (projectId === undefined ? project : `${project}/${page}`);
  return [
    {
      title: 'Install the GitHub App',
      isDone: hasGitAccess,
      why: 'Agents read your repositories and open pull requests through it.',
      to: installUrl ?? pageOf('settings'),
    },
    {
      title: 'Connect a repository',
      isDone: repositoryId !== null,
      why: 'Agents work in the repositories of a project.',
      to: pageOf('repositories'),
    },
    {
      title: 'Try its environment',
      isDone: isEnvironmentTried,
      why: 'A trial shows whether set-up and checks work, before an agent needs them.',
      to: pageOf(repositoryId === null ? 'repositories' : `repositories/${repositoryId}`),
    },
    {
      title: 'Configure a model',
      isDone: hasModel,
      why: 'Agents need a model and a key for it.',
      to: pageOf('settings'),
    },
    {
      title: 'Finish a first task',
      isDone: hasDoneTask,
      why: 'Create a task, start an agent, and merge its pull request.',
      to: projectId === undefined ? project : `${project}?new=one`,
    },
  ];
}

/** Returns whether all steps of a project are done. */
export function isComplete(onboarding: Onboarding): boolean {
  return stepsOf(undefined, null, onboarding).every(({ isDone }) => isDone);
}
