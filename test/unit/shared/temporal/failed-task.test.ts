import { expect, test } from 'vitest'
import { createHistoryReader } from '../../../../src/shared/temporal/history/reader.ts'
import type { TemporalEvent } from '../../../../src/shared/temporal/outcome.ts'
import { createPayloadReader } from '../../../../src/shared/temporal/payload.ts'
import { toTraceTree } from '../../../../src/shared/wire/trace/tree.ts'

const BUG = 14
const UNHANDLED_COMMAND = 1
const RESET = 20
const START_TO_CLOSE = 1
const SCHEDULE_TO_START = 2

const payloads = createPayloadReader(null)

type Told = Omit<TemporalEvent, 'eventId' | 'eventTime'>

/** The event n stands at second n, after the start of the run. */
async function nodesOf(...events: Told[]) {
  const history = [{ workflowExecutionStartedEventAttributes: { workflowType: { name: 'order' } } }, ...events].map(
    (told, at) => ({ eventId: at + 1, eventTime: { seconds: at + 1, nanos: 0 }, ...told }),
  )
  const entries = await createHistoryReader({ workflowId: 'w', runId: 'run-1' }, payloads).entriesOf(
    history as unknown as TemporalEvent[],
  )
  return toTraceTree(entries)?.children
}

const scheduled = (attempt = 1): Told => ({ workflowTaskScheduledEventAttributes: { attempt } })
const started: Told = { workflowTaskStartedEventAttributes: {} }
const completed: Told = { workflowTaskCompletedEventAttributes: {} }
const failed = (message: string, cause = BUG): Told => ({
  workflowTaskFailedEventAttributes: {
    cause,
    identity: '1@host',
    failure: { message, stackTrace: 'at /srv/app', source: 'TypeScriptSDK' },
  },
})
const timedOut = (timeoutType: number): Told => ({ workflowTaskTimedOutEventAttributes: { timeoutType } })

test('history: a workflow task that fails is one open node, with its last failure', async () => {
  expect(
    await nodesOf(scheduled(), started, failed('first'), scheduled(), started, failed('in /srv/app/x.js')),
  ).toEqual([
    {
      id: 'run-1:workflow_task:4',
      kind: 'workflow_task',
      name: 'unhandled failure',
      startedAt: 2000,
      endedAt: null,
      input: null,
      output: null,
      error: { name: 'Error', message: 'in <path>', cause: null },
      attributes: { attempts: 2 },
      children: [],
    },
  ])
})

test('history: the node ends when a later attempt completes, and the next failure is a new node', async () => {
  const nodes = await nodesOf(
    scheduled(),
    started,
    failed('a bug'),
    scheduled(5),
    started,
    completed,
    scheduled(),
    failed('another'),
  )

  expect(nodes).toMatchObject([
    { startedAt: 2000, endedAt: 7000, error: { message: 'a bug' }, attributes: { attempts: 5 } },
    { startedAt: 8000, endedAt: null, error: { message: 'another' }, attributes: { attempts: 1 } },
  ])
})

test('history: a workflow task that timed out is a node if a worker started it', async () => {
  expect(await nodesOf(scheduled(), timedOut(SCHEDULE_TO_START))).toEqual([])
  expect(await nodesOf(scheduled(), started, timedOut(START_TO_CLOSE))).toMatchObject([
    { name: 'timeout', error: { name: 'TimeoutFailure' } },
  ])
})

test('history: a timeout after a failure keeps the failure that the worker reported', async () => {
  const nodes = await nodesOf(scheduled(), started, failed('a bug'), scheduled(), started, timedOut(START_TO_CLOSE))

  expect(nodes).toMatchObject([{ error: { message: 'a bug' }, attributes: { attempts: 2 } }])
})

test('history: a workflow task that failed without an error of the worker is not a node, and a reset ends the previous node', async () => {
  const reset = { workflowTaskFailedEventAttributes: { cause: RESET, baseRunId: 'run-0', newRunId: 'run-1' } }

  expect(await nodesOf(scheduled(), started, failed('UnhandledCommand', UNHANDLED_COMMAND))).toEqual([])
  expect(await nodesOf(scheduled(), started, failed('a bug'), scheduled(), started, reset)).toMatchObject([
    { endedAt: 7000 },
  ])
})
