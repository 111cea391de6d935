import { expect, test } from 'vitest'
import { startActivity } from '../../../../src/service/activities/start.ts'
import { backgroundCall } from '../../../../src/service/model/call.ts'
import { toStartKey } from '../../../../src/service/model/keyed-id.ts'
import { activityIdInUse, type DescribedActivity } from '../../../../src/service/model/standalone-activity.ts'
import { anEngine } from '../catalog-fixture.ts'

const COMMAND = {
  activityName: 'charge',
  catalog: 'shop',
  args: [],
  limits: {} as never,
  argumentPointer: '/input',
  activityId: 'a',
}

test('a keyed start: the run that the engine has named is that of the key, though the id was used again since', async () => {
  const startKey = await toStartKey('k', { workflowName: 'charge', catalog: 'shop', args: [], options: {} })
  const described: unknown[] = []
  const engine = anEngine({
    async startActivity() {
      throw activityIdInUse({ activityId: 'a', runId: 'named' })
    },
    async describeActivity({ runId = 'latest' }) {
      described.push(runId)
      const isNamed = runId === 'named'
      return { activityId: 'a', runId, status: 'completed', startKey: isNamed ? startKey : null } as DescribedActivity
    },
  })
  const catalogs = {
    published: async () => ({ value: null, readAt: Date.now() }),
    lastPolledAt: async () => ({ value: new Date(), readAt: Date.now() }),
  }
  const ports = {
    ...{ engine, catalogs, searchAttributes: {} },
    engineSupport: { activities: async () => true },
    deployment: { features: { slashInIds: { supported: true } } },
  } as never

  const started = await startActivity(ports, { ...COMMAND, idempotencyKey: 'k' }, backgroundCall('test', 1000))

  expect(started).toEqual({ activityId: 'a', runId: 'named', status: 'completed', isRepeated: true })
  expect(described).toEqual(['named'])
})
