import { expect } from 'vitest'
import { publishRaw } from '../../support/hostile-catalogs.ts'
import { hostileWorkflows, hostileWorkflowsOf } from '../../support/hostile-workflows.ts'
import { rule } from '../../support/rules.ts'
import type { ApiFixture } from './api-fixture.ts'
import { mcpMessages } from './mcp-messages.ts'

/** What hosts accept of tools, whatever workers publish. */
export function mcpHosts(api: () => ApiFixture): void {
  const { callLegacy } = mcpMessages(api)

  rule('mcp.offers-every-workflow-to-every-host', async () => {
    const { service, hasGap } = api()
    const catalog = `hostile-${crypto.randomUUID()}`
    const names = hostileWorkflows().map(({ name }) => name)
    await publishRaw(hostileWorkflowsOf(catalog))
    const path = `/mcp/${catalog}`
    // Recorded as a response of the API.
    const { body } = await service.call('POST', path, { jsonrpc: '2.0', id: 1, method: 'tools/list' })
    const tools: ListedTool[] = body.result.tools
    const ofWorkflows = tools.filter(({ name }) => !name.startsWith('workflow_'))

    expect(ofWorkflows).toHaveLength(names.length)
    expect(new Set(tools.map(({ name }) => name)).size).toBe(tools.length)
    expect(tools.filter(({ name }) => !/^[A-Za-z][A-Za-z0-9_-]{0,47}$/.test(name))).toEqual([])
    expect(ofWorkflows.map(({ name, title = name }) => title)).toEqual(names)
    expect(tools.filter(({ description = '' }) => description.length > 1024)).toEqual([])
    expect(
      tools.flatMap(({ inputSchema, outputSchema = inputSchema }) => [inputSchema, outputSchema]).filter(isBad),
    ).toEqual([])
    if (hasGap('slashes')) return
    // Nothing executes it.
    const spaced = ofWorkflows.find(({ title }) => title === 'a b')?.name
    const called = await callLegacy(spaced ?? '', {}, { path: `${path}?wait=1ms` })
    const { workflowId } = called.structuredContent
    expect((await service.get(`${workflowId}/status`)).body).toMatchObject({ workflowName: 'a b', catalog })
    await service.post(`${workflowId}/terminate`)
  })
}

interface ListedTool {
  name: string
  title?: string
  description?: string
  inputSchema: Record<string, unknown>
  outputSchema?: Record<string, unknown>
}

const NOT_AT_ROOT = ['anyOf', 'oneOf', 'allOf', 'not', 'enum', 'const', 'if', '$ref']

/** Whether some host rejects the tool, or all of them. */
function isBad(schema: Record<string, unknown>): boolean {
  const { type, properties, ...others } = schema
  const text = JSON.stringify(schema)
  const references = [...text.matchAll(/"\$ref":"([^"]*)"/g)].map(([, reference = '']) => reference)
  const { $defs } = others as { $defs?: object }
  const dangling = references.some((reference) => !Object.hasOwn($defs ?? {}, reference.replace('#/$defs/', '')))
  const badKey = Object.keys(Object(properties)).some((key) => !/^[a-zA-Z0-9_.-]{1,64}$/.test(key))
  return type !== 'object' || NOT_AT_ROOT.some((keyword) => keyword in others) || dangling || badKey
}
