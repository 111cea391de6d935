const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'CONNECT', 'QUERY'])

/** The method, or `_OTHER` for one that HTTP does not define: clients could invent any number of them. */
export function knownMethod(method: string): string {
  return METHODS.has(method) ? method : '_OTHER'
}
