/** An endpoint: one declaration, from which its route and all that the document says about it are derived. */
import type { Context } from 'hono'
import * as z from 'zod/mini'
import type { Call } from '../domain/model/call.ts'
import type { ErrorName } from '../domain/model/errors.ts'
import type { ExecutionRef } from '../domain/model/execution.ts'
import type { Workflows } from '../domain/model/workflows.ts'
import type { RespondConstant } from './constant-json.ts'
import { type Env, toCall } from './context.ts'
import type { ReadJson, ReadOptions } from './json.ts'
import type { RequestHeader, ResponseHeader } from './openapi/headers.ts'
import type { DescribeCatalog } from './openapi/open-api-document.ts'
import type { Schema } from './openapi/schemas/schema.ts'
import { catalogInPath, executionInPath, handlerNameInPath, updateIdInPath } from './path.ts'
import { queryParameters } from './query-parameters.ts'

export interface Endpoint<Path extends string = string, Query = unknown, Body = unknown> extends Description {
  method: 'get' | 'post' | 'patch'
  /** One below `/workflow/:id/` also exists below `/workflow/:id/runs/:rid/`. */
  path: Path
  /** What the query string may contain. */
  query?: Limited<z.ZodMiniType<Query>>
  body?: RequestBody<Body>
  /**
   * What it takes of the limit on requests in flight: a place until the response is ready (`work`), a place until it
   * only waits (`wait`), or nothing.
   */
  takes: 'work' | 'wait' | 'nothing'
  /** What happens to an `Idempotency-Key`. A request that only reads ignores it. */
  key: 'taken' | 'ignored' | 'rejected'
  /** The right that the client needs; null if it does not even need a token. */
  access: Access | null
  /** Set for probes and scrapes, which would be most of the log: they are logged with the level debug. */
  isPeriodic?: true
  /** Set if only some deployments have it. */
  feature?: Feature
  handle(c: Context<Env>, tools: Tools<Path, Query, Body>): Response | Promise<Response>
}

/** What the OpenAPI document says about an endpoint, besides its path and its parameters. */
interface Description {
  /**
   * Identifies the operation in generated clients. Never changes. In that of a pinned run, `Run` replaces `Workflow`.
   */
  id: string
  tag: Tag
  summary: string
  /** Where docs/api.md describes it: an anchor. */
  docs: string
  description?: string
  headers?: readonly RequestHeader[]
  /** The responses that are not errors. */
  responses: Readonly<Record<number, SuccessResponse>>
  /** Errors besides those that every request can get. */
  errors: readonly ErrorName[]
}

/** Schemas whose limits are those of the deployment are functions of them. */
export type Limited<T> = T | ((maxTimeoutMs: number) => T)

export interface RequestBody<T> extends ReadOptions {
  /** Of the schema in the components of the document. */
  name: string
  schema: Limited<z.ZodMiniType<T>>
  isRequired: boolean
}

export interface SuccessResponse {
  description: string
  /** Of the JSON body; absent for a response without a body, and for events alone. */
  schema?: Schema
  headers?: readonly ResponseHeader[]
  links?: readonly LinkTarget[]
  /** Set for a response that can also, or only, be a stream of events: the events with the schemas of their data. */
  events?: Readonly<Record<string, Schema>>
  /** Set for a response that is text: its media types. */
  text?: readonly string[]
}

/**
 * What can follow a response. `workflow`: all operations of the workflow that it names; `listedRuns`: those that read
 * the first run of a list.
 */
export type LinkTarget = 'workflow' | 'getWorkflowResult' | 'getRunUpdate' | 'listedRuns' | 'nextRuns' | 'nextEvents'

/** Groups the operations of the document. */
export type Tag = 'Workflows' | 'Start' | 'Find' | 'Inspect' | 'Messages' | 'Control' | 'Service'

/** `any`: any token will do. */
export type Access =
  | ('start' | 'read' | 'list' | 'catalog' | 'metrics' | 'any')
  | ('signal' | 'query' | 'update')
  | ('stop' | 'terminate' | 'pause' | 'reset')

export type Feature = 'metrics' | 'docs'

/**
 * What a handler works with. The functions read the parts of a request, and check them: of several errors the first one
 * counts. They belong to the endpoint, so that a request that waits keeps none of its own in memory.
 */
