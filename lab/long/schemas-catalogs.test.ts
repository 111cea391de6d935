/** Catalogs with an invalid definition or memo are read or rejected, and never cause an internal error. */

import { expect } from 'vitest'
import { numbers } from '../../dev/hostile-schemas.ts'
import { test } from '../../test/support/fixtures.ts'
import { publishRaw } from '../../test/support/hostile-catalogs.ts'
import { readiness } from '../../test/support/readiness.ts'
import type { Service } from '../../test/support/service.ts'

let service: Service

test.beforeAll(async ({ startService }) => {
  service = await startService()
  await readiness(service)
})

async function publish(definition: string, workflowNames = '{"known": "known"}'): Promise<string> {
  const catalog = `hostile-${crypto.randomUUID()}`
  await publishRaw({ catalog, definition, workflowNames })
  return catalog
}

async function listing(catalog: string) {
  const { status, body } = await service.get(`catalog/${catalog}`)
  return [status, body?.error ?? null]
}

async function start(catalog: string, workflowName: string) {
  const { status, body } = await service.start(workflowName, null, { catalog })
  return [status, body.error ?? null]
}

test('catalogs: an invalid definition cannot be listed, but its names can be started (threat 81)', async () => {
  const deep = `{"workflows":[{"name":"known","inputSchema":${'{"not":'.repeat(5000)}{}${'}'.repeat(5000)}}]}`
  for (const definition of [
    '"text"',
    'null',
    '[]',
    '17',
    '{}',
    '{"workflows":{}}',
    '{"workflows":[null]}',
    '{"workflows":[{}]}',
    'no JSON',
    deep,
  ]) {
    const catalog = await publish(definition)

    expect([definition.slice(0, 40), await listing(catalog)]).toEqual([
      definition.slice(0, 40),
      [404, 'CatalogNotFoundError'],
    ])
    expect(await start(catalog, 'known')).toEqual([200, null])
  }
  expect(service.events.filter(({ inputUnchecked }) => inputUnchecked !== undefined).length).toBeGreaterThanOrEqual(10)
})

test('catalogs: an invalid memo counts as no catalog (threat 81)', async () => {
  for (const workflowNames of ['"text"', 'null', '[]', '17', 'no JSON', `${'['.repeat(5000)}${']'.repeat(5000)}`]) {
    const catalog = await publish('{"workflows":[]}', workflowNames)

    expect([workflowNames.slice(0, 40), await listing(catalog)]).toEqual([
      workflowNames.slice(0, 40),
      [404, 'CatalogNotFoundError'],
    ])
    expect(await start(catalog, 'known')).toEqual([503, 'CatalogNotAvailableError'])
  }
})

test('catalogs: names are never looked up as object properties (threat 50)', async () => {
  const catalog = await publish(
    '{"workflows":[{"name":"__proto__","inputSchema":{"type":"string"}}]}',
    '{"__proto__":"__proto__","alias":"constructor","constructor":5}',
  )

  expect(await start(catalog, '__proto__')).toEqual([400, 'ValidationError'])
  expect(await start(catalog, 'alias')).toEqual([200, null])
  for (const name of ['toString', 'constructor', 'hasOwnProperty'])
    expect(await start(catalog, name)).toEqual([424, 'UnsupportedWorkflowError'])
})

test('catalogs: 100 000 names work like one (threat 81)', async () => {
  const names = JSON.stringify(Object.fromEntries(numbers(100_000).map((number) => [`n${number}`, 'one'])))
  const catalog = await publish('{"workflows":[{"name":"one"}]}', names)

  expect(await start(catalog, 'n99999')).toEqual([200, null])
  expect(await start(catalog, 'n100000')).toEqual([424, 'UnsupportedWorkflowError'])
  expect(await listing(catalog)).toEqual([200, null])
})

test('catalogs: schemas of any shape are listed unchanged', async () => {
  const schema = `${'{"not":'.repeat(900)}{"__proto__":{"a":1},"maximum":9007199254740993}${'}'.repeat(900)}`
  const catalog = await publish(`{"workflows":[{"name":"known","inputSchema":${schema},"outputSchema":true}]}`)

  const { status, text } = await service.get(`catalog/${catalog}`)

  expect(status).toBe(200)
  expect(text).toContain(schema)
})
