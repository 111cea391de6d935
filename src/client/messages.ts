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
  { signal, timeoutMs, idempotencyKey = newIdempotencyKey(), ...body }: MessageRequest,
): Promise<SignalAccepted> {
  const request = {
    method: 'POST',
    path: `${path}/signal/${pathSegment(name, 'a signal')}`,
    body,
    ...withKey(idempotencyKey),
  }
  return withKeyInErrors(idempotencyKey, connection.send(request, { signal, timeoutMs }))
}

export async function query(
  connection: Connection,
  path: string,
  name: string,
  { signal, timeoutMs, ...body }: QueryRequest,
): Promise<unknown> {
  const request = { method: 'POST', path: `${path}/query/${pathSegment(name, 'a query')}`, body, isRepeatable: true }
  return connection.send(request, { signal, timeoutMs })
}

export async function update(
  connection: Connection,
  path: string,
  name: string,
  { signal, timeoutMs, idempotencyKey = newIdempotencyKey(), ...body }: MessageRequest,
): Promise<unknown> {
  const request = {
    method: 'POST',
    path: `${path}/update/${pathSegment(name, 'an update')}`,
    body,
    ...withKey(idempotencyKey),
  }
  return withKeyInErrors(idempotencyKey, sendUpdate(connection, request, { signal, timeoutMs }))
}

/** It may have been carried out. */
function withKeyInErrors<T>(idempotencyKey: string, sent: Promise<T>): Promise<T> {
  return sent.catch((error) => Promise.reject(withFacts(error, { idempotencyKey })))
}

// The service reports at once that no worker polls.
const NEXT_ATTEMPT_MS = 1000

/**
 * Sends an update, and with `timeoutMs` sends it again until it has completed: a request with the same key waits for the
 * same update. The service waits for a limited time, and something on the way may cut the connection even earlier.
 */
export async function sendUpdate<Body>(
  { send }: Connection,
  request: HttpRequest,
  { signal, timeoutMs }: CallOptions,
): Promise<Body> {
  const deadlineAt = Date.now() + (timeoutMs ?? 0)
  const isWait = request.isRepeatable && timeoutMs !== undefined
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
