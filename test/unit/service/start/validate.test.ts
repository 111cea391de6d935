import { expect, test } from 'vitest'
import type { StartCommand } from '../../../../src/service/model/commands.ts'
import type { EngineStart } from '../../../../src/service/model/engine.ts'
import { validate } from '../../../../src/service/start/start.ts'
import { aCall, rejection } from '../../call.ts'
import { anEngine, aStart, DEPLOYMENT, makeCatalogs, SEARCH_ATTRIBUTES } from '../catalog-fixture.ts'

const COMMAND: StartCommand = aStart({ workflowName: 'buy', args: [{ amount: 1 }] })

/** An engine that only checks starts. */
function makeValidate({ id, checkStart = async () => {} }: { id?: string; checkStart?: () => Promise<void> } = {}) {
  const checked: EngineStart[] = []
  const { catalogs, publish, reads, now } = makeCatalogs()
  const engine = anEngine({
    checkStart: (request) => {
      checked.push(request)
      return checkStart()
    },
  })
  const inputSchema = { type: 'object', properties: { amount: { type: 'number' } } }
  publish('c1', [{ name: 'order', aliases: ['buy'], inputSchema }], id === undefined ? {} : { id })
  const ports = { engine, catalogs, deployment: DEPLOYMENT, now, searchAttributes: SEARCH_ATTRIBUTES }
  return {
    checked,
    reads,
    validate: (command: Partial<StartCommand>) => validate(ports, { ...COMMAND, ...command }, aCall()),
  }
}

test('validate: rejects the id of a catalog of the older form where start would end or find its run', async () => {
  const { validate } = makeValidate({ id: 'orders' })

  const rejected = await rejection(
    validate({ workflowId: 'orders', options: { workflowIdConflictPolicy: 'use-existing' } }),
  )

  expect(rejected.error).toBe('ForbiddenError')
  await validate({ workflowId: 'orders' })
})

test('validate: a key gives the start its id, and is not looked up', async () => {
  const { validate, checked, reads } = makeValidate()

  await validate({ idempotencyKey: 'k' })

  expect(checked[0]?.workflowId).toMatch(/^key-/)
  expect(reads.filter((read) => read.includes('key-'))).toEqual([])
})
