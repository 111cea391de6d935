import { expect, test } from 'vitest'
import type { Engine } from '../../../../src/service/model/engine.ts'
import { type ErrorName, ServiceError, workflowNotFound } from '../../../../src/service/model/errors.ts'
import { createKnownRuns } from '../../../../src/service/start/known-runs.ts'
import { signalWithStart } from '../../../../src/service/start/signal-with-start.ts'
import { aCall, rejection } from '../../call.ts'
import { aDescription, anEngine, aStart, DEPLOYMENT, publishedCatalogs, SEARCH_ATTRIBUTES } from '../catalog-fixture.ts'

const WORKFLOW_ID = 'orders-17'
const RUN = { workflowId: WORKFLOW_ID, runId: 'run-1' }
const COMMAND = {
  start: aStart({ workflowId: WORKFLOW_ID, idempotencyKey: 'k' }),
  signal: { name: 'go', args: [], argumentPointer: '/payload' },
}

const away = (name: ErrorName) => new ServiceError(name, 'away', { details: { retryAfterSeconds: 1 } })

/** `first` and `second`: what describes the latest run of the id, before the signal and after it. */
function send(first: Engine['describe'], second: Engine['describe'], signal: Engine['signal'] = async () => RUN) {
  const fixture = publishedCatalogs([{ name: 'order', signals: [{ name: 'go' }] }])
  let describes = 0
  const engine = anEngine({
    describe: (ref, call) => (++describes === 1 ? first : second)(ref, call),
    signal,
    signalWithStart: async () => ({ ...RUN, started: false }),
  })
  const { catalogs, now } = fixture
  const common = { catalogs, deployment: DEPLOYMENT, now, searchAttributes: SEARCH_ATTRIBUTES }
  const ports = { ...common, engine, knownRuns: createKnownRuns({ engine }) }
  return signalWithStart(ports, COMMAND, aCall())
}

const none: Engine['describe'] = (ref) => Promise.reject(workflowNotFound(ref))

test('signal-with-start: a delivered signal is a success, although the run cannot be described again', async () => {
  const sent = await send(none, () => Promise.reject(away('EngineUnavailableError')))

  expect(sent).toEqual({ workflowId: WORKFLOW_ID, runId: 'run-1', started: false, warnings: [] })
})

test('signal-with-start: another request with the key is rejected, also when it has come at the same time', async () => {
  const { error } = await rejection(send(none, () => Promise.reject(away('IdempotencyKeyReusedError'))))

  expect(error).toBe('IdempotencyKeyReusedError')
})

test('signal-with-start: the signal goes to exactly the run of another request that was open', async () => {
  const signaled: unknown[] = []
  const open: Engine['describe'] = async () => aDescription({ ...RUN })
  const signal: Engine['signal'] = async (ref) => {
    signaled.push(ref)
    return RUN
  }

  expect(await send(open, none, signal)).toEqual({ ...RUN, started: false, warnings: [] })
  expect(signaled).toEqual([RUN])
})
