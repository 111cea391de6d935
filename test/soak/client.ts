/** A client of several replicas that counts every response, and checks what all responses share. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Ledger, Reply } from './ledger.ts'
import type { Random } from './random.ts'

export interface SoakRequest {
  /** As the report names it. */
  endpoint: string
  method?: string
  path: string
  body?: unknown
  headers?: Record<string, string>
  /** Statuses that are right. Those of `ALWAYS_POSSIBLE` are right too. */
  expect: readonly number[]
  /** The client disconnects after this. */
  leaveAfterMs?: number
}

export interface SoakClient {
  /** Null if no response arrived. */
  send(request: SoakRequest): Promise<Reply | null>
  /** Sends it again until a response says for certain what happened; null if none did before the deadline. */
  sendUntilSure(request: SoakRequest): Promise<Reply | null>
}

// The engine, or the way to it, is out of order, or there are too many requests.
const ALWAYS_POSSIBLE = [429, 503, 504]

const TIMEOUT_MS = 90_000
const SURE_WITHIN_MS = 120_000

export interface Replicas {
  /** Of the replica that is never stopped. It has to respond to every request. */
  steadyUrl: string
  /** Of the other one, which may be down. */
  mortalUrl(): string
}

export function createClient({ steadyUrl, mortalUrl }: Replicas, random: Random, ledger: Ledger): SoakClient {
  async function send(request: SoakRequest): Promise<Reply | null> {
    const { endpoint, leaveAfterMs } = request
    const url = random.pick([steadyUrl, mortalUrl()])
    const beganAt = performance.now()
    const signal = AbortSignal.timeout(leaveAfterMs ?? TIMEOUT_MS)
    try {
      const response = await fetch(`${url}${request.path}`, { ...toInit(request), signal })
      const text = await response.text()
      ledger.count(endpoint, response.status, performance.now() - beganAt)
      const reply = { status: response.status, text, body: toJson(text) }
      check(request, reply, response.headers)
      return reply
    } catch (error) {
      const hasLeft = signal.aborted && leaveAfterMs !== undefined
      ledger.count(endpoint, hasLeft ? 'left' : 'lost', performance.now() - beganAt)
      const mayBeLost = hasLeft || (url !== steadyUrl && !signal.aborted)
      if (!mayBeLost) ledger.violate(`${endpoint}: no response from ${url} (${error})`)
      return null
    }
  }

  function check({ endpoint, expect }: SoakRequest, { status, text, body }: Reply, headers: Headers): void {
    if (headers.get('x-request-id') === null) ledger.violate(`${endpoint}: ${status} without X-Request-Id`)
    if (![...expect, ...ALWAYS_POSSIBLE].includes(status))
      ledger.violate(`${endpoint}: ${status} ${text.slice(0, 300)}`)
    if (status >= 400 && endpoint !== 'ready' && typeof body?.error !== 'string')
      ledger.violate(`${endpoint}: ${status} is no problem document`)
  }

  return {
    send,
    async sendUntilSure(request) {
      const deadlineAt = Date.now() + SURE_WITHIN_MS
      for (let waitMs = 100; Date.now() < deadlineAt; waitMs = Math.min(waitMs * 2, 3000)) {
        const reply = await send(request)
        if (reply !== null && !ALWAYS_POSSIBLE.includes(reply.status)) return reply
        await pause(waitMs / 2 + random.below(waitMs))
      }
      return null
    },
  }
}

function toInit({ method, body, headers }: SoakRequest): RequestInit {
  if (body === undefined) return { method: method ?? 'GET', ...(headers && { headers }) }
  return {
    method: method ?? 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify(body),
  }
}

function toJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
