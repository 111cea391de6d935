import { expect, test } from 'vitest'
import type { StartCommand } from '../../../../src/service/model/commands.ts'
import { rawPayload } from '../../../../src/service/model/raw-payload.ts'
import { aCall, rejection } from '../../call.ts'
import { makeCatalogs, publishedCatalogs } from '../catalog-fixture.ts'
import { AMOUNT, admitted } from './admitted.ts'

test('admitStart: lists at most 50 names, and none beyond that (threat 104)', async () => {
  const names = Array.from({ length: 51 }, (_, index) => ({ name: `w${index}` }))
  const [many, tooMany] = [makeCatalogs(), makeCatalogs()]
  many.publish('c1', names.slice(1))
  tooMany.publish('c1', names)

  expect((await rejection(admitted(many))).available).toHaveLength(50)
  expect(await rejection(admitted(tooMany))).not.toHaveProperty('available')
})

test('admitStart: rejects names of Object.prototype that are not in the catalog (threat 50)', async () => {
  const fixture = publishedCatalogs()

  expect((await rejection(admitted(fixture, { workflowName: 'toString' }))).error).toBe('UnsupportedWorkflowError')
  expect((await rejection(admitted(fixture, { workflowName: '__proto__' }))).error).toBe('UnsupportedWorkflowError')
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

test('admitStart: a raw payload is not checked against the schema', async () => {
  const fixture = makeCatalogs()
  fixture.publish('c1', [{ name: 'order', inputSchema: AMOUNT }])

  await admitted(fixture, { args: [rawPayload({ metadata: { encoding: 'json/plain' }, value: {} })] })
  expect((await rejection(admitted(fixture, { args: [{}] }))).error).toBe('ValidationError')
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

test('admitStart: counts a worker as polling for 75 s', async () => {
  const fixture = makeCatalogs()
  fixture.poll()
  fixture.pass(74_999)

  await admitted(fixture)
  fixture.pass(1)

  expect((await rejection(admitted(fixture))).error).toBe('CatalogNotAvailableError')
})

test('admitStart: rejects names of Object.prototype, which a worker would run (threat 50)', async () => {
  const fixture = makeCatalogs()
  fixture.poll()

  const names = ['toString', 'constructor', '__proto__', 'hasOwnProperty']
  const rejections = await Promise.all(names.map((workflowName) => rejection(admitted(fixture, { workflowName }))))

  expect(rejections.map(({ error, available }) => [error, available])).toEqual(
    names.map(() => ['UnsupportedWorkflowError', undefined]),
  )
})
