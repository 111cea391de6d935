/** What is recorded: threats 27, 28 and 30 of docs/access.md. */
import type { Client } from '@temporalio/client'
import { expect } from 'vitest'
import { ENDPOINTS } from '../../../src/service/endpoints.ts'
import type { Answer, Api } from '../../support/api.ts'
import type { InProcessService } from '../../support/fixtures.ts'
import { parseMetrics } from '../../support/prometheus.ts'
import { requestTo } from '../endpoints.ts'
import {
  historyLengthOf,
  OPERATOR,
  testWithCallers,
  tokenOf,
  tokenRule,
  untilAsked,
  untilCanceling,
  untilOpen,
} from './callers.ts'

const RULES = [
  tokenRule('ci', { can: ['*'], ids: ['ci:*'], options: ['workflowIdConflictPolicy', 'priority'] }),
  { name: 'users', who: { jwt: 'main' }, can: ['start', 'read'], ids: ['u:{sub}:*'] },
  { name: 'some-users', who: { jwt: 'main', claims: { plan: 'slow' } }, can: ['read'], limits: { perSecond: 0.001 } },
]

const test = testWithCallers(RULES)

test("the engine's history says who started, signaled, updated, canceled and terminated a run (threat 27)", async ({
  startCallers,
  client,
}) => {
  const { as, operator, withClaims } = await startCallers()
  const ada = await withClaims({ sub: 'Ada', email: 'ada@secret.example' })
  const workflowId = `ci:${crypto.randomUUID()}`
  const { body } = await as('ci').post('signal-with-start/add', { workflowName: 'messages', input: null, workflowId })
  await as('ci').post(`${workflowId}/signal/add`, { payload: 1 })
  await as('ci').post(`${workflowId}/update/set`, { payload: 1 })
  await as('ci').post(`${workflowId}/update/validated`, { payload: 1 }, { Prefer: 'respond-async' })
  await as('ci').call('PATCH', `/workflow/${workflowId}/stop`)
  const terminated = (await as('ci').start('messages')).body.workflowId
  await operator.post(`${terminated}/terminate`)
  const started = await ada.start('nothing')
  const eventsOf = async (id: string) => (await client.workflow.getHandle(id).fetchHistory()).events ?? []
  const events = [...(await eventsOf(workflowId)), ...(await eventsOf(terminated))]
  const [startOfAda] = await eventsOf(started.body.workflowId)

  const identities = events.flatMap((event) => [
    event.workflowExecutionStartedEventAttributes?.identity,
    event.workflowExecutionSignaledEventAttributes?.identity,
    event.workflowExecutionUpdateAcceptedEventAttributes?.acceptedRequest?.meta?.identity,
    event.workflowExecutionCancelRequestedEventAttributes?.identity,
    event.workflowExecutionTerminatedEventAttributes?.identity,
  ])
  // Start, two signals, two updates, the cancellation; another start, and its end by the operator.
  expect(identities.filter((identity) => identity != null)).toEqual([
    ...Array(7).fill('portico token:ci'),
    'portico operator',
  ])
  expect(startOfAda?.workflowExecutionStartedEventAttributes?.identity).toBe('portico jwt:main:~41da')
  const shown = await as('ci').get(`${workflowId}/runs/${body.runId}/history?pageSize=1000`)
  expect(shown.text).not.toContain('portico token:ci')
})

const UPDATE = ['workflowExecutionUpdateAccepted', 'workflowExecutionUpdateCompleted']

