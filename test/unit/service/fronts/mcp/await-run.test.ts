import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { type AwaitedRun, awaitRun } from '../../../../../src/service/fronts/mcp/await-run.ts'
import { endedToolResult } from '../../../../../src/service/fronts/mcp/tool-result.ts'
import { ServiceError } from '../../../../../src/service/model/errors.ts'
import type { Workflows } from '../../../../../src/service/verbs.ts'
import { aCall } from '../../../call.ts'
import { rejecting, running } from '../../http/api.ts'
import { result } from '../../http/run-api.ts'

const RUN = { workflowId: 'w', runId: 'r' }

const COMPLETED = { ...result, ...RUN }

const reason = { kind: 'waiting_timer' as const, since: null, advice: 'the timer fires later' }
const workflows = {
  explain: async () => ({ ...RUN, verdict: reason.kind, since: null, reasons: [reason as never], run: running }),
}

const STYLE = { hasTasks: false, acceptsEvents: true, progressToken: 'p', waitMs: 25_000 }

/** A run that ends after `ms`, or rejects as a wait does. */
function endingAfter(ms: number): AwaitedRun {
  return {
    starts: true,
    toResult: async (result) => endedToolResult(result),
    wait(waitMs, onFound) {
      onFound(RUN)
      const timedOut = new ServiceError('WorkflowExecutionTimedOutError', 'still running', { details: RUN })
      return new Promise((resolve, reject) => {
        if (ms <= waitMs) setTimeout(resolve, ms, COMPLETED)
        else setTimeout(reject, waitMs, timedOut)
      })
    },
  }
}

async function answered(
  run: AwaitedRun,
  style: Partial<typeof STYLE> = {},
  verbs: Pick<Workflows, 'explain'> = workflows,
) {
  const answering = awaitRun(verbs, run, { ...STYLE, ...style }, aCall())
  await vi.advanceTimersByTimeAsync(500)
  return answering
}

async function streamOf(run: AwaitedRun, style: object = {}): Promise<unknown[]> {
  const answer = await answered(run, style)
  if (answer.kind !== 'stream') throw new Error(`not a stream, but a ${answer.kind}`)
  const messages: unknown[] = []
  const reading = (async () => {
    for await (const message of answer.messages) messages.push(message)
  })()
  await vi.advanceTimersByTimeAsync(30_000)
  await reading
  return messages
}

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('awaitRun: a stream has the ids of the run at once, progress every 10 s, and the result at its end', async () => {
  const messages = await streamOf(endingAfter(12_000))

  expect(messages).toMatchObject([
    {
      method: 'notifications/progress',
      params: { progressToken: 'p', message: 'workflow w, run r: waiting_timer: the timer fires later' },
    },
    { method: 'notifications/progress', params: { progress: expect.any(Number) } },
    { result: { structuredContent: { ...RUN, status: 'completed', output: 1 } } },
  ])
  const [first, second] = messages as { params: { progress: number } }[]
  expect(second?.params.progress).toBeGreaterThan(first?.params.progress ?? Number.NaN)
})

test('awaitRun: without a progress token a stream has the result alone, which says after the wait that it is running', async () => {
  expect(await streamOf(endingAfter(60_000), { progressToken: null })).toMatchObject([
    { result: { structuredContent: { ...RUN, status: 'running' } } },
  ])
})

test('awaitRun: progress has the ids also while the run cannot be explained', async () => {
  const answer = await answered(endingAfter(1000), {}, { explain: rejecting('EngineUnavailableError') })
  if (answer.kind !== 'stream') throw new Error('not a stream')

  const first = await answer.messages[Symbol.asyncIterator]().next()

  expect(first.value).toMatchObject({ params: { message: 'workflow w, run r' } })
})

/** A run whose wait fails: after it has been found, unless it is `lost`. */
function failingWith(error: ServiceError, { lost = false } = {}): AwaitedRun {
  return {
    ...endingAfter(0),
    async wait(_, onFound) {
      if (!lost) onFound(RUN)
      throw error
    },
  }
}

test.for(['EngineUnavailableError', 'ResourceExhaustedError', 'PayloadCodecError'] as const)(
  'awaitRun: with %s a run that has been found may be running, or is a task',
  async (name) => {
    const failing = failingWith(new ServiceError(name, 'down'))

    expect(await answered(failing, { hasTasks: true })).toEqual({ kind: 'task', run: RUN })
    for (const style of [{}, { acceptsEvents: false }]) {
      const answer = await answered(failing, style)
      expect(answer).toMatchObject({ kind: 'result', result: { structuredContent: { ...RUN, status: 'unknown' } } })
      expect(answer).not.toHaveProperty('result.isError')
    }
  },
)

test('awaitRun: a start whose answer was lost is neither rejected nor a task', async () => {
  const lost = failingWith(new ServiceError('EngineUnavailableError', 'lost', { details: { workflowId: 'w' } }), {
    lost: true,
  })

  expect(await answered(lost, { hasTasks: true })).toMatchObject({
    kind: 'result',
    result: { isError: true, structuredContent: { workflowId: 'w', status: 'unknown' } },
  })
})

test('awaitRun: a bug after the end of the run has the ids', async () => {
  const cause = new TypeError('a bug')
  const failing = { ...endingAfter(0), toResult: () => Promise.reject(cause) }

  expect(await answered(failing)).toMatchObject({
    kind: 'result',
    result: { isError: true, structuredContent: { ...RUN, status: 'unknown', error: { name: 'InternalError' } } },
  })
})
