import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { awaitTask, cancelTask, getTask, updateTask } from '../../../../../../src/service/fronts/mcp/tasks/tasks.ts'
import type { ChainState, EndedChain, OpenChain } from '../../../../../../src/service/model/chain-state.ts'
import type { ControlCommand, ResultCommand } from '../../../../../../src/service/model/commands.ts'
import { ServiceError, workflowNotFound } from '../../../../../../src/service/model/errors.ts'
import type { WorkflowResult } from '../../../../../../src/service/model/execution.ts'
import type { Reason } from '../../../../../../src/service/model/explanation.ts'
import type { AnswerCommand } from '../../../../../../src/service/model/question.ts'
import type { Workflows } from '../../../../../../src/service/verbs.ts'
import { createLimiter, type Limiter } from '../../../../../../src/shared/lib/limiter.ts'
import { aCall } from '../../../../call.ts'

const NOW = Date.parse('2026-11-24T12:00:00.000Z')

beforeEach(() => {
  vi.useFakeTimers({ now: NOW })
})

afterEach(() => void vi.useRealTimers())

const RUN = { workflowId: 'orders-17', runId: '01a20cdc-7f73-7485-8a11-b95c90e3c290' }
const TASK_ID = `orders-17/${RUN.runId}`
const WAITING: Reason = {
  kind: 'waiting_handler',
  since: new Date(NOW - 500),
  signals: [],
  updates: [],
  advice: 'wait',
}
const ASKS = { k1: { signal: 'answer', message: 'Approve?', schema: { type: 'object' } } }
const ACCEPT = { k1: { action: 'accept', content: { approved: true } } }

function facts(ageMs = 1000) {
  return { ...RUN, workflowName: 'order', catalog: 'orders', startedAt: new Date(NOW - ageMs) }
}

function open(overrides: Partial<OpenChain> = {}, ageMs?: number): OpenChain {
  return { kind: 'open', ...facts(ageMs), asks: undefined, explain: async () => WAITING, ...overrides }
}

function ended(result: Partial<WorkflowResult> = {}): EndedChain {
  const nothing = { input: null, output: null, trace: null, error: null, errorDetails: null }
  const all: WorkflowResult = { ...RUN, status: 'completed', ...nothing, ...result }
  return { kind: 'ended', ...facts(), endedAt: new Date(NOW - 100), result: all }
}

/** Verbs that read these states of the chain, one after the other, and record what is sent. */
function makeTasks(...states: (ChainState | Error)[]) {
  const sent: (AnswerCommand | ControlCommand)[] = []
  let reads = 0
  const readChain = async () => {
    const state = states[Math.min(reads++, states.length - 1)]
    if (state === undefined || state instanceof Error) throw state
    return state
  }
  return {
    readChain,
    sent,
    reads: () => reads,
    async stop(command: ControlCommand) {
      sent.push(command)
      return { ...RUN, cancelRequested: true, status: 'running' as const }
    },
    async answer(command: AnswerCommand) {
      sent.push(command)
      return { ...RUN, key: command.key, at: new Date(NOW) }
    },
  }
}

const get = (state: ChainState | Error) =>
  getTask(makeTasks(state), TASK_ID, ({ result }) => ({ output: result.output }), aCall())

test.for([
  [0, 1000],
  [20_000, 1000],
  [60_000, 3000],
  [86_400_000, 30_000],
] as const)('getTask: after %d ms the next read is due in %d ms', async ([ageMs, pollIntervalMs]) => {
  expect(await get(open({}, ageMs))).toMatchObject({ pollIntervalMs })
})

test('getTask: a run that asks requires input, and is not explained', async () => {
  const explain = vi.fn(async () => WAITING)

  expect(await get(open({ asks: ASKS, explain }))).toMatchObject({
    status: 'input_required',
    statusMessage: 'Approve?',
    inputRequests: { k1: { method: 'elicitation/create' } },
  })
  expect(explain).not.toHaveBeenCalled()
})

