/** What the API suite runs against: one engine, two workers, and the service in five configurations. */
import type { Client, WorkflowHandleWithFirstExecutionRunId, WorkflowStartOptions } from '@temporalio/client'
import { freePort } from '../../../src/cli/dev/servers/ports.ts'
import { until } from '../../../src/cli/dev/servers/until.ts'
import { type Api, type ApiOptions, makeApi } from '../../support/api.ts'
import { type FaultProxy, startFaultProxy } from '../../support/fault-proxy.ts'
import { test } from '../../support/fixtures.ts'
import { watchPolls } from '../../support/invariants.ts'
import { testCatalog } from '../../support/test-catalog.ts'
import { withUnusedSecrets } from '../../support/variables.ts'
import type { TestWorkerOptions } from '../../support/worker.ts'
import { UNANSWERED_MS } from '../engine/engine-fixture.ts'

/** Timeout of a workflow task whose first failure must reach the history although the machine is slow. */
export const SLOW_WORKER = '60s'

/** A service that listens. */
export interface Server {
  url: string
  pid: number
  /** The last lines that it printed. */
  output(): string
  stop(): Promise<void>
}

/** Starts the service as its users do, configured by `env` alone. */
export type Serve = (env: Record<string, string>) => Promise<Server>

/** What a runtime cannot do, or cannot do over the engine's HTTP API. */
export type Gap =
  /** The engine's HTTP API has no path for ids and names with a slash. */
  | 'slashes'
  /** The engine's HTTP API has no call that starts and updates in one step. */
  | 'update-with-start'
  /** The engine's HTTP API has no call that reads an update. */
  | 'async-updates'
  /** The runtime cannot distinguish a call that failed before it was sent from one that may have arrived. */
  | 'what-was-sent'
  /** If a request never ends, the runtime keeps its connection open until the client closes it. */
  | 'closing-connections'
  /** The runtime resolves `.` and `..` in a path before the service gets it. */
  | 'dot-segments'
  /** The runtime does not open the socket itself, so it cannot know whether only this machine can connect. */
  | 'loopback'

export interface ApiFixture {
  hasGap(gap: Gap): boolean
  /** The service with its defaults. */
  service: Api & Pick<Server, 'pid' | 'url'>
  /**
   * Allows one origin, waits `MESSAGE_TIMEOUT_MS` for a message,
   * accepts bodies that the engine rejects, checks outputs.
   */
  restrictedService: Api & { url: string }
  /** Requires no token, and has no policy. */
  anonymousService: Api & { url: string }
  /** Its calls to the engine go through `faultProxy`. */
  serviceBehindFaultProxy: Api & Pick<Server, 'pid'>
  faultProxy: FaultProxy
  /** Nothing listens at the address of its engine. */
  serviceWithoutEngine: Api & Pick<Server, 'pid'>
  /** The log's line about a request to `service` or `serviceBehindFaultProxy`. */
  logged(requestId: string): Promise<Record<string, unknown>>
  /** Default catalog of all five: published, with a worker. */
  catalog: string
  /** Task queue of a worker without a catalog. */
  plainTaskQueue: string
  /** Starts a worker that is stopped after the last test. */
  startWorker(options: Partial<TestWorkerOptions>): Promise<unknown>
  client: Client
}

export const TOKEN = 'first+secret/token=='
export const OTHER_TOKEN = 'second-token'
export const ORIGIN = 'https://app.example.com'
const MESSAGE_TIMEOUT_MS = UNANSWERED_MS

/** What each request of the suite sends, except those about missing tokens. */
export const AUTHORIZED = { Authorization: `Basic ${TOKEN}` }

const OPERATORS_BESIDE_POLICY = {
  SERVICE_API_AUTH_TOKEN: `${TOKEN}, ,${OTHER_TOKEN}`,
  // Its rule applies to no caller.
  SERVICE_POLICY: JSON.stringify({
    version: 1,
    rules: [{ name: 'nobody', who: { token: `sha256:${'0'.repeat(64)}` }, can: ['metrics'] }],
  }),
}

/** Gives each service operators, whose tokens are those above, and a policy. */
export function withOperators(serve: Serve): Serve {
  return (env) => serve({ ...OPERATORS_BESIDE_POLICY, ...env })
}

/** A client of such a service. */
export function operatorApi(options: ApiOptions): Api {
  return makeApi({ token: TOKEN, ...options })
}

