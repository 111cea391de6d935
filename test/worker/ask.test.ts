/** Tasks on a real engine: what a workflow asks, how its chain ends, and what happens during an outage. */
import { expect } from 'vitest'
import { until } from '../../src/cli/dev/servers/until.ts'
import type { JsonRpcError } from '../../src/service/fronts/mcp/rpc-error.ts'
import {
  awaitTask,
  cancelTask,
  getTask,
  type Task,
  taskIdOf,
  updateTask,
} from '../../src/service/fronts/mcp/tasks/tasks.ts'
import type { Workflows } from '../../src/service/verbs.ts'
import { createLimiter } from '../../src/shared/lib/limiter.ts'
import { call } from '../conformance/engine/engine-fixture.ts'
import { test as baseTest } from '../support/fixtures.ts'
import { inProcessWorkflows } from '../support/in-process-workflows.ts'
import { startPythonWorker } from '../support/python-worker.ts'

const test = baseTest
  .extend('workerOptions', { scope: 'file' }, () => ({
    workflowsPath: new URL('../support/asking-workflows.ts', import.meta.url),
  }))
  .extend('workflows', { scope: 'file' }, ({ faultProxy, catalog, worker: _, cleanup }): Workflows => {
    const { workflows, close } = inProcessWorkflows({ address: faultProxy.address, catalog })
    cleanup.defer(close)
    return workflows
  })
  /** Starts a workflow, and returns its task. */
  .extend('start', { scope: 'file' }, ({ workflows, catalog }) => {
    return async (workflowName: string, input: unknown = null, taskQueue = catalog) => {
      const arguments_ = { args: input === null ? [] : [input], argumentPointer: '/input' }
      const run = await workflows.start({ workflowName, catalog: taskQueue, ...arguments_ }, call())
      return { ...run, taskId: taskIdOf(run) }
    }
  })
  .extend('get', { scope: 'file' }, ({ workflows }) => (taskId: string): Promise<Task> => {
    return getTask(workflows, taskId, ({ result }) => ({ structuredContent: { output: result.output } }), call())
  })
  /** The task, once it has this status. */
  .extend('reached', { scope: 'file' }, ({ get }) => (taskId: string, status: Task['status']) => {
    return until(`the task is ${status}`, async () => {
      const task = await get(taskId)
      return task.status === status && task
    })
  })

test('a task: asks, is answered once, and completes with the answer', async ({ workflows, start, get, reached }) => {
  const { workflowId, taskId } = await start('asksOnce')
  const asking = await reached(taskId, 'input_required')
  const [key = ''] = keysOf(asking)
  const status = await workflows.status({ ref: { workflowId } }, call())
  const { questions } = await workflows.questionsOf({ ref: { workflowId } }, call())
  const accept = (content: unknown) => ({ [key]: { action: 'accept', content } })

  const invalid = await rpcError(updateTask(workflows, taskId, accept({ approved: 'yes' }), call()))
  await updateTask(workflows, taskId, { [key]: { action: 'decline' } }, call())
  const declined = await get(taskId)
  const answer = { approved: true, comment: 'Ada' }
  await Promise.all([1, 2].map(() => updateTask(workflows, taskId, accept(answer), call())))
  const other = await rpcError(updateTask(workflows, taskId, accept({ approved: false }), call()))
  await updateTask(workflows, taskId, { other: { action: 'accept' } }, call())

  const ended = await reached(taskId, 'completed')
  expect(asking).toMatchObject({
    statusMessage: 'Approve the order?',
    inputRequests: {
      [key]: {
        method: 'elicitation/create',
        params: { mode: 'form', message: 'Approve the order?', requestedSchema: { required: ['approved'] } },
      },
    },
  })
  expect(status.memo).toEqual({})
  expect(questions).toMatchObject([{ key, askedAt: expect.any(Date), to: null, due: null }])
  expect(other).toMatchObject({ code: -32602, data: { name: 'QuestionAnsweredError', key } })
  expect(invalid).toMatchObject({
    code: -32602,
    data: { issues: [{ path: `/inputResponses/${key}/content/approved` }] },
  })
  expect(keysOf(declined)).toEqual([key])
  expect(ended).toMatchObject({ result: { resultType: 'complete', structuredContent: { output: answer } } })
  expect(await signalsOf(workflows, workflowId)).toBe(1)
})

