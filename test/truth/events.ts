import { Description } from './description.ts';
import { parsed } from './exchange.ts';
import { Schemas } from './schemas.ts';
import { readWebhooks } from './webhook-variants.ts';

/** An event that the emulator sent to the service. */
export interface SentEvent {
  /** The test file that was running. */
  file: string;
  event: string;
  body: string;
}

/** Returns the name of each event, and what is wrong with it. */
export function checkEvents(sent: SentEvent[]) {
  if (sent.length === 0) return [];
  const events = new Events();
  return sent.map((each) => ({ file: each.file, ...events.check(each) }));
}

/** Checks events against GitHub's description of its webhooks. */
class Events {
  private readonly document = readWebhooks();
  private readonly description = new Description({ ...this.document, paths: {} } as never);
  private readonly schemas = new Schemas(this.description);

  check({ event, body }: SentEvent): { name: string; problems: string[] } {
    const payload = parsed(body) as { action?: string } | undefined;
    if (typeof payload !== 'object' || payload === null) return { name: event, problems: ['it is not JSON'] };
    const name = [event, payload.action].filter((part) => part !== undefined).join('.');
    const webhook = this.document.webhooks[name.replace('.', '-').replaceAll('_', '-')];
    if (webhook === undefined) return { name, problems: ['GitHub has no such event'] };
    const schema = this.description.resolve(webhook.post.requestBody.content['application/json'].schema);
    const missing = (schema.required ?? []).filter((field) => !(field in payload));
    return {
      name,
      problems: [...missing.map((field) => `${field} is missing`), ...this.schemas.answered(schema, payload)],
    };
  }
}
