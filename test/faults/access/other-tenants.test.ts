/** What callers learn about the runs of others: threats 16, 18, 22, 23 and 25 of docs/access.md. */
import { expect } from 'vitest'
import { ENDPOINTS } from '../../../src/service/endpoints.ts'
import { sealPageToken } from '../../../src/service/model/page-token.ts'
import type { Api } from '../../support/api.ts'
import { callEach, READS_OF_RUN, requestTo } from '../endpoints.ts'
import { bytesOf, historyLengthOf, rejectionOf } from './callers.ts'
import { newId, startRun, test } from './tenants.ts'

const ABOUT_A_RUN = ENDPOINTS.filter(({ path }) => path.startsWith('/workflow/:id/'))

/** All endpoints about this run, one after the other: some of them change it. */
async function bytesOfEach(api: Api, run: { workflowId: string; runId: string }) {
  const bytes: Record<string, unknown> = {}
  for (const endpoint of ABOUT_A_RUN) {
    const [method, path, body] = requestTo(endpoint, run)
    bytes[`${method} ${endpoint.path}`] = bytesOf(await api.call(method, path, body))
  }
  return bytes
}

test('every endpoint about a run of another tenant is the same 403 for open, closed and missing runs, pinned too, and does nothing (threats 16, 22)', async ({
  callers: { as },
  client,
}) => {
  const globex = as('globex')
  const open = await startRun(globex, 'messages', newId('globex'), 'globex secret')
  const closed = await globex.run('echo', 'globex secret', { workflowId: newId('globex') })
  const missing = { workflowId: newId('globex'), runId: crypto.randomUUID() }
  const before = await historyLengthOf(client, open.workflowId)

  const answers = await Promise.all(
    [open, closed.body, missing].map(async (run) => {
      const each = await callEach(
        as('acme'),
        ABOUT_A_RUN.map((endpoint) => requestTo(endpoint, run)),
      )
      return each.map((answer) => JSON.stringify(bytesOf(answer)).replaceAll(run.workflowId, '<id>'))
    }),
  )

  const [ofOpen = [], ofClosed, ofMissing] = answers
  expect([ofClosed, ofMissing]).toEqual([ofOpen, ofOpen])
  expect(ofOpen.filter((bytes) => !bytes.startsWith('[403,') || /secret|runId/.test(bytes))).toEqual([])
  expect(await historyLengthOf(client, open.workflowId)).toBe(before)
})

test('a HEAD request, and an id in another encoding, case or Unicode form, is another tenant still (threat 16)', async ({
  callers: { as },
}) => {
  const { workflowId } = await startRun(as('globex'), 'neverEnds', newId('globex'))
  const encoded = [...workflowId].map((character) => `%${character.charCodeAt(0).toString(16)}`).join('')
  const paths = [workflowId, encoded, `ACME:${workflowId}`, `acme%EF%BC%9A${workflowId}`, `${workflowId}%2F..%2Facme:1`]

  const answers = await Promise.all(
    paths.flatMap((id) => ['GET', 'HEAD'].map((method) => as('acme').call(method, `/workflow/${id}/status`))),
  )

  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 403))
})

