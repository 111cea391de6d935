/** The engine stops answering between one call of a request and the next. */
import { expect } from 'vitest'
import { until } from '../../src/cli/dev/servers/until.ts'
import { GrpcCode } from '../../src/shared/temporal/grpc-code.ts'
import { POLL } from '../../test/support/call-log.ts'
import type { Fault } from '../../test/support/fault-proxy.ts'
import { test } from '../../test/support/fixtures.ts'
import { runningMs } from './running-ms.ts'

const ANSWERED_MS = 5000

test.concurrent('engine hangs: an update of a closed run whose history cannot be read fails within 5 s', async ({
  catalog,
  client,
  faultProxy,
  serviceBehindFaultProxy: service,
}) => {
  const workflowId = `${catalog}-closed`
  const run = await client.workflow.start('messages', { taskQueue: `${catalog}-nobody`, workflowId })
  await run.terminate()
  faultProxy.on({ method: 'DescribeWorkflowExecution', containing: workflowId, fault: 'hang' })
  const sentAt = runningMs()

  const { status, body } = await service.post(`${workflowId}/update/set`, { payload: 1 })

  expect([status, body.error, body.workflowId]).toEqual([503, 'EngineUnavailableError', workflowId])
  expect(runningMs() - sentAt).toBeLessThan(ANSWERED_MS)
})

test.concurrent('engine hangs: a read and a catalog fail within 5 s (failure 2)', async ({
  catalog,
  faultProxy,
  serviceBehindFaultProxy: service,
}) => {
  const workflowId = `${catalog}-unread`
  faultProxy.on({ method: 'DescribeWorkflowExecution', containing: workflowId, fault: 'hang' })
  const sentAt = runningMs()

  const answers = await Promise.all([service.get(`${workflowId}/status`), service.get(`catalog/${workflowId}`)])

  expect(answers.map(({ status, body }) => [status, body.error])).toEqual([
    [503, 'EngineUnavailableError'],
    [503, 'EngineUnavailableError'],
  ])
  expect(runningMs() - sentAt).toBeLessThan(ANSWERED_MS)
})

test.concurrent('engine hangs: a run that has ended returns its result even if nothing else can be read (failure 2)', async ({
  catalog,
  client,
  faultProxy,
  serviceBehindFaultProxy: service,
}) => {
  const workflowId = `${catalog}-ended`
  const waiting = service.run('messages', 'Ada', { workflowId, timeout: '30s' })
  const direct = client.workflow.getHandle(workflowId)
  await until('it runs', async () => (await direct.describe()).historyLength >= 4)
  await until('its poll is open', () => faultProxy.calls.open(POLL, workflowId) === 1)
  faultProxy.on({ method: 'GetWorkflowExecutionHistory', containing: workflowId, fault: 'hang' })

  await direct.cancel()

  const { status, body } = await waiting
  expect([status, body.status, body.input, body.workflowId]).toEqual([200, 'canceled', 'Ada', workflowId])
})

test.concurrent('engine hangs: run fails within 5 s after several attempts to start', async ({
  catalog,
  faultProxy,
  serviceBehindFaultProxy: service,
}) => {
  const workflowId = `${catalog}-tried`
  const gone: Fault = { code: GrpcCode.UNAVAILABLE, message: 'gone' }
  const tries = [gone, gone, 'hang'] as const
  for (const fault of tries)
    faultProxy.on({ method: 'StartWorkflowExecution', containing: workflowId, fault, times: 1 })
  // The ping has to get no answer either.
  const heal = faultProxy.on({ method: 'GetSystemInfo', containing: '', fault: 'hang' })
  const sentAt = runningMs()

  const { status, body } = await service.run('echo', 1, { workflowId, timeout: '20s' })
  heal()

  expect([status, body.error, body.workflowId]).toEqual([424, 'OutcomeUnknownError', workflowId])
  expect(runningMs() - sentAt).toBeLessThan(ANSWERED_MS)
})

test('engine hangs: a start during shutdown does not blame a slow worker', async ({
  catalog,
  faultProxy,
  serviceBehindFaultProxy: service,
}) => {
  const workflowId = `${catalog}-started`
  let hangs = false
  faultProxy.on({
    method: 'StartWorkflowExecution',
    containing: workflowId,
    get fault() {
      hangs = true
      return 'hang' as const
    },
  })
  const starting = service.start('echo', 1, { workflowId })
  await until('it waits for the engine', () => hangs)

  service.drain()

  const { status, body, headers } = await starting
  const facts = [status, body.error, body.workflowId, headers.get('Retry-After')]
  expect(facts).toEqual([424, 'OutcomeUnknownError', workflowId, null])
})
