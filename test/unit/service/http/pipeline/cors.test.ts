import { expect, onTestFinished, test, vi } from 'vitest'
import { makeApi } from '../api.ts'
import { bearer, tokenPolicy } from '../policies.ts'

const cors = () => makeApi({ corsOrigins: ['https://app.example'], auth: { tokens: ['s3cret'] } })

const preflight = (path: string, Origin: string, headers: Record<string, string>) =>
  cors().call('OPTIONS', path, undefined, { Origin, ...headers })

test('CORS: pages of a listed origin may send credentials of the browser, those of `*` may not', async () => {
  const page = { Origin: 'https://app.example' }
  const allowed = async (corsOrigins: string[]) =>
    (await makeApi({ corsOrigins }).call('GET', '/health', undefined, page)).headers.get(
      'Access-Control-Allow-Credentials',
    )

  expect([await allowed(['https://app.example']), await allowed(['*']), await allowed(['https://b.example'])]).toEqual([
    'true',
    null,
    null,
  ])
})

test.each(['capacitor://localhost', 'tauri://localhost', 'chrome-extension://abcdefghijklmnop'])(
  'CORS: an app with the origin %s can send a request and read the response',
  async (origin) => {
    const { call } = makeApi({
      corsOrigins: [origin],
      workflows: { start: async () => ({ workflowId: 'w', runId: 'r' }) },
    })
    const asked = { Origin: origin, 'Access-Control-Request-Method': 'POST' }
    const body = { workflowName: 'order', input: 1 }

    const preflight = await call('OPTIONS', '/workflow/start', undefined, asked)
    const response = await call('POST', '/workflow/start', body, { Origin: origin, 'Sec-Fetch-Site': 'cross-site' })

    expect([preflight.status, response.status]).toEqual([204, 200])
    for (const { headers } of [preflight, response])
      expect([headers.get('Access-Control-Allow-Origin'), headers.get('Access-Control-Allow-Credentials')]).toEqual([
        origin,
        'true',
      ])
    expect(preflight.headers.get('Access-Control-Allow-Methods')).toContain('POST')
  },
)

test('CORS: a preflight with a credential counts towards the limits of its caller (threat 29)', async () => {
  const { call } = makeApi({
    corsOrigins: ['https://app.example'],
    auth: { policy: tokenPolicy({ name: 'ci', can: ['*'], limits: { perSecond: 0.001, burst: 1 } }) },
  })
  const page = { Origin: 'https://app.example', 'Access-Control-Request-Method': 'POST' }
  const preflight = async (headers = {}) => {
    const response = await call('OPTIONS', '/workflow/run', undefined, { ...page, ...headers })
    return [response.status, response.headers.get('Access-Control-Allow-Methods') !== null]
  }

  const withCredential = [await preflight(bearer('ci')), await preflight(bearer('ci'))]

  expect(withCredential).toEqual([
    [204, true],
    [429, false],
  ])
  expect([await preflight(), await preflight()]).toEqual([
    [204, true],
    [204, true],
  ])
})

test('CORS: a preflight allows the headers that it names', async () => {
  const names = { 'Access-Control-Request-Method': 'POST', 'Access-Control-Request-Headers': 'x-custom,traceparent' }
  const response = await preflight('/workflow/run', 'https://app.example', names)

  expect(response.headers.get('Access-Control-Allow-Headers')).toBe('x-custom,traceparent')
})

test('CORS: a preflight from another origin allows nothing (threat 60)', async () => {
  const response = await preflight('/workflow/run', 'https://evil.example', {
    'Access-Control-Request-Method': 'POST',
    'Access-Control-Request-Headers': 'x-custom',
  })

  expect([...response.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([])
})

test.each([[[]], [['https://app.example']]])(
  'CORS: a preflight of an origin that is not listed is one warning an hour',
  async (corsOrigins: string[]) => {
    vi.useFakeTimers({ toFake: ['Date'] })
    onTestFinished(() => void vi.useRealTimers())
    const { call, events } = makeApi({ corsOrigins })
    const ask = (Origin: string) =>
      call('OPTIONS', '/workflow/run', undefined, { Origin, 'Access-Control-Request-Method': 'POST' })
    const warned = () => events.filter(({ level }) => level === 'warn').map(({ fields }) => fields.origin)

    for (const origin of ['https://other.example', 'https://other.example', 'null', 'https://app.example:8443'])
      await ask(origin)
    expect(warned()).toEqual(['https://other.example', 'null', 'https://app.example:8443'])
    vi.advanceTimersByTime(3_600_000)
    await ask('https://other.example')
    expect(warned().slice(3)).toEqual(['https://other.example'])
    for (const at of Array(200).keys()) await ask(`https://${at}.example`)
    expect(warned().length).toBeLessThan(110)
  },
)

test('CORS: a listed origin, or a request that is no preflight, is no warning', async () => {
  const { call, events } = makeApi({ corsOrigins: ['https://app.example'] })

  await call('OPTIONS', '/workflow/run', undefined, {
    Origin: 'https://app.example',
    'Access-Control-Request-Method': 'POST',
  })
  await call('OPTIONS', '/workflow/run', undefined, { Origin: 'https://other.example' })
  await call('GET', '/health', undefined, { Origin: 'https://other.example' })

  expect(events.filter(({ level }) => level === 'warn')).toEqual([])
})

test('CORS: exposes only headers that the service sends', async () => {
  const response = await cors().call('GET', '/health', undefined, { Origin: 'https://app.example' })

  expect(response.headers.get('Access-Control-Expose-Headers')).toBe(
    'Location,Deprecation,Sunset,Link,ETag,Retry-After,Preference-Applied,X-Request-Id,Portico-Error-Source,Portico-Workflow-Id,Portico-Activity-Id,Portico-Run-Id,Portico-Started,Portico-Output-Warning,Portico-Warning,Idempotency-Replayed,X-Workflow-Stream-Tail-Index,X-Workflow-Run-Id',
  )
})

test('CORS: is off without configured origins (threat 60)', async () => {
  const response = await makeApi().call('GET', '/health', undefined, { Origin: 'https://app.example' })

  expect([...response.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([])
})
