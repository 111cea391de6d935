import { gunzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { ENDPOINTS } from '../../../../../src/service/endpoints.ts'
import { packedFile } from '../../../../../src/service/fronts/packed-file.ts'
import type { ReadPageFile } from '../../../../../src/service/http/page-files.ts'
import { generalDocument } from '../../../../../src/service/openapi/general-document.ts'
import { makeApi, never, rejection } from '../../http/api.ts'

const FOLDER = new URL('../../../../../src/service/fronts/docs/', import.meta.url).href

const FILES = new Map([
  ['page.html', packedFile('page.html', '<meta content="{{token}}">')],
  ['page.js', packedFile('page.js', 'start()')],
])
const readDocsFile: ReadPageFile = async (name) => FILES.get(name) ?? null
const withToken = { auth: { tokens: ['s3cret'] } }

describe('GET /docs', () => {
  test('does not exist, and needs a token like any other path, unless the page is on (threat 62)', async () => {
    const answers = [await makeApi().call('GET', '/docs'), await makeApi(withToken).call('GET', '/docs/page.js')]

    expect(await Promise.all(answers.map(rejection))).toEqual([
      [404, 'NotFoundError'],
      [401, 'UnauthorizedError'],
    ])
  })

  test('only the page and its files need no token (threat 62)', async () => {
    const { call } = makeApi({ readDocsFile, ...withToken })

    const answers = await Promise.all(
      ['/docs/page.js', '/docs/nope.js', '/docs/a/b', '/docsx', '/openapi'].map((path) => call('GET', path)),
    )

    expect(answers.map(({ status }) => status)).toEqual([200, 404, 404, 401, 401])
  })

  test('its files have their types, and headers that keep everything else out (threat 62)', async () => {
    const { call } = makeApi({ readDocsFile })

    const page = await call('GET', '/docs')
    const script = await call('GET', '/docs/page.js')

    expect([page, script].map(({ headers }) => headers.get('Content-Type'))).toEqual([
      'text/html; charset=utf-8',
      'text/javascript; charset=utf-8',
    ])
    for (const { headers } of [page, script]) {
      expect(headers.get('Content-Security-Policy')).toBe(
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
          "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      )
      expect(headers.get('X-Content-Type-Options')).toBe('nosniff')
      expect(headers.get('Referrer-Policy')).toBe('no-referrer')
    }
  })

  test.each([
    ['gzip', 'gzip'],
    ['br;q=1.0, GZIP;q=0.2', 'gzip'],
    ['gzip, identity', 'gzip'],
    ['identity, gzip;q=0.5', null],
    ['gzip;q=0, *', null],
    ['br, zstd', null],
    ['', null],
  ])('is compressed for a browser that accepts it: %s', async (accepted, encoding) => {
    const { call } = makeApi({ readDocsFile, corsOrigins: ['https://one.example'] })

    const answers = await Promise.all(
      ['/docs', '/docs/page.js'].map((path) => call('GET', path, undefined, { 'Accept-Encoding': accepted })),
    )
    const bodies = await Promise.all(answers.map(async (answer) => Buffer.from(await answer.arrayBuffer())))

    const texts = bodies.map((body) => (encoding === null ? body : gunzipSync(body)).toString())
    expect(texts).toEqual(['<meta content="none">', 'start()'])
    for (const { headers } of answers)
      expect([headers.get('Content-Encoding'), headers.get('Vary')]).toEqual([encoding, 'Origin, Accept-Encoding'])
  })

  test('is sent once: a browser that has it gets a 304 with the same headers', async () => {
    const { call } = makeApi({ readDocsFile })
    const first = await call('GET', '/docs')
    const etag = first.headers.get('ETag') ?? ''

    const again = await call('GET', '/docs', undefined, { 'If-None-Match': etag })

    const packed = await call('GET', '/docs', undefined, { 'Accept-Encoding': 'gzip', 'If-None-Match': etag })

    const facts = [first.headers.get('Cache-Control'), again.status, again.headers.get('ETag')]
    expect(facts).toEqual(['no-cache', 304, etag])
    // Weak, because the tag is that of the compressed body, too.
    expect([etag.slice(0, 3), packed.status, packed.headers.get('Content-Encoding')]).toEqual(['W/"', 304, null])
    for (const name of ['Content-Security-Policy', 'Vary'])
      expect(again.headers.get(name)).toBe(first.headers.get(name))
  })

  test('counts towards the limit on requests in flight, which other requests may have reached', async () => {
    const { promise: released, resolve: release } = Promise.withResolvers<void>()
    const { call } = makeApi({
      maxInFlight: 1,
      workflows: { capabilities: never },
      readDocsFile: (name) => released.then(() => readDocsFile(name)),
    })
    const first = call('GET', '/docs')

    const rejected = [await call('GET', '/docs/page.js'), await call('GET', '/capabilities')]
    release()

    expect(await Promise.all(rejected.map(rejection))).toEqual(rejected.map(() => [503, 'OverloadedError']))
    expect([(await first).status, (await call('GET', '/docs/page.js')).status]).toEqual([200, 200])
  })

  test('the template of the page is not one of its files (threat 62)', async () => {
    const { call } = makeApi({ readDocsFile })

    expect(await rejection(await call('GET', '/docs/page.html'))).toEqual([404, 'NotFoundError'])
  })

  test('is 501 if its own file is missing, and the message says what to configure', async () => {
    const { call } = makeApi({ readDocsFile: async () => null })

    const [page, file] = [await call('GET', '/docs'), await call('GET', '/docs/page.js')]

    expect((await page.clone().json()).message).toContain('the binding ASSETS')
    expect(await rejection(page)).toEqual([501, 'NotSupportedError'])
    expect(await rejection(file)).toEqual([404, 'NotFoundError'])
  })
})

test('the page fills in a new Idempotency-Key for each request that takes one (threat 108)', async () => {
  const { forReaders, NEW_KEY } = await import(`${FOLDER}for-readers.js`)
  const catalog = { name: 'orders', namespace: 'default', state: 'described' }
  const { paths, components } = forReaders({ ...structuredClone(await generalDocument()), 'x-catalog': catalog })

  const keyed = ENDPOINTS.filter(({ key, id }) => key === 'taken' && !/Mcp/.test(id)).map(({ method, path }) => {
    const { parameters } = paths[path.replace(/:(\w+)/g, '{$1}')][method]
    const all = parameters.map(
      ({ $ref, ...own }: { $ref?: string }) => components.parameters[$ref?.split('/').at(-1) ?? ''] ?? own,
    )
    return [path, all.find(({ name }: { name: string }) => name === 'Idempotency-Key')?.example]
  })

  expect(keyed.map(([path]) => path)).toEqual(
    expect.arrayContaining(['/workflow/start', '/workflow/signal-with-start/:name']),
  )
  expect(keyed.filter(([, example]) => example !== NEW_KEY)).toEqual([])
})
