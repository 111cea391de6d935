/** Signals, queries and updates. */
import { sleep } from '../lib/abort.ts'
import type { MessageRequest, PublishOptions, QueryRequest } from './client.ts'
import type { Connection } from './connection/connection.ts'
import { newIdempotencyKey, withKey } from './connection/idempotency-key.ts'
import type { CallOptions } from './connection/options.ts'
import type { HttpRequest } from './connection/request.ts'
import { isNoResponse } from './connection/retry-delay.ts'
import { PorticoError, withFacts } from './portico-error.ts'
import type { RunRef, SignalAccepted } from './responses.ts'
import type { RunOfHandle } from './run-of-handle.ts'
import type { PublishedItem } from './stream/stream-event.ts'
import { pathSegment } from './target.ts'

export async function signal(
  { send }: Connection,
  run: RunOfHandle,
  name: string,
  message: MessageRequest,
): Promise<SignalAccepted> {
  return sendKeyed(run, `signal/${pathSegment(name, 'a signal')}`, message, send<SignalAccepted>)
}

export async function publish(
  { send }: Connection,
  run: RunOfHandle,
  items: PublishedItem | readonly PublishedItem[],
  options: PublishOptions,
): Promise<RunRef> {
  const body = 'topic' in items ? items : { items }
  return sendKeyed(run, 'stream', { ...options, ...body }, send<RunRef>)
}

export async function query(
  connection: Connection,
  path: string,
  name: string,
  { signal, timeoutMs, ...body }: QueryRequest,
): Promise<unknown> {
  const to = `${path}/query/${pathSegment(name, 'a query')}`
  return connection.send(
    { method: 'POST', path: to, body, isRetryable: true, isRead: true, waitMs: HANDLER_MS },
    { signal, timeoutMs },
  )
}

export async function update(
  connection: Connection,
  run: RunOfHandle,
  name: string,
  message: MessageRequest,
): Promise<unknown> {
  const send = (request: HttpRequest, options: CallOptions) => sendUpdate<unknown>(connection, request, options)
  return sendKeyed(run, `update/${pathSegment(name, 'an update')}`, message, send)
}

/** Sends a message with a key. Errors have it too, because the message may have been carried out. */
async function sendKeyed<Body>(
  run: RunOfHandle,
  name: string,
  { signal, timeoutMs, idempotencyKey = newIdempotencyKey(), ...body }: PublishOptions,
  send: (request: HttpRequest, options: CallOptions) => Promise<Body>,
): Promise<Body> {
  const toRun = async (path: string, options: CallOptions) => {
    try {
      return await send({ method: 'POST', path: `${path}/${name}`, body, ...withKey(idempotencyKey) }, options)
    } catch (error) {
      throw withFacts(error, { idempotencyKey })
    }
  }
  return run.onOpenRun(toRun, { signal, timeoutMs })
}

// The default of SERVICE_MESSAGE_TIMEOUT.
const HANDLER_MS = 60_000

// The service reports at once that no worker polls.
const NEXT_ATTEMPT_MS = 1000

/** Sends one request of an update. */
export type SendUpdate = <Body>(request: HttpRequest) => Promise<Body>

/**
 * Sends an update, and with `timeoutMs` sends it again until it has completed: a request with the same key waits for
 * the same update. The service waits for a limited time, and a proxy may cut the connection even earlier.
 *
 * `toRun` sends it to the run that the error names; null if `request` must be sent.
 */
export async function sendUpdate<Body>(
  connection: Connection,
  request: HttpRequest,
  { signal, timeoutMs }: CallOptions,
  toRun?: (unanswered: PorticoError, send: SendUpdate) => Promise<Body | null>,
): Promise<Body> {
  const deadlineAt = Date.now() + (timeoutMs ?? 0)
  const isWait = timeoutMs !== undefined && (request.isRetryable || toRun !== undefined)
  const send: SendUpdate = (next) => {
    const remainingMs = timeoutMs && Math.max(0, deadlineAt - Date.now())
    return connection.send({ ...next, isWait, waitMs: HANDLER_MS }, { signal, timeoutMs: remainingMs })
  }
  let unanswered: PorticoError | undefined
  while (true) {
    try {
      return (unanswered && (await toRun?.(unanswered, send))) ?? (await send<Body>(request))
    } catch (error) {
      if (!isWait || !isUnanswered(error) || Date.now() + NEXT_ATTEMPT_MS >= deadlineAt)
        throw moreTelling(error, unanswered)
      unanswered = error
      await sleep(NEXT_ATTEMPT_MS, signal)
      signal?.throwIfAborted()
    }
  }
}

/** The error, or the previous one if the last attempt had no time left for a response. */
function moreTelling(error: unknown, before: unknown): unknown {
  return error instanceof PorticoError && isNoResponse(error) ? (before ?? error) : error
}

function isUnanswered(error: unknown): error is PorticoError {
  return error instanceof PorticoError && error.error === 'DeadlineExceededError' && error.updateId !== undefined
}
