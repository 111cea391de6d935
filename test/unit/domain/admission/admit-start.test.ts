import { expect, test } from 'vitest'
import type { StartCommand } from '../../../../src/domain/model/workflows.ts'
import { aCall, rejection } from '../../call.ts'
import { makeCatalogs, publishedCatalogs } from '../catalog-fixture.ts'
import { AMOUNT, admitted } from './admitted.ts'

test('admitStart: returns the name and the trace templates of the catalog', async () => {
  const fixture = publishedCatalogs([{ name: 'order' }], { traces: { remote: 'https://b/{namespace}/{runId}' } })

  expect(await admitted(fixture)).toEqual({
    workflowName: 'order',
    traces: { remote: 'https://b/{namespace}/{runId}' },
  })
})

test('admitStart: replaces an alias with its canonical name', async () => {
  const fixture = publishedCatalogs([{ name: 'order', aliases: ['buy'] }])

  expect(await admitted(fixture, { workflowName: 'buy' })).toEqual({ workflowName: 'order', traces: null })
})

test('admitStart: admits a published name without a running worker', async () => {
  const fixture = publishedCatalogs()

  await admitted(fixture)

  expect(fixture.reads).not.toContain('lastPolledAt orders')
})

test('admitStart: rejects a name that is not in the catalog, and lists the names that are', async () => {
  const fixture = publishedCatalogs([{ name: 'order', aliases: ['buy'] }, { name: 'refund' }])

  expect(await rejection(admitted(fixture, { workflowName: 'nope' }))).toEqual({
    error: 'UnsupportedWorkflowError',
    message: 'Catalog "orders" has no workflow "nope"',
    available: ['order', 'refund'],
  })
})

test('admitStart: lists at most 50 names, and none beyond that', async () => {
  const names = Array.from({ length: 51 }, (_, index) => ({ name: `w${index}` }))
  const [many, tooMany] = [makeCatalogs(), makeCatalogs()]
  many.publish('c1', names.slice(1))
  tooMany.publish('c1', names)

  expect((await rejection(admitted(many))).available).toHaveLength(50)
  expect(await rejection(admitted(tooMany))).not.toHaveProperty('available')
})

test('admitStart: rejects names of Object.prototype that are not in the catalog', async () => {
  const fixture = publishedCatalogs()

  expect((await rejection(admitted(fixture, { workflowName: 'toString' }))).error).toBe('UnsupportedWorkflowError')
  expect((await rejection(admitted(fixture, { workflowName: '__proto__' }))).error).toBe('UnsupportedWorkflowError')
})

test('admitStart: rejects an input that does not match the schema, with path and reason', async () => {
  const fixture = publishedCatalogs([{ name: 'order', inputSchema: AMOUNT }])

  const rejected = await rejection(admitted(fixture, { args: [{ amount: 'much' }] }))

  expect(rejected).toMatchObject({ error: 'ValidationError', issues: [{ path: '/input/amount' }] })
  expect(rejected.message).toMatch(/^Invalid input for workflow "order": \/input\/amount /)
})

test('admitStart: checks the first of several arguments', async () => {
  const fixture = publishedCatalogs([{ name: 'order', inputSchema: AMOUNT }])
  const several = (...args: unknown[]) => admitted(fixture, { args, argumentPointer: '/startArgs/0' })

  const rejected = await rejection(several({ amount: 'much' }, { amount: 1 }))

  expect(rejected.issues).toEqual([{ path: '/startArgs/0/amount', message: expect.any(String) }])
  expect(await several({ amount: 1 }, { amount: 'much' })).toMatchObject({ workflowName: 'order' })
})

test('admitStart: rejects a missing argument only if the catalog says that it is required', async () => {
  const fixture = makeCatalogs()
  const inputSchema = AMOUNT
  fixture.publish('c1', [
    { name: 'required', inputSchema, inputOptional: false },
    { name: 'optional', inputSchema, inputOptional: true },
    { name: 'unsaid', inputSchema },
    { name: 'noSchema', inputOptional: false },
  ])
  const start = (workflowName: string) => admitted(fixture, { workflowName, args: [] })

  expect(await rejection(start('required'))).toMatchObject({
    error: 'ValidationError',
    message: 'Invalid input for workflow "required": /input is required',
    issues: [{ path: '/input', message: 'is required' }],
  })
  for (const name of ['optional', 'unsaid', 'noSchema']) await start(name)
})

