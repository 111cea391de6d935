import type { Config, Environment } from '../../shared/config.ts'

type TransportName = Config['engine']['transport']

const VARIABLES = {
  grpc: {
    ofAddress: 'ENGINE_ADDRESS and ENGINE_TLS',
    ofTls: 'ENGINE_TLS_CA, ENGINE_TLS_SERVER_NAME and ENGINE_TLS_CERT',
  },
  http: {
    ofAddress: 'ENGINE_HTTP_URL',
    ofTls: 'ENGINE_HTTP_URL and the certificates that the runtime trusts (NODE_EXTRA_CA_CERTS, DENO_CERT)',
  },
}

// The gRPC library connects through the proxy that one of them names.
const PROXY_VARIABLES = ['grpc_proxy', 'https_proxy', 'http_proxy']

/** Why the engine cannot be used, and which variables to check. */
export function engineAdvice(error: unknown, transport: TransportName, env: Environment): string {
  if (!(error instanceof Error)) return String(error)
  if (error.name !== 'EngineUnavailableError') return error.cause instanceof Error ? error.cause.message : error.message
  const reason = tlsFailureReason(error)
  if (reason !== null) return `the TLS handshake failed (${reason}); ${tlsAdvice(reason, transport)}`
  const isProxied = transport === 'grpc' && PROXY_VARIABLES.some((name) => env[name])
  return `it does not respond; check ${VARIABLES[transport].ofAddress}${isProxied ? ', or `no_proxy`' : ''}`
}

function tlsAdvice(reason: string, transport: TransportName): string {
  if (transport === 'grpc' && /wrong.version.number/i.test(reason))
    return 'the engine does not seem to use TLS: check ENGINE_TLS, which ENGINE_API_KEY and the other ENGINE_TLS_… variables switch on'
  if (transport === 'grpc' && reason === NAME_IS_ADDRESS)
    return 'ENGINE_ADDRESS is an IP address: set ENGINE_TLS_SERVER_NAME to the name in the certificate'
  return `check ${VARIABLES[transport].ofTls}`
}

// The reason in an OpenSSL error, which also has file names and numbers; or the part of a sentence that mentions the
// certificate.
const REASONS = [
  /\bSSL routines:\w*:([^:().]+)/,
  /([^.:;()]*\s(?:certificate(?:'s)?|secure TLS connection|TLS handshake)(?=[\s,.:;]|$)[^.:;()]*)/,
]

/** An error on Bun and Deno; Node only warns (DEP0123). */
const NAME_IS_ADDRESS = 'the server name must not be an IP address'

/** Why the TLS handshake failed, in a few words without addresses; null for any other error. */
export function tlsFailureReason(error: unknown): string | null {
  for (let at = error; at instanceof Error; at = at.cause) {
    const { message } = at
    if (/\bserver ?name\b[^.]*\bIP address\b/i.test(message)) return NAME_IS_ADDRESS
    const reason = REASONS.map((pattern) => pattern.exec(` ${message}`)?.[1]).find((match) => match !== undefined)
    if (reason !== undefined) return reason.trim()
  }
  return null
}
