import { expect, test } from 'vitest'
import { createProblemScan } from '../../../../../src/worker/closed-runs/webhooks/problems.ts'

const signal = new AbortController().signal
const FAILED = [{ workflowTaskFailedEventAttributes: { failure: { message: 'a bug' } } }]

/** Polls with these runs, whose last tasks follow this event, and returns the ids of the deliveries of each poll. */
async function deliveries(polls: { after: string; ends?: object[]; workflowName?: string }[][]): Promise<string[][]> {
  let listed: (typeof polls)[number] = []
  let started: string[] = []
  const scan = createProblemScan({
    catalog: 'orders',
    endpoints: [
      { name: 'all', url: 'https://a.example', secrets: [], workflows: ['*'], on: ['problem'], include: [] },
      { name: 'ends', url: 'https://b.example', secrets: [], workflows: ['*'], on: ['failed'], include: [] },
    ],
    engine: {
      isCatalogRedacted: async () => false,
      async *listProblems() {
        yield listed.map(({ workflowName = 'order' }, index) => ({
          namespace: 'default',
          workflowId: 'order-1',
          runId: `run-${index}`,
          listed: { workflowName, status: 'running' as const },
        }))
      },
      async lastTask({ runId }) {
        const { after, ends = FAILED } = listed[Number(runId.slice('run-'.length))] ?? { after: '' }
        return { after, ends }
      },
      startActivity: async ({ activityId }) => void started.push(activityId ?? ''),
    },
  })
  const results: string[][] = []
  for (const poll of polls) {
    listed = poll
    started = []
    await scan(signal)
    results.push(started)
  }
  return results
}

test('createProblemScan: starts a delivery for a run that was not listed before', async () => {
  const first = { after: '0' }

  expect(await deliveries([[first], [first], [first, { after: '4' }]])).toEqual([
    ['$webhook:all:run-0:problem:0'],
    [],
    ['$webhook:all:run-1:problem:4'],
  ])
})

test('createProblemScan: a run that has gone on and fails again has another problem', async () => {
  expect(await deliveries([[{ after: '0' }], [], [{ after: '10' }]])).toEqual([
    ['$webhook:all:run-0:problem:0'],
    [],
    ['$webhook:all:run-0:problem:10'],
  ])
})

test('createProblemScan: an attribute that workflow code has set, and workflows of the service, are no problems', async () => {
  expect(
    await deliveries([
      [
        { after: '4', ends: [] },
        { after: '0', workflowName: '$catalog' },
      ],
    ]),
  ).toEqual([[]])
})
