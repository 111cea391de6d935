import { expect, test } from 'vitest'
import type { Support } from '../../../../src/service/model/engine.ts'
import { aCall, rejection } from '../../call.ts'
import { aStart, DEPLOYMENT } from '../catalog-fixture.ts'
import { makeWorkflows } from '../make-workflows.ts'

const UNSUPPORTED = { supported: false, reason: 'no path holds a slash' } as const

function workflowsWith(slashInIds: Support) {
  const features = {
    ...DEPLOYMENT.features,
    slashInIds,
    updateWithStart: UNSUPPORTED,
    asyncUpdates: UNSUPPORTED,
    traceLocal: false,
  }
  const { fixture, workflows } = makeWorkflows({}, { ...DEPLOYMENT, transport: 'http', features })
  return { reads: fixture.reads, workflows }
}

const command = (workflowId: string) => ({ ...aStart({ workflowId }), timeoutMs: 1000 })

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
