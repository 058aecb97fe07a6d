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
  const secrets = await knownSecrets(app, run.projectId);
  return turns.map((turn) => showTurn(turn, secrets));
}

/** Joins each call of a turn with its result. */
function showTurn({ messages, ...figures }: ShownTurn, secrets: string[]) {
  // Before results are cut, because half a credential would not be found.
  const exchanges = exchangesOf(withoutSecrets(messages, secrets));
  const calls = exchanges.flatMap(({ calls, results }) =>
    calls.map((call) => {
      const result = results.get(call.id) ?? '';
      return { name: call.name, arguments: call.arguments, result: result.slice(0, maxResult), ok: !isRefused(result) };
    }),
  );
  return { ...figures, text: exchanges.map(({ text }) => text).join('\n\n'), calls };
}
