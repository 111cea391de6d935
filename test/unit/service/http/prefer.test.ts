import { expect, test } from 'vitest'
import { ServiceError } from '../../../../src/service/model/errors.ts'
import type { WorkflowResult } from '../../../../src/service/model/execution.ts'
import { makeApi, rejection } from './api.ts'
import { RUN_ID, result } from './run-api.ts'

const RUN = { workflowId: 'w', runId: RUN_ID }
const BODY = { workflowName: 'greet', input: null }
const TIMED_OUT = new ServiceError('WorkflowExecutionTimedOutError', 'did not complete', {
  details: { ...RUN, workflowStatus: 'paused', retryAfterSeconds: 1 },
})

/** How long each request waited; null for a start. */
function makePreferApi(
  run: () => Promise<WorkflowResult> = () => Promise.reject(TIMED_OUT),
  maxTimeoutMs = 86_400_000,
) {
  const waits: (number | null)[] = []
  const { call, events } = makeApi({
    maxTimeoutMs,
    workflows: {
      async start() {
        waits.push(null)
        return RUN
      },
      run({ timeoutMs }) {
        waits.push(timeoutMs)
        return run()
      },
    },
  })
  const prefer = (header: string, body: object = {}) =>
    call('POST', '/workflow/run', { ...BODY, ...body }, { Prefer: header })
  return { prefer, waits, events }
}

test.for([
  ['respond-async', null],
  ['respond-async, wait=0', null],
  ['respond-async, wait=10', 10_000],
  ['WAIT = "10" , Respond-Async', 10_000],
  ['respond-async; x="wait=3, y"; z=1, wait=10; q', 10_000],
  ['wait=10, wait=20, respond-async', 10_000],
  ['respond-async=, wait=1.5', null],
  ['respond-async, wait=99999999999', null],
  ['respond-async, wait=100000', 86_400_000],
] as const)('Prefer: %s', async ([header, expected]) => {
  const { prefer, waits } = makePreferApi()

  const { status, headers } = await prefer(header)

  expect([status, headers.get('Retry-After'), waits]).toEqual([202, '1', [expected]])
})

test.for(['wait=10', 'respond-asynchronously', 'x="respond-async, wait=1"', '"respond-async', '', ',;="\\'])(
  'Prefer: %s has no effect',
  async (header) => {
    const { prefer, waits } = makePreferApi()

    const { status, headers } = await prefer(header)

    expect([status, waits, headers.get('Preference-Applied')]).toEqual([424, [30_000], null])
  },
)

test('Prefer: a 202 has the status of the run, which is null if it could not be read', async () => {
  const problem = { kind: 'workflow_task_failing' as const, attempt: 2, since: null, message: 'a bug' }
  const unread = new ServiceError('WorkflowExecutionTimedOutError', 'did not complete', { details: RUN })
  const failing = new ServiceError('WorkflowExecutionTimedOutError', 'did not complete', {
    details: { ...RUN, workflowStatus: 'running', problem },
  })
  const bodyOf = async (error: ServiceError) => {
    const response = await makePreferApi(() => Promise.reject(error)).prefer('respond-async, wait=1')
    expect([response.headers.get('Location'), response.headers.get('Retry-After')]).toEqual([
      '/workflow/w/result?pending=202',
      '1',
    ])
    return response.json()
  }

  expect(await bodyOf(TIMED_OUT)).toEqual({ ...RUN, status: 'paused' })
  expect(await bodyOf(unread)).toEqual({ ...RUN, status: null })
  expect(await bodyOf(failing)).toEqual({ ...RUN, status: 'running', problem })
})

test('Prefer: a shorter timeout bounds the wait, and Preference-Applied says what was applied', async () => {
  const { prefer, waits, events } = makePreferApi()
  const applied = async (header: string, timeout: string) =>
    (await prefer(header, { timeout })).headers.get('Preference-Applied')

  expect([
    await applied('respond-async, wait=5', '10s'),
    await applied('respond-async, wait=5', '2s'),
    await applied('respond-async, wait=5', '1500ms'),
    await applied('respond-async', '2s'),
  ]).toEqual(['respond-async, wait=5', 'respond-async, wait=2', 'respond-async', 'respond-async'])
  expect(waits).toEqual([5000, 2000, 1500, null])
  expect(events.map(({ level, fields }) => [level, fields.status, fields.error])).toEqual(
    waits.map(() => ['info', 202, undefined]),
  )
})

/** `run` and `result` end in this way. */
function makeOutputApi(end: Partial<WorkflowResult> = {}) {
  const verbs: string[] = []
  const ended = (verb: string) => async () => {
    verbs.push(verb)
    return { ...result, ...end }
  }
  const api = makeApi({ workflows: { run: ended('run'), result: ended('result') } })
  const run = (query: string, headers?: Record<string, string>) =>
    api.call('POST', `/workflow/run?${query}`, { workflowName: 'greet', input: 1 }, headers)
  const get = (query: string, headers?: Record<string, string>) =>
    api.call('GET', `/workflow/w/result?${query}`, undefined, headers)
  return { ...api, verbs, run, get }
}

test.for<[Partial<WorkflowResult>, string]>([
  [{ status: 'failed', error: '' }, 'Workflow w failed'],
  [{ status: 'timed_out', error: 'too late' }, 'Workflow w timed out: too late'],
  [{ status: 'canceled', error: 'stop' }, 'Workflow w was canceled: stop'],
  [{ status: 'terminated', error: 'x' }, 'Workflow w was terminated: x'],
  [{ status: 'continued' }, 'Workflow w continued as a new run'],
])('body=output: %s reads as "%s"', async ([end, message]) => {
  const { get } = makeOutputApi({ output: null, ...end })

  expect((await (await get('body=output')).json()).message).toBe(message)
})

test('body=output: is rejected with an event stream, with another value, or repeated, before anything starts', async () => {
  const { run, get, verbs } = makeOutputApi()
  const events = { Accept: 'text/event-stream' }

  const rejected = [
    await run('body=output', events),
    await get('body=output', events),
    await run('body=result'),
    await get('body='),
    await run('body=output&body=output'),
    await run('body=output&x=1'),
    await get('body=output&x=1'),
  ]

  expect(await Promise.all(rejected.map(rejection))).toEqual(rejected.map(() => [400, 'ValidationError']))
  expect(verbs).toEqual([])
})
