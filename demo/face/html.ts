/** Text that is HTML already. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export type Part = Html | string | number | null | undefined | false | Part[];

/** Builds HTML. Everything but `Html` is escaped. */
export function html(strings: TemplateStringsArray, ...parts: Part[]): Html {
  return new Html(String.raw({ raw: strings }, ...parts.map(textOf)));
}

function textOf(part: Part): string {
  if (part instanceof Html) return part.text;
  if (Array.isArray(part)) return part.map(textOf).join('');
  return part === null || part === undefined || part === false ? '' : escaped(String(part));
}

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
const escaped = (text: string) => text.replace(/[&<>"']/g, (character) => entities[character] ?? '');

/** GitHub renders some HTML in Markdown. Here its text is shown, without tags and comments. */
const plainTags = (text: string) =>
  text
    .replace(/<!--[\s\S]*?-->/g, '')
    .replace(/<summary>([\s\S]*?)<\/summary>/g, '\n\n**$1**\n\n')
    .replace(/<\/?(?:details|sub|sup|br|picture|source|img|p|div)\b[^>]*>/g, '\n\n');

/** TypeScript does not follow these names: the types of React declare an empty `HTMLElement` for all files that it checks. */
const libraries = ['react', 'react-dom/server', 'react-markdown', 'remark-gfm', 'remark-breaks'];

/** Renders Markdown as the dashboard does. The libraries are loaded when the first page is shown, because tests show none. */
export async function markdown(text: string): Promise<Html> {
  const [react, server, { default: Markdown }, { default: gfm }, { default: breaks }] = await Promise.all(
    libraries.map((name) => import(name)),
  );
  const element = react.createElement(Markdown, { remarkPlugins: [gfm, breaks] }, plainTags(text));
  return new Html(server.renderToStaticMarkup(element));
}

const style = `
:root { color-scheme: light dark; --line: light-dark(#d1d9e0, #3d444d); --muted: light-dark(#59636e, #9198a1); --link: light-dark(#0969da, #4493f8);
  --soft: light-dark(#f6f8fa, #151b23); --green: light-dark(#1a7f37, #3fb950); --red: light-dark(#d1242f, #f85149); }
* { box-sizing: border-box; }
body { margin: 0; font: 14px/1.5 -apple-system, "Segoe UI", "Noto Sans", Helvetica, Arial, sans-serif; background: light-dark(#fff, #0d1117); color: light-dark(#1f2328, #f0f6fc); }
header { background: var(--soft); border-bottom: 1px solid var(--line); padding: 12px 16px; }
main { max-width: 980px; margin: 0 auto; padding: 16px; }
a { color: var(--link); } h1 { font-size: 24px; overflow-wrap: anywhere; } h2 { font-size: 16px; margin: 24px 0 8px; }
.muted { color: var(--muted); } .box { border: 1px solid var(--line); border-radius: 6px; margin: 16px 0; overflow: hidden; }
.box > .head { background: var(--soft); border-bottom: 1px solid var(--line); padding: 8px 16px; } .box > .body { padding: 8px 16px; overflow-x: auto; overflow-wrap: anywhere; }
.state { display: inline-block; border-radius: 2em; padding: 4px 12px; color: #fff; background: #59636e; } .state.open { background: #1a7f37; } .state.merged { background: #8250df; }
.label { white-space: nowrap; border: 1px solid var(--line); border-radius: 2em; padding: 0 8px; font-size: 12px; margin-right: 4px; }
.ok { color: var(--green); } .bad { color: var(--red); }
textarea, input, select, button { font: inherit; padding: 6px 12px; border: 1px solid var(--line); border-radius: 6px; background: light-dark(#fff, #0d1117); color: inherit; }
textarea, input[type=text] { width: 100%; } textarea { min-height: 90px; } button { cursor: pointer; background: var(--soft); font-weight: 600; } button.main { background: #1f883d; color: #fff; border-color: transparent; }
form p { margin: 8px 0; } .row { display: flex; gap: 8px; flex-wrap: wrap; align-items: center; }
table.diff { border-collapse: collapse; width: 100%; font: 12px/20px ui-monospace, SFMono-Regular, Menlo, monospace; } .diff td { padding: 0 8px; white-space: pre-wrap; overflow-wrap: anywhere; vertical-align: top; }
.diff .n { width: 1%; color: var(--muted); text-align: right; user-select: none; white-space: nowrap; } .diff .n a { color: inherit; text-decoration: none; } .diff .n a:hover { text-decoration: underline; }
.diff .add { background: light-dark(#dafbe1, #12261e); } .diff .del { background: light-dark(#ffebe9, #25171c); } .diff .hunk { color: var(--muted); background: var(--soft); } .diff .talk td { white-space: normal; font-family: sans-serif; padding: 8px 16px; }
ul.plain { list-style: none; padding: 0; } ul.plain > li { border-bottom: 1px solid var(--line); padding: 8px 0; } pre { overflow-x: auto; background: var(--soft); padding: 8px; border-radius: 6px; }
`;

/** Looks for news every two seconds, and replaces what nobody can be typing in. Ticks the boxes in comments. */
export const script = `setInterval(async () => {
  if (document.hidden) return;
  const answer = await fetch(location.href, { headers: { Accept: 'text/html' } }).catch(() => undefined);
  if (!answer?.ok) return;
  const now = new DOMParser().parseFromString(await answer.text(), 'text/html');
  for (const part of document.querySelectorAll('[data-live]')) {
    const newer = now.getElementById(part.id);
    if (newer !== null && newer.innerHTML !== part.innerHTML && !part.contains(document.activeElement)) part.innerHTML = newer.innerHTML;
  }
}, 2000);
document.addEventListener('change', async ({ target }) => {
  const comment = target.closest('[data-comment]');
  if (comment === null || target.type !== 'checkbox') return;
  const box = [...comment.querySelectorAll('input[type=checkbox]')].indexOf(target);
  const as = document.querySelector('select[name=as]').value;
  target.disabled = true;
  target.blur();
  const body = new URLSearchParams({ id: comment.dataset.comment, box, as });
  await fetch(location.pathname.replace(/\\/$/, '') + '/tick', { method: 'POST', headers: { Accept: 'text/html' }, body });
});`;

/** A page of the demo's GitHub. */
export function pageOf(title: string, repository: string, content: Html): string {
  return html`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${title} · ${repository}</title>
<style>${new Html(style)}</style><script src="/_face.js" defer></script></head>
<body><header><strong><a href="/${repository}">${repository}</a></strong> <span class="muted">· the demo's GitHub</span></header>
<main>${content}</main></body></html>
`.text;
}
