import { readBody } from '../read-body.ts'
import { StoreError, withRetries } from '../store-call.ts'
import type { KvConnection } from './connection.ts'
import { redisCode } from './redis-error-code.ts'

export interface UpstashOptions {
  url: string
  token: string | null
  fetch: typeof globalThis.fetch
}

const STORE = 'The key-value store'

const SMALL_ANSWER_BYTES = 1024 * 1024

/**
 * Upstash's REST protocol: a command as a JSON array in, its result out.
 *
 * Their own client repeats the whole command in its errors, resolves with something else when it is aborted, and can't bound
 * what it reads. https://upstash.com/docs/redis/features/restapi
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
    send: (command, call, maxBytes = SMALL_ANSWER_BYTES) =>
      withRetries(STORE, call, async (signal) => {
        const init = { method: 'POST', headers, body: JSON.stringify(command), redirect: 'manual' as const, signal }
        const response = await fetch(address.href, init)
        // JSON inside JSON: each quote of an element comes with a backslash.
        return resultOf(response.status, await readBody(STORE, response, 2 * maxBytes + SMALL_ANSWER_BYTES))
      }),
    close: async () => {},
  }
}

function resultOf(status: number, text: string): unknown {
  const answer = parse(text)
  if (status === 200 && answer !== null && 'result' in answer) return answer.result
  const code = answer !== null && 'error' in answer ? redisCode(String(answer.error)) : ''
  throw new StoreError(`${STORE} answered ${status}${code}`, { passing: status >= 500 || status === 429 })
}

function parse(text: string): object | null {
  try {
    const answer: unknown = JSON.parse(text)
    return typeof answer === 'object' ? answer : null
  } catch {
    return null // said by the status
  }
}
