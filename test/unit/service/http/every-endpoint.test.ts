/** Each kind of request that every endpoint must reject, before it calls a verb. */
import { afterEach, expect, test, vi } from 'vitest'
import { ENDPOINTS } from '../../../../src/service/endpoints.ts'
import { type Endpoint, limited } from '../../../../src/service/http/endpoint.ts'
import { zodToJsonSchema } from '../../../../src/service/openapi/to-json-schema.ts'
import { bearer, tokenPolicy } from './policies.ts'
import { RUN_ID } from './run-api.ts'
import {
  expectEach,
  expectUnread,
  FORBIDDEN,
  FORMS,
  type Form,
  facts,
  INVALID,
  LIMITED,
  makeWalk,
  pathOf,
  requestOf,
  type Sent,
  send,
  UNAUTHORIZED,
} from './walk.ts'

afterEach(() => void vi.useRealTimers())

const needsCredential = ({ endpoint, isNamespaced }: Form) => endpoint.access !== null || isNamespaced

test('every endpoint: a valid request reaches a verb, so that the other tests can fail', async () => {
  const walk = makeWalk()
  const silent = []
  for (const form of FORMS.filter(({ endpoint }) => endpoint.access !== null)) {
    walk.called.length = 0
    await (await send(walk, form)).body?.cancel()
    if (walk.called.length === 0) silent.push(form.endpoint.id)
  }

  expect(silent.filter((id) => !/Metrics|Token|Mcp|bulk/.test(id))).toEqual([])
})

test('every endpoint: without a credential, and with one that is not valid, it is a 401, and no body is read (threat 1)', async () => {
  const walk = makeWalk({ auth: { tokens: ['s3cret'] } })
  const headers = [{}, { Authorization: 'Basic wrong' }, { Authorization: 'Bearer s3crets' }]

  await expectEach(walk, UNAUTHORIZED, { is: needsCredential, sent: () => headers.map((one) => ({ headers: one })) })
  await expectUnread(walk, UNAUTHORIZED, { is: needsCredential })
})

test('every endpoint: without a rule that names its right it is a 403, and no body is read (threats 14, 15)', async () => {
  const policy = tokenPolicy({ name: 'scrapes', can: ['metrics'], namespaces: ['default'] })
  const walk = makeWalk({ auth: { policy } })
  const is = ({ endpoint: { access } }: Form) => access !== null && access !== 'any' && access !== 'metrics'

  await expectEach(walk, FORBIDDEN, { is, sent: () => [{ headers: bearer('scrapes') }] })
  await expectUnread(walk, FORBIDDEN, { is, headers: bearer('scrapes') })
})

test('every endpoint: one request more than its caller may send is a 429, and no body is read (threat 29)', async () => {
  const policy = tokenPolicy({
    name: 'ci',
    can: ['*'],
    namespaces: ['default'],
    limits: { perSecond: 0.001, burst: 1 },
  })
  const walk = makeWalk({ auth: { policy } })
  await walk.call('GET', '/nope', undefined, bearer('ci'))

  await expectEach(walk, LIMITED, { is: needsCredential, sent: () => [{ headers: bearer('ci') }] })
  await expectUnread(walk, LIMITED, { is: needsCredential, headers: bearer('ci') })
})

test('every endpoint: what works on a request is a 503 while all places are taken, the rest is not (threat 53)', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const walk = makeWalk({ maxInFlight: 0 })
  const is = ({ endpoint }: Form) => /work|wait/.test(endpoint.takes) && endpoint.id !== 'receiveWebhook'
  const takesNone = FORMS.filter(({ endpoint }) => endpoint.takes === 'nothing')

  const rejected = expectEach(walk, [503, 'OverloadedError'], { is })
  for (let passed = 0; passed < 10; passed++) await vi.advanceTimersByTimeAsync(3000)
  await rejected
  const others = await Promise.all(takesNone.map(async (form) => (await facts(await send(walk, form)))[1]))

  expect(others).not.toContain('OverloadedError')
})

