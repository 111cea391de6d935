/** The network between clients and gateways. */
import type { Exchange } from './exchange.ts'
import { fateOf } from './fate.ts'
import type { Faults } from './profiles.ts'
import { randomOf } from './random.ts'
import type { VirtualTime } from './virtual-time.ts'

/** A process that serves requests. Its name is the owner of its timers. */
export interface Peer {
  name: string
  isUp: boolean
  /** Breaks the connections of its clients. */
  connections: Set<() => void>
  fetch(request: Request): Promise<Response>
}

export interface ClientNetworkOptions {
  seed: number
  time: VirtualTime
  faults: Faults
  /** The processes that a client may reach. */
  peers(): readonly Peer[]
  log(event: string): void
  /** Whether this fault is to happen. */
  admitFault(fault: string): boolean
  /** What the client sends as `Authorization`. */
  credentialOf(client: string): string | null
}

export interface ClientNetwork {
  /** `fetch` of the client that calls it, through a balancer that picks a gateway for each request. */
  fetch: typeof fetch
  exchanges: readonly Exchange[]
}

/** The address of the gateways. */
export const ORIGIN = 'http://gateway'

const MAX_LATENCY_MS = 8
// Made once: an error reads the whole stack.
const LEFT = new DOMException('This operation was aborted', 'AbortError')

export function createClientNetwork(options: ClientNetworkOptions): ClientNetwork {
  const { seed, time, faults, peers, log, admitFault, credentialOf } = options
  const random = randomOf(seed, 'client network')
  const exchanges: Exchange[] = []
  const latencyMs = () => 1 + random.below(MAX_LATENCY_MS)

  const faultOf = (url: string, init: RequestInit) =>
    fateOf(
      random,
      [
        [faults.clientRequestLost, 'request lost'],
        [faults.clientResponseLost, 'response lost'],
        [isRepeatable(url, init) ? faults.clientDuplicated : 0, 'duplicated'],
      ],
      (fault) => admitFault(`client: ${fault}`),
    )

  /** A request as its client sees it. Its fault decides what becomes of the request and of its response. */
  function send(client: string, url: string, { signal, ...given }: RequestInit): Promise<Response> {
    const { promise, resolve, reject } = Promise.withResolvers<Response>()
    const left = new AbortController()
    const cut = (code = 'ECONNRESET') => {
      reject(Object.assign(new TypeError('fetch failed'), { cause: Object.assign(new Error(code), { code }) }))
      left.abort(LEFT)
    }
    signal?.addEventListener('abort', () => {
      reject(signal.reason)
      left.abort(LEFT)
    })
    const up = peers().filter(({ isUp }) => isUp)
    const peer = up[random.below(up.length)]
    if (peer === undefined) {
      time.after(1, () => cut('ECONNREFUSED'))
      return promise
    }
    const fault = faultOf(url, given)
    const init = withCredential(given, credentialOf(client))
    const { method = 'GET' } = init
    log(`${client} > ${peer.name} ${method} ${pathOf(url)}${fault === null ? '' : ` (${fault})`}`)

    const isDuplicated = fault === 'duplicated'
    async function deliver(peer: Peer, respond: typeof resolve, onCut: () => void): Promise<void> {
      const request = new Request(url, { ...init, signal: left.signal })
      const sent = typeof init.body === 'string' ? init.body : ''
      const response = await handle(peer, request, onCut, { client, isDuplicated, sent })
      if (fault === 'response lost') time.after(random.below(200), onCut, 'network')
      else time.after(latencyMs(), () => respond(response), 'network')
    }
    const arrive = (respond: typeof resolve, onCut: () => void) =>
      peer.isUp ? time.as(peer.name, () => void deliver(peer, respond, onCut)) : onCut()
    if (fault === 'request lost') time.after(random.below(200), cut, 'network')
    else if (isDuplicated) {
      // As from a proxy that did not get the first response.
      time.after(latencyMs(), () => arrive(ignore, ignore), 'network')
      time.after(latencyMs() + random.below(2000), () => arrive(resolve, cut), 'network')
    } else time.after(latencyMs(), () => arrive(resolve, cut), 'network')
    return promise
  }

  /** Never resolves if the gateway is killed meanwhile; then `cut` was called. */
  async function handle(
    { name, connections, fetch }: Peer,
    request: Request,
    cut: () => void,
    known: Pick<Exchange, 'client' | 'isDuplicated' | 'sent'>,
  ): Promise<Response> {
    const { method, headers, signal } = request
    const path = pathOf(request.url)
    const key = headers.get('Idempotency-Key')
    const at = { gateway: name, startedAt: time.now() }
    const exchange: Exchange = { ...known, ...at, method, path, key, hasLeft: signal.aborted, response: null }
    exchanges.push(exchange)
    signal.addEventListener('abort', () => {
      exchange.hasLeft ||= exchange.response === null
    })
    const onKill = () => cut()
    connections.add(onKill)
    const response = await fetch(request)
    const body = await response.text()
    connections.delete(onKill)
    const { status } = response
    const requestId = response.headers.get('X-Request-Id') ?? ''
    exchange.response = { status, requestId, body, endedAt: time.now() }
    log(`${name} < ${status} ${path}`)
    return new Response(status === 204 ? null : body, response)
  }

  return { fetch: (input, init) => send(time.owner(), String(input), init ?? {}), exchanges }
}

function ignore(): void {}

/** Without a key, two requests are two operations. So are two with a key when another run has the id meanwhile. */
function isRepeatable(url: string, { headers }: RequestInit): boolean {
  return new Headers(headers).has('Idempotency-Key') && /\/workflow\/(?:run|[^/]+\/runs\/)/.test(url)
}

function withCredential(init: RequestInit, credential: string | null): RequestInit {
  if (credential === null) return init
  const headers = new Headers(init.headers)
  headers.set('Authorization', `Bearer ${credential}`)
  return { ...init, headers }
}

function pathOf(url: string): string {
  return url.slice(ORIGIN.length)
}
