import { afterEach, expect, test, vi } from 'vitest'
import { bearer } from '../policies.ts'
import { makeTokenApi } from './token-api.ts'

afterEach(() => void vi.useRealTimers())

test('tokens: a stream whose token expires ends without an error, and the next request is a 401 (threat 31)', async () => {
  vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'] })
  const { call, calls, tokenOf, events } = makeTokenApi()
  const token = await tokenOf({ can: ['read'], expiresIn: 150 })

  const response = await call('GET', `/workflow/u:1/history/stream?access_token=${token}`)
  await vi.advanceTimersByTimeAsync(150)
  const body = await response.text()
  const again = await call('GET', `/workflow/u:1/history/stream?access_token=${token}`)

  expect(response.status).toBe(200)
  expect(calls[0]?.signal.aborted).toBe(true)
  expect(again.status).toBe(401)
  expect(body).toContain('event: workflow')
  expect(body).not.toContain('server_error')
  expect(again.headers.get('WWW-Authenticate')).toContain('error="invalid_token"')
  const requests = events.filter(({ message }) => message === 'request').map(({ fields }) => fields)
  expect(requests.map(({ status, reason }) => [status, reason])).toEqual([
    [201, undefined],
    [200, undefined],
    [401, 'expired'],
  ])
})

test('access_token: is accepted for events only, and the responses are never cached and send no referrer (threat 31)', async () => {
  const { call, tokenOf } = makeTokenApi()
  const token = await tokenOf({ can: ['read'] })
  const ask = (method: string, path: string, headers = {}) =>
    call(method, `${path}${path.includes('?') ? '&' : '?'}access_token=${token}`, undefined, headers)
  const rejected: [method: string, path: string, headers?: object][] = [
    ['GET', '/workflow/u:1/status'],
    ['GET', '/workflow/u:1/status?x=1'],
    ['GET', '/workflow/u:1/result'],
    ['GET', '/workflow/u:1/stream', { Accept: 'application/json' }],
    ['HEAD', '/workflow/u:1/history/stream'],
    ['POST', '/workflow/run', { Accept: 'text/event-stream' }],
    ['POST', '/tokens'],
    ['GET', '/health'],
    ['GET', '/nope'],
    ['GET', '/workflow/u:1/history/stream', bearer(token)],
    ['GET', '/workflow/u:1/history/stream?x=1'],
  ]

  const responses = await Promise.all(rejected.map(([method, path, headers]) => ask(method, path, headers)))
  const accepted = await ask('GET', '/workflow/u:1/history/stream?includePayloads=false')
  await accepted.body?.cancel()

  expect(responses.map(({ status }) => status)).toEqual(rejected.map(() => 400))
  expect(accepted.status).toBe(200)
  for (const { headers } of [...responses, accepted])
    expect([headers.get('Cache-Control'), headers.get('Referrer-Policy')]).toEqual([
      expect.stringContaining('no-store'),
      'no-referrer',
    ])
})

test('access_token: any other credential is a 400 that names the header and not the value (threat 31)', async () => {
  const { call, tokenOf } = makeTokenApi()
  const token = await tokenOf({ can: ['read'] })

  for (const query of [
    'access_token=s3cret',
    'access%5ftoken=s3cret',
    'access_token=',
    `access_token=${token}&access_token=${token}`,
  ]) {
    const response = await call('GET', `/workflow/u:1/history/stream?${query}`)
    const body = await response.text()

    expect([response.status, body.includes('s3cret'), body.includes(token)], query).toEqual([400, false, false])
    if (!query.includes(token)) expect(body).toContain('Authorization header')
  }
})

test('tokens: no line of the log, no span, no header and no error has the token (threat 31)', async () => {
  vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'] })
  const spans: unknown[] = []
  const { call, events, tokenOf } = makeTokenApi({
    audit: 'all',
    tracer: {
      startRequest: () => ({
        traceId: null,
        contextHeaders: () => ({}),
        run: (act) => act(),
        end: (response) => void spans.push(response),
      }),
    },
  })
  const token = await tokenOf({ can: ['read'], expiresIn: 300 })
  const paths = ['/workflow/u:1/history/stream', '/workflow/u:1/result', '/nope', '/docs']

  const responses = await Promise.all(paths.map((path) => call('GET', `${path}?access_token=${token}`)))
  await vi.advanceTimersByTimeAsync(300)
  const shown = await Promise.all(
    responses.map(async (response) => [await response.text(), ...response.headers.values()].join('\n')),
  )

  expect(responses.map(({ status }) => status)).toEqual([200, 400, 400, 400])
  expect(JSON.stringify([...events, ...spans, ...shown])).not.toContain(token.slice('ptk_'.length, 40))
  expect(events.length).toBeGreaterThan(paths.length)
})
