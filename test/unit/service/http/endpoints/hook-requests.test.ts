import { expect, test, vi } from 'vitest'
import { createByteBudget } from '../../../../../src/service/http/pipeline/byte-budget.ts'
import type { Workflows } from '../../../../../src/service/verbs.ts'
import type { HookScheme } from '../../../../../src/shared/hooks/hook-schemes.ts'
import { proofHeaders } from '../../../../../src/shared/hooks/schemes.ts'
import { inChunks, makeApi, rejecting, rejection } from '../api.ts'
import { FORM_TYPE, JSON_TYPE, makeHookApi, START } from './hook-api.ts'

test('a request without a valid proof is a 401 with the same body for each reason, which the log has, and reaches no verb (threat 70)', async () => {
  const { call, send, sent, events } = makeHookApi({ scheme: 'stripe', start: START })
  const signature = (seconds: number, secret = 's3cret') =>
    proofHeaders(
      { scheme: 'stripe', secrets: [secret], header: '' },
      { body: new TextEncoder().encode('{}'), url: '' },
      seconds * 1000,
    )
  const now = Math.floor(Date.now() / 1000)
  const sentHeaders = [
    {},
    { 'Stripe-Signature': '' },
    { 'Stripe-Signature': `t=${now},v1=` },
    await signature(now, 'other'),
    await signature(now - 400),
    await signature(now + 400),
    { Authorization: 'Bearer operator' },
  ]

  const responses = await Promise.all(sentHeaders.map((headers) => call('POST', '/hooks/h', '{}', headers)))
  await send('{"id":1}')

  const bodies = await Promise.all(responses.map(async (response) => ({ ...(await response.json()), requestId: '' })))
  expect(responses.map(({ status }) => status)).toEqual(responses.map(() => 401))
  expect(new Set(bodies.map((body) => JSON.stringify(body))).size).toBe(1)
  expect(sent).toHaveLength(1)
  const logged = events.filter(({ message }) => message === 'request').map(({ fields }) => fields)
  expect(logged.map(({ hook, reason }) => `${hook}: ${reason}`).toSorted()).toEqual([
    ...['h: header missing', 'h: header missing', 'h: header missing'],
    ...['h: signature', 'h: signature', 'h: timestamp', 'h: timestamp', 'h: undefined'],
  ])
  expect(JSON.stringify(events)).not.toMatch(/s3cret|v1=/)
})

test('an unknown hook is a 404, and an operator is not a sender (threat 70)', async () => {
  const { call } = makeHookApi({ scheme: 'github', start: START })

  const names = ['other', 'toString', '__proto__', '%FF']
  const responses = await Promise.all(names.map((name) => call('POST', `/hooks/${name}`, '{}')))

  expect(await Promise.all(responses.map(rejection))).toEqual(names.map(() => [404, 'NotFoundError']))
  expect(await rejection(await makeApi().call('POST', '/hooks/h', '{}'))).toEqual([404, 'NotFoundError'])
  const get = await call('GET', '/hooks/h')
  expect([get.status, get.headers.get('Allow')]).toEqual([405, 'POST'])
})

test('hooks are those of the policy that is in force', async () => {
  const { send, hooks } = makeHookApi({ scheme: 'github', start: START })
  const before = await send('{"id":1}')

  hooks.replace({})

  expect([before.status, (await send('{"id":1}')).status]).toEqual([202, 404])
})

test('a form becomes an object of strings; the payload of Slack and GitHub is JSON', async () => {
  const form = 'a=1&b=x+y&payload=%7B%22id%22%3A7%7D'
  const start = { workflowName: 'order', workflowId: '{/a}:{/payload/id}' }
  const slack = makeHookApi({ scheme: 'slack', argument: 'body', start })
  const token = makeHookApi({ scheme: 'token', argument: 'body', start: { workflowName: 'order', workflowId: '{/a}' } })

  const response = await slack.send(form, FORM_TYPE)
  await token.send(form, FORM_TYPE)
  const broken = await slack.send('payload=x', FORM_TYPE)

  expect([response.status, await response.text()]).toEqual([200, ''])
  expect(slack.sent[0]?.command).toMatchObject({
    workflowId: '1:7',
    args: [{ a: '1', b: 'x y', payload: { id: 7 } }],
  })
  expect(token.sent[0]?.command).toMatchObject({ args: [{ a: '1', b: 'x y', payload: '{"id":7}' }] })
  expect(await rejection(broken)).toEqual([400, 'ValidationError'])
})

