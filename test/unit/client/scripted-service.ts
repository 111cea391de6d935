/** A client without a service: the test says what `fetch` responds. */
import { beforeEach, onTestFinished, vi } from 'vitest'
import { type ClientOptions, createClient } from '../../../src/client/index.ts'

export type Respond = () => Response | Promise<Response>

interface Sent {
  url: string
  method: string | undefined
  headers: Headers
  body: unknown
}

/** The requests of the test. */
export const sent: Sent[] = []

/** Forgets the requests, and stops the clock, before each test of a file. */
export function resetBeforeEach(): void {
  beforeEach(() => {
    sent.length = 0
    vi.useFakeTimers()
    onTestFinished(() => void vi.useRealTimers())
  })
}

/** A client whose requests get these responses; the last one for all that follow. */
export function clientOf(responses: Respond[], options: Partial<ClientOptions> = {}) {
  async function fetch(url: string, { method, headers, body }: RequestInit): Promise<Response> {
    sent.push({
      url,
      method,
      headers: new Headers(headers),
      body: body === undefined ? null : JSON.parse(String(body)),
    })
    const respond = responses[Math.min(sent.length, responses.length) - 1]
    if (respond === undefined) throw new Error('there is no response')
    return respond()
  }
  return createClient({ url: 'http://portico.test', fetch, ...options })
}

export const ok =
  (body: unknown = {}): Respond =>
  () =>
    Response.json(body)

export const problem =
  (status: number, error: string, facts = {}, headers = {}): Respond =>
  () =>
    Response.json(
      { status, error, message: 'a message', ...facts },
      { status, headers: { 'Content-Type': 'application/problem+json', ...headers } },
    )

/** The connection is cut. */
export const cut: Respond = () => Promise.reject(new TypeError('fetch failed', { cause: new Error('ECONNRESET') }))