test('admitStart: rejects a missing argument only by a fresh catalog, of the version that the start names', async () => {
  const fixture = makeCatalogs()
  const version = (buildId: string) => ({ deploymentName: 'shop', buildId })
  const order = { name: 'order', inputSchema: AMOUNT, inputOptional: false }
  fixture.publish('c1', [order], { version: version('v2') })
  const start = (options: StartCommand['options'] = {}) => admitted(fixture, { args: [], options })

  await start({ versioningOverride: { pinned: version('v1') } })
  await rejection(start())
  await rejection(start({ versioningOverride: { pinned: version('v2') } }))
  fixture.publish('c2', [{ ...order, inputOptional: true }], { version: version('v2') })
  fixture.pass(1)
  await start()
  expect(fixture.reads.at(-1)).toBe('input c2')
})

test('admitStart: ignores a schema of the older form', async () => {
  const fixture = publishedCatalogs([{ name: 'order', inputSchema: AMOUNT }], { id: 'orders' })

  expect(await admitted(fixture, { args: [{ amount: 'much' }] })).toMatchObject({ workflowName: 'order' })
})

test('admitStart: ignores parts of a schema that cannot be evaluated, with one warning for each published catalog', async () => {
  const fixture = makeCatalogs()
  const call = aCall()
  const inputSchema = { ...AMOUNT, allOf: [{ $ref: 'https://elsewhere.test/schema' }] }
  fixture.publish('c1', [{ name: 'order', inputSchema }])

  await admitted(fixture, {}, call)
  await rejection(admitted(fixture, { args: [{}] }, call))

  const warning = {
    message: 'The schema of workflow "order" in catalog "orders" cannot be checked in full',
    unusable: ['/allOf/0/$ref: cannot resolve "https://elsewhere.test/schema" within the schema'],
  }
  expect([call.warnings, call.notes]).toEqual([[warning], {}])
  fixture.publish('c2', [{ name: 'order', inputSchema: structuredClone(inputSchema) }])
  fixture.pass(5000)
  await admitted(fixture, {}, call)
  expect(call.warnings).toEqual([warning, warning])
})

test('admitStart: admits an input that takes too long to check, and logs it', async () => {
  const fixture = makeCatalogs()
  const call = aCall()
  fixture.publish('c1', [{ name: 'order', inputSchema: { allOf: Array(5000).fill({ minProperties: 1 }) } }])
  const wide = Object.fromEntries(Array.from({ length: 5000 }, (_, number) => [number, number]))

  await admitted(fixture, { args: [wide] }, call)

  expect([call.warnings, call.notes.inputUnchecked]).toEqual([
    [],
    'workflow "order" in catalog "orders": the schema is too expensive to evaluate',
  ])
})

test('admitStart: admits any name while a worker polls', async () => {
  const fixture = makeCatalogs()
  fixture.poll()

  expect(await admitted(fixture, { workflowName: 'anything' })).toEqual({ workflowName: 'anything', traces: null })
})

test('admitStart: counts a worker as polling for 75 s', async () => {
  const fixture = makeCatalogs()
  fixture.poll()
  fixture.pass(74_999)

  await admitted(fixture)
  fixture.pass(1)

  expect((await rejection(admitted(fixture))).error).toBe('CatalogNotAvailableError')
})

test('admitStart: rejects names of Object.prototype, which a worker would run', async () => {
  const fixture = makeCatalogs()
  fixture.poll()

  const names = ['toString', 'constructor', '__proto__', 'hasOwnProperty']
  const rejections = await Promise.all(names.map((workflowName) => rejection(admitted(fixture, { workflowName }))))

  expect(rejections.map(({ error, available }) => [error, available])).toEqual(
    names.map(() => ['UnsupportedWorkflowError', undefined]),
  )
})

test('admitStart: rejects with Retry-After 3 when no worker polls', async () => {
  expect(await rejection(admitted(makeCatalogs()))).toEqual({
    error: 'CatalogNotAvailableError',
    message: 'Catalog "orders" is not available: it is not published, and no worker polls its task queue',
    retryAfterSeconds: 3,
  })
})
