/** The requests that reached a gateway, and its responses: what the invariants are about. */

export interface Exchange {
  client: string
  gateway: string
  method: string
  /** With the query string. */
  path: string
  /** The `Idempotency-Key`. */
  key: string | null
  /** The body of the request; empty without one. */
  sent: string
  /** Milliseconds of the simulation. */
  startedAt: number
  /** Whether the request has arrived twice. */
  isDuplicated: boolean
  /** Whether the client has left before the response. */
  hasLeft: boolean
  /** Null: the gateway was killed before it responded. */
  response: ExchangeResponse | null
}

export interface ExchangeResponse {
  status: number
  requestId: string
  body: string
  endedAt: number
}

/** The last name in the path that says what the request does, such as `signal` of `/workflow/a/runs/r/signal/apply`. */
export function verbOf({ path }: Pick<Exchange, 'path'>): string {
  const [, first, second, ...rest] = path.split('?', 1)[0]?.split('/') ?? []
  if (first !== 'workflow') return first ?? ''
  if (second === 'start' || second === 'run' || second?.endsWith('-with-start')) return second
  return (rest[0] === 'runs' ? rest[2] : rest[0]) ?? 'list'
}

export const STARTS: ReadonlySet<string> = new Set(['start', 'run', 'signal-with-start', 'update-with-start'])

interface Sent {
  workflowId?: unknown
  workflowName?: unknown
  input?: { marker?: unknown }
  payload?: unknown
  reason?: unknown
  timeout?: unknown
}

export function sentBy({ sent }: Exchange): Sent {
  return sent === '' ? {} : JSON.parse(sent)
}

/** By what histories show that it was carried out; undefined for a read. */
export function markerOf(exchange: Exchange): string | undefined {
  const { input, payload, reason } = sentBy(exchange)
  return [payload, input?.marker, reason].find((marker) => typeof marker === 'string')
}

/** The workflow that the request names. */
export function workflowIdOf(exchange: Exchange): string | undefined {
  const { workflowId } = sentBy(exchange)
  if (typeof workflowId === 'string') return workflowId
  const verb = verbOf(exchange)
  return STARTS.has(verb) || verb === 'list' ? undefined : exchange.path.split(/[/?]/)[2]
}

/** What is said about a run in the body of a response. */
export interface Said {
  workflowId?: unknown
  runId?: unknown
  status?: unknown
  started?: unknown
  output?: unknown
  error?: unknown
  message?: unknown
}

export function saidIn({ response }: Exchange): Said {
  if (response === null || !response.body.startsWith('{')) return {}
  return JSON.parse(response.body)
}
