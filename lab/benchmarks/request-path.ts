/**
 * How much code does a request cross? Prints which files of src/ a `run` with an Idempotency-Key calls once everything
 * is loaded, how many functions, and how many of them call another file: `request-path.ts [folder]`, with the checkout
 * to measure (default: the current folder).
 */
import type { Debugger, Profiler, Runtime } from 'node:inspector'
import { resolve } from 'node:path'
import { startEngine } from '../../dev/servers/engine.ts'
import { startProcess } from '../../dev/servers/process.ts'
import { startServiceProcess } from '../../dev/servers/service.ts'
import { freePort } from '../../src/cli/dev/servers/ports.ts'
import { until } from '../../src/cli/dev/servers/until.ts'

const folder = resolve(process.argv[2] ?? '.')
const CATALOG = 'request-path'

/** A function of src/ that was called, and where it begins and ends in its script. */
interface CalledFunction {
  file: string
  scriptId: string
  start: number
  end: number
}

const engine = await startEngine()
const worker = await startProcess({
  command: process.execPath,
  args: [resolve(folder, 'examples/worker.ts')],
  env: { PATH: process.env.PATH, SERVICE_CATALOG_ID: CATALOG, ENGINE_ADDRESS: engine.address },
})
const port = await freePort()
const service = await startServiceProcess({
  address: engine.address,
  catalog: CATALOG,
  entry: resolve(folder, 'src/service/runtime/node/index.ts'),
  env: { NODE_OPTIONS: `--inspect=127.0.0.1:${port}` },
})
try {
  const inspect = await connectInspector()
  await until('the workflow can run', () => run('warm-up').then(() => true))
  const called = await functionsOf(inspect, () => run('to find the functions'))
  const files = new Set(called.map(({ file }) => file))
  const callers = await callersOf(inspect, called, () => run('to find their callers'))
  for (const file of [...files].toSorted()) console.log(file)
  console.log(`${files.size} files, ${called.length} functions, ${callers.size} of them call another file`)
} finally {
  await Promise.all([service.kill(), worker.kill()])
  await engine.kill()
}
// The connection to the inspector would keep the process alive.
process.exit()

type Inspect = <Result>(method: string, params?: object) => Promise<Result>

/** Resolves to a function that sends commands of the Chrome DevTools Protocol to the service. */
async function connectInspector(): Promise<Inspect> {
  const [target] = await (await fetch(`http://127.0.0.1:${port}/json/list`)).json()
  const socket = new WebSocket(target.webSocketDebuggerUrl)
  await new Promise((opened) => socket.addEventListener('open', opened))
  let id = 0
  const pending = new Map<number, { resolve(result: never): void; reject(error: Error): void }>()
  socket.addEventListener('message', ({ data }) => {
    const { id, result, error } = JSON.parse(data)
    if (error === undefined) pending.get(id)?.resolve(result as never)
    else pending.get(id)?.reject(new Error(error.message))
  })
  return (method, params = {}) => {
    socket.send(JSON.stringify({ id: ++id, method, params }))
    return new Promise((resolve, reject) => pending.set(id, { resolve, reject }))
  }
}

async function run(key: string): Promise<void> {
  const response = await fetch(`${service.url}/workflow/run`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'idempotency-key': encodeURIComponent(key) },
    body: JSON.stringify({ workflowName: 'greet', input: { name: 'Ada' } }),
  })
  if (!response.ok) throw new Error(await response.text())
}

