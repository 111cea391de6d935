/** Which events a hook takes, in which form, and what it answers to senders that try it out. */
import { expect, test } from 'vitest'
import { createMetrics } from '../../../../../src/service/telemetry/metrics.ts'
import { createHooks, toHook } from '../../../../../src/shared/hooks/hooks.ts'
import { proofHeaders } from '../../../../../src/shared/hooks/schemes.ts'
import { rejection } from '../../http/api.ts'
import { answerOf, FORM_TYPE, JSON_TYPE, makeHookApi, START } from '../../http/endpoints/hook-api.ts'

const ANY = { workflowName: 'order' }
const TOKEN = { scheme: 'token', argument: 'body' } as const

test("ping of GitHub is a 200 and starts nothing, also on a hook without `when`, and so are others' events", async () => {
  const { send, sent, events } = makeHookApi({ scheme: 'github', start: ANY })

  const ping = await send('{"zen":"x","hook_id":1}', { ...JSON_TYPE, 'X-GitHub-Event': 'ping' })
  const push = await send('{"zen":"x"}', { ...JSON_TYPE, 'X-GitHub-Event': 'push' })

  expect([await answerOf(ping), push.status, sent.length]).toEqual([[200, { ignored: true }], 202, 1])
  expect(events.find(({ message }) => message === 'request')?.fields).toMatchObject({ hook: 'h', ignored: true })
})

test('when: all headers and values must match; other events are ignored and counted', async () => {
  const metrics = createMetrics({ version: '1', runtime: 'test', transport: 'grpc' })
  const when = { 'X-GitHub-Event': ['issues', 'push'], '/action': ['opened', 'reopened'], '/n': ['1', 'true'] }
  const { send, sent, events } = makeHookApi({ scheme: 'github', start: ANY, when }, { metrics })
  const sendIssue = async (event: string, body: object) =>
    (await send(JSON.stringify(body), { ...JSON_TYPE, 'X-GitHub-Event': event })).status

  const wanted = [
    await sendIssue('issues', { action: 'opened', n: 1 }),
    await sendIssue('push', { action: 'reopened', n: true }),
  ]
  const others = [
    await sendIssue('issues', { action: 'labeled', n: 1 }),
    await sendIssue('issues', { n: 1 }),
    await sendIssue('Issues', { action: 'opened', n: 1 }),
    await sendIssue('issues', { action: ['opened'], n: 1 }),
    await sendIssue('issues', { action: 'opened', n: 2 }),
  ]

  expect([wanted, others, sent.length]).toEqual([[202, 202], Array(5).fill(200), 2])
  expect(metrics.text()).toContain('portico_hook_events_ignored_total{hook="h"} 5')
  const requests = events.filter(({ message }) => message === 'request').map(({ fields }) => fields)
  expect(requests.map(({ hook, ignored }) => [hook, ignored])).toEqual([
    ...wanted.map(() => ['h', undefined]),
    ...others.map(() => ['h', true]),
  ])
})

test('when: an event that is ignored needs its proof first (threat 33)', async () => {
  const { call } = makeHookApi({ scheme: 'github', start: ANY, when: { '/a': ['b'] } })
  const forged = { ...JSON_TYPE, 'X-GitHub-Event': 'ping', 'X-Hub-Signature-256': `sha256=${'0'.repeat(64)}` }

  expect(await rejection(await call('POST', '/hooks/h', '{}', forged))).toEqual([401, 'UnauthorizedError'])
})

test("token: a sender's id and headers, as GitLab sends them", async () => {
  const { send, sent } = makeHookApi({
    scheme: 'token',
    header: 'X-Gitlab-Token',
    id: { header: 'Idempotency-Key' },
    headers: ['X-Gitlab-Event', 'X-Missing'],
    start: ANY,
  })

  await send('{}', { ...JSON_TYPE, 'X-Gitlab-Event': 'Push Hook', 'X-Other': 'x' }, 'k1')

  const headers = { 'x-gitlab-event': 'Push Hook' }
  expect(sent[0]?.command).toMatchObject({ workflowId: 'hook:h:k1', args: [{ headers, body: {} }] })
})

