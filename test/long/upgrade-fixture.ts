/** Replicas of the last release and of these sources, in front of one engine. Workers and clients are older. */
import { expect } from 'vitest'
import { ensureOlderBuild } from '../../dev/servers/older-build.ts'
import { type ServiceProcess, startServiceProcess } from '../../dev/servers/service.ts'
import { startBalancer } from '../soak/balancer.ts'
import { createRandom } from '../soak/random.ts'
import { type Api, makeApi } from '../support/api.ts'
import { test as sharedTest } from '../support/fixtures.ts'
import { withMetrics } from '../support/invariants.ts'
import { withPolicy } from '../support/policy.ts'
import { readiness } from '../support/readiness.ts'
import type * as workflows from '../support/workflows.ts'

export type Build = 'older' | 'newer'

export interface Replica extends ServiceProcess, Api {}

export interface Front {
  url: string
  /**
   * As Kubernetes replaces pods: another one is ready, then the proxy sends nothing new to the old one, then that one
   * gets SIGTERM, and exits when its open requests have a response. With `untilNoticed` the proxy sends requests to the
   * old one until this resolves, after SIGTERM too.
   */
  replaceEach(by: Build, afterEach: () => Promise<unknown>, untilNoticed?: () => Promise<unknown>): Promise<void>
}

const SHUTDOWN_GRACE_MS = 60_000

export const TOKEN = 'upgrade-operator'
export const PUBLIC_URL = 'https://portico.example'

const ENV = {
  SERVICE_API_AUTH_TOKEN: TOKEN,
  SERVICE_SIGNING_KEY: Buffer.alloc(32, 'upgrade').toString('base64url'),
  SERVICE_PUBLIC_URL: PUBLIC_URL,
  SERVICE_SHUTDOWN_TIMEOUT: '5s',
}

export const test = sharedTest
  .extend('older', { scope: 'file' }, async () => {
    const { worker, client, ...build } = await ensureOlderBuild()
    // Releases keep the types of these modules compatible.
    const kit: typeof import('../../src/worker/index.ts') = await import(worker)
    const { createClient }: typeof import('../../src/client/index.ts') = await import(client)
    return { ...build, kit, createClient }
  })
  .extend('workerOptions', { scope: 'file' }, ({ older: { kit } }) => {
    const catalog = kit.defineCatalog<typeof workflows>({
      echo: {},
      manySteps: {},
      messages: { signals: { add: {}, finish: {} }, updates: { set: {} }, queries: { state: {} } },
      streamSignals: {},
      waitForSignal: {},
    })
    return { options: { plugins: [kit.porticoPlugin({ catalog })] } }
  })
  .extend('startReplica', { scope: 'file' }, ({ engine, catalog, older, cleanup, worker: _ }) => {
    return async (build: Build, env: Record<string, string> = {}): Promise<Replica> => {
      const replica = await startServiceProcess({
        address: engine.address,
        catalog,
        env: withMetrics(withPolicy({ ...ENV, ...env })),
        ...(build === 'older' && { entry: older.service }),
      })
      cleanup.defer(async () => void (await replica.kill()))
      const api = makeApi({ url: replica.url, token: TOKEN })
      await readiness(api)
      return { ...replica, ...api }
    }
  })
  /** Two replicas of one build behind a proxy. */
  .extend('startFront', { scope: 'file' }, ({ startReplica, cleanup }) => async (build: Build): Promise<Front> => {
    const [one, other] = await Promise.all([startReplica(build), startReplica(build)])
    let serving: readonly [Replica, Replica] = [one, other]
    const balancer = await startBalancer(() => [serving[0].url, serving[1].url], createRandom(1))
    balancer.calm()
    cleanup.defer(balancer.close)
    return {
      url: balancer.url,
      async replaceEach(by, afterEach, untilNoticed) {
        for (const replica of serving) {
          const next = await startReplica(by)
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
