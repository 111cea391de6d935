/** Activities that fail, are repeated, canceled or completed elsewhere, as Temporal's TypeScript samples have them. */
import { expect, test } from 'vitest'
import { until } from '../../src/cli/dev/servers/until.ts'
import { nodesIn } from '../support/trace-nodes.ts'
import type { Samples } from './clients.ts'
import { alike, completed, outcomeOf } from './sample-client.ts'

export function activitySamples(samples: () => Samples): void {
  test('saga: the failure is that of the activity, after the compensation', async () => {
    expect(await outcomeOf(samples(), 'trip', 'Ada')).toEqual({
      status: 'failed',
      error: { name: 'HotelFull', message: 'the hotel is full' },
    })
  })

  test('saga: the trace log shows the failed step and the compensation', async () => {
    const run = await samples().http.start('trip', 'Ada')
    await run.result()

    const { body } = await samples().api.get(`${run.workflowId}/trace-log`)

    const steps = nodesIn(body.data).filter(({ kind }) => kind === 'step')
    expect(steps.map(({ name, output, error }) => [name, output, error?.message ?? null])).toEqual([
      ['bookSeat', 'seat of Ada', null],
      ['bookRoom', null, 'the hotel is full'],
      ['cancelSeat', 'seat of Ada given back', null],
    ])
  })

  test('cancellation with heartbeat: the activity ends, and the run is canceled', async () => {
    const outcome = await alike(samples(), async (client) => {
      const run = await client.start('longWork')
      await until('the activity has reported progress', async () => {
        const { raw } = await samples().client.workflow.getHandle(run.workflowId).describe()
        return raw.pendingActivities?.[0]?.heartbeatDetails
      })
      await run.stop()
      return run.result()
    })

    expect(outcome).toEqual({ status: 'canceled' })
  })

  test('retries: the result comes with the attempt that succeeds', async () => {
    expect(await outcomeOf(samples(), 'unstable', 2, 10)).toEqual(completed('answered attempt 3'))
  })

  test('retries: the trace log of a running retry has its attempts and the last failure', async () => {
    const { http, api, client } = samples()
    const run = await http.start('unstable', 100, 60_000)

    const step = await until('an attempt has failed', async () => {
      const { body } = await api.get(`${run.workflowId}/trace-log`)
      return nodesIn(body.data).find(({ attributes }) => attributes.lastFailure)
    })

    const { raw } = await client.workflow.getHandle(run.workflowId).describe()
    expect(raw.pendingActivities?.[0]).toMatchObject({
      attempt: 2,
      lastFailure: { message: 'the service rejected attempt 1' },
    })
    expect(step).toMatchObject({
      endedAt: null,
      attributes: { attempts: 2, lastFailure: { message: 'the service rejected attempt 1' } },
    })
    await run.stop()
  })

  test('polling: inside an activity, by its retries and by a chain of children', async () => {
    const polls = [
      outcomeOf(samples(), 'frequentPolling', 3),
      outcomeOf(samples(), 'unstable', 3, 20),
      outcomeOf(samples(), 'periodicPolling', 3),
    ]

    const found = await Promise.all(polls)
    expect(found).toEqual([completed('ready after 3 polls'), completed('answered attempt 4'), completed('3 laps')])
  })

  test('asynchronous completion: the value that came from outside', async () => {
    expect(await outcomeOf(samples(), 'asyncCompletion')).toEqual(completed('completed from outside'))
  })
}
