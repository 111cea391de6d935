import { describe, expect, test } from 'vitest'
import { accept } from '../../../../src/domain/admission/admit-start.ts'
import type { StartCommand } from '../../../../src/domain/workflows.ts'
import { aCall, refusal } from '../../call.ts'
import { aShelf } from '../catalog-fixture.ts'

type Shelf = ReturnType<typeof aShelf>

function accepted({ catalogs, now }: Shelf, command: Partial<StartCommand> = {}, call = aCall()) {
  return accept(
    catalogs,
    { workflowName: 'order', catalog: 'orders', args: [{ amount: 1 }], argumentPointer: '/input', ...command },
    call,
    now,
  )
}

const AMOUNT = { type: 'object', properties: { amount: { type: 'number' } }, required: ['amount'] }
const AMOUNT_AND_CARD = { ...AMOUNT, required: ['amount', 'card'] }

describe('a published catalog', () => {
  test('accept: takes a name and says what the catalog says of traces', async () => {
    const shelf = aShelf()
    shelf.publish('c1', [{ name: 'order' }], { traces: { remote: 'https://b/{namespace}/{runId}' } })

    expect(await accepted(shelf)).toEqual({
      workflowName: 'order',
      traces: { remote: 'https://b/{namespace}/{runId}' },
    })
  })

  test('accept: takes an alias for its canonical name', async () => {
    const shelf = aShelf()
    shelf.publish('c1', [{ name: 'order', aliases: ['buy'] }])

    expect(await accepted(shelf, { workflowName: 'buy' })).toEqual({ workflowName: 'order', traces: null })
  })

  test('accept: takes it also when no worker is there', async () => {
    const shelf = aShelf()
    shelf.publish('c1', [{ name: 'order' }])

    await accepted(shelf)

    expect(shelf.reads).not.toContain('lastPolledAt orders')
  })

  test('accept: refuses a name that is not in it, and tells those that are', async () => {
    const shelf = aShelf()
    shelf.publish('c1', [{ name: 'order', aliases: ['buy'] }, { name: 'refund' }])

    expect(await refusal(accepted(shelf, { workflowName: 'nope' }))).toEqual({
      error: 'UnsupportedWorkflowError',
      message: 'Catalog "orders" has no workflow "nope"',
      available: ['order', 'refund'],
    })
  })

  test('accept: tells 50 names, and no list of more', async () => {
    const names = Array.from({ length: 51 }, (_, index) => ({ name: `w${index}` }))
    const [many, tooMany] = [aShelf(), aShelf()]
    many.publish('c1', names.slice(1))
    tooMany.publish('c1', names)

    expect((await refusal(accepted(many))).available).toHaveLength(50)
    expect(await refusal(accepted(tooMany))).not.toHaveProperty('available')
  })

  test('accept: refuses names of Object.prototype that are not in it', async () => {
    const shelf = aShelf()
    shelf.publish('c1', [{ name: 'order' }])

    expect((await refusal(accepted(shelf, { workflowName: 'toString' }))).error).toBe('UnsupportedWorkflowError')
    expect((await refusal(accepted(shelf, { workflowName: '__proto__' }))).error).toBe('UnsupportedWorkflowError')
  })

  test('accept: refuses an input that the schema refuses, with where and why', async () => {
    const shelf = aShelf()
    shelf.publish('c1', [{ name: 'order', inputSchema: AMOUNT }])

    const refused = await refusal(accepted(shelf, { args: [{ amount: 'much' }] }))

    expect(refused).toMatchObject({ error: 'ValidationError', issues: [{ path: '/input/amount' }] })
    expect(refused.message).toMatch(/^Invalid input for workflow "order": \/input\/amount /)
  })

  test('accept: the schema is that of the first of several arguments, and none is checked where there is none', async () => {
    const shelf = aShelf()
    shelf.publish('c1', [{ name: 'order', inputSchema: AMOUNT }])
    const several = (...args: unknown[]) => accepted(shelf, { args, argumentPointer: '/startArgs/0' })

    const refused = await refusal(several({ amount: 'much' }, { amount: 1 }))

    expect(refused.issues).toEqual([{ path: '/startArgs/0/amount', message: expect.any(String) }])
    expect(await several({ amount: 1 }, { amount: 'much' })).toMatchObject({ workflowName: 'order' })
    expect(await several()).toMatchObject({ workflowName: 'order' })
  })

  test('accept: a schema of the older form refuses nothing', async () => {
    const shelf = aShelf()
    shelf.publish('c1', [{ name: 'order', inputSchema: AMOUNT }], { id: 'orders' })

    expect(await accepted(shelf, { args: [{ amount: 'much' }] })).toMatchObject({ workflowName: 'order' })
  })

  test('accept: what can not be used of a schema refuses nothing, and is warned of once for each published catalog', async () => {
    const shelf = aShelf()
    const call = aCall()
    const inputSchema = { ...AMOUNT, allOf: [{ $ref: 'https://elsewhere.test/schema' }] }
    shelf.publish('c1', [{ name: 'order', inputSchema }])

    await accepted(shelf, {}, call)
    await refusal(accepted(shelf, { args: [{}] }, call))

    const warning = {
      message: 'The schema of workflow "order" in catalog "orders" cannot be checked in full',
      unusable: ['/allOf/0/$ref: cannot resolve "https://elsewhere.test/schema" within the schema'],
    }
    expect([call.warnings, call.notes]).toEqual([[warning], {}])
    shelf.publish('c2', [{ name: 'order', inputSchema: structuredClone(inputSchema) }])
    shelf.pass(5000)
    await accepted(shelf, {}, call)
    expect(call.warnings).toEqual([warning, warning])
  })

  test('accept: an input that takes too long to check is not checked to its end, and its request is noted', async () => {
    const shelf = aShelf()
    const call = aCall()
    shelf.publish('c1', [{ name: 'order', inputSchema: { allOf: Array(5000).fill({ minProperties: 1 }) } }])
    const wide = Object.fromEntries(Array.from({ length: 5000 }, (_, number) => [number, number]))

    await accepted(shelf, { args: [wide] }, call)

    expect([call.warnings, call.notes.inputUnchecked]).toEqual([
      [],
      'workflow "order" in catalog "orders": the schema is too expensive to evaluate',
    ])
  })
})

