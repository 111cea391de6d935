/** Gateways: the whole service in this process, on the transport of the simulation. */

import type { Random } from '../../lab/soak/random.ts'
import { AUDIT, type LogLevel } from '../../src/log.ts'
import { createPortico, type Portico } from '../../src/service/portico.ts'
import { type Config, parseConfig } from '../../src/shared/config.ts'
import type { Peer } from './client-network.ts'
import type { Caller, EngineNetwork } from './engine-network.ts'
import type { Tenants } from './tenants.ts'
import type { VirtualTime } from './virtual-time.ts'

export interface Gateway extends Peer, Caller {
  portico: Portico
  /** Every request that it has received. */
  requests: WeakRef<Request>[]
}

export interface GatewaysOptions {
  time: VirtualTime
  random: Random
  network: Pick<EngineNetwork, 'transportOf'>
  tenants: Pick<Tenants, 'policy'>
  env: Readonly<Record<string, string>>
  maxSkewMs: number
  log(event: string): void
}

/** A line of the audit log. */
export interface AuditLine {
  gateway: string
  requestId?: unknown
  caller?: unknown
  action?: unknown
  rule?: unknown
  workflowId?: unknown
  runId?: unknown
}

export interface Gateways {
  /** The gateways that run now. */
  all(): readonly Gateway[]
  start(): Gateway
  /** SIGKILL: nothing of it continues, and its clients lose their connections. */
  kill(gateway: Gateway): void
  /** SIGTERM: ends its waits, and a moment later the process. */
  stop(gateway: Gateway): Promise<void>
  /** Gives all of them the policy as it is now. */
  setPolicy(): void
  /** What all of them have written to the audit log. */
  audit: readonly AuditLine[]
}

// How long a process that stops has for its last responses.
const STOP_MS = 500

export function createGateways({ time, random, network, tenants, env, maxSkewMs, log }: GatewaysOptions): Gateways {
  const running: Gateway[] = []
  const audit: AuditLine[] = []
  let started = 0

  const configs = new Map<string | null, Config>()

  function config(): Config {
    const document = tenants.policy()
    const policy = document && JSON.stringify(document)
    const known = configs.get(policy)
    if (known !== undefined) return known
    const parsed = parseConfig({ ...env, ...(policy !== null && { SERVICE_POLICY: policy }) }, { binds: false })
    configs.set(policy, parsed)
    return parsed
  }

  const logOf = (gateway: string) => (level: LogLevel, message: string, fields?: object) => {
    if (message === AUDIT) audit.push({ gateway, ...fields })
    if (level === 'warn' || level === 'error') log(`${gateway} ${level}: ${message} ${JSON.stringify(fields ?? {})}`)
  }

  function kill(gateway: Gateway): void {
    if (!gateway.isUp) return
    gateway.isUp = false
    running.splice(running.indexOf(gateway), 1)
    time.kill(gateway.name)
    log(`${gateway.name} ends`)
    for (const cut of gateway.connections) cut()
  }

  return {
    all: () => running,
    start() {
      const name = `gateway-${++started}`
      if (maxSkewMs > 0) time.setSkew(name, random.below(2 * maxSkewMs) - maxSkewMs)
      const peer: Peer & Caller = {
        name,
        isUp: true,
        calls: 0,
        connections: new Set(),
        fetch(request) {
          requests.push(new WeakRef(request))
          return portico.fetch(request)
        },
      }
      const requests: WeakRef<Request>[] = []
      const portico = time.as(name, () =>
        createPortico({
          config: config(),
          transport: network.transportOf(() => peer),
          runtime: 'node',
          log: logOf(name),
        }),
      )
      const gateway = Object.assign(peer, { portico, requests })
      running.push(gateway)
      return gateway
    },
    kill,
    async stop(gateway) {
      log(`${gateway.name} stops`)
      time.as(gateway.name, () => gateway.portico.drain())
      await time.sleep(STOP_MS)
      kill(gateway)
    },
    setPolicy() {
      const { policy } = config().access
      if (policy !== null) for (const { name, portico } of running) time.as(name, () => portico.setPolicy(policy))
    },
    audit,
  }
}
