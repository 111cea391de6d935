import { expect, test } from 'vitest'
import type { AuditMode } from '../../../../../src/service/http/pipeline/observe.ts'
import type { AuditFacts, Call } from '../../../../../src/service/model/call.ts'
import { ServiceError } from '../../../../../src/service/model/errors.ts'
import { createMetrics } from '../../../../../src/service/telemetry/metrics.ts'
import { parseMetrics } from '../../../../support/prometheus.ts'
import { makeApi, running } from '../api.ts'
import { bearer, tokenPolicy } from '../policies.ts'

test('log: one line for each request, with its facts and without the query string (threat 28)', async () => {
  const { call, events } = makeApi({
    workflows: {
      status: async (_ref, { note }) => {
        note({ rpcs: 1 })
        return running
      },
    },
  })

  await call('GET', '/workflow/w/status?token=s3cret', undefined, { 'X-Request-Id': 'mine' })

  expect(events).toEqual([
    {
      level: 'info',
      message: 'request',
      fields: {
        requestId: 'mine',
        method: 'GET',
        route: '/workflow/:id/status',
        status: 200,
        ms: expect.any(Number),
        rpcs: 1,
      },
    },
  ])
})

test('log: a line says which run the request is about, who sent it, and why it was rejected', async () => {
  const { call, events } = makeApi({
    auth: { policy: tokenPolicy({ name: 'ci', can: ['*'] }) },
    workflows: {
      status: async ({ ref }, { audit, noteRun }) => {
        audit({ action: 'read', rule: 'ci', ...ref })
        for (const runId of ['r', 'next']) noteRun?.({ workflowId: 'w', runId, workflowName: 'order' })
        return running
      },
      start: () =>
        Promise.reject(new ServiceError('WorkflowAlreadyStartedError', 'no', { details: { workflowId: 'x' } })),
    },
  })

  await call('GET', '/workflow/w/status', undefined, bearer('ci'))
  await call('GET', '/workflow/other/status', undefined, bearer('ci'))
  await call('GET', '/workflow/w/none', undefined, bearer('ci'))
  await call('POST', '/workflow/start', { workflowName: 'order', workflowId: 'x', input: 1 }, bearer('ci'))
  await call('POST', '/workflow/start', { workflowName: 7, password: 'hunter2' }, bearer('ci'))
  await call('GET', '/workflow/w/status', undefined, bearer('none'))

  const facts = events
    .filter(({ message }) => message === 'request')
    .map(({ fields: { workflowId, runId, workflowName, caller, reason } }) => [
      workflowId,
      runId,
      workflowName,
      caller,
      reason,
    ])
  expect(facts).toEqual([
    ['w', 'r', 'order', 'token:ci', undefined],
    ['other', undefined, undefined, 'token:ci', undefined],
    [undefined, undefined, undefined, 'token:ci', 'NotFoundError'],
    ['x', undefined, undefined, 'token:ci', 'WorkflowAlreadyStartedError'],
    [undefined, undefined, undefined, 'token:ci', '/workflowName is not valid'],
    [undefined, undefined, undefined, undefined, 'unknown token'],
  ])
  expect(JSON.stringify(events)).not.toMatch(/hunter2|ptc_none/)
})

test('log: the route is the one that handles the request, if several match', async () => {
  const { call, events } = makeApi()

  await call('POST', '/workflow/signal-with-start/pause')

  expect(events).toMatchObject([{ fields: { route: '/workflow/signal-with-start/:name' } }])
})

test('log: a failing workflow task is logged with its failure, a client error without its cause', async () => {
  const cause = new Error('boom')
  const { call, events } = makeApi({
    workflows: { query: () => Promise.reject(new ServiceError('WorkflowNotReadyError', 'no', { cause })) },
  })

  await call('POST', '/workflow/w/query/q')
  await call('POST', '/workflow/w/query/q', '{"payload":s3cret}')

  expect(events.map((event) => event.fields.cause)).toEqual([cause, undefined])
})

const BUILD = { version: '1', runtime: 'node', transport: 'grpc' }

