import { createHmac, randomUUID } from 'node:crypto';

export interface Delivery {
  guid: string;
  event: string;
  body: string;
  /** The status of the service's response; 0 until it arrives. */
  status: number;
}

/**
 * Sends webhooks, each with a unique delivery id. The emulator uses the time as id, so two events may have the same
 * one.
 */
export class WebhookSender {
  readonly deliveries: Delivery[] = [];
  /** Where to send webhooks. While it is undefined they are only recorded. */
  target: string | undefined;
  private readonly secret: string;

  constructor(secret: string) {
    this.secret = secret;
  }

  /** Sends a delivery again: with the same id, as GitHub redelivers, or with a new one. */
  async repeat(guid: string, isSame = false): Promise<void> {
    const known = this.deliveries.find((d) => d.guid === guid);
    if (known !== undefined) await this.send(known.event, known.body, isSame ? guid : undefined);
  }

  async send(event: string, body: string, guid: string = randomUUID()): Promise<void> {
    const delivery: Delivery = { guid, event, body, status: 0 };
    this.deliveries.push(delivery);
    if (this.target === undefined) return;
    const headers = {
      'Content-Type': 'application/json',
      'User-Agent': 'GitHub-Hookshot/emulator',
      'X-GitHub-Event': event,
      'X-GitHub-Delivery': delivery.guid,
      'X-Hub-Signature-256': `sha256=${createHmac('sha256', this.secret).update(body).digest('hex')}`,
    };
    const response = await fetch(this.target, { method: 'POST', headers, body }).catch(() => undefined);
    delivery.status = response?.status ?? 0;
  }
}
