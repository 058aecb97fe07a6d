import { z } from 'zod';
import { IdText, Timestamp } from '../../http/shapes.ts';
import { registryHost } from '../../images/reference.ts';

/** Shorter values cannot be searched for, because they would match by chance. */
const leastChars = 8;
const maxBytes = 32_768;
/** The most repositories of one secret, and the most registries. */
const [maxRepositories, maxHosts] = [1000, 20];

const host = z.string().transform((text, context) => {
  const found = registryHost(text);
  if (found !== undefined) return found;
  context.addIssue('must be the host of a registry such as registry.example.org or registry.example.org:5000');
  return z.NEVER;
});

export const SetEnvironmentSecret = z.strictObject({
  value: z
    .string()
    .min(leastChars, `must have at least ${leastChars} characters`)
    .refine((value) => Buffer.byteLength(value) <= maxBytes, 'must have at most 32 kB')
    .refine((value) => !value.includes('\0'), 'must not contain a NUL character'),
  repositories: z.array(IdText).max(maxRepositories, `must have at most ${maxRepositories} entries`).optional().meta({
    description:
      'ids of the repositories of the project that may use the secret; without it, the only repository of the project',
  }),
  hosts: z.array(host).max(maxHosts, `must have at most ${maxHosts} entries`).default([]).meta({
    description:
      'registries, and their token services, that may get the secret as a credential of `imageAuth`, with the port unless it is 443',
  }),
});

export const EnvironmentSecret = z
  .object({
    name: z.string(),
    createdAt: Timestamp,
    repositories: z.array(z.string()).meta({ description: 'ids of the repositories that may use it' }),
    hosts: z.array(z.string()).meta({ description: 'hosts that may get it as a credential for an image' }),
  })
  .meta({ id: 'EnvironmentSecret' });

export const UnassignedSecrets = z
  .object({ projectId: z.string(), names: z.array(z.string()) })
  .meta({ id: 'UnassignedSecrets' });
