/** What lists and counts contain for callers with rules: threats 17 and 18 of docs/access.md. */
import { expect } from 'vitest'
import { until } from '../../../src/cli/dev/servers/until.ts'
import type { Answer, Api } from '../../support/api.ts'
import { testWithOwnEngine } from '../../support/fixtures.ts'
import { HOSTILE_VALUES } from '../../support/hostile-filters.ts'
import { rejectionOf, startCallers, tokenRule } from './callers.ts'

// Lists have a rate limit of their own, which these tests would reach.
const test = testWithOwnEngine({
  dynamicConfig: { 'frontend.namespaceRPS.visibility': 100_000, 'frontend.namespaceRPS': 100_000 },
}).extend('callers', { scope: 'file' }, ({ serve, cleanup, catalog }) =>
  startCallers({ serve, cleanup, rules: RULES, env: { SERVICE_CATALOG_ID: catalog } }),
)

const RULES = [
  tokenRule('acme', { can: ['list'], ids: ['acme:*'] }),
  tokenRule('globex', { can: ['list'], ids: ['globex:*'] }),
  tokenRule('orders', { can: ['list'], workflows: ['order*'] }),
  tokenRule('both', { can: ['list'], ids: ["it's:*", 'acme:1'], workflows: ['order'] }),
  // Two rules of one token: each for itself.
  tokenRule('both-admins', { can: ['list'], ids: ['globex:*'], workflows: ['admin'] }, 'both-token'),
  tokenRule('wildcards', { can: ['list'], ids: ['%*', '_cme:*'] }),
  tokenRule('reader', { can: ['read'] }),
]

const RUNS: [workflowName: string, workflowId: string][] = [
  ['order', 'acme:1'],
  ['admin', 'acme:2'],
  ['order', 'ACME:3'],
  ['Order', 'Acme:4'],
  ['order', 'globex:1'],
  ['admin', 'globex:2'],
  ['order', "it's:1"],
  ['order', 'acme'],
]

// As many as an engine on a busy machine answers in time.
const AT_ONCE = 5

let ids: (api: Api, parameters?: Record<string, string>) => Promise<string[]>

test.beforeAll(async ({ client, catalog, callers: { operator } }) => {
  // No worker: the runs stay open.
  for (const [workflowName, workflowId] of RUNS)
    await client.workflow.start(workflowName, { taskQueue: catalog, workflowId })
  await until('all runs are listed', async () => (await operator.get('runs/count')).body.count === RUNS.length)
  ids = async (api, parameters = {}) => {
    const { body, text } = await api.get(`runs?${new URLSearchParams(parameters)}`)
    if (body.runs === undefined) throw new Error(text)
    return body.runs.map(({ workflowId }: { workflowId: string }) => workflowId).toSorted()
  }
})

const countOf = async (api: Api, parameters: Record<string, string> = {}) =>
  (await api.get(`runs/count?${new URLSearchParams(parameters)}`)).body.count

test('a list has the granted rows alone, although the engine also finds ids and names in another case (threat 17)', async ({
  callers: { as },
  client,
}) => {
  const found: string[] = []
  for await (const { workflowId } of client.workflow.list({ query: "WorkflowId STARTS_WITH 'acme:'" }))
    found.push(workflowId)

  expect(found.toSorted()).toEqual(['ACME:3', 'Acme:4', 'acme:1', 'acme:2'])
  expect(await ids(as('acme'))).toEqual(['acme:1', 'acme:2'])
  expect(await ids(as('acme'), { query: "WorkflowId = 'ACME:3' OR WorkflowId = 'acme:1'" })).toEqual(['acme:1'])
  expect(await ids(as('orders'))).toEqual(['ACME:3', 'acme', 'acme:1', 'globex:1', "it's:1"])
  expect(await ids(as('globex'))).toEqual(['globex:1', 'globex:2'])
})

test('each rule counts for itself, quotes in its patterns are data, and % and _ are no wildcards (threat 17)', async ({
  callers: { as },
}) => {
  expect(await ids(as('both'))).toEqual(['acme:1', 'globex:2', "it's:1"])
  expect(await countOf(as('both'))).toBe(3)
  expect(await ids(as('wildcards'))).toEqual([])
  expect(await countOf(as('wildcards'))).toBe(0)
})

test('a count contains no other tenant, and is not exact where the database ignores case (threat 17)', async ({
  callers: { as, operator },
}) => {
  const foreign = { query: "WorkflowId STARTS_WITH 'globex:'" }

  expect(await countOf(operator, foreign)).toBe(2)
  expect([await countOf(as('acme'), foreign), await countOf(as('globex'))]).toEqual([0, 2])
  // The four of `acme:` in any case, which docs/access.md says.
  expect(await countOf(as('acme'))).toBe(4)
  expect((await as('globex').get('runs/count?groupBy=status')).body.groups).toEqual([{ status: 'running', count: 2 }])
})

