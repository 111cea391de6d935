import { expect, test } from 'vitest'
import { undocumentedIn } from '../../../../support/openapi-check.ts'
import { catalogOf, makeApi } from '../api.ts'
import { bearer, tokenPolicy } from '../policies.ts'
import { makeRunApi } from '../run-api.ts'

test.for([
  ['the tag', (etag: string) => etag],
  ['a list with the tag', (etag: string) => `"other", ${etag}`],
  ['the weak form of the tag', (etag: string) => `W/${etag}`],
  ['an asterisk', () => '*'],
] as const)('catalog: responds with 304 to %s', async ([, ifNoneMatch]) => {
  const { call } = makeRunApi()
  const etag = (await call('GET', '/workflow/catalog')).headers.get('ETag') ?? ''

  const again = await call('GET', '/workflow/catalog', undefined, { 'If-None-Match': ifNoneMatch(etag) })

  const facts = [etag, again.status, await again.text(), again.headers.get('ETag')]
  expect(facts).toEqual([expect.stringMatching(/^"[\da-f]{64}"$/), 304, '', etag])
})

test('catalog: a page of an allowed origin may read the tag, also from a 304', async () => {
  const { fetch } = makeApi({
    workflows: { catalog: catalogOf() },
    corsOrigins: ['https://app.example.com'],
  })
  const headers = { Origin: 'https://app.example.com', 'If-None-Match': '*' }

  const response = await fetch(new Request('http://portico.test/workflow/catalog', { headers }))

  expect([response.status, response.headers.get('Access-Control-Allow-Origin')]).toEqual([304, headers.Origin])
  expect(response.headers.get('Access-Control-Expose-Headers')).toContain('ETag')
})

test.for(['/workflow/catalog', '/workflow/catalog/orders', '/openapi.json'])(
  'catalog: the document lists all headers that a caller with rules gets from %s',
  async (path) => {
    const { call } = makeApi({
      workflows: { catalog: catalogOf() },
      auth: { policy: tokenPolicy({ name: 'reader', can: ['read'] }) },
    })

    for (const headers of [{}, { 'If-None-Match': '*' }]) {
      const response = await call('GET', path, undefined, { ...bearer('reader'), ...headers })
      const answer = { status: response.status, headers: response.headers, text: await response.text() }
      expect(answer.headers.get('Cache-Control')).toBe('private, no-cache')
      expect(undocumentedIn('GET', path, answer)).toEqual([])
    }
  },
)
