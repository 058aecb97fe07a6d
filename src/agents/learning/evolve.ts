import { createTwoFilesPatch, FILE_HEADERS_ONLY } from 'diff';
import type { EntityManager } from 'typeorm';
import type { z } from 'zod';
import type { App } from '../../app.ts';
import { newId } from '../../db/ids.ts';
import { Refused } from '../../domain/machine.ts';
import { badField, notFound } from '../../errors.ts';
import { shown } from '../operations.ts';
import { type EvolveAgent, maxPromptChars } from '../schemas.ts';
import {
  type AgentView,
  findVisibleAgent,
  insertAgent,
  lockAgent,
  moveQueuedRuns,
  moveTasks,
  updateAgentRow,
} from '../store.ts';
import { assertMayChange, assertNewest } from '../versions.ts';
import { writePrompt } from './write-prompt.ts';

type Given = z.output<typeof EvolveAgent>;

/**
 * Creates a new version of an agent. Its unfinished tasks move to the new version; a running task moves when its run
 * ends. The old version can still be read, and with a rollout below 100 it takes the rest of the tasks.
 * @throws Refused for an old version, and when the agent changed while a model wrote; AppError 400 and 502 for a prompt
 * that is too long or that the model did not write, 403 and 404 for somebody who may no longer change the agent by then
 */
export async function evolveAgent(app: App, agent: AgentView, userId: string, given: Given): Promise<AgentView> {
  assertNewest(agent);
  const systemPrompt = await newPrompt(app, agent, userId, given);
  const id = newId('agent');
  await app.db.transaction(async (em) => {
    const old = await lockAgent(em, agent.id);
    assertNewest(old);
    if (old.systemPrompt !== agent.systemPrompt)
      throw new Refused('Somebody changed the system prompt of the agent at the same time. Reload and try again.');
    await updateAgentRow(em, old.id, { isNewest: false });
    const { createdAt: _created, ...kept } = old;
    const { rollout } = given;
    const version = old.version + 1;
    await insertAgent(em, { ...kept, id, version, previousVersionId: old.id, isNewest: true, systemPrompt, rollout });
    await moveTasks(em, id);
    await moveQueuedRuns(em, id, rollout === 100 ? id : old.id);
    app.audit.note({
      id: [old.id, id],
      version: [old.version, version],
      ...(rollout === 100 ? {} : { rollout: [null, rollout] }),
    });
  });
  return shown(app, (await findVisibleAgent(app.db.manager, userId, id)) as AgentView);
}

/**
 * Returns the prompt that a new version would have, and how it differs from the current one. Stores nothing.
 * @throws like `evolveAgent`
 */
export async function previewVersion(app: App, agent: AgentView, userId: string, given: Given) {
  assertNewest(agent);
  const systemPrompt = await newPrompt(app, agent, userId, given);
  return { systemPrompt, diff: promptDiff(agent, systemPrompt) };
}

/**
 * Returns the system prompt of the next version. A model writes it only when improvements are all that was given;
 * without a model they are appended.
 */
async function newPrompt(app: App, agent: AgentView, userId: string, given: Given): Promise<string> {
  const { newSystemPrompt, improvements = [] } = given;
  if (newSystemPrompt === undefined) {
    const written = await writePrompt(app, agent, userId, improvements);
    if (written !== undefined) {
      await requireChangeable(app.db.manager, agent.id, userId);
      return written;
    }
  }
  const prompt = newSystemPrompt ?? agent.systemPrompt;
  const whole = improvements.length === 0 ? prompt : withImprovements(prompt, improvements);
  if (whole.length > maxPromptChars)
    throw badField(
      'improvements',
      `improvements are too long: together with the system prompt they must have at most ${maxPromptChars} characters`,
    );
  return whole;
}

/** A model may write for minutes. Somebody who may no longer change the agent by then does not get the prompt. */
async function requireChangeable(em: EntityManager, id: string, userId: string): Promise<void> {
  const agent = await findVisibleAgent(em, userId, id);
  if (agent === undefined) throw notFound('Agent', id);
  await assertMayChange(em, agent, userId);
}

function withImprovements(prompt: string, improvements: string[]): string {
  return [prompt, '', 'Improvements:', ...improvements.map((text) => `- ${text}`)].join('\n').trimStart();
}

/** Comparing two prompts takes at most this long. Beyond that, the diff replaces all lines. */
const diffMs = 500;

function promptDiff({ systemPrompt: before, version }: AgentView, after: string): string {
  if (before === after) return '';
  const [from, to] = [`version ${version}`, `version ${version + 1}`];
  const options = { context: 3, timeout: diffMs, headerOptions: FILE_HEADERS_ONLY };
  const [old, now] = [withEnd(before), withEnd(after)];
  return createTwoFilesPatch(from, to, old, now, undefined, undefined, options) ?? replaced(from, to, old, now);
}

/** Adds the final line break that most prompts lack. Without it, every diff would note that it is missing. */
function withEnd(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`;
}

function replaced(from: string, to: string, old: string, now: string): string {
  const lines = (text: string) => text.split('\n').slice(0, -1);
  const [removed, added] = [lines(old), lines(now)];
  return [
    `--- ${from}`,
    `+++ ${to}`,
    `@@ -1,${removed.length} +1,${added.length} @@`,
    ...removed.map((line) => `-${line}`),
    ...added.map((line) => `+${line}`),
    '',
  ].join('\n');
}
