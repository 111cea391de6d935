import { errorCode } from './error-code.ts'

// EHOSTUNREACH and others may also end a connection over which a request was sent. These calls come before it.
const SYSTEM_CALLS: readonly unknown[] = ['getaddrinfo', 'connect']

// Codes of the TLS handshake (https://nodejs.org/api/tls.html#x509-certificate-error-codes).
const HANDSHAKE = /CERT|^CRL_|^UNABLE_TO_|^INVALID_|^HOSTNAME_MISMATCH$|^ERR_SSL_.*(VERSION|HANDSHAKE)/

// Codes of fetch on Node, then a message of Node that has no code, then the code of Bun.
const FETCH: readonly unknown[] = ['UND_ERR_CONNECT_TIMEOUT', 'bad port', 'ECONNREFUSED']

// The message of fetch on Deno.
const DENO = /client error \(Connect\)/

/**
 * Whether the error of `fetch` proves that there was no connection.
 * False where the runtime does not say (workerd).
 */
export function failedToConnect(error: unknown): boolean {
  return everyCause(error, isConnectError)
}

/**
 * Whether the error proves that there was no connection, or that the TLS handshake failed: then the request was not
 * sent.
 */
export function wasNotSent(error: unknown): boolean {
  return everyCause(error, (cause) => isConnectError(cause) || HANDSHAKE.test(codeOf(cause)))
}

function everyCause(error: unknown, isProof: (cause: Error) => boolean): boolean {
  if (!(error instanceof Error)) return false
  // One error for each address, such as ::1 and 127.0.0.1.
  if (error instanceof AggregateError)
    return error.errors.length > 0 && error.errors.every((each) => everyCause(each, isProof))
  return error.cause === undefined ? isProof(error) : everyCause(error.cause, isProof)
}

function isConnectError(error: Error): boolean {
  if ('syscall' in error && error.syscall !== undefined) return SYSTEM_CALLS.includes(error.syscall)
  return FETCH.includes(codeOf(error)) || DENO.test(error.message)
}

function codeOf(error: Error): string {
  return String(errorCode(error) ?? error.message)
}
