/** The failures of workers, as results and as traces from the history and from an archive show them. */
import { ApplicationFailure } from '@temporalio/common'
import * as nexus from 'nexus-rpc'
import { expect } from 'vitest'
import { until } from '../../src/cli/dev/servers/until.ts'
import { defineCatalog } from '../../src/worker/index.ts'
import { archivedTrace } from '../support/archived-trace.ts'
import { test as baseTest } from '../support/fixtures.ts'
import * as activities from './fixtures/failing-activities.ts'
import { bank } from './fixtures/nexus-service.ts'

const test = baseTest
  .extend('endpoint', { scope: 'file' }, async ({ connection, catalog }) => {
    const name = `endpoint-${crypto.randomUUID()}`
    const spec = { name, target: { worker: { namespace: 'default', taskQueue: catalog } } }
    await connection.operatorService.createNexusEndpoint({ spec })
    return name
  })
  .extend('worker', { scope: 'file' }, ({ startTracedWorker }) =>
    startTracedWorker({
      plugin: { catalog: defineCatalog({ paysWith: {}, rethrows: {}, isSilentAfter: {}, importsUntilCanceled: {} }) },
      activities,
      workflowsPath: new URL('./fixtures/failing-workflows.ts', import.meta.url),
      options: { nexusServices: [nexus.serviceHandler(bank, { pay })] },
    }),
  )
  /** The end of a run and its trace, from its history and from its archive. */
  .extend('endOf', { scope: 'file' }, ({ service, folder }) => async (workflowName: string, ...args: unknown[]) => {
    const { body } = await service.post('start', { workflowName, args })
    if (workflowName === 'importsUntilCanceled') {
      await until('it runs', async () => (await service.get(`${body.workflowId}/status`)).body.progress)
      await service.call('PATCH', `/workflow/${body.workflowId}/stop`)
    }
    const result = await service.get(`${body.workflowId}/result?wait=60s`)
    const live = await service.get(`${body.workflowId}/trace-log`)
    const { tree } = await archivedTrace(folder, body.runId)
    return { result: result.body, live: live.body.data, archived: tree }
  })

const DECLINED = { name: 'CardDeclined', message: 'card declined', details: [{ code: 51 }], cause: null }

const FAILURES = [
  () => ApplicationFailure.nonRetryable('card declined', 'CardDeclined', { code: 51 }),
  () => new nexus.HandlerError('NOT_FOUND', 'no such account'),
  () => new nexus.HandlerError('INTERNAL', 'broken', { retryableOverride: false }),
  () => new nexus.HandlerError('BAD_REQUEST', 'bad', { cause: ApplicationFailure.create({ message: 'no IBAN' }) }),
  () => new nexus.OperationError('failed', 'rejected'),
]

async function pay(_context: unknown, which: number): Promise<string> {
  throw FAILURES[which]?.()
}

test('Nexus: a caller gets the failure of the handler, in the result and in both traces', async ({
  endOf,
  endpoint,
}) => {
  const expected = [
    { ...DECLINED, retryable: false },
    { name: 'NOT_FOUND', message: 'no such account', retryable: false, cause: null },
    { name: 'INTERNAL', message: 'broken', retryable: false, cause: null },
    { name: 'Error', message: 'no IBAN', retryable: false, cause: null },
    { message: 'rejected' },
  ]

  for (const [which, { retryable, ...error }] of expected.entries()) {
    const { result, live, archived } = await endOf('paysWith', endpoint, which)

    expect(result.errorDetails).toMatchObject({ ...error, ...(retryable !== undefined && { retryable }) })
    for (const trace of [live, archived]) {
      expect(trace.error).toMatchObject(error)
      expect(trace.children[0]).toMatchObject({ kind: 'nexus_operation', error })
    }
  }
})

test('fromError: a failure that says something of its own is kept, with the failure of the activity as its cause', async ({
  endOf,
}) => {
  const kept = { name: 'ActivityFailure', cause: DECLINED }
  const expected = new Map<object, object>([
    [{}, { ...DECLINED, retryable: false }],
    [{ message: 'Order 7 was not paid' }, { ...kept, message: 'Order 7 was not paid', retryable: true }],
    [{ details: [7] }, { ...kept, message: 'Activity task failed', details: [7] }],
    [{ nonRetryable: true }, { ...kept, message: 'Activity task failed', retryable: false }],
    [{ type: 'NotPaid' }, { ...kept, name: 'NotPaid', message: 'Activity task failed' }],
  ])

  for (const [own, error] of expected) {
    const { result, live, archived } = await endOf('rethrows', own)
    const { name, message } = result.errorDetails

    expect(result.errorDetails).toMatchObject(error)
    for (const trace of [live, archived]) expect(trace.error).toMatchObject({ name, message })
  }
})

test('timeout: the result and both traces have the details of the last heartbeat, redacted in traces (threat 82)', async ({
  endOf,
}) => {
  const { result, live, archived } = await endOf('isSilentAfter', 120)
  const shown = { name: 'TimeoutFailure', lastHeartbeatDetails: [{ rows: 120, password: '[redacted]' }] }

  expect(result.errorDetails).toMatchObject({ details: [], lastHeartbeatDetails: [{ rows: 120, password: 'hunter2' }] })
  for (const trace of [live, archived]) {
    expect(trace.error).toMatchObject(shown)
    expect(trace.children[0].error).toMatchObject(shown)
  }
})

test('timeout: without a heartbeat there are no details of one', async ({ endOf }) => {
  const { result, live, archived } = await endOf('isSilentAfter', 0)

  for (const error of [result.errorDetails, live.error, live.children[0].error, archived.error]) {
    expect(error.name).toBe('TimeoutFailure')
    expect(error).not.toHaveProperty('lastHeartbeatDetails')
  }
})

test('canceled activity: both traces have its details, redacted (threat 82)', async ({ endOf }) => {
  const { live, archived } = await endOf('importsUntilCanceled', 120)

  for (const trace of [live, archived])
    expect(trace.children[0].error).toEqual({
      name: 'CanceledFailure',
      message: 'canceled',
      details: [{ rows: 120, password: '[redacted]' }],
      cause: null,
    })
})
