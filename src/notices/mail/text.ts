import { decisionPath, inboxSentence } from '../../domain/notices/reasons.ts';
import { oneLine, visible } from '../../domain/text/sanitize.ts';
import { escaped } from '../../http/documents/plain-page.ts';
import type { InboxEntry } from '../../tasks/inbox.ts';

export interface MailText {
  subject: string;
  text: string;
  html: string;
}

interface Around {
  baseUrl: string;
  /** Stops all mail to the person. */
  stop: string;
  projects: Map<string, string>;
}

/** Characters of a subject, and of what a mail says about one entry. */
const [maxSubject, maxText] = [150, 1000];
/** Entries that one mail names. The inbox has all. */
const maxEntries = 50;

/** Writes the mail about one entry of the inbox. Its subject is the sentence that browsers show. */
export function mailAbout(entry: InboxEntry, around: Around): MailText {
  const about = visible(entry.text);
  const text = about.length > maxText ? `${about.slice(0, maxText - 1).toWellFormed()}…` : about;
  return {
    subject: sentence(entry),
    ...composed([{ entry, text }], 'Decide in Deckhand', around),
  };
}

/** Writes one mail about several entries. */
export function mailAboutAll(entries: InboxEntry[], around: Around): MailText {
  const named = entries.slice(0, maxEntries);
  const more = entries.length - named.length;
  const rest = more === 0 ? 'Open the inbox' : `Open the inbox, which has ${more} more`;
  return {
    subject: entries.length === 1 ? '1 task needs you' : `${entries.length} tasks need you`,
    ...composed(
      named.map((entry) => ({ entry, text: '' })),
      rest,
      around,
    ),
  };
}

/** Writes the mail in which a person confirms their address. */
export function confirmation(login: string, link: string): MailText {
  const says = `Somebody who is signed in to Deckhand as ${login} wants notices at this address. If that is you, open this page and confirm it within a day:`;
  const ignore = 'If it is not you, do nothing: this address gets nothing else.';
  return {
    subject: 'Confirm your address for notices',
    text: `${says}\n\n${link}\n\n${ignore}\n`,
    html: html([`<p>${escaped(says)}</p>`, anchor(link, 'Confirm this address'), `<p>${escaped(ignore)}</p>`]),
  };
}

function sentence(entry: InboxEntry): string {
  return oneLine(visible(inboxSentence(entry)), maxSubject);
}

function composed(
  parts: { entry: InboxEntry; text: string }[],
  linkText: string,
  { baseUrl, stop, projects }: Around,
): Omit<MailText, 'subject'> {
  const all = parts.map(({ entry, text }) => ({
    says: sentence(entry),
    project: oneLine(visible(projects.get(entry.projectId) ?? ''), maxSubject),
    text,
    link: `${baseUrl}${decisionPath(entry)}`,
  }));
  const isOne = all.length === 1;
  const end = isOne ? '' : `${linkText}: ${baseUrl}/\n\n`;
  const lines = all.map(({ says, project, text, link }) =>
    [`${says}\nProject ${project}`, ...(text === '' ? [] : [text]), link].join('\n\n'),
  );
  const why = 'You get this because you asked for notices of your inbox.';
  return {
    text: `${lines.join('\n\n')}\n\n${end}-- \n${why} Stop: ${stop}\n`,
    html: html([
      ...all.map(
        ({ says, project, text, link }) =>
          `<p><strong>${escaped(says)}</strong><br>Project ${escaped(project)}</p>${
            text === '' ? '' : `<p>${escaped(text).replace(/\n/g, '<br>')}</p>`
          }${anchor(link, isOne ? linkText : 'Decide')}`,
      ),
      ...(isOne ? [] : [anchor(`${baseUrl}/`, linkText)]),
      `<p><small>${why} <a href="${escaped(stop)}">Stop these mails</a></small></p>`,
    ]),
  };
}

function anchor(link: string, text: string): string {
  return `<p><a href="${escaped(link)}">${escaped(text)}</a></p>`;
}

function html(parts: string[]): string {
  return `<!doctype html>\n<html lang="en"><head><meta charset="utf-8"></head><body>\n${parts.join('\n')}\n</body></html>\n`;
}
