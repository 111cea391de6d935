/** Webhooks on a real engine: threat 33 of docs/access.md. */
import { expect } from 'vitest'
import { until } from '../../../src/cli/dev/servers/until.ts'
import type { Answer } from '../../support/api.ts'
import { startFaultProxy } from '../../support/fault-proxy.ts'
import { type SignedScheme, signWebhook } from '../../support/sign-webhook.ts'
import { rejectionOf } from './callers.ts'
import { anId, POLICY, SECRETS, secretOf, test } from './hook-fixture.ts'

const UNAVAILABLE = { code: 14, message: 'unavailable' }

test('an event that comes again starts nothing, also when its run has closed (threat 33)', async ({ service }) => {
  const { send, resultOf } = service
  const id = anId()
  const started = await Promise.all(Array.from({ length: 5 }, () => send('stripe', { id })))
  await resultOf(`stripe:${id}`)
  const afterwards = await send('stripe', { id })
  const delivery = anId()
  const byHeader = [await send('github', { a: 1 }, delivery), await send('github', { a: 1 }, delivery)]

  const accepted = started.filter(({ status }) => status === 202)
  const repeated = [...started.filter(({ status }) => status === 200), afterwards]
  expect([accepted.length, repeated.length]).toEqual([1, 5])
  expect(repeated.map(({ body }) => body)).toEqual(repeated.map(() => ({ duplicate: true })))
  expect(byHeader.map(({ status, body }) => [status, body.workflowId ?? body])).toEqual([
    [202, `hook:github:${delivery}`],
    [200, { duplicate: true }],
  ])
})

test('a run receives the signal of an event once (threat 33)', async ({ service }) => {
  const { send, gathered, operator } = service
  const id = anId()
  await service.post('start', { workflowName: 'messages', args: [], workflowId: `run:${id}` }, operator)
  const [event, other] = [anId(), anId()]

  const first = await Promise.all([event, event, event].map((key) => send('standard', { id, n: 1 }, key)))
  await send('standard', { id, n: 2 }, other)
  const again = await send('standard', { id, n: 1 }, event)

  expect([...first, again].map(({ status }) => status)).toEqual([202, 202, 202, 202])
  expect(await gathered(`run:${id}`)).toEqual([
    { id, n: 1 },
    { id, n: 2 },
  ])
  expect((await send('standard', { id: anId() })).status).toBe(404)
  await service.post(`run:${id}/terminate`, {}, operator)
  expect((await send('standard', { id, n: 3 })).status).toBe(409)
})

test('an event that starts or signals counts once, also when its sender signs it again (threat 33)', async ({
  service,
}) => {
  const { deliver, send, gathered, operator } = service
  const id = anId()
  const [event, other] = [anId(), anId()]
  const body = JSON.stringify({ id })
  const later = signWebhook.standard({
    secret: SECRETS.SERVICE_HOOK_STANDARD,
    body,
    id: event,
    seconds: Math.floor(Date.now() / 1000) + 30,
  })

  const first = await send('both', { id }, event)
  // The headers differ, and so does the argument.
  const retried = await deliver('both', body, later)
  const second = await send('both', { id }, other)
  const twice = await send('both', { id }, other)

  expect([first, retried, second].map(({ status }) => status)).toEqual([202, 200, 202])
  expect(twice.status).toBeLessThan(300)
  const events = await gathered(`both:${id}`)
  expect(events.map((one: { headers: Record<string, string> }) => one.headers['webhook-id'])).toEqual([event, other])
  await service.post(`both:${id}/terminate`, {}, operator)
})

test('a body decides the id and the argument, whatever else it has (threat 33)', async ({
  service,
  client,
  catalog,
}) => {
  const { send, lines } = service
  const id = `${anId()}:*/../x`
  const asking = {
    id,
    workflowName: 'messages',
    workflowId: 'other',
    catalog: 'other',
    taskQueue: 'other',
    name: 'finish',
    memo: { a: 1 },
    options: { memo: { a: 1 } },
    headers: { authorization: 'x' },
    workflowIdReusePolicy: 'allow-duplicate',
    workflowIdConflictPolicy: 'terminate-existing',
    idempotencyKey: 'k',
    namespace: 'other',
    __proto__: { polluted: true },
  }

  const answer = await send('stripe', asking)

  const workflowId = `stripe:${id.replaceAll(':', '~3a').replaceAll('*', '~2a').replaceAll('/', '~2f')}`
  expect(answer).toMatchObject({ status: 202, body: { workflowId } })
  const description = await client.workflow.getHandle(workflowId).describe()
  expect([description.type, description.taskQueue, description.memo]).toEqual(['echo', catalog, {}])
  const { events } = await client.workflow.getHandle(workflowId).fetchHistory()
  const [started] = events ?? []
  expect(started?.workflowExecutionStartedEventAttributes).toMatchObject({ identity: 'portico hook:stripe' })
  const audited = await until('it is audited', () =>
    lines.find(({ message, requestId }) => message === 'audit' && requestId === answer.headers.get('X-Request-Id')),
  )
  expect(audited).toMatchObject({
    caller: 'hook:stripe',
    rule: 'hook:stripe',
    action: 'start',
    namespace: 'default',
    workflowId,
    workflowName: 'echo',
    status: 202,
  })
})