/** Starts everything before the first test of the suite around it. The returned function is for its tests. */
export function apiFixture(serve: Serve, gaps: readonly Gap[]): () => ApiFixture {
  let fixture: ApiFixture | undefined

  test.beforeAll(async ({ engine, client, startWorker, cleanup }) => {
    const start = async (env: Record<string, string>) => {
      const server = await serve(env)
      cleanup.defer(() => server.stop())
      return server
    }
    const catalog = `api-${crypto.randomUUID()}`
    const plainTaskQueue = `plain-${crypto.randomUUID()}`
    const faultProxy = await startFaultProxy(engine.address, engine.httpUrl)
    watchPolls(faultProxy)
    cleanup.defer(() => faultProxy.stop())
    const env = withUnusedSecrets({
      PATH: process.env.PATH ?? '',
      SERVICE_CATALOG_ID: catalog,
      SERVICE_PORT: '0',
      // Tests that run at the same time share these services.
      SERVICE_MAX_INFLIGHT: '1000',
    })
    const nobody = `127.0.0.1:${await freePort()}`
    // Both addresses of each engine: the runtime, or ENGINE_TRANSPORT, chooses between them.
    const real = { ENGINE_ADDRESS: engine.address, ENGINE_HTTP_URL: engine.httpUrl ?? '' }

    const [service, restrictedService, anonymousService, serviceBehindFaultProxy, serviceWithoutEngine] =
      await Promise.all([
        start({ ...env, ...real }),
        start({
          ...env,
          ...real,
          SERVICE_CORS_ORIGINS: ORIGIN,
          SERVICE_FORWARD_HEADERS: 'X-Tenant',
          SERVICE_MESSAGE_TIMEOUT: String(MESSAGE_TIMEOUT_MS),
          SERVICE_MAX_BODY_BYTES: String(8 << 20),
          SERVICE_MAX_PAYLOAD_BYTES: String(8 << 20),
          SERVICE_RUN_MAX_TIMEOUT: '10m',
          SERVICE_CATALOG_TTL: '1s',
          SERVICE_CHECK_OUTPUTS: 'true',
          SERVICE_DOCS_ON: 'true',
          SERVICE_CONSOLE_ON: 'true',
        }),
        start({ ...env, ...real, SERVICE_API_AUTH_TOKEN: '', SERVICE_POLICY: '' }),
        start({ ...env, ENGINE_ADDRESS: faultProxy.address, ENGINE_HTTP_URL: faultProxy.httpUrl ?? '' }),
        start({ ...env, ENGINE_ADDRESS: nobody, ENGINE_HTTP_URL: `http://${nobody}` }),
        startWorker({ taskQueue: catalog, catalog: testCatalog }),
        startWorker({ taskQueue: plainTaskQueue }),
      ])
    const disturbed = ({ url, pid }: Server) => ({ pid, ...operatorApi({ url, engine: 'disturbed' }) })
    const api = {
      hasGap: (gap: Gap) => gaps.includes(gap),
      service: { url: service.url, pid: service.pid, ...operatorApi({ url: service.url }) },
      restrictedService: { url: restrictedService.url, ...operatorApi({ url: restrictedService.url }) },
      anonymousService: { url: anonymousService.url, ...makeApi({ url: anonymousService.url }) },
      serviceBehindFaultProxy: disturbed(serviceBehindFaultProxy),
      faultProxy,
      serviceWithoutEngine: disturbed(serviceWithoutEngine),
      logged: (requestId: string) =>
        until('the request is logged', () => {
          const lines = [service, serviceBehindFaultProxy].flatMap(({ output }) => output().split('\n'))
          const line = lines.find((one) => one.includes(`"message":"request"`) && one.includes(`"${requestId}"`))
          return line === undefined ? null : JSON.parse(line)
        }),
      catalog,
      plainTaskQueue,
      startWorker,
      client,
    }
    const isPublished = async () => (await api.service.get('catalog')).status === 200
    await until('the catalog is published', isPublished)
    fixture = api
  })

  return () => {
    if (fixture === undefined) throw new Error('The API fixture is available in tests only')
    return fixture
  }
}

export function anId(): string {
  return `api-test-${crypto.randomUUID()}`
}

/**
 * Starts a workflow with Temporal's own client, for options that the API does not have. Default task queue:
 * `plainTaskQueue`.
 */
export function startDirectly(
  { client, plainTaskQueue }: ApiFixture,
  workflowName: string,
  options: Partial<WorkflowStartOptions> = {},
): Promise<WorkflowHandleWithFirstExecutionRunId> {
  return client.workflow.start(workflowName, {
    taskQueue: plainTaskQueue,
    workflowId: anId(),
    ...options,
  } as WorkflowStartOptions)
}

/** Starts a run of `messages` and waits until its handlers are registered. */
export async function startMessages(
  api: ApiFixture,
  service: Api = api.service,
): Promise<{ workflowId: string; runId: string }> {
  const { body } = await service.start('messages')
  await untilStatus(api, body.workflowId, 'running', { events: 4 })
  return body
}

/** Waits until the run has this status and at least that many events. */
export async function untilStatus(
  { client }: ApiFixture,
  workflowId: string,
  status: string,
  { runId, events = 0 }: { runId?: string; events?: number } = {},
): Promise<void> {
  const word = status.replaceAll('_', '').replace('canceled', 'cancelled').replace('continued', 'continuedasnew')
  const isSo = async () => {
    const run = await client.workflow.getHandle(workflowId, runId).describe()
    return run.status.name.replaceAll('_', '').toLowerCase() === word && run.historyLength >= events
  }
  await until(`workflow ${workflowId} is ${status}`, isSo, { timeoutMs: 90_000 })
}

export async function pause({ client }: ApiFixture, workflowId: string): Promise<void> {
  const request = { namespace: 'default', workflowId, identity: 'test', reason: 'a test', requestId: anId() }
  await client.connection.workflowService.pauseWorkflowExecution(request)
}

export async function unpause({ client }: ApiFixture, workflowId: string): Promise<void> {
  const request = { namespace: 'default', workflowId, identity: 'test', reason: 'a test', requestId: anId() }
  await client.connection.workflowService.unpauseWorkflowExecution(request)
}
