import { ScheduleClient } from '@temporalio/client'
import { expect, test } from 'vitest'
import { until } from '../../../src/cli/dev/servers/until.ts'
import { rule } from '../../support/rules.ts'
import { type ApiFixture, anId, untilStatus } from './api-fixture.ts'

/** PATCH stop and POST terminate. */
export function control(api: () => ApiFixture): void {
  async function start(workflowName: string, input: unknown = null) {
    const { body } = await api().service.start(workflowName, input)
    await untilStatus(api(), body.workflowId, 'running', { events: 4 })
    return body
  }

  rule('stop.lets-the-cleanup-run', async () => {
    const { service } = api()
    const { workflowId, runId } = await start('cleansUp', { ms: 10 })

    const { status, body } = await service.call('PATCH', `/workflow/${workflowId}/stop`, { reason: 'enough' })
    await untilStatus(api(), workflowId, 'canceled')

    expect([status, body]).toEqual([200, { workflowId, runId, cancelRequested: true, status: 'running' }])
    const { body: trace } = await service.get(`${workflowId}/trace-log`)
    expect(trace.data.children).toEqual(
      expect.arrayContaining([expect.objectContaining({ name: 'cleanUp', output: 'cleaned up everything' })]),
    )
  })

  rule('status.canceled', async () => {
    const { service } = api()
    const { workflowId, runId } = await start('cleansUp', {})

    await service.call('PATCH', `/workflow/${workflowId}/runs/${runId}/stop`)
    await untilStatus(api(), workflowId, 'canceled')

    const { body } = await service.get(`${workflowId}/status`)
    const { body: result } = await service.get(`${workflowId}/result`)
    expect([body.status, result.status, result.error]).toEqual(['canceled', 'canceled', 'The workflow was canceled'])
  })

  test('terminate: a schedule cannot be ended through the workflow that the engine runs for it (threat 40)', async () => {
    const { client, service } = api()
    const scheduleId = anId()
    const calendar = { year: 2100 }
    const action = { type: 'startWorkflow' as const, workflowType: 'echo', taskQueue: 'none' }
    const schedule = await new ScheduleClient({ connection: client.connection }).create({
      scheduleId,
      spec: { calendars: [calendar] },
      action,
    })

    const ended = await service.post(`${encodeURIComponent(`temporal-sys-scheduler:${scheduleId}`)}/terminate`)

    const query = `TemporalNamespaceDivision = 'TemporalScheduler' AND WorkflowId = 'temporal-sys-scheduler:${scheduleId}'`
    await until('the engine lists the workflow', async () => (await client.workflow.count(query)).count === 1)
    const listed = await service.get(`runs?query=${encodeURIComponent(query)}`)
    const counted = await service.get(`runs/count?query=${encodeURIComponent(query)}`)
    const batch = await service.call('POST', '/batches', { operation: 'terminate', filter: { query } })

    expect([ended.status, ended.body.message]).toEqual([400, expect.stringContaining('"temporal-sys-"')])
    expect([listed.body.runs, counted.body.count, batch.body.matching]).toEqual([[], 0, 0])
    await expect(schedule.describe()).resolves.toMatchObject({ scheduleId })
    await schedule.delete()
  })

  test('stop: does not change a closed run and returns its status', async () => {
    const { service } = api()
    const { body: ran } = await service.run('nothing')
    const { workflowId, runId } = ran

    const latest = await service.call('PATCH', `/workflow/${workflowId}/stop`)
    const pinned = await service.call('PATCH', `/workflow/${workflowId}/runs/${runId}/stop`, { reason: 'late' })

    const expected = { workflowId, runId, cancelRequested: false, status: 'completed' }
    expect([latest.status, latest.body, pinned.status, pinned.body]).toEqual([200, expected, 200, expected])
  })

  test('stop: a repeated stop has the same effect as one', async () => {
    const { service } = api()
    const { workflowId } = await start('cleansUp', { ms: 300 })

    const first = await service.call('PATCH', `/workflow/${workflowId}/stop`)
    const second = await service.call('PATCH', `/workflow/${workflowId}/stop`)

    expect([first.body.cancelRequested, second.status]).toEqual([true, 200])
    await untilStatus(api(), workflowId, 'canceled')
  })

  rule('terminate.ends-at-once-without-cleanup', async () => {
    const { service } = api()
    const { workflowId, runId } = await start('cleansUp', {})

    const { status, body } = await service.post(`${workflowId}/terminate`, { reason: 'no use' })

    expect([status, body]).toEqual([200, { workflowId, runId, terminated: true }])
    const { body: result } = await service.get(`${workflowId}/result`)
    expect([result.status, result.error]).toEqual(['terminated', 'The workflow was terminated: no use'])
    const { body: trace } = await service.get(`${workflowId}/trace-log`)
    expect(trace.data.children).toEqual([])
  })

  rule('status.terminated', async () => {
    const { service } = api()
    const { workflowId, runId } = await start('neverEnds')

    await service.post(`${workflowId}/runs/${runId}/terminate`)

    const { body } = await service.get(`${workflowId}/status`)
    const { body: result } = await service.get(`${workflowId}/result`)
    const facts = [body.status, result.status, result.error]
    expect(facts).toEqual(['terminated', 'terminated', 'The workflow was terminated'])
  })

  test('terminate: a closed run is rejected, and the error has its status', async () => {
    const { service } = api()
    const { workflowId, runId } = await start('neverEnds')
    await service.post(`${workflowId}/terminate`)

    const { status, body } = await service.post(`${workflowId}/terminate`)

    expect([status, body]).toEqual([
      409,
      expect.objectContaining({ error: 'WorkflowNotRunningError', workflowId, runId, workflowStatus: 'terminated' }),
    ])
  })

  test('stop and terminate: reach the current run of a chain', async () => {
    const { service } = api()
    const first = await start('chainOnSignal', 1)
    await service.post(`${first.workflowId}/signal/next`)
    await untilStatus(api(), first.workflowId, 'continued', { runId: first.runId })

    const old = await service.call('PATCH', `/workflow/${first.workflowId}/runs/${first.runId}/stop`)
    const latest = await service.call('PATCH', `/workflow/${first.workflowId}/stop`)
    await until('the successor is canceled', async () => {
      const { body } = await service.get(`${first.workflowId}/status`)
      return body.status === 'canceled'
    })

    expect([old.body.cancelRequested, old.body.status]).toEqual([false, 'continued'])
    expect([latest.body.cancelRequested, latest.body.runId === first.runId]).toEqual([true, false])
  })
}
