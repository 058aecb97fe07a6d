import { DeviceDesktopIcon, MoonIcon, SunIcon } from '@primer/octicons-react';
import { ActionList, ActionMenu, IconButton } from '@primer/react';
import { useSyncExternalStore } from 'react';
import { onThemeChange, storedTheme, storeTheme } from './theme.ts';

const options = [
  { theme: 'auto', name: 'System', icon: DeviceDesktopIcon },
  { theme: 'light', name: 'Light', icon: SunIcon },
  { theme: 'dark', name: 'Dark', icon: MoonIcon },
] as const;

export function ThemeMenu() {
  const current = useSyncExternalStore(onThemeChange, storedTheme);
  const icon = options.find(({ theme }) => theme === current)?.icon ?? DeviceDesktopIcon;
  return (
    <ActionMenu>
      <ActionMenu.Anchor>
        <IconButton icon={icon} aria-label="Theme" variant="invisible" />
      </ActionMenu.Anchor>
      <ActionMenu.Overlay>
        <ActionList selectionVariant="single">
          {options.map(({ theme, name, icon: Icon }) => (
            <ActionList.Item key={theme} selected={theme === current} onSelect={() => storeTheme(theme)}>
              <ActionList.LeadingVisual>
                <Icon />
              </ActionList.LeadingVisual>
              {name}
            </ActionList.Item>
          ))}
        </ActionList>
      </ActionMenu.Overlay>
    </ActionMenu>
  );
}
