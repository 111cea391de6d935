/** `npx portico dev` on a new computer, which has Node and none of the programs, and then again. */
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { hasExited, startProcess } from '../../dev/servers/process.ts'
import { freePort } from '../../src/cli/dev/servers/ports.ts'
import { until } from '../../src/cli/dev/servers/until.ts'
import { test } from '../../test/support/fixtures.ts'
import { ensureTarball, nodeFirst } from '../../test/support/package.ts'
import { onThisMachine } from './cpu-ms.ts'
import { msToFirstAnswer } from './first-answer.ts'
import { undisturbedClock } from './idle-clock.ts'

const MAX_COLD_MS = 60_000
const MAX_WARM_MS = 10_000
const MAX_END_MS = 5000

test('npx portico dev: in an empty folder it answers within 60 s, and within 10 s the next time', async ({
  folder,
  cleanup,
}) => {
  const tarball = await ensureTarball()
  const computer = await mkdtemp(join(folder, 'computer-'))
  const project = join(computer, 'project')
  const programs = join(computer, 'bin')
  const cache = join(computer, 'cache')
  await Promise.all([mkdir(project), mkdir(programs)])
  await writeFile(join(project, 'worker.mjs'), 'setInterval(() => {}, 1000)')
  // An older Temporal CLI, so that one on the PATH is not used.
  await writeFile(join(programs, 'temporal'), '#!/bin/sh\necho temporal version 1.0.0 (Server 1.20.0)', { mode: 0o755 })
  const env = {
    ...nodeFirst,
    PATH: `${programs}:${nodeFirst.PATH}`,
    ENGINE_ADDRESS: undefined,
    // Of Portico and pip; npm has its own.
    XDG_CACHE_HOME: cache,
    npm_config_cache: join(cache, 'npm'),
    npm_config_prefer_offline: 'true',
  }

  async function startAndStop(): Promise<{ ms: number; endedMs: number; output: string }> {
    const port = await freePort()
    const args = ['--yes', '--package', tarball, 'portico', 'dev', '--port', `${port}`, '--', 'node', 'worker.mjs']
    const lines: string[] = []
    const dev = await startProcess({ command: 'npx', args, cwd: project, env, onLine: (line) => lines.push(line) })
    cleanup.defer(async () => void (await dev.kill()))
    const ms = await msToFirstAnswer(dev, port)
    const pids = [...lines.join('\n').matchAll(/started as process (\d+)/g)].map(([, pid]) => Number(pid))
    const passedMs = undisturbedClock(dev)
    process.kill(-dev.pid, 'SIGINT')
    await dev.ended
    await until('all programs have exited', () => pids.every(hasExited))
    return { ms, endedMs: passedMs(), output: lines.join('\n') }
  }

  const cold = await startAndStop()
  const warm = await startAndStop()

  expect([cold, warm].map(({ output }) => output.includes('downloading with'))).toEqual([true, false])
  expect(cold.ms).toBeLessThan(onThisMachine(MAX_COLD_MS))
  expect(warm.ms).toBeLessThan(onThisMachine(MAX_WARM_MS))
  expect([cold, warm].filter(({ endedMs }) => endedMs >= MAX_END_MS)).toEqual([])
})