test('bodies: an array has values, and only at its indexes', async () => {
  const { send, sent } = makeHookApi({ ...TOKEN, start: { ...ANY, workflowId: 'arr:{/0/id}' } })
  const atLength = makeHookApi({ ...TOKEN, start: { ...ANY, workflowId: 'arr:{/length}' } })

  const statuses = [
    (await send('[{"id":"a1"}]')).status,
    (await send('[]')).status,
    (await send('{"0":{"id":"b2"}}')).status,
    (await atLength.send('[1,2]')).status,
  ]

  expect(statuses).toEqual([202, 400, 202, 400])
  expect(sent.map(({ command }) => command)).toMatchObject([{ workflowId: 'arr:a1' }, { workflowId: 'arr:b2' }])
})

test('bodies: repeated fields of a form are lists', async () => {
  const { send, sent } = makeHookApi({ ...TOKEN, start: ANY })

  await send('to=a%40x&to=b%40x&to=c&from=d&__proto__=e&__proto__=f', FORM_TYPE)

  const body = JSON.parse(JSON.stringify(sent[0]?.command)).args[0]
  expect(Object.entries(body)).toEqual([
    ['to', ['a@x', 'b@x', 'c']],
    ['from', 'd'],
    ['__proto__', ['e', 'f']],
  ])
})

test.each([
  ['a form', 'name=Ren%E9e+%26+x&b=%80&empty&=', 'iso-8859-1', { name: 'Renée & x', b: '€', empty: '', '': '' }],
  ['a form with quotes', 'name=Ren%e9e&name=%C9', '"windows-1252"', { name: ['Renée', 'É'] }],
  ['a form in UTF-8', 'name=Ren%C3%A9e', 'UTF-8', { name: 'Renée' }],
])('bodies: the charset is obeyed where the sender has the token: %s', async (_what, form, charset, body) => {
  const { send, sent } = makeHookApi({ ...TOKEN, start: ANY })

  await send(form, { 'Content-Type': `${FORM_TYPE['Content-Type']}; charset=${charset}` })

  expect(sent[0]?.command).toMatchObject({ args: [body] })
})

test('bodies: a charset that is not known is a 415, and bytes that are not of it are a 400', async () => {
  const { send } = makeHookApi({ ...TOKEN, start: ANY })
  const form = (charset: string) => ({ 'Content-Type': `${FORM_TYPE['Content-Type']}; charset=${charset}` })

  expect(await rejection(await send('a=b', form('x-none')))).toEqual([415, 'UnsupportedMediaTypeError'])
  expect(await rejection(await send('a=%FF', form('shift_jis')))).toEqual([400, 'ValidationError'])
})

test('bodies: the charset of a signed body is not signed, so it is UTF-8 (threat 33)', async () => {
  const { send, sent } = makeHookApi({ scheme: 'shopify', start: START })

  await send('{"id":"é"}', { 'Content-Type': 'application/json; charset=iso-8859-1' })

  expect(sent[0]?.command).toMatchObject({ workflowId: 'order:~c3~a9' })
})

test('bodies: JSON as text is read, as SNS sends it; other text is a 415', async () => {
  const { send, sent } = makeHookApi({ ...TOKEN, start: ANY })
  const signed = makeHookApi({ scheme: 'shopify', argument: 'body', start: ANY })
  const text = { 'Content-Type': 'text/plain; charset=UTF-8' }

  const statuses = [
    (await send('{"Type":"Notification"}', text)).status,
    (await signed.send('{"id":1}', text)).status,
    (await send('hello', text)).status,
    (await send('a=b', text)).status,
  ]

  expect(statuses).toEqual([202, 202, 415, 415])
  expect(sent[0]?.command).toMatchObject({ args: [{ Type: 'Notification' }] })
})

const HUB = { scheme: 'meta', start: ANY, challenge: 'hub', verifyTokenEnv: ['SERVICE_HOOK_VERIFY'] } as const
const OKTA = { 'X-Okta-Verification-Challenge': 'abc' }

