/** Replicas behind a proxy, which are replaced as Kubernetes does it. */
import { expect } from 'vitest'
import { type ServiceProcess, startServiceProcess } from '../../dev/servers/service.ts'
import { defineCatalog, porticoPlugin } from '../../src/worker/index.ts'
import { type Api, makeApi } from '../../test/support/api.ts'
import { test as sharedTest } from '../../test/support/fixtures.ts'
import { withMetrics } from '../../test/support/invariants.ts'
import { withPolicy } from '../../test/support/policy.ts'
import { readiness } from '../../test/support/readiness.ts'
import type * as workflows from '../../test/support/workflows.ts'
import { startBalancer } from '../soak/balancer.ts'
import { createRandom } from '../soak/random.ts'

interface Replica extends ServiceProcess, Api {}

export interface Front {
  url: string
  /**
   * As Kubernetes replaces pods: another one is ready, then the proxy sends nothing new to the old one, then that one
   * gets SIGTERM, and exits when its open requests have a response. With `untilNoticed` the proxy sends requests to the
   * old one until this resolves, after SIGTERM too.
   */
  replaceEach(afterEach: () => Promise<unknown>, untilNoticed?: () => Promise<unknown>): Promise<void>
}

const SHUTDOWN_GRACE_MS = 60_000

export const TOKEN = 'restart-operator'
export const PUBLIC_URL = 'https://portico.example'

const ENV = {
  SERVICE_API_AUTH_TOKEN: TOKEN,
  SERVICE_SIGNING_KEY: Buffer.alloc(32, 'restart').toString('base64url'),
  SERVICE_PUBLIC_URL: PUBLIC_URL,
  SERVICE_SHUTDOWN_TIMEOUT: '5s',
}

export const test = sharedTest
  .extend('workerOptions', { scope: 'file' }, () => {
    const catalog = defineCatalog<typeof workflows>({
      echo: {},
      manySteps: {},
      messages: { signals: { add: {}, finish: {} }, updates: { set: {} }, queries: { state: {} } },
      streamSignals: {},
      waitForSignal: {},
    })
    return { options: { plugins: [porticoPlugin({ catalog })] } }
  })
  .extend(
    'startReplica',
    { scope: 'file' },
    ({ engine, catalog, cleanup, worker: _ }) =>
      async (): Promise<Replica> => {
        const env = withMetrics(withPolicy(ENV))
        const replica = await startServiceProcess({ address: engine.address, catalog, env })
        cleanup.defer(async () => void (await replica.kill()))
        const api = makeApi({ url: replica.url, token: TOKEN })
        await readiness(api)
        return { ...replica, ...api }
      },
  )
  .extend('startFront', { scope: 'file' }, ({ startReplica, cleanup }) => async (): Promise<Front> => {
    const [one, other] = await Promise.all([startReplica(), startReplica()])
    let serving: readonly [Replica, Replica] = [one, other]
    const balancer = await startBalancer(() => [serving[0].url, serving[1].url], createRandom(1))
    balancer.calm()
    cleanup.defer(balancer.close)
    return {
      url: balancer.url,
      async replaceEach(afterEach, untilNoticed) {
        for (const replica of serving) {
          const next = await startReplica()
          const route = () => {
            serving = replica === serving[0] ? [next, serving[1]] : [serving[0], next]
          }
          if (untilNoticed === undefined) {
            route()
            // Connections are accepted in order: after this response the replica has those of the proxy.
            await fetch(`${replica.url}/health`)
          }
          const stopped = replica.stop(SHUTDOWN_GRACE_MS)
          await untilNoticed?.()
          route()
          expect((await stopped).code).toBe(0)
          await afterEach()
        }
      },
    }
  })
