/** Official clients list and call workflows whose names and schemas hosts reject. */
import { expect } from 'vitest'
import { test as sharedTest } from '../support/fixtures.ts'
import { publishRaw } from '../support/hostile-catalogs.ts'
import { hostileWorkflows, hostileWorkflowsOf } from '../support/hostile-workflows.ts'
import { CLIENTS, connectOlder, TOKEN } from './mcp/clients.ts'
import { callFromPython, type ToolCallArguments } from './mcp/python.ts'

const test = sharedTest
  .extend('workerOptions', { scope: 'file' }, () => ({
    workflowsPath: new URL('./mcp/any-workflow.ts', import.meta.url),
  }))
  .extend('serviceEnv', { scope: 'file' }, () => ({ SERVICE_API_AUTH_TOKEN: TOKEN }))
  /** The URL of a service whose catalog has the workflows, and the calls of their tools, in their order. */
  .extend('hostile', { scope: 'file' }, async ({ catalog, serviceProcess }) => {
    await publishRaw(hostileWorkflowsOf(catalog))
    const url = `${serviceProcess.url}/mcp`
    const client = await connectOlder(url)
    const tools = await client.listTools()
    await client.close()
    const calls = WORKFLOWS.map(
      ({ inputSchema }, index): ToolCallArguments => [tools[index] ?? 'missing', argumentsFor(inputSchema)],
    )
    return { url, tools, calls }
  })

const WORKFLOWS = hostileWorkflows()

// The worker finds a function of this name in every module.
const OUTPUTS = WORKFLOWS.map(({ name }) => (name === 'toString' ? '[object Undefined]' : name))

test.for(CLIENTS)(
  '260 hostile workflows, $name: lists all, and each call reaches its workflow (threat 81)',
  async ({ connect }, { hostile }) => {
    const client = await connect(hostile.url)
    const tools = await client.listTools()
    const outputs: unknown[] = []
    for (const [name, given] of hostile.calls) outputs.push(outputOf(await client.call(name, given)))
    await client.close()

    expect(tools).toEqual(hostile.tools)
    expect(new Set(tools).size).toBe(WORKFLOWS.length + 7)
    expect(outputs).toEqual(OUTPUTS)
  },
)

test.for(['legacy', 'auto'] as const)(
  '260 hostile workflows, Python, era %s: lists and reaches all',
  async (era, { hostile }) => {
    const [listed, ...results] = await callFromPython({ url: hostile.url, era, calls: hostile.calls })

    expect(listed.tools).toEqual(hostile.tools)
    expect(results.map(outputOf)).toEqual(OUTPUTS)
  },
)

/** Their workflow returns its name, which most of the published schemas of outputs do not allow. */
// biome-ignore lint/suspicious/noExplicitAny: an assertion says what it should be
function outputOf({ structuredContent }: { structuredContent: any }): unknown {
  return structuredContent.output ?? structuredContent.unexpectedOutput ?? structuredContent
}

/** What the schema allows, in the form that its tool has. */
function argumentsFor(schema: unknown): Record<string, unknown> {
  if (typeof schema !== 'object' || schema === null) return {}
  if ('anyOf' in schema || '$ref' in schema) return { input: {} }
  return JSON.stringify(schema).includes('not a key') ? { input: { 'not a key': 1 } } : {}
}
