/** What the client sends about activities without a workflow; test/conformance/client/calls.ts has a real service. */
import { expect, test, vi } from 'vitest'
import { clientOf, cut, ok, problem, resetBeforeEach, sent, sentPaths, settled } from './scripted-service.ts'

resetBeforeEach()

const RUN = { activityId: 'a/b', runId: 'r' }
const DONE = { ...RUN, status: 'completed', input: null, output: 7, error: null, errorDetails: null }
const NO = { name: 'Declined', message: 'no', retryable: false, activityId: 'a/b', details: [], cause: null }
const LATER = { 'Retry-After': '1' }
const TIMED_OUT = problem(424, 'ActivityExecutionTimedOutError', { ...RUN, activityStatus: 'running' }, LATER)
const OPEN = problem(424, 'ActivityNotCompletedError', { ...RUN, activityStatus: 'running' })

test('the client: runs an activity with a key, and waits for its run over several requests', async () => {
  const client = clientOf(
    [cut, () => Response.json({ ...RUN, status: 'running' }, { status: 202 }), TIMED_OUT, ok(DONE)],
    {
      catalog: 'payments',
    },
  )

  const output = settled(client.activity('charge').run({ input: 3, activityId: 'a/b' }))
  await vi.advanceTimersByTimeAsync(10_000)

  expect(await output).toBe(7)
  const result = '/activity/a%2Fb/runs/r/result'
  expect(sentPaths()).toEqual(['/activity/run', '/activity/run', result, result])
  const [first, again, wait] = sent
  expect(first?.body).toEqual({ activityName: 'charge', catalog: 'payments', input: 3, activityId: 'a/b' })
  expect([first?.headers.get('Prefer'), wait?.url]).toEqual([
    'respond-async, wait=25',
    expect.stringContaining('?wait=25000'),
  ])
  expect(again?.headers.get('Idempotency-Key')).toBe(first?.headers.get('Idempotency-Key'))
  expect(first?.headers.get('Idempotency-Key')).toHaveLength(32)
  expect(wait?.headers.get('Last-Event-ID')).toBeNull()
})

test('the client: an activity that does not complete, or not in time, is an error with its ids', async () => {
  const failed = { ...DONE, status: 'failed', output: null, error: 'no', errorDetails: NO }
  const onOpen = vi.fn()
  const error = await settled(
    clientOf([ok(failed)])
      .activity('charge')
      .run(),
  )
  const late = settled(clientOf([OPEN, TIMED_OUT]).activity('charge').get('a/b').result({ timeoutMs: 3000, onOpen }))
  await vi.advanceTimersByTimeAsync(10_000)

  expect(error).toMatchObject({ ...RUN, error: 'ActivityFailedError', message: 'no', activityStatus: 'failed' })
  expect(error.result).toEqual(failed)
  expect(await late).toMatchObject({
    ...{ ...RUN, error: 'ActivityExecutionTimedOutError', status: null, activityStatus: 'running' },
    message: 'Activity a/b did not complete within 3000 ms',
  })
  expect(onOpen).toHaveBeenCalledWith({ ...RUN, activityStatus: 'running' })
})

test('the client: what ends an activity goes to one run of it, and is repeated if that is safe', async () => {
  const repeated = async (act: (client: ReturnType<typeof clientOf>) => Promise<unknown>) => {
    sent.length = 0
    const done = settled(act(clientOf([cut, ok()])))
    await vi.advanceTimersByTimeAsync(10_000)
    await done
    return sent.map(({ method, url }) => `${method} ${new URL(url).pathname}`)
  }
  const times = (count: number, request: string) => Array(count).fill(request)
  const one = { activityId: 'x', runId: 'r' }
  const get = (client: ReturnType<typeof clientOf>) => client.activity('charge').get(one)

  expect(await repeated((client) => get(client).stop())).toEqual(times(2, 'PATCH /activity/x/runs/r/stop'))
  expect(await repeated((client) => get(client).terminate())).toEqual(times(1, 'POST /activity/x/runs/r/terminate'))
  expect(await repeated((client) => get(client).complete())).toEqual(times(2, 'POST /activity/x/runs/r/complete'))
  expect(sent[0]?.headers.get('Idempotency-Key')).toBe(sent[1]?.headers.get('Idempotency-Key'))
  expect(await repeated((client) => get(client).fail({ message: 'no' }))).toEqual(
    times(1, 'POST /activity/x/runs/r/fail'),
  )
  expect(await repeated((client) => get(client).heartbeat())).toEqual(times(2, 'POST /activity/x/runs/r/heartbeat'))
  sent.length = 0
  await clientOf([ok({ runId: 'latest' })])
    .activity('charge')
    .get('x')
    .terminate({ reason: 'wrong' })
  expect(sentPaths()).toEqual(['/activity/x/status', '/activity/x/runs/latest/terminate'])
  expect(sent[1]?.body).toEqual({ reason: 'wrong' })
})

test('the client: lists activities, and with two arguments activity is one of a workflow', async () => {
  const client = clientOf([ok({ activities: [RUN], nextPageToken: null, runId: 'r' })])

  const { activities } = await client.activities({ activityName: 'charge', status: 'running', pageSize: 2 }).page()
  await client.activity('order-17', 'approval').retry()

  expect(activities).toEqual([RUN])
  expect(sent[0]?.url).toContain('/activity/runs?activityName=charge&status=running&pageSize=2')
  expect(sentPaths().slice(1)).toEqual([
    '/workflow/order-17/status',
    '/workflow/order-17/runs/r/activities/approval/retry',
  ])
})
