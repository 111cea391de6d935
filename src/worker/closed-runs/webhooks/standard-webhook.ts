/** Sends messages as Standard Webhooks: https://github.com/standard-webhooks/standard-webhooks */
import { createHmac } from 'node:crypto'
import { deadlineSignal } from '../../../shared/lib/abort.ts'
import { errorCode } from '../../../shared/lib/error-code.ts'
import { errorMessage } from '../../../shared/lib/error-message.ts'
import { retryAfterMs } from '../../../shared/lib/retry-after.ts'

export interface WebhookMessage {
  /** The same for each attempt: receivers recognize repeated messages by it. */
  id: string
  body: string
}

export interface Receiver {
  url: string
  secrets: readonly Uint8Array[]
}

/** What the receiver has done with the message. */
export type DeliveryResult =
  | { accepted: true; status: number }
  /** `gone`: the receiver will never accept it. `retryAfterMs`: how long it wants no other attempt. */
  | { accepted: false; gone: boolean; reason: string; retryAfterMs: number }

// What the specification recommends for senders.
const TIMEOUT_MS = 15_000

// A receiver with a wrong clock must not delay a message until it is given up.
const MAX_RETRY_AFTER_MS = 60 * 60_000

/** Sends the message once. Rejects only if `signal` aborts. */
export async function sendWebhook(
  { id, body }: WebhookMessage,
  { url, secrets }: Receiver,
  signal: AbortSignal,
): Promise<DeliveryResult> {
  const seconds = Math.floor(Date.now() / 1000)
  const { signal: until, release } = deadlineSignal(Date.now() + TIMEOUT_MS, signal)
  try {
    const headers = {
      'content-type': 'application/json',
      'user-agent': 'portico',
      'webhook-id': id,
      'webhook-timestamp': String(seconds),
      'webhook-signature': secrets.map((secret) => signWebhook({ id, body }, seconds, secret)).join(' '),
    }
    // Another address would be one that the operator did not choose.
    const response = await fetch(url, { method: 'POST', headers, body, redirect: 'manual', signal: until })
    await response.body?.cancel()
    return toDeliveryResult(response)
  } catch (error) {
    signal.throwIfAborted()
    return { accepted: false, gone: false, reason: reasonOf(error), retryAfterMs: 0 }
  } finally {
    release()
  }
}

/** One signature of the header `webhook-signature`. */
export function signWebhook({ id, body }: WebhookMessage, seconds: number, secret: Uint8Array): string {
  return `v1,${createHmac('sha256', secret).update(`${id}.${seconds}.${body}`).digest('base64')}`
}

function toDeliveryResult({ ok, status, headers }: Response): DeliveryResult {
  if (ok) return { accepted: true, status }
  const redirect = status >= 300 && status < 400 ? '; redirects are not followed' : ''
  return {
    accepted: false,
    gone: status === 410,
    reason: `The receiver responded with ${status}${redirect}`,
    retryAfterMs: Math.min(retryAfterMs(headers.get('Retry-After')) ?? 0, MAX_RETRY_AFTER_MS),
  }
}

/** Without the URL, which may contain a secret: Temporal's UI shows the reason. */
function reasonOf(error: unknown): string {
  if (error instanceof Error && error.name === 'TimeoutError')
    return `The receiver did not respond within ${TIMEOUT_MS / 1000} s`
  const cause = error instanceof Error ? error.cause : error
  return `The receiver could not be reached (${errorCode(cause) ?? errorMessage(cause)})`
}