/** The app with the audit log. Its verbs set these facts, as the guard of the domain does. */
function auditedApi(audit: AuditMode, facts: Partial<AuditFacts> = { rule: 'ci', workflowId: 'w', runId: 'r' }) {
  const metrics = createMetrics(BUILD)
  const decide = (call: Call, action: string) => call.audit({ action, ...facts })
  const api = makeApi({
    audit,
    metrics,
    readMetrics: () => '',
    auth: {
      tokens: ['s3cret'],
      policy: tokenPolicy({ name: 'ci', can: ['read', 'signal:approve', 'update', 'metrics'] }),
    },
    workflows: {
      async status(_, call) {
        decide(call, 'read')
        return running
      },
      async readUpdate(_, call) {
        decide(call, 'update:set')
        throw new ServiceError('UpdateNotFoundError', 'none')
      },
      async signal({ message: { name } }, call) {
        decide(call, `signal:${name}`)
        if (name === 'late') throw new ServiceError('WorkflowNotRunningError', 'over')
        return { workflowId: 'w', runId: 'r', warnings: [] }
      },
    },
  })
  const call = (method: string, path: string, token = 'ci') => api.call(method, path, undefined, bearer(token))
  const lines = () => api.events.filter(({ message }) => message === 'audit').map(({ fields }) => fields)
  return { ...api, call, lines, metrics }
}

const READ = '/workflow/w/status'
const SIGNAL = '/workflow/w/signal/approve'

test('audit: one line has who did what, to which run, by which rule, and how it ended (threat 27)', async () => {
  const { call, lines, events } = auditedApi('effects')

  const response = await call('POST', `${SIGNAL}?secret=1`)

  expect(lines()).toEqual([
    {
      requestId: response.headers.get('X-Request-Id'),
      caller: 'token:ci',
      rule: 'ci',
      action: 'signal:approve',
      namespace: 'default',
      workflowId: 'w',
      runId: 'r',
      status: 200,
    },
  ])
  expect(events.map(({ level, message }) => [level, message])).toEqual([
    ['info', 'audit'],
    ['info', 'request'],
  ])
})

test.for<[mode: AuditMode, actions: string[]]>([
  ['off', []],
  ['effects', ['signal:approve', 'terminate']],
  ['all', ['read', 'signal:approve', 'terminate', 'metrics']],
])('audit: %s records %j', async ([mode, actions]) => {
  const { call, lines, metrics } = auditedApi(mode)

  for (const [method, path] of [
    ['GET', READ],
    ['POST', SIGNAL],
    ['POST', '/workflow/w/terminate'],
    ['GET', '/metrics'],
    ['GET', '/health'],
  ] as const)
    await call(method, path)

  expect(lines().map(({ action }) => action)).toEqual(actions)
  expect(metrics.text().match(/portico_denied_total\{.*/g)).toEqual([
    'portico_denied_total{action="terminate",rule="none"} 1',
  ])
})

test('audit: a denial is recorded with the rule none, and counted without the name of a handler (threats 27, 30)', async () => {
  const { call, lines, metrics } = auditedApi('effects', { rule: 'none' })

  await call('GET', READ)
  await call('POST', SIGNAL)
  await call('POST', '/workflow/w/query/state')

  expect(lines()).toMatchObject([
    { action: 'read', rule: 'none', caller: 'token:ci' },
    { action: 'signal:approve', rule: 'none' },
    { action: 'query', rule: 'none', status: 403, error: 'ForbiddenError' },
  ])
  const denied = parseMetrics(metrics.text()).filter(({ name }) => name === 'portico_denied_total')
  expect(denied.map(({ labels, value }) => [labels, value])).toEqual(
    ['read', 'signal', 'query'].map((action) => [{ action, rule: 'none' }, 1]),
  )
})

test('audit: reading an update is no change, although it needs the same right', async () => {
  const { call, lines } = auditedApi('effects')

  const { status } = await call('GET', '/workflow/w/update/set/u1')

  expect([status, lines()]).toEqual([404, []])
})

test('audit: an operator is recorded without a rule', async () => {
  const { call, lines } = auditedApi('effects', { rule: null })

  await call('POST', SIGNAL, 's3cret')

  expect(lines()).toMatchObject([{ caller: 'operator', rule: null, action: 'signal:approve' }])
})
