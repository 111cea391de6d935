/** An endpoint is one declaration. Its route and its part of the OpenAPI document are derived from it. */
import type { Context } from 'hono'
import * as z from 'zod/mini'
import type { Access } from '../../shared/access/grant.ts'
import type { Hooks } from '../../shared/hooks/hooks.ts'
import type { Call } from '../model/call.ts'
import type { ErrorName } from '../model/errors.ts'
import type { ExecutionRef } from '../model/execution.ts'
import type { Link } from '../model/link.ts'
import { VERBS, type Workflows } from '../verbs.ts'
import { type RespondConstant, taggedResponse } from './constant-json.ts'
import { type Env, jsonResponse, toCall } from './context.ts'
import type { AccessTokens } from './credentials/access-tokens.ts'
import type { StreamFormat } from './events/stream-events.ts'
import type { RequestHeader, ResponseHeader } from './openapi/headers.ts'
import type { DescribeCatalog } from './openapi/open-api-document.ts'
import type { Schema } from './openapi/schema.ts'
import type { RespondPageFile } from './page-files.ts'
import { executionInPath, parameterInPath } from './path.ts'
import { PATH_PARAMETERS, type PathParameter } from './path-parameters.ts'
import type { ReadJson, ReadOptions } from './pipeline/body.ts'
import type { LineLimits } from './pipeline/body-lines.ts'
import type { ReadProven } from './pipeline/proven-body.ts'
import { idempotencyKey } from './pipeline/request-checks.ts'
import { queryParameters } from './query-parameters.ts'

export interface Endpoint<Path extends string = string, Query = unknown, Body = unknown> extends Description {
  method: 'get' | 'post' | 'patch' | 'put' | 'delete'
  /** A path below `/workflow/:id/` also exists below `/workflow/:id/runs/:rid/`, and one of an activity likewise. */
  path: Path
  /** What the query string may contain. */
  query?: Limited<z.ZodMiniType<Query>>
  /** The parameters in it that may be repeated. */
  lists?: readonly string[]
  body?: RequestBody<Body>
  /**
   * How the request counts towards the limit on requests in flight: until its response is ready (`work`), until it only
   * waits (`wait`), with each of its lines (`lines`), or not at all.
   */
  takes: 'work' | 'wait' | 'lines' | 'nothing'
  /** What happens to an `Idempotency-Key`. A request that only reads ignores it, and so does a webhook. */
  key: 'taken' | 'ignored' | 'rejected'
  /** The right that the client needs, that of its verb; null if it does not even need a token. */
  access: Access | null
  /** Set for probes and scrapes, which are logged with the level debug: they would fill the log. */
  isPeriodic?: true
  /** Set if only some deployments have it. */
  feature?: Feature
  /** Set if it is about the whole service: it does not exist below `/namespaces/<name>`. */
  isOfService?: true
  handle(c: Context<Env>, tools: Tools<Path, Query, Body>): Response | Promise<Response>
}

/** What the OpenAPI document says about an endpoint, besides its path and its parameters. */
interface Description {
  /**
   * Identifies the operation in generated clients, and never changes. The operation for a pinned run has `Run` instead
   * of `Workflow`.
   */
  id: string
  tag: Tag
  summary: string
  /** Its section below docs/. */
  docs: `${string}.md#${string}`
  description?: string
  headers?: readonly RequestHeader[]
  /** The responses that are not errors, and errors that can have another form than `ProblemDetails`. */
  responses: Readonly<Record<number, SuccessResponse>>
  /** Errors besides those that every request can get. */
  errors: readonly ErrorName[]
}

/** A schema that depends on the limit of the deployment is a function of it. */
export type Limited<T> = T | ((maxTimeoutMs: number) => T)

export interface RequestBody<T> extends ReadOptions {
  /** Of each line, if the body is NDJSON: its media types. */
  lines?: readonly string[]
  /** The name of the schema in the components of the document. */
  name: string
  schema: Limited<z.ZodMiniType<T>>
  isRequired: boolean
}

export interface SuccessResponse {
  description: string
  /**
   * The schema of the JSON body; absent for a response without a body, and for one that is always a stream of events.
   */
  schema?: Schema
  headers?: readonly ResponseHeader[]
  links?: readonly LinkTarget[]
  /** Set for a response that can be a stream of events: the names of the events, with the schemas of their data. */
  events?: Readonly<Record<string, Schema>>
  /** Set for a response whose lines are JSON: their schema, by media type. */
  lines?: Readonly<Record<string, Schema>>
  /** Set for a response that is text: its media types. */
  text?: readonly string[]
}

/**
 * What can follow a response. `workflow`: all operations of the workflow that it names; `listedRuns`: those that read
 * the first run of a list.
 */
export type LinkTarget = 'workflow' | 'getWorkflowResult' | 'getRunUpdate' | 'listedRuns' | 'nextRuns' | 'nextEvents'

