import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { NativeConnection } from '@temporalio/worker'
import { expect } from 'vitest'
import { runCommand } from '../../src/cli/dev/servers/component.ts'
import { ensureTemporal } from '../../src/cli/dev/servers/temporal.ts'
import { type CatalogDefinition, parseCatalogWorkflows } from '../../src/shared/wire/catalog.ts'
import { publishCatalog } from '../../src/worker/catalog/publish-catalog.ts'
import { test } from '../support/fixtures.ts'

test('docs/protocol.md: the catalog that it publishes by hand equals the one the kit publishes', async ({
  engine,
  nativeConnection: connection,
  folder,
}) => {
  const page = await readFile(new URL('../../docs/protocol.md', import.meta.url), 'utf8')
  const definition: CatalogDefinition = JSON.parse(block(page, 'json'))
  expect(parseCatalogWorkflows(definition)).toEqual(definition.workflows)

  const catalog = `by-hand-${crypto.randomUUID()}`
  const script = block(page, 'sh publish').replace('$catalog:shop', `$catalog:${catalog}`).replace('temporal', '"$0"')
  await writeFile(join(folder, 'definition.json'), JSON.stringify(definition, null, 2))
  const env = { ...process.env, TEMPORAL_ADDRESS: engine.address }
  await runCommand({ command: 'sh', args: ['-c', script, await ensureTemporal()], cwd: folder, env })

  const publish = () =>
    publishCatalog({ connection, namespace: 'default', catalog, definition, traces: false, identity: 'a test' })
  const byHand = await startedEvent(connection, catalog)
  expect((await publish()).state).toBe('unchanged')
  await connection.workflowService.terminateWorkflowExecution({
    namespace: 'default',
    workflowExecution: { workflowId: `$catalog:${catalog}` },
  })
  await publish()
  expect(byHand).toEqual(await startedEvent(connection, catalog))
})

function block(page: string, language: string): string {
  const found = page.split('```').find((part) => part.startsWith(`${language}\n`))
  if (found === undefined) throw new Error(`The page has no block of ${language}`)
  return found.slice(language.length)
}

/** The parts of the first event that readers use. */
async function startedEvent(connection: NativeConnection, catalog: string) {
  const { history } = await connection.workflowService.getWorkflowExecutionHistory({
    namespace: 'default',
    execution: { workflowId: `$catalog:${catalog}` },
  })
  const event = history?.events?.[0]?.workflowExecutionStartedEventAttributes
  return {
    type: event?.workflowType?.name,
    taskQueue: event?.taskQueue?.name,
    delaySeconds: Number(event?.firstWorkflowTaskBackoff?.seconds),
    input: event?.input?.payloads?.map(json),
    memo: Object.entries(event?.memo?.fields ?? {})
      .filter(([key]) => key !== 'publisher') // only the kit follows the rules for it
      .sort()
      .map(([key, payload]) => [key, json(payload)]),
  }
}

function json({ metadata, data }: { metadata?: Record<string, Uint8Array> | null; data?: Uint8Array | null }): unknown {
  expect(Buffer.from(metadata?.encoding ?? '').toString()).toBe('json/plain')
  return JSON.parse(Buffer.from(data ?? '').toString())
}
