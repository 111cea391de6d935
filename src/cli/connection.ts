import type { AnyWorkflows } from '../client/catalog-types.ts'
import type { Client } from '../client/client.ts'
import { createClient } from '../client/create-client.ts'
import type { PorticoError } from '../client/portico-error.ts'
import { isObject, parseJson } from '../shared/lib/json.ts'
import type { Settings } from './settings.ts'

export interface ServiceConnection {
  /** Its numbers are exact. */
  client: Client<AnyWorkflows>
  /** The JSON of the last response, unchanged; null before the first. */
  lastBody(): string | null
  /** A start or message that may have been carried out: no response shows whether it was. */
  open(): OpenRequest | null
  /** Why the current request is being repeated; null if it is not. */
  retried(): PorticoError | null
  /** The warnings of all responses, each once. */
  warnings(): ReadonlySet<string>
}

/** How to send it again so that it is carried out once: with its key, and to the same run if it is a message. */
export interface OpenRequest {
  key: string
  runId: string | null
}

// The maximum wait of one request on a terminal, so that a failing run is shown soon. Without a terminal, waits may be
// longer.
const TERMINAL_WAIT_MS = 5000

/** `retryMs`: how long a call is repeated while the service does not respond. */
export function connectToService({ url, token, namespace, catalog }: Settings, retryMs: number): ServiceConnection {
  let lastBody: string | null = null
  let open: OpenRequest | null = null
  let retried: PorticoError | null = null
  const warnings = new Set<string>()

  async function fetchAndKeep(url: string, init: RequestInit): Promise<Response> {
    lastBody = null
    const key = new Headers(init.headers).get('Idempotency-Key')
    if (key !== null) open = { key, runId: /\/workflow\/[^/]+\/runs\/([^/?]+)/.exec(url)?.[1] ?? null }
    const response = await fetch(url, init)
    const isJson = /[/+]json\b/.test(response.headers.get('Content-Type') ?? '')
    if (isJson) lastBody = await response.text()
    if (response.ok) open = null
    retried = null
    for (const warning of warningsOf(response.headers, lastBody)) warnings.add(warning)
    return lastBody === null ? response : new Response(lastBody, response)
  }

  const client = createClient({
    url,
    fetch: fetchAndKeep,
    parse: parseJson,
    retryMs,
    onRetry: ({ error }) => {
      retried = error
    },
    token: token ?? undefined,
    namespace: namespace ?? undefined,
    catalog: catalog ?? undefined,
    maxWaitMs: process.stderr.isTTY ? TERMINAL_WAIT_MS : undefined,
  })
  return {
    client,
    lastBody: () => lastBody,
    open: () => open,
    retried: () => retried,
    warnings: () => warnings,
  }
}

/**
 * The warnings of the service. The header shows that `warnings` in the body are the service's, not part of a workflow's
 * value; it may be truncated.
 */
function warningsOf(headers: Headers, body: string | null): string[] {
  const named = headers.get('Portico-Warning')
  const output = headers.get('Portico-Output-Warning')
  const given: unknown = named === null || body === null ? null : JSON.parse(body)
  const warnings = isObject(given) && Array.isArray(given.warnings) ? given.warnings.map(String) : [named]
  return [...warnings, output].filter((warning) => warning !== null)
}
