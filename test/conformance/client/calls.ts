import type { WorkflowHandle } from '../../../src/client/index.ts'
import { anId, type ClientCase, equal, failure, until } from './client-fixture.ts'

/** What each call of the client returns. */
export const calls: Record<string, ClientCase> = {
  async 'run: returns the output'({ connect }) {
    const client = connect()

    equal(await client.run('echo', { input: { name: 'Ada' } }), { name: 'Ada' })
    equal(await client.run('several', { args: [1, 'two'] }), [1, 'two'])
    equal(await client.run('nothing'), null)
  },

  async 'run: throws the failure of the workflow, with its result'({ connect }) {
    const workflowId = anId()

    const error = await failure(connect().run('failWithCauses', { workflowId }), 'WorkflowFailedError')

    const { status, workflowStatus, result, runId } = error
    equal([status, workflowStatus, error.workflowId, error.message], [null, 'failed', workflowId, 'the outer failure'])
    equal([result?.runId, result?.errorDetails?.name, result?.output], [runId, 'Outer', null])
  },

  async 'runSettled, resultSettled: return how the run ended'({ connect }) {
    const client = connect()

    const failed = await client.runSettled('failWithCauses')
    const completed = await client.runSettled('echo', { input: 7 })

    equal([failed.status, failed.error, failed.errorDetails?.retryable], ['failed', 'the outer failure', false])
    equal([completed.status, completed.input, completed.output], ['completed', 7, 7])
    equal(await client.resultSettled(completed.workflowId), completed)
    equal(await client.result(completed), 7)
    await failure(client.result(failed.workflowId), 'WorkflowFailedError')
  },

  async 'start, query, update, signal, result: work on the run that was started'({ connect }) {
    const client = connect()

    const run = await client.start('messages', { workflowId: anId() })
    equal(await run.update('set', { payload: 17 }), { before: null, after: 17 })
    equal(await run.query('echo', { args: [1, 'x'] }), [1, 'x'])
    const accepted = await run.signal('add', { args: ['a', 'b'] })
    await client.signal(run.workflowId, 'finish')

    equal(accepted, { workflowId: run.workflowId, runId: run.runId, signal: 'add', accepted: true })
    equal(await run.result(), { gathered: ['a', 'b'], value: 17 })
    const status = await run.status()
    equal([status.status, status.workflowName, status.problem], ['completed', 'messages', null])
  },

  async 'workflow: a workflow by its name runs, starts, and finds what was started'({ connect, catalog }) {
    const echo = connect().workflow<(text: string) => Promise<string>>('echo')
    const workflowId = anId()

    const started = await echo.start({ input: 'x', workflowId, catalog, memo: { order: 17 }, executionTimeout: '1h' })

    equal(await echo.get(workflowId).result(), 'x')
    equal(await echo.get({ workflowId, runId: started.runId ?? '' }).result(), 'x')
    equal(await echo.run({ args: ['y'] }), 'y')
    equal((await echo.runSettled({ input: 'z' })).output, 'z')
  },

  async 'result: follows the chain of runs; with a run id it is that of one run'({ connect }) {
    const client = connect()
    const run = await client.start('chain', { input: { links: 2 } })

    equal(await run.result(), { links: 2, link: 2 })
    const first = await client.resultSettled({ workflowId: run.workflowId, runId: run.runId ?? '' })
    equal([first.status, first.output], ['continued', null])
    await failure(client.result({ workflowId: run.workflowId, runId: run.runId ?? '' }), 'WorkflowFailedError')
  },

  async 'result: of a run that was started is not that of a later run with the same id'({ connect }) {
    const client = connect()
    const workflowId = anId()
    const first = await client.start('waitForSignal', { workflowId })
    await first.signal('finish', { payload: 'first' })
    await until('the first run has ended', async () => (await first.status()).status === 'completed')
    const second = await client.start('waitForSignal', { workflowId })

    equal(await first.result(), ['first'])

    await second.signal('finish', { payload: 'second' })
    equal(await Promise.all([second.result(), client.result(workflowId)]), [['second'], ['second']])
  },

  async 'stop, terminate: end the run'({ connect }) {
    const client = connect()
    const stopped = await client.start('catchesCancel')
    const terminated = await client.start('neverEnds')
    await until('the workflow runs', async () => (await stopped.status()).historyLength > 3)

    const answer = await stopped.stop({ reason: 'a test' })
    equal([answer.cancelRequested, answer.status], [true, 'running'])
    equal(await stopped.result(), 'stopped, and glad of it')
    equal((await client.terminate(terminated.workflowId, { reason: 'a test' })).terminated, true)
    equal((await failure(terminated.result(), 'WorkflowFailedError')).workflowStatus, 'terminated')
    equal((await client.stop(terminated)).cancelRequested, false)
    await failure(client.terminate(terminated.workflowId), 'WorkflowNotRunningError')
  },

  async 'signalWithStart, updateWithStart: start the workflow if it is not running'({ connect }) {
    const messages = connect().workflow('messages')
    const workflowId = anId()

    const first = await messages.signalWithStart('add', { workflowId, payload: 'a' })
    const second = await messages.updateWithStart('set', { workflowId, startArgs: [], args: ['b'] })

    equal([first.started, second.started, second.result], [true, false, { before: null, after: 'b' }])
    await messages.get(workflowId).signal('finish')
    equal(await messages.get(first).result(), { gathered: ['a'], value: 'b' })
  },

  async 'input, trace, reset: read a run, and execute it again'({ connect }) {
    const steps = connect().workflow('manySteps')
    const run = await steps.start({ input: { n: 2 } })
    equal(await run.result(), 2)

    equal((await run.input()).args, [{ n: 2 }])
    const { complete, data } = await run.trace()
    equal([complete, data.children.map(({ name }) => name)], [true, ['step', 'step']])
    const { runId, runsAgain } = await run.reset({ stepName: 'step', reason: 'a test' })
    equal(runsAgain, [])
    equal(await steps.get({ workflowId: run.workflowId, runId }).result(), 2)
  },

  async 'pause, unpause: stop the progress of a run, and continue it'({ connect }) {
    const run = await connect().start('waitForSignal')
    await until('the workflow runs', async () => (await run.status()).historyLength > 3)

    equal([(await run.pause()).paused, (await run.status()).status], [true, 'paused'])
    equal((await run.unpause({ reason: 'a test' })).paused, false)
    await run.signal('finish')
    equal(await run.result(), [])
  },

  async 'completeActivity, failActivity, cancelActivity, heartbeatActivity: end activities that complete outside'({
    connect,
  }) {
    const client = connect()
    const [completed, failed] = [
      await client.start('completesOutside', { input: {} }),
      await client.start('completesOutside', { input: {} }),
    ]
    const beats = (run: WorkflowHandle) => run.heartbeatActivity('approval', { details: 40 }).catch(() => null)
    await until('the first activity waits', async () => (await beats(completed)) !== null)
    await until('the second activity waits', async () => (await beats(failed)) !== null)

    const { workflowId, runId } = completed
    equal(await completed.heartbeatActivity('approval'), {
      workflowId,
      runId,
      activityId: 'approval',
      cancelRequested: false,
    })
    const request = { output: 'yes', idempotencyKey: 'a-key' }
    const ended = await completed.completeActivity('approval', request)
    equal(ended, { workflowId, runId, activityId: 'approval', completed: true })
    equal(await completed.result(), ['yes'])
    equal(await client.completeActivity(workflowId, 'approval', request), ended)
    equal((await failure(completed.completeActivity('approval'), 'WorkflowNotRunningError')).completed, true)
    const no = { message: 'no', name: 'Rejected', details: [7], retryable: false }
    equal((await client.failActivity(failed, 'approval', no)).failed, true)
    const { error, errorDetails } = await failed.resultSettled()
    equal([error, errorDetails?.name, errorDetails?.details], ['no', 'Rejected', [7]])
    await failure(failed.heartbeatActivity('other'), 'WorkflowNotRunningError')
    const canceled = await client.start('completesOutside', { input: {} })
    await until('the third activity waits', async () => (await beats(canceled)) !== null)
    await canceled.stop()
    await until('it should end', async () => (await canceled.heartbeatActivity('approval')).cancelRequested)
    const end = { details: 'half', idempotencyKey: 'a-key' }
    equal((await canceled.cancelActivity('approval', end)).canceled, true)
    equal((await canceled.resultSettled()).status, 'canceled')
    equal((await canceled.cancelActivity('approval', end)).canceled, true)
  },

  async 'activity: retries, pauses, unpauses and changes one that is open'({ connect }) {
    const client = connect()
    const run = await client.start('completesOutside', { input: { retryInterval: '1h' } })
    const beats = () => run.heartbeatActivity('approval').catch(() => null)
    await until('the activity waits', async () => (await beats()) !== null)
    const { workflowId, runId } = run
    const ids = { workflowId, runId, activityId: 'approval' }
    const activity = client.activity(workflowId, 'approval')

    await failure(activity.retry(), 'WorkflowNotReadyError')
    await run.failActivity('approval', { message: 'later' })
    equal(await activity.pause({ reason: 'a test' }), { ...ids, paused: true })
    equal(await run.activity('approval').unpause(), { ...ids, paused: false })
    await until('the next attempt waits', async () => (await beats()) !== null)
    await run.failActivity('approval', { message: 'later' })
    const { options } = await activity.set({ heartbeatTimeout: '30s', retry: { maximumAttempts: 9 } })
    equal([options.heartbeatTimeoutMs, options.retry.maximumAttempts], [30_000, 9])
    equal(await activity.retry({ dropHeartbeat: true }), { ...ids, retried: true })
    await until('the first attempt waits again', async () => (await beats()) !== null)
    await run.completeActivity('approval', { output: 'yes' })
    equal(await run.result(), ['yes'])
  },

  async 'activity: runs, starts, waits for, ends and lists activities without a workflow'({ connect }) {
    const client = connect()
    const echoBack = client.activity<(value: object) => Promise<object>>('echoBack')
    const outside = client.activity('outside')
    const [activityId, idempotencyKey] = [anId(), anId()]

    equal(await echoBack.run({ input: { n: 1 } }), { n: 1 })
    const failed = await failure(client.activity('rejects').run(), 'ActivityFailedError')
    equal([failed.activityStatus, failed.result?.errorDetails?.name], ['failed', 'BadInput'])
    const started = await outside.start({ activityId, idempotencyKey })
    equal((await outside.start({ activityId, idempotencyKey })).runId, started.runId)
    const waiting = outside.get(activityId).result()
    await until('it has begun', () => started.heartbeat({ details: 40 }).catch(() => null))
    equal((await started.status()).progress?.details, 40)
    equal(await started.complete({ output: 'yes', idempotencyKey }), {
      ...{ activityId, runId: started.runId },
      completed: true,
    })
    equal((await outside.get(activityId).complete({ output: 'yes', idempotencyKey })).completed, true)
    equal(await waiting, 'yes')
    equal((await started.resultSettled()).status, 'completed')

    const other = await outside.start({ retry: { maximumAttempts: 1 } })
    await until('it has begun', () => other.heartbeat().catch(() => null))
    equal((await other.stop({ reason: 'a test' })).cancelRequested, true)
    equal((await other.fail({ message: 'no', retryable: false })).failed, true)
    equal((await other.resultSettled()).error, 'no')
    await failure(other.terminate(), 'ActivityNotRunningError')
    const last = await outside.start()
    equal((await last.terminate()).terminated, true)
    const query = `ActivityId = '${activityId}'`
    const listed = await until('it is listed', async () => {
      const { activities } = await client.activities({ query, status: 'completed' }).page()
      return activities.length > 0 && activities
    })
    equal([listed[0]?.activityId, listed[0]?.activityName], [activityId, 'outside'])
  },

  async 'explain: says what the run waits for'({ connect }) {
    const run = await connect().start('waitForSignal')

    await until('the run waits', async () => (await run.explain()).verdict === 'waiting_handler')
    await run.signal('finish')
    await run.result()
    equal((await run.explain()).verdict, 'closed')
  },

  async 'questions, answer: reads what runs ask, and answers once'({ connect }) {
    const client = connect()
    const to = anId()
    const run = await client.start('asksPerson', { input: { to: [to] } })
    const asked = await until('it is listed', async () => {
      for await (const question of client.questions({ to, workflowName: 'asksPerson' })) return question
      return null
    })

    equal([asked.workflowId, asked.message, asked.mayAnswer], [run.workflowId, 'Refund 250 EUR?', true])
    equal((await client.questionsOf(run.workflowId)).questions, [asked])
    const answered = await client.answer(run.workflowId, asked.key, { approved: true })
    equal([answered.answered, answered.runId, answered.key], [true, run.runId, asked.key])
    equal((await run.answer(asked.key, { approved: true })).at, answered.at)
    await failure(run.answer(asked.key, { approved: false }), 'QuestionAnsweredError')
    equal(await run.result(), [{ approved: true }])
    equal((await run.questions()).questions, [])
  },

  async 'list: reads one page, all pages, or all runs'({ connect }) {
    const client = connect()
    const ids = [anId(), anId(), anId()]
    await Promise.all(ids.map((workflowId) => client.run('nothing', { workflowId })))
    const query = `WorkflowId IN (${ids.map((id) => `'${id}'`)})`
    const list = client.list({ query, workflowName: 'nothing', status: 'completed', pageSize: 2 })
    await until(
      'all are listed',
      async () => (await client.list({ query, status: 'completed' }).page()).runs.length === 3,
    )

    const listed: string[] = []
    for await (const run of list) listed.push(run.workflowId)
    const sizes: number[] = []
    for await (const page of list.pages()) sizes.push(page.runs.length)

    equal(listed.toSorted(), ids.toSorted())
    equal(sizes, [2, 1])
    const { nextPageToken, runs } = await list.page()
    equal([typeof nextPageToken, runs.length], ['string', 2])
  },

  async 'history: reads the recorded events, and follows an open run to its end'({ connect }) {
    const client = connect()
    const run = await client.start('waitForSignal')
    await until('the workflow runs', async () => (await run.status()).historyLength > 3)

    const recorded: number[] = []
    for await (const { eventId } of run.history({ pageSize: 2 })) recorded.push(eventId)
    const types: string[] = []
    for await (const { eventType } of run.history({ follow: true, includePayloads: false })) {
      types.push(eventType)
      if (types.length === recorded.length) await run.signal('finish')
    }

    equal(
      recorded,
      recorded.map((_, index) => index + 1),
    )
    equal([types[0], types.at(-1)], ['WorkflowExecutionStarted', 'WorkflowExecutionCompleted'])
  },

  async 'idempotencyKey: a second call with the key is about the same run'({ connect }) {
    const client = connect()
    const idempotencyKey = anId()

    const first = await client.start('echo', { input: 1, idempotencyKey })
    const second = await client.start('echo', { input: 1, idempotencyKey })

    equal(second.runId, first.runId)
    equal(await client.run('echo', { input: 1, idempotencyKey }), 1)
    await failure(client.run('echo', { input: 2, idempotencyKey }), 'IdempotencyKeyReusedError')
  },

  async 'numbers: integers of any size keep their digits, in both directions'({ connect }) {
    const client = connect()

    equal(await client.run('hugeNumbers'), { id: 9007199254740993n, price: 0.12345678901234568, plain: 1.5 })
    const run = await client.start('echo', { input: [9007199254740993n, -1234567890123456789n, 9007199254740991] })
    const { input } = (await client.request('GET', `/workflow/${run.workflowId}/input`)) as { input: unknown }
    equal(input, [9007199254740993n, -1234567890123456789n, 9007199254740991])
  },

  async 'batches: without a run there is none; they are listed'({ connect }) {
    const { batches } = connect()

    const created = await batches.create({ operation: 'stop', filter: { query: "WorkflowId = 'nobody'" } })

    equal(created, { batchId: null, operation: 'stop', matching: 0 })
    equal(Array.isArray((await batches.list().page()).batches), true)
    await failure(batches.get(`${'0'.repeat(16)}-${'0'.repeat(32)}`), 'BatchNotFoundError')
  },

  async 'catalog, taskQueue, request: read the catalog and its queue, and send any other request of the API'({
    connect,
    catalog,
  }) {
    const client = connect()

    const listed = await client.catalog()
    const named = await client.catalog(catalog)
    const counted = (await client.request('GET', '/workflow/runs/count', { query: { catalog: anId() } })) as object

    equal([listed.catalog, named.workflows.length > 5], [catalog, true])
    equal(named, listed)
    equal((await client.taskQueue(catalog)).workflows.pollers > 0, true)
    equal(counted, { count: 0, groups: [] })
  },
}
