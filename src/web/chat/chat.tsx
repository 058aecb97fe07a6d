import { Button, FormControl, Textarea } from '@primer/react';
import { type FormEvent, useState } from 'react';
import { Markdown } from '../display/markdown.tsx';
import { type ChatMessage, useConversation } from './use-conversation.ts';

/** Shows a conversation with an agent. Answers appear while they are written. */
export function Chat({ address, emptyText }: { address: string; emptyText: string }) {
  const { messages, answer, problem, send } = useConversation(address);
  return (
    <section className="stack" aria-label="Chat">
      <div className="stack" role="log" aria-live="polite">
        {messages.length === 0 && answer === undefined && <p className="muted">{emptyText}</p>}
        {messages.map(({ by, text }, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: messages are only ever appended
          <Message key={i} by={by} text={text} />
        ))}
        {answer !== undefined && <Message by="agent" text={answer === '' ? '…' : answer} />}
      </div>
      {problem !== '' && (
        <p role="alert" className="failure box wrap">
          {problem} Your message is still in the field below, so you can send it again.
        </p>
      )}
      <MessageForm isBusy={answer !== undefined} onSend={send} />
    </section>
  );
}

function MessageForm({ isBusy, onSend }: { isBusy: boolean; onSend(text: string): Promise<boolean> }) {
  const [text, setText] = useState('');
  const onSubmit = async (event: FormEvent) => {
    event.preventDefault();
    const message = text.trim();
    if (message === '' || isBusy) return;
    setText('');
    if (!(await onSend(message))) setText(message);
  };
  return (
    <form className="stack" onSubmit={(event) => void onSubmit(event)}>
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
        <FormControl.Caption>Press Ctrl+Enter to send.</FormControl.Caption>
      </FormControl>
      <div>
        <Button type="submit" variant="primary" loading={isBusy}>
          Send
        </Button>
      </div>
    </form>
  );
}

function Message({ by, text }: ChatMessage) {
  return (
    <article className={`message ${by}`} aria-label={by === 'you' ? 'You' : 'Agent'}>
      <p className="muted small">{by === 'you' ? 'You' : 'Agent'}</p>
      {by === 'you' ? <p className="wrap">{text}</p> : <Markdown text={text} />}
    </article>
  );
}
