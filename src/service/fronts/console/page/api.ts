/** Requests to the API of the service that the page comes from, with the visitor's credential. */
import { sleep } from '../../../../shared/lib/abort.ts'
import { readEvents, type ServerEvent } from '../../../../shared/lib/event-stream.ts'
import { parseJson } from '../../../../shared/lib/json.ts'
import { forgetCredential, readCredential } from './credential.ts'
import { currentRoute } from './route.ts'

/** The body of an error: docs/errors.md. */
export interface Problem {
  status: number
  error: string
  title: string
  message: string
  requestId?: string
  issues?: { path: string; message: string }[]
  available?: string[]
  workflowId?: string
  runId?: string
}

export class ApiError extends Error {
  readonly problem: Problem

  constructor(problem: Problem) {
    super(problem.message)
    this.problem = problem
  }
}

/** What is wrong with the input. */
export function issuesOf(error: unknown): { path: string; message: string }[] {
  return error instanceof ApiError ? (error.problem.issues ?? []) : []
}

export interface ApiRequest {
  method?: 'GET' | 'POST' | 'PATCH'
  query?: URLSearchParams | Record<string, string>
  /** JSON text, because a number may have more digits than a double. */
  body?: string
  headers?: Record<string, string>
  signal?: AbortSignal | undefined
}

export interface ApiResponse<Body> {
  status: number
  headers: Headers
  body: Body
}

/** The root of the API. */
export const BASE = new URL('..', location.href)

/** The path of the API, with the namespace of the page. */
export function apiPath(path: string): string {
  const namespace = currentRoute().query.get('namespace')
  return namespace === null ? path : `namespaces/${encodeURIComponent(namespace)}/${path}`
}

export function runPath({ workflowId, runId }: { workflowId: string; runId?: string | null }): string {
  const path = `workflow/${encodeURIComponent(workflowId)}`
  return runId == null ? path : `${path}/runs/${runId}`
}

export function apiUrl(path: string, query: ApiRequest['query'] = {}): URL {
  const url = new URL(apiPath(path), BASE)
  url.search = new URLSearchParams(query).toString()
  return url
}

/** For an `Idempotency-Key`. `crypto.randomUUID` exists only on pages with TLS, and on those of this machine. */
export function newKey(): string {
  return crypto.getRandomValues(new BigUint64Array(2)).join('-')
}

/** Rejects with an `ApiError` for every response that is not a success. */
export async function call<Body>(path: string, request: ApiRequest = {}): Promise<ApiResponse<Body>> {
  const response = await send(path, request)
  const text = await response.text()
  const body = text === '' ? null : parsed(text)
  if (!response.ok) throw failure(response, body)
  return { status: response.status, headers: response.headers, body: body as Body }
}

export async function get<Body>(path: string, query?: ApiRequest['query'], signal?: AbortSignal): Promise<Body> {
  return (await call<Body>(path, { ...(query && { query }), ...(signal && { signal }) })).body
}

async function send(path: string, { method = 'GET', query, body, headers, signal }: ApiRequest): Promise<Response> {
  const credential = readCredential()
  const init: RequestInit = {
    method,
    // Otherwise a rejected credential would open the browser's own dialog, which remembers what is entered.
    credentials: 'omit',
    cache: 'no-cache',
    headers: {
      ...headers,
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
      ...(credential !== null && { Authorization: `Bearer ${credential}` }),
    },
    ...(body !== undefined && { body }),
    ...(signal && { signal }),
  }
  const response = await fetch(apiUrl(path, query), init).catch((error: unknown) => {
    if (signal?.aborted) throw error
    throw new ApiError({
      status: 0,
      error: 'Unreachable',
      title: 'No response',
      message: 'The service cannot be reached.',
    })
  })
  if (response.status === 401 && credential !== null) forgetCredential()
  return response
}

function parsed(text: string): unknown {
  try {
    return parseJson(text)
  } catch {
    return null
  }
}

function failure({ status, headers }: Response, body: unknown): ApiError {
  if (typeof body === 'object' && body !== null && 'error' in body && 'message' in body)
    return new ApiError(body as Problem)
  const requestId = headers.get('X-Request-Id')
  const message = `The response has the status ${status}, and is not from the API.`
  return new ApiError({
    status,
    error: `Status ${status}`,
    title: 'Unexpected response',
    message,
    ...(requestId && { requestId }),
  })
}

/** Where a reader of a stream is. */
export interface ReadPosition {
  /** Of the last event. */
  id: string | undefined
  isOver: boolean
}

/** The events of a stream after the position, through lost connections, until it ends or the signal aborts. */
export async function* followEvents(
  path: string,
  query: Record<string, string>,
  signal: AbortSignal,
  position: ReadPosition,
): AsyncGenerator<ServerEvent> {
  let failures = 0
  while (!signal.aborted && !position.isOver) {
    try {
      for await (const event of connection(path, query, signal, position)) {
        failures = 0
        if (event.event !== undefined) yield event
      }
    } catch (error) {
      if (isFinal(error)) throw error
    }
    failures += 1
    if (!position.isOver) await sleep(Math.min(10_000, 500 * 2 ** failures), signal)
  }
}

async function* connection(
  path: string,
  query: Record<string, string>,
  signal: AbortSignal,
  position: ReadPosition,
): AsyncGenerator<ServerEvent> {
  const from = position.id === undefined ? {} : { 'Last-Event-ID': position.id }
  const response = await send(path, { query, headers: { Accept: 'text/event-stream', ...from }, signal })
  position.isOver = response.status === 204
  if (!response.ok) throw failure(response, parsed(await response.text()))
  if (response.body === null || position.isOver) return
  for await (const event of readEvents(response.body, parseJson, (step) => step)) {
    position.id = event.id ?? position.id
    position.isOver = isLast(event)
    yield event
  }
}

function isLast({ event, id = '' }: ServerEvent): boolean {
  return event === 'done' || (event === 'server_error' && id.endsWith('/end'))
}

/** Whether the same request would fail again. */
function isFinal(error: unknown): boolean {
  const status = error instanceof ApiError ? error.problem.status : 0
  return status >= 400 && status < 500 && status !== 429
}
