/**
 * Options of an engine that neither rejects calls for their rate nor closes connections. The rates are those of a
 * namespace, which all tests share: by default 100 lists a second. By default connections are closed when they are idle
 * for 2 minutes or 5 minutes old, which only a slow machine gives them time to be.
 */
export const UNDISTURBED = {
  'frontend.namespaceRPS': 1_000_000,
  'frontend.namespaceRPS.visibility': 1_000_000,
  'frontend.keepAliveMaxConnectionIdle': '24h',
  'frontend.keepAliveMaxConnectionAge': '24h',
}
