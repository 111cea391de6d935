import { describe, expect, test } from 'vitest'
import { createCatalogs } from '../../../../src/domain/catalog/catalogs.ts'
import { ServiceError } from '../../../../src/domain/errors.ts'
import type { Description } from '../../../../src/domain/execution.ts'
import { refusal } from '../../call.ts'
import { aDescription, anEngine, makeCatalogs, notFound } from '../catalog-fixture.ts'

type Shelf = ReturnType<typeof makeCatalogs>

/** The names of the published catalog; null when there is none. */
async function names({ catalogs }: Pick<Shelf, 'catalogs'>, freshSince?: number): Promise<string[] | null> {
  const { value } = await catalogs.published('orders', freshSince)
  return value === null ? null : [...value.workflowNames.keys()]
}

describe('published', () => {
  test('published: is the catalog run', async () => {
    const shelf = makeCatalogs()
    shelf.publish('c1', [{ name: 'order', aliases: ['buy'] }])

    expect(await names(shelf)).toEqual(['order', 'buy'])
    expect(shelf.reads).toEqual(['describe $catalog:orders'])
  })

  test('published: is null without a run', async () => {
    expect(await names(makeCatalogs())).toBeNull()
  })

  test('published: is null when the run is closed, whatever closed it', async () => {
    const shelf = makeCatalogs()
    shelf.publish('c1', [{ name: 'order' }])
    change(shelf, '$catalog:orders', { status: 'terminated' })

    expect(await names(shelf)).toBeNull()
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

  test('published: is the older form without a run of the current form', async () => {
    const shelf = makeCatalogs()
    shelf.publish('c1', [{ name: 'order' }], { id: 'orders' })

    expect(await names(shelf)).toEqual(['order'])
    expect((await shelf.catalogs.published('orders')).value?.run).toEqual({ workflowId: 'orders', runId: 'c1' })
  })

  test('published: is the current form when both exist', async () => {
    const shelf = makeCatalogs()
    shelf.publish('old', [{ name: 'old' }], { id: 'orders' })
    shelf.publish('new', [{ name: 'new' }])

    expect(await names(shelf)).toEqual(['new'])
  })

  test('isOlderForm: is true once such a catalog was read, until it is gone', async () => {
    const shelf = makeCatalogs()
    shelf.publish('c1', [{ name: 'order' }], { id: 'orders' })
    const isOlderForm = () => shelf.catalogs.isOlderForm('orders')
    expect(isOlderForm()).toBe(false)

    await names(shelf)
    expect(isOlderForm()).toBe(true)

    shelf.runs.clear()
    shelf.pass(5000)
    await names(shelf)
    expect(isOlderForm()).toBe(false)
  })
})

describe('cache', () => {
  test('published: is read again after its TTL', async () => {
    const shelf = makeCatalogs({ ttlMs: 5000 })
    shelf.publish('c1', [{ name: 'order' }])
    await names(shelf)
    shelf.publish('c2', [{ name: 'refund' }])

    shelf.pass(4999)
    expect(await names(shelf)).toEqual(['order'])
    shelf.pass(1)
    expect(await names(shelf)).toEqual(['refund'])
  })

  test('published: is read again when it is older than freshSince', async () => {
    const shelf = makeCatalogs()
    shelf.publish('c1', [{ name: 'order' }])
    await names(shelf)
    const readAt = shelf.now()
    shelf.publish('c2', [{ name: 'refund' }])
    shelf.pass(1)

    expect(await names(shelf, readAt)).toEqual(['order'])
    expect(await names(shelf, readAt + 1)).toEqual(['refund'])
  })

  test('published: is read once for concurrent callers', async () => {
    const shelf = makeCatalogs()
    shelf.publish('c1', [{ name: 'order' }])

    await Promise.all([names(shelf), names(shelf), names(shelf)])

    expect(shelf.reads).toHaveLength(1)
  })

  test('published: is cached per task queue', async () => {
    const shelf = makeCatalogs()
    shelf.publish('c1', [{ name: 'order' }])
    await names(shelf)

    expect((await shelf.catalogs.published('others')).value).toBeNull()
  })

  test('published: a failed read is not cached', async () => {
    const shelf = makeCatalogs()
    shelf.publish('c1', [{ name: 'order' }])
    const { describe: works } = shelf.engine
    shelf.engine.describe = () => Promise.reject(new ServiceError('EngineUnavailableError', 'away'))

    expect((await refusal(names(shelf))).error).toBe('EngineUnavailableError')
    shelf.engine.describe = works
    expect(await names(shelf)).toEqual(['order'])
  })

  test('published: a failed read rejects for every waiting caller', async () => {
    const shelf = makeCatalogs()
    shelf.engine.describe = () => Promise.reject(new ServiceError('EngineUnavailableError', 'away'))

    const refusals = await Promise.all([refusal(names(shelf)), refusal(names(shelf))])

    expect(refusals.map(({ error }) => error)).toEqual(['EngineUnavailableError', 'EngineUnavailableError'])
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

  test('lastPolledAt: is cached for the same time, and read again when it is older than freshSince', async () => {
    const shelf = makeCatalogs()
    await shelf.catalogs.lastPolledAt('orders')
    shelf.pass(1)
    shelf.poll()

    expect((await shelf.catalogs.lastPolledAt('orders')).value).toBeNull()
    expect((await shelf.catalogs.lastPolledAt('orders', shelf.now())).value).toEqual(new Date(shelf.now()))
  })
})

describe('definition', () => {
  test('workflows: are read from the same run as the names', async () => {
    const shelf = makeCatalogs({ ttlMs: 5000 })
    shelf.publish('c1', [{ name: 'order' }])
    const { value: before } = await shelf.catalogs.published('orders')
    shelf.publish('c2', [{ name: 'refund' }])
    shelf.pass(5000)
    const { value: after } = await shelf.catalogs.published('orders')
    if (before === null || after === null) throw new Error('nothing published')

    expect((await shelf.catalogs.workflows(before))?.map(({ name }) => name)).toEqual(['order'])
    expect((await shelf.catalogs.workflows(after))?.map(({ name }) => name)).toEqual(['refund'])
  })

  test('workflows: are read once for each run, without a TTL', async () => {
    const shelf = makeCatalogs({ ttlMs: 5000 })
    shelf.publish('c1', [{ name: 'order' }])
    const { value: published } = await shelf.catalogs.published('orders')
    if (published === null) throw new Error('nothing published')

    await shelf.catalogs.workflows(published)
    shelf.pass(1_000_000)
    await shelf.catalogs.workflows(published)

    expect(shelf.reads.filter((read) => read === 'input c1')).toHaveLength(1)
  })

  test('workflows: are null when the run has no definition', async () => {
    const shelf = makeCatalogs()
    shelf.publish('c1', [{ name: 'order' }])
    shelf.engine.input = async () => 'nonsense'
    const { value: published } = await shelf.catalogs.published('orders')
    if (published === null) throw new Error('nothing published')

    expect(await shelf.catalogs.workflows(published)).toBeNull()
  })
})

function change({ runs }: Shelf, workflowId: string, changes: Partial<Description>): void {
  runs.set(workflowId, aDescription({ ...runs.get(workflowId), ...changes }))
}
