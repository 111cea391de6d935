/** The official client of Python, with a small client of tasks. */
import { readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Component, ensureComponent, outputOf } from '../../../src/cli/dev/servers/component.ts'
import { startProcess } from '../../../src/cli/dev/servers/process.ts'
import { pip } from '../../../src/cli/dev/servers/sources.ts'
import { TOKEN } from './clients.ts'

const SCRIPT = fileURLToPath(new URL('./client.py', import.meta.url))
const REQUIREMENTS = readFileSync(new URL('./requirements.txt', import.meta.url), 'utf8')

const pythonClient: Component = {
  name: 'MCP client for Python',
  version: '2.3.0',
  pins: [REQUIREMENTS],
  program: 'mcp/__init__.py',
  sources: [pip('mcp', REQUIREMENTS)],
  check: async (module) => {
    await outputOf({ command: 'python3', args: ['-c', 'import mcp.client'], env: environment(module) })
  },
  advice: 'Install Python 3.10 or newer with pip.',
}

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
  const module = await ensureComponent(pythonClient)
  const lines: string[] = []
  const { ended, output } = await startProcess({
    command: 'python3',
    args: [SCRIPT, url, TOKEN, era, JSON.stringify(calls)],
    env: environment(module),
    onLine: (line) => {
      lines.push(line)
      onLine?.(line)
    },
  })
  if ((await ended).code !== 0) throw new Error(output())
  return lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line))
}

function environment(module: string): NodeJS.ProcessEnv {
  return { ...process.env, PYTHONPATH: dirname(dirname(module)), PYTHONDONTWRITEBYTECODE: '1' }
}
