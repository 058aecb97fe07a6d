import { createHmac, randomUUID } from 'node:crypto';

export interface Delivery {
  guid: string;
  event: string;
  body: string;
  /** What the service answered; 0 while it has not. */
  status: number;
}

/** Sends webhooks under a delivery id of their own; the emulator's is the time, so two events may share one. */
export class WebhookSender {
  readonly deliveries: Delivery[] = [];
  /** Where webhooks go; nowhere until it is set. */
  target: string | undefined;
  private readonly secret: string;

  constructor(secret: string) {
    this.secret = secret;
  }

  /** Sends one again: under its own id, as GitHub does when it is asked to, or under another. */
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
      'X-GitHub-Event': event,
      'X-GitHub-Delivery': delivery.guid,
      'X-Hub-Signature-256': `sha256=${createHmac('sha256', this.secret).update(body).digest('hex')}`,
    };
    const response = await fetch(this.target, { method: 'POST', headers, body }).catch(() => undefined);
    delivery.status = response?.status ?? 0;
  }
}
