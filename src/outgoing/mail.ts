import { createTransport } from 'nodemailer';

/** A mail in plain text and in HTML. */
export interface Message {
  /** One address, without a name. */
  to: string;
  subject: string;
  text: string;
  html: string;
  /** The same for every attempt, so that a mail server or a mailbox can drop a second copy. */
  id: string;
  headers: Record<string, string>;
}

/** Sends mail through an SMTP server. */
export interface Mail {
  /** @throws Error when the server does not take the mail */
  send(message: Message): Promise<void>;
  /** Signs in to the server and sends nothing. @throws Error */
  verify(): Promise<void>;
}

/** How long a server may take to accept a connection, to greet, and to answer. */
const limits = { connectionTimeout: 10_000, greetingTimeout: 10_000, dnsTimeout: 10_000, socketTimeout: 20_000 };

/** Opens mail through a server such as `smtps://user:password@mail.example.org`. No connection is kept. */
export function openMail(url: string, from: string): Mail {
  const transport = createTransport({ url, ...limits });
  const domain = from.slice(from.lastIndexOf('@') + 1);
  return {
    send: async ({ to, subject, text, html, id, headers }) => {
      await transport.sendMail({
        from: { name: 'Deckhand', address: from },
        to: { name: '', address: to },
        subject,
        text,
        html,
        messageId: `<${id}@${domain}>`,
        headers: { 'Auto-Submitted': 'auto-generated', ...headers },
        // The texts are of other people.
        disableFileAccess: true,
        disableUrlAccess: true,
      });
    },
    verify: async () => {
      await transport.verify();
    },
  };
}
