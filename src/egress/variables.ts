/**
 * Returns the variables that lead tools to the proxy at a port of 127.0.0.1. Some tools read only names in upper or only
 * in lower case; Node ignores them without `NODE_USE_ENV_PROXY`, and Yarn 2 and newer without its own.
 */
export function proxyVariables(port: number): Record<string, string> {
  const proxy = `http://127.0.0.1:${port}`;
  const direct = 'localhost,127.0.0.1,::1';
  return {
    HTTP_PROXY: proxy,
    HTTPS_PROXY: proxy,
    http_proxy: proxy,
    https_proxy: proxy,
    NO_PROXY: direct,
    no_proxy: direct,
    NODE_USE_ENV_PROXY: '1',
    YARN_HTTP_PROXY: proxy,
    YARN_HTTPS_PROXY: proxy,
  };
}
