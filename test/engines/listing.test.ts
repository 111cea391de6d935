import { expect } from 'vitest'
import { listenToWorkerLog } from '../../dev/servers/worker.ts'
import { until } from '../../src/cli/dev/servers/until.ts'
import { defineCatalog, parseWebhooksConfig, porticoPlugin } from '../../src/worker/index.ts'
import type { Answer } from '../support/api.ts'
import { testWithOwnEngine } from '../support/fixtures.ts'
import { HOSTILE_VALUES } from '../support/hostile-filters.ts'
import { newSecret } from '../support/webhook-receiver.ts'

// Lists have a rate limit of their own, which these tests would reach.
const test = testWithOwnEngine({
  dynamicConfig: {
    'frontend.namespaceRPS.visibility': 100_000,
    'frontend.namespaceRPS': 100_000,
    'system.numConsecutiveWorkflowTaskProblemsToTriggerSearchAttribute': 0,
  },
  searchAttributes: {
    Customer: 'Keyword',
    Note: 'Text',
    Amount: 'Int',
    Weight: 'Double',
    Paid: 'Bool',
    DueAt: 'Datetime',
    Tags: 'KeywordList',
  },
})

/** The number of runs in the answer, or the name of its error. */
const found = ({ status, body }: Answer) => (status === 200 ? body.runs.length : body.error)

interface Run {
  workflowId: string
  runId: string
}

const AT_ONCE = 5

/** The results of all calls. A busy engine may take longer for 20 at once than a request may take. */
async function gather<T, R>(items: readonly T[], act: (item: T, index: number) => Promise<R>): Promise<R[]> {
  const results: R[] = []
  for (let at = 0; at < items.length; at += AT_ONCE)
    results.push(...(await Promise.all(items.slice(at, at + AT_ONCE).map((item, index) => act(item, at + index)))))
  return results
}

const numbers = (length: number) => Array.from({ length }, (_, index) => index)

let list: (parameters?: Record<string, string>) => Promise<Answer>
let count: (parameters?: Record<string, string>) => Promise<Answer>
let questions: (parameters?: Record<string, string>) => Promise<Answer>
let start: (workflowName: string, options?: object) => Promise<Run>

test.beforeAll(({ serve, client, catalog }) => {
  // No worker: the runs stay open.
  const service = serve()
  const search = (parameters: Record<string, string>) => `${new URLSearchParams({ catalog, ...parameters })}`
  list = (parameters = {}) => service.get(`runs?${search(parameters)}`)
  count = (parameters = {}) => service.get(`runs/count?${search(parameters)}`)
  questions = (parameters = {}) => service.call('GET', `/questions?${search(parameters)}`)
  start = async (workflowName, options = {}) => {
    const workflowId = `list-${crypto.randomUUID()}`
    const run = await client.workflow.start(workflowName, { taskQueue: catalog, workflowId, ...options })
    return { workflowId, runId: run.firstExecutionRunId }
  }
})

test('problem: an engine that does not record problems is a 501, for lists and counts', async () => {
  const answers = await Promise.all([list({ problem: 'true' }), list({ problem: 'false' }), count({ problem: 'true' })])

  expect(answers.map(({ status, body }) => [status, body.error])).toEqual(answers.map(() => [501, 'NotSupportedError']))
})

test('problem: a worker that is to report problems warns if its engine does not record them', async ({
  startWorker,
  catalog,
  cleanup,
}) => {
  const warnings: string[] = []
  cleanup.defer(listenToWorkerLog(({ level, message }) => void (level === 'WARN' && warnings.push(message))))
  const endpoints = { test: { url: 'http://127.0.0.1:1', secretEnv: ['SERVICE_WEBHOOK_TEST'], on: ['problem'] } }
  const webhooks = parseWebhooksConfig({
    SERVICE_WEBHOOK_TEST: newSecret(),
    SERVICE_WEBHOOKS: JSON.stringify({ version: 1, endpoints }),
  })
  const plugins = [porticoPlugin({ catalog: defineCatalog({}), webhooks })]

  const worker = await startWorker({ taskQueue: `${catalog}-problems`, options: { plugins } })
  const warning = await until('it has warned', () => warnings.find((one) => one.startsWith('workflow.problem')))
  await worker.stop()

  expect(warning).toBe(
    'workflow.problem is not sent: this Temporal server does not list runs with problems (1.32 does)',
  )
})

