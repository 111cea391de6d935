import type { Log, LogLevel } from '../../../../src/log.ts'
import type { AppOptions } from '../../../../src/service/app-options.ts'
import { createCallers, type TokenPolicy } from '../../../../src/service/http/credentials/callers.ts'
import { createCallerLimiter } from '../../../../src/service/http/pipeline/limit-callers.ts'
import type { RequestMetrics, RequestTracer } from '../../../../src/service/http/pipeline/observe.ts'
import { createInFlightLimit } from '../../../../src/service/http/pipeline/places.ts'
import { type ErrorFacts, type ErrorName, ServiceError } from '../../../../src/service/model/errors.ts'
import { createApp, createDispatcher } from '../../../../src/service/stack.ts'
import type { Workflows } from '../../../../src/service/verbs.ts'
import type { CatalogEntry } from '../../../../src/shared/wire/catalog.ts'

export interface Event {
  level: LogLevel
  message: string
  fields: Readonly<Record<string, unknown>>
}

export interface ApiOptions extends Partial<Omit<AppOptions, 'callers' | 'limit' | 'observers' | 'workflows'>> {
  workflows?: Partial<Workflows>
  /** The verbs of further namespaces. */
  namespaces?: Readonly<Record<string, Partial<Workflows>>>
  /** Each request needs one of the tokens, or a credential that the policy knows. Default: it needs none. */
  auth?: { tokens?: string[]; policy?: TokenPolicy } | null
  maxInFlight?: number
  metrics?: RequestMetrics | null
  tracer?: RequestTracer | null
}

/** The real app over the given verbs; any other verb is a bug. */
export function makeApi({
  workflows = {},
  namespaces = {},
  auth = null,
  maxInFlight = 100,
  metrics = null,
  tracer = null,
  ...options
}: ApiOptions = {}) {
  const events: Event[] = []
  const log: Log = (level, message, fields = {}) => void events.push({ level, message, fields })
  const callers = auth === null ? null : callersOf(auth, options.accessTokens)
  const appOptions = {
    namespace: 'default',
    defaultNamespace: 'default',
    defaultCatalog: 'orders',
    callers,
    callerLimiter: createCallerLimiter({ metrics }),
    maxBodyBytes: 2 * 1024 * 1024,
    limit: createInFlightLimit(maxInFlight, metrics),
    maxTimeoutMs: 86_400_000,
    corsOrigins: [],
    observers: { log, metrics, tracer },
    ...options,
  }
  const { mount = { basePath: '' } } = options
  const defaultApp = createApp({ ...appOptions, workflows: onlyVerbs(workflows) })
  const apps = new Map(
    Object.entries({ default: workflows, ...namespaces }).map(([namespace, verbs]) => [
      namespace,
      createApp({ ...appOptions, namespace, isNamespaced: true, workflows: onlyVerbs(verbs) }),
    ]),
  )
  const unknown = createApp({ ...appOptions, namespace: '', isNamespaced: true, workflows: null })
  const app = createDispatcher({
    ...appOptions,
    mount,
    defaultApp,
    appOf: (name) => apps.get(name ?? '') ?? unknown,
  })

  /** `body`: a string is sent as it is, anything else as JSON. */
  async function call(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
    const sent = body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }
    const type = body === undefined ? {} : { 'Content-Type': 'application/json' }
    return await app.fetch(
      new Request(`http://portico.test${path}`, { method, headers: { ...type, ...headers }, ...sent }),
    )
  }

  return { call, callers, fetch: app.fetch, loadShedder: app.loadShedder, routes: defaultApp.routes, events }
}

function callersOf(
  { tokens = [], policy }: { tokens?: string[]; policy?: TokenPolicy },
  accessTokens: AppOptions['accessTokens'] = null,
) {
  return createCallers({ operatorTokens: tokens, policy: policy ?? null, accessTokens, onKeysUnavailable() {} })
}

/** A POST whose body has no length. */
export function inChunks(path: string, body: ReadableStream, headers: Record<string, string>): Request {
  return new Request(`http://portico.test${path}`, { method: 'POST', body, headers, duplex: 'half' } as RequestInit)
}

/** Counts nothing. */
export const NO_METRICS: RequestMetrics = {
  requestStarted() {},
  requestEnded() {},
  inFlightChanged() {},
  queuedChanged() {},
  callerDenied() {},
  callerLimited() {},
  eventIgnored() {},
}

/** What `status` answers of a run. */
export const running = {
  workflowId: 'w',
  runId: 'r',
  workflowName: 'greet',
  catalog: 'orders',
  status: 'running' as const,
  startedAt: new Date('2026-02-03T04:05:06.007Z'),
  completedAt: null,
  historyLength: 3,
  problem: null,
  progress: null,
  memo: {},
  searchAttributes: {},
  summary: null,
  details: null,
  parent: null,
  workerVersion: null,
  executionTimeoutMs: null,
  runTimeoutMs: null,
}

/** Status and error name of an error response. */
export async function rejection(response: Response): Promise<[number, unknown]> {
  const body = await response.json()
  return [response.status, body.error]
}

export function never(): Promise<never> {
  return Promise.reject(new Error('This verb was not expected'))
}

/** A verb that rejects with this error. */
export function rejecting(error: ErrorName, message = 'no', details: ErrorFacts = {}): () => Promise<never> {
  return () => Promise.reject(new ServiceError(error, message, { details }))
}

/** The verb that reads a catalog with these workflows. Responses are cached by the array, so each read gets its own. */
export function catalogOf(...workflows: CatalogEntry[]) {
  return async ({ catalog }: { catalog: string }) => ({
    catalog,
    inputsChecked: true,
    workflows: [...workflows],
    activities: [],
  })
}

/** Any other verb than those that are given is a bug. */
export function onlyVerbs(verbs: Partial<Workflows>): Workflows {
  return new Proxy(verbs as Workflows, { get: (given, name) => Reflect.get(given, name) ?? never })
}
