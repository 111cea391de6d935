import { expect, test } from 'vitest'
import type { StartRequest } from '../../../../src/domain/model/engine.ts'
import { ServiceError } from '../../../../src/domain/model/errors.ts'
import type { StartCommand } from '../../../../src/domain/model/workflows.ts'
import { validate } from '../../../../src/domain/start/start.ts'
import { aCall, rejection } from '../../call.ts'
import { anEngine, aStart, DEPLOYMENT, makeCatalogs } from '../catalog-fixture.ts'

const COMMAND: StartCommand = aStart({ workflowName: 'buy', args: [{ amount: 1 }] })

/** An engine that only checks starts. */
function makeValidate({ id, checkStart = async () => {} }: { id?: string; checkStart?: () => Promise<void> } = {}) {
  const checked: StartRequest[] = []
  const { catalogs, publish, reads, now } = makeCatalogs()
  const engine = anEngine({
    checkStart: (request) => {
      checked.push(request)
      return checkStart()
    },
  })
  const inputSchema = { type: 'object', properties: { amount: { type: 'number' } } }
  publish('c1', [{ name: 'order', aliases: ['buy'], inputSchema }], id === undefined ? {} : { id })
  const ports = { engine, catalogs, deployment: DEPLOYMENT, now }
  return {
    checked,
    reads,
    validate: (command: Partial<StartCommand>) => validate(ports, { ...COMMAND, ...command }, aCall()),
  }
}

test('validate: checks the request that start would send, by the name of the catalog', async () => {
  const { validate, checked } = makeValidate()

  await validate({ workflowId: 'w', options: { memo: { a: 1 } } })

  const request = { workflowId: 'w', workflowName: 'order', catalog: 'orders', args: [{ amount: 1 }] }
  expect(checked).toEqual([{ ...request, options: { memo: { a: 1 } } }])
})

test('validate: rejects what the catalog rejects before the request is encoded', async () => {
  const { validate, checked } = makeValidate()

  const rejected = [
    await rejection(validate({ workflowName: 'oder' })),
    await rejection(validate({ args: [{ amount: 'x' }] })),
    await rejection(validate({ idempotencyKey: 'k', options: { workflowIdConflictPolicy: 'terminate-existing' } })),
  ]

  expect(rejected.map(({ error }) => error)).toEqual(['UnsupportedWorkflowError', 'ValidationError', 'ValidationError'])
  expect(checked).toEqual([])
})

test('validate: rejects the id of a catalog of the older form where start would end or find its run', async () => {
  const { validate } = makeValidate({ id: 'orders' })

  const rejected = await rejection(
    validate({ workflowId: 'orders', options: { workflowIdConflictPolicy: 'use-existing' } }),
  )

  expect(rejected.error).toBe('ForbiddenError')
  await validate({ workflowId: 'orders' })
})

test('validate: rejects what cannot be sent', async () => {
  const tooLarge = new ServiceError('PayloadTooLargeError', 'too large')
  const { validate } = makeValidate({ checkStart: () => Promise.reject(tooLarge) })

  expect((await rejection(validate({}))).error).toBe('PayloadTooLargeError')
})

test('validate: a key gives the start its id, and is not looked up', async () => {
  const { validate, checked, reads } = makeValidate()

  await validate({ idempotencyKey: 'k' })

  expect(checked[0]?.workflowId).toMatch(/^key-/)
  expect(reads.filter((read) => read.includes('key-'))).toEqual([])
})
