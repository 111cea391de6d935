import { expect, test } from 'vitest'
import { createKnownRuns } from '../../../../src/domain/admission/known-runs.ts'
import type { Engine } from '../../../../src/domain/model/engine.ts'
import { type ErrorName, ServiceError } from '../../../../src/domain/model/errors.ts'
import { signalWithStart } from '../../../../src/domain/start/signal-with-start.ts'
import { aCall, rejection } from '../../call.ts'
import { aDescription, anEngine, aStart, DEPLOYMENT, publishedCatalogs } from '../catalog-fixture.ts'

const WORKFLOW_ID = 'orders-17'
const COMMAND = {
  start: aStart({ workflowId: WORKFLOW_ID, idempotencyKey: 'k' }),
  signal: { name: 'go', args: [], argumentPointer: '/payload' },
}

const away = (name: ErrorName) => new ServiceError(name, 'away', { details: { retryAfterSeconds: 1 } })

/** An open run of another request, which receives the signal before it is described for the second time. */
function send(second: Engine['describe']) {
  const fixture = publishedCatalogs([{ name: 'order', signals: [{ name: 'go' }] }])
  let describes = 0
  const engine = anEngine({
    describe: (ref, call) => {
      describes++
      return describes === 1 ? Promise.resolve(aDescription({ workflowId: WORKFLOW_ID })) : second(ref, call)
    },
    signalWithStart: async () => ({ workflowId: WORKFLOW_ID, runId: 'run-1', started: false }),
  })
  const { catalogs, now } = fixture
  const ports = { catalogs, engine, deployment: DEPLOYMENT, knownRuns: createKnownRuns({ engine }), now }
  return signalWithStart(ports, COMMAND, aCall())
}

test('signal-with-start: a delivered signal is a success, although the run cannot be described again', async () => {
  const sent = await send(() => Promise.reject(away('EngineUnavailableError')))

  expect(sent).toEqual({ workflowId: WORKFLOW_ID, runId: 'run-1', started: false, warnings: [] })
})

test('signal-with-start: another request with the key is rejected, also when it has come at the same time', async () => {
  const { error } = await rejection(send(() => Promise.reject(away('IdempotencyKeyReusedError'))))

  expect(error).toBe('IdempotencyKeyReusedError')
})