test('every endpoint: a page of another origin cannot have an effect (threat 59)', async () => {
  const headers = { Origin: 'https://evil.example', 'Sec-Fetch-Site': 'cross-site' }

  await expectEach(makeWalk(), FORBIDDEN, {
    is: ({ endpoint }) => endpoint.method !== 'get',
    sent: () => [{ headers }],
  })
})

test('every endpoint: without a token it has only names of this machine (threat 61)', async () => {
  await expectEach(makeWalk({ loopbackOnly: true }), FORBIDDEN, { sent: () => [{ headers: { Host: 'evil.example' } }] })
})

test('every endpoint: another method is a 405 that names the right ones, and OPTIONS is a 204 with them', async () => {
  const walk = makeWalk()
  const methodsOf = ({ path, isOfService }: Endpoint, isNamespaced: boolean) =>
    ENDPOINTS.filter((other) => toPattern(other.path) === toPattern(path) && !(isNamespaced && isOfService))
      .flatMap(({ method }) => (method === 'get' ? ['GET', 'HEAD'] : [method.toUpperCase()]))
      .toSorted()

  const wrong = []
  for (const { endpoint, prefix, isNamespaced } of FORMS) {
    const [, path] = requestOf(endpoint)
    const known = methodsOf(endpoint, isNamespaced)
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'].filter((one) => !known.includes(one))) {
      const { status, headers } = await walk.call(method, prefix + path, undefined, { 'Idempotency-Key': 'k' })
      const allowed = headers.get('Allow')?.split(', ').toSorted()
      if (status !== (method === 'OPTIONS' ? 204 : 405) || String(allowed) !== String(known))
        wrong.push([method, prefix + path, status, allowed])
    }
  }

  expect([wrong, walk.called]).toEqual([[], []])
})

/** The segments of a path, without the names of its parameters. */
const toPattern = (path: string) => path.replaceAll(/:\w+/g, ':')

test('every endpoint: each parameter of its path is checked, and decoded once (threat 51)', async () => {
  const long = 'x'.repeat(1001)
  const wrong: Readonly<Record<string, readonly string[]>> = {
    id: ['%24catalog:orders', '__temporal_x', 'a%00b', long, '%C3%BC'.repeat(501)],
    rid: ['17', '%20', 'null', `${RUN_ID}0`],
    name: ['__stack_trace', '__proto__', '%24x', long, 'a%00'],
    updateId: [long, 'a%00'],
    activityId: [long, 'a%00'],
    catalog: ['%2F_sys%2Fx', '__temporal_x', '%00', long],
    taskQueue: ['%2F_sys%2Fx', '__temporal_x', '%00', long],
    scheduleId: ['%24catalog:orders', 'temporal-sys-scheduler:w', 'a%00', 'x'.repeat(978)],
    batchId: ['key-1', 'a%00', `${'A'.repeat(16)}-${'0'.repeat(32)}`],
  }
  const escapes = ['%', '%zz', '%C3', '%ED%A0%80']
  const pathsOf = ({ endpoint }: Form) =>
    [...endpoint.path.matchAll(/:(\w+)/g)].flatMap(([, name = '']) =>
      [...(wrong[name] ?? []), ...escapes].map((value) => ({ path: pathWith(endpoint, name, value) })),
    )
  const is = ({ endpoint: { path } }: Form) => path.includes(':') && !/:(?:file|hook|token)/.test(path)

  await expectEach(makeWalk(), INVALID, { is, sent: pathsOf })
})

const OF_ENGINE = 'temporal-sys-scheduler:nightly'

