/**
 * What the client suite runs against. This folder runs on every runtime,
 * so it uses nothing of Node and nothing of vitest.
 */

import type { AnyWorkflows } from '../../../src/client/index.ts'
import { type Client, type ClientOptions, createClient, PorticoError } from '../../../src/client/index.ts'

/** What the test tells the runtime. */
export interface Environment {
  /** The service. */
  url: string
  /** The same behind a proxy that can cut connections. */
  proxiedUrl: string
  /** The same behind a proxy that closes each connection after two seconds. */
  impatientUrl: string
  /** Nothing listens there. */
  nobodyUrl: string
  token: string
  catalog: string
}

/** What the runtime can tell the test to do. */
export type Action =
  /** Cuts the connections of `proxiedUrl`, and rejects others. Responds when one was rejected. */
  | 'interrupt'
  | 'restore'
  /** Loses the response to the next request at `proxiedUrl`. */
  | 'lose-response'
  /** Kills the service, and starts another one at the same address. */
  | 'restart'
  /** Responds when the impatient proxy has closed three more connections. */
  | 'impatient'

export interface ClientFixture extends Environment {
  /** Redirects each request to the service, which is another origin. */
  redirectingUrl: string
  act(action: Action): Promise<void>
  /** A client of the service itself, unless `options` says otherwise. */
  connect(options?: Partial<ClientOptions>): Client<AnyWorkflows>
  /** A client whose connections can be cut. */
  proxied(options?: Partial<ClientOptions>): Client<AnyWorkflows>
}

export type ClientCase = (fixture: ClientFixture) => Promise<void>

export function clientFixture(
  environment: Environment & Pick<ClientFixture, 'redirectingUrl'>,
  act: ClientFixture['act'],
): ClientFixture {
  const { url, proxiedUrl, token } = environment
  return {
    ...environment,
    act,
    connect: (options) => createClient({ url, token, ...options }),
    proxied: (options) => createClient({ url: proxiedUrl, token, ...options }),
  }
}

/**
 * A `fetch` that loses the response to the first request whose URL contains `part`, and then calls `afterwards` before
 * the client notices.
 */
export function losing(part: string, afterwards: () => Promise<unknown>) {
  let isLost = false
  return async (url: string, init: RequestInit): Promise<Response> => {
    const response = await fetch(url, init)
    if (isLost || !url.includes(part)) return response
    isLost = true
    await response.text()
    await afterwards()
    throw new TypeError('the response is lost')
  }
}

export function equal(actual: unknown, expected: unknown): void {
  const [found, wanted] = [actual, expected].map(toText)
  if (found !== wanted) throw new Error(`Expected ${wanted}, but got ${found}`)
}

/** The `PorticoError` of a call, which must have this name. */
export async function failure(call: Promise<unknown>, name: string): Promise<PorticoError> {
  const error = await call.then(
    (value) => new Error(`Expected ${name}, but got the value ${toText(value)}`),
    (reason) => reason,
  )
  if (!(error instanceof PorticoError) || error.error !== name || error.name !== name)
    throw error instanceof Error ? error : new Error(`Expected ${name}, but got ${String(error)}`)
  return error
}

/** Repeats `probe` until it returns something. */
export async function until<T>(what: string, probe: () => Promise<T | null | false | undefined>): Promise<T> {
  const deadlineAt = Date.now() + 90_000
  while (Date.now() < deadlineAt) {
    const value = await probe()
    if (value !== null && value !== false && value !== undefined) return value
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error(`Not within 90 s: ${what}`)
}

export function anId(): string {
  return `client-${Array.from(crypto.getRandomValues(new Uint8Array(8)), (byte) => byte.toString(16)).join('')}`
}

/** The workflow ids of the `count` runs that match; the engine lists a run a moment after its start. */
export async function untilListed(client: Client<AnyWorkflows>, query: string, count: number): Promise<string[]> {
  return until(`${count} runs match ${query}`, async () => {
    const { runs } = await client.list({ query }).page()
    return runs.length === count ? runs.map(({ workflowId }) => workflowId) : null
  })
}

/** Keys in their order; a bigint is distinguished from a number. */
function toText(value: unknown): string {
  return JSON.stringify(value, (_key, field) => (typeof field === 'bigint' ? `${field}n` : field)) ?? 'undefined'
}
