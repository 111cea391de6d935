/** A client without a service: the test says what `fetch` responds. */
import { beforeEach, onTestFinished, vi } from 'vitest'
import { type ClientOptions, createClient } from '../../../src/client/index.ts'

export type Respond = (request: Pick<Sent, 'signal'>) => Response | Promise<Response>

export interface Sent {
  url: string
  method: string | undefined
  headers: Headers
  body: unknown
  signal: AbortSignal | undefined
  cache: RequestCache | undefined
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
  const respond: Respond = (request) => {
    const next = responses[Math.min(sent.length, responses.length) - 1]
    if (next === undefined) throw new Error('there is no response')
    return next(request)
  }
  return clientWith(respond, options)
}

/** A client whose requests get the response of `respond`. */
export function clientWith(
  respond: (request: Sent) => Response | Promise<Response>,
  options: Partial<ClientOptions> = {},
) {
  async function fetch(url: string, { method, headers, body, signal, cache }: RequestInit): Promise<Response> {
    const request = {
      url,
      method,
      headers: new Headers(headers),
      body: body === undefined ? null : JSON.parse(String(body)),
      signal: signal ?? undefined,
      cache,
    }
    sent.push(request)
    return respond(request)
  }
  return createClient({ url: 'http://portico.test', fetch, ...options })
}

/** What the call resolves or rejects with. */
export const settled = <Value>(call: Promise<Value>) => call.catch((error) => error)

/** The paths of the requests. */
export const sentPaths = (): string[] => sent.map(({ url }) => new URL(url).pathname)

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

/** There is no response. */
export const hang: Respond = ({ signal }) =>
  new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)))

/** The connection is cut. */
export const cut: Respond = () => Promise.reject(new TypeError('fetch failed', { cause: new Error('ECONNRESET') }))