test('no query leaves its filter: alternatives, parentheses, quotes, comments, clauses (threat 17)', async ({
  callers: { as },
}) => {
  const accepted = [
    "WorkflowId = 'x' OR WorkflowId STARTS_WITH 'globex:'",
    "(WorkflowId = 'x') OR (WorkflowType != '')",
    "WorkflowId = ') OR (' OR WorkflowType IS NOT NULL",
    "NOT (WorkflowId STARTS_WITH 'acme:')",
    "WorkflowId IN ('acme:1', 'globex:1', 'globex:2')",
  ]
  const rejected = [
    "WorkflowId = 'x') OR (WorkflowId STARTS_WITH 'globex:'",
    "WorkflowId = 'x') OR WorkflowId STARTS_WITH 'globex:' OR (WorkflowId = 'y'",
    "WorkflowType != '') -- ",
    "WorkflowType != '' -- ",
    "WorkflowType != '') /*",
    "WorkflowType != '') # ",
    "WorkflowType != ''; SELECT 1",
    "WorkflowId = '\\') OR (WorkflowType != \\'",
    "WorkflowId = \"x') OR (WorkflowType != '\"'",
    "WorkflowType != '' ORDER BY StartTime",
    "WorkflowType != '' GROUP BY ExecutionStatus",
    "WorkflowType != '' LIMIT 1",
  ]

  for (const query of accepted) {
    expect((await ids(as('acme'), { query })).filter((id) => !id.startsWith('acme:'))).toEqual([])
    expect((await ids(as('orders'), { query })).filter((id) => id === 'globex:2')).toEqual([])
  }
  const statuses = []
  for (const query of rejected)
    for (const path of ['runs', 'runs/count'])
      statuses.push((await as('acme').get(`${path}?${new URLSearchParams({ query })}`)).status)
  expect(statuses).toEqual(statuses.map(() => 400))
})

test('no hostile query brings a row of another workflow (threat 17)', async ({ callers: { as } }) => {
  const queries = HOSTILE_VALUES.map((value, index) => (index % 2 === 0 ? value : `WorkflowId = '${value}'`))
  const answers: Answer[] = []
  for (let at = 0; at < queries.length; at += AT_ONCE)
    answers.push(
      ...(await Promise.all(
        queries.slice(at, at + AT_ONCE).map((query) => as('orders').get(`runs?${new URLSearchParams({ query })}`)),
      )),
    )

  const rows = answers.flatMap(({ body }) => body.runs ?? [])
  expect(rows.filter(({ workflowName }) => workflowName !== 'order')).toEqual([])
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 400]))
})

test('a page token is bound to what its caller may see (threat 18)', async ({ callers: { as, operator } }) => {
  const pageAfter = (api: Api, token: string) =>
    api.get(`runs?${new URLSearchParams({ pageSize: '1', pageToken: token })}`)
  const { nextPageToken } = (await as('globex').get('runs?pageSize=1')).body
  const ofOperator = (await operator.get('runs?pageSize=1')).body.nextPageToken

  const answers = [
    await pageAfter(as('globex'), nextPageToken),
    await pageAfter(as('acme'), nextPageToken),
    await pageAfter(operator, nextPageToken),
    await pageAfter(as('acme'), ofOperator),
  ]

  expect(answers.map(({ status, body }) => [status, body.error])).toEqual([
    [200, undefined],
    [400, 'InvalidPageTokenError'],
    [400, 'InvalidPageTokenError'],
    [400, 'InvalidPageTokenError'],
  ])
  expect(answers[0]?.body.runs[0].workflowId).toMatch(/^globex:/)
})

test('pages with a filtered row are short, and their token leads to the next one (threat 17)', async ({
  callers: { as },
}) => {
  const seen: string[] = []
  let pageToken: string | null = null
  do {
    const parameters: Record<string, string> = { pageSize: '1', ...(pageToken !== null && { pageToken }) }
    const { body }: { body: { runs: { workflowId: string }[]; nextPageToken: string | null } } = await as('acme').get(
      `runs?${new URLSearchParams(parameters)}`,
    )
    seen.push(...body.runs.map(({ workflowId }) => workflowId))
    pageToken = body.nextPageToken
  } while (pageToken !== null)

  expect(seen.toSorted()).toEqual(['acme:1', 'acme:2'])
})

test('reading runs is no right to list them (threat 17)', async ({ callers: { as } }) => {
  const answers = await Promise.all(['runs', 'runs/count'].map((path) => as('reader').get(path)))

  expect(answers.map(rejectionOf)).toEqual(answers.map(() => [403, 'ForbiddenError', 'list']))
})
