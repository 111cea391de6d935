import { readResponseBody, retryStoreCall, StoreError } from '../store-call.ts'
import { KEY_VALUE_STORE, type KvConnection } from './connection.ts'
import { redisErrorCode } from './redis-error-code.ts'

export interface UpstashOptions {
  url: string
  token: string | null
  fetch: typeof globalThis.fetch
}

const SMALL_RESPONSE_BYTES = 1024 * 1024

/**
 * Upstash's REST protocol: a command as a JSON array in, its result out. Decision 019 says why we do not use their
 * client. https://upstash.com/docs/redis/features/restapi
 */
export function upstashConnection({ url, token, fetch }: UpstashOptions): KvConnection {
  const address = new URL(url)
  const headers = {
    authorization: `Bearer ${token ?? decodeURIComponent(address.password)}`,
    'content-type': 'application/json',
  }
  address.username = ''
  address.password = ''
  return {
    send: (command, call, maxBytes = SMALL_RESPONSE_BYTES) =>
      retryStoreCall(KEY_VALUE_STORE, call, async (signal) => {
        const init = { method: 'POST', headers, body: JSON.stringify(command), redirect: 'manual' as const, signal }
        const response = await fetch(address.href, init)
        // The values are JSON inside JSON: escaped quotes can double their size.
        return resultOf(
          response.status,
          await readResponseBody(KEY_VALUE_STORE, response, 2 * maxBytes + SMALL_RESPONSE_BYTES),
        )
      }),
    close: async () => {},
  }
}

function resultOf(status: number, json: string): unknown {
  const body = parse(json)
  if (status === 200 && body !== null && 'result' in body) return body.result
  const code = body !== null && 'error' in body ? redisErrorCode(String(body.error)) : ''
  throw new StoreError(`${KEY_VALUE_STORE} returned ${status}${code && ` (${code})`}`, {
    retryable: status >= 500 || status === 429,
  })
}

function parse(json: string): object | null {
  try {
    const body: unknown = JSON.parse(json)
    return typeof body === 'object' ? body : null
  } catch {
    return null // the error then has only the status
  }
}
