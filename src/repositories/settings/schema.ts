import { z } from 'zod';
import { problemWithAllowed } from '../../domain/protected/protected-paths.ts';
import { planModes } from '../../domain/settings/plan-first.ts';
import { pushModes } from '../../domain/settings/push-mode.ts';
import { setupsOfChange } from '../../domain/settings/setup-of-change.ts';
import { cache, env, image, imageAuth, network, secrets, services, tests } from './machine-keys.ts';
import { problemWithPattern } from './patterns.ts';
import { kindOf, listed, path, text } from './values.ts';

const pattern = path.superRefine((given, context) => {
  const problem = problemWithPattern(given);
  if (problem !== undefined) context.addIssue(problem);
});

const allowed = path.superRefine((given, context) => {
  const problem = /[*?[\]{}]/.test(given)
    ? 'must be the exact path of a file or a folder, without *, ?, [] or {}'
    : (problemWithLocation(given) ?? problemWithAllowed(given));
  if (problem !== undefined) context.addIssue(problem);
});

function problemWithLocation(given: string): string | undefined {
  const isInside = given.split('/').every((name) => name !== '' && name !== '.' && name !== '..');
  return isInside ? undefined : 'must name a file or a folder of the repository';
}

const positive = z
  .number({ error: ({ input }) => `must be a number, not ${kindOf(input)}` })
  .positive('must be more than 0');

export const Settings = z
  .strictObject({
    image: image.optional(),
    imageAuth: imageAuth.optional(),
    setup: listed(text(2000), 20).default([]),
    cache,
    network,
    env,
    secrets,
    services,
    checks: listed(text(2000), 20).default([]),
    tests,
    plan: z.enum(planModes, 'must be never, always or large').default('never'),
    push: z.enum(pushModes, 'must be free or approved').default('free'),
    setupOfChange: z.enum(setupsOfChange, 'must be packages, approved or closed').default('packages'),
    proof: z.enum(['optional', 'required'], 'must be optional or required').default('optional'),
    protected: listed(pattern, 200).default([]),
    allowed: listed(allowed, 200).default([]),
    agent: text(200).optional(),
    budget: z
      .strictObject(
        { minutes: positive, steps: positive, tokens: positive, costUsd: positive },
        { error: ({ input }) => `must contain limits such as { minutes: 20 }, not ${kindOf(input)}` },
      )
      .partial()
      .default({}),
  })
  .superRefine((given, context) => {
    for (const name of given.secrets)
      if (Object.hasOwn(given.env, name))
        context.addIssue({ code: 'custom', path: ['env', name], message: 'must not have the name of a secret' });
    if (given.imageAuth !== undefined && given.image === undefined)
      context.addIssue({ code: 'custom', path: ['imageAuth'], message: 'can be given only together with image' });
  });

/** The keys inside the values of some keys, for messages about unknown ones. */
export const innerKeys: Record<string, string[]> = {
  budget: ['minutes', 'steps', 'tokens', 'costUsd'],
  imageAuth: ['username', 'password'],
  network: ['setup', 'agent'],
  services: ['run', 'port'],
};
