import { expect, test } from 'vitest'
import type { EngineStart } from '../../../../src/service/model/engine.ts'
import { ServiceError } from '../../../../src/service/model/errors.ts'
import { start } from '../../../../src/service/start/start.ts'
import { aCall } from '../../call.ts'
import { aDescription, anEngine, aStart, DEPLOYMENT, publishedCatalogs, SEARCH_ATTRIBUTES } from '../catalog-fixture.ts'

const WORKFLOW_ID = 'orders-17'
const COMMAND = aStart({ workflowId: WORKFLOW_ID, idempotencyKey: 'k' })

test('start: a run that a request with the same key has started meanwhile, and that has ended, is a repeat', async () => {
  const fixture = publishedCatalogs()
  const sent: EngineStart[] = []
  const engine = anEngine({
    async start(request) {
      sent.push(request)
      if (sent.length === 1) throw new ServiceError('WorkflowAlreadyStartedError', 'used')
      return { workflowId: WORKFLOW_ID, runId: 'run-2', firstRunId: 'run-2', endedStatus: 'completed' }
    },
    describe: async (ref) => aDescription({ ...ref, runId: 'run-1', status: 'completed' }),
  })

  const started = await start(
    { engine, catalogs: fixture.catalogs, deployment: DEPLOYMENT, searchAttributes: SEARCH_ATTRIBUTES },
    COMMAND,
    aCall(),
  )

  expect(started).toEqual({ workflowId: WORKFLOW_ID, runId: 'run-2', repeatedStatus: 'completed' })
  expect(sent).toHaveLength(2)
})