test("every endpoint: ids and types of the engine's own workflows are a 400, in its path, parameters and body (threat 51)", async () => {
  const namesRun = (name: string) => /^workflow(?:Id|Name)$/.test(name)
  const sent = ({ endpoint }: Form): Sent[] => {
    const [, path, body] = requestOf(endpoint)
    const fields = Object.keys(
      endpoint.body ? (zodToJsonSchema(limited(endpoint.body.schema, 1000)).properties ?? {}) : {},
    )
    return [
      ...(endpoint.path.includes('/:id') ? [{ path: pathWith(endpoint, 'id', encodeURIComponent(OF_ENGINE)) }] : []),
      ...parametersOf(endpoint)
        .filter(namesRun)
        .map((name) => ({ path: `${path}?${name}=${OF_ENGINE}` })),
      ...fields.filter(namesRun).map((name) => ({ body: { ...Object(body), [name]: OF_ENGINE } })),
    ]
  }
  const named = FORMS.flatMap((form) => sent(form).map((one) => `${form.endpoint.id} ${JSON.stringify(one)}`))

  await expectEach(makeWalk(), INVALID, { sent })
  expect(named.join()).toMatch(/startWorkflow .*"workflowId".*startWorkflow .*"workflowName".*listRuns .*workflowName=/)
})

function pathWith(endpoint: Endpoint, name: string, value: string): string {
  return requestOf(endpoint, { id: 'w', rid: RUN_ID, [name]: value })[1]
}

test('every endpoint: a path that is not quite its own is a 404 (threat 51)', async () => {
  const pathsOf = ({ endpoint }: Form) => {
    const path = pathOf(endpoint)
    return [`${path}/`, `/${path}`, path.replace(/[a-z](?=[^a-z]*$)/, (last) => `%${last.charCodeAt(0).toString(16)}`)]
      .filter((other) => !/:\w+$/.test(endpoint.path) || other.endsWith('/') || other.startsWith('//'))
      .map((one) => ({ path: one }))
  }

  await expectEach(makeWalk(), [404, 'NotFoundError'], { sent: pathsOf })
})

test('every endpoint with parameters rejects one that it does not know, and each of its own twice', async () => {
  // Without a parameter of its own, these take others for those of a proxy.
  const lenient = /^(?:run|get(?:Workflow|Run)Result)/
  const is = ({ endpoint: { query } }: Form) => query !== undefined
  const queriesOf = ({ endpoint }: Form) => {
    const own = parametersOf(endpoint)
    const repeated = own.filter((name) => !endpoint.lists?.includes(name)).map((name) => `${name}=1&${name}=1`)
    const unknown = lenient.test(endpoint.id)
      ? ['body=output&x=1']
      : ['x=1', '__proto__=1', '%zz', `${own[0]}[a]=1&x=1`]
    return [...repeated, ...unknown].map((query) => ({
      path: `${pathOf(endpoint)}?${query}`,
    }))
  }

  await expectEach(makeWalk(), INVALID, { is, sent: queriesOf })
})

const parametersOf = ({ query }: Endpoint): string[] =>
  Object.keys(Object(typeof query === 'function' ? query(1000) : query).shape ?? {})

test('every endpoint: a token in its URL is a 400, unless it responds with events alone (threat 31)', async () => {
  const is = ({ endpoint }: Form) => !/stream(?:Workflow|Run)/.test(endpoint.id)
  const sent = ({ endpoint }: Form) => [{ path: `${pathOf(endpoint)}?access_token=ptk_x` }]

  await expectEach(makeWalk({ auth: { tokens: ['s3cret'] } }), INVALID, { is, sent })
})

test('every endpoint: an Idempotency-Key is checked, or rejected, or ignored', async () => {
  const walk = makeWalk()
  const keyed = (key: string) => () => [{ headers: { 'Idempotency-Key': key } }]
  const invalid = () => ['', 'a b', 'é', 'x'.repeat(256)].flatMap((key) => keyed(key)())
  const of =
    (what: Endpoint['key']) =>
    ({ endpoint }: Form) =>
      endpoint.key === what && !/Mcp/.test(endpoint.id)

  await expectEach(walk, INVALID, { is: of('taken'), sent: invalid })
  await expectEach(walk, [501, 'NotSupportedError'], { is: of('rejected'), sent: keyed('k') })
  const reading = FORMS.filter(of('ignored')).map(async (form) => [
    (await facts(await send(walk, form))).join(),
    (await facts(await send(walk, form, { headers: { 'Idempotency-Key': '' } }))).join(),
  ])
  expect((await Promise.all(reading)).filter(([without, withKey]) => without !== withKey)).toEqual([])
})