/** The events of a history that say who has sent each request that changes runs. */
const RECORDED_IN: Readonly<Record<string, string[]>> = {
  '/workflow/start': ['workflowExecutionStarted'],
  '/workflow/run': ['workflowExecutionStarted'],
  '/workflow/signal-with-start/:name': ['workflowExecutionStarted', 'workflowExecutionSignaled'],
  '/workflow/update-with-start/:name': ['workflowExecutionStarted', ...UPDATE],
  '/workflow/:id/signal/:name': ['workflowExecutionSignaled'],
  '/workflow/:id/stream': ['workflowExecutionSignaled'],
  '/workflow/:id/questions/:questionKey/answer': ['workflowExecutionSignaled'],
  '/workflow/:id/update/:name': UPDATE,
  '/workflow/:id/stop': ['workflowExecutionCancelRequested'],
  '/workflow/:id/terminate': ['workflowExecutionTerminated'],
  '/workflow/:id/pause': ['workflowExecutionPaused'],
  '/workflow/:id/unpause': ['workflowExecutionUnpaused'],
  '/workflow/:id/activities/:activityId/complete': ['activityTaskCompleted'],
  '/workflow/:id/activities/:activityId/fail': ['activityTaskFailed'],
  '/workflow/:id/activities/:activityId/cancel': ['activityTaskCanceled'],
  // Neither a heartbeat nor a repair of an activity is an event.
  '/workflow/:id/activities/:activityId/heartbeat': [],
  '/workflow/:id/activities/:activityId/retry': [],
  '/workflow/:id/activities/:activityId/pause': [],
  '/workflow/:id/activities/:activityId/unpause': [],
  '/workflow/:id/activities/:activityId': [],
  '/workflow/:id/options': ['workflowExecutionOptionsUpdated'],
  // The engine gets the identity, and writes its own: "history-service" and "history-resetter".
  '/workflow/:id/reset': [],
}

function workflowOf(path: string): string {
  if (path === '/workflow/:id/stream') return 'streamSignals'
  if (path.startsWith('/workflow/:id/questions/')) return 'asksPerson'
  return path.startsWith('/workflow/:id/activities/') ? 'completesOutside' : 'messages'
}

const CHANGES = ['start', 'signal', 'update', 'complete', 'repair', 'stop', 'terminate', 'pause', 'reset']
const WRITES = ENDPOINTS.filter(
  ({ id, method, access }) => method !== 'get' && CHANGES.includes(access ?? '') && id !== 'validateRequest',
)

test('each change of a run is one audit line, and the engine records its caller for all but a reset (threat 27)', async ({
  startCallers,
  client,
}) => {
  const { service, as, operator } = await startCallers()
  const lines = auditOf(service)

  for (const endpoint of WRITES) {
    const path = endpoint.path.replace('/runs/:rid', '')
    const workflowId = `ci:${crypto.randomUUID()}`
    const input = path.includes('/activities/') ? { retryInterval: '1h' } : {}
    const { runId } = (await operator.start(workflowOf(path), input, { workflowId })).body
    await historyLengthOf(client, workflowId)
    await prepare(operator, path, workflowId)
    const answer = await as('ci').call(...requestTo(endpoint, { workflowId, runId }))

    const changed = path.startsWith('/workflow/:id/') ? { workflowId, runId } : answer.body
    const events = await eventsOfCaller(client, changed, 'portico token:ci')
    const audited = lines(answer).map(({ caller, action }) => [caller, action?.split(':')[0]])
    expect([path, answer.status < 300, ...events]).toEqual([path, true, ...(RECORDED_IN[path] ?? ['not in the table'])])
    expect([path, ...audited]).toEqual([path, ...actionsOf(endpoint).map((action) => ['token:ci', action])])
    if (answer.body.runId !== runId) await operator.post(`${answer.body.workflowId}/terminate`)
    await operator.post(`${workflowId}/terminate`)
  }
  expect(new Set(WRITES.map(({ path }) => path.replace('/runs/:rid', '')))).toEqual(new Set(Object.keys(RECORDED_IN)))
})

test('a start that terminates the open run is two audit lines, and its caller stands in the new run (threat 27)', async ({
  startCallers,
  client,
}) => {
  const { service, as, operator } = await startCallers()
  const lines = auditOf(service)
  const workflowId = `ci:${crypto.randomUUID()}`
  const before = (await operator.start('messages', null, { workflowId })).body

  const start = await as('ci').start('messages', null, { workflowId, workflowIdConflictPolicy: 'terminate-existing' })
  const ended = await operator.get(`${workflowId}/runs/${before.runId}/status`)

  expect([start.status, ended.body.status]).toEqual([200, 'terminated'])
  const line = { caller: 'token:ci', rule: 'ci', status: 200 }
  expect(lines(start)).toMatchObject([
    { ...start.body, ...line, action: 'start' },
    { ...line, action: 'terminate', workflowId },
  ])
  expect(await eventsOfCaller(client, start.body, 'portico token:ci')).toEqual(['workflowExecutionStarted'])
  // The engine itself ends the other run.
  expect(await eventsOfCaller(client, before, 'portico token:ci')).toEqual([])
})