/** Groups the operations of the document. */
export type Tag =
  | 'Workflows'
  | 'Start'
  | 'Find'
  | 'Inspect'
  | 'Messages'
  | 'Control'
  | 'Activities'
  | 'Schedules'
  | 'Batches'
  | 'Links'
  | 'Service'

export type Feature = 'metrics' | 'docs' | 'console' | 'mcp'

/**
 * What a handler gets besides the context. The functions read and check the parts of a request; the first error is
 * reported. They are created once for each endpoint, not for each request, because a request may wait for long and
 * would keep them in memory.
 */
export type Tools<Path extends string = string, Query = unknown, Body = unknown> = Service & {
  query(c: Context<Env>): Query
  body(c: Context<Env>): Promise<Body>
  /** The `Call` to pass to every verb. From then on the request counts as in flight. */
  call(c: Context<Env>): Call
} & Pick<PathReaders, PathReaderOf<Path>>

/** Readers of the parameters in a path, by name. `ref`: the execution that `:id` names, or `:id` and `:rid`. */
type PathReaders = { ref(c: Context<Env>): ExecutionRef } & Record<PathParameter, (c: Context<Env>) => string>

type PathReaderOf<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? ToPathReader<Name> | PathReaderOf<Rest>
  : Path extends `${string}:${infer Name}`
    ? ToPathReader<Name>
    : never

type ToPathReader<Name> = Name extends 'id' ? 'ref' : Name extends keyof PathReaders ? Name : never

/** What endpoints use, one for each app. */
export interface Service {
  workflows: Workflows
  /** The engine's namespace of the runs. */
  namespace: string
  /** Null where there are none. */
  accessTokens: AccessTokens | null
  json: ReadJson
  bulk: BulkSettings
  proven: ReadProven
  hooks: Hooks
  /** The catalog of requests that do not name one. */
  defaultCatalog: string
  /** Maximum `timeout` of a `run`, and `wait` for a result. */
  maxTimeoutMs: number
  /** Interval of the comments in an event stream. */
  commentEveryMs: number
  /** Streams for the AI SDK; null if the service has no such front. */
  uiMessages: StreamFormat | null
  /** Of `POST /mcp`. */
  mcp: McpSettings
  /** Creates the OpenAPI document. */
  describeCatalog: DescribeCatalog
  respondDocument: RespondConstant
  respondCatalog: RespondConstant
  /** The response to a request for a file of the reference page. */
  respondDocsFile: RespondPageFile
  /** The response to a request for a file of the console. */
  respondConsoleFile: RespondPageFile
  /** Opens the link of a token. Rejects with `LinkNotFoundError` or `LinkExpiredError`. */
  openLink: OpenLink
  /** Counts the answers that are sent with a link, before they are read. Throws a `TooManyRequestsError`. */
  admitAnswer(link: Link): void
  /** Null where metrics are not supported. */
  readMetrics: (() => string) | null
}

/** How the lines of a bulk are read and carried out. */
export interface BulkSettings extends Pick<LineLimits, 'maxLineBytes' | 'idleMs'> {
  /** How many lines are carried out at a time. */
  atOnce: number
  /** Handles the request that a line stands for, as if it had arrived. */
  carryOut(request: Request): Promise<Response>
}

/** Decrypts the link in a token, and finds the verbs of its namespace. */
export type OpenLink = (token: string) => Promise<{ link: Link; workflows: Workflows }>

/** How the service speaks the Model Context Protocol. */
export interface McpSettings {
  /** How long a call waits for the end of its workflow, unless it says otherwise. */
  waitMs: number
  /** How long clients may keep the list of tools. */
  ttlMs: number
  /** The size of the text of an output. */
  maxOutputBytes: number
}

type Declaration<Path extends string, Query, Body> = Omit<Endpoint<Path, Query, Body>, 'access'>

/** The endpoint of a verb. Without a verb of its own, it says which right it needs. */
export function endpoint<const Path extends string, Query, Body>(
  declaration: Declaration<Path, Query, Body> & ({ verb: VerbName } | { access: Access | null }),
): Endpoint<Path, Query, Body> {
  if ('access' in declaration) return declaration
  const { verb, ...others } = declaration
  return { ...others, access: VERBS[verb].access }
}

type VerbName = keyof typeof VERBS

/** What a request contains, as far as the endpoint declares it. */
type Parts<Path extends string, Query, Body> = {
  c: Context<Env>
  query: Query
  body: Body
  key: { idempotencyKey?: string }
} & {
  [Name in PathReaderOf<Path>]: ReturnType<PathReaders[Name]>
}

