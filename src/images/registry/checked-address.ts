import { resolveHost } from '../../host/resolve.ts';
import { imageFailed } from '../failure.ts';

/**
 * Returns a function that resolves the host of a URL to the one address that may be contacted. One closed address among
 * several is enough to refuse a host, because its owner could mix it with others.
 */
export function checkedRegistryAddress(isClosed: (address: string) => boolean) {
  return async (url: URL): Promise<{ address: string; family: number }> => {
    const host = url.hostname.replace(/^\[|\]$/g, '');
    const found = await resolveHost(host).catch((error) => {
      throw new Error(`the host name ${host} could not be resolved (${error.code})`);
    });
    const [first] = found;
    if (first === undefined || found.some(({ address }) => isClosed(address)))
      throw imageFailed(`${host} has a private or reserved address, which the operator has not opened`);
    return first;
  };
}