test('changes by tools of agents are audit lines, and have the identity of their caller (threat 27)', async ({
  startCallers,
  client,
}) => {
  const { service, as, operator } = await startCallers()
  const lines = auditOf(service)
  const workflowId = `ci:${crypto.randomUUID()}`
  const run = (await operator.start('messages', null, { workflowId })).body
  // During a workflow task the engine would not record the request to cancel yet.
  await historyLengthOf(client, workflowId)
  const callTool = (name: string, given: object) =>
    as('ci').call('POST', '/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: given } })

  const start = await callTool('echo', { input: 1 })
  const stop = await callTool('workflow_stop', { workflowId })

  const started = start.body.result.structuredContent
  expect(lines(start)).toMatchObject([{ caller: 'token:ci', action: 'start', workflowId: started.workflowId }])
  expect(lines(stop)).toMatchObject([{ caller: 'token:ci', action: 'stop', workflowId }])
  expect(await eventsOfCaller(client, started, 'portico token:ci')).toEqual(['workflowExecutionStarted'])
  expect(await eventsOfCaller(client, run, 'portico token:ci')).toEqual(['workflowExecutionCancelRequested'])
})

test('one audit line has each change and each denial, also with the log level error (threat 27)', async ({
  startCallers,
}) => {
  const { service, as, operator } = await startCallers({ SERVICE_LOG_LEVEL: 'error' })
  const lines: object[] = []
  service.onLine((line) => lines.push(JSON.parse(line)))
  const ci = as('ci')
  const workflowId = `ci:${crypto.randomUUID()}`

  const start = await ci.start('messages', 'argument', { workflowId })
  await ci.get(`${workflowId}/status?secret=1`)
  await ci.post(`${workflowId}/signal/add`, { payload: 'argument' })
  await ci.get('foreign/status')
  await ci.post(`${workflowId}/update/set`, { payload: 1 })
  await ci.post(`${workflowId}/update/set`, { payload: 1 }, { Prefer: 'respond-async' })
  await ci.post(`${workflowId}/update/validated`, { payload: -1 })
  await operator.post(`${workflowId}/terminate`)
  await ci.post(`${workflowId}/signal/add`, { payload: 1 })

  const run = { workflowId, runId: start.body.runId }
  const line = { message: 'audit', level: 'info', caller: 'token:ci', rule: 'ci', namespace: 'default', status: 200 }
  expect(lines).toMatchObject([
    { ...line, action: 'start', ...run, workflowName: 'messages', requestId: start.headers.get('X-Request-Id') },
    { ...line, action: 'signal:add', workflowId },
    { ...line, action: 'read', rule: 'none', workflowId: 'foreign', status: 403, error: 'ForbiddenError' },
    { ...line, action: 'update:set', ...run },
    { ...line, action: 'update:set', ...run, status: 202 },
    { ...line, action: 'update:validated', ...run, status: 422, error: 'UpdateFailedError' },
    { ...line, caller: 'operator', rule: null, action: 'terminate', workflowId },
    { ...line, action: 'signal:add', workflowId, status: 409, error: 'WorkflowNotRunningError' },
  ])
  expect(JSON.stringify(lines)).not.toContain('argument')
})

test('no line of the log has a credential, a claim, an argument or a query string (threat 28)', async ({
  startCallers,
}) => {
  const { service, as, operator, withClaims } = await startCallers({ SERVICE_AUDIT: 'all' })
  const lines: string[] = []
  service.onLine((line) => lines.push(line))
  const claims = { sub: 'ada', email: 'ada@hidden.example', realm: { roles: ['hidden-role'] } }
  const ada = await withClaims(claims)
  const expired = await withClaims({ ...claims, exp: 1 })
  const api = [ada, expired, as('ci'), as('wrong', 'hidden-token'), operator]

  for (const one of api) {
    const { body } = await one.start('messages', { user: 'hidden-input' }, { workflowId: undefined })
    const id = String(body.workflowId ?? 'ci:1')
    await one.post(`${id}/signal/add?hidden-query=1`, { payload: 'hidden-payload' })
    await one.get(`runs?${new URLSearchParams({ query: "WorkflowId = 'hidden-query'" })}`)
    await one.post(`${id}/query/state`, '{"payload": "hidden-broken')
    await one.call('PATCH', `/workflow/${id}/stop`, { reason: 'hidden-reason' })
  }
  for (const authorization of [
    'Basic hidden',
    'Digest hidden',
    `Bearer ${'hidden'.repeat(2000)}`,
    'hidden.hidden.hidden',
  ])
    await operator.get('runs', { Authorization: authorization })

  expect(lines.length).toBeGreaterThan(40)
  const tokens = [OPERATOR, tokenOf('ci'), 'eyJ', 'Basic', 'Bearer', 'sha256']
  expect(lines.filter((line) => line.includes('hidden') || tokens.some((token) => line.includes(token)))).toEqual([])
})

test('metrics have the names of rules and actions alone, whatever callers and handlers are named (threat 30)', async ({
  startCallers,
}) => {
  const { as, operator, withClaims } = await startCallers({ SERVICE_METRICS_ON: 'true' })
  for (let caller = 0; caller < 20; caller++) {
    const api = await withClaims({ sub: `subject-${caller}`, plan: 'slow', email: `subject-${caller}@x.example` })
    await api.get(`u:subject-${caller}:1/status`)
    await api.get('ci:1/status')
    await as('ci').post(`foreign-${caller}/signal/handler-${caller}`)
  }

  const { text } = await operator.call('GET', '/metrics')
  const samples = parseMetrics(text)
  const ofCallers = samples.filter(({ name }) => /^portico_(?:denied|limited)_total$/.test(name))

  expect(text).not.toMatch(/subject-|handler-|foreign-|token:|jwt:/)
  const rules = new Set(ofCallers.map(({ labels }) => labels.rule))
  expect([...rules].filter((rule) => !RULES.some(({ name }) => name === rule) && rule !== 'none')).toEqual([])
  expect(ofCallers.map(({ name, labels, value }) => [name, labels, value])).toEqual(
    expect.arrayContaining([
      ['portico_limited_total', { rule: 'some-users' }, 20],
      ['portico_denied_total', { action: 'signal', rule: 'none' }, 20],
    ]),
  )
})

/** Brings the run into the state that the endpoint needs. */
async function prepare(operator: Api, path: string, workflowId: string): Promise<void> {
  const activity = `${workflowId}/activities/approval`
  if (path.includes('/activities/')) await untilOpen(operator, activity)
  if (path.endsWith('/cancel')) await untilCanceling(operator, activity)
  if (path.endsWith('/retry')) await operator.post(`${activity}/fail`, { message: 'no' })
  if (path.includes('/questions/')) await untilAsked(operator, workflowId)
  if (path === '/workflow/:id/unpause') await operator.post(`${workflowId}/pause`)
}

/** What a request to the endpoint does if it starts a run. */
function actionsOf({ path, access }: (typeof ENDPOINTS)[number]): unknown[] {
  return [access, ...(/(?:signal|update)(?=-with-start)/.exec(path) ?? [])]
}

/** The audit lines of a response's request. */
function auditOf(service: InProcessService) {
  const lines: { message: string; requestId: string; caller?: string; action?: string }[] = []
  service.onLine((line) => lines.push(JSON.parse(line)))
  return ({ headers }: Answer) =>
    lines.filter(({ message, requestId }) => message === 'audit' && requestId === headers.get('X-Request-Id'))
}

/** The events of a run that have this identity. */
// What follows the caller in the identity of an activity's end: it recognizes a repeated request.
const MARK = / [\da-f-]{36}$/

async function eventsOfCaller(client: Client, run: { workflowId: string; runId: string }, identity: string) {
  const { events } = await client.workflow.getHandle(run.workflowId, run.runId).fetchHistory()
  return (events ?? []).flatMap((event) =>
    Object.entries(event)
      .filter(
        ([, value]) =>
          value?.identity?.replace(MARK, '') === identity ||
          JSON.stringify(value)?.includes(`"identity":"${identity}"`),
      )
      .map(([attributes]) => attributes.replace(/EventAttributes$/, '')),
  )
}
