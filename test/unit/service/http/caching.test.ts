/** No cache may answer instead of the service, unless it asks first. */
import { expect, test } from 'vitest'
import { ENDPOINTS } from '../../../../src/service/endpoints.ts'
import { requestTo } from '../../../faults/endpoints.ts'
import { catalogOf, makeApi } from './api.ts'

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

test('caching: a request that is rejected before it is read says no-store', async () => {
  const { call } = makeApi({ auth: { tokens: ['s3cret'] } })

  const { headers, status } = await call('GET', '/workflow/w/status')

  expect([status, headers.get('Cache-Control')]).toEqual([401, 'no-store'])
})
