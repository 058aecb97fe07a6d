import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { webhookUrl } from '../src/github/app/manifest.ts';
import { startGitHub } from './github/github.ts';
import { offers, startModel } from './model/model.ts';
import { player } from './model/player.ts';
import { endsAfterTour } from './options.ts';
import { openIssues, playChat, playFailure, playPlan, playSprint, playTask, playWizard, type Stage } from './play.ts';
import { startService, until } from './real-service.ts';
import { demoSettings, freePort } from './settings.ts';
import { sandboxLack, say } from './terminal.ts';

/** How long the model takes for the turn of an agent. After the demo, people can watch, message and pause their runs. */
let thinkingTime = 0;

const ends: (() => Promise<void>)[] = [];
async function end(): Promise<void> {
  for (const close of ends.splice(0).reverse()) await close().catch(() => {});
}

/** Starts the GitHub emulator, the scripted model and the service. */
async function setStage(): Promise<Stage> {
  // The sandbox has the programs below /usr.
  const hasChecks = existsSync('/usr/bin/node') || existsSync('/usr/local/bin/node');
  const sample = { owner: 'mona', repository: 'sample', hasDependency: true, hasTemplate: true, hasChecks };
  const github = await startGitHub({ ...sample, people: ['hubot'] });
  ends.push(github.close);
  say(`GitHub emulator with a git server at ${github.url}`);
  const model = await startModel(player, (_turn, request) => sleep(offers(request, 'finish') ? thinkingTime : 0));
  ends.push(model.close);
  const dataDir = await mkdtemp(join(tmpdir(), 'deckhand-demo-'));
  ends.push(() => rm(dataDir, { recursive: true, force: true }));
  const settings = demoSettings({ github, model, port: await freePort(Number(process.env.PORT) || 3000), dataDir });
  // Before the service starts, because GitHub reports the labels that the service creates at its start.
  github.deliverTo(webhookUrl(settings.BASE_URL));
  const service = await startService(settings);
  ends.push(() => service.stop());
  say(`the real service at ${service.url}`);
  const lack = sandboxLack(service.log());
  if (lack !== undefined) process.stdout.write(`\n${lack}\n\n`);
  const token = await service.token('mona');
  const project = await until(
    'the installation to become a project',
    async () => (await service.api<{ id: string; name: string }[]>(token, 'GET', '/projects'))[0],
  );
  say(`the App's installation became the project "${project.name}" (${project.id})`);
  return { service, token, projectId: project.id, github };
}

for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, async () => {
    await end();
    process.exit(0);
  });

async function play(once: boolean): Promise<void> {
  const stage = await setStage();
  await playChat(stage, await playTask(stage));
  await openIssues(stage);
  await playFailure(stage);
  await playSprint(stage);
  await playWizard(stage);
  // Last, so that it is the first entry of the inbox, which is the first page.
  await playPlan(stage);
  say('the demo is complete');
  if (once) await end();
  else {
    thinkingTime = 3000;
    process.stdout.write(`
The service keeps running; press Ctrl+C to stop it.
  Dashboard  ${stage.service.url} (sign in as mona)
  GitHub     ${stage.github.url}/mona/sample (issues, pull requests, comments; you play mona, or hubot, who has no write permission)
  API docs   ${stage.service.url}/api/v1/docs/
  Token      ${stage.token}

Open an issue on this GitHub and comment /agent start, or create a task in the dashboard. The scripted model takes three
seconds for a turn. Each task gets a small function and a test in files of their own, made of the words of its title. It asks
a question first if the title ends with a question mark, and proposes a plan if you choose one for the task. What you say to
it, in messages, plans, reviews and line comments, appears in its plan and its change. On GitHub it follows people with write
permission, so play mona there.
A plan waits for you in the inbox. One task has failed; its page says why, and how to get it going again.
`);
  }
}

function onceOf(args: string[]): boolean | undefined {
  try {
    return endsAfterTour(args);
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`);
    process.exitCode = 2;
    return undefined;
  }
}

const once = onceOf(process.argv.slice(2));
if (once !== undefined)
  await play(once).catch(async (error: Error) => {
    process.stderr.write(`The demo failed: ${error.message}\n`);
    await end();
    process.exitCode = 1;
  });
