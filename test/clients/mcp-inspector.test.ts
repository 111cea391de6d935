/** The official inspector lists and calls tools in each of its eras, and reports nothing that a host rejects. */
import { expect } from 'vitest'
import { runCommand } from '../../src/cli/dev/servers/component.ts'
import { TOKEN } from './mcp/clients.ts'
import { test as mcpTest } from './mcp/fixtures.ts'
import { ensureMcpInspector } from './tools.ts'

const test = mcpTest
  /** Runs the inspector, and returns the result that it prints. Rejects if it reports an error. */
  .extend('inspect', { scope: 'file' }, ({ serviceProcess, folder }) => async (era: string, args: string[]) => {
    const output = await runCommand({
      command: process.execPath,
      args: [
        ...[await ensureMcpInspector(), '--cli', '--server-url', `${serviceProcess.url}/mcp`, '--transport', 'http'],
        ...['--header', `Authorization: Bearer ${TOKEN}`, '--protocol-era', era, '--stored-auth-only'],
        ...['--format', 'json', ...args],
      ],
      env: { ...process.env, HOME: folder },
    })
    return JSON.parse(output.split('\n').find((line) => line.startsWith('{')) ?? 'null').result
  })

test.for(['legacy', 'modern', 'auto'])(
  'inspector, era %s: lists without errors, and calls',
  async (era, { inspect }) => {
    const listed = await inspect(era, ['--method', 'tools/list', '--strict'])
    const called = await inspect(era, [
      ...['--method', 'tools/call', '--tool-name', 'greet', '--tool-args-json', '{"name":"Ada"}'],
    ])

    expect(listed.tools.map(({ name }: { name: string }) => name)).toEqual(
      expect.arrayContaining(['greet', 'slow_compute', 'workflow_result']),
    )
    expect(called.structuredContent).toMatchObject({ status: 'completed', output: 'Hello, Ada!' })
  },
)