test.for(['completed', 'failed', 'terminated', 'timed_out'] as const)(
  'getTask: a run that is %s is completed with the result of the tool',
  async (status) => {
    const task = await get(ended({ status, output: 'done' }))

    expect(task).toMatchObject({
      status: 'completed',
      lastUpdatedAt: '2026-11-24T11:59:59.900Z',
      result: { resultType: 'complete', output: 'done' },
    })
    expect(task).not.toHaveProperty('pollIntervalMs')
  },
)

test('getTask: a canceled run is cancelled, with the reason', async () => {
  expect(await get(ended({ status: 'canceled', error: 'no money' }))).toMatchObject({
    status: 'cancelled',
    statusMessage: 'no money',
  })
})

test('getTask: a run that does not exist, or that the caller may not read, is an invalid parameter (threat 94)', async () => {
  const forbidden = new ServiceError('ForbiddenError', 'The policy does not allow it')

  await expect(get(workflowNotFound(RUN))).rejects.toMatchObject({ name: 'JsonRpcError', code: -32602 })
  await expect(get(forbidden)).rejects.toMatchObject({ code: -32602, message: 'The policy does not allow it' })
})

test('getTask: an outage is not an answer about the task', async () => {
  const outage = new ServiceError('EngineUnavailableError', 'down')

  await expect(get(outage)).rejects.toBe(outage)
})

test('getTask: has its full time in a call that is old', async () => {
  const call = aCall({ deadlineAt: NOW })
  let deadlineAt = 0
  const readChain = async (_: unknown, call: { deadlineAt: number }) => {
    deadlineAt = call.deadlineAt
    return ended()
  }

  await getTask({ readChain }, TASK_ID, () => ({}), call)

  expect(deadlineAt).toBe(NOW + 4500)
})

/** What the promise resolves with after all timers have fired. */
async function afterTimers<Value>(promise: Promise<Value>): Promise<Value> {
  await vi.runAllTimersAsync()
  return promise
}

const unlimited: Limiter = (act) => act()

test('awaitTask: waits from the last run of the chain, again after an error, and ends with the task', async () => {
  const waited: unknown[] = []
  const outage = new ServiceError('EngineUnavailableError', 'down')
  const states = makeTasks(open({ runId: 'run-3' }), outage, open({ runId: 'run-4' }), ended())
  const result = async ({ ref }: ResultCommand) => {
    waited.push(ref.runId)
    throw outage
  }

  const hasEnded = await afterTimers(awaitTask({ ...states, result }, TASK_ID, unlimited, aCall()))

  expect(hasEnded).toBe(true)
  expect([waited, Date.now() - NOW]).toEqual([['run-3', 'run-4'], 7000])
})

test('awaitTask: waits longer after each failure in a row, at most 30 s', async () => {
  const outage = new ServiceError('EngineUnavailableError', 'down')
  const states = makeTasks(...Array<Error>(7).fill(outage), ended())
  const result = () => Promise.reject(new Error('not expected'))

  await afterTimers(awaitTask({ ...states, result }, TASK_ID, unlimited, aCall()))

  expect(Date.now() - NOW).toBe((1 + 2 + 4 + 8 + 16 + 30 + 30) * 1000)
})

test('awaitTask: the limit holds until the wait has begun', async () => {
  const limit = createLimiter(1)
  const { promise: never } = Promise.withResolvers<never>()
  const found: (() => void)[] = []
  const result: Workflows['result'] = ({ onFound }) => {
    found.push(() => onFound?.(RUN))
    return never
  }
  const readChain = vi.fn(async () => open())
  for (let tasks = 0; tasks < 2; tasks++) void awaitTask({ readChain, result }, TASK_ID, limit, aCall())
  await vi.advanceTimersByTimeAsync(0)
  const readsBefore = readChain.mock.calls.length
  for (const begin of found) begin()
  await vi.advanceTimersByTimeAsync(0)

  expect([readsBefore, readChain.mock.calls.length]).toEqual([1, 2])
})

test('awaitTask: is false for a task that does not exist, and when the call is aborted', async () => {
  const result = () => Promise.reject(new Error('not expected'))
  const aborted = aCall({ signal: AbortSignal.abort() })
  const awaitIn = (state: ChainState | Error, call = aCall()) =>
    awaitTask({ ...makeTasks(state), result }, TASK_ID, unlimited, call)

  expect(await awaitIn(workflowNotFound(RUN))).toBe(false)
  expect(await awaitIn(open(), aborted)).toBe(false)
})

