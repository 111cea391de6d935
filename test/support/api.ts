/** A client of the API that records every response and checks the properties that all responses share. */
import assert from 'node:assert/strict'
import { ENDPOINTS } from '../../src/service/endpoints.ts'
import { internalStringIn } from './internal-strings.ts'
import { secretsIn } from './log-leak-recorder.ts'
import { undocumentedIn } from './openapi-check.ts'
import { CALLER_TOKEN } from './policy.ts'
import { record, type SeenAnswer } from './record.ts'
import { leaksIn, VARIABLES } from './variables.ts'

export interface ApiOptions {
  /** Where the service listens; or else `fetch`. */
  url?: string
  /** The service as a function. */
  fetch?: (request: Request) => Promise<Response>
  /** Sent with each request that has no `Authorization` of its own. Default: `CALLER_TOKEN`. */
  token?: string
  engine?: SeenAnswer['engine']
}

export interface Answer {
  status: number
  headers: Headers
  /** The parsed JSON; null if the body is not JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: an assertion says what it should be
  body: any
  text: string
}

export interface Api {
  /** `body`: text and bytes are sent as they are, anything else as JSON. */
  call(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
    signal?: AbortSignal,
  ): Promise<Answer>
  /** GET of a path below `/workflow/`. */
  get(path: string, headers?: Record<string, string>): Promise<Answer>
  /** POST to a path below `/workflow/`. */
  post(path: string, body?: unknown, headers?: Record<string, string>, signal?: AbortSignal): Promise<Answer>
  /** POST /workflow/start; `more` has the other fields of the body. */
  start(workflowName: string, input?: unknown, more?: object): Promise<Answer>
  /** POST /workflow/run, which waits for the result. */
  run(workflowName: string, input?: unknown, more?: object): Promise<Answer>
}

export function makeApi({
  url = 'http://portico.test',
  fetch = globalThis.fetch,
  token = CALLER_TOKEN,
  engine = 'real',
}: ApiOptions): Api {
  const api: Api = {
    get: (path, headers) => api.call('GET', `/workflow/${path}`, undefined, headers),
    post: (path, ...sent) => api.call('POST', `/workflow/${path}`, ...sent),
    start: (workflowName, input = null, more) => api.post('start', { workflowName, input, ...more }),
    run: (workflowName, input = null, more) => api.post('run', { workflowName, input, ...more }),
    async call(method, path, body, headers = {}, signal) {
      const request = new Request(`${url}${path}`, {
        method,
        headers: {
          ...(body !== undefined && { 'Content-Type': 'application/json' }),
          ...(token !== undefined && { Authorization: `Basic ${token}` }),
          ...headers,
        },
        ...(body !== undefined && { body: toBody(body) }),
        ...(signal && { signal }),
      })
      const response = await fetch(request)
      const text = await response.text()
      const answer = { status: response.status, headers: response.headers, text, body: parse(text) }
      seen(method, path, answer, engine)
      return answer
    },
  }
  return api
}

/** Records an answer, and checks it. For those that did not come through `call`. */
export function seen(method: string, path: string, answer: Answer, engine: SeenAnswer['engine'] = 'real'): void {
  const error = answer.status < 400 ? null : (answer.body?.error ?? null)
  record('answers', { method, route: routeOf(path), status: answer.status, error, engine })
  // The answer of a probe is no problem to be read.
  checkPromises(method === 'HEAD' || path.endsWith('/ready'), answer)
  assert.deepEqual(undocumentedIn(method, path, answer), [], 'GET /openapi.json describes every response')
}

const MARKS = Object.fromEntries(Object.entries(VARIABLES).map(([name, { mark }]) => [name, mark ?? '']))

/**
 * Its text without the destinations of a trace, which are returned as the worker published them, addresses included.
 */
export function besideTrace({ body, text }: Answer): string {
  return body?.trace ? JSON.stringify({ ...body, trace: null }) : text
}

function checkPromises(bodiless: boolean, answer: Answer): void {
  const { status, headers, body } = answer
  const text = besideTrace(answer)
  assert.match(headers.get('X-Request-Id') ?? '', /^[\w.-]{1,128}$/, 'every answer has an X-Request-Id')
  const whole = `${JSON.stringify([...headers])}\n${text}`
  assert.equal(internalStringIn(whole), null, 'no answer shows a stack, or whose machine it comes from')
  assert.doesNotMatch(whole, /127\.0\.0\.1/, 'no answer shows an internal address')
  assert.deepEqual([...leaksIn(whole, MARKS, 'answers'), ...secretsIn(whole)], [], 'no answer shows the configuration')
  if (text.startsWith('{') && body !== null) assert.doesNotMatch(text, /\n$/, 'no JSON ends with a newline')
  if (status < 400 || bodiless) return
  assert.equal(headers.get('Portico-Error-Source'), body.source)
  assert.equal(headers.get('Content-Type'), 'application/problem+json')
  assert.equal(body.status, status)
  assert.equal(body.detail, body.message)
  assert.equal(body.requestId, headers.get('X-Request-Id'))
  assert.match(body.source, /^(?:workflow|engine|gateway)$/)
  for (const key of ['type', 'title', 'message', 'error']) assert.match(body[key], /./, `a problem has a ${key}`)
}

const ROUTES = ENDPOINTS.map(({ path }) => ({ path, pattern: new RegExp(`^${path.replace(/:\w+/g, '[^/]+')}$`) }))

/** The pattern of a path, as `docs/api.md` writes it; other paths as they are. */
function routeOf(path: string): string {
  const [bare = ''] = path.split('?')
  return ROUTES.find(({ pattern }) => pattern.test(bare))?.path ?? bare
}

function toBody(body: unknown): string | Uint8Array<ArrayBuffer> {
  if (body instanceof Uint8Array) return new Uint8Array(body)
  return typeof body === 'string' ? body : JSON.stringify(body)
}

/** Null if the text is not JSON, so that a failed assertion shows the difference. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
