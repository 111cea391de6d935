import { expect, test } from 'vitest'
import { makeApi } from '../../support/api.ts'
import type { ApiFixture } from './api-fixture.ts'

/** `GET /docs`, without a browser. `test/clients/docs-page.test.ts` opens it in one. */
export function docsPage(api: () => ApiFixture): void {
  test('docs: the page and every file that it loads need no token', async () => {
    const { url } = api().restrictedService
    const { status, headers, text } = await makeApi({ url }).call('GET', '/docs')

    const paths = [...text.matchAll(/ (?:src|href)="(docs\/[^"]+)"/g)].map(([, path]) => `${url}/${path}`)
    // Not with `call`, because the files of the library contain words that no other response may contain.
    const files = await Promise.all(paths.map((path) => fetch(path)))
    const sizes = await Promise.all(files.map(async (file) => (await file.text()).length))

    expect([status, headers.get('Content-Type')]).toEqual([200, 'text/html; charset=utf-8'])
    expect(headers.get('Content-Security-Policy')).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self'; /)
    expect(files.map((file) => file.status)).toEqual([200, 200, 200, 200])
    expect(sizes.filter((size) => size > 1_000_000)).toHaveLength(1)
  })

  test('docs: a file is sent as it is stored to a client that accepts gzip, and unpacked to any other', async () => {
    const url = `${api().restrictedService.url}/docs/swagger-ui-bundle.js`
    const get = (encoding: string, headers = {}, method = 'GET') =>
      fetch(url, { method, headers: { 'Accept-Encoding': encoding, ...headers } })

    const [packed, plain, head] = await Promise.all([get('gzip'), get('gzip;q=0'), get('gzip', {}, 'HEAD')])
    const [text, same] = [await packed.text(), await plain.text()]
    const etag = packed.headers.get('ETag') ?? ''
    const again = await Promise.all(['gzip', 'identity'].map((one) => get(one, { 'If-None-Match': etag })))

    expect([text.length > 1_000_000, same === text]).toEqual([true, true])
    expect(
      [packed, plain, head].map(({ status, headers }) => [
        status,
        ...['Content-Encoding', 'ETag', 'Vary'].map((name) => headers.get(name)),
      ]),
    ).toEqual(['gzip', null, 'gzip'].map((encoding) => [200, encoding, etag, 'Origin, Accept-Encoding']))
    expect([etag.slice(0, 3), ...again.map(({ status }) => status)]).toEqual(['W/"', 304, 304])
  })

  test('console: leads to a page that needs no token', async () => {
    const { url } = api().restrictedService
    const { call } = makeApi({ url, fetch: (request) => fetch(request, { redirect: 'manual' }) })
    const { status, headers } = await call('GET', '/console')
    const page = await call('GET', '/console/runs')

    expect([status, headers.get('Location'), page.status]).toEqual([302, '/console/runs', 200])
    expect(page.text).toContain('<meta name="portico-credential" content="required">')
  })

  test('docs: a file that the page does not have is a 404', async () => {
    const { url } = api().restrictedService
    const names = ['nope.js', 'page.html', 'page.css.json', '..%2Fpage.css', '%2e%2e%2fopenapi.json', 'constructor']

    const { call } = makeApi({ url })
    const answers = await Promise.all(names.map((name) => call('GET', `/docs/${name}`)))

    expect(answers.map(({ status }) => status)).toEqual(names.map(() => 404))
  })

  test('docs: the page is off by default, and the capabilities say whether it is on', async () => {
    const { service, restrictedService } = api()

    const [off, on] = await Promise.all(
      [service, restrictedService].map(async ({ call }) => (await call('GET', '/capabilities')).body.features.docs),
    )

    expect([off, on]).toEqual([false, true])
    expect((await service.call('GET', '/docs')).status).toBe(404)
  })
}