describe('no published catalog', () => {
  test('accept: takes any name while a worker polls', async () => {
    const shelf = aShelf()
    shelf.poll()

    expect(await accepted(shelf, { workflowName: 'anything' })).toEqual({ workflowName: 'anything', traces: null })
  })

  test('accept: a worker polled lately when that was less than 75 s ago', async () => {
    const shelf = aShelf()
    shelf.poll()
    shelf.pass(74_999)

    await accepted(shelf)
    shelf.pass(1)

    expect((await refusal(accepted(shelf))).error).toBe('CatalogNotAvailableError')
  })

  test('accept: refuses names of Object.prototype, which a worker would run', async () => {
    const shelf = aShelf()
    shelf.poll()

    const names = ['toString', 'constructor', '__proto__', 'hasOwnProperty']
    const refusals = await Promise.all(names.map((workflowName) => refusal(accepted(shelf, { workflowName }))))

    expect(refusals.map(({ error, available }) => [error, available])).toEqual(
      names.map(() => ['UnsupportedWorkflowError', undefined]),
    )
  })

  test('accept: refuses when no worker polls, to be tried again in 3 s', async () => {
    expect(await refusal(accepted(aShelf()))).toEqual({
      error: 'CatalogNotAvailableError',
      message: 'Catalog "orders" is not available: it is not published, and no worker polls its task queue',
      retryAfterSeconds: 3,
    })
  })
})

