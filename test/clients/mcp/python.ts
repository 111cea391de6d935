/** The official client of Python, with a small client of tasks. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { startProcess } from '../../../dev/servers/process.ts'
import { ensureComponent } from '../../../src/cli/dev/servers/component.ts'
import { pythonEnvironment, pythonPackage } from '../../support/python-package.ts'
import { TOKEN } from './clients.ts'

const SCRIPT = fileURLToPath(new URL('./client.py', import.meta.url))

const pythonClient = pythonPackage({
  name: 'MCP client for Python',
  version: '2.3.0',
  project: 'mcp',
  module: 'mcp.client',
  requirements: readFileSync(new URL('./requirements.txt', import.meta.url), 'utf8'),
})

export type ToolCallArguments = [name: string, given: Record<string, unknown>]

export interface PythonOptions {
  url: string
  era: 'legacy' | 'auto'
  calls: ToolCallArguments[]
  onLine?: (line: string) => void
}

/** Runs the calls, one after the other. Returns what the program prints. */
// biome-ignore lint/suspicious/noExplicitAny: an assertion says what it should be
export async function callFromPython({ url, era, calls, onLine }: PythonOptions): Promise<any[]> {
  const lines = await runPython([SCRIPT, url, TOKEN, era, JSON.stringify(calls)], { ...(onLine && { onLine }) })
  return lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line))
}

/** Runs a script that imports the official client. Returns the lines that it prints. */
export async function runPython(
  args: string[],
  { env = {}, onLine }: { env?: Record<string, string>; onLine?: (line: string) => void } = {},
): Promise<string[]> {
  const module = await ensureComponent(pythonClient)
  const lines: string[] = []
  const { ended, output } = await startProcess({
    command: 'python3',
    args,
    env: { ...pythonEnvironment(module), ...env },
    onLine: (line) => {
      lines.push(line)
      onLine?.(line)
    },
  })
  if ((await ended).code !== 0) throw new Error(output())
  return lines
}
