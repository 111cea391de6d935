import { expect, test } from 'vitest'
import type { Call } from '../../../src/domain/call.ts'
import { createCatalogs } from '../../../src/domain/catalog.ts'
import type { Description } from '../../../src/domain/execution.ts'
import { toTracedRun } from '../../../src/domain/traced-run.ts'
import type { TraceTemplates } from '../../../src/protocol/catalog.ts'
import { aCall } from '../call.ts'
import { aDescription, anEngine, notFound } from './shelf.ts'

const TEMPLATES = { remote: 'https://b/{workflowId}/{rootRunId}' }

/** Runs by their ids, each started by the next; and what their catalogs say of traces. */
function anEngineWith(runs: Description[], traces: Record<string, TraceTemplates>) {
  const asked: string[] = []
  const engine = anEngine({
    async describe({ workflowId }) {
      asked.push(workflowId)
      const catalog = workflowId.startsWith('$catalog:') ? traces[workflowId.slice('$catalog:'.length)] : undefined
      if (catalog !== undefined) return aDescription({ workflowId, workflowName: '$catalog', memo: memoOf(catalog) })
      const run = runs.find((each) => each.workflowId === workflowId)
      if (run === undefined) throw notFound(workflowId)
      return run
    },
    input: async () => ({ workflows: [] }),
    lastPolledAt: async () => null,
  })
  return { asked, ports: { engine, catalogs: createCatalogs({ engine, ttlMs: 5000, now: () => 1 }) } }
}

function memoOf(traces: TraceTemplates): Map<string, unknown> {
  return new Map<string, unknown>([
    ['workflowNames', {}],
    ['traces', traces],
  ])
}

function aRun(workflowId: string, parent: string | null, more: Partial<Description> = {}): Description {
  return aDescription({
    workflowId,
    firstRunId: `${workflowId}-1`,
    parent: parent === null ? null : { workflowId: parent, runId: 'p' },
    ...more,
  })
}

test('toTracedRun: a run without a parent is its own root, and nobody is asked', async () => {
  const { asked, ports } = anEngineWith([], {})

  expect(await toTracedRun(aRun('top', null), ports).root(aCall())).toMatchObject({ workflowId: 'top', firstRunId: 'top-1' })
  expect(asked).toEqual([])
})

test('toTracedRun: the root of a child is the topmost run whose workers record traces, in whatever catalog', async () => {
  const top = aRun('top', 'untraced', { catalog: 'b' })
  const { ports } = anEngineWith([top, aRun('middle', 'top'), aRun('untraced', null, { catalog: 'c' })], {
    orders: TEMPLATES,
    b: TEMPLATES,
    c: false,
  })
  const run = toTracedRun(aRun('child', 'middle'), ports)

  expect(await run.root(aCall())).toMatchObject({ workflowId: 'top', catalog: 'b' })
  expect(await run.destinations(aCall())).toEqual({ remote: 'https://b/top/top-1' })
})

test('toTracedRun: a parent that the engine does not know leaves the child its own root', async () => {
  const { ports } = anEngineWith([], { orders: TEMPLATES })

  expect(await toTracedRun(aRun('child', 'gone'), ports).destinations(aCall())).toEqual({ remote: 'https://b/child/child-1' })
})

test('toTracedRun: what has been asked is asked no more, what failed is asked again within the next one’s time', async () => {
  const { asked, ports } = anEngineWith([aRun('top', null)], { orders: TEMPLATES })
  const run = toTracedRun(aRun('child', 'top'), ports)
  const late: Call = aCall({ deadlineAt: Date.now() - 1 })
  const engine = ports.engine.describe
  ports.engine.describe = () => new Promise((_, reject) => reject(new Error('silent')))

  await expect(run.destinations(late)).rejects.toThrow('silent')
  ports.engine.describe = engine
  await run.destinations(aCall())
  await run.root(aCall())
  await run.destinations(aCall())

  expect(asked).toEqual(['top', '$catalog:orders'])
})

test('toTracedRun: where neither catalog nor memo says it, the end of a run may', async () => {
  const { ports } = anEngineWith([], {})
  const waited: string[] = []
  ports.engine.wait = async ({ runId }) => {
    waited.push(runId)
    return { outcome: { status: 'completed', output: 1 }, nextRunId: null, trace: { destinations: { local: '/logs/a.json' } } }
  }
  const run = toTracedRun(aRun('top', null, { status: 'completed' }), ports)

  expect([await run.destinations(aCall()), await run.destinations(aCall())]).toEqual([{ local: '/logs/a.json' }, { local: '/logs/a.json' }])
  expect(waited).toEqual(['run-1'])
})

test('toTracedRun: the end of a run is not read while it is open, nor where catalog or memo has said it', async () => {
  const { ports } = anEngineWith([], { orders: TEMPLATES, silent: false })
  const memo = new Map([['trace', { local: '/own.json' }]])
  const runs = [
    aRun('open', null, { catalog: 'none' }),
    aRun('published', null, { status: 'completed' }),
    aRun('off', null, { status: 'completed', catalog: 'silent' }),
    aRun('announced', null, { status: 'failed', catalog: 'none', memo }),
    aRun('stopped', null, { status: 'canceled', catalog: 'none' }),
  ]

  expect(await Promise.all(runs.map((run) => toTracedRun(run, ports).destinations(aCall())))).toEqual([
    {},
    { remote: 'https://b/published/published-1' },
    {},
    { local: '/own.json' },
    {},
  ])
})
