/** No cache may answer instead of the service, unless it asks first. */
import { expect, test } from 'vitest'
import { ENDPOINTS } from '../../../../src/service/endpoints.ts'
import { requestTo } from '../../../faults/endpoints.ts'
import { catalogOf, makeApi } from './api.ts'
import { bearer, tokenPolicy } from './policies.ts'

const RUN = { workflowId: 'w', runId: '01a1fc08-209f-7b9a-8706-ac054efcfc64' }

const REQUESTS: [string, ...unknown[]][] = [
  ...ENDPOINTS.map((endpoint): [string, ...unknown[]] => [endpoint.id, ...requestTo(endpoint, RUN)]),
  ['another path', 'GET', '/nothing/here'],
  ['another method', 'PUT', '/health'],
  ['the methods of a route', 'OPTIONS', '/health'],
]

test.for(REQUESTS)('caching: a response of %s says no-store, or no-cache with an ETag', async ([, ...request]) => {
  const { call } = makeApi({ workflows: { catalog: catalogOf() } })
  const [method, path, body] = request as [string, string, object | undefined]

  const { headers, status } = await call(method, path, body)

  const tagged = headers.get('ETag') === null ? 'no-store' : 'no-cache'
  expect([status, headers.get('Cache-Control')]).toEqual([status, tagged])
})

test('caching: a list and a count are a 304 for a client that has them, and for another one private', async () => {
  let found = 1
  const { call } = makeApi({
    auth: { tokens: ['s3cret'], policy: tokenPolicy({ name: 'ci', can: ['list'] }) },
    workflows: {
      list: async () => ({ runs: [], nextPageToken: String(found) }),
      count: async () => ({ count: found, groups: [] }),
    },
  })
  const read = async (path: string, tag: string, token = 's3cret') => {
    const { status, headers } = await call('GET', path, undefined, { ...bearer(token), 'If-None-Match': tag })
    return { status, tag: headers.get('ETag') ?? '', cacheControl: headers.get('Cache-Control') }
  }

  for (const path of ['/workflow/runs', '/workflow/runs/count']) {
    const first = await read(path, '"other"')
    const again = await read(path, first.tag)
    const restricted = await read(path, '"other"', 'ci')
    found++
    const changed = await read(path, first.tag)

    expect(first).toEqual({ status: 200, tag: expect.stringMatching(/^"[\da-f]{64}"$/), cacheControl: 'no-cache' })
    expect(again).toEqual({ ...first, status: 304 })
    expect(restricted).toEqual({ ...first, cacheControl: 'private, no-cache' })
    expect(changed.status).toBe(200)
  }
})

test('caching: a request that is rejected before it is read says no-store', async () => {
  const { call } = makeApi({ auth: { tokens: ['s3cret'] } })

  const { headers, status } = await call('GET', '/workflow/w/status')

  expect([status, headers.get('Cache-Control')]).toEqual([401, 'no-store'])
})
