import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, onTestFinished, test } from 'vitest'
import { hasExited, observeProcesses, startProcess } from '../../../../../dev/servers/process.ts'
import { exitSignal, type RunningProcess } from '../../../../../src/cli/dev/servers/process.ts'
import { until } from '../../../../../src/cli/dev/servers/until.ts'

// Prints its process id and keeps running until a signal ends it.
const KEEPS_RUNNING = `console.log(process.pid); setInterval(() => {}, 60_000)`
const IGNORES_SIGTERM = `process.on('SIGTERM', () => {}); ${KEEPS_RUNNING}`

test('startProcess: the child is killed when its parent is killed', async () => {
  const module = new URL('../../../../../src/cli/dev/servers/process.ts', import.meta.url)
  const script = `
    import { startProcess } from ${JSON.stringify(module.href)}
    await startProcess({ command: process.execPath, args: ['--eval', ${JSON.stringify(KEEPS_RUNNING)}], onLine: console.log })`
  const parent = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [line] = await once(parent.stdout, 'data')
  const childPid = Number(line)
  onTestFinished(() => {
    if (!hasExited(childPid)) process.kill(childPid, 'SIGKILL')
  })

  parent.kill('SIGKILL')

  await until('the child is gone', () => hasExited(childPid))
})

test('startProcess: the exit code and the output of a child are available after its end', async () => {
  const lines: string[] = []
  const child = await startNode(`console.log('out'); console.error('err'); process.exitCode = 3`, (line) =>
    lines.push(line),
  )

  const ended = await child.ended

  expect(ended).toEqual({ code: 3, signal: null })
  expect(lines.toSorted()).toEqual(['err', 'out'])
  expect(child.output().split('\n').toSorted()).toEqual(['err', 'out'])
})

test('exitSignal: the reason has the name, the exit code and the output', async () => {
  const child = await startNode(`console.log('out'); process.exitCode = 3`)
  const signal = exitSignal(child, 'The child')

  await child.ended

  expect(signal.reason).toEqual(new Error('The child exited with 3:\nout'))
})

test('observeProcesses: an observer gets the environment and every line of a process', async () => {
  const seen: string[] = []
  observeProcesses(({ OBSERVED: name }) => (name === undefined ? null : (line) => void seen.push(`${name}: ${line}`)))

  await startNode(`console.log('not observed')`).then(({ ended }) => ended)
  const script = `console.log('out'); console.error('err')`
  const child = await startProcess({ command: process.execPath, args: ['--eval', script], env: { OBSERVED: 'child' } })
  await child.ended

  expect(seen.toSorted()).toEqual(['child: err', 'child: out'])
})

test('startProcess: rejects if the command does not exist', async () => {
  await expect(startProcess({ command: 'no-such-command' })).rejects.toThrow(
    'no-such-command cannot be started: ENOENT',
  )
})

test('stop: SIGTERM ends the child', async () => {
  const child = await startedNode(KEEPS_RUNNING)

  expect(await child.stop(10_000)).toEqual({ code: null, signal: 'SIGTERM' })
})

test('stop: a child that ignores SIGTERM is killed after the grace period', async () => {
  const child = await startedNode(IGNORES_SIGTERM)

  expect(await child.stop(50)).toEqual({ code: null, signal: 'SIGKILL' })
})

test('kill: kills the processes that the child has started, too', async () => {
  const script = `
    const { pid } = require('node:child_process').spawn(process.execPath, ['--eval', ${JSON.stringify(KEEPS_RUNNING)}])
    console.log(pid)
    setInterval(() => {}, 60_000)`
  const child = await startedNode(script)
  const grandchildPid = Number(child.output())

  await child.kill()

  await until('the grandchild is gone', () => hasExited(grandchildPid))
})

test('stop: returns the exit code of a child that has already exited', async () => {
  const child = await startNode('process.exitCode = 3')
  await child.ended

  expect(await child.stop(1000)).toEqual({ code: 3, signal: null })
})

function startNode(script: string, onLine?: (line: string) => void): Promise<RunningProcess> {
  return startProcess({ command: process.execPath, args: ['--eval', script], ...(onLine && { onLine }) })
}

/** Resolves when the process has printed its first line. */
async function startedNode(script: string): Promise<RunningProcess> {
  const child = await startNode(script)
  await until('the child has started', () => child.output() !== '')
  return child
}

test('stop: a command that a shell waits for is ended too', async () => {
  const seen: string[] = []
  const args = ['-c', `"$0" --eval "${KEEPS_RUNNING.replaceAll('"', '\\"')}"; true`, process.execPath]
  const shell = await startProcess({ command: 'sh', args, onLine: (line) => void seen.push(line) })
  const [pid] = await until('the command runs', () => (seen.length > 0 ? seen.map(Number) : null))

  await shell.stop(30_000)

  await until('the command is gone', () => hasExited(pid ?? 0))
})
