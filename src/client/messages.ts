/** Signals, queries and updates. */
import { sleep } from '../shared/lib/abort.ts'
import type { MessageRequest, PublishOptions, QueryRequest } from './client.ts'
import type { Connection } from './connection/connection.ts'
import { newIdempotencyKey, withKey } from './connection/idempotency-key.ts'
import type { CallOptions } from './connection/options.ts'
import type { HttpRequest, RequestLimits } from './connection/request.ts'
import { isNoResponse } from './connection/retry-delay.ts'
import { PorticoError, withFacts } from './portico-error.ts'
import type { RunRef, SignalAccepted } from './responses.ts'
import { countdown, type RunOfHandle } from './run-of-handle.ts'
import type { PublishedItem } from './stream/stream-event.ts'
import { pathSegment } from './target.ts'
import { ACCEPTED, waiting } from './wait.ts'

export async function sendSignal(
  { send }: Connection,
  run: RunOfHandle,
  name: string,
  message: MessageRequest,
): Promise<SignalAccepted> {
  return sendKeyed(run.onOpenRun, `signal/${pathSegment(name, 'a signal')}`, message, send<SignalAccepted>)
}

export async function publishItems(
  { send }: Connection,
  run: RunOfHandle,
  items: PublishedItem | readonly PublishedItem[],
  options: PublishOptions,
): Promise<RunRef> {
  const body = 'topic' in items ? items : { items }
  return sendKeyed(run.onOpenRun, 'stream', { ...options, ...body }, send<RunRef>)
}

export async function sendQuery(
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

export async function updateAndWait(
  connection: Connection,
  run: RunOfHandle,
  name: string,
  message: MessageRequest,
): Promise<unknown> {
  const send = (request: HttpRequest, options: CallOptions) => sendUpdate<unknown>(connection, request, options)
  return sendKeyed(run.onOpenRun, `update/${pathSegment(name, 'an update')}`, message, send)
}

/** Sends a message with a key. Errors have it too, because the message may have been carried out. */
export async function sendKeyed<Body>(
  onRun: RunOfHandle['onOpenRun'],
  name: string,
  { signal, timeoutMs, idempotencyKey = newIdempotencyKey(), ...body }: PublishOptions = {},
  send: (request: HttpRequest, options: CallOptions) => Promise<Body>,
  more?: Partial<HttpRequest>,
): Promise<Body> {
  const toRun = async (path: string, options: CallOptions) => {
    try {
      return await send({ method: 'POST', path: `${path}/${name}`, body, ...withKey(idempotencyKey), ...more }, options)
    } catch (error) {
      throw withFacts(error, { idempotencyKey })
    }
  }
  return onRun(toRun, { signal, timeoutMs })
}

// The default of SERVICE_MESSAGE_TIMEOUT.
const HANDLER_MS = 60_000

// The service reports at once that no worker polls.
const NEXT_ATTEMPT_MS = 1000

/** Sends one request of an update. */
export type SendUpdate = <Body>(request: HttpRequest) => Promise<Body>

/** Continues to wait in the run that the error names. */
export type WaitInRun<Body> = (unanswered: PorticoError, send: SendUpdate, limits: RequestLimits) => Promise<Body>

/**
 * Sends an update, and with `timeoutMs` sends it again until it has completed: a request with the same key waits for
 * the same update. The service waits for a limited time, and a proxy may cut the connection even earlier.
 *
 * With `waitInRun`, `request` itself is sent once, because it could reach a later run.
 */
export async function sendUpdate<Body>(
  connection: Connection,
  request: HttpRequest,
  { signal, timeoutMs }: CallOptions,
  waitInRun?: WaitInRun<Body>,
): Promise<Body> {
  const deadlineAt = Date.now() + (timeoutMs ?? 0)
  const isWait = timeoutMs !== undefined && (request.isRetryable || Boolean(waitInRun))
  const limits = { signal, timeoutMs: timeoutMs ?? 0, deadlineAt }
  const rest = countdown({ signal, timeoutMs })
  const send: SendUpdate = (next) => connection.send({ ...next, isWait, waitMs: HANDLER_MS }, rest())
  let unanswered: PorticoError | undefined
  while (true) {
    try {
      return await (unanswered && waitInRun ? waitInRun(unanswered, send, limits) : send<Body>(request))
    } catch (error) {
      if (!isWait || !isUnanswered(error) || Date.now() + NEXT_ATTEMPT_MS >= deadlineAt || (waitInRun && !error.runId))
        throw moreTelling(error, unanswered)
      unanswered = error
      await sleep(NEXT_ATTEMPT_MS, signal)
      signal?.throwIfAborted()
    }
  }
}

/** The result of the update that `unanswered` names, in the run at `path`. Throws `unanswered` without one. */
export async function readUpdate(
  { sendWaiting }: Connection,
  path: string,
  unanswered: PorticoError,
  limits: RequestLimits,
): Promise<unknown> {
  const get = { method: 'GET', path: `${path}/${unanswered.updateId}`, isWait: true }
  try {
    const { status, body } = await sendWaiting(waiting(get), limits)
    if (status !== ACCEPTED) return body
  } catch (error) {
    // An earlier run of its chain may have it.
    const isUnknown = error instanceof PorticoError && error.error === 'UpdateNotFoundError'
    throw isUnknown ? withFacts(error, { mayHaveTakenEffect: true }) : error
  }
  throw unanswered
}

/** The error, or the previous one if the last attempt had no time left for a response. */
function moreTelling(error: unknown, before: unknown): unknown {
  return error instanceof PorticoError && isNoResponse(error) ? (before ?? error) : error
}

function isUnanswered(error: unknown): error is PorticoError {
  return error instanceof PorticoError && error.error === 'DeadlineExceededError' && error.updateId !== undefined
}
