/**
 * The engine carries out a request, but its response is lost:
 * the client still gets the result, and nothing is done twice.
 */

import { expect } from 'vitest'
import { until } from '../../src/cli/dev/servers/until.ts'
import type { Api } from '../support/api.ts'
import type { FaultProxy } from '../support/fault-proxy.ts'
import { type InProcessService, test as sharedTest } from '../support/fixtures.ts'
import { promisedError } from '../support/promises.ts'
import { testCatalog } from '../support/test-catalog.ts'

const test = sharedTest.extend('workerOptions', { scope: 'file' }, () => ({ catalog: testCatalog }))

let proxy: FaultProxy
let api: InProcessService

test.beforeAll(async ({ faultProxy, serviceBehindFaultProxy }) => {
  proxy = faultProxy
  api = serviceBehindFaultProxy
  await until('the catalog is published', async () => (await api.get('catalog')).status === 200)
})

test('lost answers: a start is sent again as the same request, and returns its one run (failure 6)', async () => {
  const lines: string[] = []
  api.onLine((line) => lines.push(line))
  const workflowId = `lost-${crypto.randomUUID()}`
  const lost = async () => {}
  const takeBack = proxy.on({ method: 'StartWorkflowExecution', containing: workflowId, fault: { lost }, times: 1 })

  const started = await api.start('neverEnds', null, { workflowId })
  takeBack()
  const again = await api.start('neverEnds', null, { workflowId })

  expect([started.status, started.body.status]).toEqual([200, 'running'])
  // Had a second run been started, the id would be its.
  expect([again.status, again.body.runId]).toEqual([409, started.body.runId])
  expect(lines.join()).toContain('"engineRetries":1')
  await api.post(`${workflowId}/terminate`)
})

interface Sent {
  workflowName?: string
  input?: unknown
  payload?: unknown
}

/** An update-with-start whose first answer is lost; until then there is time for `lost`. */
async function updateAndLose(
  workflowId: string,
  handler: string,
  lost: () => Promise<unknown>,
  sent: Sent = {},
  through: Api = api,
  headers: Record<string, string> = {},
) {
  const takeBack = proxy.on({ method: 'ExecuteMultiOperation', containing: workflowId, fault: { lost }, times: 1 })
  const body = { workflowName: 'messages', input: null, workflowId, ...sent }
  const answer = await through.post(`update-with-start/${handler}`, body, headers)
  takeBack()
  return answer
}

test('lost answers: an update-with-start is carried out once, and reports that it started the run', async () => {
  const workflowId = `lost-${crypto.randomUUID()}`

  const { status, body } = await updateAndLose(workflowId, 'set', async () => {}, { payload: 'once' })
  const other = `lost-${crypto.randomUUID()}`
  const wait = { Prefer: 'respond-async' }
  const accepted = await updateAndLose(other, 'set', async () => {}, { payload: 'once' }, api, wait)
  const read = await api.call('GET', `${accepted.headers.get('Location')}?wait=20s`)

  expect([status, body.started, body.result]).toEqual([200, true, { before: null, after: 'once' }])
  expect((await api.get(`${workflowId}/status`)).body.runId).toBe(body.runId)
  expect([accepted.status, accepted.body.started, read.body]).toEqual([202, true, body.result])
  for (const id of [workflowId, other]) await api.post(`${id}/terminate`)
})

test('lost answers: an update-with-start whose run ended before the second attempt starts no other run', async () => {
  const workflowId = `lost-${crypto.randomUUID()}`
  const result = async () => (await api.get(`${workflowId}/result`)).body
  const ended = async () => {
    await api.post(`${workflowId}/signal/finish`)
    await until('the run has ended', async () => (await result()).status === 'completed')
  }

  const { status, body } = await updateAndLose(workflowId, 'set', ended, { payload: 'once' })

  expect([status, body.started, body.result]).toEqual([200, true, { before: null, after: 'once' }])
  expect((await result()).runId).toBe(body.runId)
})