test('a task: runs of the same workflow each get their own answer', async ({ workflows, start, reached }) => {
  const started = await Promise.all([1, 2, 3].map(() => start('asksOnce')))
  const asking = await Promise.all(started.map(({ taskId }) => reached(taskId, 'input_required')))

  await Promise.all(
    asking.map((task, at) => {
      const content = { approved: true, comment: `${at}` }
      return updateTask(workflows, task.taskId, { [keysOf(task)[0] ?? '']: { action: 'accept', content } }, call())
    }),
  )

  const ended = await Promise.all(started.map(({ taskId }) => reached(taskId, 'completed')))
  expect(ended.map(outputOf)).toEqual(['0', '1', '2'].map((comment) => ({ approved: true, comment })))
})

test('a task: asks two questions at once, and another one after it has continued as new', async ({
  workflows,
  start,
  get,
  reached,
}) => {
  const { taskId } = await start('asksInTurns')
  const both = await until('it asks two questions', async () => {
    const task = await get(taskId)
    return keysOf(task).length === 2 && task
  })
  const answer = (key: string, comment: string) =>
    updateTask(workflows, taskId, { [key]: { action: 'accept', content: { approved: true, comment } } }, call())

  const [first = '', second = ''] = keysInOrder(both, ['first?', 'second?'])
  await answer(second, '2')
  // A request waits a second for the workflow to take the answer.
  const left = await until('one question is left', async () => {
    const keys = keysOf(await get(taskId))
    return keys.length === 1 && keys
  })
  await answer(first, '1')
  const third = await until('it asks the third question', async () => {
    const [key] = keysInOrder(await get(taskId), ['third?'])
    return key
  })
  await answer(third, '3')

  expect(left).toEqual([first])
  expect(outputOf(await reached(taskId, 'completed'))).toMatchObject(['1', '2', '3'].map((comment) => ({ comment })))
})

test('a task: the first answer to each question counts, whoever sends it', async ({
  workflows,
  start,
  get,
  reached,
}) => {
  const { workflowId, taskId } = await start('asksInTurns')
  const both = await until('it asks two questions', async () => {
    const task = await get(taskId)
    return keysOf(task).length === 2 && task
  })
  const send = async (signal: string, key: string | undefined, content: string) => {
    const message = { name: signal, args: [{ key, content }], argumentPointer: '/payload' }
    await workflows.signal({ ref: { workflowId }, message }, call())
  }

  const [first, second] = keysInOrder(both, ['first?', 'second?'])
  // Paused, so that the workflow receives them at the same time.
  const control = { ref: { workflowId }, reason: null }
  await workflows.pause(control, call())
  for (const content of ['1', 'too late']) await send('answer', first, content)
  await workflows.unpause(control, call())
  await send('answer', crypto.randomUUID(), 'to no question')
  await send('answer', second, '2')
  const third = await until('it asks the third question', async () => keysInOrder(await get(taskId), ['third?'])[0])
  await send('decide', third, '3')

  expect(outputOf(await reached(taskId, 'completed'))).toEqual(['1', '2', '3'])
})