test('cancelTask: also stops the runs that continue it, but not for ever', async () => {
  const runs = ['run-1', 'run-2', 'run-3', 'run-4', 'run-5'].map((runId) => open({ runId }))
  const continuing = makeTasks(...runs)
  const ending = makeTasks(open({ runId: 'run-1' }), open({ runId: 'run-2' }), ended())

  await cancelTask(continuing, TASK_ID, aCall())
  await cancelTask(ending, TASK_ID, aCall())

  const stopped = [continuing, ending].map(({ sent }) => sent.map(({ ref }) => ref.runId))
  expect(stopped).toEqual([
    ['run-1', 'run-2', 'run-3'],
    ['run-1', 'run-2'],
  ])
})

test('updateTask: answers the run that asks, and returns when it has taken the answer', async () => {
  const asking = open({ asks: ASKS, runId: 'run-3' })
  const tasks = makeTasks(asking, asking, asking, open())

  await afterTimers(updateTask(tasks, TASK_ID, ACCEPT, aCall()))

  expect(tasks.sent).toEqual([
    {
      ref: { workflowId: 'orders-17', runId: 'run-3' },
      ...{ key: 'k1', content: { approved: true }, pointer: '/inputResponses/k1' },
    },
  ])
  expect([tasks.reads(), Date.now() - NOW]).toEqual([4, 200])
})

test('updateTask: returns after a second, or when the engine fails, if the run is busy', async () => {
  const asking = open({ asks: ASKS })
  const outage = new ServiceError('EngineUnavailableError', 'down')
  const call = aCall()

  await afterTimers(updateTask(makeTasks(asking), TASK_ID, ACCEPT, call))
  const tookMs = Date.now() - NOW
  await updateTask(makeTasks(asking, outage), TASK_ID, ACCEPT, call)

  expect(tookMs).toBe(1000)
  expect(call.notes).toEqual({ answerUnread: outage })
})

test('updateTask: an answer to a question that does not exist any more is acknowledged (threat 92)', async () => {
  const tasks = [makeTasks(open()), makeTasks(ended()), makeTasks(open({ asks: ASKS }))]
  const answer = () => Promise.reject(new ServiceError('QuestionNotFoundError', 'it has no such question'))

  for (const one of tasks) await updateTask({ ...one, answer }, TASK_ID, { old: ACCEPT.k1 }, aCall())

  expect(tasks.map(({ reads }) => reads())).toEqual([1, 1, 1])
})

test('updateTask: a run that ends meanwhile does not need the answer', async () => {
  const tasks = makeTasks(open({ asks: ASKS }), ended())
  const answer = () => Promise.reject(new ServiceError('WorkflowNotRunningError', 'it has ended'))

  await expect(updateTask({ ...tasks, answer }, TASK_ID, ACCEPT, aCall())).resolves.toBeUndefined()
})

test('updateTask: an answer after that of somebody else is an error', async () => {
  const details = { ...RUN, key: 'k1', at: '2026-11-24T11:59:00.000Z' }
  const answer = () => Promise.reject(new ServiceError('QuestionAnsweredError', 'too late', { details }))

  await expect(updateTask({ ...makeTasks(open()), answer }, TASK_ID, ACCEPT, aCall())).rejects.toMatchObject({
    ...{ code: -32602, message: 'too late' },
    data: { name: 'QuestionAnsweredError', key: 'k1', at: '2026-11-24T11:59:00.000Z' },
  })
})

test('updateTask: what the catalog says about the signal is reported', async () => {
  const issues = [{ path: '/inputResponses/k1/content', message: 'must be a string' }]
  const answer = () => Promise.reject(new ServiceError('ValidationError', 'no', { details: { issues } }))

  await expect(
    updateTask({ ...makeTasks(open({ asks: ASKS })), answer }, TASK_ID, ACCEPT, aCall()),
  ).rejects.toMatchObject({ code: -32602, data: { issues } })
})
