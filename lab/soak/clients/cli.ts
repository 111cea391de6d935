/** The command line, as a process for each operation. */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { parseWithBigInts } from '../../../src/client/connection/json.ts'
import type { OperationName } from '../record.ts'
import { acknowledged, failed, type Intent, type Send } from './intent.ts'

const ENTRY = fileURLToPath(new URL('../../../src/cli/main.ts', import.meta.url))
const TIMEOUT_MS = 60_000

/** Operations that the command line has. */
export const CLI_OPERATIONS: ReadonlySet<OperationName> = new Set([
  'start',
  'run',
  'signal',
  'update',
  'stop',
  'terminate',
  'reset',
  'status',
  'result',
  'query',
])

export function cliClient(url: string): Send {
  return async (intent) => {
    const { code, stdout, stderr } = await run(argumentsOf(intent), url)
    const body = parse(stdout)
    if (isError(body)) return failed(intent, body.error, body.message, body)
    // A run that did not complete is printed as a result, too.
    if (body !== undefined && (code === 0 || intent.op === 'run' || intent.op === 'result'))
      return acknowledged(intent, body)
    return failed(intent, 'Error', stderr)
  }
}

function argumentsOf({ op, workflowId, runId, key, marker, workflowName = '', input, handler = '', payload }: Intent) {
  const run = runId === undefined ? [] : ['--run', runId]
  const keyed = key === undefined ? [] : ['--key', key]
  const argument = (value: unknown) => (value === undefined ? [] : ['--input', JSON.stringify(value)])
  switch (op) {
    case 'start':
      return [op, workflowName, '--id', workflowId, ...argument(input), ...keyed]
    case 'run':
      return [op, workflowName, '--id', workflowId, ...argument(input), ...keyed, '--timeout', '30s']
    case 'signal':
    case 'update':
      return [op, workflowId, handler, ...argument(payload), ...keyed, ...run]
    case 'query':
      return [op, workflowId, handler, ...run]
    case 'stop':
    case 'terminate':
      return [op, workflowId, '--reason', marker ?? '', ...run]
    case 'reset':
      return [op, workflowId, '--step', 'step', '--reason', marker ?? '', ...run]
    case 'result':
      return [op, workflowId, '--timeout', '20s', ...run]
    default:
      return [op, workflowId, ...run]
  }
}

function run(args: string[], url: string): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const { PATH = '', HOME = '', NODE_COMPILE_CACHE = '' } = process.env
  const env = { PATH, HOME, ...(NODE_COMPILE_CACHE && { NODE_COMPILE_CACHE }) }
  return new Promise((resolve) => {
    const command = [ENTRY, '--url', url, '--json', ...args]
    const child = execFile(process.execPath, command, { env, timeout: TIMEOUT_MS }, (_error, stdout, stderr) =>
      resolve({ code: child.exitCode, stdout, stderr }),
    )
  })
}

function parse(text: string): unknown {
  try {
    return parseWithBigInts(text)
  } catch {
    return undefined
  }
}

interface Problem {
  error: string
  message: string
  runId?: string
  updateId?: string
  mayHaveTakenEffect?: boolean
}

function isError(body: unknown): body is Problem {
  return (
    typeof body === 'object' && body !== null && 'error' in body && typeof body.error === 'string' && 'message' in body
  )
}
