/** Requests to every endpoint, with and without a namespace, that must be rejected before a verb is called. */
import { expect } from 'vitest'
import { ENDPOINTS } from '../../../../src/service/endpoints.ts'
import { createAccessTokens } from '../../../../src/service/http/credentials/access-tokens.ts'
import type { Endpoint } from '../../../../src/service/http/endpoint.ts'
import type { Workflows } from '../../../../src/service/verbs.ts'
import { requestTo } from '../../../faults/endpoints.ts'
import { type ApiOptions, makeApi, never } from './api.ts'
import { RUN_ID } from './run-api.ts'

type Options = Omit<ApiOptions, 'workflows' | 'namespaces'>
type Headers = Record<string, string>

const SETTINGS: Options = {
  readMetrics: () => '',
  readDocsFile: async () => null,
  readConsoleFile: async () => null,
  mcp: { waitMs: 0, ttlMs: 0, maxOutputBytes: 65_536 },
  accessTokens: createAccessTokens([new Uint8Array(32)]),
}

/** The service, the names of the verbs that it has called, and each endpoint with and without a namespace. */
export function makeWalk(options: Options = {}) {
  const called: string[] = []
  const workflows = new Proxy({} as Workflows, {
    get: (_, name) => {
      called.push(String(name))
      return never
    },
  })
  const api = makeApi({ ...SETTINGS, ...options, workflows })
  return { ...api, called }
}

export type Walk = ReturnType<typeof makeWalk>

const PREFIXES = ['', '/namespaces/default']
export const FORMS = ENDPOINTS.flatMap((endpoint) =>
  PREFIXES.slice(0, endpoint.isOfService ? 1 : 2).map((prefix) => ({ endpoint, prefix, isNamespaced: prefix !== '' })),
)

export type Form = (typeof FORMS)[number]

export interface Sent {
  path?: string
  body?: unknown
  headers?: Headers
}

/** A valid request to the endpoint, whose path can have other values. */
export function requestOf(endpoint: Endpoint, values: Readonly<Record<string, string>> = {}) {
  return requestTo(endpoint, { workflowId: 'w', runId: RUN_ID }, { hook: 'none', ...values })
}

/** The path of that request, without its parameters. */
export function pathOf(endpoint: Endpoint): string {
  const [path = ''] = requestOf(endpoint)[1].split('?')
  return path
}

/** The same, with these parts of others. */
export function send({ call }: Pick<Walk, 'call'>, { endpoint, prefix }: Form, { path, body, headers }: Sent = {}) {
  const [method, ownPath, own] = requestOf(endpoint)
  const [type] = endpoint.body?.lines ?? []
  const typed = type === undefined ? headers : { 'Content-Type': type, ...headers }
  return call(method, prefix + (path ?? ownPath), body ?? own ?? (endpoint.body && {}), typed)
}

export const UNAUTHORIZED = [401, 'UnauthorizedError'] as const
export const FORBIDDEN = [403, 'ForbiddenError'] as const
export const INVALID = [400, 'ValidationError'] as const
export const LIMITED = [429, 'TooManyRequestsError'] as const
export const UNSUPPORTED = [415, 'UnsupportedMediaTypeError'] as const
export const TOO_LARGE = [413, 'PayloadTooLargeError'] as const

type Expected = readonly [status: number, error: string]

export const facts = async (response: Response): Promise<unknown[]> => {
  const text = await response.text()
  return [response.status, text.startsWith('{') ? JSON.parse(text).error : text]
}

/** The forms of the endpoints that `is` selects: none of them answers a request of `sent` otherwise than expected. */
export async function expectEach(
  walk: Walk,
  expected: Expected,
  { is = () => true, sent = () => [{}] }: { is?: (form: Form) => boolean; sent?: (form: Form) => Sent[] },
): Promise<void> {
  const forms = FORMS.filter(is)
  const answers = await Promise.all(
    forms.flatMap((form) =>
      sent(form).map(async (one) => {
        const what = `${form.prefix} ${form.endpoint.id} ${JSON.stringify(one).slice(0, 200)}`
        return [what, ...(await facts(await send(walk, form, one)))]
      }),
    ),
  )

  expect(answers.length).toBeGreaterThan(0)
  expect(answers.filter(([, ...found]) => String(found) !== String(expected))).toEqual([])
  expect(walk.called).toEqual([])
}

/** A request whose body, sent in chunks, is not read unless `pull` is called. */
export function inParts({ endpoint, prefix }: Form, pull: UnderlyingDefaultSource['pull'], headers: Headers = {}) {
  const body = new ReadableStream({ ...(pull && { pull }) }, { highWaterMark: 0 })
  const [method, path] = requestOf(endpoint)
  return new Request(`http://portico.test${prefix}${path}`, { method, body, headers, duplex: 'half' } as RequestInit)
}

/** The same as `expectEach`, of bodies that are sent in chunks: none of them is read. */
export async function expectUnread(
  { fetch, called }: Walk,
  expected: Expected,
  { is, headers = {} }: { is: (form: Form) => boolean; headers?: Headers },
): Promise<void> {
  const pulled: string[] = []
  const answers = FORMS.filter((form) => hasBody(form) && is(form)).map(async (form) => {
    const { id } = form.endpoint
    return [id, ...(await facts(await fetch(inParts(form, () => void pulled.push(id), headers))))]
  })

  expect((await Promise.all(answers)).filter(([, ...found]) => String(found) !== String(expected))).toEqual([])
  expect([pulled, called]).toEqual([[], []])
}

export const hasBody = ({ endpoint: { body } }: Form) => body !== undefined
