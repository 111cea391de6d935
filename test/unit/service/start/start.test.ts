import { expect, test } from 'vitest'
import type { EngineStart } from '../../../../src/service/model/engine.ts'
import { ServiceError } from '../../../../src/service/model/errors.ts'
import type { Description } from '../../../../src/service/model/execution.ts'
import type { StartKey } from '../../../../src/service/model/keyed-id.ts'
import type { ConflictPolicy } from '../../../../src/service/model/workflow-options.ts'
import { sendOnce, start } from '../../../../src/service/start/start.ts'
import { IDEMPOTENCY_MEMO } from '../../../../src/shared/wire/memo-keys.ts'
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

const SENT: StartKey = { key: 'key-1', request: 'request-1' }
const OTHER_REQUEST: StartKey = { ...SENT, request: 'request-2' }
const OTHER_KEY: StartKey = { ...SENT, key: 'key-2' }
const REQUEST: EngineStart = { workflowId: 'w', workflowName: 'order', catalog: 'shop', args: [] }
const FAILURES = {
  'id used': new ServiceError('WorkflowAlreadyStartedError', 'in use'),
  other: new ServiceError('EngineUnavailableError', 'the response was lost'),
}

/** What comes of a start whose first attempt has failed, and the second one, if there is one, is a success. */
async function startAgain(found: Found, failure: ServiceError, conflictPolicy: ConflictPolicy) {
  const sent: EngineStart[] = []
  const latest = { workflowId: 'w', runId: 'run', firstRunId: 'run', status: found.open ? 'running' : 'completed' }
  const outcome = await sendOnce(
    {
      async describe() {
        if (found.none) throw new ServiceError('WorkflowNotFoundError', 'not found')
        const memo = new Map(found.startKey ? [[IDEMPOTENCY_MEMO, found.startKey]] : [])
        return { ...latest, memo } as unknown as Description
      },
    },
    { workflowId: 'w', startKey: SENT },
    {
      conflictPolicy,
      admit: async () => ({ request: REQUEST, traces: null }),
      async send({ request }) {
        sent.push(request)
        if (sent.length === 1) throw failure
        return 'start'
      },
      ofRepeated: ({ runId }) => `return ${runId}`,
    },
    aCall(),
  ).catch((error: unknown) => {
    if (error === failure) return 'throw'
    if (error instanceof ServiceError && error.error === 'IdempotencyKeyReusedError') return 'reject key'
    throw error
  })
  return { outcome, sent }
}

interface Found {
  startKey: StartKey | null
  open: boolean
  none?: boolean
}

test.for([
  // The latest run of the id, whether it is open | what the start failed with | policy | outcome
  [SENT, true, 'id used', 'fail', 'return run'],
  [SENT, false, 'id used', 'fail', 'return run'],
  [SENT, true, 'other', 'fail', 'return run'],
  [SENT, false, 'other', 'use-existing', 'return run'],
  [OTHER_REQUEST, true, 'id used', 'fail', 'reject key'],
  [OTHER_REQUEST, false, 'id used', 'use-existing', 'reject key'],
  [OTHER_REQUEST, false, 'other', 'fail', 'reject key'],
  [OTHER_KEY, true, 'id used', 'fail', 'throw'],
  [OTHER_KEY, true, 'id used', 'use-existing', 'start'],
  [OTHER_KEY, false, 'id used', 'fail', 'start'],
  [OTHER_KEY, false, 'id used', 'use-existing', 'start'],
  [OTHER_KEY, true, 'other', 'use-existing', 'throw'],
  [OTHER_KEY, false, 'other', 'fail', 'throw'],
  [null, true, 'id used', 'fail', 'throw'],
  [null, true, 'id used', 'use-existing', 'start'],
  [null, false, 'id used', 'fail', 'start'],
  [null, false, 'other', 'fail', 'throw'],
] as const)('a failed start: %j, open %s, %s, %s: %s', async ([startKey, open, failure, policy, expected]) => {
  expect((await startAgain({ startKey, open }, FAILURES[failure], policy)).outcome).toBe(expected)
})

test.for([
  ['id used', 'start'],
  ['other', 'throw'],
] as const)('a failed start: no run, %s: %s', async ([failure, expected]) => {
  const none = { startKey: null, open: false, none: true }

  expect((await startAgain(none, FAILURES[failure], 'fail')).outcome).toBe(expected)
})

test('a failed start: the first attempt takes an unused id only, the second one has an id of its request', async () => {
  const { sent } = await startAgain({ startKey: null, open: false }, FAILURES['id used'], 'fail')
  const protocolMemo = { [IDEMPOTENCY_MEMO]: SENT }
  const options = { workflowIdConflictPolicy: 'fail', workflowIdReusePolicy: 'reject-duplicate' }

  expect(sent).toEqual([
    { ...REQUEST, protocolMemo, options },
    { ...REQUEST, protocolMemo, requestId: 'request-1' },
  ])
})

test('a failed start: the run that the engine has named may be that of the key, though another one is open since', async () => {
  const described: unknown[] = []
  const outcome = await sendOnce(
    {
      async describe({ runId = 'latest' }) {
        described.push(runId)
        const key = runId === 'latest' ? OTHER_KEY : SENT
        const status = runId === 'latest' ? 'running' : 'completed'
        const memo = new Map([[IDEMPOTENCY_MEMO, key]])
        return { workflowId: 'w', runId, firstRunId: runId, status, memo } as unknown as Description
      },
    },
    { workflowId: 'w', startKey: SENT },
    {
      conflictPolicy: 'fail',
      admit: async () => ({ request: REQUEST, traces: null }),
      async send() {
        throw new ServiceError('WorkflowAlreadyStartedError', 'in use', {
          details: { workflowId: 'w', runId: 'named' },
        })
      },
      ofRepeated: ({ runId, status }) => `return ${runId}, ${status}`,
    },
    aCall(),
  )

  expect([outcome, described]).toEqual(['return named, completed', ['latest', 'named']])
})
