import { errorCode } from './error-code.ts'

// EHOSTUNREACH and others may also end a connection over which a request was sent. These calls come before it.
const SYSTEM_CALLS: readonly unknown[] = ['getaddrinfo', 'connect']

// Of the TLS handshake (https://nodejs.org/api/tls.html#x509-certificate-error-codes).
const HANDSHAKE = /CERT|^CRL_|^UNABLE_TO_|^INVALID_|^HOSTNAME_MISMATCH$|^ERR_SSL_.*(VERSION|HANDSHAKE)/

// Of fetch on Node, the second one a message without a code, and on Bun.
const FETCH: readonly unknown[] = ['UND_ERR_CONNECT_TIMEOUT', 'bad port', 'ECONNREFUSED']

// The message of fetch on Deno.
const DENO = /client error \(Connect\)/

/**
 * Whether the error of `fetch` proves that nothing has received the request.
 * False where the runtime does not say (workerd).
 */
export function wasNotSent(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  // One error for each address, such as ::1 and 127.0.0.1.
  if (error instanceof AggregateError) return error.errors.length > 0 && error.errors.every(wasNotSent)
  if (error.cause !== undefined) return wasNotSent(error.cause)
  if ('syscall' in error && error.syscall !== undefined) return SYSTEM_CALLS.includes(error.syscall)
  const code = String(errorCode(error) ?? error.message)
  return HANDSHAKE.test(code) || FETCH.includes(code) || DENO.test(error.message)
}
