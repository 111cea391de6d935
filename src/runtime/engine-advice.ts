import type { Config } from '../config.ts'
import { NAME_IS_ADDRESS, tlsFailureReason } from '../engine/transport/grpc/tls-errors.ts'

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

/** Why the engine cannot be used, and which variables to check. */
export function engineAdvice(error: unknown, transport: TransportName): string {
  if (!(error instanceof Error)) return String(error)
  if (error.name !== 'EngineUnavailableError') return error.cause instanceof Error ? error.cause.message : error.message
  const reason = tlsFailureReason(error)
  if (reason !== null) return `the TLS handshake failed (${reason}); ${tlsAdvice(reason, transport)}`
  return `it does not respond; check ${VARIABLES[transport].ofAddress}`
}

function tlsAdvice(reason: string, transport: TransportName): string {
  if (transport === 'grpc' && /wrong.version.number/i.test(reason))
    return 'the engine does not seem to use TLS: check ENGINE_TLS, which ENGINE_API_KEY and the other ENGINE_TLS_… variables switch on'
  if (transport === 'grpc' && reason === NAME_IS_ADDRESS)
    return 'ENGINE_ADDRESS is an IP address: set ENGINE_TLS_SERVER_NAME to the name in the certificate'
  return `check ${VARIABLES[transport].ofTls}`
}
