import { describe, expect, test } from 'vitest'
import type { ReadDocsFile } from '../../../../src/http/endpoints/docs.ts'
import { makeApi, never, rejection } from '../api.ts'

const FILES = new Map([
  ['page.html', { type: 'text/html; charset=utf-8', text: '<meta content="{{token}}">' }],
  ['page.js', { type: 'text/javascript; charset=utf-8', text: 'start()' }],
])
const readDocsFile: ReadDocsFile = async (name) => FILES.get(name) ?? null
const withToken = { auth: { tokens: ['s3cret'] } }

describe('GET /docs', () => {
  test('does not exist, and needs a token like any other path, unless the page is on', async () => {
    const answers = [await makeApi().call('GET', '/docs'), await makeApi(withToken).call('GET', '/docs/page.js')]

    expect(await Promise.all(answers.map(rejection))).toEqual([
      [404, 'NotFoundError'],
      [401, 'UnauthorizedError'],
    ])
  })

  test('needs no token, and says whether the API needs one', async () => {
    const open = await makeApi({ readDocsFile }).call('GET', '/docs')
    const guarded = await makeApi({ readDocsFile, ...withToken }).call('GET', '/docs')

    expect([open.status, await open.text()]).toEqual([200, '<meta content="none">'])
    expect([guarded.status, await guarded.text()]).toEqual([200, '<meta content="required">'])
  })

  test('only the page and its files need no token', async () => {
    const { call } = makeApi({ readDocsFile, ...withToken })

    const answers = await Promise.all(
      ['/docs/page.js', '/docs/nope.js', '/docs/a/b', '/docsx', '/openapi'].map((path) => call('GET', path)),
    )

    expect(answers.map(({ status }) => status)).toEqual([200, 404, 404, 401, 401])
  })

  test('its files have their types, and headers that keep everything else out', async () => {
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

  test('is sent once: a browser that has it gets a 304 with the same headers', async () => {
    const { call } = makeApi({ readDocsFile })
    const first = await call('GET', '/docs')
    const etag = first.headers.get('ETag') ?? ''

    const again = await call('GET', '/docs', undefined, { 'If-None-Match': etag })

    const facts = [first.headers.get('Cache-Control'), again.status, again.headers.get('ETag')]
    expect(facts).toEqual(['no-cache', 304, etag])
    expect(again.headers.get('Content-Security-Policy')).toBe(first.headers.get('Content-Security-Policy'))
  })

  test('each file is read once', async () => {
    const read: string[] = []
    const { call } = makeApi({
      readDocsFile: (name) => {
        read.push(name)
        return readDocsFile(name)
      },
    })

    for (const path of ['/docs', '/docs/page.js', '/docs', '/docs/page.js']) await call('GET', path)

    expect(read).toEqual(['page.html', 'page.js'])
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

  test('the template of the page is not one of its files', async () => {
    const { call } = makeApi({ readDocsFile })

    expect(await rejection(await call('GET', '/docs/page.html'))).toEqual([404, 'NotFoundError'])
  })

  test('is below the base path', async () => {
    const { call } = makeApi({ readDocsFile, ...withToken, mount: { basePath: '/portico' } })

    const answers = await Promise.all(
      ['/portico/docs', '/portico/docs/page.js', '/docs'].map((path) => call('GET', path)),
    )

    expect(answers.map(({ status }) => status)).toEqual([200, 200, 401])
  })

  test('has GET and HEAD only', async () => {
    const { call } = makeApi({ readDocsFile })

    const [head, post] = [await call('HEAD', '/docs'), await call('POST', '/docs')]

    expect([head.status, post.status, post.headers.get('Allow')]).toEqual([200, 405, 'GET, HEAD'])
  })

  test('is 501 if its own file is missing, and the message says what to configure', async () => {
    const { call } = makeApi({ readDocsFile: async () => null })

    const [page, file] = [await call('GET', '/docs'), await call('GET', '/docs/page.js')]

    expect((await page.clone().json()).message).toContain('the binding ASSETS')
    expect(await rejection(page)).toEqual([501, 'NotSupportedError'])
    expect(await rejection(file)).toEqual([404, 'NotFoundError'])
  })

  test('is 501 without its files', async () => {
    const { call } = makeApi({ readDocsFile: null, ...withToken })

    expect(await rejection(await call('GET', '/docs'))).toEqual([501, 'NotSupportedError'])
    expect(await rejection(await call('GET', '/docs/page.js'))).toEqual([501, 'NotSupportedError'])
  })
})