test('lost answers: an update-with-start whose run continued as new before the second attempt is not repeated in the next run', async () => {
  const workflowId = `lost-${crypto.randomUUID()}`
  const latest = async () => (await api.get(`${workflowId}/status`)).body.runId
  const goesOn = async () => {
    const first = await latest()
    await api.post(`${workflowId}/signal/next`)
    await until('it has gone on', async () => (await latest()) !== first)
  }

  const { status, body } = await updateAndLose(workflowId, 'round', goesOn, { workflowName: 'chainOnSignal', input: 1 })

  expect([status, body.started, body.result]).toEqual([200, true, 1])
  expect(await latest()).not.toBe(body.runId)
  const [first, successor] = await Promise.all(
    [`${workflowId}/runs/${body.runId}`, workflowId].map((path) => api.get(`${path}/trace-log`)),
  )
  expect([first, successor].map((trace) => trace?.text.match(/"kind":"update"/g)?.length ?? 0)).toEqual([1, 0])
  await api.post(`${workflowId}/terminate`)
})

test('lost answers: an update-with-start that found a run returns the result of that run, open or closed', async () => {
  const workflowId = `lost-${crypto.randomUUID()}`
  const { body: run } = await api.start('messages', null, { workflowId })
  const closes = () => api.post(`${workflowId}/terminate`)

  const open = await updateAndLose(workflowId, 'set', async () => {}, { payload: 'a' })
  const closed = await updateAndLose(workflowId, 'set', closes, { payload: 'b' })

  const found = { workflowId, runId: run.runId, started: false }
  expect(open.body).toMatchObject({ ...found, result: { before: null, after: 'a' } })
  expect(closed.body).toMatchObject({ ...found, result: { before: 'a', after: 'b' } })
  expect((await api.get(`${workflowId}/status`)).body.status).toBe('terminated')
})

test('lost answers: a service that has just started finds the run that accepted the update', async ({ serve }) => {
  const [open, followed] = [`lost-${crypto.randomUUID()}`, `lost-${crypto.randomUUID()}`]
  const { body: found } = await api.start('messages', null, { workflowId: open })
  const { body: first } = await api.start('chainOnSignal', 1, { workflowId: followed })
  const continueAsNew = async () => {
    await api.post(`${followed}/signal/next`)
    await until('it has continued', async () => (await api.get(`${followed}/status`)).body.runId !== first.runId)
  }
  // Neither has measured the engine's clock: to them runs as young as these may have come after the request.
  const services = [0, 1].map(() => serve({ ENGINE_ADDRESS: proxy.address }, 'disturbed'))

  const answers = [
    await updateAndLose(open, 'set', async () => {}, { payload: 'once' }, services[0]),
    await updateAndLose(followed, 'round', continueAsNew, { workflowName: 'chainOnSignal', input: 1 }, services[1]),
  ]
  const { body: state } = await api.post(`${open}/query/state`)

  expect(answers.map(({ status, body }) => [status, body.runId, body.started, body.result])).toEqual([
    [200, found.runId, false, { before: null, after: 'once' }],
    [200, first.runId, false, 1],
  ])
  expect(state.value).toBe('once')
  await api.post(`${open}/terminate`)
  await api.post(`${followed}/terminate`)
})

test('lost answers: if no run as young as this has the update, the error has the ids and no Retry-After; it is a 503 with a key (failure 6)', async ({
  serve,
}) => {
  const through = serve({ ENGINE_ADDRESS: proxy.address }, 'disturbed')
  const drop = async (headers: Record<string, string>) => {
    const workflowId = `lost-${crypto.randomUUID()}`
    const { body: other } = await api.start('messages', null, { workflowId })
    const dropped = async () => {}
    const method = 'ExecuteMultiOperation'
    const takeBack = proxy.on({ method, containing: workflowId, fault: { dropped }, times: 1 })
    const sent = { workflowName: 'messages', workflowId, input: null, payload: 'once' }
    const answer = await through.post('update-with-start/set', sent, headers)
    takeBack()
    const { body: state } = await api.post(`${workflowId}/query/state`)
    await api.post(`${workflowId}/runs/${other.runId}/terminate`)
    return { ...answer, workflowId, value: state.value }
  }

  const { status, body, headers, workflowId, value } = await drop({})
  const keyed = await drop({ 'Idempotency-Key': crypto.randomUUID() })

  expect([status, body.error, body.workflowId]).toEqual([...promisedError(6, '424 OutcomeUnknownError'), workflowId])
  expect([body.updateId, headers.get('Retry-After')]).toEqual([expect.stringMatching(/./), null])
  expect([keyed.status]).toEqual(promisedError(6, '503'))
  expect([value, keyed.value]).toEqual([null, null])
})
