import { setImmediate as breathe } from 'node:timers/promises';
import type { App } from '../../app.ts';
import { withoutSecrets } from '../../domain/secrets/without-secrets.ts';
import { knownSecrets } from '../../environment/secrets/known.ts';
import { exchangesOf } from '../agent/context/exchanges.ts';
import { isRefused } from '../agent/context/facts.ts';
import { listShownTurns, type ShownTurn } from '../lease/turn-store.ts';

/** Longer results of calls are cut to this many characters. */
const maxResult = 10_000;

/** Returns the turns of a run as people see them, without credentials. */
export async function showTurns(
  app: App,
  run: { id: string; projectId: string },
  page: { limit: number; offset: number },
) {
  const turns = await listShownTurns(app.db.manager, run.id, page);
  return showEach(turns, await knownSecrets(app, run.projectId));
}

/** Looks for credentials in one turn at a time, because the turns of a page together may be megabytes. */
export async function showEach(turns: ShownTurn[], secrets: string[]) {
  const shown = [];
  for (const turn of turns) {
    shown.push(showTurn(turn, secrets));
    await breathe();
  }
  return shown;
}

/** Joins each call of a turn with its result. */
function showTurn({ messages, ...figures }: ShownTurn, secrets: string[]) {
  const exchanges = exchangesOf(messages);
  const whole = {
    text: exchanges.map(({ text }) => text).join('\n\n'),
    calls: exchanges.flatMap(({ calls, results }) =>
      calls.map(({ id, name, arguments: given }) => ({ name, arguments: given, result: results.get(id) ?? '' })),
    ),
  };
  // Before results are cut, because half a credential would not be found.
  const { text, calls } = withoutSecrets(whole, secrets);
  return {
    ...figures,
    text,
    calls: calls.map((call) => ({ ...call, result: call.result.slice(0, maxResult), ok: !isRefused(call.result) })),
  };
}
