import { expect, test } from 'vitest'
import type { Workflows } from '../../../../src/domain/model/workflows.ts'
import { proofHeaders } from '../../../../src/http/hooks/schemes.ts'
import { inChunks, makeApi, rejecting, rejection } from '../api.ts'
import { answerOf, FORM_TYPE, JSON_TYPE, makeHookApi, START } from './hook-api.ts'

test('a request without a valid proof is a 401 with the same body for each reason, and reaches no verb', async () => {
  const { call, send, sent, events } = makeHookApi({ scheme: 'stripe', start: START })
  const signature = (seconds: number, secret = 's3cret') =>
    proofHeaders({ scheme: 'stripe', secrets: [secret], header: '' }, new TextEncoder().encode('{}'), seconds * 1000)
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
  expect(events.filter(({ message }) => message === 'request').map(({ fields }) => fields.hook)).toContain('h')
  expect(JSON.stringify(events)).not.toMatch(/s3cret|v1=/)
})

test('an unknown hook is a 404, and an operator is not a sender', async () => {
  const { call } = makeHookApi({ scheme: 'github', start: START })

  const names = ['other', 'toString', '__proto__', '%FF']
  const responses = await Promise.all(names.map((name) => call('POST', `/hooks/${name}`, '{}')))

  expect(await Promise.all(responses.map(rejection))).toEqual(names.map(() => [404, 'NotFoundError']))
  expect(await rejection(await makeApi().call('POST', '/hooks/h', '{}'))).toEqual([404, 'NotFoundError'])
  expect((await call('GET', '/hooks/h')).status).toBe(405)
})

test('hooks are those of the policy that is in force', async () => {
  const { send, hooks } = makeHookApi({ scheme: 'github', start: START })
  const before = await send('{"id":1}')

  hooks.replace({})

  expect([before.status, (await send('{"id":1}')).status]).toEqual([202, 404])
})

test('a hook exists once, not for each namespace', async () => {
  const { call } = makeHookApi({ scheme: 'github', start: START })
  const operator = { Authorization: 'Bearer operator' }

  expect((await call('POST', '/namespaces/default/hooks/h', '{}', operator)).status).toBe(404)
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

test("Slack's challenge is answered, and starts nothing", async () => {
  const { send, sent } = makeHookApi({ scheme: 'slack', start: { workflowName: 'order' } })

  const response = await send('{"type":"url_verification","challenge":"c-1"}')

  expect([await answerOf(response), sent]).toEqual([[200, { challenge: 'c-1' }], []])
})

test('a body that is neither JSON nor a form is an error after its proof was checked', async () => {
  const { call, send } = makeHookApi({ scheme: 'github', start: START })

  const responses = [
    await send('x', { 'Content-Type': 'text/plain' }),
    await send('{"id":1}', { ...JSON_TYPE, 'Content-Encoding': 'gzip' }),
    await send('{'),
    await call('POST', '/hooks/h', 'x', { 'Content-Type': 'text/plain' }),
  ]

  expect(await Promise.all(responses.map(rejection))).toEqual([
    [415, 'UnsupportedMediaTypeError'],
    [415, 'UnsupportedMediaTypeError'],
    [400, 'ValidationError'],
    [401, 'UnauthorizedError'],
  ])
})

test('a body over the limit is a 413, with and without its length', async () => {
  const { send, fetch } = makeHookApi({ scheme: 'github', start: START }, { maxBodyBytes: 10 })
  const body = new Blob(['{"id":1,"a":2}']).stream()

  expect([(await send('{"id":1}')).status, (await fetch(inChunks('/hooks/h', body, JSON_TYPE))).status]).toEqual([
    202, 413,
  ])
})

test('a body that arrives in pieces is verified as it was sent', async () => {
  const { fetch, sent } = makeHookApi({ scheme: 'github', argument: 'body', start: START })
  const body = new TextEncoder().encode('{"id":1, "a":"é"}')
  const proof = await proofHeaders({ scheme: 'github', secrets: ['s3cret'], header: '' }, body, 0)
  const pieces = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const byte of body) controller.enqueue(Uint8Array.of(byte))
      controller.close()
    },
  })

  expect((await fetch(inChunks('/hooks/h', pieces, { ...JSON_TYPE, ...proof }))).status).toBe(202)
  expect(sent[0]?.command).toMatchObject({ args: [{ id: 1, a: 'é' }] })
})

test('errors say nothing about other workflows, and an engine that is away is a 503', async () => {
  const sendTo = (start: Workflows['start']) =>
    makeHookApi({ scheme: 'github', start: START }, { workflows: { start } }).send('{"id":1}')

  const first = await sendTo(rejecting('UnsupportedWorkflowError', 'no', { available: ['secret-name'] }))
  const second = await sendTo(rejecting('EngineUnavailableError'))

  expect([first.status, await first.text()]).toEqual([424, expect.not.stringContaining('secret-name')])
  expect(await rejection(second)).toEqual([503, 'EngineUnavailableError'])
})