test('a body that is neither JSON nor a form is an error after its proof was checked (threat 33)', async () => {
  const { call, send } = makeHookApi({ scheme: 'github', start: START })

  const responses = [
    await send('x', { 'Content-Type': 'text/plain' }),
    await send('--x', { 'Content-Type': 'multipart/form-data; boundary=x' }),
    await send('{"id":1}', { ...JSON_TYPE, 'Content-Encoding': 'gzip' }),
    await send('{'),
    await call('POST', '/hooks/h', 'x', { 'Content-Type': 'text/plain' }),
  ]

  expect(await Promise.all(responses.map(rejection))).toEqual([
    [415, 'UnsupportedMediaTypeError'],
    [415, 'UnsupportedMediaTypeError'],
    [415, 'UnsupportedMediaTypeError'],
    [400, 'ValidationError'],
    [401, 'UnauthorizedError'],
  ])
})

test('a body over the limit is a 413, with and without its length (threat 45)', async () => {
  const { send, fetch } = makeHookApi({ scheme: 'github', start: START }, { maxBodyBytes: 10 })
  const body = new Blob(['{"id":1,"a":2}']).stream()
  const headers = { ...JSON_TYPE, 'X-Hub-Signature-256': `sha256=${'0'.repeat(64)}` }

  expect([(await send('{"id":1}')).status, (await fetch(inChunks('/hooks/h', body, headers))).status]).toEqual([
    202, 413,
  ])
})

/** A body that never ends, and the function that lets it fail. */
function unfinished(bytes = 0) {
  const { promise, reject } = Promise.withResolvers<never>()
  let isSent = false
  const stream = new ReadableStream<Uint8Array>({
    async pull(controller) {
      if (isSent || bytes === 0) return promise
      controller.enqueue(new Uint8Array(bytes))
      isSent = true
    },
  })
  return { stream, fail: () => reject(new Error('the sender has left')) }
}

test('what headers alone can reject is rejected before the body arrives (threat 106)', async () => {
  const now = Math.floor(Date.now() / 1000)
  const [hex, base64] = ['0'.repeat(64), `${'A'.repeat(43)}=`]
  const cases: [HookScheme, Record<string, string>][] = [
    ['token', {}],
    ['token', { Authorization: 'Bearer other' }],
    ['github', {}],
    ['github', { 'X-Hub-Signature-256': 'sha256=00' }],
    ['stripe', { 'Stripe-Signature': `t=${now - 400},v1=${hex}` }],
    ['stripe', { 'Stripe-Signature': `t=${now},v0=${hex}` }],
    ['slack', { 'X-Slack-Signature': `v0=${hex}` }],
    ['standard', { 'webhook-id': '1', 'webhook-timestamp': `${now - 400}`, 'webhook-signature': `v1,${base64}` }],
    ['standard', { 'webhook-id': '1', 'webhook-timestamp': `${now}`, 'webhook-signature': `v1,${hex}` }],
  ]

  const statuses = await Promise.all(
    cases.map(async ([scheme, headers]) => {
      const { fetch } = makeHookApi({ scheme, start: START }, { bodyTimeoutMs: 60_000 })
      const { stream } = unfinished()
      return (await fetch(inChunks('/hooks/h', stream, { ...JSON_TYPE, ...headers }))).status
    }),
  )

  expect(statuses).toEqual(cases.map(() => 401))
})

test('bodies that are not verified yet have a common limit, and one that has ended gives its share back (threat 106)', async () => {
  const unproven = createByteBudget(100_000)
  const { fetch, send } = makeHookApi({ scheme: 'github', start: START }, { unproven })
  const forged = { ...JSON_TYPE, 'X-Hub-Signature-256': `sha256=${'0'.repeat(64)}` }
  const held = unfinished(90_000)
  const first = fetch(inChunks('/hooks/h', held.stream, forged))
  await vi.waitFor(async () => expect((await send('{"id":1}')).status).toBe(503))

  const rejected = await send('{"id":1}')
  held.fail()
  const left = await first
  const wrong = await fetch(inChunks('/hooks/h', new Blob(['x'.repeat(90_000)]).stream(), forged))

  expect([await rejection(rejected), rejected.headers.get('Retry-After')]).toEqual([[503, 'OverloadedError'], '1'])
  expect([left.status, wrong.status]).toEqual([400, 401])
  expect((await send(`{"id":"${'x'.repeat(200)}"}`)).status).toBe(202)
  const share = unproven.open()
  share.take(100_000)
})

test('errors say nothing about other workflows, and an engine that is away is a 503 (threat 70)', async () => {
  const sendTo = (start: Workflows['start']) =>
    makeHookApi({ scheme: 'github', start: START }, { workflows: { start } }).send('{"id":1}')

  const first = await sendTo(rejecting('UnsupportedWorkflowError', 'no', { available: ['secret-name'] }))
  const second = await sendTo(rejecting('EngineUnavailableError'))

  expect([first.status, await first.text()]).toEqual([424, expect.not.stringContaining('secret-name')])
  expect(await rejection(second)).toEqual([503, 'EngineUnavailableError'])
})