test('challenge hub: echoes the challenge only for the verify token (threat 33)', async () => {
  const { call, sent, events } = makeHookApi(HUB)
  const get = async (token: string) => {
    const response = await call('GET', `/hooks/h?hub.mode=subscribe&hub.challenge=42${token}`)
    return [response.status, (await response.text()).slice(0, 2)]
  }

  expect(await get('&hub.verify_token=verify-t0ken')).toEqual([200, '42'])
  const wrong = ['', '&hub.verify_token=', '&hub.verify_token=s3cret', '&hub.verify_token=verify-t0ke']
  expect(await Promise.all(wrong.map(get))).toEqual(wrong.map(() => [403, '{"']))
  expect(sent).toEqual([])
  expect(JSON.stringify(events)).not.toMatch(/t0ken|s3cret/)
  expect(events.filter(({ fields }) => fields.reason === 'verify token')).toHaveLength(4)
})

test('challenges query, okta and graph are answered as text or JSON, without a proof', async () => {
  const query = makeHookApi({ ...TOKEN, start: ANY, challenge: 'query' })
  const okta = makeHookApi({ ...TOKEN, start: ANY, challenge: 'okta' })
  const graph = makeHookApi({ ...TOKEN, start: ANY, challenge: 'graph' })

  const echoed = await query.call('GET', '/hooks/h?challenge=%3Cb%3E')
  const token = await graph.call('POST', '/hooks/h?validationToken=a%3A+b', '', { 'Content-Type': 'text/plain' })

  expect([echoed.status, await echoed.text()]).toEqual([200, '<b>'])
  expect(await answerOf(await okta.call('GET', '/hooks/h', undefined, OKTA))).toEqual([200, { verification: 'abc' }])
  expect([token.status, await token.text()]).toEqual([200, 'a: b'])
  for (const { headers } of [echoed, token])
    expect([headers.get('Content-Type'), headers.get('X-Content-Type-Options')]).toEqual([
      'text/plain; charset=utf-8',
      'nosniff',
    ])
  expect([query.sent, okta.sent, graph.sent]).toEqual([[], [], []])
})

const ORIGIN = { 'WebHook-Request-Origin': 'eventgrid.azure.net', 'WebHook-Request-Rate': '120' }

test('challenge cloudevents: OPTIONS is answered with the origin, without a proof, and logged with the hook', async () => {
  const { call, send, sent, events } = makeHookApi({ ...TOKEN, start: ANY, challenge: 'cloudevents' })
  const allowed = ({ status, headers }: Response) => [status, headers.get('WebHook-Allowed-Origin')]

  const handshake = await call('OPTIONS', '/hooks/h', undefined, ORIGIN)
  const others = [
    await call('OPTIONS', '/hooks/h'),
    await call('OPTIONS', '/hooks/other', undefined, ORIGIN),
    await call('OPTIONS', '/workflow/start', undefined, ORIGIN),
  ]

  expect(allowed(handshake)).toEqual([200, 'eventgrid.azure.net'])
  expect([handshake.headers.get('WebHook-Allowed-Rate'), handshake.headers.get('Allow')]).toEqual(['*', 'POST'])
  expect(others.map(allowed)).toEqual(others.map(() => [204, null]))
  expect(events[0]).toMatchObject({ message: 'request', fields: { method: 'OPTIONS', status: 200, hook: 'h' } })
  expect(sent).toEqual([])
  const event = await send('{"specversion":"1.0","id":"1"}', { 'Content-Type': 'application/cloudevents+json' })
  expect([event.status, sent.length]).toEqual([202, 1])
})

const EVENT_GRID = [{ eventType: 'Microsoft.EventGrid.SubscriptionValidationEvent', data: { validationCode: 'c1' } }]
const ZOOM = (plainToken: string) => ({ event: 'endpoint.url_validation', payload: { plainToken } })
const SLACK = { type: 'url_verification', challenge: 'c3' }

