/** A new policy ends the open requests that it does not allow. */
import { expect } from 'vitest'
import { until } from '../../../src/cli/dev/servers/until.ts'
import { META } from '../../../src/service/fronts/mcp/protocol.ts'
import type { Api } from '../../support/api.ts'
import { parseMetrics, sumOf } from '../../support/prometheus.ts'
import { type Callers, hashOf, testWithCallers, tokenRule } from './callers.ts'

const WEB = { can: ['*'], ids: ['web:*'] }
const RULES = [tokenRule('web', WEB), tokenRule('other', WEB)]

const test = testWithCallers(RULES, { SERVICE_METRICS_ON: 'true' })

const JSON_TYPE = { 'Content-Type': 'application/json' }
const EVENTS = { Accept: 'text/event-stream' }

interface Runs {
  id: string
  runId: string
  /** The id of a run with a stream. */
  streaming: string
  /** The id of a run whose history stays as it is. */
  quiet: string
  /** The end of this history. */
  nextPageToken: string
}

/** The requests that wait, each of one request. */
function doors({ id, runId, nextPageToken, streaming, quiet }: Runs) {
  const path = encodeURIComponent(id)
  const run = { workflowName: 'waitForSignal', input: null, timeout: '60s' }
  const newRun = () => JSON.stringify({ ...run, workflowId: `web:${crypto.randomUUID()}` })
  const modern = {
    [META.protocolVersion]: '2026-07-28',
    [META.clientCapabilities]: { extensions: { 'io.modelcontextprotocol/tasks': {} } },
  }
  const rpc = (method: string, params: object) => JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  const mcp = { ...JSON_TYPE, Accept: 'application/json, text/event-stream' }
  const call = { name: 'workflow_result', arguments: { workflowId: id }, _meta: { progressToken: 'p' } }
  const subscription = { notifications: { taskIds: [`${path}/${runId}`] }, _meta: modern }
  return {
    history: (api: Api) =>
      api.get(`${encodeURIComponent(quiet)}/history?wait=60s&pageToken=${encodeURIComponent(nextPageToken)}`),
    historyStream: (api: Api) => api.get(`${path}/history/stream`, EVENTS),
    traceStream: (api: Api) => api.get(`${path}/trace-log/stream`, EVENTS),
    stream: (api: Api) => api.get(`${encodeURIComponent(streaming)}/stream`, EVENTS),
    result: (api: Api) => api.get(`${path}/result?wait=60s`),
    run: (api: Api) => api.post('run', newRun(), JSON_TYPE),
    update: (api: Api) => api.post(`${path}/update/waitFor`, '{"payload":"never"}', JSON_TYPE),
    updateWithStart: (api: Api) =>
      api.post(
        'update-with-start/waitFor',
        JSON.stringify({ workflowName: 'messages', workflowId: id, input: null, payload: 'never' }),
        JSON_TYPE,
      ),
    resultEvents: (api: Api) => api.get(`${path}/result`, EVENTS),
    runEvents: (api: Api) => api.post('run', newRun(), { ...JSON_TYPE, ...EVENTS }),
    tool: (api: Api) => api.call('POST', '/mcp?wait=60s', rpc('tools/call', call), mcp),
    subscription: (api: Api) =>
      api.call('POST', '/mcp', rpc('subscriptions/listen', subscription), {
        ...mcp,
        'MCP-Protocol-Version': '2026-07-28',
        'Mcp-Method': 'subscriptions/listen',
      }),
  }
}

// Of the requests, so many wait for the end of a run.
const WAITS_FOR_RUNS = 6

async function openAll({ as, operator }: Callers, rule: string) {
  const id = `web:${crypto.randomUUID()}`
  const streaming = `web:${crypto.randomUUID()}`
  const quiet = `web:${crypto.randomUUID()}`
  const { runId } = (await operator.start('messages', null, { workflowId: id })).body
  await operator.start('streamSignals', { round: 1 }, { workflowId: streaming })
  await operator.start('waitForSignal', null, { workflowId: quiet })
  const events = async (of: string) => (await operator.get(`${encodeURIComponent(of)}/history?pageSize=1000`)).body
  const metric = async (name: string) => sumOf(parseMetrics((await operator.call('GET', '/metrics')).text), name)
  const { nextPageToken } = await until('its first task is complete', async () => {
    const page = await events(quiet)
    return JSON.stringify(page).includes('askCompleted') && page
  })
  const before = { active: await metric('http_server_active_requests'), waits: await metric('portico_open_waits') }
  const requests = Object.entries(doors({ id, runId, nextPageToken, streaming, quiet })).map(([name, open]) => ({
    name,
    answer: open(as(rule)),
  }))
  const isDone = new Set<string>()
  for (const { name, answer } of requests) void answer.finally(() => isDone.add(name)).catch(() => {})
  await until(
    'all are open',
    async () => (await metric('http_server_active_requests')) - before.active === requests.length,
  )
  await until('they wait for runs', async () => (await metric('portico_open_waits')) - before.waits === WAITS_FOR_RUNS)
  await until('the updates wait', async () => JSON.stringify(await events(id)).split('pdateAccepted').length === 3)
  const end = async () => {
    for (const ended of [id, streaming, quiet]) await operator.post(`${encodeURIComponent(ended)}/terminate`)
  }
  return { requests, isDone, id, end }
}

