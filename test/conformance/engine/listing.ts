import { expect, test } from 'vitest'
import { until } from '../../../src/cli/dev/servers/until.ts'
import type { TypedRunFilter } from '../../../src/service/model/run-filter.ts'
import { call, type EngineFixture, rejection } from './engine-fixture.ts'

/** List, count, search attributes. */
export function listing(fixture: EngineFixture): void {
  /** Starts runs whose ids begin with the same prefix, and waits until they are listed. */
  async function startListed(workflowNames: string[]): Promise<{ runIds: string[]; filter: TypedRunFilter }> {
    const prefix = crypto.randomUUID()
    const runs = await Promise.all(
      workflowNames.map((workflowName, index) => fixture.start(workflowName, null, `${prefix}-${index}`)),
    )
    await Promise.all(runs.filter((_, index) => workflowNames[index] === 'nothing').map(fixture.closed))
    const filter = { query: `WorkflowId STARTS_WITH '${prefix}'`, searchAttributes: [] }
    const closed = workflowNames.filter((workflowName) => workflowName === 'nothing').length
    await until('the runs are listed', async () => {
      const { count } = await fixture.engine.countRuns(filter, false, call())
      const completed = await fixture.engine.countRuns({ ...filter, status: 'completed' }, false, call())
      return count === runs.length && completed.count === closed
    })
    return { runIds: runs.map(({ runId }) => runId), filter }
  }

  test('list: returns the runs page by page, open ones first', async () => {
    const { runIds, filter } = await startListed(['nothing', 'waitForSignal', 'nothing'])

    const first = await fixture.engine.listRuns(filter, { size: 2, token: null }, call())
    const second = await fixture.engine.listRuns(filter, { size: 2, token: first.nextToken }, call())
    await fixture.engine.terminate(
      { workflowId: first.runs[0]?.workflowId ?? '', runId: runIds[1] ?? '' },
      null,
      call(),
    )

    expect(first.runs[0]).toEqual({
      workflowId: expect.stringMatching(/-1$/),
      runId: runIds[1],
      workflowName: 'waitForSignal',
      catalog: fixture.taskQueue,
      status: 'running',
      startedAt: expect.any(Date),
      completedAt: null,
      problem: false,
    })
    const closed = [first.runs[1], ...second.runs]
    expect(closed).toEqual(
      closed.map(() =>
        expect.objectContaining({ workflowName: 'nothing', status: 'completed', completedAt: expect.any(Date) }),
      ),
    )
    expect(closed.map((run) => run?.runId).toSorted()).toEqual([runIds[0], runIds[2]].toSorted())
    // The engine may add an empty page.
    const { nextToken: token } = second
    const last = token === null ? null : await fixture.engine.listRuns(filter, { size: 2, token }, call())
    expect(last?.runs ?? []).toEqual([])
  })

  test('count: counts all runs, and by status', async () => {
    const { runIds, filter } = await startListed(['nothing', 'waitForSignal', 'nothing'])

    const total = await fixture.engine.countRuns(filter, false, call())
    const { count, groups } = await fixture.engine.countRuns(filter, true, call())

    expect([total, count]).toEqual([{ count: runIds.length, groups: [] }, runIds.length])
    expect(groups).toEqual([
      { status: 'running', count: 1 },
      { status: 'completed', count: 2 },
    ])
  })

  test('list: selects by name, catalog, status and times', async () => {
    const { runIds, filter } = await startListed(['nothing', 'waitForSignal'])
    const [past, future] = ['2020-01-01T00:00:00Z', '2100-01-01T00:00:00+02:00']
    const listed = async (more: Partial<TypedRunFilter>) => {
      const { runs } = await fixture.engine.listRuns({ ...filter, ...more }, { size: 10, token: null }, call())
      return runs.map(({ runId }) => runIds.indexOf(runId)).toSorted()
    }

    expect(await listed({ workflowName: 'nothing' })).toEqual([0])
    expect(await listed({ catalog: fixture.taskQueue })).toEqual([0, 1])
    expect(await listed({ catalog: 'another' })).toEqual([])
    expect(await listed({ status: 'running' })).toEqual([1])
    expect(await listed({ startedAfter: past, startedBefore: future })).toEqual([0, 1])
    expect(await listed({ startedAfter: future })).toEqual([])
    expect(await listed({ closedAfter: past, closedBefore: future })).toEqual([0])
    expect(await listed({ closedBefore: past })).toEqual([])
  })

  test("list: passes on the engine's reason for rejecting a query", async () => {
    const filter = { query: 'Nope = 1', searchAttributes: [] }

    const rejected = await rejection(fixture.engine.listRuns(filter, { size: 1, token: null }, call()))

    expect(rejected).toMatchObject({ error: 'ValidationError', message: expect.stringContaining('Nope') })
  })

  test('search attributes: have the types that they are registered with', async () => {
    const types = await fixture.engine.searchAttributeTypes(call())

    expect([
      types.get('WorkflowId'),
      types.get('StartTime'),
      types.get('HistoryLength'),
      types.get('BuildIds'),
    ]).toEqual(['keyword', 'datetime', 'int', 'keyword_list'])
    expect(types.has('toString')).toBe(false)
  })
}
