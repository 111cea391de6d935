import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, onTestFinished, test } from 'vitest'
import { isGone, observeProcesses, type RunningProcess, startProcess } from '../../../dev/servers/process.ts'
import { until } from '../../../dev/servers/until.ts'

// Says its process id and stays, silent from then on: nothing but a signal ends it.
const STAYS = `console.log(process.pid); setInterval(() => {}, 60_000)`
const STAYS_THOUGH_ASKED = `process.on('SIGTERM', () => {}); ${STAYS}`

test('startProcess: the child is killed when we are', async () => {
  const module = new URL('../../../dev/servers/process.ts', import.meta.url)
  const script = `
    import { startProcess } from ${JSON.stringify(module.href)}
    await startProcess({ command: process.execPath, args: ['--eval', ${JSON.stringify(STAYS)}], onLine: console.log })`
  const parent = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [line] = await once(parent.stdout, 'data')
  const childPid = Number(line)
  onTestFinished(() => {
    if (!isGone(childPid)) process.kill(childPid, 'SIGKILL')
  })

  parent.kill('SIGKILL')

  await until('the child is gone', () => isGone(childPid))
})

test('startProcess: the result of a child that ends has its exit code and output', async () => {
  const lines: string[] = []
  const child = await startNode(`console.log('out'); console.error('err'); process.exitCode = 3`, (line) =>
    lines.push(line),
  )

  const ended = await child.ended

  expect(ended).toEqual({ code: 3, signal: null })
  expect(lines.toSorted()).toEqual(['err', 'out'])
  expect(child.output().split('\n').toSorted()).toEqual(['err', 'out'])
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
  await expect(startProcess({ command: 'no-such-command' })).rejects.toThrow("no-such-command can't be started: ENOENT")
})

test('stop: a child that takes SIGTERM ends by it', async () => {
  const child = await startedNode(STAYS)

  expect(await child.stop(10_000)).toEqual({ code: null, signal: 'SIGTERM' })
})

test('stop: a child that does not take SIGTERM is killed after its grace', async () => {
  const child = await startedNode(STAYS_THOUGH_ASKED)

  expect(await child.stop(50)).toEqual({ code: null, signal: 'SIGKILL' })
})

test('kill: ends the processes of the child, too', async () => {
  const script = `
    const { pid } = require('node:child_process').spawn(process.execPath, ['--eval', ${JSON.stringify(STAYS)}])
    console.log(pid)
    setInterval(() => {}, 60_000)`
  const child = await startedNode(script)
  const grandchildPid = Number(child.output())

  await child.kill()

  await until('the grandchild is gone', () => isGone(grandchildPid))
})

test('stop: returns the exit code of a child that has already ended', async () => {
  const child = await startNode('process.exitCode = 3')
  await child.ended

  expect(await child.stop(1000)).toEqual({ code: 3, signal: null })
})

function startNode(script: string, onLine?: (line: string) => void): Promise<RunningProcess> {
  return startProcess({ command: process.execPath, args: ['--eval', script], ...(onLine && { onLine }) })
}

/** Has said its first line. */
async function startedNode(script: string): Promise<RunningProcess> {
  const child = await startNode(script)
  await until('the child has started', () => child.output() !== '')
  return child
}
