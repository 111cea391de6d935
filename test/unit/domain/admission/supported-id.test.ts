import { expect, test } from 'vitest'
import { createWorkflows } from '../../../../src/domain/create-workflows.ts'
import type { Support } from '../../../../src/domain/model/engine.ts'
import { aCall, rejection } from '../../call.ts'
import { anEngine, makeCatalogs } from '../catalog-fixture.ts'

const UNSUPPORTED = { supported: false, reason: 'no path holds a slash' } as const

function workflowsWith(slashInIds: Support) {
  const { catalogs, reads } = makeCatalogs()
  const features = {
    slashInIds,
    updateWithStart: UNSUPPORTED,
    asyncUpdates: UNSUPPORTED,
    codec: false,
    traceRemote: false,
    traceKvstore: false,
    links: false,
    traceLocal: false,
    docs: false,
    mcp: false,
    tokens: false,
  }
  const deployment = { version: '1.2.3', runtime: 'node', transport: 'http', uiUrl: null, features } as const
  const options = {
    engine: anEngine({}),
    catalogs,
    traceSources: [],
    traceMaxBytes: 1000,
    deployment,
    messageTimeoutMs: 60_000,
    defaults: { catalog: 'orders', namespace: 'default' },
    resultCacheBytes: 0,
  }
  return { reads, workflows: createWorkflows(options) }
}

const command = (workflowId: string) => ({
  workflowId,
  workflowName: 'order',
  catalog: 'orders',
  args: [],
  argumentPointer: '/args/0',
  timeoutMs: 1000,
})

test('start and run: an id with a slash is rejected before any read when the transport does not support it', async () => {
  const { reads, workflows } = workflowsWith(UNSUPPORTED)

  const rejected = [
    await rejection(workflows.start(command('a/b'), aCall())),
    await rejection(workflows.run(command('a/b'), aCall())),
  ]

  for (const { error, message, workflowId } of rejected) {
    expect([error, workflowId]).toEqual(['NotSupportedError', 'a/b'])
    expect(message).toContain('no path holds a slash (GET /capabilities: slashInIds)')
  }
  expect(reads).toEqual([])
})

test.for([
  ['a/b', true],
  ['a b', false],
] as const)('start: id %s passes when support for slashes is %s', async ([id, supported]) => {
  const { reads, workflows } = workflowsWith(supported ? { supported } : UNSUPPORTED)

  expect((await rejection(workflows.start(command(id), aCall()))).error).toBe('CatalogNotAvailableError')
  expect(reads).not.toEqual([])
})
