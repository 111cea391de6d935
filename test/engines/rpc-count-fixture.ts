import * as z from 'zod'
import { until } from '../../src/cli/dev/servers/until.ts'
import { defineCatalog } from '../../src/worker/catalog/define-catalog.ts'
import { type InProcessService, test } from '../support/fixtures.ts'

/**
 * Starts a service behind a proxy that counts engine calls, and a worker, before the tests of the file that calls this.
 */
export function countEngineCalls() {
  let counted: (act: () => Promise<unknown>) => Promise<Record<string, number>>
  let serveCounted: (env?: Record<string, string>) => InProcessService
  let served: InProcessService

  test.beforeAll(async ({ faultProxy, serve, startWorker }) => {
    counted = (act) => faultProxy.calls.during(act)
    const workflow = { description: 'For counting' }
    const names = [
      'asksPerson',
      'echo',
      'chain',
      'completesOutside',
      'messages',
      'failTask',
      'manySteps',
      'neverEnds',
      'nothing',
      'reportsProgress',
      'streamSignals',
      'waitForSignal',
    ]
    const updates = { validated: { input: z.number() } }
    const catalog = defineCatalog({
      ...Object.fromEntries(names.map((name) => [name, workflow])),
      messages: { updates },
    })
    await startWorker({ catalog })
    serveCounted = (env) => serve({ ENGINE_ADDRESS: faultProxy.address, SERVICE_CATALOG_TTL: '10m', ...env })
    served = serveCounted()
    await until('it runs', async () => (await served.run('echo', 'warm')).status === 200)
  })

  const get = (path: string) => served.get(path)
  const post = (path: string, body?: unknown) => served.post(path, body)
  const start = async (workflowName: string, input: unknown = null): Promise<string> =>
    (await served.start(workflowName, input)).body.workflowId
  const ended = async (workflowName: string, input: unknown = null): Promise<string> =>
    (await served.run(workflowName, input)).body.workflowId

  return {
    counted: (act: () => Promise<unknown>) => counted(act),
    serveCounted: (env?: Record<string, string>) => serveCounted(env),
    /** The service, once the tests run. */
    served: () => served,
    get,
    post,
    start,
    ended,
  }
}