test('ask: the search attribute has the names of the questions that are open, and finds the run', async ({
  workflows,
  start,
  get,
  reached,
}) => {
  const team = `team-${crypto.randomUUID()}`
  const { workflowId, runId, taskId } = await start('asksListed', team)
  const both = await until('it asks two questions', async () => {
    const task = await get(taskId)
    return keysOf(task).length === 2 && task
  })
  const ref = { workflowId }
  const names = async () => (await workflows.status({ ref }, call())).searchAttributes.OptionKeywordList
  const page = { filter: { searchAttributes: { OptionKeywordList: team } }, to: [team], pageSize: 10, pageToken: null }
  const answer = (key: string | undefined) => {
    const content = { approved: true }
    return workflows.answer({ ref, key: key ?? '', content, pointer: '' }, call())
  }

  const asked = await names()
  const listed = await until('it is listed', async () => {
    const { questions } = await workflows.questions(page, call())
    return questions.length > 0 && questions
  })
  const [first, second] = keysInOrder(both, ['first?', 'second?'])
  await answer(first)
  const left = await until('the first is answered', async () => {
    const found = await names()
    return JSON.stringify(found) !== JSON.stringify(asked) && found
  })
  await answer(second)
  await reached(taskId, 'completed')

  expect([asked, left]).toEqual([[team, '*'], ['*']])
  expect(listed).toMatchObject([{ workflowId, runId, message: 'first?', to: [team], due: new Date('2027-01-01') }])
  expect((await names()) ?? []).toEqual([])
})

test('a task of a worker in Python: asks by the memo alone', async ({ workflows, engine, catalog, start, reached }) => {
  const taskQueue = `${catalog}-python`
  await using worker = await pythonWorker(engine.address, taskQueue)
  const { workflowId, taskId } = await start('py_ask', 'Ship it?', worker.taskQueue)
  const asking = await reached(taskId, 'input_required')
  const [key = ''] = keysOf(asking)
  const { questions } = await workflows.questionsOf({ ref: { workflowId } }, call())

  await updateTask(workflows, taskId, { [key]: { action: 'accept', content: { approved: true } } }, call())

  expect(asking.statusMessage).toBe('Ship it?')
  const [{ to, askedAt, due } = { to: null, askedAt: null, due: null }] = questions
  expect([to, Number(due) - Number(askedAt)]).toEqual([['finance'], 3 * 86_400_000])
  expect(outputOf(await reached(taskId, 'completed'))).toEqual({ approved: true })
  expect((await workflows.status({ ref: { workflowId } }, call())).memo).toEqual({})
})

test('a task: is canceled while it asks, and while it cleans up', async ({ workflows, start, get, reached }) => {
  const [asking, cleaning] = await Promise.all([start('asksOnce'), start('cleansUp', { ms: 6000 })])
  await reached(asking.taskId, 'input_required')
  await until('it has begun', () => get(cleaning.taskId).then((task) => task.statusMessage?.startsWith('waiting')))

  await Promise.all([asking, cleaning].map(({ taskId }) => cancelTask(workflows, taskId, call())))
  // Within the time of the cleanup, also on a busy machine: a request takes at most 4.5 s.
  const meanwhile = await get(cleaning.taskId)
  const ended = await Promise.all([asking, cleaning].map(({ taskId }) => reached(taskId, 'cancelled')))
  await cancelTask(workflows, cleaning.taskId, call())

  expect(meanwhile).toMatchObject({ status: 'working', statusMessage: expect.stringMatching(/^canceling since \S+: /) })
  expect(ended.map(({ statusMessage }) => statusMessage)).toEqual(
    Array(2).fill('The workflow was canceled: tasks/cancel'),
  )
})

test('a task: a failed run is completed, and so are the runs that the engine retries', async ({ start, reached }) => {
  const { taskId } = await start('failRetryable')

  expect(await reached(taskId, 'completed')).toMatchObject({ result: { structuredContent: { output: null } } })
})

test('a task: a chain of three runs is one task', async ({ workflows, start, get, reached }) => {
  const chain = await start('chain', { links: 3 })
  const open = await start('chainOnSignal', 1)
  const send = (name: string) => {
    return workflows.signal({ ref: { workflowId: open.workflowId }, message: aMessage(name) }, call())
  }
  const awaited = awaitTask(workflows, open.taskId, createLimiter(1), call())
  const before = await get(open.taskId)
  for (const round of [2, 3]) {
    await send('next')
    const update = { ref: { workflowId: open.workflowId }, message: aMessage('round') }
    await until(`round ${round} has begun`, async () => (await workflows.update(update, call())) === round)
  }

  const after = await get(open.taskId)
  await send('finish')

  expect(outputOf(await reached(chain.taskId, 'completed'))).toEqual({ links: 3, link: 3 })
  expect([before.status, after.status]).toEqual(['working', 'working'])
  const { startedAt } = await workflows.status({ ref: { workflowId: open.workflowId, runId: open.runId } }, call())
  expect(before.createdAt).toBe(startedAt?.toISOString())
  // The id of the first run says when it was created. The engine of a busy machine starts it some time later.
  const idTime = Number.parseInt(open.runId.replaceAll('-', '').slice(0, 12), 16)
  expect(after.createdAt).toBe(new Date(idTime).toISOString())
  expect(await awaited).toBe(true)
  expect(outputOf(await reached(open.taskId, 'completed'))).toBe(3)
})