export type Tools<Path extends string = string, Query = unknown, Body = unknown> = Service & {
  query(c: Context<Env>): Query
  body(c: Context<Env>): Promise<Body>
  /** The `Call` to pass to every verb. The request is in flight from then on. */
  call(c: Context<Env>): Call
} & Pick<PathReaders, PathReaderOf<Path>>

/** What reads the parts of a path, by their names. */
interface PathReaders {
  /** The execution that `:id` names, or `:id` and `:rid`. */
  ref(c: Context<Env>): ExecutionRef
  name(c: Context<Env>): string
  updateId(c: Context<Env>): string
  catalog(c: Context<Env>): string
  file(c: Context<Env>): string
}

type PathReaderOf<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? ToPathReader<Name> | PathReaderOf<Rest>
  : Path extends `${string}:${infer Name}`
    ? ToPathReader<Name>
    : never

type ToPathReader<Name> = Name extends 'id' ? 'ref' : Name extends keyof PathReaders ? Name : never

/** What endpoints use, one for each app. */
export interface Service {
  workflows: Workflows
  json: ReadJson
  /** The catalog of requests that do not name one. */
  defaultCatalog: string
  /** Maximum `timeout` of a `run`, and `wait` for a result. */
  maxTimeoutMs: number
  /** Interval of the comments in an event stream. */
  commentEveryMs: number
  /** Creates the OpenAPI document. */
  describeCatalog: DescribeCatalog
  respondDocument: RespondConstant
  respondCatalog: RespondConstant
  /** The response to a request for a file of the reference page. */
  respondDocsFile(c: Context<Env>, name: string): Promise<Response>
  /** Null where metrics are not supported. */
  readMetrics: (() => string) | null
}

/** The declaration itself; checks its types. */
export function endpoint<const Path extends string, Query, Body>(
  declaration: Endpoint<Path, Query, Body>,
): Endpoint<Path, Query, Body> {
  return declaration
}

const LATEST = '/workflow/:id/'
const PINNED = '/workflow/:id/runs/:rid/'

export function isOfLatestRun(path: string): boolean {
  return path.startsWith(LATEST) && !path.startsWith(PINNED)
}

/** The endpoint; one about a run also as it is below `/workflow/:id/runs/:rid/`. */
export function withPinned(endpoint: Endpoint): Endpoint[] {
  const { path, id, summary } = endpoint
  if (!isOfLatestRun(path)) return [endpoint]
  const pinned = {
    ...endpoint,
    path: path.replace(LATEST, PINNED),
    id: id.replace('Workflow', 'Run'),
    summary: `${summary} (of one run)`,
  }
  return [endpoint, pinned]
}

/** The path as OpenAPI writes it. */
export function templateOf(path: string): string {
  return path.replace(/:(\w+)/g, '{$1}')
}

/** Whether a path is that of one of the endpoints, or could be up to its first parameter. */
export function matcherOf(endpoints: readonly Endpoint[]): (path: string) => boolean {
  const paths = endpoints.map(({ path }) => path)
  const whole = new Set(paths.filter((path) => !path.includes(':')))
  const prefixes = [...new Set(paths.filter((path) => path.includes(':')).map((path) => path.split(':', 1)[0] ?? ''))]
  return (path) => whole.has(path) || prefixes.some((prefix) => path.startsWith(prefix))
}

/** The schema with the limit of a deployment. */
export function limited<T extends object>(schema: Limited<T>, maxTimeoutMs: number): T {
  return typeof schema === 'function' ? schema(maxTimeoutMs) : schema
}

const NOTHING = z.strictObject({})

const PATH_READERS: PathReaders = {
  ref: executionInPath,
  name: handlerNameInPath,
  updateId: updateIdInPath,
  catalog: catalogInPath,
  file: (c) => c.req.param('file') ?? '',
}

/** What responds to the requests to the endpoint. */
export function toHandler(endpoint: Endpoint, service: Service): (c: Context<Env>) => Response | Promise<Response> {
  const { body, query } = endpoint
  const bodySchema = limited(body?.schema ?? NOTHING, service.maxTimeoutMs)
  const querySchema = limited(query ?? NOTHING, service.maxTimeoutMs)
  const tools: Tools = {
    ...service,
    ...PATH_READERS,
    query: (c) => queryParameters(c, querySchema),
    body: (c) => service.json(c, bodySchema, body),
    call: toCall,
  }
  return (c) => endpoint.handle(c, tools)
}
