/** The engine's response to a signal or an update is lost: neither reaches a later run than the one it was sent to. */

import type { Connection } from '@temporalio/client'
import { describe, expect } from 'vitest'
import { until } from '../../src/cli/dev/servers/until.ts'
import { GrpcCode } from '../../src/temporal/grpc-code.ts'
import type { Answer } from '../support/api.ts'
import { type Fault, type FaultProxy, startFaultProxy } from '../support/fault-proxy.ts'
import { type InProcessService, test } from '../support/fixtures.ts'
import { testCatalog } from '../support/test-catalog.ts'

describe.for(['grpc', 'http'] as const)('lost answers over %s', (transport) => {
  let proxy: FaultProxy
  let api: InProcessService
  let connection: Connection
  let serveOverProxy: (env?: Record<string, string>) => InProcessService

  test.beforeAll(async ({ engine: { address, httpUrl }, connection: direct, catalog, serve, startWorker, cleanup }) => {
    connection = direct
    proxy = await startFaultProxy(address, httpUrl)
    cleanup.defer(() => proxy.stop())
    const overProxy = {
      ENGINE_TRANSPORT: transport,
      ENGINE_ADDRESS: proxy.address,
      ENGINE_HTTP_URL: proxy.httpUrl ?? '',
    }
    const taskQueue = `${catalog}-${transport}`
    serveOverProxy = (env) => serve({ ...overProxy, SERVICE_CATALOG_ID: taskQueue, ...env }, 'disturbed')
    api = serveOverProxy()
    await startWorker({ taskQueue, catalog: testCatalog })
    await until('the catalog is published', async () => (await api.get('catalog')).status === 200)
  })

  async function start(workflowName: string, input: unknown = null, workflowId = `lost-${crypto.randomUUID()}`) {
    const { body } = await api.start(workflowName, input, { workflowId })
    return { workflowId, runId: String(body.runId) }
  }

  const signal = (workflowId: string, name: string, payload: unknown = null) =>
    api.post(`${workflowId}/signal/${name}`, { payload })

  /** Sends one message whose first attempt meets this fault. */
  async function faulted(path: string, fault: Fault, payload: unknown = null): Promise<Answer> {
    return withFault(path, fault, () => api.post(path, { payload }))
  }

  async function withFault(path: string, fault: Fault, send: () => Promise<Answer>): Promise<Answer> {
    const method = path.includes('/signal/') ? 'SignalWorkflowExecution' : 'UpdateWorkflowExecution'
    const [containing = ''] = path.split('/')
    const takeBack = proxy.on({ method, containing, fault, times: 1 })
    const answer = await send()
    takeBack()
    return answer
  }

  const statusOf = async (path: string) => (await api.get(`${path}/status`)).body
  const ended = ({ workflowId, runId }: { workflowId: string; runId: string }) =>
    until('the run has ended', async () => (await statusOf(`${workflowId}/runs/${runId}`)).status !== 'running')
  const state = async (workflowId: string) => (await api.post(`${workflowId}/query/state`)).body
  const round = async (workflowId: string) => (await api.post(`${workflowId}/update/round`)).body
  const end = (workflowId: string) => api.post(`${workflowId}/terminate`)

  async function continueAsNew(run: { workflowId: string; runId: string }): Promise<void> {
    await signal(run.workflowId, 'next')
    await ended(run)
  }

  async function reuse(run: { workflowId: string; runId: string }): Promise<void> {
    await end(run.workflowId)
    await start('messages', null, run.workflowId)
  }

  async function reuseAndClose(run: { workflowId: string; runId: string }): Promise<void> {
    await reuse(run)
    await signal(run.workflowId, 'finish')
    await until('it has ended', async () => (await statusOf(run.workflowId)).status === 'completed')
  }

  /** A run that the engine's index has, which is where the service finds the run before a later use of the id. */
  async function startListed(workflowName: string): Promise<{ workflowId: string; runId: string }> {
    const run = await start(workflowName)
    const query = encodeURIComponent(`WorkflowId = '${run.workflowId}'`)
    await until('it is listed', async () => (await api.get(`runs?query=${query}`)).body.runs.length === 1)
    return run
  }

  const nothing = async () => {}
  const unknown = ({ status, body, headers }: Answer) => [
    status,
    body.error,
    body.workflowId,
    headers.get('Retry-After'),
  ]

  test('signal: is delivered once to a run that is still the latest', async () => {
    const { workflowId, runId } = await start('messages')

    const lost = await faulted(`${workflowId}/signal/add`, { lost: nothing }, 1)
    const dropped = await faulted(`${workflowId}/signal/add`, { dropped: nothing }, 2)

    expect([lost.status, lost.body.runId]).toEqual([200, runId])
    expect([dropped.status, dropped.body.runId]).toEqual([200, runId])
    expect((await state(workflowId)).gathered).toEqual([1, 2])
    await end(workflowId)
  })

  test('signal: the run that accepted it and continued as new is returned; the next run does not get it', async () => {
    const run = await start('chainOnSignal', 1)
    const { workflowId, runId } = run

    const { status, body } = await faulted(`${workflowId}/signal/next`, { lost: () => ended(run) })

    expect([status, body.runId]).toEqual([200, runId])
    expect(await round(workflowId)).toBe(2)
    await end(workflowId)
  })

  test('signal: is not sent to the next run when its own run did not accept it', async () => {
    const run = await start('chainOnSignal', 1)
    const { workflowId } = run

    const answer = await faulted(`${workflowId}/signal/next`, { dropped: () => continueAsNew(run) })

    expect(unknown(answer)).toEqual([503, 'EngineUnavailableError', workflowId, null])
    expect(await round(workflowId)).toBe(2)
    await end(workflowId)
  })

  test('signal: it is unknown whether a next run that has already ended accepted it', async () => {
    const run = await start('chainOnSignal', 1)
    const { workflowId } = run
    const goOnAndEnd = async () => {
      await continueAsNew(run)
      await end(workflowId)
    }

    const answer = await faulted(`${workflowId}/signal/next`, { dropped: goOnAndEnd })

    expect(unknown(answer)).toEqual([503, 'EngineUnavailableError', workflowId, null])
  })

  test('signal: the run that accepted it and ended is returned', async () => {
    const run = await start('waitForSignal')

    const { status, body } = await faulted(`${run.workflowId}/signal/finish`, { lost: () => ended(run) }, 'once')

    expect([status, body.runId]).toEqual([200, run.runId])
  })

  test('signal: a run that ended without it is not running', async () => {
    const run = await start('messages')
    const { workflowId, runId } = run

    const { status, body } = await faulted(`${workflowId}/signal/add`, { dropped: () => end(workflowId) })

    const facts = [status, body.error, body.runId, body.workflowStatus]
    expect(facts).toEqual([409, 'WorkflowNotRunningError', runId, 'terminated'])
  })

  test('signal: the run that accepted it is returned; a later use of the id does not get it, open or closed', async () => {
    const [open, closed] = [await startListed('messages'), await startListed('messages')]

    const answers = [
      await faulted(`${open.workflowId}/signal/add`, { lost: () => reuse(open) }, 'for the first'),
      await faulted(`${closed.workflowId}/signal/add`, { lost: () => reuseAndClose(closed) }, 'for the first'),
    ]

    expect(answers.map(({ status, body }) => [status, body.runId])).toEqual([
      [200, open.runId],
      [200, closed.runId],
    ])
    expect((await state(open.workflowId)).gathered).toEqual([])
    expect((await api.get(`${closed.workflowId}/result`)).body.output.gathered).toEqual([])
    await end(open.workflowId)
  })

  test('signal: a later use of the id does not get it when its own run did not accept it', async () => {
    const run = await startListed('messages')

    const answer = await faulted(`${run.workflowId}/signal/add`, { dropped: () => reuse(run) }, 'for the first')

    expect(unknown(answer)).toEqual([503, 'EngineUnavailableError', run.workflowId, null])
    expect((await state(run.workflowId)).gathered).toEqual([])
    await end(run.workflowId)
  })

  test('signal: the next attempt of a retry policy does not get it', async () => {
    const workflowId = `lost-${crypto.randomUUID()}`
    const { runId = '' } = await connection.workflowService.startWorkflowExecution({
      namespace: 'default',
      workflowId,
      workflowType: { name: 'failsOnSignal' },
      taskQueue: { name: api.catalog },
      requestId: crypto.randomUUID(),
      retryPolicy: { initialInterval: { nanos: 1_000_000 }, maximumAttempts: 5 },
    })

    const { status, body } = await faulted(`${workflowId}/signal/next`, { lost: () => ended({ workflowId, runId }) })

    expect([status, body.runId]).toEqual([200, runId])
    expect(await state(workflowId)).toBe(2)
    await end(workflowId)
  })

  test('signal, update: a message to one run is sent again to that run, whatever followed it', async () => {
    const run = await start('chainOnSignal', 1)
    const { workflowId, runId } = run

    const updated = await faulted(`${workflowId}/runs/${runId}/update/round`, { lost: nothing })
    const signalled = await faulted(`${workflowId}/runs/${runId}/signal/next`, { lost: () => ended(run) })

    expect([updated.status, updated.body]).toEqual([200, 1])
    expect([signalled.status, signalled.body.runId]).toEqual([200, runId])
    expect(await round(workflowId)).toBe(2)
    await end(workflowId)
  })

  test('signal: a signal to one run is sent again to that run even if the id has been reused', async () => {
    const run = await start('messages')
    const { workflowId, runId } = run

    const { status, body } = await faulted(`${workflowId}/runs/${runId}/signal/add`, { lost: () => reuse(run) }, 1)

    expect([status, body.runId]).toEqual([200, runId])
    expect((await state(workflowId)).gathered).toEqual([])
    await end(workflowId)
  })

  test('signal: if its run cannot be described after two lost responses, the error has the ids and no Retry-After', async () => {
    const { workflowId } = await start('messages')
    const hide = async () => proxy.on({ method: 'DescribeWorkflowExecution', containing: workflowId, fault: 'close' })
    const takeBack = proxy.on({
      method: 'SignalWorkflowExecution',
      containing: workflowId,
      fault: { dropped: () => end(workflowId) },
      times: 1,
    })
    proxy.on({ method: 'SignalWorkflowExecution', containing: workflowId, fault: { dropped: hide }, times: 1 })

    const answer = await signal(workflowId, 'add', 1)
    takeBack()

    expect(unknown(answer)).toEqual([503, 'EngineUnavailableError', workflowId, null])
  })

  test('update: is carried out once, and its result is returned', async () => {
    const { workflowId } = await start('messages')

    const lost = await faulted(`${workflowId}/update/set`, { lost: nothing }, 'a')
    const dropped = await faulted(`${workflowId}/update/set`, { dropped: nothing }, 'b')

    expect([lost.status, lost.body]).toEqual([200, { before: null, after: 'a' }])
    expect([dropped.status, dropped.body]).toEqual([200, { before: 'a', after: 'b' }])
    await end(workflowId)
  })

  // Temporal's HTTP API cannot read updates.
  if (transport === 'grpc')
    test('update: an asynchronous one is carried out once, too', async () => {
      const { workflowId, runId } = await start('messages')
      const method = 'UpdateWorkflowExecution'
      proxy.on({ method, containing: workflowId, fault: { lost: nothing }, times: 1 })

      const path = `/workflow/${workflowId}/update/set`
      const { status, headers, body } = await api.call('POST', path, { payload: 1 }, { Prefer: 'respond-async' })
      const result = await api.call('GET', `${headers.get('Location')}?wait=20s`)

      expect([status, body.runId, result.status, result.body]).toEqual([202, runId, 200, { before: null, after: 1 }])
      await end(workflowId)
    })

  test('update: the result of a run that has continued as new is returned; the next run does not get it', async () => {
    const run = await start('chainOnSignal', 1)
    const { workflowId } = run

    const { status, body } = await faulted(`${workflowId}/update/round`, { lost: () => continueAsNew(run) })

    expect([status, body]).toEqual([200, 1])
    const [first, successor] = await Promise.all(
      [`${workflowId}/runs/${run.runId}`, workflowId].map((path) => api.get(`${path}/trace-log`)),
    )
    expect([first, successor].map((trace) => trace?.text.match(/"kind":"update"/g)?.length ?? 0)).toEqual([1, 0])
    await end(workflowId)
  })

  test('update: is not sent to the next run when its own run did not accept it', async () => {
    const run = await start('chainOnSignal', 1)
    const { workflowId } = run

    const answer = await faulted(`${workflowId}/update/round`, { dropped: () => continueAsNew(run) })

    expect(unknown(answer)).toEqual([503, 'EngineUnavailableError', workflowId, null])
    expect(answer.body.updateId).toMatch(/./)
    const { text: chain } = await api.get(`${workflowId}/trace-log`)
    expect(chain).not.toContain('"kind":"update"')
    await end(workflowId)
  })

  test('update: the result of its run is returned; a later use of the id does not get it, open or closed', async () => {
    const [open, closed] = [await startListed('messages'), await startListed('messages')]

    const answers = [
      await faulted(`${open.workflowId}/update/set`, { lost: () => reuse(open) }, 'for the first'),
      await faulted(`${closed.workflowId}/update/set`, { lost: () => reuseAndClose(closed) }, 'for the first'),
    ]

    const result = { before: null, after: 'for the first' }
    expect(answers.map(({ status, body }) => [status, body])).toEqual([
      [200, result],
      [200, result],
    ])
    expect((await state(open.workflowId)).value).toBeNull()
    expect((await api.get(`${closed.workflowId}/result`)).body.output.value).toBeNull()
    await end(open.workflowId)
  })

  test('update: a later use of the id does not get it when its own run did not accept it', async () => {
    const run = await startListed('messages')

    const answer = await faulted(`${run.workflowId}/update/set`, { dropped: () => reuse(run) }, 'for the first')

    expect(unknown(answer)).toEqual([503, 'EngineUnavailableError', run.workflowId, null])
    expect(typeof answer.body.updateId).toBe('string')
    expect((await state(run.workflowId)).value).toBeNull()
    await end(run.workflowId)
  })

  test('update: a run that ended after it is answered from, one that ended without it is not running', async () => {
    const [after, without] = [await start('messages'), await start('messages')]

    const value = await faulted(`${after.workflowId}/update/set`, { lost: () => end(after.workflowId) }, 'a')
    const rejected = await faulted(`${without.workflowId}/update/set`, { dropped: () => end(without.workflowId) }, 'a')

    expect([value.status, value.body]).toEqual([200, { before: null, after: 'a' }])
    const facts = [rejected.status, rejected.body.error, rejected.body.runId]
    expect(facts).toEqual([409, 'WorkflowNotRunningError', without.runId])
  })

  /** A signal-with-start whose first attempt meets this fault. */
  async function signalAndFault(workflowId: string, name: string, fault: Fault, payload: unknown = null) {
    const method = 'SignalWithStartWorkflowExecution'
    const takeBack = proxy.on({ method, containing: workflowId, fault, times: 1 })
    const start = { workflowName: 'messages', input: null, workflowId }
    const answer = await api.post(`signal-with-start/${name}`, { ...start, payload })
    takeBack()
    return answer
  }

  test('signal-with-start: one run and one signal, whether the first attempt arrived or not', async () => {
    const [arrived, dropped] = [`lost-${crypto.randomUUID()}`, `lost-${crypto.randomUUID()}`]

    const answers = [
      await signalAndFault(arrived, 'add', { lost: nothing }, 1),
      await signalAndFault(dropped, 'add', { dropped: nothing }, 1),
    ]

    for (const { status, body } of answers) {
      expect([status, body.started]).toEqual([200, true])
      expect((await statusOf(body.workflowId)).runId).toBe(body.runId)
      expect((await state(body.workflowId)).gathered).toEqual([1])
      await end(body.workflowId)
    }
  })

  test('signal-with-start: the run that it started is returned after it has ended, and no other run starts', async () => {
    const workflowId = `lost-${crypto.randomUUID()}`
    const completes = () => until('the run has ended', async () => (await statusOf(workflowId)).status === 'completed')

    const { status, body } = await signalAndFault(workflowId, 'finish', { lost: completes })

    expect([status, body.started]).toEqual([200, true])
    expect(await statusOf(workflowId)).toMatchObject({ runId: body.runId, status: 'completed' })
  })

  test('signal-with-start: a run that was open gets the signal once; one that ended without it is followed by a new run', async () => {
    const [found, gone] = [await start('messages'), await start('messages')]

    const kept = await signalAndFault(found.workflowId, 'add', { lost: nothing }, 1)
    const closed = await signalAndFault(gone.workflowId, 'add', { dropped: () => end(gone.workflowId) }, 2)

    expect([kept.status, kept.body]).toEqual([200, { ...found, started: false }])
    expect((await state(found.workflowId)).gathered).toEqual([1])
    expect([closed.status, closed.body.started, closed.body.runId === gone.runId]).toEqual([200, true, false])
    expect((await state(gone.workflowId)).gathered).toEqual([2])
    await Promise.all([end(found.workflowId), end(gone.workflowId)])
  })

  test('signal-with-start: if another run may have received the signal, no later run gets it', async () => {
    const run = await start('messages')

    const answer = await signalAndFault(run.workflowId, 'add', { lost: () => reuse(run) }, 1)

    expect(unknown(answer)).toEqual([503, 'EngineUnavailableError', run.workflowId, null])
    expect((await state(run.workflowId)).gathered).toEqual([])
    await end(run.workflowId)
  })

  test('stop: reaches the run that the workflow has continued as, and no later use of the id', async () => {
    const [goesOn, used] = [await start('chainOnSignal', 1), await start('neverEnds')]
    const method = 'RequestCancelWorkflowExecution'
    const useAgain = async () => {
      await ended(used)
      await start('neverEnds', null, used.workflowId)
    }
    proxy.on({ method, containing: goesOn.workflowId, fault: { dropped: () => continueAsNew(goesOn) }, times: 1 })
    proxy.on({ method, containing: used.workflowId, fault: { lost: useAgain }, times: 1 })

    const reached = await api.call('PATCH', `/workflow/${goesOn.workflowId}/stop`)
    const stopped = await api.call('PATCH', `/workflow/${used.workflowId}/stop`)
    const laterUse = { namespace: 'default', execution: { workflowId: used.workflowId } }
    const { workflowExtendedInfo } = await connection.workflowService.describeWorkflowExecution(laterUse)

    expect([reached.status, reached.body.cancelRequested]).toEqual([200, true])
    await until('the successor is canceled', async () => (await statusOf(goesOn.workflowId)).status === 'canceled')
    expect([stopped.status, stopped.body.runId]).toEqual([200, used.runId])
    expect((await statusOf(`${used.workflowId}/runs/${used.runId}`)).status).toBe('canceled')
    expect(workflowExtendedInfo?.cancelRequested).toBe(false)
    await end(used.workflowId)
  })

  /** Ends the activity of a run while the first request of this method meets the fault. */
  async function endActivity(input: object, verb: 'complete' | 'fail', fault: 'lost' | 'dropped', key?: string) {
    const { workflowId } = await start('completesOutside', input)
    const activity = `${workflowId}/activities/approval`
    await until('the activity waits', async () => (await api.post(`${activity}/heartbeat`)).status === 200)
    const method = verb === 'complete' ? 'RespondActivityTaskCompletedById' : 'RespondActivityTaskFailedById'
    let attempts = 0
    const count = async () => attempts++
    const takeBack = proxy.on({
      method,
      containing: workflowId,
      fault: fault === 'lost' ? { lost: count } : { dropped: count },
    })
    const headers = key === undefined ? {} : { 'Idempotency-Key': key }
    const send = () => api.post(`${activity}/${verb}`, verb === 'fail' ? { message: 'no' } : { output: 1 }, headers)
    const answer = await send()
    takeBack()
    return { answer, workflowId, activity, send, attempts: () => attempts }
  }

  test('complete and fail: one that was carried out is found, and never sent again', async () => {
    const found = [
      await endActivity({}, 'complete', 'lost'),
      await endActivity({ attempts: 1 }, 'fail', 'lost'),
      await endActivity({ retryInterval: '1h' }, 'fail', 'lost'),
      // The workflow has used the id of the activity again by then.
      await endActivity({ ids: ['approval', 'approval'] }, 'complete', 'lost'),
    ]

    expect(found.map(({ answer, attempts }) => [answer.status, attempts()])).toEqual(found.map(() => [200, 1]))
    const [completed, failed, retried, again] = found.map(({ workflowId }) => workflowId)
    expect((await api.get(`${completed}/result?wait=20s`)).body.output).toEqual([1])
    expect((await api.get(`${failed}/result?wait=20s`)).body.status).toBe('failed')
    expect([(await statusOf(`${retried}`)).status, (await statusOf(`${again}`)).status]).toEqual(['running', 'running'])
    await Promise.all([retried, again].map((id) => end(`${id}`)))
  })

  test('complete and fail: one that may not have arrived is not sent again, and says so; its key can be used', async () => {
    const dropped = [
      await endActivity({}, 'complete', 'dropped', 'a-key'),
      await endActivity({ attempts: 1 }, 'fail', 'dropped', 'a-key'),
    ]

    expect(dropped.map(({ answer, attempts }) => [...unknown(answer), attempts()])).toEqual(
      dropped.map(({ workflowId }) => [503, 'EngineUnavailableError', workflowId, null, 1]),
    )
    expect(dropped.map(({ answer }) => answer.body.activityId)).toEqual(['approval', 'approval'])
    const repeated = await Promise.all(dropped.map(({ send }) => send()))
    expect(repeated.map(({ status }) => status)).toEqual([200, 200])
    await Promise.all(dropped.map(({ workflowId }) => api.get(`${workflowId}/result?wait=20s`)))
  })

  async function completed(): Promise<{ workflowId: string; runId: string }> {
    const { body } = await api.run('everyKind', 1, { workflowId: `lost-${crypto.randomUUID()}` })
    return { workflowId: body.workflowId, runId: body.runId }
  }

  async function resetAndFault({ workflowId }: { workflowId: string }, fault: Fault, reason = 'ours') {
    const method = 'ResetWorkflowExecution'
    const takeBack = proxy.on({ method, containing: workflowId, fault, times: 1 })
    const answer = await api.post(`${workflowId}/reset`, { stepName: 'echoBack', reason })
    takeBack()
    return answer
  }

  test('reset: one that was carried out is found, and not carried out again', async () => {
    const run = await completed()
    await resetAndFault(run, { lost: nothing }, 'first')
    await until('the new run has ended', async () => (await statusOf(run.workflowId)).status === 'completed')

    const created: string[] = []
    const lost = async () => void created.push((await statusOf(run.workflowId)).runId)
    const { status, body } = await resetAndFault(run, { lost })

    expect([status, body.runsAgain]).toEqual([200, []])
    // A second reset would have created a later run.
    expect([body.runId, (await statusOf(run.workflowId)).runId]).toEqual([...created, ...created])
  })

  test('reset: one that may not have arrived is not sent again, nor is that of another client its result', async () => {
    const [dropped, other] = [await completed(), await completed()]
    const otherClient = () => api.post(`${other.workflowId}/reset`, { stepName: 'echoBack', reason: 'theirs' })

    const unknownOutcomes = [
      await resetAndFault(dropped, { dropped: nothing }),
      await resetAndFault(other, { dropped: otherClient }),
    ]

    expect(unknownOutcomes.map(unknown)).toEqual([
      [503, 'EngineUnavailableError', dropped.workflowId, null],
      [503, 'EngineUnavailableError', other.workflowId, null],
    ])
    expect(unknownOutcomes.map(({ body }) => body.runId)).toEqual([dropped.runId, other.runId])
    expect((await statusOf(dropped.workflowId)).runId).toBe(dropped.runId)
  })

  test('pause: is repeated, and a run that is paused already is what was requested', async () => {
    const { workflowId, runId } = await start('messages')
    await until('its workflow task has completed', async () => (await statusOf(workflowId)).historyLength >= 4)
    const pauseAndFault = (action: string, method: string) => {
      proxy.on({ method, containing: workflowId, fault: { lost: nothing }, times: 1 })
      return api.post(`${workflowId}/${action}`)
    }

    const paused = await pauseAndFault('pause', 'PauseWorkflowExecution')
    const { status } = await statusOf(workflowId)
    const unpaused = await pauseAndFault('unpause', 'UnpauseWorkflowExecution')

    expect([paused.status, paused.body]).toEqual([200, { workflowId, runId, paused: true }])
    expect([unpaused.status, unpaused.body]).toEqual([200, { workflowId, runId, paused: false }])
    expect([status, (await statusOf(workflowId)).status]).toEqual(['paused', 'running'])
    await end(workflowId)
  })

  test('terminate: ends the run that was open, and no later use of the id', async () => {
    const run = await start('neverEnds')
    const useAgain = () => start('neverEnds', null, run.workflowId)
    const method = 'TerminateWorkflowExecution'
    proxy.on({ method, containing: run.workflowId, fault: { lost: useAgain }, times: 1 })

    const answer = await end(run.workflowId)

    expect(unknown(answer)).toEqual([503, 'EngineUnavailableError', run.workflowId, null])
    expect(answer.body.runId).toBe(run.runId)
    expect((await statusOf(run.workflowId)).status).toBe('running')
    await end(run.workflowId)
  })

  describe('a service that has not measured the engine’s clock', () => {
    /** The run cannot be described before the message is sent: its start would be a measurement. */
    async function faultedAtFirst(path: string, fault: Fault): Promise<Answer> {
      const service = serveOverProxy()
      const [containing = ''] = path.split('/')
      const unread = { code: GrpcCode.PERMISSION_DENIED, message: 'not now' }
      const takeBack = proxy.on({ method: 'DescribeWorkflowExecution', containing, fault: unread, times: 1 })
      const answer = await withFault(path, fault, () => service.post(path))
      takeBack()
      await service.close()
      return answer
    }

    test('signal: repeats nothing to a run as young as this', async () => {
      const run = await start('messages')
      const { workflowId } = run

      const answer = await faultedAtFirst(`${workflowId}/signal/finish`, { lost: nothing })

      expect(unknown(answer)).toEqual([503, 'EngineUnavailableError', workflowId, null])
      await ended(run)
    })

    test('update: returns the result of a run that nobody has disturbed', async () => {
      const { workflowId } = await start('chainOnSignal', 7)

      const answer = await faultedAtFirst(`${workflowId}/update/round`, { lost: nothing })

      expect([answer.status, answer.body]).toEqual([200, 7])
      const { text: trace } = await api.get(`${workflowId}/trace-log`)
      expect(trace.match(/"kind":"update"/g)?.length).toBe(1)
      await end(workflowId)
    })

    test('update: returns the result of the run that has accepted it and continued as new', async () => {
      const run = await start('chainOnSignal', 1)
      const { workflowId } = run

      const answer = await faultedAtFirst(`${workflowId}/update/round`, { lost: () => continueAsNew(run) })

      expect([answer.status, answer.body]).toEqual([200, 1])
      await end(workflowId)
    })

    test('update: returns the failure of an update that has failed', async () => {
      const { workflowId } = await start('messages')

      const answer = await faultedAtFirst(`${workflowId}/update/fails`, { lost: nothing })

      expect([answer.status, answer.body.error]).toEqual([422, 'UpdateFailedError'])
      await end(workflowId)
    })

    test('update: sends one that no run has accepted to no run as young as this', async () => {
      const { workflowId } = await start('chainOnSignal', 1)

      const answer = await faultedAtFirst(`${workflowId}/update/round`, { dropped: nothing })

      expect(unknown(answer)).toEqual([503, 'EngineUnavailableError', workflowId, null])
      expect(answer.body.updateId).toMatch(/./)
      const { text: trace } = await api.get(`${workflowId}/trace-log`)
      expect(trace).not.toContain('"kind":"update"')
      await end(workflowId)
    })
  })
})
