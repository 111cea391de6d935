/** A load balancer in front of the replicas that loses requests and responses. */
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { forward, lose } from '../../test/support/http-fault-proxy.ts'
import type { Random } from './random.ts'

export interface Balancer {
  url: string
  /** How often each message was lost, by what was lost. */
  losses: Map<string, number>
  /** From now on nothing is lost. */
  calm(): void
  close(): void
}

/** How often a request has which fate. */
const LOST_RESPONSE = 0.06
const LOST_REQUEST = 0.03
// Long enough for a run to continue as new because of the request.
const LATE_MS = 300
const CUT = 0.03
const CUT_WITHIN_MS = 60

/** Each request goes to a random replica. */
export async function startBalancer(targets: () => readonly [string, ...string[]], random: Random): Promise<Balancer> {
  const losses = new Map<string, number>()
  let isCalm = false
  const count = (what: string) => void losses.set(what, (losses.get(what) ?? 0) + 1)
  const chance = (probability: number) => !isCalm && random.chance(probability)

  const server = createServer(async (incoming, outgoing) => {
    outgoing.on('error', () => {}) // of a client that has left
    const body = await buffer(incoming).catch(() => null)
    if (body === null) return
    const exchange = { targetUrl: random.pick(targets()), incoming, outgoing, body }
    if (chance(LOST_REQUEST)) {
      count('request lost')
      outgoing.destroy()
    } else if (chance(LOST_RESPONSE)) {
      count(`response lost (${kindOf(incoming)})`)
      const isLate = random.chance(0.5)
      lose(exchange, async () => {
        if (isLate) await pause(LATE_MS)
      })
    } else {
      if (chance(CUT)) {
        count('connection cut')
        setTimeout(() => outgoing.destroy(), random.below(CUT_WITHIN_MS))
      }
      forward(exchange)
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    losses,
    calm() {
      isCalm = true
    },
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}

function kindOf({ method }: IncomingMessage): 'read' | 'write' {
  return method === 'GET' ? 'read' : 'write'
}
