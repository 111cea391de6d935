/** The failures of a worker in Go. */
import { expect } from 'vitest'
import { until } from '../../src/cli/dev/servers/until.ts'
import { PATIENT, testWithGoWorker } from './go-worker.ts'

const test = testWithGoWorker('./go-failures.go', async () => ({}))
  .extend('start', { scope: 'file' }, ({ service }) => async (workflowName: string, ...args: unknown[]) => {
    const { body } = await service.post('start', { workflowName, args })
    return body.workflowId as string
  })
  .extend('endOf', { scope: 'file' }, ({ service }) => async (workflowId: string) => {
    const { body } = await service.get(`${workflowId}/result?wait=60s`)
    const { body: trace } = await service.get(`${workflowId}/trace-log`)
    return { result: body, root: trace.data, child: trace.data.children[0] }
  })

test(
  'Go: messages around the error of an activity do not name the worker (threat 82)',
  PATIENT,
  async ({ service, start, endOf }) => {
    const message =
      'order 7 was not paid: activity error (type: charge, scheduledEventID: 5, startedEventID: 6): ' +
      'card declined by 12@example.com (type: CardDeclined, retryable: false)'
    const workflowId = await start('notPaid', false)
    const waiting = await start('notPaid', true)

    const { result, root } = await endOf(workflowId)
    const history = await service.get(`${workflowId}/history?pageSize=1000`)
    const { body: update } = await service.post(`${waiting}/update/pay`)

    expect(result.errorDetails.message).toBe(message)
    expect(root.error.message).toBe(message)
    expect(history.body.events.at(-1).failure.message).toBe(message)
    expect(update.errorDetails.message).toMatch(/^order 7 was not paid: activity error \(.*startedEventID: \d+\): card/)
    for (const text of [history.text, JSON.stringify([result, root, update])]) expect(text).not.toContain('secret-host')
  },
)

test(
  'Go: a run that is canceled by its own code has the details of the error, in result and trace',
  PATIENT,
  async ({ start, endOf }) => {
    const { result, root } = await endOf(await start('refunded'))

    expect(result).toMatchObject({ status: 'canceled', errorDetails: { name: 'CanceledFailure', retryable: false } })
    expect([result.errorDetails, root.error].map(({ details }) => details)).toEqual([
      ['refunded', 3],
      ['refunded', 3],
    ])
  },
)

test(
  'Go: a canceled activity and a canceled child have the details of their errors',
  PATIENT,
  async ({ service, start, endOf }) => {
    for (const workflowName of ['imported', 'importedByChild']) {
      const workflowId = await start(workflowName)
      await until('it works', async () => {
        const { body } = await service.get(`${workflowId}/trace-log`)
        return body.data.children[0]?.attributes.runId || (await service.get(`${workflowId}/status`)).body.progress
      })
      await service.call('PATCH', `/workflow/${workflowId}/stop`, { reason: 'enough' })

      const { result, root, child } = await endOf(workflowId)

      expect(result.errorDetails.message).toBe('The workflow was canceled: enough')
      for (const { details } of [result.errorDetails, root.error, child.error]) expect(details).toEqual([{ rows: 120 }])
    }
  },
)

test('terminated: a run has the details of its termination', PATIENT, async ({ client, start, endOf }) => {
  const workflowId = await start('notPaid', true)
  const data = Buffer.from('{"ticket":7}')
  const details = { payloads: [{ metadata: { encoding: Buffer.from('json/plain') }, data }] }
  await client.workflowService.terminateWorkflowExecution({
    namespace: 'default',
    workflowExecution: { workflowId },
    reason: 'stuck',
    details,
  })

  const { result, root } = await endOf(workflowId)

  expect(result).toMatchObject({ status: 'terminated', errorDetails: { name: 'TerminatedFailure', retryable: false } })
  for (const error of [result.errorDetails, root.error])
    expect(error).toMatchObject({ message: 'The workflow was terminated: stuck', details: [{ ticket: 7 }] })
})