test.for([
  ['a removed rule', ({ policyOf }: Callers) => policyOf(tokenRule('other', WEB))],
  [
    'another token',
    ({ policyOf }: Callers) =>
      policyOf({ ...tokenRule('web', WEB), who: { token: hashOf('next') } }, tokenRule('other', WEB)),
  ],
  [
    'other ids',
    ({ policyOf }: Callers) => policyOf(tokenRule('web', { ...WEB, ids: ['none:*'] }), tokenRule('other', WEB)),
  ],
  [
    'other workflows',
    ({ policyOf }: Callers) => policyOf(tokenRule('web', { ...WEB, workflows: ['echo'] }), tokenRule('other', WEB)),
  ],
] as const)(
  'a new policy ends the waits and streams of a credential: %s (threat 107)',
  async ([, narrowed], { startCallers }) => {
    const callers = await startCallers()
    const { requests, id, end } = await openAll(callers, 'web')
    const others = await openAll(callers, 'other')

    callers.service.setPolicy(narrowed(callers))
    const ended = Object.fromEntries(await Promise.all(requests.map(async ({ name, answer }) => [name, await answer])))

    const {
      result,
      run,
      update,
      updateWithStart,
      history,
      resultEvents,
      runEvents,
      historyStream,
      stream,
      tool,
      subscription,
    } = ended
    const message = 'The policy no longer allows this with the credential; continue at Location with another one'
    expect([result.status, run.status, resultEvents.status, history.status]).toEqual([424, 424, 200, 200])
    expect(result.body).toMatchObject({ error: 'WorkflowExecutionTimedOutError', message, workflowId: id })
    expect(run.body).toMatchObject({ error: 'WorkflowExecutionTimedOutError', message, runId: expect.any(String) })
    expect(result.headers.get('Location')).toContain(encodeURIComponent(id))
    for (const { status, body } of [update, updateWithStart]) {
      expect(status).toBe(424)
      expect(body).toMatchObject({ error: 'OutcomeUnknownError', workflowId: id, updateId: expect.any(String) })
    }
    expect([resultEvents.text, runEvents.text].map((text) => text.includes('event: timeout'))).toEqual([true, true])
    expect([historyStream.status, stream.status]).toEqual([200, 200])
    expect(`${historyStream.text}${stream.text}`).not.toContain('error')
    expect(tool.text).toContain(id)
    expect(tool.text).not.toContain('isError":true')
    expect(subscription.text).toContain('"resultType":"complete"')
    expect(others.isDone).toEqual(new Set())
    callers.service.setPolicy(callers.policyOf())
    await Promise.allSettled(others.requests.map(({ answer }) => answer))
    await Promise.all([end(), others.end()])
  },
)

test('a new policy that still allows a wait does not end it (threat 107)', async ({ startCallers }) => {
  const callers = await startCallers()
  const { isDone, requests, end } = await openAll(callers, 'web')

  callers.service.setPolicy(
    callers.policyOf(
      tokenRule('web', {
        can: ['*'],
        workflows: ['messages', 'waitForSignal', 'streamSignals'],
        ids: ['web:*', 'more:*'],
      }),
    ),
  )
  const status = await callers.as('web').call('GET', '/capabilities')
  const done = [...isDone]
  callers.service.setPolicy(callers.policyOf())
  await Promise.allSettled(requests.map(({ answer }) => answer))
  await end()

  expect([status.status, done]).toEqual([200, []])
})

test('a new policy ends the waits of JWTs of a removed issuer (threat 107)', async ({ startCallers }) => {
  const callers = await startCallers()
  const { service, operator, withClaims, policyOf } = callers
  const rule = { name: 'users', who: { jwt: 'main' }, can: ['*'], ids: ['u:{sub}:*'] }
  service.setPolicy(policyOf(rule))
  const workflowId = `u:ada:${crypto.randomUUID()}`
  await operator.start('waitForSignal', null, { workflowId })
  const ada = await withClaims({ sub: 'ada' })
  const wait = ada.get(`${encodeURIComponent(workflowId)}/result?wait=60s`)
  await until('it waits', async () => {
    const samples = parseMetrics((await operator.call('GET', '/metrics')).text)
    return sumOf(samples, 'portico_open_waits') === 1
  })

  service.setPolicy({ version: 1, rules: [] })

  expect((await wait).status).toBe(424)
  await operator.post(`${encodeURIComponent(workflowId)}/terminate`)
})

test('a wait outlives a policy whose issuer cannot be reached, and ends with the next one (threat 107)', async ({
  startCallers,
}) => {
  const { service, operator, withClaims, policyOf } = await startCallers()
  const rule = { name: 'users', who: { jwt: 'main' }, can: ['*'], ids: ['u:{sub}:*'] }
  service.setPolicy(policyOf(rule))
  const workflowId = `u:ada:${crypto.randomUUID()}`
  await operator.start('waitForSignal', null, { workflowId })
  const ada = await withClaims({ sub: 'ada' })
  let isOver = false
  const wait = ada.get(`${encodeURIComponent(workflowId)}/result?wait=60s`).finally(() => {
    isOver = true
  })
  const waits = async () => sumOf(parseMetrics((await operator.call('GET', '/metrics')).text), 'portico_open_waits')
  await until('it waits', async () => (await waits()) === 1)

  const { issuers = {}, ...policy } = policyOf(rule)
  const main = { ...issuers.main, jwksUrl: 'http://127.0.0.1:9/keys' } as NonNullable<typeof issuers.main>
  service.setPolicy({ ...policy, issuers: { main } })
  const undecided = (await ada.call('GET', '/capabilities')).status
  const before = isOver
  service.setPolicy(policyOf())

  expect([undecided, before]).toEqual([503, false])
  expect((await wait).status).toBe(424)
  await operator.post(`${encodeURIComponent(workflowId)}/terminate`)
})
