import { z } from 'zod';
import { words } from '../../llm/calls/declaration.ts';
import { path, pathNames } from '../../repositories/read-tools.ts';
import { tool } from './tool.ts';

/** The tools that open other repositories and move submodules. */
export const repositoryTools = {
  open_repository: tool({
    description:
      'Open another connected repository at ../<name>/. Its files are then read and changed under that path.',
    arguments: z.strictObject({ name: z.string().min(1).max(200) }),
    names: ['open_repo', 'clone_repository', 'use_repository'],
    argumentNames: { name: words('repository repo repository_name repo_name') },
    changes: true,
  }),
  set_submodule: tool({
    description:
      'Move a submodule to another commit of its own repository. commit is a branch, a tag or all 40 characters of a commit. The files of the submodule in the workspace are replaced, background processes end, and your change gets the new commit. Use it only if the task says so: otherwise a person has to allow it.',
    arguments: z.strictObject({ path, commit: z.string().trim().min(1).max(200) }),
    names: words('update_submodule move_submodule bump_submodule submodule_update'),
    argumentNames: { path: [...pathNames, 'submodule', 'name'], commit: words('revision ref sha branch tag version') },
    changes: true,
    offer: 'with submodules',
    about: (args) => `${args.path} ${args.commit}`,
  }),
};
