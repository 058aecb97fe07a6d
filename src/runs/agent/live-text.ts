import type { Database } from '../../db/database.ts';
import { safeLength } from '../../domain/secrets/safe-length.ts';
import { withoutSecrets } from '../../domain/secrets/without-secrets.ts';
import type { ReplyOptions } from '../../llm/model.ts';

/** How long text is collected before it is sent. */
const flushMs = 250;
/** Characters of one message. Each needs at most six bytes as JSON, and PostgreSQL allows 8000 bytes. */
const maxPiece = 1200;
/** Characters shown of one turn. Beyond that nothing more of it is shown; the conversation has the whole text. */
const maxTurn = 100_000;

/** The topic under which the text of a run is sent to those who follow it. */
export function textTopic(runId: string): string {
  return `text ${runId}`;
}

/** Shows people what a model writes while it writes. The text is sent to all processes, and stored nowhere. */
export interface LiveText {
  /** Returns the callbacks for a request. `turn` returns the number of its turn. */
  ofTurn(turn: () => number): Required<Pick<ReplyOptions, 'onText' | 'onRestart'>>;
  /** Sends the rest of the text. Call it when the turn is complete. */
  end(): Promise<void>;
}

/**
 * `secrets` returns the credentials to remove. Text that may be the beginning of one is held back until it is complete.
 */
export function openLiveText(db: Pick<Database, 'tell'>, runId: string, secrets: () => string[]): LiveText {
  let turn = 0;
  let held = '';
  let shown = 0;
  let restarts = false;
  let timer: NodeJS.Timeout | undefined;
  let sending = Promise.resolve();
  const send = (text: string) => {
    for (let at = 0; at < text.length; at += maxPiece) {
      const delta = { turn, text: text.slice(at, at + maxPiece), ...(restarts ? { restarts } : {}) };
      restarts = false;
      // Losing a piece while the database is unavailable does little harm: the whole turn is stored later.
      sending = sending.then(() => db.tell(textTopic(runId), JSON.stringify(delta))).catch(() => {});
    }
  };
  const flush = (length: number) => {
    clearTimeout(timer);
    timer = undefined;
    const text = withoutSecrets(held.slice(0, length), secrets());
    held = held.slice(length);
    send(text);
  };
  const begin = () => {
    held = '';
    shown = 0;
    clearTimeout(timer);
    timer = undefined;
  };
  return {
    ofTurn: (number) => ({
      onText: (piece) => {
        turn = number();
        held += piece.slice(0, maxTurn - shown);
        shown = Math.min(shown + piece.length, maxTurn);
        timer ??= setTimeout(() => flush(safeLength(held, secrets())), flushMs).unref();
      },
      onRestart: () => {
        begin();
        restarts = true;
      },
    }),
    end: async () => {
      flush(held.length);
      begin();
      restarts = false;
      await sending;
    },
  };
}
