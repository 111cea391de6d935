import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect } from 'vitest'
import { recordQuickStart } from '../../dev/pictures/quick-start.ts'
import type { Step } from '../../dev/pictures/terminal.ts'
import { drawTimeline, recordTimeline } from '../../dev/pictures/timeline.ts'
import { hasExited, startProcess } from '../../dev/servers/process.ts'
import { freePort, isTaken } from '../../src/cli/dev/servers/ports.ts'
import { type Ended, exitSignal, type RunningProcess } from '../../src/cli/dev/servers/process.ts'
import { until } from '../../src/cli/dev/servers/until.ts'
import { test as base } from '../support/fixtures.ts'
import { paste, WITH_CURL } from '../support/paste.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

// The worker bundles its workflows first, which takes some seconds on an idle machine.
const READY_MS = 90_000

// Only one that hangs takes this long.
const HANGS_MS = 60_000

const test = base
  .extend('port', { scope: 'file' }, () => freePort())
  .extend('startDev', { scope: 'file' }, ({ port, cleanup }) => async (env: NodeJS.ProcessEnv) => {
    const dev = await startProcess({
      command: 'npm',
      args: ['run', 'dev'],
      cwd: ROOT,
      env: { ...process.env, SERVICE_PORT: `${port}`, SERVICE_API_AUTH_TOKEN: undefined, ...env },
    })
    cleanup.defer(async () => void (await dev.kill()))
    return dev
  })

