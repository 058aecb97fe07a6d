import { Button, FormControl, Textarea } from '@primer/react';
import type { FormEvent, ReactNode } from 'react';
import type { ChatMessage } from '../api.ts';
import { Markdown } from '../display/markdown.tsx';
import { QueryResult } from '../display/query-result.tsx';
import { TimeAgo } from '../display/times.tsx';
import { May, useMay } from '../forms/may.tsx';
import { submitOnCtrlEnter } from '../forms/submit.ts';
import { useDraft } from '../forms/use-draft.ts';
import type * as queries from '../live/queries.ts';
import { useConversation } from './use-conversation.ts';

/** Shows the conversation of a project's members with an agent. Answers appear while they are written. */
export function Chat({ subject, emptyText }: { subject: queries.ChatSubject; emptyText: string }) {
  const mayWrite = useMay('member');
  const { history, myId, pending, isBusy, problem, send } = useConversation(subject);
  return (
    <section className="stack" aria-label="Chat">
      {history.hasNextPage && (
        <div>
          <Button onClick={() => void history.fetchNextPage()} loading={history.isFetchingNextPage}>
            Show earlier messages
          </Button>
        </div>
      )}
      <div className="stack" role="log" aria-live="polite">
        <QueryResult query={history}>
          {(messages) => (
            <>
              {messages.length === 0 && pending === undefined && (
                <p className="muted">{mayWrite ? emptyText : 'No messages yet.'}</p>
              )}
              {messages.map((message) => (
                <StoredMessage key={message.id} message={message} myId={myId} />
              ))}
            </>
          )}
        </QueryResult>
        {pending !== undefined && (
          <>
            <Message by="you" author="You" at={undefined}>
              <p className="wrap">{pending.text}</p>
            </Message>
            <Message by="agent" author="Agent" at={undefined}>
              <Markdown text={pending.answer === '' ? '…' : pending.answer} />
            </Message>
          </>
        )}
      </div>
      {problem !== '' && (
        <p role="alert" className="failure box wrap">
          {problem} Your message is still in the field below, so you can send it again.
        </p>
      )}
      <May otherwise="Members of the project can write here.">
        <MessageForm place={`chat ${subject.id}`} isBusy={isBusy} onSend={send} />
      </May>
    </section>
  );
}

function MessageForm(props: { place: string; isBusy: boolean; onSend(text: string): Promise<boolean> }) {
  const { place, isBusy, onSend } = props;
  const draft = useDraft(place, '');
  const onSubmit = async (event: FormEvent) => {
    event.preventDefault();
    const message = draft.value.trim();
    if (message === '' || isBusy) return;
    draft.clear();
    // The next message may already be in the field.
    if (!(await onSend(message))) draft.set((next) => (next === '' ? message : `${message}\n\n${next}`));
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
          value={draft.value}
          onChange={(event) => draft.set(event.target.value)}
          onKeyDown={submitOnCtrlEnter}
        />
        <FormControl.Caption>
          <span className="with-keyboard">Press Ctrl+Enter to send. </span>All members of the project can read the
          conversation.
        </FormControl.Caption>
      </FormControl>
      <div>
        <Button type="submit" variant="primary" loading={isBusy}>
          Send
        </Button>
      </div>
    </form>
  );
}

function StoredMessage({ message, myId }: { message: ChatMessage; myId: string | undefined }) {
  const { role, author, text, at } = message;
  if (role === 'assistant')
    return (
      <Message by="agent" author="Agent" at={at}>
        <Markdown text={text} />
      </Message>
    );
  const isMine = author !== null && author.id === myId;
  return (
    <Message by={isMine ? 'you' : 'member'} author={isMine ? 'You' : (author?.login ?? 'Deleted account')} at={at}>
      <p className="wrap">{text}</p>
    </Message>
  );
}

interface MessageProps {
  by: 'you' | 'member' | 'agent';
  author: string;
  /** Undefined until the message is stored. */
  at: string | undefined;
  children: ReactNode;
}

function Message({ by, author, at, children }: MessageProps) {
  return (
    <article className={`message ${by}`} aria-label={author}>
      <p className="muted small">
        <bdi>{author}</bdi>
        {at !== undefined && (
          <>
            {' · '}
            <TimeAgo at={at} />
          </>
        )}
      </p>
      {children}
    </article>
  );
}
