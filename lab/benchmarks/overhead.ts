/** Measures the latency that the service adds, compared with the SDK's own client. */
import { Client, Connection } from '@temporalio/client'
import { startServiceWithWaiters } from '../../dev/servers/service-with-waiters.ts'
import { call } from './call.ts'
import { measureInTurns, printRatio, printSample } from './measure.ts'

const TIMES = Number(process.argv[2] ?? 300)

const service = await startServiceWithWaiters()
const connection = await Connection.connect({ address: service.engine.address })
try {
  const { workflow } = new Client({ connection })
  const handle = await workflow.start('waitForSignal', { taskQueue: 'waiting', workflowId: crypto.randomUUID() })
  const throughService = () => call(service.url, 'POST', '/workflow/run', { workflowName: 'echo', input: 'x' })
  const throughClient = () =>
    workflow.execute('echo', { taskQueue: 'waiting', workflowId: crypto.randomUUID(), args: ['x'] })
  const acts = [
    throughService,
    throughClient,
    () => call(service.url, 'GET', `/workflow/${handle.workflowId}/status`),
    () => handle.describe(),
    () => call(service.url, 'GET', '/health'),
  ]

  await measureInTurns(Math.min(TIMES, 50), ...acts)
  const [run, execute, status, describe, health] = await measureInTurns(TIMES, ...acts)

  if (!run || !execute || !status || !describe || !health) throw new Error('not measured')
  printSample('POST /workflow/run', run)
  printSample('WorkflowClient.execute', execute)
  printSample('GET /workflow/:id/status', status)
  printSample('handle.describe()', describe)
  printSample('GET /health', health)
  printRatio('run to execute, medians', run.p50, execute.p50)
  printRatio('status to describe, medians', status.p50, describe.p50)
} finally {
  await connection.close()
  await service.stop()
}