test('a task: one whose workflow id another chain uses by now keeps its own result', async ({
  workflows,
  start,
  catalog,
  reached,
}) => {
  const first = await start('chain', { links: 3 })
  await reached(first.taskId, 'completed')
  const { workflowId } = first
  const input = { args: [], argumentPointer: '/input' }
  const second = await workflows.start({ workflowName: 'waitForSignal', workflowId, catalog, ...input }, call())

  await cancelTask(workflows, first.taskId, call())

  expect(outputOf(await reached(first.taskId, 'completed'))).toEqual({ links: 3, link: 3 })
  expect(await workflows.status({ ref: second }, call())).toMatchObject({ status: 'running' })
  await workflows.terminate({ ref: second, reason: null }, call())
})

test('a task: one that never existed is unknown', async ({ workflows, get }) => {
  const run = { workflowId: crypto.randomUUID(), runId: crypto.randomUUID() }

  for (const act of [get, (id: string) => cancelTask(workflows, id, call())])
    expect(await rpcError(act(taskIdOf(run)))).toMatchObject({ code: -32602 })
})

test('a task: during an outage of the engine it is neither unknown nor ended, and can be read afterwards', async ({
  start,
  get,
  faultProxy,
  workflows,
}) => {
  const { taskId, workflowId } = await start('waitForSignal')
  const before = await get(taskId)

  const heal = faultProxy.on({ method: 'DescribeWorkflowExecution', containing: workflowId, fault: 'hang' })
  // The engine does not respond before `heal`: the request has ended at its own deadline.
  const error = await get(taskId).catch((reason: unknown) => reason)
  heal()

  expect(before.status).toBe('working')
  expect(error).toMatchObject({ error: 'EngineUnavailableError' })
  expect((await until('it can be read', () => get(taskId).catch(() => null))).status).toBe('working')
  await workflows.terminate({ ref: { workflowId }, reason: null }, call())
})

function aMessage(name: string) {
  return { name, args: [], argumentPointer: '/payload' }
}

function keysOf(task: Task): string[] {
  return task.status === 'input_required' ? Object.keys(task.inputRequests) : []
}

/** The keys of the questions with these messages. */
function keysInOrder(task: Task, messages: string[]): (string | undefined)[] {
  const requests = task.status === 'input_required' ? Object.entries(task.inputRequests) : []
  return messages.map((message) => requests.find(([, { params }]) => params.message === message)?.[0])
}

function outputOf(task: Task): unknown {
  const { structuredContent } = (task.status === 'completed' ? task.result : {}) as {
    structuredContent?: { output: unknown }
  }
  return structuredContent?.output
}

async function rpcError(promise: Promise<unknown>): Promise<JsonRpcError> {
  return promise.then(
    (value) => Promise.reject(new Error(`not rejected: ${JSON.stringify(value)}`)),
    (error) => error,
  )
}

async function signalsOf(workflows: Workflows, workflowId: string): Promise<number> {
  const page = { pageSize: 100, pageToken: null, waitMs: 0, includePayloads: false }
  const { events } = await workflows.history({ ref: { workflowId }, ...page }, call())
  return events.filter(({ eventType }) => eventType === 'WorkflowExecutionSignaled').length
}

async function pythonWorker(address: string, taskQueue: string) {
  const worker = await startPythonWorker({ address, taskQueue })
  return { ...worker, [Symbol.asyncDispose]: () => worker.stop() }
}
