/** Values in filters and starts that generators write, that do not exist, or that a database cannot search for. */
import { expect } from 'vitest'
import { until } from '../../src/cli/dev/servers/until.ts'
import { test } from '../support/fixtures.ts'

test('filters: times of common generators find the same runs', async ({ serve, client, catalog }) => {
  const service = serve()
  const due = new Date('2026-03-01T12:00:00.000Z')
  const workflowId = `due-${crypto.randomUUID()}`
  await client.workflow.start('due', { taskQueue: catalog, workflowId, searchAttributes: { OptionDatetime: [due] } })
  const counted = async (parameters: Record<string, string>) => {
    const { status, body } = await service.get(`runs/count?${new URLSearchParams({ catalog, ...parameters })}`)
    return status === 200 ? body.count : [status, body.issues[0].path]
  }
  await until('the run is counted', async () => (await counted({})) === 1)
  const times = ['2026-03-01T12:00:00+0000', '2026-03-01T12:00Z', '2026-03-01 13:00+01', '2026-03-01t12:00:00,000z']
  const name = 'searchAttributes[OptionDatetime]'
  const missing = ['2026-02-30T00:00:00Z', '2026-03-01T24:00:00Z', '2026-03-01', '2026-03-01T12:00:00']

  const found = await Promise.all(times.map((time) => counted({ [name]: time, startedAfter: '2026-01-01 00:00+0000' })))
  const closed = await counted({ closedBefore: times[0] ?? '', closedAfter: times[1] ?? '' })
  const wrong = await Promise.all(missing.map((time) => counted({ [name]: time })))
  const wrongStart = await Promise.all(missing.map((startedBefore) => counted({ startedBefore })))

  expect([...found, closed]).toEqual([1, 1, 1, 1, 0])
  expect(wrong).toEqual(missing.map(() => [400, '/searchAttributes/OptionDatetime']))
  expect(wrongStart).toEqual(missing.map(() => [400, '/startedBefore']))
  await client.workflow.getHandle(workflowId).terminate()
})

test('filters: a value that the database cannot search for is no outage', async ({ serve, catalog }) => {
  const service = serve()
  const list = (path: string, parameters: Record<string, string>) =>
    service.get(`${path}?${new URLSearchParams({ catalog, ...parameters })}`)
  const quote = { 'searchAttributes[OptionKeywordList]': 'a"b' }
  const query = { query: `OptionKeywordList = 'a"b'` }

  const parameter = [await list('runs', quote), await list('runs/count', quote)]
  const queries = [await list('runs', query), await list('runs/count', query)]
  const others = await Promise.all(
    ["a'b", 'a\\b', "O'Hara"].map((value) => list('runs', { 'searchAttributes[OptionKeywordList]': value })),
  )
  const keyword = await list('runs', { 'searchAttributes[OptionKeyword]': 'a"b' })

  expect(parameter.map(({ status, body }) => [status, body.error])).toEqual(
    parameter.map(() => [501, 'NotSupportedError']),
  )
  expect(parameter[0]?.body.message).toContain('searchAttributes[OptionKeywordList]')
  expect(queries.map(({ status, body }) => [status, body.issues?.[0].path])).toEqual(queries.map(() => [400, '/query']))
  for (const { headers } of [...parameter, ...queries]) expect(headers.has('Retry-After')).toBe(false)
  expect([...others, keyword].map(({ status }) => status)).toEqual([200, 200, 200, 200])
})

test('starts: common forms of a time are rewritten by the registered type, and a keyword stays as it is', async ({
  service,
}) => {
  const start = (searchAttributes: object) =>
    service.call('POST', '/workflow/start', { workflowName: 'nothing', input: null, searchAttributes })
  const forms = ['2026-03-01T13:00:00.5+01:00', '2026-03-01 12:00:00,5+0000', '2026-03-01t12:00:00.5z']
  const attributesOf = async ({ body }: { body: { workflowId: string } }) =>
    (await service.get(`${body.workflowId}/status`)).body.searchAttributes

  const alone = await Promise.all(forms.map((OptionDatetime) => start({ OptionDatetime })))
  const typed = await start({ OptionDatetime: { type: 'datetime', value: '2026-03-01 12:00+00' } })
  const keyword = await start({ OptionKeyword: '2026-03-01 12:00+00' })
  const others = await Promise.all(
    ['2026-03-01', '2026-03-01T12:00:00', '2026-02-30 12:00Z'].map((OptionDatetime) => start({ OptionDatetime })),
  )

  expect([...alone, typed, keyword].map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
  for (const response of alone)
    expect(Date.parse((await attributesOf(response)).OptionDatetime)).toBe(Date.parse('2026-03-01T12:00:00.5Z'))
  expect(await attributesOf(keyword)).toEqual({ OptionKeyword: '2026-03-01 12:00+00' })
  expect(others.map(({ status }) => status)).toEqual([400, 400, 400])
  for (const { body } of others)
    expect(body.issues).toEqual([
      { path: '/searchAttributes/OptionDatetime', message: expect.stringContaining('like 2026-01-31T12:00:00Z') },
    ])
})
