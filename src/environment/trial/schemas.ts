import { z } from 'zod';
import { Timestamp } from '../../http/shapes.ts';

const status = z.enum(['running', 'ready', 'failed']);

export const StartedTrial = z.object({ id: z.string(), status }).meta({ id: 'StartedEnvironmentTrial' });

export const Trial = z
  .object({
    id: z.string(),
    status,
    startedAt: Timestamp,
    finishedAt: Timestamp.nullable(),
    image: z.string().nullable().meta({ description: "null for the worker's own system" }),
    problem: z
      .string()
      .nullable()
      .meta({ description: 'why the trial failed, unless the result of a command shows it' }),
    commands: z.array(
      z.object({
        command: z.string(),
        exitCode: z.int().nullable().meta({ description: 'null while the command runs, and when it was stopped' }),
        seconds: z.number(),
        output: z.string(),
      }),
    ),
    setupCommands: z
      .int()
      .min(0)
      .meta({ description: 'how many of the commands, from the first, are set-up; the others are checks' }),
    refusedHosts: z.array(z.object({ host: z.string(), times: z.int() })),
  })
  .meta({ id: 'EnvironmentTrial' });