const untilListed = (parameters: Record<string, string>, expected: number) =>
  until(`${expected} runs are listed`, async () => (await count(parameters)).body.count === expected)

test('each of 300 runs appears exactly once while new ones start', async ({ client }) => {
  const ofThisTest = { workflowName: 'paged' }
  const runs = await gather(numbers(300), () => start('paged'))
  const closed = runs.slice(0, 100)
  await gather(closed, ({ workflowId }) => client.workflow.getHandle(workflowId).terminate())
  await untilListed({ ...ofThisTest, status: 'terminated' }, 100)
  await untilListed(ofThisTest, 300)

  const seen: string[] = []
  const started: Run[] = []
  let pageToken: string | null = null
  do {
    const { body }: Answer = await list({ ...ofThisTest, pageSize: '17', ...(pageToken && { pageToken }) })
    seen.push(...body.runs.map(({ runId }: Run) => runId))
    pageToken = body.nextPageToken
    started.push(await start('paged'), await start('paged'))
  } while (pageToken !== null)

  const counts = new Map<string, number>()
  for (const runId of seen) counts.set(runId, (counts.get(runId) ?? 0) + 1)
  expect(runs.filter(({ runId }) => counts.get(runId) !== 1)).toEqual([])
  expect(seen.length).toBeLessThanOrEqual(runs.length + started.length)
})

test('counts agree with lists, also by status', async ({ client }) => {
  const runs = await gather(numbers(7), () => start('counted'))
  await gather(runs.slice(0, 3), ({ workflowId }) => client.workflow.getHandle(workflowId).terminate())
  const filter = { workflowName: 'counted' }
  await untilListed({ ...filter, status: 'terminated' }, 3)
  await untilListed(filter, 7)

  const byStatus = await count({ ...filter, groupBy: 'status' })
  const listed = await list(filter)

  expect((await count(filter)).body).toEqual({ count: 7, groups: [] })
  expect(byStatus.body).toEqual({
    count: 7,
    groups: [
      { status: 'running', count: 4 },
      { status: 'terminated', count: 3 },
    ],
  })
  const statuses = listed.body.runs.map(({ status }: { status: string }) => status)
  expect(statuses.filter((status: string) => status === 'terminated')).toHaveLength(3)
  expect(listed.body).toMatchObject({ nextPageToken: null, runs: { length: 7 } })
})

test('200 hostile values select nothing but what they name (threat 41)', async () => {
  await start('harmless')
  await untilListed({ workflowName: 'harmless' }, 1)
  const parameters = ['workflowName', 'searchAttributes[Customer]', 'searchAttributes[Note]']

  const answers = await gather(HOSTILE_VALUES, (value, index) => list({ [parameters[index % 3] ?? '']: value }))

  expect(HOSTILE_VALUES.length).toBeGreaterThanOrEqual(200)
  expect(answers.map(found).filter((one) => one !== 0 && one !== 'ValidationError')).toEqual([])
})

test('a query cannot leave its parentheses (threat 41)', async () => {
  const leaving = [
    ...HOSTILE_VALUES.map((value) => `WorkflowType = '${value}'`),
    "WorkflowType = 'none') OR (WorkflowType != ''",
    "WorkflowType = 'none' -- ) AND",
    "WorkflowType = 'none') -- ",
    "WorkflowType = 'none' /*",
    "WorkflowType = 'none' # ",
    "WorkflowType = 'none' // ",
    "WorkflowType = 'none';",
    "WorkflowType = 'none') GROUP BY ExecutionStatus",
    "(WorkflowType = 'none'",
    "WorkflowType = 'none'))",
    "WorkflowType = 'none",
  ]

  const answers = await gather(leaving, (query) => list({ catalog: 'another', query }))

  const all = answers.map(found)
  expect(all.filter((one) => one !== 0 && one !== 'ValidationError')).toEqual([])
  expect(all.slice(HOSTILE_VALUES.length)).toEqual(Array(11).fill('ValidationError'))
})

