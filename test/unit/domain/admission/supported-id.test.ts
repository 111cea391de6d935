import { expect, test } from 'vitest'
import { createWorkflows } from '../../../../src/domain/create-workflows.ts'
import type { Features } from '../../../../src/domain/workflows.ts'
import { aCall, refusal } from '../../call.ts'
import { anEngine, aShelf } from '../catalog-fixture.ts'

function workflowsWith({ slashInIds }: Pick<Features, 'slashInIds'>) {
  const { catalogs, reads } = aShelf()
  const features = {
    slashInIds,
    updateWithStart: false,
    codec: false,
    traceRemote: false,
    traceKvstore: false,
    traceLocal: false,
  }
  const deployment = { version: '1.2.3', runtime: 'node', transport: 'http', features } as const
  const options = {
    engine: anEngine({}),
    catalogs,
    traceSources: [],
    traceMaxBytes: 1000,
    deployment,
    messageTimeoutMs: 60_000,
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

test('start and run: an id with a slash, where the engine can’t be told it, is refused before its catalog is read', async () => {
  const { reads, workflows } = workflowsWith({ slashInIds: false })

  const refused = [
    await refusal(workflows.start(command('a/b'), aCall())),
    await refusal(workflows.run(command('a/b'), aCall())),
  ]

  for (const { error, message, workflowId } of refused) {
    expect([error, workflowId]).toEqual(['NotSupportedError', 'a/b'])
    expect(message).toContain('slashInIds')
  }
  expect(reads).toEqual([])
})

test.for([
  ['a/b', true],
  ['a b', false],
] as const)(
  'start: the id %s is for the catalog to judge where slashes can be told is %s',
  async ([id, slashInIds]) => {
    const { reads, workflows } = workflowsWith({ slashInIds })

    expect((await refusal(workflows.start(command(id), aCall()))).error).toBe('CatalogNotAvailableError')
    expect(reads).not.toEqual([])
  },
)