test('a run of another workflow has on every endpoint the bytes of a run that does not exist (threat 22)', async ({
  callers: { as, operator },
  client,
}) => {
  const desk = as('desk')
  for (const workflowName of ['neverEnds', 'echo']) {
    const workflowId = `order-${crypto.randomUUID()}`
    const missing = { workflowId, runId: crypto.randomUUID() }
    const bytesOfMissing = await bytesOfEach(desk, missing)
    const run = await startRun(operator, workflowName, workflowId)
    if (workflowName === 'echo') await operator.get(`${workflowId}/result?wait=60s`)
    const before = await historyLengthOf(client, workflowId)

    const bytes = await bytesOfEach(desk, run)

    const withRunId = (value: unknown) => JSON.parse(JSON.stringify(value).replaceAll(run.runId, missing.runId))
    expect(withRunId(bytes)).toEqual(bytesOfMissing)
    expect(JSON.stringify(bytes)).not.toMatch(/\[(?:200|202|204|403|409),/)
    expect(await historyLengthOf(client, workflowId)).toBe(before)
  }
})

test('an open run that the rule names is served on every endpoint that reads it (threat 22)', async ({
  callers: { as, operator },
}) => {
  const run = await startRun(operator, 'messages', `order-${crypto.randomUUID()}`)
  const paths = READS_OF_RUN.flatMap((what) => [
    `${run.workflowId}/${what}`,
    `${run.workflowId}/runs/${run.runId}/${what}`,
  ])

  const answers = await Promise.all(paths.map((path) => as('desk').get(path)))

  expect(answers.map(({ status }) => status)).toEqual(paths.map(() => 200))
})

test('an earlier run of the same id, but of another workflow, stays hidden by any way to name it (threats 18, 22)', async ({
  callers: { as, operator },
}) => {
  const workflowId = `order-${crypto.randomUUID()}`
  const hidden = (await operator.run('echo', 'hidden', { workflowId })).body
  const current = await startRun(operator, 'messages', workflowId)
  const tokenOfRun = async (runId: string) =>
    sealPageToken({ namespace: 'default', history: workflowId }, { runId, after: 0, page: null, live: null })
  const requestsAbout = async (runId: string) => [
    `${workflowId}/history?pageToken=${await tokenOfRun(runId)}`,
    `${workflowId}/runs/${runId}/history?pageToken=${await tokenOfRun(runId)}`,
    ...['result', ...READS_OF_RUN].map((what) => `${workflowId}/runs/${runId}/${what}`),
  ]
  const headersAbout = (runId: string) => [
    [`${workflowId}/history/stream`, `${runId}@0`],
    [`${workflowId}/trace-log/stream`, `${runId}@0`],
    [`${workflowId}/result?wait=1s`, `${workflowId}/${runId}`],
  ]
  const readAll = async (api: Api, runId: string) => {
    const answers = [
      ...(await requestsAbout(runId)).map((path) => api.get(path)),
      ...headersAbout(runId).map(([path = '', id = '']) =>
        api.get(path, { Accept: 'text/event-stream', 'Last-Event-ID': id }),
      ),
    ]
    return (await Promise.all(answers)).map((answer) =>
      JSON.parse(JSON.stringify(bytesOf(answer)).replaceAll(runId, '<run id>')),
    )
  }
  const unknown = crypto.randomUUID()

  const [ofHidden, ofUnknown, ofOperator] = [
    await readAll(as('desk'), hidden.runId),
    await readAll(as('desk'), unknown),
    await readAll(operator, hidden.runId),
  ]

  expect(ofHidden).toEqual(ofUnknown)
  expect(ofHidden.map(([status]) => status)).toEqual(ofHidden.map(() => 404))
  expect(ofOperator.map(([status]) => status)).toEqual(ofOperator.map(() => 200))
  expect((await as('desk').get(`${workflowId}/status`)).body.runId).toBe(current.runId)
  const readToEnd = async (api: Api, runId: string) => {
    const headers = { Accept: 'text/event-stream', 'Last-Event-ID': `${workflowId}/${runId}@end` }
    return JSON.stringify(bytesOf(await api.get(`${workflowId}/result`, headers))).replaceAll(runId, '<run id>')
  }
  const hiddenEnd = await readToEnd(as('desk'), hidden.runId)
  expect(hiddenEnd).toMatch(/^\[404,/)
  expect(hiddenEnd).toBe(await readToEnd(as('desk'), unknown))
  expect(await readToEnd(operator, hidden.runId)).toMatch(/^\[204,/)
})

test('a page token of a history is good for its workflow id alone, whoever presents it (threat 18)', async ({
  callers: { as },
}) => {
  const run = async (tenant: string) => (await as(tenant).run('echo', 1, { workflowId: newId(tenant) })).body
  const [own, foreign] = [await run('acme'), await run('globex')]
  const { nextPageToken } = (await as('globex').get(`${foreign.workflowId}/history?pageSize=1`)).body
  const page = (api: Api, { workflowId }: { workflowId: string }) =>
    api.get(`${workflowId}/history?pageSize=1&pageToken=${encodeURIComponent(nextPageToken)}`)

  const answers = [await page(as('globex'), foreign), await page(as('acme'), own), await page(as('acme'), foreign)]

  expect(answers.map(({ status, body }) => [status, body.error])).toEqual([
    [200, undefined],
    [400, 'InvalidPageTokenError'],
    [403, 'ForbiddenError'],
  ])
})

test("trace-log includes child runs, and a child's own id is a 403 unless the rule names it (threat 23)", async ({
  callers: { as },
  client,
}) => {
  const { workflowId } = (await as('acme').run('everyKind', 'of the child', { workflowId: newId('acme') })).body
  const { events } = await client.workflow.getHandle(workflowId).fetchHistory()
  const started = events?.find((event) => event.childWorkflowExecutionStartedEventAttributes)
  const child = started?.childWorkflowExecutionStartedEventAttributes?.workflowExecution

  const trace = await as('acme').get(`${workflowId}/trace-log`)
  const own = await Promise.all(
    ['status', 'trace-log', 'result'].map((what) => as('acme').get(`${child?.workflowId}/${what}`)),
  )

  expect(trace.text).toContain(`"id":"${child?.runId}"`)
  expect(own.map(rejectionOf)).toEqual(own.map(() => [403, 'ForbiddenError', 'read']))
})

test('a result, a wait and a trace that one caller has just read are not served to another (threat 25)', async ({
  callers: { as },
}) => {
  const { workflowId, runId } = (await as('globex').run('echo', 'secret', { workflowId: newId('globex') })).body
  const open = await startRun(as('globex'), 'waitForSignal', newId('globex'))
  const paths = [`${workflowId}/result`, `${workflowId}/runs/${runId}/result`, `${workflowId}/trace-log`]
  const reads = await Promise.all(paths.map((path) => as('globex').get(path)))
  const waiting = as('globex').get(`${open.workflowId}/result?wait=60s`)

  const denied = await Promise.all([...paths, `${open.workflowId}/result?wait=60s`].map((path) => as('acme').get(path)))
  await as('globex').post(`${open.workflowId}/signal/finish`)

  expect([...reads, await waiting].map(({ status }) => status)).toEqual([200, 200, 200, 200])
  expect(denied.map(rejectionOf)).toEqual(denied.map(() => [403, 'ForbiddenError', 'read']))
})

test('catalog and OpenAPI document have only what a caller may use, and no ETag of another caller is a match (threat 25)', async ({
  callers: { as, operator },
}) => {
  for (const path of ['/workflow/catalog', '/openapi.json']) {
    const [whole, all, ofDesk] = await Promise.all(
      [operator, as('acme'), as('desk')].map((api) => api.call('GET', path)),
    )
    const etagOf = (answer: typeof whole) => answer?.headers.get('ETag') ?? ''
    const again = await Promise.all(
      [etagOf(whole), etagOf(ofDesk)].map((etag) => as('desk').call('GET', path, undefined, { 'If-None-Match': etag })),
    )

    expect(etagOf(whole)).not.toBe(etagOf(ofDesk))
    expect(etagOf(whole)).toBe(etagOf(all))
    expect([...again, all, ofDesk].map((answer) => answer?.headers.get('Cache-Control'))).toEqual(
      Array(4).fill('private, no-cache'),
    )
    expect(whole?.headers.get('Cache-Control')).toBe('no-cache')
    expect(again.map(({ status }) => status)).toEqual([200, 304])
    expect(whole?.text).toContain('Returns what it is given.')
    expect(ofDesk?.text).toContain('Gathers its arguments.')
    expect(ofDesk?.text).not.toMatch(/Returns what it is given|parrot|sleepFor/)
  }
})
