/** What the API suite plays on: one engine, two workers, and the service in four situations. */
import {
  Client,
  Connection,
  type WorkflowHandleWithFirstExecutionRunId,
  type WorkflowStartOptions,
} from '@temporalio/client'
import { afterAll, beforeAll, inject } from 'vitest'
import { freePort } from '../../../dev/servers/ports.ts'
import { until } from '../../../dev/servers/until.ts'
import { type Api, makeApi } from '../../support/api.ts'
import { type FaultProxy, startFaultProxy } from '../../support/fault-proxy.ts'
import { testCatalog } from '../../support/test-catalog.ts'
import { idleMarks } from '../../support/variables.ts'
import { startWorker } from '../../support/worker.ts'

/** A service that listens. */
export interface Server {
  url: string
  stop(): Promise<void>
}

/** Starts the service as its users do: everything it is told stands in `env`. */
export type Serve = (env: Record<string, string>) => Promise<Server>

/** What a runtime can't do, or can't over the engine's HTTP API. */
export type Gap =
  /** Ids and names with a slash have no path in the engine's HTTP API. */
  | 'slashes'
  /** It has no call that starts and updates in one step. */
  | 'update-with-start'
  /** It does not tell a call that was never sent from one that may have arrived. */
  | 'what-was-sent'
  /** It leaves a connection open whose request never ends, until the client closes it. */
  | 'closing-connections'
  /** It does not open the socket itself: whether only this machine can connect is not known. */
  | 'loopback'

export interface Stage {
  lacks(gap: Gap): boolean
  /** The service with its defaults; everybody may call. */
  open: Api & { url: string }
  /** Two tokens, one origin, a second for a worker's answer, and sizes that the engine itself has to refuse. */
  guarded: Api & { url: string }
  /** Before an engine that lies when `proxy` is told to. */
  faulty: Api
  proxy: FaultProxy
  /** Its engine is not there. */
  lonely: Api
  /** Default catalog of all of them: published, with a worker. */
  catalog: string
  /** Task queue of a worker without a catalog. */
  plain: string
  client: Client
}

export const TOKEN = 'first+secret/token=='
export const OTHER_TOKEN = 'second-token'
export const ORIGIN = 'https://app.example.com'
export const MESSAGE_TIMEOUT_MS = 1000

/** Set for the suite around it, and taken down after it. */
export function setStage(serve: Serve, gaps: readonly Gap[]): () => Stage {
  const ends: (() => Promise<unknown>)[] = []
  let stage: Stage | undefined

  beforeAll(async () => {
    const { address, httpUrl } = inject('engine')
    const catalog = `api-${crypto.randomUUID()}`
    const plain = `plain-${crypto.randomUUID()}`
    const ending = <T extends { stop(): Promise<unknown> }>(started: Promise<T>) =>
      started.then((running) => {
        ends.push(() => running.stop())
        return running
      })

    const connection = await Connection.connect({ address })
    ends.push(() => connection.close())
    const proxy = await ending(startFaultProxy(address, httpUrl))
    const env = idleMarks({ PATH: process.env.PATH ?? '', SERVICE_CATALOG_ID: catalog, SERVICE_PORT: '0' })
    const nobody = `127.0.0.1:${await freePort()}`
    // Both ways to each engine: the runtime, or what it is told, chooses.
    const real = { ENGINE_ADDRESS: address, ENGINE_HTTP_URL: httpUrl ?? '' }
    const [open, guarded, faulty, lonely] = await Promise.all([
      ending(serve({ ...env, ...real })),
      ending(
        serve({
          ...env,
          ...real,
          SERVICE_API_AUTH_TOKEN: `${TOKEN}, ,${OTHER_TOKEN}`,
          SERVICE_CORS_ORIGINS: ORIGIN,
          SERVICE_MESSAGE_TIMEOUT: String(MESSAGE_TIMEOUT_MS),
          SERVICE_MAX_BODY_BYTES: String(8 << 20),
          SERVICE_MAX_PAYLOAD_BYTES: String(8 << 20),
          SERVICE_RUN_MAX_TIMEOUT: '10m',
          SERVICE_CATALOG_TTL: '1s',
        }),
      ),
      ending(serve({ ...env, ENGINE_ADDRESS: proxy.address, ENGINE_HTTP_URL: proxy.httpUrl ?? '' })),
      ending(serve({ ...env, ENGINE_ADDRESS: nobody, ENGINE_HTTP_URL: `http://${nobody}` })),
      ending(startWorker({ address, taskQueue: catalog, catalog: testCatalog })),
      ending(startWorker({ address, taskQueue: plain })),
    ])
    stage = {
      lacks: (gap) => gaps.includes(gap),
      open: { url: open.url, ...makeApi({ url: open.url }) },
      guarded: { url: guarded.url, ...makeApi({ url: guarded.url, token: TOKEN }) },
      faulty: makeApi({ url: faulty.url, engine: 'faulty' }),
      proxy,
      lonely: makeApi({ url: lonely.url, engine: 'faulty' }),
      catalog,
      plain,
      client: new Client({ connection }),
    }
    await until(
      'the catalog is published',
      async () => (await stage?.open.call('GET', '/workflow/catalog'))?.status === 200,
    )
  })

  afterAll(async () => {
    for (const end of ends.reverse()) await end()
  })

  return () => {
    if (stage === undefined) throw new Error('The stage is not set yet')
    return stage
  }
}

export function anId(): string {
  return `api-test-${crypto.randomUUID()}`
}

/** Started behind the API's back, for what a request can't ask for; without `taskQueue` where a worker without a catalog is. */
export function startBehind(
  { client, plain }: Stage,
  workflowName: string,
  options: Partial<WorkflowStartOptions> = {},
): Promise<WorkflowHandleWithFirstExecutionRunId> {
  return client.workflow.start(workflowName, {
    taskQueue: plain,
    workflowId: anId(),
    ...options,
  } as WorkflowStartOptions)
}

/** A run with every kind of handler that has set them. */
export async function startMessages(
  stage: Stage,
  api: Api = stage.open,
): Promise<{ workflowId: string; runId: string }> {
  const { body } = await api.call('POST', '/workflow/start', { workflowName: 'messages', input: null })
  await untilStatus(stage, body.workflowId, 'running', { events: 4 })
  return body
}

/** Until the run has this status, and so many events. */
export async function untilStatus(
  { client }: Stage,
  workflowId: string,
  status: string,
  { runId, events = 0 }: { runId?: string; events?: number } = {},
): Promise<void> {
  const word = status.replaceAll('_', '').replace('canceled', 'cancelled').replace('continued', 'continuedasnew')
  const isSo = async () => {
    const run = await client.workflow.getHandle(workflowId, runId).describe()
    return run.status.name.replaceAll('_', '').toLowerCase() === word && run.historyLength >= events
  }
  await until(`workflow ${workflowId} is ${status}`, isSo, { timeoutMs: 25_000 })
}

export async function pause({ client }: Stage, workflowId: string): Promise<void> {
  const request = { namespace: 'default', workflowId, identity: 'test', reason: 'a test', requestId: anId() }
  await client.connection.workflowService.pauseWorkflowExecution(request)
}

export async function unpause({ client }: Stage, workflowId: string): Promise<void> {
  const request = { namespace: 'default', workflowId, identity: 'test', reason: 'a test', requestId: anId() }
  await client.connection.workflowService.unpauseWorkflowExecution(request)
}
