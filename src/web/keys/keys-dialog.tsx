import { Dialog } from '@primer/react';
import { useRef } from 'react';
import { keyNames, type ShortcutName, shortcuts } from './shortcuts.ts';

const isMac = /Mac|iPhone|iPad/.test(navigator.platform);
const names = Object.keys(shortcuts) as ShortcutName[];
const places = [...new Set(names.map((name) => shortcuts[name].where))];

/** Lists the keyboard shortcuts. */
export function KeysDialog({ onClose }: { onClose(): void }) {
  const list = useRef<HTMLDivElement>(null);
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose} width="large" initialFocusRef={list}>
      {/* The list gets the focus, because the first button would cover it with its tooltip. */}
      <div ref={list} tabIndex={-1} className="stack keys-list">
        {places.map((place) => (
          <section key={place} aria-label={place}>
            <p className="strong">{place}</p>
            <dl className="keys">
              {names
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
