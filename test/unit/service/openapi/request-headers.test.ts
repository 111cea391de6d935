import { isDeepStrictEqual } from 'node:util'
import { expect, test, vi } from 'vitest'
import { packedFile } from '../../../../src/service/fronts/packed-file.ts'
import { generalDocument } from '../../../../src/service/openapi/general-document.ts'
import { catalogOf, makeApi } from '../http/api.ts'

// Any request may have them, so that reading them says nothing about a route.
const OF_ANY_REQUEST = ['x-request-id', 'traceparent', 'tracestate', 'idempotency-key']

const PATH_VALUES = new Map([['rid', crypto.randomUUID()]])

const { paths, components } = JSON.parse(JSON.stringify(await generalDocument()))

const OF_ROUTES: readonly string[] = Object.values(components.parameters)
  .flatMap((parameter) => headerOf(Object(parameter)))
  .filter((name) => !OF_ANY_REQUEST.includes(name))

const operations = Object.entries(paths).flatMap(([path, item]) =>
  Object.entries(Object(item)).map(([method, operation]) => {
    const { parameters, requestBody } = Object(operation)
    return {
      method: method.toUpperCase(),
      path: path.replace(/\{(\w+)\}/g, (_, name) => PATH_VALUES.get(name) ?? 'x'),
      headers: (parameters as object[]).flatMap((parameter) => headerOf(parameter)),
      bodies: bodiesOf(requestBody),
    }
  }),
)

const { fetch } = makeApi({
  mcp: { waitMs: 0, ttlMs: 0, maxOutputBytes: 65_536 },
  readMetrics: () => '',
  readDocsFile: async () => packedFile('page.html', ''),
  readConsoleFile: async () => packedFile('page.html', ''),
  workflows: {
    catalog: catalogOf(),
    list: async () => ({ runs: [], nextPageToken: null }),
    count: async () => ({ count: 0, groups: [] }),
  },
})

test('an operation has exactly the headers that its route reads', async () => {
  const wrong: string[] = []
  for (const { method, path, headers, bodies } of operations) {
    const read = new Set<string>()
    for (const body of bodies)
      for (const accept of ['application/json', 'text/event-stream'])
        for (const name of await headersRead(requestOf({ method, path, body }, { Accept: accept }))) read.add(name)
    const ofRoute = (name: string) => OF_ROUTES.includes(name)
    if (!isDeepStrictEqual([...read].filter(ofRoute).toSorted(), headers.filter(ofRoute).toSorted()))
      wrong.push(`${method} ${path} reads ${[...read].filter(ofRoute)}`)
  }

  expect(OF_ROUTES).toHaveLength(4)
  expect(wrong).toEqual([])
})

function requestOf({ method, path, body }: { method: string; path: string; body: unknown }, headers: object): Request {
  const sent = body === undefined ? {} : { body: JSON.stringify(body) }
  return new Request(`http://portico.test${path}`, {
    ...{ method, headers: { 'Content-Type': 'application/json', ...headers } },
    ...sent,
  })
}

async function headersRead(request: Request): Promise<string[]> {
  const get = vi.spyOn(request.headers, 'get')
  const response = await fetch(request)
  await response.body?.cancel()
  return get.mock.calls.map(([name]) => name.toLowerCase())
}

/** The name of the header that a parameter is, in lower case. */
function headerOf(parameter: object): string[] {
  const { $ref } = Object(parameter)
  const { in: place, name } = components.parameters[String($ref).split('/').at(-1) ?? ''] ?? parameter
  return place === 'header' ? [name.toLowerCase()] : []
}

/** The examples; undefined for a request without a body. */
function bodiesOf(requestBody: object | undefined): unknown[] {
  const examples = Object(requestBody).content?.['application/json']?.examples ?? {}
  const values = Object.values(examples).map((example) => Object(example).value)
  return values.length > 0 ? values : [undefined]
}
