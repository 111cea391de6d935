import { expect, test } from 'vitest'
import {
  type Catalogs,
  createCatalogs,
  readTraceMeta,
  traceMetaOrNull,
} from '../../../../src/service/catalog/catalogs.ts'
import { ServiceError } from '../../../../src/service/model/errors.ts'
import type { Description } from '../../../../src/service/model/execution.ts'
import type { TraceTemplates } from '../../../../src/shared/wire/catalog.ts'
import { aCall, rejection } from '../../call.ts'
import { aDescription, anEngine, makeCatalogs, notFound, publishedCatalogs } from '../catalog-fixture.ts'

type Fixture = ReturnType<typeof makeCatalogs>

/** The names of the published catalog; null without one. */
async function names({ catalogs }: Pick<Fixture, 'catalogs'>, freshSince?: number): Promise<string[] | null> {
  const { value } = await catalogs.published('orders', freshSince)
  return value === null ? null : [...value.workflowNames.keys()]
}

test('published: is null when the run is closed, whatever closed it', async () => {
  const fixture = publishedCatalogs()
  change(fixture, '$catalog:orders', { status: 'terminated' })

  expect(await names(fixture)).toBeNull()
})

test('published: is null when the run is another workflow, or has no names', async () => {
  const [other, nameless] = [makeCatalogs(), makeCatalogs()]
  other.publish('c1', [{ name: 'order' }])
  change(other, '$catalog:orders', { workflowName: 'order' })
  nameless.publish('c1', [{ name: 'order' }])
  change(nameless, '$catalog:orders', { memo: new Map() })

  expect(await names(other)).toBeNull()
  expect(await names(nameless)).toBeNull()
})

test('published: is the current form when both exist', async () => {
  const fixture = makeCatalogs()
  fixture.publish('old', [{ name: 'old' }], { id: 'orders' })
  fixture.publish('new', [{ name: 'new' }])

  expect(await names(fixture)).toEqual(['new'])
})

test('isOlderForm: is true once such a catalog was read, until it is gone', async () => {
  const fixture = publishedCatalogs([{ name: 'order' }], { id: 'orders' })
  const isOlderForm = () => fixture.catalogs.isOlderForm('orders')
  expect(isOlderForm()).toBe(false)

  await names(fixture)
  expect(isOlderForm()).toBe(true)

  fixture.runs.clear()
  fixture.pass(5000)
  await names(fixture)
  expect(isOlderForm()).toBe(false)
})

test('published: is read once for concurrent callers', async () => {
  const fixture = publishedCatalogs()

  await Promise.all([names(fixture), names(fixture), names(fixture)])

  expect(fixture.reads).toHaveLength(1)
})

test('published: a failed read is not cached', async () => {
  const fixture = publishedCatalogs()
  const { describe: works } = fixture.engine
  fixture.engine.describe = () => Promise.reject(new ServiceError('EngineUnavailableError', 'away'))

  expect((await rejection(names(fixture))).error).toBe('EngineUnavailableError')
  fixture.engine.describe = works
  expect(await names(fixture)).toEqual(['order'])
})

test("published: a read has its own deadline and no caller's signal", async () => {
  const beganAt = Date.now()
  const calls: { signal: AbortSignal; deadlineAt: number }[] = []
  const engine = anEngine({
    describe({ workflowId }, call) {
      calls.push(call)
      return Promise.reject(notFound(workflowId))
    },
  })

  await createCatalogs({ engine, namespace: 'default', ttlMs: 0 }).published('orders')

  expect(calls.map(({ deadlineAt }) => deadlineAt - beganAt > 3000 && deadlineAt - beganAt < 5000)).toEqual([
    true,
    true,
  ])
  expect(calls.map(({ signal }) => signal.aborted)).toEqual([false, false])
})

function change({ runs }: Fixture, workflowId: string, changes: Partial<Description>): void {
  runs.set(workflowId, aDescription({ ...runs.get(workflowId), ...changes }))
}

const MEMO = new Map([['trace', { remote: 'https://own/trace.json' }]])

/** Null: nothing is published; undefined: what is published says nothing. */
function catalogs(traces: TraceTemplates | null | undefined) {
  const fixture = makeCatalogs()
  if (traces !== null) fixture.publish('c1', [{ name: 'order' }], traces === undefined ? {} : { traces })
  return fixture.catalogs
}

const metaOf = (run: Partial<Description>, traces: TraceTemplates | null | undefined) =>
  readTraceMeta(aDescription(run), catalogs(traces), aCall())

test('readTraceMeta: ignores a template that several runs would share (threat 84)', async () => {
  expect(await metaOf({}, { remote: 'https://b/{namespace}' })).toBeNull()
})

test("readTraceMeta: is read from the run's memo when the catalog has no templates", async () => {
  for (const traces of [undefined, null])
    expect(await metaOf({ memo: MEMO }, traces)).toEqual({ destinations: { remote: 'https://own/trace.json' } })
})

test('readTraceMeta: ignores a memo of another shape (threat 84)', async () => {
  const said = await Promise.all(
    [undefined, null, 'text', 7].map((trace) => metaOf({ memo: new Map([['trace', trace]]) }, null)),
  )

  expect(said).toEqual([null, null, null, null])
})

test('readTraceMeta: ignores destinations in the memo that are not strings', async () => {
  const memo = new Map([['trace', { remote: 7, local: '/t', other: 'x' }]])

  expect(await metaOf({ memo }, null)).toEqual({ destinations: { local: '/t' } })
})

test('traceMetaOrNull: is null when the catalog cannot be read', async () => {
  const broken = {
    published: () => Promise.reject(new ServiceError('EngineUnavailableError', 'gone')),
  } as unknown as Catalogs
  const call = aCall()

  expect(await traceMetaOrNull(aDescription(), broken, call)).toBeNull()
  expect(call.notes).toEqual({ traceUnknown: 'gone' })
})
