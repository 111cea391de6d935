/** Signals, queries and updates. */
import { sleep } from '../lib/abort.ts'
import type { CallOptions, MessageRequest, QueryRequest } from './client.ts'
import type { Connection, HttpRequest } from './connection/connection.ts'
import { newIdempotencyKey, withKey } from './connection/idempotency-key.ts'
import { PorticoError, withFacts } from './portico-error.ts'
import type { SignalAccepted } from './responses.ts'
import { pathSegment } from './target.ts'

export async function signal(
  connection: Connection,
  path: string,
  name: string,
  { signal, timeoutMs, ...message }: MessageRequest,
): Promise<SignalAccepted> {
  const send = (request: HttpRequest) => connection.send<SignalAccepted>(request, { signal, timeoutMs })
  return sendKeyed(`${path}/signal/${pathSegment(name, 'a signal')}`, message, send)
}

export async function query(
  connection: Connection,
  path: string,
  name: string,
  { signal, timeoutMs, ...body }: QueryRequest,
): Promise<unknown> {
  const request = { method: 'POST', path: `${path}/query/${pathSegment(name, 'a query')}`, body, isRetryable: true }
  return connection.send(request, { signal, timeoutMs })
}

export async function update(
  connection: Connection,
  path: string,
  name: string,
  { signal, timeoutMs, ...message }: MessageRequest,
): Promise<unknown> {
  const send = (request: HttpRequest) => sendUpdate<unknown>(connection, request, { signal, timeoutMs })
  return sendKeyed(`${path}/update/${pathSegment(name, 'an update')}`, message, send)
}

/** Sends a message with a key. Errors have it too, because the message may have been carried out. */
async function sendKeyed<Body>(
  path: string,
  { idempotencyKey = newIdempotencyKey(), ...body }: Omit<MessageRequest, keyof CallOptions>,
  send: (request: HttpRequest) => Promise<Body>,
): Promise<Body> {
  try {
    return await send({ method: 'POST', path, body, ...withKey(idempotencyKey) })
  } catch (error) {
    throw withFacts(error, { idempotencyKey })
  }
}

// The service reports at once that no worker polls.
const NEXT_ATTEMPT_MS = 1000

/**
 * Sends an update, and with `timeoutMs` sends it again until it has completed: a request with the same key waits for
 * the same update. The service waits for a limited time, and a proxy may cut the connection even earlier.
 */
export async function sendUpdate<Body>(
  { send }: Connection,
  request: HttpRequest,
  { signal, timeoutMs }: CallOptions,
): Promise<Body> {
  const deadlineAt = Date.now() + (timeoutMs ?? 0)
  const isWait = request.isRetryable && timeoutMs !== undefined
  while (true) {
    try {
      const remainingMs = timeoutMs === undefined ? undefined : Math.max(0, deadlineAt - Date.now())
      return await send({ ...request, isWait }, { signal, timeoutMs: remainingMs })
    } catch (error) {
      if (!isWait || !isUnanswered(error) || Date.now() + NEXT_ATTEMPT_MS >= deadlineAt) throw error
      await sleep(NEXT_ATTEMPT_MS, signal)
      signal?.throwIfAborted()
    }
  }
}

function isUnanswered(error: unknown): boolean {
  return error instanceof PorticoError && error.error === 'DeadlineExceededError' && error.updateId !== undefined
}
