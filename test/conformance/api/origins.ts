import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { expect, test } from 'vitest'
import { makeApi } from '../../support/api.ts'
import { type ApiFixture, anId, ORIGIN } from './api-fixture.ts'

/** What pages of other hosts may do. */
export function origins(api: () => ApiFixture): void {
  test('CORS: a preflight needs no token, and allows the headers that it names to known origins alone (threat 60)', async () => {
    const preflight = (origin: string) =>
      makeApi({ url: api().restrictedService.url }).call('OPTIONS', '/workflow/w/stop', undefined, {
        Origin: origin,
        'Access-Control-Request-Method': 'PATCH',
        'Access-Control-Request-Headers': 'traceparent,x-custom',
      })

    const known = await preflight(ORIGIN)
    const other = await preflight('https://evil.example.com')

    expect([known.status, known.headers.get('Access-Control-Allow-Origin')]).toEqual([204, ORIGIN])
    expect(known.headers.get('Access-Control-Allow-Methods')).toContain('PATCH')
    expect(known.headers.get('Access-Control-Allow-Headers')).toBe('traceparent,x-custom')
    expect(other.headers.has('Access-Control-Allow-Origin')).toBe(false)
  })

  test('CORS: other OPTIONS name the methods, and 404 stays 404', async () => {
    const { call } = makeApi({ url: api().restrictedService.url })

    const known = await call('OPTIONS', '/workflow/w/stop', undefined, { Origin: ORIGIN })
    const unknown = await call('OPTIONS', '/nope', undefined, { Origin: ORIGIN })

    expect([known.status, known.headers.get('Allow'), unknown.status]).toEqual([204, 'PATCH', 404])
  })

  test('Origin: a page of another host may not change anything, even if the browser sends only Origin (threat 59)', async () => {
    const { service, restrictedService } = api()
    const path = `/workflow/${anId()}/terminate`
    const { host } = new URL(service.url)
    const from = (origin: string, site?: string) =>
      service.call('POST', path, undefined, { Origin: origin, ...(site !== undefined && { 'Sec-Fetch-Site': site }) })

    const foreign = [
      await from('http://evil.example'),
      await from('null'),
      await from('http://evil.example', 'cross-site'),
    ]
    const own = [await from(`http://${host}`), await from('http://any.example', 'same-origin')]
    const allowed = await restrictedService.call('POST', path, undefined, { Origin: ORIGIN })

    expect(foreign.map(({ status, body }) => [status, body.error])).toEqual(foreign.map(() => [403, 'ForbiddenError']))
    expect([...own, allowed].map(({ status }) => status)).toEqual([404, 404, 404])
  })

  test('Host: without a token only names of this machine are accepted, which prevents DNS rebinding (threat 61)', async () => {
    const { anonymousService, restrictedService, hasGap } = api()

    expect(await statusFor(anonymousService.url, 'localhost:1234')).toBe(200)
    expect(await statusFor(anonymousService.url, 'evil.example')).toBe(hasGap('loopback') ? 200 : 403)
    expect(await statusFor(restrictedService.url, 'evil.example')).toBe(200)
  })

  test('paths: a dot segment is rejected, because a proxy may have allowed another path (threat 51)', async () => {
    const { service, hasGap } = api()
    const paths = ['/links/../health', '/links/%2e%2e/health', '/hooks/%2E./health', '/./health']
    const statuses = await Promise.all(paths.map((path) => statusFor(service.url, 'localhost', path)))

    expect(statuses).toEqual(paths.map(() => (hasGap('dot-segments') ? 200 : 400)))
  })
}

/** fetch has a will of its own about Host, and resolves paths. */
async function statusFor(url: string, host: string, path = '/health'): Promise<number | undefined> {
  const sent = request(url, { path, headers: { Host: host }, agent: false }).end()
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  response.resume()
  return response.statusCode
}