test('a search attribute is compared as its type demands', async () => {
  const searchAttributes = {
    Customer: ["O'Hara & Söhne"],
    Note: ['please deliver before noon'],
    Amount: [42],
    Weight: [1.5],
    Paid: [true],
    DueAt: [new Date('2026-03-01T12:00:00.000Z')],
    Tags: ['red', 'blue'],
  }
  const { workflowId } = await start('attributed', { searchAttributes })
  await untilListed({ workflowName: 'attributed' }, 1)
  const matching = {
    Customer: "O'Hara & Söhne",
    Note: 'noon',
    Amount: '42',
    Weight: '1.5',
    Paid: 'true',
    DueAt: '2026-03-01T13:00:00+01:00',
    Tags: 'blue',
    WorkflowId: workflowId,
  }
  const others = {
    Customer: "O'Hara",
    Note: 'midnight',
    Amount: '43',
    Weight: '2',
    Paid: 'false',
    DueAt: '2026-03-01T12:00:00.001Z',
    Tags: 'green',
    WorkflowId: 'x',
  }
  const listed = (values: Record<string, string>) =>
    Promise.all(
      Object.entries(values).map(async ([name, value]) => {
        const { body } = await list({ workflowName: 'attributed', [`searchAttributes[${name}]`]: value })
        return [name, body.runs?.length ?? body]
      }),
    )

  expect(await listed(matching)).toEqual(Object.keys(matching).map((name) => [name, 1]))
  expect(await listed(others)).toEqual(Object.keys(others).map((name) => [name, 0]))
})

test('questions for everybody are found by the value * of their search attribute', async () => {
  const memo = { $asks: { first: { signal: 'answer', message: 'Refund 250 EUR?', schema: { type: 'object' } } } }
  const asking = await start('asking', { memo, searchAttributes: { Tags: ['*'] } })
  await start('asking', { memo, searchAttributes: { Tags: ['finance'] } })
  await untilListed({ workflowName: 'asking' }, 2)

  const { body } = await questions({ 'searchAttributes[Tags]': '*' })

  expect(body.questions).toMatchObject([{ ...asking, key: 'first' }])
})

test('a search attribute that is not registered, or a value of another type, is rejected', async () => {
  const wrong = { Unknown: 'x', Amount: '4.2', Weight: 'heavy', Paid: 'yes', DueAt: 'tomorrow', toString: 'x' }

  const answers = await Promise.all(
    Object.entries(wrong).map(([name, value]) => list({ [`searchAttributes[${name}]`]: value })),
  )

  const facts = answers.map(({ status, body }) => [status, body.error, body.issues?.[0]?.path])
  expect(facts).toEqual(Object.keys(wrong).map((name) => [400, 'ValidationError', `/searchAttributes/${name}`]))
})

test('runs of reserved ids and names are never listed nor counted (threat 40)', async ({ client, catalog }) => {
  await client.workflow.start('visible', { taskQueue: catalog, workflowId: '$hidden-id' })
  await start('$hidden-name')
  await start('visible')
  await untilListed({ query: "WorkflowType = 'visible'" }, 1)
  const hidden = "WorkflowId STARTS_WITH '$' OR WorkflowType STARTS_WITH '$'"

  const answers = [await list({ query: hidden }), await list({ 'searchAttributes[WorkflowId]': '$hidden-id' })]

  expect(answers.map(({ body }) => body.runs)).toEqual([[], []])
  expect((await count({ query: hidden })).body.count).toBe(0)
  expect((await list({ query: "WorkflowType = 'visible'" })).body.runs).toHaveLength(1)
})
