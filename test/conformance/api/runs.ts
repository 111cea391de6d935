import { expect, test } from 'vitest'
import { until } from '../../../src/cli/dev/servers/until.ts'
import type { Answer } from '../../support/api.ts'
import { answersTo, changedBytes, damageToken, forgeToken, positionIn } from '../../support/forge-token.ts'
import { type ApiFixture, anId, pause, startDirectly } from './api-fixture.ts'

/** GET runs and runs/count. */
export function runs(api: () => ApiFixture): void {
  /** Starts runs that only the returned filter selects: no worker polls their task queue. */
  async function startListed(count: number): Promise<{ runIds: string[]; filter: string }> {
    const taskQueue = anId()
    const options = () => ({ taskQueue, workflowId: anId() })
    const started = await Promise.all(Array.from({ length: count }, () => startDirectly(api(), 'nothing', options())))
    const filter = `catalog=${taskQueue}&status=running`
    const isListed = async () => (await get(`/count?${filter}`)).body.count === count
    await until('the runs are listed', isListed)
    return { runIds: started.map((run) => run.firstExecutionRunId), filter }
  }

  const get = (path: string): Promise<Answer> => api().service.get(`runs${path}`)

  test('runs: are listed page by page, and counted', async () => {
    const { runIds, filter } = await startListed(5)

    const pages: Answer[] = []
    for (let token = ''; pages.length === 0 || token !== ''; token = pages.at(-1)?.body.nextPageToken ?? '')
      pages.push(await get(`?${filter}&pageSize=2${token && `&pageToken=${token}`}`))
    const count = await get(`/count?${filter}&groupBy=status`)

    const listed = pages.flatMap(({ body }) => body.runs)
    expect(listed.map(({ runId }) => runId).toSorted()).toEqual(runIds.toSorted())
    expect(listed[0]).toEqual({
      workflowId: expect.stringMatching(/^api-test-/),
      runId: expect.any(String),
      workflowName: 'nothing',
      workflowType: 'nothing',
      catalog: expect.stringMatching(/^api-test-/),
      status: 'running',
      startedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      completedAt: null,
      problem: false,
    })
    expect([count.status, count.body]).toEqual([200, { count: 5, groups: [{ status: 'running', count: 5 }] }])
    expect((await get(`/count?${filter}`)).body).toEqual({ count: 5, groups: [] })
  })

  test('runs: problem=true finds an open run whose code fails again and again, until it ends or makes progress', async () => {
    const options = { taskQueue: api().plainTaskQueue, workflowTaskTimeout: '1s' }
    const { workflowId } = await startDirectly(api(), 'failTask', options)
    const fixed = await startDirectly(api(), 'failsUntilFixed', options)
    const find = (problem: string, id = workflowId) => get(`?searchAttributes%5BWorkflowId%5D=${id}&problem=${problem}`)

    const [found] = await Promise.all(
      [workflowId, fixed.workflowId].map((id) =>
        until('it has a problem', async () => (await find('true', id)).body.runs[0], { timeoutMs: 60_000 }),
      ),
    )
    await fixed.signal('fix')
    await pause(api(), workflowId)
    const paused = await until('it is listed as paused', async () => {
      const [run] = (await find('true')).body.runs
      return run?.status === 'paused' && run
    })
    const others = await find('false')
    const count = await get(`/count?searchAttributes%5BWorkflowId%5D=${workflowId}&problem=true`)
    await api().service.post(`${workflowId}/terminate`)
    const ended = await until('it is listed as ended', async () => (await find('false')).body.runs[0])
    const going = await until(
      'the other one makes progress',
      async () => (await find('false', fixed.workflowId)).body.runs[0],
      { timeoutMs: 60_000 },
    )
    await fixed.terminate()
    const invalid = await Promise.all([find('yes'), find('true&problem=true')])

    expect(found).toMatchObject({ workflowId, status: 'running', problem: true })
    expect(paused).toMatchObject({ workflowId, problem: true })
    expect(going).toMatchObject({ status: 'running', problem: false })
    expect([others.body.runs, count.body.count]).toEqual([[], 1])
    expect(ended).toMatchObject({ workflowId, status: 'terminated', problem: false })
    expect(invalid.map(({ status }) => status)).toEqual([400, 400])
  })

  test('runs: a search attribute selects by its registered type', async () => {
    const { body: started } = await api().service.run('nothing')
    const byId = (workflowId: string) => get(`?searchAttributes%5BWorkflowId%5D=${workflowId}`)
    await until('the run is listed', async () => (await byId(started.workflowId)).body.runs.length === 1)

    const [other, unknown] = await Promise.all([byId(anId()), get('?searchAttributes[No/pe~]=1')])

    expect(other.body).toEqual({ runs: [], nextPageToken: null })
    expect([unknown.status, unknown.body.issues]).toEqual([
      400,
      [{ path: '/searchAttributes/No~1pe~0', message: 'is not a search attribute of the namespace' }],
    ])
  })

  test('runs: a token of another list, or a damaged one, is rejected', async () => {
    const { filter } = await startListed(2)
    const { body } = await get(`?${filter}&pageSize=1`)
    const token: string = body.nextPageToken
    const wrong = [
      `?status=completed&pageToken=${token}`,
      `?${filter}&workflowName=nothing&pageToken=${token}`,
      `?${filter}&pageToken=${damageToken(token)}`,
      `?${filter}&pageToken=${token.slice(0, -4)}`,
      `?${filter}&pageToken=`,
      `?${filter}&pageToken=%F0%9F%90%98`,
    ]

    const answers = await Promise.all(wrong.map(get))

    expect(answers.map(({ status, body }) => [status, body.error])).toEqual(
      wrong.map(() => [400, 'InvalidPageTokenError']),
    )
    expect((await get(`?${filter}&pageSize=100&pageToken=${token}`)).body.runs).toHaveLength(1)
  })

  test('runs: a forged token with the right hash is rejected too, whatever it contains (threat 42)', async () => {
    const catalog = anId()
    const filter = `catalog=${catalog}`
    const request = { namespace: 'default', runs: { catalog } }
    const ofEngine = ['AAAA', btoa('garbage'), btoa('{"CloseTime":1}')].map((token) => JSON.stringify(token))
    const positions = [...ofEngine, '{"RunID":"x"}', '7', 'null', '"not base64"', 'not JSON', '']
    const forged = await Promise.all(positions.map((position) => forgeToken(request, position)))

    const answers = await answersTo(forged, (token) => get(`?${filter}&pageToken=${token}`))

    expect(answers.map(({ status, body }) => [status, body.error])).toEqual(
      forged.map(() => [400, 'InvalidPageTokenError']),
    )
  })

  test('runs: a forged token with a changed byte is rejected, or is the position of another page (threat 42)', async () => {
    const { filter, runIds } = await startListed(2)
    const [catalog] = /(?<=catalog=)[^&]+/.exec(filter) ?? []
    const request = { namespace: 'default', runs: { catalog, status: 'running' } }
    const first = await get(`?${filter}&pageSize=1`)
    const forged = await Promise.all(
      changedBytes(positionIn(first.body.nextPageToken)).map((token) => forgeToken(request, JSON.stringify(token))),
    )

    const answers = await answersTo(forged, (token) => get(`?${filter}&pageToken=${token}`))

    const kinds = answers.map(({ status, body }) => [status, body.error])
    expect(kinds).toContainEqual([400, 'InvalidPageTokenError'])
    expect(kinds.filter(([status, error]) => status !== 200 && error !== 'InvalidPageTokenError')).toEqual([])
    expect(runIds).toEqual(
      expect.arrayContaining(answers.flatMap(({ body }) => body.runs ?? []).map(({ runId }) => runId)),
    )
  })

  test('runs: invalid parameters are rejected by name', async () => {
    const wrong = new Map([
      ['?pageSize=0', '/pageSize'],
      ['?pageSize=1001', '/pageSize'],
      ['?pageSize=1e2', '/pageSize'],
      ['?status=Running', '/status'],
      ['?startedAfter=yesterday', '/startedAfter'],
      ['?closedBefore=2026-13-01T00:00:00Z', '/closedBefore'],
      ['?workflowName=a%00b', '/workflowName'],
      ['?catalog=a%0Ab', '/catalog'],
      ['?query=%1B', '/query'],
      ['?query=', '/query'],
      ["?query=WorkflowType='x')+OR+(WorkflowType!=''", '/query'],
      ['?searchAttributes[Customer]=a%7Fb', '/searchAttributes/Customer'],
      ['?searchAttributes=x', '/searchAttributes'],
      ['?workflowId=x', '/workflowId'],
      ['?status=running&status=failed', '/status'],
      ['?searchAttributes[a/b]=1&searchAttributes[a/b]=2', '/searchAttributes/a~1b'],
      ['?__proto__=x', '/__proto__'],
      ['?searchAttributes[__proto__]=x', '/searchAttributes/__proto__'],
      ['/count?groupBy=workflowName', '/groupBy'],
      ['/count?pageSize=1', '/pageSize'],
    ])

    const answers = await Promise.all([...wrong.keys()].map(get))

    expect(answers.map(({ status, body }) => [status, body.error, body.issues?.[0]?.path])).toEqual(
      [...wrong.values()].map((path) => [400, 'ValidationError', path]),
    )
    expect((await get('?workflowName=%FF')).status).toBe(400)
  })
}