describe('freshness', () => {
  test('accept: takes what it has read within the time to live', async () => {
    const shelf = aShelf({ ttlMs: 5000 })
    shelf.publish('c1', [{ name: 'order' }])
    await accepted(shelf)
    shelf.pass(4999)

    await accepted(shelf)

    expect(shelf.reads).toEqual(['describe $catalog:orders', 'input c1'])
  })

  test('accept: refuses no name that was published since', async () => {
    const shelf = aShelf()
    shelf.publish('c1', [{ name: 'order' }])
    await accepted(shelf)
    shelf.pass(1)
    shelf.publish('c2', [{ name: 'refund' }])

    expect(await accepted(shelf, { workflowName: 'refund' })).toMatchObject({ workflowName: 'refund' })
  })

  test('accept: refuses no input that the schema takes since', async () => {
    const shelf = aShelf()
    shelf.publish('c1', [{ name: 'order', inputSchema: AMOUNT_AND_CARD }])
    await accepted(shelf, { args: [{ amount: 1, card: '1' }] })
    shelf.pass(1)
    shelf.publish('c2', [{ name: 'order', inputSchema: AMOUNT }])

    expect(await accepted(shelf, { args: [{ amount: 1 }] })).toMatchObject({ workflowName: 'order' })
  })

  test('accept: refuses nothing because nobody served it a moment ago', async () => {
    const shelf = aShelf()
    await refusal(accepted(shelf))
    shelf.pass(1)
    shelf.poll()

    expect(await accepted(shelf)).toMatchObject({ workflowName: 'order' })
  })

  test('accept: refuses nothing because nobody served it a moment ago, when what is published has just been read', async () => {
    const shelf = aShelf({ ttlMs: 5000 })
    await shelf.catalogs.published('orders')
    shelf.pass(4000)
    await shelf.catalogs.lastPolledAt('orders')
    shelf.pass(1000)
    shelf.poll()

    expect(await accepted(shelf)).toMatchObject({ workflowName: 'order' })
  })

  test('accept: refuses nothing because nothing was published a moment ago', async () => {
    const shelf = aShelf()
    shelf.poll()
    await accepted(shelf, { workflowName: 'anything' })
    shelf.pass(75_000)
    await refusal(accepted(shelf))
    shelf.pass(1)
    shelf.publish('c1', [{ name: 'order' }])

    expect(await accepted(shelf)).toMatchObject({ workflowName: 'order' })
  })

  test('accept: takes no name unchecked because nothing was published a moment ago', async () => {
    const shelf = aShelf()
    shelf.poll()
    await accepted(shelf, { workflowName: 'anything' })
    shelf.pass(1)
    shelf.publish('c1', [{ name: 'order', aliases: ['buy'] }])

    expect(await accepted(shelf, { workflowName: 'buy' })).toMatchObject({ workflowName: 'order' })
    expect(await refusal(accepted(shelf, { workflowName: 'anything' }))).toMatchObject({
      error: 'UnsupportedWorkflowError',
    })
  })

  test('accept: takes no name unchecked when a catalog was published between its look at the catalog and its look at the workers', async () => {
    const shelf = aShelf()
    const { lastPolledAt } = shelf.engine
    shelf.engine.lastPolledAt = async (...args) => {
      shelf.publish('c1', [{ name: 'order' }])
      shelf.poll()
      shelf.pass(1)
      return lastPolledAt(...args)
    }

    expect(await refusal(accepted(shelf, { workflowName: 'anything' }))).toMatchObject({
      error: 'UnsupportedWorkflowError',
    })
  })

  test('accept: where nothing is published, each start costs one more look at both forms of a catalog', async () => {
    const shelf = aShelf()
    shelf.poll()
    await accepted(shelf)
    shelf.pass(1)
    shelf.reads.length = 0

    await accepted(shelf)

    expect(shelf.reads).toEqual(['describe $catalog:orders', 'describe orders'])
  })

  test('accept: refuses nothing because only half of what it judges on was read for it', async () => {
    const shelf = aShelf()
    await shelf.catalogs.published('orders')
    shelf.pass(1)
    shelf.publish('c1', [{ name: 'order' }])

    expect(await accepted(shelf)).toMatchObject({ workflowName: 'order' })
  })

  test('accept: a refusal on what was read for it is read once', async () => {
    const shelf = aShelf()
    shelf.publish('c1', [{ name: 'order' }])

    await refusal(accepted(shelf, { workflowName: 'nope' }))

    expect(shelf.reads).toEqual(['describe $catalog:orders'])
  })

  test('accept: a refusal on what others had read is read once more', async () => {
    const shelf = aShelf()
    shelf.publish('c1', [{ name: 'order' }])
    await accepted(shelf)
    shelf.pass(1)
    shelf.reads.length = 0

    await refusal(accepted(shelf, { workflowName: 'nope' }))

    expect(shelf.reads).toEqual(['describe $catalog:orders'])
  })
})

test('accept: an engine in trouble is no refusal', async () => {
  const shelf = aShelf()
  shelf.engine.describe = () => Promise.reject(new Error('a bug'))

  await expect(accepted(shelf)).rejects.toThrow('a bug')
})
