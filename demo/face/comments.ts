import { Html, html, markdown, type Part } from './html.ts';

export interface Author {
  login: string;
}

export interface Said {
  id?: number;
  user: Author;
  body: string | null;
  created_at?: string;
  submitted_at?: string;
}

export const timeOf = ({ created_at, submitted_at }: Said) => created_at ?? submitted_at ?? '';

/** How GitHub shows the reactions with which Deckhand answers commands. */
const signs: Record<string, string> = { eyes: '👀', rocket: '🚀', confused: '😕', '+1': '👍', '-1': '👎' };

/** The boxes of a list, which people tick. */
const boxes = /^(\s*(?:[-*+]|\d+[.)])\s+\[)([ x])(?=\])/gim;

/** Returns a comment in which somebody has ticked one of its boxes, or taken the tick away. */
export function ticked(body: string, box: number): string {
  let at = 0;
  return body.replace(boxes, (all, before: string, mark: string) =>
    at++ === box ? `${before}${mark === ' ' ? 'x' : ' '}` : all,
  );
}

/** Shows what somebody wrote, and how others reacted. `id` is that of a comment whose boxes can be ticked. */
export async function commentBox(
  { user, body, ...at }: Said,
  did = 'commented',
  { reactions = [], id = '' }: { reactions?: string[]; id?: string } = {},
): Promise<Html> {
  const shown = body === null || body.trim() === '' ? html`<p class="muted">No description.</p>` : await markdown(body);
  const text = id === '' ? shown : new Html(shown.text.replaceAll(' disabled=""', ''));
  const when = timeOf({ user, body, ...at });
  return html`<article class="box"><div class="head"><strong>${user.login}</strong> ${did} <time class="muted" datetime="${when}">${when.slice(0, 16).replace('T', ' ')}</time></div><div class="body" data-comment="${id}">${text}${reactions.length > 0 && html`<p class="reactions">${reactions.map((each) => html`<span class="label" title="${each}">${signs[each] ?? each}</span>`)}</p>`}</div></article>`;
}

/** Lets the visitor choose whom they play. The first person has write permission, which the others lack. */
export function personField(people: string[]): Html {
  const option = (login: string, i: number) =>
    html`<option value="${login}">${login}${i > 0 && ' (no write permission)'}</option>`;
  return html`<label>As <select name="as">${people.map(option)}</select></label>`;
}

/** A form that writes something. */
export function writeForm(given: {
  action: string;
  people: string[];
  label: string;
  name?: string;
  placeholder?: string;
  before?: Part;
  buttons: Part;
}): Html {
  const { action, people, label, name = 'body', placeholder = '', before = '', buttons } = given;
  return html`<form method="post" action="${action}" class="box"><div class="body">${before}
<p><label>${label}<textarea name="${name}" placeholder="${placeholder}" maxlength="60000"></textarea></label></p>
<div class="row">${personField(people)}${buttons}<span class="muted">The agent follows people with write permission: here, ${people[0]}.</span></div></div></form>`;
}