interface PlainDeclaration<Name extends VerbName, Path extends string, Query, Body, Output>
  extends Omit<Declaration<Path, Query, Body>, 'handle'> {
  input(parts: Parts<Path, Query, Body>): Parameters<Workflows[Name]>[0]
  /** The body of the response. Default: what the verb returns. */
  output?(output: Output, parts: Parts<Path, Query, Body>): unknown
  /** Default: 200. */
  status?: number
  /** Set for what clients request again and again: an `ETag`, and 304 for a client that has the body already. */
  isTagged?: true
}

/** An endpoint that does nothing but to call its verb. */
export function endpointOf<
  const Name extends VerbName,
  const Path extends string,
  Query,
  Body,
  Output = Awaited<ReturnType<Workflows[Name]>>,
>(
  verb: Name,
  { input, output = (it) => it, status, isTagged, ...declaration }: PlainDeclaration<Name, Path, Query, Body, Output>,
): Endpoint<Path, Query, Body> {
  const readers = [...declaration.path.matchAll(/:(\w+)/g)].map(([, name]) => (name === 'id' ? 'ref' : name))
  const readPath = (c: Context<Env>) => readers.map((name) => [name, PATH_READERS[name as keyof PathReaders](c)])
  return {
    ...declaration,
    access: VERBS[verb].access,
    async handle(c, tools) {
      const parts = {
        c,
        ...Object.fromEntries(readPath(c)),
        query: declaration.query && tools.query(c),
        body: declaration.body && (await tools.body(c)),
        key: declaration.key === 'taken' ? idempotencyKey(c) : {},
      }
      const command = input(parts)
      const act = tools.workflows[verb] as (input: unknown, call: Call) => Promise<Output>
      const body = output(await act(command, tools.call(c)), parts)
      return isTagged ? taggedResponse(c, body) : jsonResponse(c, body, status)
    },
  }
}

const LATEST = '/workflow/:id/'
const PINNED = '/workflow/:id/runs/:rid/'
const OF_ACTIVITY = '/activity/:activityId/'

export function isOfLatestRun(path: string): boolean {
  return path.startsWith(LATEST) && !path.startsWith(PINNED)
}

/** The endpoint and, if it is about a run, its twin about a pinned one. */
export function withPinned(endpoint: Endpoint): Endpoint[] {
  const { path, id, summary } = endpoint
  const isOfActivity = path.startsWith(OF_ACTIVITY)
  if (!isOfActivity && !isOfLatestRun(path)) return [endpoint]
  const pinned = {
    ...endpoint,
    path: isOfActivity ? path.replace(OF_ACTIVITY, `${OF_ACTIVITY}runs/:rid/`) : path.replace(LATEST, PINNED),
    id: isOfActivity ? id.replace('Activity', 'ActivityRun') : id.replace('Workflow', 'Run'),
    summary: `${summary} (of one run)`,
  }
  return [endpoint, pinned]
}

/** The path as OpenAPI writes it. */
export function templateOf(path: string): string {
  return path.replace(/:(\w+)/g, '{$1}')
}

/** Whether a path is that of one of the endpoints. A path with parameters is only compared up to the first one. */
export function matcherOf(endpoints: readonly Endpoint[]): (path: string) => boolean {
  const paths = endpoints.map(({ path }) => path)
  const whole = new Set(paths.filter((path) => !path.includes(':')))
  const prefixes = [...new Set(paths.filter((path) => path.includes(':')).map((path) => path.split(':', 1)[0] ?? ''))]
  return (path) => whole.has(path) || prefixes.some((prefix) => path.startsWith(prefix))
}

// A deployment has one limit and an app for each namespace, all with the same schemas.
const created = new WeakMap<object, Map<number, object>>()

/** The schema with the limit of a deployment. */
export function limited<T extends object>(schema: Limited<T>, maxTimeoutMs: number): T {
  if (typeof schema !== 'function') return schema
  const ofLimits = created.get(schema) ?? new Map<number, object>()
  const limitedSchema = (ofLimits.get(maxTimeoutMs) as T | undefined) ?? schema(maxTimeoutMs)
  created.set(schema, ofLimits.set(maxTimeoutMs, limitedSchema))
  return limitedSchema
}

const NOTHING = z.strictObject({})

const PATH_READERS = {
  ref: executionInPath,
  ...Object.fromEntries(
    Object.keys(PATH_PARAMETERS).map((name) => [name, (c: Context<Env>) => parameterInPath(c, name as PathParameter)]),
  ),
} as PathReaders

/** What the handler of the endpoint gets besides the context. */
export function handlerTools({ body, query, lists }: Endpoint, service: Service): Tools {
  const bodySchema = limited(body?.schema ?? NOTHING, service.maxTimeoutMs)
  const querySchema = limited(query ?? NOTHING, service.maxTimeoutMs)
  return {
    ...service,
    ...PATH_READERS,
    query: (c) => queryParameters(c, querySchema, lists),
    body: (c) => service.json(c, bodySchema, body),
    call: toCall,
  }
}
