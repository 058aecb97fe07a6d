import { Dialog } from '@primer/react';
import { useRef } from 'react';
import { useLocation } from 'react-router';
import { keyNames, type ShortcutName, shortcuts } from './shortcuts.ts';

const isMac = /Mac|iPhone|iPad/.test(navigator.platform);
const names = Object.keys(shortcuts) as ShortcutName[];
const forMembers: ReadonlySet<ShortcutName> = new Set(['newTask', 'selectCard', 'actOnSelected', 'comment', 'send']);

/** The pages of the shortcuts that do nothing elsewhere. */
const pages: Partial<Record<(typeof shortcuts)[ShortcutName]['where'], RegExp>> = {
  'In the inbox': /^\/(inbox)?(\?|$)/,
  'On the board': /^\/projects\/[^/?]+(\?|$)/,
  'In the changes of a task': /^\/tasks\/[^/]+\?(.*&)?tab=diff\b/,
};

/** Lists the keyboard shortcuts that the person can use on this page. */
export function KeysDialog({ isMember, onClose }: { isMember: boolean; onClose(): void }) {
  const list = useRef<HTMLDivElement>(null);
  const { pathname, search } = useLocation();
  const usable = names.filter(
    (name) => (pages[shortcuts[name].where]?.test(pathname + search) ?? true) && (isMember || !forMembers.has(name)),
  );
  const places = [...new Set(usable.map((name) => shortcuts[name].where))];
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose} width="large" initialFocusRef={list}>
      {/* The list gets the focus, because the first button would cover it with its tooltip. */}
      <div ref={list} tabIndex={-1} className="stack keys-list">
        {places.map((place) => (
          <section key={place} aria-label={place}>
            <p className="strong">{place}</p>
            <dl className="keys">
              {usable
                .filter((name) => shortcuts[name].where === place)
                .map((name) => (
                  <div key={name}>
                    <dt>
                      {keyNames(name, isMac).map((key, i) => (
                        <span key={key}>
                          {i > 0 && ' + '}
                          <kbd>{key}</kbd>
                        </span>
                      ))}
                    </dt>
                    <dd>{shortcuts[name].does}</dd>
                  </div>
                ))}
            </dl>
          </section>
        ))}
      </div>
    </Dialog>
  );
}
