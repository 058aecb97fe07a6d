import { BellIcon, BellSlashIcon } from '@primer/octicons-react';
import { Button } from '@primer/react';
import { useState } from 'react';
import { notify } from '../frame/notices.tsx';
import { notificationState, turnOffNotifications, turnOnNotifications } from './notifications.ts';

/** Turns the notifications of this browser on and off. The browser is asked for its permission only here. */
export function NotificationButton() {
  const [state, setState] = useState(notificationState);
  if (state === 'unsupported') return null;
  const turnOff = () => {
    turnOffNotifications();
    setState('off');
  };
  const turnOn = async () => {
    if (!(await turnOnNotifications()))
      notify('Your browser blocks notifications from this site. Allow them in the settings of the browser.', 'danger');
    setState(notificationState());
  };
  return state === 'on' ? (
    <Button leadingVisual={BellSlashIcon} onClick={turnOff}>
      Turn off notifications
    </Button>
  ) : (
    <Button leadingVisual={BellIcon} onClick={() => void turnOn()}>
      Turn on notifications
    </Button>
  );
}
