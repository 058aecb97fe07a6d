import { connect } from 'node:net';
import { readConfig, toolEnvironment } from '../../src/config.ts';
import { type EgressDoor, egressDoor } from '../../src/egress/egress.ts';
import { registryHost } from './packages.ts';

/** Opens the service's own way out, in a world where the registry is all that there is. */
export function doorTo(port: number): EgressDoor {
  return egressDoor(readConfig({ EGRESS_OPEN_ADDRESSES: '127.0.0.0/8' }), toolEnvironment(), {
    lookUp: async (host) => {
      if (host !== registryHost) throw Object.assign(new Error('unknown'), { code: 'ENOTFOUND' });
      return [{ address: '127.0.0.1', family: 4 }];
    },
    connect: (options) => connect({ ...options, port }),
  });
}