test('a signal is audited with its hook, and a rejected request is not audited (threat 27)', async ({
  service,
  client,
}) => {
  const { send, deliver, lines } = service
  const id = anId()

  const answer = await send('both', { id })
  const rejected = await deliver('both', '{}', {})

  const { events } = await client.workflow.getHandle(`both:${id}`).fetchHistory()
  const identities = (events ?? []).flatMap((event) => event.workflowExecutionSignaledEventAttributes?.identity ?? [])
  expect(identities).toEqual(['portico hook:both'])
  const auditOf = ({ headers }: Answer) =>
    lines.filter(({ message, requestId }) => message === 'audit' && requestId === headers.get('X-Request-Id'))
  // It has started the run, too.
  expect([auditOf(answer).length, auditOf(rejected).length]).toEqual([2, 0])
})

test("the argument must match the workflow's schema, and a sender does not learn of other workflows (threat 70)", async ({
  service,
}) => {
  const { send, resultOf } = service
  const id = anId()

  const wrong = await send('checked', { id, ms: 'x' })
  const right = await send('checked', { id, ms: 1 })
  const unknown = await send('unknown', {})

  expect(wrong).toMatchObject({ status: 400, body: { error: 'ValidationError' } })
  expect([right.status, (await resultOf(`checked:${id}`)).status]).toEqual([202, 'completed'])
  expect(unknown).toMatchObject({ status: 424, body: { error: 'UnsupportedWorkflowError' } })
  expect(unknown.body).not.toHaveProperty('available')
})

test('while the engine is away a sender gets a 503, and its next attempt succeeds (failure 1)', async ({
  serve,
  engine,
  catalog,
  worker: _,
  onTestFinished,
}) => {
  const proxy = await startFaultProxy(engine.address, engine.httpUrl)
  onTestFinished(() => proxy.stop())
  const service = serve({
    SERVICE_CATALOG_ID: catalog,
    SERVICE_POLICY: POLICY,
    ENGINE_ADDRESS: proxy.address,
    ...SECRETS,
  })
  const body = JSON.stringify({ id: anId() })
  const send = () =>
    service.call('POST', '/hooks/stripe', body, {
      'Content-Type': 'application/json',
      ...signWebhook.stripe({ secret: SECRETS.SERVICE_HOOK_STRIPE, body }),
    })
  const isBack = proxy.on({ method: 'StartWorkflowExecution', containing: '', fault: UNAVAILABLE })

  const away = await send()
  isBack()
  const back = await send()
  const again = await send()

  expect(away).toMatchObject({ status: 503, body: { error: 'EngineUnavailableError' } })
  expect([back.status, again.status]).toEqual([202, 200])
})

test('a signed JSON event cannot be read as a form, in which its text would choose the id (threat 33)', async ({
  service: { deliver },
}) => {
  const id = anId()
  const body = JSON.stringify({ id, title: `a&id=forged-${id}&payload={}&b` })
  const form = { 'Content-Type': 'application/x-www-form-urlencoded' }
  const sentAsForm = (hook: 'checked' | 'slack' | 'stripe', scheme: SignedScheme) =>
    deliver(hook, body, { ...signWebhook[scheme]({ secret: secretOf(scheme), body }), ...form })

  const answers = [
    await sentAsForm('checked', 'github'),
    await sentAsForm('slack', 'slack'),
    await sentAsForm('stripe', 'stripe'),
  ]
  const fields = `id=${id}`
  const neverSent = signWebhook.stripe({ secret: SECRETS.SERVICE_HOOK_STRIPE, body: fields })
  const unexpected = await deliver('stripe', fields, { ...neverSent, ...form })

  expect([...answers, unexpected].map(rejectionOf)).toEqual(
    Array(4).fill([415, 'UnsupportedMediaTypeError', undefined]),
  )
})