describe('npm run dev, which starts an engine', () => {
  let dev: RunningProcess
  test.beforeAll(async ({ startDev }) => {
    dev = await startDev({ ENGINE_ADDRESS: undefined })
    await ready(dev)
  })

  test('dev: each line of a program begins with its name', () => {
    const names = new Set(dev.output().match(/^\w+ *(?=│)/gm))

    expect(names).toEqual(new Set(['engine ', 'worker ', 'api    ']))
  })

  test('dev: the report of webpack is not printed', () => {
    expect(dev.output()).toContain('Workflow bundle created')
    expect(dev.output()).not.toMatch(/webpack|modules by path/)
  })

  test('dev: the three printed requests work when they are pasted', async () => {
    const [run = '', startAndStatus = '', catalog = ''] = pastable(dev)

    expect(JSON.parse(await paste(run))).toMatchObject({ status: 'completed', output: 'Hello, Ada!' })
    expect(await paste(startAndStatus)).toMatch(
      /^\{"workflowId":"order-1".*"status":"running"\}\n\{"workflowId":"order-1".*"workflowName":"order"/,
    )
    expect(JSON.parse(await paste(catalog))).toMatchObject({
      workflows: [{ name: 'greet' }, { name: 'order' }, { name: 'chat' }],
    })
  })

  test('dev: the picture of the quick start shows what its commands print', async ({ port }) => {
    const recorded: Step[] = JSON.parse(await readFile(join(ROOT, 'dev/pictures/quick-start.json'), 'utf8'))

    const url = `http://127.0.0.1:${port}`
    // An order with the id of an open one would be rejected.
    await until('the order has ended', async () => {
      const { status, error } = await (await fetch(`${url}/workflow/order-1/status`)).json()
      return error === 'WorkflowNotFoundError' || status === 'completed'
    })

    const printed = await recordQuickStart(url, WITH_CURL)

    expect(printed.map(withoutIds)).toEqual(recorded.map(withoutIds))
  })

  test('dev: the picture of a timeline shows the steps of a run, and their attempts', async ({ port }) => {
    const picture = await readFile(join(ROOT, 'docs/pictures/timeline.svg'), 'utf8')
    const stepsOf = (svg: string) => svg.match(/^<rect class="\w+" x="\d+" y="\d+" width="9".*\n<text class="name.*$/gm)

    const run = await recordTimeline(`http://127.0.0.1:${port}`, 0)

    expect(stepsOf(drawTimeline(run))).toEqual(stepsOf(picture))
    expect(stepsOf(picture)?.length).toBe(7)
  })

  test('dev: the printed URL of the web UI works, and is in the capabilities', async ({ port }) => {
    const uiUrl = /Histories in Temporal's web UI: (\S+)/.exec(dev.output())?.[1] ?? ''

    const page = await fetch(uiUrl)
    const capabilities = await fetch(`http://127.0.0.1:${port}/capabilities`)

    expect([page.status, (await capabilities.json()).engine.uiUrl]).toEqual([200, uiUrl])
  })

  test('dev: the printed URL of the reference page works', async () => {
    const url = /API reference.*: (\S+)/.exec(dev.output())?.[1] ?? ''

    expect((await fetch(url)).status).toBe(200)
  })

  test('dev: the printed URL of the chat page works, and the page may call the API', async () => {
    const url = new URL(/A page that shows.*: (\S+)/.exec(dev.output())?.[1] ?? '')
    const { origin } = url

    const page = await fetch(url)
    const catalog = await fetch(`${url.searchParams.get('api')}/workflow/catalog`, { headers: { origin } })

    expect([page.status, catalog.status]).toEqual([200, 200])
    expect(catalog.headers.get('access-control-allow-origin')).toBe(origin)
  })

  test('dev: the trace of a run is written to a file, and the API returns it', async ({ port }) => {
    const { workflowId, runId } = JSON.parse(await paste(pastable(dev)[0] ?? ''))
    const file = join(ROOT, '.cache', 'traces', 'default', `${runId}.json`)

    await until('the file is there', () => existsSync(file))
    const { source, data } = await (await fetch(`http://127.0.0.1:${port}/workflow/${workflowId}/trace-log`)).json()
    await rm(file)

    expect({ source, id: data.id }).toEqual({ source: 'local', id: runId })
  })

  test('dev: a port that is in use is reported, and nothing is started', async ({ startDev, port }) => {
    const second = await startDev({ ENGINE_ADDRESS: undefined })

    expect(await second.ended).toMatchObject({ code: 1 })
    expect(second.output()).toContain(`Port ${port} on 127.0.0.1 is already in use.`)
    expect(second.output()).not.toMatch(/│|^ +at /m)
  })

  test('dev: Ctrl-C stops all processes within 5 s', async () => {
    const pids = programs(dev)

    const ended = await endedBy(() => process.kill(-dev.pid, 'SIGINT'), dev)

    expect(ended).toEqual({ code: 0, signal: null })
    expect(pids).toHaveLength(3)
    expect(pids.filter((pid) => !hasExited(pid))).toEqual([])
  })
})

describe('npm run dev, with an engine that already runs', () => {
  let dev: RunningProcess
  test.beforeAll(async ({ startDev, engine }) => {
    dev = await startDev({ ENGINE_ADDRESS: engine.address, SERVICE_CATALOG_ID: `dev-${randomUUID()}` })
    await ready(dev)
  })

  test('dev: ENGINE_ADDRESS is used instead of starting an engine', () => {
    expect(programs(dev)).toHaveLength(2)
    expect(dev.output()).not.toContain('engine │')
  })

  test('dev: if one program exits, its name is printed and the others are stopped', async () => {
    const pids = programs(dev)
    const [, apiPid = 0] = pids

    const ended = await endedBy(() => process.kill(apiPid, 'SIGKILL'), dev)

    expect(ended.code).toBe(1)
    expect(dev.output()).toContain('The api exited unexpectedly (SIGKILL); see its last lines above.')
    expect(pids.filter((pid) => !hasExited(pid))).toEqual([])
  })
})

describe('npm run dev, stopped while it starts', () => {
  test('dev: SIGTERM to npm stops all processes', async ({ startDev }) => {
    const dev = await startDev({ ENGINE_ADDRESS: undefined })
    await until('the worker is started', () => programs(dev).length >= 2, { timeoutMs: READY_MS })

    await endedBy(() => process.kill(dev.pid, 'SIGTERM'), dev)

    await until('all processes have exited', () => programs(dev).every(hasExited))
  })

  test('dev: all processes stop when npm is killed', async ({ startDev, port }) => {
    const dev = await startDev({ ENGINE_ADDRESS: undefined })
    await until('the worker is started', () => programs(dev).length >= 2, { timeoutMs: READY_MS })

    process.kill(dev.pid, 'SIGKILL')

    await until('all processes have exited', () => programs(dev).every(hasExited))
    expect(await isTaken(port)).toBe(false)
  })
})

async function ready(dev: RunningProcess): Promise<void> {
  await until('the requests to paste are printed', () => pastable(dev).length === 3, {
    timeoutMs: READY_MS,
    signal: exitSignal(dev, 'npm run dev'),
  })
}

async function endedBy(act: () => void, dev: RunningProcess): Promise<Ended> {
  const late = AbortSignal.timeout(HANGS_MS)
  act()
  return Promise.race([
    dev.ended,
    new Promise<never>((_, reject) =>
      late.addEventListener('abort', () => reject(new Error(`npm run dev is still running:\n${dev.output()}`))),
    ),
  ])
}

const RUNNING = '"status":"running","startedAt":"<time>","completedAt":null'

/** Ids, times and states differ from run to run. */
function withoutIds({ command, output }: Step): Step {
  return {
    command,
    output: output
      .replaceAll(/\b(?:key-)?[\da-f]{8}(?:-?[\da-f]{4}){3}-?[\da-f]{12}\b/g, '<id>')
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>')
      .replace(/"historyLength":\d+/, '"historyLength":0')
      // An order that waits for nothing may have ended before its status is read.
      .replace('"status":"completed","startedAt":"<time>","completedAt":"<time>"', RUNNING),
  }
}

function pastable(dev: RunningProcess): string[] {
  return dev.output().match(/^ {2}curl .*$/gm) ?? []
}

function programs(dev: RunningProcess): number[] {
  return [...dev.output().matchAll(/started as process (\d+)/g)].map(([, pid]) => Number(pid))
}
