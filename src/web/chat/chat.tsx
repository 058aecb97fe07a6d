import { Button, FormControl, Textarea } from '@primer/react';
import { type FormEvent, useState } from 'react';
import { Markdown } from '../display/markdown.tsx';
import { explain } from '../live/query-client.ts';
import { readEvents } from './read-events.ts';

interface Said {
  by: 'you' | 'agent';
  text: string;
}

/** The service remembers the conversation for the agent; this browser remembers what it showed of it. */
function remembered(about: string): Said[] {
  try {
    return JSON.parse(sessionStorage.getItem(`chat ${about}`) ?? '[]') as Said[];
  } catch {
    return [];
  }
}

/** A conversation with an agent, whose answer shows as it is written. `about` is the address of the chat. */
export function Chat({ about, empty }: { about: string; empty: string }) {
  const [said, setSaid] = useState(() => remembered(about));
  const [text, setText] = useState('');
  const [answer, setAnswer] = useState<string>();
  const [problem, setProblem] = useState('');
  /** Kept whether or not somebody still looks: an answer that comes later is there when they come back. */
  const keep = (next: Said) => {
    const all = [...remembered(about), next].slice(-100);
    sessionStorage.setItem(`chat ${about}`, JSON.stringify(all));
    setSaid(all);
  };
  const send = async (event: FormEvent) => {
    event.preventDefault();
    const message = text.trim();
    if (message === '' || answer !== undefined) return;
    keep({ by: 'you', text: message });
    setText('');
    setProblem('');
    setAnswer('');
    try {
      const response = await ask(about, message, (piece) => setAnswer((now) => (now ?? '') + piece));
      keep({ by: 'agent', text: response });
    } catch (error) {
      setProblem(explain(error));
      setText(message);
    } finally {
      setAnswer(undefined);
    }
  };
  return (
    <section className="stack" aria-label="Chat">
      <div className="stack" role="log" aria-live="polite">
        {said.length === 0 && answer === undefined && <p className="muted">{empty}</p>}
        {said.map(({ by, text: each }, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a conversation only grows
          <Message key={i} by={by} text={each} />
        ))}
        {answer !== undefined && <Message by="agent" text={answer === '' ? '…' : answer} />}
      </div>
      {problem !== '' && (
        <p role="alert" className="failure box wrap">
          {problem} Your message stands below; send it again.
        </p>
      )}
      <form className="stack" onSubmit={(event) => void send(event)}>
        <FormControl>
          <FormControl.Label>Your message</FormControl.Label>
          <Textarea
            block
            rows={3}
            resize="vertical"
            maxLength={10_000}
            value={text}
            onChange={(event) => setText(event.target.value)}
            onKeyDown={(event) => {
              if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) event.currentTarget.form?.requestSubmit();
            }}
          />
          <FormControl.Caption>Ctrl+Enter sends</FormControl.Caption>
        </FormControl>
        <div>
          <Button type="submit" variant="primary" loading={answer !== undefined}>
            Send
          </Button>
        </div>
      </form>
    </section>
  );
}

function Message({ by, text }: Said) {
  return (
    <article className={`message ${by}`} aria-label={by === 'you' ? 'You' : 'Agent'}>
      <p className="muted small">{by === 'you' ? 'You' : 'Agent'}</p>
      {by === 'you' ? <p className="wrap">{text}</p> : <Markdown text={text} />}
    </article>
  );
}

async function ask(about: string, message: string, onText: (piece: string) => void): Promise<string> {
  const response = await fetch(`/api/v1${about}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Accept: 'text/event-stream' },
    body: JSON.stringify({ message }),
  });
  const isStream = response.headers.get('content-type')?.includes('event-stream');
  if (!response.ok || !isStream || response.body === null)
    throw { status: response.status, data: await response.json().catch(() => undefined) };
  for await (const { event, data } of readEvents(response.body)) {
    const told = JSON.parse(data) as { text?: string; response?: string; statusCode?: number };
    if (event === 'text') onText(told.text ?? '');
    else if (event === 'error') throw { status: told.statusCode ?? 502, data: told };
    else if (event === 'done') return told.response ?? '';
  }
  throw new Error('The answer broke off. Ask again.');
}