test('challenges eventgrid, zoom and slack are answered to the sender, and start nothing', async () => {
  const eventGrid = makeHookApi({ ...TOKEN, start: ANY, challenge: 'eventgrid' })
  const zoom = makeHookApi({ scheme: 'zoom', start: ANY, challenge: 'zoom' })
  const slack = makeHookApi({ scheme: 'slack', start: ANY, challenge: 'slack' })

  expect(await answerOf(await eventGrid.send(JSON.stringify(EVENT_GRID)))).toEqual([200, { validationResponse: 'c1' }])
  expect(await answerOf(await zoom.send(JSON.stringify(ZOOM('q9ibPhGeRZ6ayx5WTrXjRw'))))).toEqual([
    200,
    {
      plainToken: 'q9ibPhGeRZ6ayx5WTrXjRw',
      encryptedToken: expect.stringMatching(/^[\da-f]{64}$/),
    },
  ])
  expect(await answerOf(await slack.send(JSON.stringify(SLACK)))).toEqual([200, { challenge: 'c3' }])
  const forged = await eventGrid.call('POST', '/hooks/h', JSON.stringify(EVENT_GRID), JSON_TYPE)
  expect(forged.status).toBe(401)
  expect([eventGrid.sent, zoom.sent, slack.sent]).toEqual([[], [], []])
})

test('challenge zoom: what it signs can never be an event (threat 33)', async () => {
  const { send, sent } = makeHookApi({ scheme: 'zoom', start: ANY, challenge: 'zoom' })

  const answer = await answerOf(await send(JSON.stringify(ZOOM('v0:1800000000:{}'))))

  expect([answer[0], sent.length]).toEqual([202, 1])
})

test('a scheme signs {url}: that of the request with its query, or that below SERVICE_PUBLIC_URL (threat 33)', async () => {
  const scheme = { signature: { header: 'X-Sig' }, signed: '{url}|{body}' }
  const hook = { scheme, start: ANY, secretEnv: ['SERVICE_HOOK_A'], argument: 'body' as const }
  const secrets = { SERVICE_HOOK_A: 's3cret' }
  const statusOf = async (publicUrl: string | null, signedUrl: string) => {
    const { call } = makeHookApi(hook, { hooks: createHooks({ h: hook }, secrets, publicUrl) })
    const sample = { body: new TextEncoder().encode('{}'), url: signedUrl }
    const proof = await proofHeaders(toHook('h', hook, secrets, null), sample, Date.now())
    return (await call('POST', '/hooks/h?a=1', '{}', { ...JSON_TYPE, ...proof })).status
  }
  const [own, outer] = ['http://portico.test/hooks/h', 'https://portico.example/base/hooks/h']

  const proven = [await statusOf(null, `${own}?a=1`), await statusOf('https://portico.example/base', `${outer}?a=1`)]
  const others = [await statusOf(null, own), await statusOf('https://portico.example/base', `${own}?a=1`)]

  expect([proven, others]).toEqual([
    [202, 202],
    [401, 401],
  ])
})

test('challenges are answered only on hooks that name them', async () => {
  const { call, send, sent } = makeHookApi({ ...TOKEN, start: ANY })
  const zoom = makeHookApi({ scheme: 'zoom', start: ANY })
  const slack = makeHookApi({ scheme: 'slack', start: ANY })

  const gets = [
    await call('GET', '/hooks/h?hub.mode=subscribe&hub.challenge=42&hub.verify_token=verify-t0ken'),
    await call('GET', '/hooks/h?challenge=abc'),
    await call('GET', '/hooks/h', undefined, OKTA),
  ]
  const options = await call('OPTIONS', '/hooks/h', undefined, ORIGIN)
  const graph = await call('POST', '/hooks/h?validationToken=abc', '', { 'Content-Type': 'text/plain' })
  const events = [
    await send(JSON.stringify(EVENT_GRID)),
    await zoom.send(JSON.stringify(ZOOM('a'))),
    await slack.send(JSON.stringify(SLACK)),
  ]

  expect(await Promise.all(gets.map(rejection))).toEqual(gets.map(() => [405, 'MethodNotAllowedError']))
  expect([options.status, options.headers.has('WebHook-Allowed-Origin'), graph.status]).toEqual([204, false, 401])
  expect(events.map(({ status }) => status)).toEqual([202, 202, 202])
  expect([sent, zoom.sent, slack.sent].map(({ length }) => length)).toEqual([1, 1, 1])
})
