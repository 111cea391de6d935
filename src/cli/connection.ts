import type { AnyWorkflows } from '../client/catalog-types.ts'
import type { Client } from '../client/client.ts'
import { createClient } from '../client/create-client.ts'
import { parseJson } from '../lib/exact-json.ts'
import { isObject } from '../lib/is-object.ts'
import { wasNotSent } from '../lib/not-sent.ts'
import type { Settings } from './settings.ts'

export interface Connection {
  client: Client<AnyWorkflows>
  /** The JSON of the last response, unchanged; null before the first. */
  lastBody(): string | null
  /**
   * The idempotency key of a request that may have been carried out: there was no response, or only that of a proxy.
   */
  openKey(): string | null
  /** What responses warned of, each once. */
  warnings(): ReadonlySet<string>
  /** The same as `value`, which the client made of the last response, but with exact numbers. */
  exact<T>(value: T): T
}

export interface ConnectOptions {
  /** How long a call is repeated while the service does not respond. */
  retryMs: number
  /** Called if the very first request could not be sent: it is not worth repeating. */
  giveUp(cause: unknown): void
}

// A waiting person sees after this time that the run fails. Without one, a wait may be longer.
const TERMINAL_WAIT_MS = 5000

export function connect({ url, token, catalog }: Settings, { retryMs, giveUp }: ConnectOptions): Connection {
  let lastBody: string | null = null
  let openKey: string | null = null
  let isFirst = true
  const warnings = new Set<string>()

  async function fetchAndKeep(url: string, init: RequestInit): Promise<Response> {
    lastBody = null
    const canGiveUp = isFirst
    isFirst = false
    const openBefore = openKey
    openKey = new Headers(init.headers).get('Idempotency-Key')
    const response = await fetch(url, init).catch((error: unknown) => {
      // A lost request may have been carried out: only the client can repeat it, with its key.
      if (wasNotSent(error)) {
        openKey = openBefore
        if (canGiveUp) giveUp(error)
      }
      throw error
    })
    const type = response.headers.get('Content-Type') ?? ''
    if (/[/+]json\b/.test(type)) lastBody = await response.text()
    for (const warning of warningsOf(response.headers, lastBody)) warnings.add(warning)
    // An error of Portico, such as an overload, changes nothing. That of a proxy does not say what has happened.
    if (response.ok) openKey = null
    else if (type.startsWith('application/problem+json')) openKey = openBefore
    return lastBody === null ? response : new Response(lastBody, response)
  }

  const client = createClient({
    url,
    fetch: fetchAndKeep,
    retryMs,
    token: token ?? undefined,
    catalog: catalog ?? undefined,
    maxWaitMs: process.stderr.isTTY ? TERMINAL_WAIT_MS : undefined,
  })
  return {
    client,
    lastBody: () => lastBody,
    openKey: () => openKey,
    warnings: () => warnings,
    // The client has parsed this body into a value of that type.
    exact: <T>(value: T): T => (lastBody === null ? value : (parseJson(lastBody) as T)),
  }
}

/**
 * What the service warns of. The header says that `warnings` in the body are its own, and not part of a value of a
 * workflow; it contains only the beginning of a long text.
 */
function warningsOf(headers: Headers, body: string | null): string[] {
  const named = headers.get('Portico-Warning')
  const output = headers.get('Portico-Output-Warning')
  const given: unknown = named === null || body === null ? null : JSON.parse(body)
  const warnings = isObject(given) && Array.isArray(given.warnings) ? given.warnings.map(String) : [named]
  return [...warnings, output].filter((warning) => warning !== null)
}