/** The functions of src/ that are called during `act`. */
async function functionsOf(inspect: Inspect, act: () => Promise<void>): Promise<CalledFunction[]> {
  await inspect('Debugger.enable')
  await inspect('Profiler.enable')
  await inspect('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
  await inspect('Profiler.takePreciseCoverage')
  await act()
  const { result } = await inspect<Profiler.TakePreciseCoverageReturnType>('Profiler.takePreciseCoverage')
  await inspect('Profiler.stopPreciseCoverage')
  return result.flatMap(({ scriptId, url, functions }) => {
    const file = fileOf(url)
    if (file === null) return []
    const ranges = functions.map(({ ranges: [range] }) => range).filter((range) => range !== undefined)
    // A module itself begins at 0.
    return ranges
      .filter(({ count, startOffset }) => count > 0 && startOffset > 0)
      .map(({ startOffset: start, endOffset: end }) => ({ file, scriptId, start, end }))
  })
}

/** The functions that call one of another file during `act`. */
async function callersOf(
  inspect: Inspect,
  called: readonly CalledFunction[],
  act: () => Promise<void>,
): Promise<Set<CalledFunction>> {
  const sources = new Map<string, string>()
  await evaluate(inspect, 'Error.stackTraceLimit = 100; globalThis.stacks = []')
  for (const [at, { file, scriptId, start, end }] of called.entries()) {
    const { scriptSource } = await inspect<Debugger.GetScriptSourceReturnType>('Debugger.getScriptSource', { scriptId })
    sources.set(file, scriptSource)
    const { locations } = await inspect<Debugger.GetPossibleBreakpointsReturnType>('Debugger.getPossibleBreakpoints', {
      start: { scriptId, ...positionOf(scriptSource, start) },
      end: { scriptId, ...positionOf(scriptSource, end) },
      restrictToFunction: true,
    })
    // The condition is evaluated in the function; it is false, so the function is not stopped.
    const condition = `globalThis.stacks.push([${at}, new Error().stack]), false`
    await inspect('Debugger.setBreakpoint', { location: locations[0], condition })
  }
  await act()
  const calls: [callee: number, stack: string][] = JSON.parse(
    await evaluate(inspect, 'JSON.stringify(globalThis.stacks)'),
  )
  const callers = new Set<CalledFunction>()
  for (const [callee, stack] of calls) {
    // Before the function come the error itself and the condition.
    const [, line] = stack.split('\n').slice(2).filter(isFrame)
    const file = line && fileOf(line)
    if (line === undefined || file === called[callee]?.file) continue
    const caller = functionAt(called, sources, line)
    if (caller !== undefined) callers.add(caller)
  }
  return callers
}

/** The innermost function around the position in a line of a stack. */
function functionAt(
  called: readonly CalledFunction[],
  sources: ReadonlyMap<string, string>,
  line: string,
): CalledFunction | undefined {
  const [, row, column] = /:(\d+):(\d+)\)?$/.exec(line) ?? []
  const file = fileOf(line)
  const rows = (sources.get(file ?? '') ?? '').split('\n').slice(0, Number(row) - 1)
  const offset = rows.reduce((length, { length: added }) => length + added + 1, 0) + Number(column) - 1
  return called
    .filter((candidate) => candidate.file === file && candidate.start <= offset && offset < candidate.end)
    .toSorted((a, b) => b.start - a.start)[0]
}

async function evaluate(inspect: Inspect, expression: string): Promise<string> {
  const params = { expression, returnByValue: true }
  const { result } = await inspect<Runtime.EvaluateReturnType>('Runtime.evaluate', params)
  return result.value
}

/** Whether the line of a stack is a call in src/. What awaits it has not called it. */
function isFrame(line: string): boolean {
  return fileOf(line) !== null && !line.includes('at async ')
}

/** The file of a URL, or of a line of a stack, below src/ of the measured checkout; null if it is not there. */
function fileOf(text: string): string | null {
  const [, file = null] = text.split(`file://${folder}/src/`)
  return file === null ? null : file.replace(/\.ts\b.*/, '.ts')
}

function positionOf(source: string, offset: number): { lineNumber: number; columnNumber: number } {
  const lines = source.slice(0, offset).split('\n')
  return { lineNumber: lines.length - 1, columnNumber: lines.at(-1)?.length ?? 0 }
}
